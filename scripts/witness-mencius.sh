#!/bin/sh
# mencius written again, in Python, from its description alone: compared with the Rust over recorded traces.
set -eu
cd "$(dirname "$0")/.."
sh scripts/apt.sh python3
export ANALECTS_TRACE_DIR="$PWD/target/witness-mencius" ANALECTS_TRACES="${ANALECTS_TRACES:-1000}"
rm -rf "$ANALECTS_TRACE_DIR"
"${CARGO:-cargo}" test --quiet --locked -p qdisc --test it mencius::write_traces_down -- --ignored
python3 witness/mencius/compare.py "$ANALECTS_TRACE_DIR"
