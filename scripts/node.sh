#!/bin/sh
# Starts Node with environment variables that must be set before its start. Variables that are already set stay unchanged.
#
#   sh scripts/node.sh <script> [argument...]
set -eu

# Each arena of glibc retains the memory of large images, and by default there are eight arenas per core: 440 MB instead of 230.
: "${MALLOC_ARENA_MAX:=2}"

# glibc returns freed memory to the system only from the end of its heap, except for separately mapped blocks. By default, the
# threshold for mapped blocks begins at 128 KiB and grows: after 2,000 stalled readers, 310 to 370 MB remained instead of 170.
# This keeps it at 128 KiB.
: "${MALLOC_MMAP_THRESHOLD_:=131072}"

# The number of cores. In a container, nproc counts all cores of the machine, also those beyond the CPU quota. As in config/machine.ts,
# the lowest quota of the own control group and its parents applies. In cgroup v1, each controller has groups of its own.
cores() {
  count=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
  while IFS=: read -r _ controllers path; do
    case ",$controllers," in
      ,, | *,cpu,*) ;;
      *) continue ;;
    esac
    while :; do
      quota_of "/sys/fs/cgroup/$controllers$path" || :
      [ -n "$path" ] || break
      path=${path%/*}
    done
  done < "$groups"
  echo "$count"
}

# Lowers $count to the quota of a group: microseconds of CPU time, and of its period. "max" or -1 means none.
quota_of() {
  read -r quota period 2>/dev/null < "$1/cpu.max" ||
    { read -r quota 2>/dev/null < "$1/cpu.cfs_quota_us" && read -r period 2>/dev/null < "$1/cpu.cfs_period_us"; } || return
  case $quota in max | -*) return ;; esac
  limit=$(((quota + period - 1) / period))
  [ "$limit" -ge "$count" ] || count=$limit
}
groups=/proc/self/cgroup
[ -r "$groups" ] || groups=/dev/null

# The number of threads that libuv starts with the first asynchronous file operation. Images are transformed on three more
# than there are cores, and two are left to files.
if [ "${MEMORY_PROFILE:-}" = small ]; then
  # As on one core: see config/memory-profile.ts.
  : "${UV_THREADPOOL_SIZE:=4}"
  semi_space=1
else
  : "${UV_THREADPOOL_SIZE:=$(($(cores) + 5))}"
  semi_space=4
fi

# The chunks of an upload become garbage at once, and are collected when the space of young objects is full: 220 MB instead of
# 245 while 1 GiB is sent to S3. Node uses the last value of an option, so the operator's own value wins.
NODE_OPTIONS="--max-semi-space-size=$semi_space ${NODE_OPTIONS:-}"

export MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_ UV_THREADPOOL_SIZE NODE_OPTIONS
exec node "$@"
