#!/bin/sh
# The `sluice` command. It becomes the Node process, so signals arrive there, also as the first process of a container.
set -eu

# npm links node_modules/.bin/sluice to this file.
file=$0
while [ -L "$file" ]; do
  target=$(readlink "$file")
  case $target in
    /*) file=$target ;;
    *) file=$(dirname "$file")/$target ;;
  esac
done
scripts=$(cd "$(dirname "$file")" && pwd -P)
exec sh "$scripts/node.sh" "$scripts/../dist/src/cli.js" "$@"
