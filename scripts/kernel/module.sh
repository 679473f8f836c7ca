#!/bin/sh
# module.sh KERNEL: our modules for that kernel, if their sources have changed.
set -eu
. scripts/kernel/common.sh
kernel=$1
dir=$cache/$kernel
stamp="$(checksum kernel/Kbuild kernel/*.[ch]) $(cat "$dir/release")"
[ ! -f "$dir/sch_floq.ko" ] || ! stamped "$dir/module.stamp" "$stamp" || exit 0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sh scripts/kernel-module.sh "$kernel" kernel "$out"
for module in "$out"/sch_*.ko; do
    cp "$module" "$dir/module.part"
    mv "$dir/module.part" "$dir/${module##*/}"
done
echo "$stamp" >"$dir/module.stamp"
