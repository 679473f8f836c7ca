#!/bin/sh
# The witness for `gcc`: libwebrtc's own goog_cc. Then both run in the same calls; the input and output
# of the witness go into crates/core/cca/tests/it/witness, and the test there replays ours over it.
#
# usage: scripts/witness-gcc.sh          ANALECTS_DATA names a folder with office-wifi/0.txt, if set
set -eu
cd "$(dirname "$0")/.."
. witness/source.sh

records=crates/core/cca/tests/it/witness
witness goog_cc

mkdir -p "$records"
wifi=${ANALECTS_DATA:+$ANALECTS_DATA/traces/office-wifi/0.txt}
# The path is one word or none.
# shellcheck disable=SC2086
cargo run --release --locked -q -p sim --example witness -- "$cache/out/goog_cc" "$records" $wifi
cargo test --release --locked -q -p cca --test it witness -- --nocapture
