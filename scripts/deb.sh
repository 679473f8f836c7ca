#!/bin/sh
# Builds the Debian packages into target/deb: analects-dkms and iproute2-analects.
#   sh scripts/deb.sh [--check] [arm64]
# --check runs lintian on them too. With arm64, iproute2-analects for that processor, into target/deb-arm64: the modules'
# package is for all. Needs no root, except to install build dependencies.
set -eu
cd "$(dirname "$0")/.."
check=
if [ "${1:-}" = --check ]; then
    check=$1
    shift
fi
sh scripts/apt.sh dpkg-dev debhelper dh-dkms gcc libc6-dev make fakeroot
[ -z "$check" ] || sh scripts/apt.sh lintian
case ${1:-} in
'') out=$PWD/target/deb kind= ;;
arm64)
    sh scripts/apt.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    out=$PWD/target/deb-arm64
    # -d: Debian's package of that processor's compiler is not installed, but a cross compiler. What it makes is not run.
    kind='-aarm64 --build=any -d'
    export DEB_BUILD_OPTIONS="nocheck ${DEB_BUILD_OPTIONS:-}"
    ;;
*)
    echo "deb: found architecture \"$1\", expected arm64" >&2
    exit 2
    ;;
esac

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
packaged=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
if [ "$version" != "$packaged" ]; then
    echo "deb: packaging/debian/changelog: found version $packaged, expected $version" >&2
    exit 1
fi

source=$out/analects-qdiscs-$version
rm -rf "$out"
sh kernel/copy.sh "$source"
mkdir -p "$source/tc/tests"
cp kernel/tc/*.[ch] kernel/tc/Makefile kernel/tc/tc-*.8 "$source/tc/"
cp kernel/tc/tests/*.[ch] "$source/tc/tests/"
cp -r packaging/debian "$source/debian"
cp packaging/dkms/dkms.conf "$source/debian/analects-dkms.dkms"

echo "deb: building, log in $out/build.log"
# shellcheck disable=SC2086 # words
(cd "$source" && dpkg-buildpackage $kind -us -uc) > "$out/build.log" 2>&1 || {
    tail -n 30 "$out/build.log" >&2
    exit 1
}
ls "$out"/*.deb
[ -z "$check" ] || lintian --fail-on error,warning --allow-root "$out"/*.changes
