#!/bin/sh
# `analects pace` with real programs behind `analects link`: the rate of downloads over IPv4 and IPv6, a call
# from the web's ports that is left alone, two processes of it, its end by a signal and by kill -9, and the
# firewall that was there. In network namespaces of its own, never in the host's.
#
#   test-pace.sh [ANALECTS]
set -eu

missing() {
    echo "test-pace: SKIPPED, nothing was tested: $1" >&2
    exit 0
}

case "${1:-}" in
--inside) ;;
*)
    cd "$(dirname "$0")/.."
    for program in ip unshare curl python3 nft iptables; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null ||
            sh scripts/apt.sh iproute2 util-linux curl python3 nftables iptables
    done
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    [ -x "$analects" ] || { echo "test-pace: $analects cannot be run" >&2; exit 1; }
    [ -w /dev/net/tun ] || missing "/dev/net/tun cannot be used; run it as root, or chmod 666 /dev/net/tun"
    unshare -Urnm true 2>/dev/null || missing "a namespace cannot be made here: unshare -Urnm fails"
    work=$(mktemp -d "${TMPDIR:-/tmp}/analects-pace.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # A machine that is too busy for the link in front fails tests of rates: then once more.
    for trial in 1 2 3; do
        status=0
        unshare -Urnm "$analects" link --down 100mbit --up 100mbit --rtt 10ms \
            --far "exec python3 scripts/pace/server.py" -- sh "$0" --inside "$analects" "$work/$trial" \
            2>"$work/said" || status=$?
        cat "$work/said" >&2
        [ $status != 0 ] && grep -q 'not to be believed' "$work/said" || exit $status
    done
    exit $status
    ;;
esac

analects=$2
work=$3
mkdir "$work"
PATH=$PATH:/usr/sbin:/sbin
# What iptables locks belongs to root of the machine.
export XTABLES_LOCKFILE=$work/xtables.lock
near=$ANALECTS_FAR
. scripts/assertions.sh
pacer=

trap '[ -z "$pacer" ] || kill -9 "$pacer" 2>/dev/null || true' EXIT
fail() {
    echo "test-pace: FAILED: $1" >&2
    for file in pace err out; do sed "s/^/    $file: /" "$work/$file" >&2 2>/dev/null || true; done
    exit 1
}
# begin ARGUMENTS...: the pacer, once its rules are there.
begin() {
    : >"$work/pace"
    "$analects" pace --state "$work/state" "$@" >"$work/out" 2>"$work/pace" &
    pacer=$!
    for _ in $(seq 100); do
        grep -q 'packets pass through' "$work/pace" && return
        kill -0 "$pacer" 2>/dev/null || fail "it ended at once"
        sleep 0.1
    done
    fail "it serves no packets after ten seconds"
}
# stop SIGNAL STATUS
stop() {
    kill "-$1" "$pacer"
    status=0
    wait "$pacer" || status=$?
    pacer=
    [ "$status" = "$2" ] || fail "SIG$1 ended it with $status"
}
rules() {
    # Without counters, which other traffic moves.
    nft -s list ruleset 2>/dev/null || true
    iptables-save 2>/dev/null | sed '/^#/d'
    ip6tables-save 2>/dev/null | sed '/^#/d'
}

for _ in $(seq 100); do
    curl -s -o /dev/null "http://$near:443/1" && break
    sleep 0.1
done

# rate HOST: Mbit/s of a download of 12 MB, with the 52 bytes of headers for each 1448.
rate() {
    curl -s -o /dev/null -w '%{speed_download}' --max-time 60 "http://$1/12000000" |
        awk '{ printf "%.3f", $1 * 8e-6 * 1500 / 1448 }'
}
rules >"$work/before"
begin --rate 20mbit --json "$work/json"
between "IPv4 from port 443" "$(rate "$near:443")" 19.4 20.6
between "IPv4 from port 80" "$(rate "$near:80")" 19.4 20.6
between "IPv6 from port 443" "$(rate "[fd61:6e61:6c65:6374::1]:443")" 19.4 20.6
between "what is not of the web" "$(rate "$near:8080")" 50 110
stop TERM 0
rules >"$work/after"
cmp "$work/before" "$work/after" || fail "the rules are not as they were"
paced=$(python3 -c "import json; tally = json.load(open('$work/json'))['tally']; print(tally['passed_bytes'])")
between "bytes that it passed" "$paced" 36000000 39500000
passed "downloads have the rate within 3 %, over IPv4 and IPv6, and others are left alone"

# Packets wait 25 ms and more in the pacer while the download runs.
python3 scripts/pace/call.py "$near" 1 >"$work/alone" || fail "the call alone"
begin --rate 20mbit
(rate "$near:443" >"$work/rate"; rate "$near:443" >"$work/rate") &
python3 scripts/pace/call.py "$near" 5 >"$work/out" || fail "the call"
wait $!
between "the download beside it" "$(cat "$work/rate")" 18.5 20.6
between "datagrams of the call that were lost" "$(sed -n 's/^lost //p' "$work/out")" 0 0
between "median delay of the call, ms" "$(sed -n 's/^median //p' "$work/out")" 4 12
stop INT 0
passed "a call from port 443 is recognised by its behaviour, and not paced"

begin --rate 20mbit
rules >"$work/during"
if "$analects" pace --state "$work/state" --queue 4431 >"$work/out" 2>"$work/err"; then fail "two at once"; fi
grep -q 'runs here already' "$work/err" || fail "no word on the other one"
if "$analects" pace --state "$work/other" >"$work/out" 2>"$work/err"; then fail "two at one queue"; fi
grep -q 'no other program listens' "$work/err" || fail "no word on the queue"
rules >"$work/after"
cmp "$work/during" "$work/after" || fail "a refused one changed the rules"
passed "two of them refuse each other, and the second changes nothing"

stop KILL 137
curl -s -o /dev/null --max-time 1 "http://$near:443/100000" || fail "no connection within a second of kill -9"
between "unpaced after kill -9" "$(rate "$near:443")" 30 110
rules >"$work/left"
cmp -s "$work/before" "$work/left" && fail "nothing was left: the test shows nothing"
"$analects" pace --state "$work/state" --dry-run >"$work/out" 2>"$work/err" || fail "--dry-run"
grep -q 'a former process left rules' "$work/err" || fail "no word on what is left"
begin --rate 10mbit
between "after the next start" "$(rate "$near:443")" 9.5 10.3
stop HUP 0
rules >"$work/after"
cmp "$work/before" "$work/after" || fail "rules outlive the next start"
passed "after kill -9 all connections work at once, and the next start takes the old rules away"

# A firewall that drops, and rules of others in the very chains.
nft -f - <<'R'
table inet firewall {
    chain input {
        type filter hook input priority filter; policy accept;
        tcp sport 8080 drop
        counter comment "theirs"
    }
}
R
iptables -t mangle -A INPUT -p tcp --sport 80 -j TOS --set-tos 8
rules >"$work/before"
"$analects" pace --state "$work/state" --dry-run --rate 20mbit >"$work/out" 2>"$work/err" || fail "--dry-run"
grep -q 4430 "$work/out" || fail "--dry-run prints no rule"
rules >"$work/after"
cmp "$work/before" "$work/after" || fail "--dry-run changed something"
begin --rate 20mbit
curl -s -o /dev/null --max-time 1 "http://$near:8080/1" && fail "the firewall does not drop any more"
between "the rate behind a firewall" "$(rate "$near:443")" 19.4 20.6
stop TERM 0
rules >"$work/after"
cmp "$work/before" "$work/after" || fail "the firewall is not as it was"
passed "a firewall is left as it was, and goes on filtering"

# Another program flushes the rules, as a firewall's reload does.
begin --rate 20mbit --json "$work/json"
nft flush ruleset
iptables -t mangle -F
sleep 2
between "the rate after another program flushed the rules" "$(rate "$near:443")" 19.0 20.6
stop TERM 0
[ "$(grep -c 'took the rules away; they are there again' "$work/pace")" = 1 ] || fail "it is not said once"
restored=$(python3 -c "import json; print(json.load(open('$work/json'))['rules_restored'])")
between "how often rules were put back" "$restored" 1 2
if "$analects" pace --dev nosuch --state "$work/state" >"$work/out" 2>"$work/err"; then fail "a device that is not there"; fi
grep -q 'no device nosuch' "$work/err" || fail "no word on the device that is not there"
passed "rules that another program flushes are put back, said once and counted"

# Told nothing, it is to use most of a link and stay below it.
begin
rate "$near:443" >/dev/null
between "the rate that it found" "$(rate "$near:443")" 45 100
stop TERM 0
passed "an adaptive pacer finds a rate"

echo "test-pace: $tests passed, 0 failed"
