#!/bin/sh
# module.sh KERNEL: sch_confucius.ko for that kernel, if its sources have changed.
set -eu
. scripts/kernel/common.sh
kernel=$1
dir=$cache/$kernel
stamp="$(checksum kernel/Kbuild kernel/*.[ch]) $(cat "$dir/release")"
[ ! -f "$dir/sch_confucius.ko" ] || ! stamped "$dir/module.stamp" "$stamp" || exit 0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sh scripts/kernel-module.sh "$kernel" kernel "$out"
cp "$out/sch_confucius.ko" "$dir/sch_confucius.ko.part"
mv "$dir/sch_confucius.ko.part" "$dir/sch_confucius.ko"
echo "$stamp" >"$dir/module.stamp"
