#!/bin/sh
# Builds the Debian packages into target/deb: analects-dkms and iproute2-analects.
#   sh scripts/deb.sh [--check]
# --check runs lintian on them too. Needs no root, except to install build dependencies.
set -eu
cd "$(dirname "$0")/.."
sh scripts/apt.sh dpkg-dev debhelper dh-dkms gcc libc6-dev make fakeroot
[ "${1:-}" != --check ] || sh scripts/apt.sh lintian

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
packaged=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
if [ "$version" != "$packaged" ]; then
    echo "deb: packaging/debian/changelog: found version $packaged, expected $version" >&2
    exit 1
fi

out=$PWD/target/deb
source=$out/analects-qdiscs-$version
rm -rf "$out"
sh kernel/copy.sh "$source"
mkdir -p "$source/tc/tests"
cp kernel/tc/*.[ch] kernel/tc/Makefile kernel/tc/tc-*.8 "$source/tc/"
cp kernel/tc/tests/*.[ch] "$source/tc/tests/"
cp -r packaging/debian "$source/debian"
cp packaging/dkms/dkms.conf "$source/debian/analects-dkms.dkms"

echo "deb: building, log in target/deb/build.log"
(cd "$source" && dpkg-buildpackage -us -uc) > "$out/build.log" 2>&1 || {
    tail -n 30 "$out/build.log" >&2
    exit 1
}
ls "$out"/*.deb
[ "${1:-}" != --check ] || lintian --fail-on error,warning --allow-root "$out"/*.changes
