#!/bin/sh
# Inside a guest: replays recorded traces in the kernel, and compares what it
# decides with what the discipline in Rust decided.
#
#   sh in-kernel.sh [FOLDER [confucius|mencius]]
#
# FOLDER (this script's own by default) has confucius_replay.ko, or that of the
# other, and N.trace and N.expected for each trace. They are made by
#   make -C KDIR M=kernel/test modules
#   ANALECTS_TRACE_DIR=FOLDER cargo test -p qdisc --test it kernel_c::confucius -- --ignored
# or by kernel_c::mencius. Lines that begin with "did" are only C's.
# Exits with 0 if all are the same, and there was at least one.
set -eu

folder=${1:-$(dirname "$0")}
module=${2:-confucius}_replay
file=/sys/kernel/debug/$module
decided=/tmp/$module-decided

[ -d /sys/kernel/debug ] || { echo "in-kernel: there is no /sys/kernel/debug" >&2; exit 1; }
grep -q ' /sys/kernel/debug debugfs' /proc/mounts ||
    mount -t debugfs debugfs /sys/kernel/debug
insmod "$folder/$module.ko"
same=0
different=0
for trace in "$folder"/*.trace; do
    cat "$trace" > "$file" || echo "in-kernel: $trace was refused, see the kernel's log" >&2
    sed '/^did /d' "$file" > "$decided"
    if cmp "${trace%.trace}.expected" "$decided"; then
        same=$((same + 1))
    else
        different=$((different + 1))
    fi
done
rmmod "$module"
rm -f "$decided"
echo "in-kernel: $same traces decided as in Rust, $different otherwise"
[ "$different" -eq 0 ] && [ "$same" -gt 0 ]
