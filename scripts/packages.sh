#!/bin/sh
# What packages of the workspace are made of: versions and features of all that is below them, and the profiles
# that they are built with. A dependency of another package does not change it.
#   scripts/packages.sh PACKAGE...
set -eu
cd "$(dirname "$0")/.."
[ $# != 0 ] || { echo "packages: error: name packages of the workspace" >&2 && exit 2; }
for package in "$@"; do
    shift
    set -- "$@" -p "$package"
done
tree=$(cargo tree --locked "$@" --edges normal,build,dev --prefix none --format '{p} {f}')
# Where the tree is does not count, nor that cargo has said the same before.
echo "$tree" | sed 's| (/[^)]*)||; s| (\*)$||' | sort -u
sed -n '/^\[profile/,$p' Cargo.toml
