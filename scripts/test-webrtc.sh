#!/bin/sh
# `analects run --engine live` with calls over a real WebRTC stack: the stack's own tests in simulated time, the
# program built with it, a call over real sockets, and what is refused. In network namespaces of its own.
#
#   test-webrtc.sh
set -eu
cd "$(dirname "$0")/.."

missing() {
    echo "test-webrtc: SKIPPED, no call over real sockets was tested: $1" >&2
    exit 0
}
fail() {
    echo "test-webrtc: FAILED: $1" >&2
    sed 's/^/    /' "$work"/out "$work"/err >&2 2>/dev/null || true
    exit 1
}

# said WORDS: errors are wrapped where a line ends.
said() { tr -d '|\n' <"$work/err" | tr -s ' ' | grep -q "$1"; }

cargo=${CARGO:-cargo}
$cargo clippy --locked -p rtc -p live --features live/webrtc --all-targets -- -D warnings
$cargo test --locked -p rtc -p live --features live/webrtc
built=$(sh scripts/built.sh analects --features webrtc)
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-webrtc.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The next build has the same name and no stack.
cp "$built" "$work/analects"
analects=$work/analects

[ "$(id -u)" = 0 ] || missing "the engine live needs root"
[ -w /dev/net/tun ] || missing "/dev/net/tun cannot be used"
cat >"$work/call.toml" <<'S'
stack = "webrtc"
disciplines = ["fq_codel"]
duration = "12s"
warmup = "6s"
link = { rate = "10mbit", rtt = "40ms" }
traffic = [{ name = "call", kind = "call", max_rate = "1mbit", audio = "32kbit" }]
S
"$analects" run "$work/call.toml" --engine live --format json >"$work/out" 2>"$work/err" || fail "the call"
python3 - "$work/out" 2>"$work/err" <<'P' || fail "what the stack carried"
import json, sys
call = json.load(open(sys.argv[1]))["results"][0]["calls"][0]
assert call["frames"] > 150, call
P
"$analects" run "$work/call.toml" >"$work/out" 2>"$work/err" && fail "the simulator takes it"
said 'only the engine live has a real WebRTC stack' || fail "no word on who has the stack"
"$analects" run "$work/call.toml" --engine live --set traffic.call.control=copa >"$work/out" 2>"$work/err" &&
    fail "a control beside the stack's own is taken"
said 'a congestion control of its own' || fail "no word on its control"
echo "test-webrtc: passed"
