#!/bin/sh
# The host's programs that fetching, building and booting need. Asks for root only if some are missing.
set -eu
. scripts/kernel/common.sh

missing=
need() { # PROGRAM PACKAGE
    command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] || missing="$missing $2"
}
need qemu-system-x86_64 qemu-system-x86
need mmdebstrap mmdebstrap
need cpio cpio
need depmod kmod
need xz xz-utils
need zstd zstd
need setpriv util-linux
need python3 python3
[ -f "$keyring" ] || missing="$missing debian-archive-keyring"
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || fail "these packages are missing, and this is no Debian:$missing"
# shellcheck disable=SC2086 # words
sh scripts/apt.sh $missing || fail "cannot install$missing"
