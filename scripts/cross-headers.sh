#!/bin/sh
# Fetches Debian 12's kernel headers for other processors and prints the folder they are in.
#   sh scripts/cross-headers.sh FLAVOUR:ARCHITECTURE...
# as in arm64:arm64 armmp:armhf. They are unpacked, not installed, and apt's own settings and
# lists are left alone: it needs no root.
set -eu
cache=${ANALECTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/analects}/kernel/cross
done=$cache/headers/$(echo "$*" | tr ' :' '__').done
if [ -e "$done" ]; then
    echo "$cache/headers"
    exit 0
fi

echo "cross: fetching kernel headers" >&2
rm -rf "$cache"
mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial" "$cache/debs" "$cache/headers"
: > "$cache/apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
    > "$cache/apt/sources.list"
{
    for setting in "State::lists \"$cache/apt/lists\"" "State::status \"$cache/apt/status\"" \
        "Cache \"$cache/apt\"" "Cache::archives \"$cache/apt/archives\"" \
        "Etc::SourceList \"$cache/apt/sources.list\"" 'Etc::SourceParts "/dev/null"' \
        'Etc::Preferences "/dev/null"' 'Etc::PreferencesParts "/dev/null"'; do
        echo "Dir::$setting;"
    done
    echo 'APT::Architectures {'
    printf '"%s";\n' amd64 "$@" | sed 's/"[^"]*:/"/'
    echo '}; Acquire::Languages "none"; APT::Sandbox::User "";'
} > "$cache/apt.conf"
export APT_CONFIG="$cache/apt.conf"

apt-get update -qq >&2
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
