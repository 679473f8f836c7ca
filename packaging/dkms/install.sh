#!/bin/sh
# Installs the modules by DKMS, for the running kernel and those to come, without a package.
#   sudo sh packaging/dkms/install.sh
# Undone by: sudo dkms remove analects/VERSION --all && sudo rm -r /usr/src/analects-VERSION
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$top/Cargo.toml" | head -n 1)
source=/usr/src/analects-$version

command -v dkms >/dev/null || {
    echo "dkms: found none; install it and the headers of your kernel" >&2
    echo "      (Debian: apt-get install dkms linux-headers-$(uname -r))" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || { echo "dkms: run this as root" >&2; exit 1; }

if [ -d "$source" ]; then
    dkms remove "analects/$version" --all || true
    rm -r "$source"
fi
mkdir -p "$source"
sh "$top/kernel/copy.sh" "$source"
sed "s/#MODULE_VERSION#/$version/" "$top/packaging/dkms/dkms.conf" > "$source/dkms.conf"
dkms install "analects/$version"
echo "dkms: try it with: modprobe sch_mencius"
