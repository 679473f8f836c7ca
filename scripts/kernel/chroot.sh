#!/bin/sh
# chroot.sh SUITE: a Debian release with a compiler, and in bookworm the guest's user space. Needs
# root, once: its files are root's.
set -eu
. scripts/kernel/common.sh
suite=$1
root=$cache/chroot-$suite

case $suite in
bookworm) packages="gcc-12 libelf1 busybox-static iproute2 nftables ethtool" ;;
trixie) packages="gcc-14 libelf1t64 pahole" ;;
*) fail "no such suite: $suite" ;;
esac
packages="$packages gcc libc6-dev make"
stamped "$root/.made" "$packages" && exit 0

say "$suite: making a chroot with $packages (about a minute; needs root)"
as_root rm -rf --one-file-system "$root" "$root.part"
# The hooks' words are mmdebstrap's to expand.
# shellcheck disable=SC2016
sources_of "$suite" | as_root mmdebstrap --quiet --variant=essential --architectures=amd64 \
    --include="$(echo "$packages" | tr ' ' ,)" \
    --customize-hook='mkdir -p "$1/build" "$1/headers" "$1/dev"' \
    --customize-hook='chmod 755 "$1"' \
    "$suite" "$root.part" - ||
    fail "$suite: the chroot could not be made; is $mirror reachable?"
echo "$packages" | as_root tee "$root.part/.made" >/dev/null
as_root mv "$root.part" "$root"
