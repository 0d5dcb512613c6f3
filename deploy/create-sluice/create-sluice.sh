#!/bin/sh
# `npm create sluice` is `sluice init`. npm adds the commands of the dependencies to the PATH.
exec sluice init "$@"
