#!/bin/sh
# Fetches and builds the prerequisites of the kernels' tests in advance; may run in
# parallel with other scripts, since each of these waits for another that does the same.
#
# usage: scripts/prefetch.sh [6.1|6.12|7.x|sanitizers]...
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
sh scripts/kernel/packages.sh
for what in "$@"; do
    case $what in
    # In idle time only: the scheduler's idle class does not disturb measurements.
    sanitizers) chrt --idle 0 sh scripts/kernel-sanitizers.sh --build ;;
    *) sh scripts/kernel-engine.sh --no-guest "$what" ;;
    esac
done
