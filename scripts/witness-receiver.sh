#!/bin/sh
# The witnesses for a call's receiver: libwebrtc's own jitter buffer of video, and its NetEq's delay of
# sound. Frames and sound of calls in the simulator, and streams of frames with jitter by chance, go
# through them; what goes in and comes out are the records that tests replay ours over.
#
# usage: scripts/witness-receiver.sh
set -eu
cd "$(dirname "$0")/.."
. witness/source.sh

video=crates/engines/sim/tests/it/receiver
sound=crates/engine/measure/src/audio/witness
witness receiver
witness audio

mkdir -p "$video" "$sound"
cargo run --release --locked -q -p sim --example receiver -- "$cache/out" "$video" "$sound"
cargo test --release --locked -q -p sim --test it receiver -- --nocapture
cargo test --release --locked -q -p measure --lib audio::witness -- --nocapture
