#!/bin/sh
# Fetches and builds what the kernels' tests need, so that it need not be waited for later; beside
# anything else, since each of these waits for another that does the same.
#
# usage: scripts/prefetch.sh [6.1|6.12|7.x|sanitizers]...
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
sh scripts/kernel/packages.sh
for what in "$@"; do
    case $what in
    # With the time that nothing else wants: a scheduler's idle class leaves what is measured alone.
    sanitizers) chrt --idle 0 sh scripts/kernel-sanitizers.sh --build ;;
    *) sh scripts/kernel-engine.sh --no-guest "$what" ;;
    esac
done
