#!/bin/sh
# The verdicts of `analects probe` on Linux's queues, in real kernels under virtual time: a line for
# each cell, with the loss of a TCP flow under NewReno over the same queue, and the number of each verdict for
# each kind of queue. Needs `make kernel-engine` and QEMU.
# probe-matrix.sh [KERNEL [RATES [RTTS [WAYS [DISCIPLINES]]]]], such as:
# probe-matrix.sh 6.1 "5 10" "20 50" "down up" "pfifo cake"
set -eu
cd "$(dirname "$0")/.."
kernel=${1:-6.1} rates=${2:-10 50} rtts=${3:-10 50 100} ways=${4:-down}
disciplines=${5:-pfifo fq fq_codel cake confucius mencius}
target=${CARGO_TARGET_DIR:-target}
out=$target/probe-matrix
rm -rf "$out"
mkdir -p "$out"
cargo build --quiet --locked -p machine
CARGO_TARGET_DIR=$target/guest RUSTFLAGS="-C target-feature=+crt-static" cargo build --quiet --locked \
    --config 'profile.dev.strip=true' --config 'profile.dev.debug=false' --config 'profile.dev.opt-level=2' \
    --config 'profile.dev.debug-assertions=false' --config 'profile.dev.overflow-checks=false' \
    --target x86_64-unknown-linux-gnu -p analects
program=$target/guest/x86_64-unknown-linux-gnu/debug/analects

export kernel program target out
# A line is MBIT RTT WAY DISCIPLINE; two machines at a time.
for rate in $rates; do
    for rtt in $rtts; do
        for way in $ways; do
            for discipline in $disciplines; do
                echo "$rate $rtt $way $discipline"
            done
        done
    done
done | xargs -P 2 -I '{}' sh -c '
    name=$(echo "{}" | tr " " -)
    "$target/debug/vm" --kernel "$kernel" --limit 1200 --module --file "$program" \
        --file scripts/probe-in-guest.sh --out "$out/$name" -- "sh probe-in-guest.sh {}" \
        >"$out/$name.json" 2>"$out/$name.log" || echo "$name failed" >&2
'
python3 scripts/probe-matrix.py "$out"
