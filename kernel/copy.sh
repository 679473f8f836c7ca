#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# copy.sh TO [DISCIPLINE]...: copies the sources of modules into a folder, and no other files of kernel/:
# those of all disciplines, or of the ones that are named.
# copy.sh --list: prints the names of all disciplines.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 --list | TO [DISCIPLINE]..." >&2; exit 2; }
to=$1
shift
cd "$(dirname "$0")"
all=$(sed -n 's/^disciplines := //p' Kbuild)
if [ "$to" = --list ]; then
    echo "$all"
    exit
fi
# shellcheck disable=SC2086 # words
[ $# != 0 ] || set -- $all
mkdir -p "$to"
cp -R common "$@" "$to/"
sed "s/^disciplines := .*/disciplines := $*/" Kbuild >"$to/Kbuild"
