#!/bin/sh
# Node, with what has to be in its environment before it starts; what is there already stays.
#
#   sh scripts/node.sh <script> [argument...]
set -eu

# glibc keeps for each arena what large pictures have taken, and makes eight for each core: 440 MB in place of 230.
: "${MALLOC_ARENA_MAX:=2}"

# glibc gives what has been freed back to the system only from the end of its heap, except for what it has mapped by itself. By
# default it maps less and less: after 2,000 readers that stood still 310 to 370 MB stayed in place of 170. It begins with 128 KiB.
: "${MALLOC_MMAP_THRESHOLD_:=131072}"

# libuv starts so many threads with the first file that is read in the background. Pictures are made on one more of them than
# there are cores, and two are left to files.
: "${UV_THREADPOOL_SIZE:=$(($(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 3))}"

# The pieces of an upload are garbage at once, and are let go when the space of young objects is full: 220 MB in place of 245
# while 1 GiB goes to S3. The last one counts, so that the operator's own stays.
NODE_OPTIONS="--max-semi-space-size=4 ${NODE_OPTIONS:-}"

export MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_ UV_THREADPOOL_SIZE NODE_OPTIONS
exec node "$@"
