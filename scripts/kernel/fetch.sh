#!/bin/sh
# fetch.sh KERNEL: downloads Debian's newest packages of that kernel, verified by apt against the
# archive's keys, and unpacks them: root/ (lib/modules), vmlinux, headers/, build, release.
set -eu
. scripts/kernel/common.sh
kernel=$1
dir=$cache/$kernel
[ ! -f "$dir/release" ] || exit 0
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

# A separate apt, independent of the host's: sources, lists and state under $dir/apt.
rm -rf "$dir/apt" "$dir/debs" "$dir/root" "$dir/headers"
mkdir -p "$dir/apt/etc/apt.conf.d" "$dir/apt/etc/preferences.d" "$dir/apt/state/lists/partial" \
    "$dir/apt/cache/archives/partial" "$dir/debs" "$dir/root" "$dir/headers"
: >"$dir/apt/status"
sources_of "$kernel" >"$dir/apt/etc/sources.list"
cat >"$dir/apt/conf" <<EOF
Dir "$dir/apt";
Dir::Etc "$dir/apt/etc";
Dir::State "$dir/apt/state";
Dir::State::status "$dir/apt/status";
Dir::Cache "$dir/apt/cache";
APT::Architecture "amd64";
APT::Architectures "amd64";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Retries "3";
EOF
[ "$(id -u)" != 0 ] || echo 'APT::Sandbox::User "root";' >>"$dir/apt/conf"
export APT_CONFIG="$dir/apt/conf"

say "$kernel: looking at $(sources_of "$kernel" | sed 's/^[^]]*\] //' | tr '\n' ';')"
apt-get -qq update || fail "$kernel: the package lists cannot be fetched from $mirror"

case $kernel in
6.1) pattern='6\.1\.0-[0-9]*' ;;
6.12) pattern='6\.12\.[0-9.]*+deb12' ;;
7.x) pattern='7\.[0-9.]*+deb13' ;;
esac
# Of a package that others only name, apt-cache show says nothing and exits with 0.
exists() { for package in "$@"; do apt-cache show "$package" 2>/dev/null | grep -q '^Version:' || return 1; done; }

# The newest complete release: an archive may have new headers before the image.
# Since 6.19 the image is only a name for three packages.
release=''
parts=''
for candidate in $(apt-cache search --names-only '^linux-headers-[0-9].*-amd64$' |
    sed -n "s/^linux-headers-\(${pattern}-amd64\) .*/\1/p" | sort -rV); do
    for parts in "linux-base-$candidate linux-binary-$candidate linux-modules-$candidate" "linux-image-$candidate"; do
        # shellcheck disable=SC2086
        if exists $parts; then release=$candidate && break 2; fi
    done
done
[ -n "$release" ] || fail "$kernel: no linux-headers-${pattern}-amd64 with its image there"
kbuild=$(apt-cache depends "linux-headers-$release" | sed -n 's/.*Depends: \(linux-kbuild-[^ ]*\)/\1/p' | head -n 1)
headers="linux-headers-$release linux-headers-${release%-amd64}-common $kbuild"

say "$kernel: fetching $release (100 to 200 MB)"
# shellcheck disable=SC2086
(cd "$dir/debs" && apt-get -qq download $parts $headers) || fail "$kernel: $parts $headers cannot be fetched"
for part in $parts; do dpkg-deb -x "$dir"/debs/"$part"_*.deb "$dir/root"; done
for part in $headers; do dpkg-deb -x "$dir"/debs/"$part"_*.deb "$dir/headers"; done
rm -rf "$dir/debs" "$dir/apt"

# Some unpack to /usr/lib/modules; one place is enough.
[ -d "$dir/root/lib/modules" ] || ln -s usr/lib "$dir/root/lib"
[ -d "$dir/root/lib/modules/$release" ] || fail "$kernel: no lib/modules/$release in the packages"
image=$(find "$dir/root" -name "vmlinuz*" -type f | head -n 1)
[ -n "$image" ] || fail "$kernel: no vmlinuz in the packages"
sh scripts/kernel/vmlinux.sh "$image" "$dir/vmlinux"

# The headers' one absolute path; in the chroot they are at /headers.
sed -i 's,/usr/src/,/headers/usr/src/,' "$dir/headers/usr/src/linux-headers-$release/Makefile"
ln -sfn "headers/usr/src/linux-headers-$release" "$dir/build"
echo "$release" >"$dir/release"
