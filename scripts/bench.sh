#!/bin/sh
# Measures speed and cost and writes target/bench.json. Compares with ns-3 if libns3-dev is installed,
# and counts instructions if valgrind is. Takes a few minutes; bench.sh --short fewer.
set -eu
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet -p bench

status=0
bench/ns3/build.sh || status=$?
case $status in
    0) set -- --ns3 target/ns3/dumbbell "$@" ;;
    3) ;; # not installed: build.sh has said so
    *) exit "$status" ;;
esac
exec "${CARGO_TARGET_DIR:-target}/release/bench" all --out target/bench.json "$@"
