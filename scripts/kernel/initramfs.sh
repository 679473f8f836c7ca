#!/bin/sh
# initramfs.sh KERNEL: base.cpio, the initramfs of a machine: /init, busybox, ip, tc, nft, ethtool
# and the modules of the network. User space is bookworm's for every kernel and on every host.
set -eu
. scripts/kernel/common.sh
kernel=$1
dir=$(cd "$cache/$kernel" && pwd)
chroot=$cache/chroot-bookworm
release=$(cat "$dir/release")

stamp="$(checksum scripts/kernel/initramfs.sh scripts/kernel/init) $release $(checksum "$chroot/var/lib/dpkg/status")"
[ ! -f "$dir/base.cpio" ] || ! stamped "$dir/base.stamp" "$stamp" || exit 0
say "$kernel: packing the initramfs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
top=$work/top

programs="/bin/dash /sbin/ip /sbin/tc /usr/sbin/nft /usr/sbin/ethtool"
mkdir -p "$top/proc" "$top/sys" "$top/dev" "$top/run" "$top/tmp" "$top/root" "$top/job" "$top/out" \
    "$top/etc" "$top/usr/bin" "$top/usr/lib64" "$top/usr/lib"
for d in bin lib lib64; do ln -s "usr/$d" "$top/$d"; done
ln -s bin "$top/usr/sbin"
ln -s usr/bin "$top/sbin"
cp scripts/kernel/init "$top/init"
chmod 755 "$top/init"
echo 'root:x:0:0:root:/root:/bin/sh' >"$top/etc/passwd"
echo '127.0.0.1 localhost' >"$top/etc/hosts"

# busybox under each of its names, then the real programs over them, with their libraries.
cp "$chroot/bin/busybox" "$top/usr/bin/busybox"
for applet in $("$chroot/bin/busybox" --list); do
    [ -e "$top/usr/bin/$applet" ] || ln -s busybox "$top/usr/bin/$applet"
done
# shellcheck disable=SC2086
libraries=$(in_chroot bookworm "$work" "$kernel" ldd $programs | grep -o '/[^ )]*' | sed 's/:$//' | sort -u)
for file in $programs $libraries; do
    case $file in
    /lib*) to=$top/usr$file ;;
    /usr/lib*) to=$top$file ;;
    *) to=$top/usr/bin/$(basename "$file") ;;
    esac
    rm -f "$to"
    mkdir -p "$(dirname "$to")"
    cp -L "$chroot$(in_chroot bookworm "$work" "$kernel" readlink -f "$file")" "$to"
done
tables=$(find "$chroot/usr/lib" -type d -path '*/tc')
ln -sf dash "$top/usr/bin/sh" # not busybox's: its shell takes its own ip and tc for the real ones
mkdir -p "$top${tables#"$chroot"}"
cp -r "$tables/." "$top${tables#"$chroot"}/"
cp -r "$chroot/etc/iproute2" "$top/etc/iproute2"

# The modules needed, with their dependencies, unpacked: the guest's time is expensive.
modules=$dir/root/lib/modules/$release
PATH=$PATH:/usr/sbin:/sbin
[ -f "$modules/modules.dep" ] || depmod -b "$dir/root" "$release"
wanted='/net/sched/|/net/ipv4/tcp_|/net/ipv4/(inet_diag|udp_diag|tunnel4|ip_tunnel|ipip)[.]ko|/net/core/|/net/netfilter/(nf_conntrack|nf_conntrack_netlink|nf_nat|nf_tables|nft_(ct|nat|masq|chain_nat))[.]ko|/crypto/crc32c_generic'
wanted="$wanted|/drivers/net/(veth|ifb|dummy|tun)[.]ko|/drivers/block/virtio_blk|/drivers/virtio/virtio_pci"
awk -F: -v wanted="$wanted" '$1 ~ wanted { print $1; n = split($2, on, " "); for (i = 1; i <= n; i++) print on[i] }' \
    "$modules/modules.dep" | sort -u >"$work/list"
[ -s "$work/list" ] || fail "$kernel: no modules of the network in $modules"
mkdir -p "$top/lib/modules/$release"
cp "$modules/modules.builtin" "$modules/modules.order" "$top/lib/modules/$release/"
[ ! -f "$modules/modules.builtin.modinfo" ] || cp "$modules/modules.builtin.modinfo" "$top/lib/modules/$release/"
while read -r module; do
    to=$top/lib/modules/$release/${module%.[xz]*}
    mkdir -p "$(dirname "$to")"
    case $module in
    *.xz) xz -dc "$modules/$module" >"${to%.xz}" ;;
    *.zst) zstd -dcq "$modules/$module" >"${to%.zst}" ;;
    *) cp "$modules/$module" "$to" ;;
    esac
done <"$work/list"
depmod -b "$top" "$release"

# Equal contents give equal bytes.
find "$top" -exec touch -h -d @0 {} +
(cd "$top" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --reproducible --quiet) >"$dir/base.part"
mv "$dir/base.part" "$dir/base.cpio"
echo "$stamp" >"$dir/base.stamp"
say "$kernel: the initramfs has $(wc -l <"$work/list") modules, $(du -h "$dir/base.cpio" | cut -f1)"
