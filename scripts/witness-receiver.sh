#!/bin/sh
# The witness for a call's receiver: libwebrtc's own jitter buffer of video. Frames of calls in the
# simulator, and of streams with jitter by chance, go through it; what goes in and comes out goes into
# crates/engines/sim/tests/it/receiver, and the test there replays ours over it.
#
# usage: scripts/witness-receiver.sh
set -eu
cd "$(dirname "$0")/.."
. witness/source.sh

records=crates/engines/sim/tests/it/receiver
witness receiver

mkdir -p "$records"
cargo run --release --locked -q -p sim --example receiver -- "$cache/out/receiver" "$records"
cargo test --release --locked -q -p sim --test it receiver -- --nocapture
