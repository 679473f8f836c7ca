#!/bin/sh
# Installs the packages of target/deb in a fresh Debian 12, where DKMS has to build the module
# for that Debian's kernel; tries them, removes them, and looks for files that they left behind.
#   sh scripts/test-deb.sh
# Needs root for the chroot. The system (450 MB) is kept in the cache: 3 minutes the first time.
set -eu
cd "$(dirname "$0")/.."
cache=${ANALECTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/analects}/kernel
system=$cache/bookworm-dkms.tar

if [ "$(id -u)" != 0 ]; then
    echo "test-deb: a chroot needs root"
    exec sudo ANALECTS_CACHE="${cache%/kernel}" sh "$0"
fi
ls target/deb/*.deb > /dev/null || { echo "test-deb: found no target/deb/*.deb: make deb" >&2; exit 1; }
sh scripts/apt.sh mmdebstrap

if [ ! -e "$system" ]; then
    echo "test-deb: fetching Debian 12 with dkms and kernel headers"
    mkdir -p "$cache"
    mmdebstrap --quiet --variant=apt --include=dkms,linux-headers-amd64,iproute2,man-db \
        bookworm "$system.part.tar" http://deb.debian.org/debian
    mv "$system.part.tar" "$system"
fi

root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
tar -x -C "$root" -f "$system"
mkdir "$root/packages"
cp target/deb/analects_*.deb target/deb/analects-dkms_*.deb target/deb/iproute2-analects_*.deb "$root/packages"
cat > "$root/packages/test.sh" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
# Logs, caches and the package database record the installation, which is allowed.
files() {
    find / -xdev \( -path /proc -o -path /packages -o -path /var/log -o -path /var/cache \
        -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /tmp \) -prune -o -print |
        LC_ALL=C sort
}
# dkms and depmod make their own files for any module first.
depmod -a "$(ls /lib/modules)" 2> /dev/null
files > /packages/before

echo "test-deb: installing"
apt-get install -y -qq /packages/*.deb > /packages/log 2>&1 || { cat /packages/log; exit 1; }
kernel=$(ls /lib/modules)
dkms status
dkms status | grep -q "^analects/.*$kernel.*: installed" || { cat /packages/log; exit 1; }
for discipline in confucius mencius floq; do
    modinfo -k "$kernel" sch_$discipline | grep -E '^(filename|license|vermagic)'
    # tc's output comes from the plugin: without it, the qdisc is unknown.
    tc qdisc add dev lo root $discipline help 2>&1 | grep "Usage: ... $discipline"
    tc qdisc add dev lo root $discipline limit 0 2>&1 | grep 'limit: found "0"'
    man -w tc-$discipline
done

analects --version
analects-router --version
man -w analects
analects run /usr/share/doc/analects/examples/two-transfers.toml --repeat 1 > /packages/log 2>&1 ||
    { cat /packages/log; exit 1; }

echo "test-deb: removing"
apt-get purge -y -qq analects analects-dkms iproute2-analects > /packages/log 2>&1 ||
    { cat /packages/log; exit 1; }
files > /packages/after
diff /packages/before /packages/after
echo "test-deb: nothing was left behind"
END
# A mount namespace of its own: its mounts end with it.
# shellcheck disable=SC2016
unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc" && chroot "$1" sh /packages/test.sh' \
    sh "$root"
