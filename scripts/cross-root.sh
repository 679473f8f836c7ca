#!/bin/sh
# Fetches Debian 12's kernel for another processor, with tc and what that needs, and prints the folder they are in.
#   sh scripts/cross-root.sh FLAVOUR ARCHITECTURE
# as in armmp armhf. They are unpacked, not installed.
set -eu
cd "$(dirname "$0")/.."
flavour=$1 architectures=$2
cache=${ANALECTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/analects}/kernel/root-$architectures
if [ -e "$cache/done" ]; then
    echo "$cache/root"
    exit 0
fi

echo "cross: fetching a kernel for $architectures" >&2
rm -rf "$cache"
mkdir -p "$cache/debs" "$cache/root"
. scripts/cross-apt.sh
cd "$cache/debs"
# The name without a version depends on the one with it.
image=$(apt-cache depends "linux-image-$flavour:$architectures" | sed -n 's/^ *Depends: //p' | head -n 1)
set -- busybox-static iproute2 libbpf1 libbsd0 libc6 libcap2 libcom-err2 libdb5.3 libelf1 libgcc-s1 libgssapi-krb5-2 \
    libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 libmd0 libmnl0 libpcre2-8-0 libselinux1 libssl3 libtirpc3 \
    libxtables12 zlib1g
for package in "$@"; do
    shift
    set -- "$@" "$package:$architectures"
done
apt-get download -qq "$image" "$@" >&2
for deb in *.deb; do
    dpkg -x "$deb" "$cache/root"
done
release=${image#linux-image-}
/sbin/depmod -b "$cache/root" "${release%:*}"
: >"$cache/done"
echo "$cache/root"
