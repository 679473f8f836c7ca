#!/bin/sh
# `analects browser` with a real Chromium: a call and pages come about under two disciplines, wrong arguments
# are refused, and nothing is left when it is killed. The dump of its webrtc-internals is imported. How the call
# fares depends on the host, and is not tested.
#
#   test-browser.sh [ANALECTS]
set -eu

missing() {
    echo "test-browser: SKIPPED, nothing was tested: $1" >&2
    exit 0
}

if [ "${1:-}" != --inside ]; then
    cd "$(dirname "$0")/.."
    for program in ip unshare python3 nft chromium; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null ||
            sh scripts/apt.sh iproute2 util-linux python3 nftables chromium
    done
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    [ -w /dev/net/tun ] || missing "/dev/net/tun cannot be used; run it as root, or chmod 666 /dev/net/tun"
    unshare -Urnpm --fork true 2>/dev/null || missing "a namespace cannot be made here: unshare -Urnpm fails"
    # In a process namespace of its own: only its own processes are counted, and none outlives it.
    exec unshare -Urnpm --fork --mount-proc sh "$0" --inside "$analects"
fi

analects=$2
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-test-browser.XXXXXX")
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work"
ip link set lo up

fail() {
    echo "test-browser: FAILED: $1" >&2
    cat "$work/log" >&2
    exit 1
}

browsers() {
    # Zombies have ended; nobody asks for their status.
    ps -eo stat=,args= | grep -v '^Z' | grep -c '[c]hromium' || true
}

"$analects" browser --rate 5mbit --warmup 5 --seconds 20 --every 10 -d fq_codel -d mencius \
    --json "$work/runs.json" --keep "$work/kept" >"$work/table" 2>"$work/log" || fail "two disciplines"
cat "$work/log" "$work/table"
python3 - "$work/runs.json" <<'PYTHON' || fail "what the browsers told"
import json, sys
runs = json.load(open(sys.argv[1]))
assert [(run["discipline"], run["pages"]) for run in runs] == [("fq_codel", 0), ("fq_codel", 2), ("mencius", 2)], runs
for run in runs:
    call, visits = run["outcome"]["call"], run["outcome"]["visits"]
    assert 15 < call["seconds"] < 60 and call["fps"] > 1 and call["kbit"] > 100, run
    assert len(visits) == run["pages"] and all(visit["failed"] == 0 for visit in visits), run
    assert all(visit["requests"] > 1 and visit["ms"] > 100 for visit in visits), run
    # What the browsers got is what the link carried.
    carried = run["link"]["down"]["counts"]["sent_bytes"]
    assert carried > call["kbit"] * call["seconds"] * 125, run
PYTHON
echo "ok: a call and pages"

for dump in "$work"/kept/*/call.rtcstats; do
    for side in caller receiver; do
        "$analects" import webrtc-internals "$dump" --connection "$side" --out "$work/call.toml" >"$work/table" 2>"$work/log" ||
            fail "$dump is not imported"
        grep -q "$side" "$work/table" || fail "the connection of the $side"
        rm "$work/call.toml"
    done
done
cat "$work/table"
echo "ok: what is kept of each call is imported"

# The page is 2 MB or so, and the pacer's rate a twentieth of the link's.
"$analects" browser --rate 20mbit --warmup 5 --seconds 20 --every 20 -d pfifo --pace 1mbit --pace adaptive \
    --json "$work/runs.json" >"$work/table" 2>"$work/log" || fail "a pacer"
cat "$work/log" "$work/table"
python3 - "$work/runs.json" <<'PYTHON' || fail "what the pacer did"
import json, sys
runs = json.load(open(sys.argv[1]))
assert [(run["pace"], run["pages"]) for run in runs] == [(None, 0), (None, 1), ("1mbit", 1), ("adaptive", 1)], runs
for run in runs:
    pacer, visits = run["pacer"], run["outcome"]["visits"]
    assert (pacer is None) == (run["pace"] is None) and all(visit["failed"] == 0 for visit in visits), run
pages = {run["pace"]: run["outcome"]["visits"][0]["ms"] for run in runs[1:]}
carried = runs[2]["pacer"]["tally"]["passed_bytes"]
# What passed it took its time, and the call, of up to 2 Mbit/s, is not among it.
assert 0.9 < carried * 8 / 1e6 / (pages["1mbit"] / 1e3) < 1.05, (carried, pages)
assert runs[2]["outcome"]["call"]["kbit"] > 1200, runs[2]
assert pages["1mbit"] > 2 * pages["adaptive"], pages
PYTHON
echo "ok: a pacer beside the receiver"

# Behind a link, since a browser has no address for a call where there is no default route.
"$analects" link --down 20mbit --up 5mbit -- python3 scripts/record-dump.py "$work/dump.json" 12 2>"$work/log" ||
    fail "a dump of webrtc-internals"
"$analects" import webrtc-internals "$work/dump.json" --down 20mbit --up 5mbit --out "$work/call.toml" \
    >"$work/table" 2>"$work/log" || fail "the dump is not imported"
cat "$work/table"
grep -q '^ *received *[0-9]*x[0-9]* ' "$work/table" || fail "the dump's picture"
"$analects" run "$work/call.toml" -d pfifo --repeat 1 >"$work/table" 2>"$work/log" || fail "the import does not run"
echo "ok: a dump of webrtc-internals is imported, and runs"

for wrong in "-d nonsense" "--pace fast" "--pace 10mbit --no-pages" "--rate fast" "--har $work/none.har" "--seconds 0" "--keep $work"; do
    # The words are split.
    # shellcheck disable=SC2086
    if timeout 60 "$analects" browser $wrong >"$work/log" 2>&1; then fail "$wrong is not refused"; fi
    grep -q 'panicked' "$work/log" && fail "$wrong"
done
echo "ok: wrong arguments"

"$analects" browser --warmup 60 -d pfifo >"$work/log" 2>&1 &
for _ in $(seq 100); do
    [ "$(browsers)" -lt 10 ] || break
    sleep 0.2
done
[ "$(browsers)" -ge 10 ] || fail "no browsers began"
kill -9 $!
for _ in $(seq 150); do
    if [ "$(browsers)" -eq 0 ] && ! ip link show analects0 >/dev/null 2>&1; then break; fi
    sleep 0.2
done
[ "$(browsers)" -eq 0 ] || fail "browsers outlive a kill"
! ip link show analects0 >/dev/null 2>&1 || fail "the link outlives a kill"
echo "ok: killed, and nothing is left"
