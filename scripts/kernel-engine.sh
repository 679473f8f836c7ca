#!/bin/sh
# The prerequisites of the engine `kernel`: Debian's stock kernels, fetched and unpacked (never
# installed), our module built for each by its own suite's compiler, and an initramfs to boot. Once; kept in
# ${ANALECTS_CACHE:-~/.cache/analects}/kernel, and only changed parts are made again.
#
# usage: scripts/kernel-engine.sh [--no-guest] [6.1|6.12|7.x|all]...     (6.1 by default)
# --no-guest: without the program that the engine runs inside.
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh

guest=yes
if [ "${1:-}" = --no-guest ]; then guest= && shift; fi
kernels=
for name in "${@:-6.1}"; do
    case $name in
    6.1 | 6.12 | 7.x) kernels="$kernels $name" ;;
    all) kernels="6.1 6.12 7.x" ;;
    *) fail "there is no kernel \"$name\": expected 6.1, 6.12, 7.x or all" ;;
    esac
done
[ "$(uname -m)" = x86_64 ] || fail "the kernels are for x86-64, this machine is $(uname -m)"

sh scripts/kernel/packages.sh
mkdir -p "$cache"
exec 9>"$cache/.lock"
flock -n 9 || { say "waiting for another kernel-engine to finish"; flock 9; }

sh scripts/kernel/chroot.sh bookworm
for kernel in $kernels; do
    sh scripts/kernel/fetch.sh "$kernel"
    sh scripts/kernel/chroot.sh "$(suite_of "$kernel")"
    sh scripts/kernel/initramfs.sh "$kernel"
    if [ -f kernel/Kbuild ]; then
        sh scripts/kernel/module.sh "$kernel"
    else
        say "$kernel: no kernel/Kbuild, so no module"
    fi
    say "$kernel: ready, $(cat "$cache/$kernel/release") in $cache/$kernel"
done
[ -z "$guest" ] || sh scripts/kernel/guest.sh
