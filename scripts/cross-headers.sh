#!/bin/sh
# Fetches Debian 12's kernel headers for other processors and prints the folder they are in.
#   sh scripts/cross-headers.sh FLAVOUR:ARCHITECTURE...
# as in arm64:arm64 armmp:armhf. They are unpacked, not installed.
set -eu
cd "$(dirname "$0")/.."
cache=${ANALECTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/analects}/kernel/cross
done=$cache/headers/$(echo "$*" | tr ' :' '__').done
if [ -e "$done" ]; then
    echo "$cache/headers"
    exit 0
fi

echo "cross: fetching kernel headers" >&2
rm -rf "$cache"
mkdir -p "$cache/debs" "$cache/headers"
architectures=$(printf '%s\n' "$@" | sed 's/.*://')
. scripts/cross-apt.sh
cd "$cache/debs"
for kernel in "$@"; do
    # The name without a version depends on the one with it.
    headers=$(apt-cache depends "linux-headers-$kernel" | sed -n 's/^ *Depends: //p' | head -n 1)
    release=${headers#linux-headers-}
    release=${release%%-"${kernel%:*}":*}
    apt-get download -qq "$headers" "linux-headers-$release-common:all" \
        "linux-kbuild-${release%.*}:amd64" >&2
    echo "${headers%:*}" > "$cache/headers/${kernel%:*}.name"
done
for deb in *.deb; do
    dpkg -x "$deb" "$cache/headers"
done
# Their makefiles name each other as if they were installed.
sed -i "s|/usr/src/|$cache/headers/usr/src/|" "$cache"/headers/usr/src/*/Makefile
: > "$done"
echo "$cache/headers"
