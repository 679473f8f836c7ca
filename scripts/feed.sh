#!/bin/sh
# Makes target/feed, a folder for each kind of processor that OpenWrt has a name for and `analects-router` runs on: a
# repository of opkg and, where APK names the program `apk` of apk-tools 3, which Debian lacks, of apk.
#   [APK=PROGRAM] [ANALECTS_FEED_KEYS=FOLDER] sh scripts/feed.sh
# The indexes are signed with the keys in the folder, made at the first time: target/feed-keys, if none is named.
set -eu
cd "$(dirname "$0")/.."
sh scripts/apt.sh signify-openbsd openssl
target=$(realpath "${CARGO_TARGET_DIR:-target}")
keys=${ANALECTS_FEED_KEYS:-$target/feed-keys}
out=$target/feed
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
about='Puts disciplines on a router, shapes what it forwards, and finds what manages a path'
for processor in aarch64 armv7; do
    [ -x "$target/programs/$processor/analects-router" ] || sh scripts/dist.sh "$processor"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# packed FOLDER: as tar.gz, the same for the same files.
packed() {
    tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -c . | gzip -9n
}

# ipk FOLDER OF FILES, ARCHITECTURE, FILE
ipk() {
    rm -rf "$work/control" "$work/ipk"
    mkdir "$work/control" "$work/ipk"
    cat >"$work/control/control" <<CONTROL
Package: analects-router
Version: $version-r1
Depends:
License: MIT OR Apache-2.0
Section: net
URL: https://github.com/analects/analects
Architecture: $2
Installed-Size: $(du -sb "$1" | cut -f 1)
Description: $about
CONTROL
    # Its owner's changes outlive an update.
    echo /etc/config/analects >"$work/control/conffiles"
    packed "$work/control" >"$work/ipk/control.tar.gz"
    packed "$1" >"$work/ipk/data.tar.gz"
    echo 2.0 >"$work/ipk/debian-binary"
    packed "$work/ipk" >"$3"
}

# The keys: usign's, which is signify's, and apk's. Those who can read the secret halves can sign for this feed.
mkdir -p "$keys"
chmod 700 "$keys"
[ -e "$keys/usign.sec" ] || signify-openbsd -G -n -c analects -p "$keys/usign.pub" -s "$keys/usign.sec"
if [ ! -e "$keys/apk.sec" ]; then
    openssl ecparam -name prime256v1 -genkey -noout -out "$keys/apk.sec"
    openssl ec -in "$keys/apk.sec" -pubout -out "$keys/apk.pem" 2>/dev/null
fi
# opkg looks for a key below the number in it.
number=$(tail -n 1 "$keys/usign.pub" | base64 -d | od -A n -t x1 -j 2 -N 8 | tr -d ' ')

rm -rf "$out"
mkdir -p "$out/keys"
cp "$keys/usign.pub" "$out/keys/$number"
cp "$keys/apk.pem" "$out/keys/analects.pem"
while read -r processor architectures; do
    files=$work/$processor
    install -D -m 755 "$target/programs/$processor/analects-router" "$files/usr/bin/analects-router"
    install -D -m 755 packaging/openwrt/analects-router/analects.init "$files/etc/init.d/analects"
    install -D -m 644 packaging/openwrt/analects-router/analects.config "$files/etc/config/analects"
    for architecture in $architectures; do
        folder=$out/$architecture
        mkdir "$folder"
        name=analects-router_$version-r1_$architecture.ipk
        ipk "$files" "$architecture" "$folder/$name"
        {
            cat "$work/control/control"
            echo "Filename: $name"
            echo "Size: $(stat -c %s "$folder/$name")"
            echo "SHA256sum: $(sha256sum "$folder/$name" | cut -d ' ' -f 1)"
            echo
        } >"$folder/Packages"
        gzip -9nk "$folder/Packages"
        signify-openbsd -S -s "$keys/usign.sec" -m "$folder/Packages" -x "$folder/Packages.sig"
        [ -n "${APK:-}" ] || continue
        "$APK" mkpkg --info name:analects-router --info "version:$version-r1" --info "arch:$architecture" \
            --info 'license:MIT OR Apache-2.0' --info "description:$about" \
            --info url:https://github.com/analects/analects --files "$files" \
            --output "$folder/analects-router-$version-r1.apk" --sign-key "$keys/apk.sec" >/dev/null
        "$APK" mkndx --allow-untrusted --output "$folder/packages.adb" --sign-key "$keys/apk.sec" "$folder"/*.apk >/dev/null
    done
done <<'ARCHITECTURES'
aarch64 aarch64_generic aarch64_cortex-a53 aarch64_cortex-a72 aarch64_cortex-a76
armv7 arm_cortex-a7_neon-vfpv4 arm_cortex-a7_vfpv4 arm_cortex-a9_neon arm_cortex-a9_vfpv3-d16 arm_cortex-a15_neon-vfpv4
ARCHITECTURES
[ -n "${APK:-}" ] || echo "feed: APK names no apk: packages and indexes for opkg only"
echo "feed: $out: $(find "$out" -name '*.ipk' -o -name '*.apk' | wc -l) packages, signed with $keys; key of opkg: $number"
