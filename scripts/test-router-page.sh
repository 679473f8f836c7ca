#!/bin/sh
# The page of `analects tc keep --page` and `autorate --page`: what it has of a set-up in a network namespace, of a line
# that is followed, and of what is put back; requests that are wrong; in Chromium and Firefox with these data, and with
# those of a mencius, which this kernel may not have. Never on a device of the host's.
#
#   test-router-page.sh [ANALECTS]
set -eu

missing() {
    echo "test-router-page: SKIPPED, nothing was tested: $1" >&2
    exit 0
}

if [ "${1:-}" != --inside ]; then
    cd "$(dirname "$0")/.."
    for program in ip tc unshare python3 node chromium firefox-esr; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null ||
            sh scripts/apt.sh iproute2 util-linux python3 nodejs chromium firefox-esr
    done
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    unshare -Urnpm --fork true 2>/dev/null || missing "a namespace cannot be made here: unshare -Urnpm fails"
    # In a process namespace of its own: no browser and no service outlives it.
    exec unshare -Urnpm --fork --mount-proc sh "$0" --inside "$analects"
fi

analects=$2
PATH=$PATH:/usr/sbin:/sbin
. scripts/assertions.sh
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-test-router-page.XXXXXX")
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work"
state=$work/state
ip link set lo up

fail() {
    echo "test-router-page: FAILED: $1" >&2
    tail -n 40 "$work"/log "$work"/kept "$work"/found 2>/dev/null >&2
    exit 1
}

# The line: v0 is the router's device, v1 the far end in a namespace of its own, which takes 3 Mbit/s.
ip link add v0 type veth peer name v1 2>"$work/log" || missing "no veth: $(cat "$work/log")"
unshare -n sleep 100000 &
far=$!
sleep 1
ip link set v1 netns $far
ip addr add 10.9.0.1/24 dev v0
ip link set v0 up
there() {
    nsenter -n -t $far "$@"
}
there ip addr add 10.9.0.2/24 dev v1
there ip link set v1 up
there ip link set lo up
# Packets as they are on a wire.
ip link set dev v0 gso_max_segs 1
tc qdisc add dev v0 root handle 7: htb 2>"$work/log" || missing "this kernel has no htb: $(cat "$work/log")"
tc qdisc del dev v0 root
there sh -c 'ip link add narrow type ifb && ip link set narrow up && tc qdisc add dev v1 ingress &&
    tc filter add dev v1 ingress protocol all pref 1 u32 match u32 0 0 action mirred egress redirect dev narrow &&
    tc qdisc add dev narrow root tbf rate 3mbit burst 4000 limit 200000' 2>"$work/log" ||
    missing "this kernel cannot make a line: $(cat "$work/log")"
there python3 - <<'PYTHON' &
import socket
server = socket.create_server(("10.9.0.2", 9))
while True:
    peer, _ = server.accept()
    try:
        while peer.recv(1 << 16):
            pass
    except OSError:
        pass
PYTHON

"$analects" tc apply --dev v0 --up 9mbit -d pfifo,limit=100 --state "$state" >"$work/log" 2>&1 || fail "tc apply"

# served WORD...: a service with a page at $page; its words are those of the program.
served() {
    "$analects" "$@" --page "$address" --state "$state" >"$work/kept" 2>&1 &
    service=$!
    for _ in $(seq 100); do
        page=$(sed -n 's/^the page is //p' "$work/kept")
        [ -z "$page" ] || return 0
        sleep 0.1
    done
    fail "$*: no page"
}
ended() {
    kill -TERM $service
    wait $service || fail "$1: it ended with an error"
}
# asks: what follows is Python with `get(path)` for a document, and `told(bytes)` for the answer to a request.
asks() {
    cat - >"$work/asks.py"
    PAGE=$page python3 - "$@" >"$work/found" 2>&1 <<'PYTHON' || fail "$(tail -n 1 "$work/found")"
import json, os, socket, sys, time
at = os.environ["PAGE"].removeprefix("http://").rstrip("/")
to = (at.split(":")[0].replace("0.0.0.0", "127.0.0.1"), int(at.split(":")[1]))
def told(request):
    with socket.create_connection(to, timeout=20) as peer:
        try:
            peer.sendall(request)
        except OSError:
            pass
        answer = b""
        while piece := peer.recv(1 << 16):
            answer += piece
    return answer.decode()
def get(path="/status.json", more=""):
    answer = told(f"GET {path} HTTP/1.1\r\nHost: {at}\r\n{more}\r\n".encode())
    head, _, body = answer.partition("\r\n\r\n")
    return head.split()[1], body
def document():
    status, body = get()
    assert status == "200", (status, body)
    return json.loads(body)
def until(what, condition, seconds=30):
    for _ in range(4 * seconds):
        found = document()
        if condition(found):
            return found
        time.sleep(0.25)
    raise SystemExit(f"never: {what}: {json.dumps(found)[:3000]}")
exec(open(os.environ["TMPDIR"] + "/asks.py").read())
PYTHON
}

address=127.0.0.1:0
served tc keep --dev v0
"$analects" tc show --dev v0 --format json --state "$state" >"$work/shown.json" 2>"$work/log" || fail "tc show"
asks "$work/shown.json" <<'PYTHON'
found = until("a course of seconds", lambda found: len(found["lines"].get("v0", {"up": {"at_s": []}})["up"]["at_s"]) > 4)
shown = json.load(open(sys.argv[1]))
keys = lambda all: [(sorted(of), [sorted(queue) for queue in of["queues"]]) for of in all]
assert keys(found["setups"]) == keys(shown), (keys(found["setups"]), keys(shown))
up = found["lines"]["v0"]["up"]
assert set(up["rate_bps"]) == {9_000_000} and not up["followed"], up
assert [of["said"] for of in found["lately"]] == ["its flows are not told: only mencius counts what each has had"], found["lately"]
assert found["lines"]["v0"]["down"]["rate_bps"][0] is None
PYTHON
passed "the document has the set-up as tc show has it, and its course"

asks <<'PYTHON'
host = f"Host: {at}\r\n".encode()
status = lambda request: told(request).split()[1]
for request, expected in [
    (b"GET / HTTP/1.1\r\n" + host + b"Cookie: " + 100_000 * b"x" + b"\r\n\r\n", "431"),
    (b"POST / HTTP/1.1\r\n" + host + b"Content-Length: 3\r\n\r\nabc", "405"),
    (b"DELETE /status.json HTTP/1.1\r\n" + host + b"\r\n", "405"),
    (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"),
    (b"GET / HTTP/1.1\r\n\r\n", "421"),
    (b"GET /%2e%2e/etc/passwd HTTP/1.1\r\n" + host + b"\r\n", "404"),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "400"),
    (b"GET / HTT", "408"),
]:
    assert status(request) == expected, (request[:60], expected)
    document()
# Who holds all connections, and reads nothing, holds them for seconds.
held = [socket.create_connection(to) for _ in range(20)]
for peer in held:
    try:
        peer.sendall(b"GET / HTTP/1.1\r\n")
    except OSError:
        pass
time.sleep(7)
document()
PYTHON
passed "wrong requests end with an error, and the service goes on"

tc qdisc del dev v0 root
asks <<'PYTHON'
found = until("what was put back", lambda found: found["setups"][0]["restored"] == 1 and found["lines"]["v0"]["put_back"])
assert "v0" in found["lines"]["v0"]["put_back"][0]["what"], found["lines"]["v0"]["put_back"]
PYTHON
passed "what was put back is told"

# look BROWSER URL TEXT [OPTION...]: into $work/found.
look() {
    node scripts/look-at-router-page.mjs "$@" >"$work/found" 2>"$work/log" || fail "$*: it cannot be looked at"
    python3 - "$work/found" <<'PYTHON' 2>>"$work/log" || fail "$*: not what is there"
import json, sys
seen = json.loads(open(sys.argv[1]).read().splitlines()[-1])
assert seen["wide"] <= 0 and not seen["complaints"] and not seen["elsewhere"], seen
assert seen["curves"] > 0 and "does not answer" not in seen["text"] and "cannot look" not in seen["text"], seen
PYTHON
}
document=crates/program/router/tests/page/document.json
for browser in chromium firefox; do
    look $browser "$page" "they were put back once"
    look $browser "$page" "One flow is protected" --document $document
    grep -q '"rows":4' "$work/found" || fail "$browser: not a row for each computer"
    passed "$browser shows it, and what mencius tells"
done
look chromium "$page" "One flow is protected" --document $document --dark
grep -q '"paper":"rgb(22, 24, 27)"' "$work/found" || fail "it is not dark"
passed "it is dark where that is wished"
ended "tc keep"

printf 'swordfish\n' >"$work/password"
chmod 600 "$work/password"
address=0.0.0.0:0
if "$analects" tc keep --dev v0 --page $address --state "$state" >"$work/log" 2>&1; then fail "no password, and yet a page"; fi
grep -q 'there is no password' "$work/log" || fail "no word about a password"
served autorate --dev v0 --page-password-file "$work/password"
asks <<'PYTHON'
import base64, threading
right = "Authorization: Basic " + base64.b64encode(b"analects:swordfish").decode() + "\r\n"
wrong = "Authorization: Basic " + base64.b64encode(b"analects:swordfisk").decode() + "\r\n"
assert get()[0] == "401" and get("/")[0] == "401" and get("/", right)[0] == "200"
began = time.monotonic()
assert get("/", wrong)[0] == "401" and time.monotonic() - began > 0.9
plain = get
get = lambda path="/status.json": plain(path, right)
def send():
    with socket.create_connection(("10.9.0.2", 9)) as peer:
        try:
            while True:
                peer.sendall(bytes(1 << 16))
        except OSError:
            pass
threading.Thread(target=send, daemon=True).start()
change = lambda found: found["lines"]["v0"]["up"]["change"]
found = until("a rate that follows the line", lambda found: change(found) and change(found)["rate_bps"] < 4_000_000)
up = found["lines"]["v0"]["up"]
assert up["followed"] and up["change"]["from_bps"] != up["change"]["rate_bps"], up["change"]
assert {"why", "told_by", "reason", "time_s"} <= set(up["change"]), up["change"]
found = until("a wait in the line", lambda found: max(us or 0 for us in found["lines"]["v0"]["up"]["wait_us"]) > 2000)
print(up["change"])
PYTHON
ended "autorate"
passed "behind a password: the rate of a line that is followed, its wait, and why it changed"
