#!/bin/sh
# Inside a guest: replays recorded traces in the kernel, and compares what it
# decides with what the discipline in Rust decided.
#
#   sh in-kernel.sh [FOLDER]
#
# FOLDER (this script's own by default) has confucius_replay.ko, and N.trace and
# N.expected for each trace. They are made by
#   make -C KDIR M=kernel/test modules
#   ANALECTS_TRACE_DIR=FOLDER cargo test -p qdisc --test kernel_c -- --ignored
# Exits with 0 if all are the same, and there was at least one.
set -eu

folder=${1:-$(dirname "$0")}
file=/sys/kernel/debug/confucius_replay
decided=/tmp/confucius-decided

[ -d /sys/kernel/debug ] || { echo "in-kernel: there is no /sys/kernel/debug" >&2; exit 1; }
grep -q ' /sys/kernel/debug debugfs' /proc/mounts ||
    mount -t debugfs debugfs /sys/kernel/debug
insmod "$folder/confucius_replay.ko"
same=0
different=0
for trace in "$folder"/*.trace; do
    cat "$trace" > "$file" || echo "in-kernel: $trace was refused, see the kernel's log" >&2
    cat "$file" > "$decided"
    if cmp "${trace%.trace}.expected" "$decided"; then
        same=$((same + 1))
    else
        different=$((different + 1))
    fi
done
rmmod confucius_replay
rm -f "$decided"
echo "in-kernel: $same traces decided as in Rust, $different otherwise"
[ "$different" -eq 0 ] && [ "$same" -gt 0 ]
