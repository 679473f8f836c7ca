#!/bin/sh
# `analects check` with the call of crates/lab/check/examples: it passes on a good link and fails on six bad ones with the
# right cause, tells a regression from a baseline, and does not decide where this host is late. In a network namespace
# of its own, never in the host's.
#
#   test-check.sh [ANALECTS]
set -eu

missing() {
    echo "test-check: SKIPPED, nothing was tested: $1" >&2
    exit 0
}

if [ "${1:-}" != --inside ]; then
    cd "$(dirname "$0")/.."
    for program in ip unshare setpriv taskset python3; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || sh scripts/apt.sh iproute2 util-linux python3
    done
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    [ -w /dev/net/tun ] || missing "/dev/net/tun cannot be used; run it as root, or chmod 666 /dev/net/tun"
    unshare -Urnm true 2>/dev/null || missing "a namespace cannot be made here: unshare -Urnm fails"
    # As root where that can be: its real-time class keeps times on a busy machine.
    [ "$(id -u)" != 0 ] || exec unshare -nm sh "$0" --inside "$analects"
    exec unshare -Urnm sh "$0" --inside "$analects"
fi

analects=$2
PATH=$PATH:/usr/sbin:/sbin
here=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-test-check.XXXXXX")
busy=
. scripts/assertions.sh

end() {
    for loop in $busy; do kill "$loop" 2>/dev/null || true; done
    rm -rf "$work"
}
trap end EXIT
fail() {
    echo "test-check: FAILED: $1" >&2
    for file in out err; do sed "s/^/    $file: /" "$work/$file" >&2 2>/dev/null || true; done
    exit 1
}
# check STATUS ARGUMENTS...: standard output and error are kept.
check() {
    wanted=$1
    shift
    status=0
    timeout 300 "$analects" check "$@" >"$work/out" 2>"$work/err" || status=$?
    [ $status = "$wanted" ] || fail "status $status instead of $wanted: $*"
}

ip link set lo up
cp "$here/crates/lab/check/examples/call.py" "$work"
cd "$work"

# head OPTIONS...: the beginning of a file, for the call with these options of its far end.
head() {
    cat <<T
name = "call"
duration = "8s"
warmup = "2s"
limits = ["freezes <= 1", "frozen <= 1s", "fps_p5 >= 20", "rtt_p95 <= 250ms"]
[application]
far = "python3 call.py far $*"
far_ready = 5004
near = "python3 call.py near \$ANALECTS_FAR"
T
}
condition() {
    printf '[[condition]]\nname = "%s"\nlink = { rtt = "40ms", %s }\n' "$1" "$2"
}
good='rate = "5mbit", up = { rate = "2mbit" }'
{ head; condition good "$good"; } >good.toml
{ head --pause; condition good "$good"; } >pause.toml
{ head --fps 24; condition good "$good"; } >slow.toml
{
    head
    condition loss "rate = \"5mbit\", loss = \"25%\", up = { rate = \"2mbit\" }"
    condition download 'rate = "3mbit", buffer = "150p", up = { rate = "2mbit" }'
    echo 'beside = { far = "python3 call.py serve", near = "sleep 1; python3 call.py download $ANALECTS_FAR" }'
    condition upload 'rate = "20mbit", up = { rate = "1mbit", buffer = "60p" }'
    echo 'beside = { far = "python3 call.py serve", near = "sleep 1; python3 call.py upload $ANALECTS_FAR" }'
    condition outage 'steps = "0s 5mbit; 4s 0mbit; 6s 5mbit", up = { rate = "2mbit" }'
    condition narrow 'rate = "100kbit", up = { rate = "2mbit" }'
} >bad.toml

# What is wrong with a file is told before anything runs.
sed 's/fps_p5 >= 20/fps_p5 > 20/' good.toml >wrong.toml
check 2 wrong.toml
grep -q 'wrong.toml:4:.*neither <= nor >=' err || fail "no word on a wrong limit"
check 2 /no/such.toml
check 2 good.toml --time 30s
grep -q 'pass after 5 calls' err || fail "a time in which nothing can pass is taken"
check 2 good.toml --only bad
sed 's/python3 call.py near/nosuchprogram/' good.toml >wrong.toml
check 2 wrong.toml
grep -q 'application.near cannot be run' err || fail "no word on a program that is not there"
sed 's/near = .*/near = "sleep 60"/' good.toml >wrong.toml
check 2 wrong.toml
grep -q 'needs freezeCount' err || fail "no word on an application that tells nothing"
passed "wrong files, times and programs are refused"

check 0 good.toml --save base.json --json out.json --junit out.xml --report out.html
grep -q 'Passed, in 1 of 1 conditions' out || fail "a good link does not pass"
python3 - <<'P' || fail "JSON, JUnit, page, baseline"
import json, xml.etree.ElementTree as tree
outcome = json.load(open("out.json"))
assert outcome["verdict"] == "passed" and outcome["conditions"][0]["runs"] >= 5, outcome
suites = tree.parse("out.xml").getroot()
assert suites.attrib["tests"] == "4" and suites.attrib["failures"] == "0", suites.attrib
assert "Passed" in open("out.html").read()
values = json.load(open("base.json"))["conditions"]["good"]
assert len(values["fps_p5"]) >= 5, values
P
passed "a good link passes"

check 1 bad.toml --json out.json --junit out.xml --report out.html
python3 - <<'P' || fail "causes"
import json, xml.etree.ElementTree as tree
causes = {
    # Its link loses both ways.
    "loss": ("loss", None),
    "download": ("queue_of_others", "down"),
    "upload": ("queue_of_others", "up"),
    "outage": ("outage", "down"),
    "narrow": ("narrow_line", "down"),
}
outcome = json.load(open("out.json"))
assert outcome["verdict"] == "failed", outcome["verdict"]
for condition in outcome["conditions"]:
    name = condition["name"]
    assert condition["verdict"] == "failed", (name, condition)
    missed = [limit for limit in condition["limits"] if limit["decision"] == "missed"]
    assert missed, (name, condition)
    wanted = causes.pop(name)
    first = missed[0]["because"]["cause"]
    assert first["kind"] == wanted[0] and wanted[1] in (None, first["way"]), (name, missed[0]["limit"], first)
    for limit in missed:
        cause = limit["because"]["cause"]
        print(f"    {name}, {limit['limit']}: {cause['words']}")
assert not causes, causes
suites = tree.parse("out.xml").getroot()
assert len(suites) == 5 and int(suites.attrib["failures"]) >= 5, suites.attrib
failures = [failure.attrib["message"] for failure in suites.iter("failure")]
assert any("stood still from 4.0 to 6.0 s" in failure for failure in failures), failures
page = open("out.html").read()
assert page.count("<h2>") == 5 and "<svg" in page and "stood still" in page
P
passed "five bad links fail, each with its cause"

check 1 pause.toml --json out.json
python3 - <<'P' || fail "an application's own doing"
import json
limits = json.load(open("out.json"))["conditions"][0]["limits"]
causes = [limit["because"]["cause"] for limit in limits if limit["decision"] == "missed"]
assert causes and all(cause["kind"] == "application" for cause in causes), causes
assert "its far end sent nothing for 0.5 s" in causes[0]["words"], causes
print(f"    {causes[0]['words']}")
P
passed "an application that pauses fails by its own doing"

sed 's/near = .*/near = "sleep 1; exit 3"/' good.toml >wrong.toml
check 1 wrong.toml
grep -q 'failed in 2 of 2 calls: it ended with status 3' out || fail "no word on an application that ends"
passed "an application that ends badly fails"

sed 's/far = .*/far = "echo no certificate >\&2; exit 1"/' good.toml >wrong.toml
check 1 wrong.toml
grep -q "failed in 2 of 2 calls: the far side's command ended after 0.. s, with status 1, .*: no certificate" out ||
    fail "no word on a server that does not begin"
sed 's/far = .*/far = "nosuchprogram"/' good.toml >wrong.toml
check 2 wrong.toml
grep -q 'application.far cannot be run' err || fail "no word on a server that is not there"
passed "a server that ends before it listens fails, and one that is not there is a wrong file"

sed 's/near = "/near = "setsid sleep 300 \& /' good.toml >held.toml
check 0 held.toml --time 2min
passed "who keeps standard output open holds nothing up"

sed 's/near = "/near = "[ ! -e before ] || echo {no; touch before; /' good.toml >wrong.toml
check 2 wrong.toml --json out.json
grep -q '1 runs do not decide' out || fail "calls before an error are not told"
python3 -c 'import json; assert json.load(open("out.json"))["conditions"][0]["runs"] == 1' || fail "JSON before an error"
grep -q 'runs do not decide, and no more came: ' out.json || fail "JSON does not say why no more came"
passed "what was found before an error is told"

check 0 slow.toml
check 1 slow.toml --baseline base.json --save never.json
grep -q 'fps_p5 got worse' out || fail "no word on a regression"
[ ! -e never.json ] || fail "a baseline of a check that failed is kept"
check 0 good.toml --baseline base.json
check 2 good.toml --baseline out.xml
sed 's/name = "call"/name = "another"/' good.toml >wrong.toml
check 2 wrong.toml --baseline base.json
grep -q 'of the check "call", expected "another"' err || fail "no word on a baseline of another check"
passed "a regression is told from a baseline, and what did not change is none"

# The link and the application share one processor with others, without the real-time class.
for _ in 1 2 3 4 5 6; do
    taskset -c 0 sh -c 'while :; do :; done' &
    busy="$busy $!"
done
status=0
taskset -c 0 setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice "$analects" check good.toml --json out.json \
    >out 2>err || status=$?
for loop in $busy; do kill "$loop"; done
busy=
[ $status = 2 ] || fail "a host that is late gives $status"
grep -q 'this host was late in all of 3 runs' out || fail "no word on a late host"
passed "where this host is late, nothing is decided"

"$analects" check good.toml >out 2>err &
running=$!
sleep 4
kill -9 $running
wait $running 2>/dev/null || true
# The call would last four more seconds.
sleep 2
if pgrep -af 'call.py (near|far)' >out; then fail "the application outlives a kill -9"; fi
passed "nothing outlives a kill -9"
if [ -n "${ANALECTS_CHROMIUM:-}" ] || command -v chromium >/dev/null; then
    cp "$here/crates/lab/check/examples/page.py" "$work"
    cat >page.toml <<'T'
duration = "16s"
warmup = "9s"
limits = ["freezes <= 2", "fps >= 15", "rtt_p95 <= 250ms", "buffer <= 1s"]
[application]
far = "python3 page.py"
far_ready = 8080
url = "http://$ANALECTS_FAR:8080/"
[[condition]]
name = "good"
link = { rtt = "40ms", rate = "5mbit", up = { rate = "5mbit" } }
T
    check 0 page.toml
    passed "a page's call between two browsers is told, and passes"
else
    echo "test-check: no Chromium, so a page was not tested"
fi
echo "test-check: $tests passed"
