#!/bin/sh
# Fetches and unpacks what the kernels' tests need, so that it need not be waited for later; beside
# anything else, since each of these waits for another that does the same.
#
# usage: scripts/prefetch.sh [6.1|6.12|7.x|source]...
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
sh scripts/kernel/packages.sh
for what in "$@"; do
    case $what in
    source)
        mkdir -p "$cache/uml"
        flock "$cache/uml/lock" sh scripts/kernel/linux-source.sh
        ;;
    *) sh scripts/kernel-engine.sh --no-guest "$what" ;;
    esac
done
