#!/bin/sh
# module.sh KERNEL: our modules for that kernel, if their sources have changed.
set -eu
. scripts/kernel/common.sh
kernel=$1
dir=$cache/$kernel
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh kernel/copy.sh "$work/source"
# shellcheck disable=SC2046 # words
sources=$(cd "$work/source" && checksum $(find . -type f | LC_ALL=C sort))
stamp="$sources $(cat "$dir/release")"
[ ! -f "$dir/sch_floq.ko" ] || ! stamped "$dir/module.stamp" "$stamp" || exit 0
sh scripts/kernel-module.sh "$kernel" "$work/source" "$work/built"
for module in "$work"/built/sch_*.ko; do
    cp "$module" "$dir/module.part"
    mv "$dir/module.part" "$dir/${module##*/}"
done
echo "$stamp" >"$dir/module.stamp"
