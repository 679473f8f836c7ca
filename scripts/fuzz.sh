#!/bin/sh
# Fuzzes each parser for a number of seconds, 60 by default. Needs a nightly compiler and cargo-fuzz.
set -eu
seconds="${1:-60}"
PATH="$PATH:$PWD/target/tools/bin"
missing=""
rustup run nightly rustc --version >/dev/null 2>&1 || missing="a nightly compiler (rustup toolchain install nightly)"
if ! command -v cargo-fuzz >/dev/null; then
    missing="${missing:+$missing and }cargo-fuzz (cargo install cargo-fuzz --root target/tools)"
fi
if [ -n "$missing" ]; then
    echo "fuzz: SKIPPED: there is no $missing"
    exit 0
fi
mkdir -p target
for target in trace scenario har; do
    seeds="fuzz/seeds/$target"
    [ "$target" = har ] && seeds=crates/core/workload/tests/har/samples
    mkdir -p "fuzz/corpus/$target"
    echo "fuzz: $target for $seconds s"
    log="target/fuzz-$target.log"
    if ! cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "$seeds" -- \
        -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "fuzz: $target failed; $log says why, fuzz/artifacts/$target has the input" >&2
        exit 1
    fi
    grep 'stat::number_of_executed_units' "$log"
done
