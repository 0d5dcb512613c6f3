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

# The number of cores. In a container, nproc counts all cores of the machine, also those beyond the CPU quota. The quota of
# cgroup v2 is two numbers: microseconds of CPU time, or "max", and the period in microseconds.
cores() {
  count=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
  if read -r quota period 2>/dev/null < /sys/fs/cgroup/cpu.max && [ "$quota" != max ]; then
    limit=$(((quota + period - 1) / period))
    [ "$limit" -ge "$count" ] || count=$limit
  fi
  echo "$count"
}

# The number of threads that libuv starts with the first asynchronous file operation. Images are transformed on one more than
# there are cores, and two are left to files.
: "${UV_THREADPOOL_SIZE:=$(($(cores) + 3))}"

# The chunks of an upload become garbage at once, and are collected when the space of young objects is full: 220 MB instead of
# 245 while 1 GiB is sent to S3. Node uses the last value of an option, so the operator's own value wins.
NODE_OPTIONS="--max-semi-space-size=4 ${NODE_OPTIONS:-}"

export MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_ UV_THREADPOOL_SIZE NODE_OPTIONS
exec node "$@"
