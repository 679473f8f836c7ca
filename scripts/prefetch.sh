#!/bin/sh
# Fetches and builds what later checks need, in advance; may run in parallel with other scripts, since each of
# these waits for another that does the same. What compiles for minutes does so in idle time only: tests in real
# time leave processors idle for minutes, and must not be disturbed.
#
# usage: scripts/prefetch.sh [6.1|6.12|7.x|guest|sanitizers|wheel]...
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
sh scripts/kernel/packages.sh
# In the scheduler's idle class. Where it groups processes by session (sched(7), autogroup), a class counts within
# its group alone, so that the group gets the least weight, too.
idle() {
    echo 19 2>/dev/null >/proc/self/autogroup || true
    chrt --idle 0 "$@"
}
for what in "$@"; do
    case $what in
    # With the lock of kernel-engine, which puts the guest into the same place.
    guest) mkdir -p "$cache" && idle flock "$cache/.lock" sh scripts/kernel/guest.sh ;;
    sanitizers) idle sh scripts/kernel-sanitizers.sh --build ;;
    wheel) idle sh python/build.sh ;;
    *) sh scripts/kernel-engine.sh --no-guest "$what" ;;
    esac
done
