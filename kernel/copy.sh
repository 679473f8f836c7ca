#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# copy.sh TO [DISCIPLINE]...: copies what modules are built of into a folder, and nothing else of
# kernel/: those of all disciplines, or of the ones that are named.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 TO [DISCIPLINE]..." >&2; exit 2; }
to=$1
shift
cd "$(dirname "$0")"
[ $# != 0 ] || set -- $(sed -n 's/^disciplines := //p' Kbuild)
mkdir -p "$to"
cp -R common "$@" "$to/"
sed "s/^disciplines := .*/disciplines := $*/" Kbuild >"$to/Kbuild"
