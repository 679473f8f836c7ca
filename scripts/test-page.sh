#!/bin/sh
# The page of `analects probe serve --page` in Chromium and Firefox behind `analects link`: a long FIFO and fair queues,
# its rates, waits, and whether the call stands still. What a busy host measures is not believed, and measured again.
#
#   test-page.sh [ANALECTS]
set -eu

missing() {
    echo "test-page: SKIPPED, nothing was tested: $1" >&2
    exit 0
}

if [ "${1:-}" != --inside ]; then
    cd "$(dirname "$0")/.."
    for program in ip unshare python3 node chromium firefox-esr; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null ||
            sh scripts/apt.sh iproute2 util-linux python3 nodejs chromium firefox-esr
    done
    node --test crates/host/line/tests/page/unit.test.mjs >&2
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    [ -w /dev/net/tun ] || missing "/dev/net/tun cannot be used; run it as root, or chmod 666 /dev/net/tun"
    unshare -Urnpm --fork true 2>/dev/null || missing "a namespace cannot be made here: unshare -Urnpm fails"
    # In a process namespace of its own: no browser outlives it.
    exec unshare -Urnpm --fork --mount-proc sh "$0" --inside "$analects"
fi

analects=$2
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-test-page.XXXXXX")
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work"
ip link set lo up

fail() {
    echo "test-page: FAILED: $1" >&2
    cat "$work/log" >&2
    exit 1
}

# As on a wire: a packet that is still to be cut into segments waits as one, and is counted as one.
whole="ip link set dev analects0 gso_max_segs 1"
playground=https://playground.example/try/

# measure BROWSER DISCIPLINE MBIT_DOWN MBIT_UP [OPTION]: into $work/found.json.
measure() {
    browser=$1 discipline=$2 down=$3 up=$4 option=${5:-}
    buffer=
    # Half a second.
    [ "$discipline" != pfifo ] || buffer="--set link.buffer=$((down * 62500))B --set link.up.buffer=$((up * 62500))B"
    cat >"$work/line.toml" <<TOML
name = "line"
[link]
rtt = "30ms"
rate = "${down}mbit"
discipline = "$discipline"
[link.up]
rate = "${up}mbit"
discipline = "$discipline"
TOML
    serve="$analects probe serve --listen 0.0.0.0:7411 --key $work/key --page --playground $playground"
    # The words are split.
    # shellcheck disable=SC2086
    "$analects" link "$work/line.toml" $buffer --far "sh -c '$whole && exec $serve'" --far-ready 7411 -- \
        sh -c "$whole && exec node scripts/measure-by-page.mjs $browser https://\$ANALECTS_FAR:7411/ $option" \
        >"$work/out" 2>"$work/log" || fail "$browser, $discipline: no result"
    grep '^{' "$work/out" >"$work/found.json" || fail "$browser, $discipline: no result"
}

# tried BROWSER DISCIPLINE MBIT_DOWN MBIT_UP [--without-call]: what is found is near what is there.
tried() {
    for attempt in 1 2 3 4 5; do
        measure "$@"
        python3 - "$work/found.json" "$@" >>"$work/log" 2>&1 <<'PYTHON' && status=0 || status=$?
import json, sys, tomllib
seen = json.load(open(sys.argv[1]))
discipline, rates = sys.argv[3], dict(down=float(sys.argv[4]), up=float(sys.argv[5]))
calls = "--without-call" not in sys.argv
found = seen["found"]
shown = {name: {key: value for key, value in found[name].items() if key != "frames"} for name in rates}
print(json.dumps(shown), found["idle"], found["notes"])
if any("was busy" in note for note in found["notes"]):
    sys.exit(3)
# Nothing is wider than a phone, is against the policy, or is from elsewhere.
assert seen["wide"] <= 0 and not seen["complaints"] and not seen["elsewhere"], seen
said = "A call of a quarter Mbit/s on this line" if calls else "The call was not measured: this browser has no WebTransport"
assert said in seen["text"] and (calls or "stood still for" not in seen["text"]), seen["text"]
assert 28 < found["idle"]["rtt_ms"] < 45, found["idle"]
for name, there in rates.items():
    way = found[name]
    assert abs(way["mbit"] / there - 1) < 0.1, (name, way["mbit"])
    assert not calls or len(way["frames"]) > 250, way
    if discipline == "pfifo":
        assert abs(way["longest"] / 500 - 1) < 0.25, (name, way["longest"])
        assert way["queue"] == "long" and (not calls or way["stall_s"] > 3), way
    else:
        assert way["waits"]["median"] < 30 and way["stall_s"] < 1, way
# The link has the scenario, as the playground reads it.
assert seen["link"]["to"] == "https://playground.example/try/", seen["link"]
text = seen["link"]["text"]
scenario = tomllib.loads(text)
assert len(scenario["traffic"]) == 5 and scenario["link"]["up"]["rate"].endswith("kbit"), scenario
open(sys.argv[1].replace("found.json", "my-line.toml"), "w").write(text)
PYTHON
        ! grep -q '^not to be believed' "$work/log" || status=3
        case $status in
            0) break ;;
            3) echo "test-page: attempt $attempt: this host was busy" >&2 ;;
            *) fail "$*: not what is there" ;;
        esac
    done
    [ "$status" -eq 0 ] || {
        echo "test-page: SKIPPED from here on: $*: this host was busy each time" >&2
        exit 0
    }
    "$analects" run "$work/my-line.toml" --repeat 1 --set duration=20s -d pfifo >"$work/log" 2>&1 || fail "its scenario does not run"
    echo "ok: $*"
}

tried chromium pfifo 10 2
tried chromium fq_codel 10 2
tried chromium cake 10 2
tried chromium pfifo 10 2 --without-call
tried firefox pfifo 10 2
tried firefox fq_codel 10 2
