#!/bin/sh
# Installs `analects-router` from target/feed into an empty root and removes it, by OpenWrt's own package managers:
# OPKG and APK name them, since Debian has neither. What is not named is not tried, and a line says so.
#   [OPKG=PROGRAM] [APK=PROGRAM] sh scripts/test-feed.sh
set -eu
cd "$(dirname "$0")/.."
sh scripts/apt.sh qemu-user-static
feed=$(realpath "${CARGO_TARGET_DIR:-target}")/feed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "test-feed: FAILED: $1" >&2
    tail -n 20 "$work/log" >&2
    exit 1
}

# runs ROOT ARCHITECTURE: the program installed there starts.
runs() {
    case $2 in aarch64*) qemu=aarch64 ;; *) qemu=arm ;; esac
    "qemu-$qemu-static" "$1/usr/bin/analects-router" --version || fail "$2: what was installed does not start"
}

by_opkg() {
    root=$work/opkg-$1
    mkdir -p "$root"
    printf 'dest root /\nlists_dir ext /lists\narch all 1\narch %s 10\nsrc/gz analects file://%s\n' "$1" "$feed/$1" \
        >"$work/opkg.conf"
    opkg="$OPKG -f $work/opkg.conf -o $root"
    mkdir -p "$root/lists" "$root/tmp" "$root/var/lock" "$root/usr/lib/opkg"
    { $opkg update && $opkg install analects-router; } >"$work/log" 2>&1 || fail "$1: opkg install"
    runs "$root" "$1"
    $opkg remove analects-router >"$work/log" 2>&1 || fail "$1: opkg remove"
    [ ! -e "$root/usr/bin/analects-router" ] || fail "$1: opkg remove left the program"
    signify-openbsd -V -q -p "$feed"/keys/*[0-9a-f] -m "$feed/$1/Packages" -x "$feed/$1/Packages.sig" >"$work/log" 2>&1 ||
        fail "$1: the index's signature"
    echo "test-feed: $1: installed and removed by opkg"
}

by_apk() {
    root=$work/apk-$1
    mkdir -p "$root/etc/apk/keys"
    cp "$feed/keys/analects.pem" "$root/etc/apk/keys/"
    apk="$APK --root $root --arch $1 --repository $feed/$1/packages.adb --no-cache"
    $apk --initdb add analects-router >"$work/log" 2>&1 || fail "$1: apk add"
    runs "$root" "$1"
    $apk del analects-router >"$work/log" 2>&1 || fail "$1: apk del"
    [ ! -e "$root/usr/bin/analects-router" ] || fail "$1: apk del left the program"
    # Without the key it is refused.
    mkdir "$work/other"
    if $APK --root "$work/other" --arch "$1" --repository "$feed/$1/packages.adb" --no-cache --initdb \
        add analects-router >"$work/log" 2>&1; then
        fail "$1: apk add takes what nobody it knows has signed"
    fi
    rm -rf "$work/other"
    echo "test-feed: $1: installed and removed by apk, and refused without its key"
}

for architecture in aarch64_cortex-a53 arm_cortex-a7_neon-vfpv4; do
    if [ -n "${OPKG:-}" ]; then by_opkg "$architecture"; else echo "test-feed: OPKG names no opkg: not tried"; fi
    if [ -n "${APK:-}" ]; then by_apk "$architecture"; else echo "test-feed: APK names no apk: not tried"; fi
done
