#!/bin/sh
# Counts instructions per packet of qdiscs in a real kernel and writes target/bench-kernel.json.
#   [RELEASE=6.12] bench-kernel.sh [--short]        (6.1 by default)
# About ten minutes, one of them in the short form.
set -eu
cd "$(dirname "$0")/.."
kernel=${RELEASE:-6.1}
sh scripts/kernel-engine.sh "$kernel"
target=${CARGO_TARGET_DIR:-target}
mkdir -p target
sh scripts/kernel-module.sh "$kernel" kernel/bench "$target/gate"
bench=$(sh scripts/built.sh bench)
exec "$bench" kernel --kernel "$kernel" --gate "$target/gate/sch_gate.ko" \
    --out target/bench-kernel.json "$@"
