#!/bin/sh
# Fetches and builds what later checks need, in advance; may run in parallel with other scripts, since each of
# these waits for another that does the same. What compiles for minutes runs in idle time only: the scheduler's
# idle class does not disturb measurements, and tests in real time leave processors idle for minutes.
#
# usage: scripts/prefetch.sh [6.1|6.12|7.x|guest|sanitizers|wheel]...
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
sh scripts/kernel/packages.sh
for what in "$@"; do
    case $what in
    # With the lock of kernel-engine, which puts the guest into the same place.
    guest) mkdir -p "$cache" && chrt --idle 0 flock "$cache/.lock" sh scripts/kernel/guest.sh ;;
    sanitizers) chrt --idle 0 sh scripts/kernel-sanitizers.sh --build ;;
    wheel) chrt --idle 0 sh python/build.sh ;;
    *) sh scripts/kernel-engine.sh --no-guest "$what" ;;
    esac
done
