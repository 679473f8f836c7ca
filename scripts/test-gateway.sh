#!/bin/sh
# `analects gateway` on a router between two networks, with real programs: TCP at the rate both ways over IPv4
# and IPv6, a call beside a download, changes under load, two processes of it, its end by a signal and by
# kill -9, counters, and the firewall that was there. In network namespaces of its own, never in the host's.
#
#   test-gateway.sh [ANALECTS]
set -eu

missing() {
    echo "test-gateway: SKIPPED, nothing was tested: $1" >&2
    exit 0
}

case "${1:-}" in
--inside) ;;
*)
    cd "$(dirname "$0")/.."
    for program in ip unshare nsenter curl python3 nft iptables; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null ||
            sh scripts/apt.sh iproute2 util-linux curl python3 nftables iptables
    done
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    [ -x "$analects" ] || { echo "test-gateway: $analects cannot be run" >&2; exit 1; }
    unshare -Urnm true 2>/dev/null || missing "a namespace cannot be made here: unshare -Urnm fails"
    work=$(mktemp -d "${TMPDIR:-/tmp}/analects-gateway.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    unshare -Urnm sh "$0" --inside "$analects" "$work"
    exit
    ;;
esac

analects=$2
work=$3
PATH=$PATH:/usr/sbin:/sbin
# What iptables locks belongs to root of the machine.
export XTABLES_LOCKFILE=$work/xtables.lock
. scripts/assertions.sh
gateway=
others=

trap 'kill -9 $gateway $others 2>/dev/null || true' EXIT
fail() {
    echo "test-gateway: FAILED: $1" >&2
    # For its counters.
    [ -z "$gateway" ] || { kill "$gateway" 2>/dev/null; sleep 1; }
    for file in gateway err out; do sed "s/^/    $file: /" "$work/$file" >&2 2>/dev/null || true; done
    exit 1
}
# begin ARGUMENTS...: the gateway, once its rules are there.
begin() {
    : >"$work/gateway"
    "$analects" gateway --in lan --out wan --state "$work/state" "$@" >"$work/out" 2>"$work/gateway" &
    gateway=$!
    for _ in $(seq 100); do
        grep -q 'packets pass through' "$work/gateway" && return
        kill -0 "$gateway" 2>/dev/null || fail "it ended at once"
        sleep 0.1
    done
    fail "it serves no packets after ten seconds"
}
# stop SIGNAL STATUS
stop() {
    kill "-$1" "$gateway"
    status=0
    wait "$gateway" || status=$?
    gateway=
    [ "$status" = "$2" ] || fail "SIG$1 ended it with $status"
}
rules() {
    # Without counters, which other traffic moves.
    nft -s list ruleset 2>/dev/null || true
    iptables-save 2>/dev/null | sed '/^#/d'
    ip6tables-save 2>/dev/null | sed '/^#/d'
}

# A router between two namespaces: home is 10.1.0.2, the network outside is 10.2.0.2.
unshare -n sleep 3600 &
home=$!
unshare -n sleep 3600 &
outside=$!
others="$home $outside"
at_home() { nsenter -t $home -n "$@"; }
at_outside() { nsenter -t $outside -n "$@"; }
for _ in $(seq 100); do
    [ "$(readlink /proc/$home/ns/net)" != "$(readlink /proc/$$/ns/net)" ] &&
        [ "$(readlink /proc/$outside/ns/net)" != "$(readlink /proc/$$/ns/net)" ] && break
    sleep 0.1
done
ip link add lan type veth peer name eth0 netns $home
ip link add wan type veth peer name eth0 netns $outside
number=1
for device in lan wan; do
    [ $device = lan ] && there=at_home || there=at_outside
    ip address add 10.$number.0.1/24 dev $device
    ip -6 address add fd00:$number::1/64 dev $device nodad
    ip link set $device up
    $there ip address add 10.$number.0.2/24 dev eth0
    $there ip -6 address add fd00:$number::2/64 dev eth0 nodad
    $there ip link set eth0 up
    $there ip link set lo up
    $there ip route add default via 10.$number.0.1
    $there ip -6 route add default via fd00:$number::1
    $there sh -c 'echo reno >/proc/sys/net/ipv4/tcp_congestion_control'
    number=$((number + 1))
done
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding

# Functions would be shells in between, which cannot be killed with what they run.
nsenter -t $home -n python3 scripts/pace/server.py &
others="$others $!"
nsenter -t $outside -n python3 scripts/pace/server.py &
others="$others $!"
nsenter -t $home -n python3 scripts/gateway/numbers.py answer 9000 &
others="$others $!"
for _ in $(seq 100); do
    at_home curl -s -o /dev/null "http://10.2.0.2:443/1" && at_outside curl -s -o /dev/null "http://10.1.0.2:443/1" && break
    sleep 0.1
done

# CAP_NET_ADMIN and CAP_NET_RAW.
few_privileges() {
    grep -q '^CapPrm:.*0000000000003000$' "/proc/$1/status" && grep -q '^CapEff:.*0000000000003000$' "/proc/$1/status" &&
        grep -q '^NoNewPrivs:.*1$' "/proc/$1/status" || fail "it has more privileges: $(grep Cap "/proc/$1/status")"
}

# rate WHERE HOST BYTES: Mbit/s of a download, with the headers of each packet: 52 bytes, over IPv6 72.
rate() {
    case $2 in "["*) payload=1428 ;; *) payload=1448 ;; esac
    "$1" curl -s -o /dev/null -w '%{speed_download}' --max-time 60 "http://$2:8080/$3" |
        awk -v payload=$payload '{ printf "%.3f", $1 * 8e-6 * 1500 / payload }'
}
# count DIRECTION KEY: a counter of the JSON file.
count() {
    python3 -c "import json, sys; print(json.load(open('$work/json'))['$1']['tally']['$2'])"
}

rules >"$work/before"
# A queue that Reno does not empty, also where machines are slow: then the rate is the link's alone.
begin --down 20mbit --up 8mbit -d pfifo,limit=200 --json "$work/json" --prometheus "$work/gateway.prom" --every 1s
few_privileges "$gateway"
between "down over IPv4" "$(rate at_home 10.2.0.2 12000000)" 19.4 20.6
between "down over IPv6" "$(rate at_home '[fd00:2::2]' 12000000)" 19.4 20.6
between "up over IPv4" "$(rate at_outside 10.1.0.2 5000000)" 7.76 8.24
between "up over IPv6" "$(rate at_outside '[fd00:1::2]' 5000000)" 7.76 8.24
grep -q 'passed_bytes_total{in="lan",out="wan",direction="down"} 2' "$work/gateway.prom" || fail "no counters while it runs"
stop TERM 0
rules >"$work/after"
cmp "$work/before" "$work/after" || fail "the rules are not as they were"
between "bytes down" "$(count down passed_bytes)" 24800000 26500000
between "bytes up" "$(count up passed_bytes)" 10300000 11300000
between "bytes down, for Prometheus" "$(sed -n 's/^analects_gateway_passed_bytes_total.*down"} //p' "$work/gateway.prom")" 24800000 26500000
passed "TCP has the rate within 3 % both ways, over IPv4 and IPv6, and counters tell so"

# A download fills 20 Mbit/s; the call has 2.4.
beside_a_download() {
    begin --down 20mbit --up 8mbit "$@"
    rate at_home 10.2.0.2 20000000 >"$work/rate" &
    download=$!
    at_home python3 scripts/pace/call.py 10.2.0.2 4 >"$work/out" || fail "the call"
    wait $download
    between "the download beside it" "$(cat "$work/rate")" 12 20.6
    stop INT 0
}
beside_a_download -d pfifo,limit=200
between "median delay of the call in a FIFO, ms" "$(sed -n 's/^median //p' "$work/out")" 40 200
beside_a_download -d mencius
between "datagrams of the call that were lost" "$(sed -n 's/^lost //p' "$work/out")" 0 0
between "median delay of the call, ms" "$(sed -n 's/^median //p' "$work/out")" 0 15
passed "under mencius a download leaves a call alone, which waits behind it in a FIFO"

# A queue of 60 packets stands all the time.
begin --down 20mbit --up 8mbit --discipline pfifo,limit=5000
at_outside python3 scripts/gateway/numbers.py send 10.1.0.2 9000 4 >"$work/numbers" &
sender=$!
change() {
    "$analects" change gateway --state "$work/state" "$@" >"$work/out" 2>"$work/err"
}
for _ in 1 2 3 4; do
    change down=3mbit down.limit=6000 || fail "a change"
    sleep 0.4
    change limit=4000 down=40mbit || fail "a change"
    sleep 0.2
    change down=800mbit up=10mbit || fail "a change"
    sleep 0.2
done
change down=20mbit limit=much && fail "a bad setting was taken"
grep -q limit "$work/err" || fail "no word on the bad setting"
change up.limit=7 down.limt=9 && fail "a bad setting of one was taken"
wait $sender
between "datagrams that were sent" "$(sed -n 's/^sent //p' "$work/numbers")" 2000 100000
between "datagrams that were lost" "$(sed -n 's/^lost //p' "$work/numbers")" 0 0
between "datagrams out of order" "$(sed -n 's/^late //p' "$work/numbers")" 0 0
# 60 packets at 3 Mbit/s take 196 ms: the queue was there, and followed the rate.
between "the longest time, ms" "$(sed -n 's/^longest //p' "$work/numbers")" 150 1000
between "the rate after the last change" "$(rate at_outside 10.1.0.2 6000000)" 9.7 10.3
stop TERM 0
passed "changes under load lose and reorder nothing, and are refused whole"

begin --down 20mbit --up 8mbit
rules >"$work/during"
if "$analects" gateway --in lan --out wan --state "$work/state" --queue 4450 >"$work/out" 2>"$work/err"; then fail "two at once"; fi
grep -q 'runs here already' "$work/err" || fail "no word on the other one"
if "$analects" gateway --in lan --out wan --state "$work/other" >"$work/out" 2>"$work/err"; then fail "two at one queue"; fi
grep -q 'no other program listens' "$work/err" || fail "no word on the queue"
rules >"$work/after"
cmp "$work/during" "$work/after" || fail "a refused one changed the rules"
passed "two of them refuse each other, and the second changes nothing"

at_home curl -s -o /dev/null -w '%{http_code}' --max-time 20 "http://10.2.0.2:8080/8000000" >"$work/code" &
carried=$!
sleep 1
stop KILL 137
at_home curl -s -o /dev/null --max-time 1 "http://10.2.0.2:443/100000" || fail "no connection within a second of kill -9"
wait $carried || fail "the download that was carried did not go on"
between "unshaped after kill -9" "$(rate at_home 10.2.0.2 50000000)" 60 100000
rules >"$work/left"
cmp -s "$work/before" "$work/left" && fail "nothing was left: the test shows nothing"
change down=10mbit && fail "a change of none was taken"
grep -q 'no .analects gateway. runs here' "$work/err" || fail "no word on nobody there"
"$analects" gateway --in lan --out wan --state "$work/state" --dry-run >"$work/out" 2>"$work/err" || fail "--dry-run"
grep -q 'a former process left rules' "$work/err" || fail "no word on what is left"
begin --down 10mbit -d pfifo,limit=200
between "after the next start" "$(rate at_home 10.2.0.2 6000000)" 9.7 10.3
stop HUP 0
rules >"$work/after"
cmp "$work/before" "$work/after" || fail "rules outlive the next start"
passed "after kill -9 all connections work at once, and the next start takes the old rules away"

# A firewall that drops and translates addresses, and rules of others in the very chains.
nft -f - <<'R'
table inet firewall {
    chain forward {
        type filter hook forward priority filter; policy accept;
        tcp sport 80 drop
        counter comment "theirs"
    }
}
R
iptables -t nat -A POSTROUTING -o wan -j MASQUERADE
iptables -t mangle -A FORWARD -p tcp --sport 8080 -j TOS --set-tos 8
rules >"$work/before"
"$analects" gateway --in lan --out wan --state "$work/state" --dry-run >"$work/out" 2>"$work/err" || fail "--dry-run"
grep -q 4441 "$work/out" || fail "--dry-run prints no rule"
rules >"$work/after"
cmp "$work/before" "$work/after" || fail "--dry-run changed something"
begin --down 20mbit -d pfifo,limit=200
at_home curl -s -o /dev/null --max-time 1 "http://10.2.0.2:80/1" && fail "the firewall does not drop any more"
between "down behind a firewall" "$(rate at_home 10.2.0.2 12000000)" 19.4 20.6
stop TERM 0
rules >"$work/after"
cmp "$work/before" "$work/after" || fail "the firewall is not as it was"
passed "a firewall is left as it was, and goes on filtering and translating"

# within_two_seconds COUNT: the rules were put back so often, as the counters say.
within_two_seconds() {
    for _ in $(seq 30); do
        sleep 0.1
        python3 -c "import json, sys; sys.exit(json.load(open('$work/json'))['rules_restored'] != $1)" && return
    done
    fail "the rules were not put back for the time number $1"
}
# A firewall's reload (`flush ruleset`), OpenWrt's stop, a script's -F, and somebody who deletes one rule.
begin --down 20mbit -d pfifo,limit=200 --json "$work/json" --prometheus "$work/gateway.prom" --every 1s
number=0
took_away() {
    number=$((number + 1))
    within_two_seconds $number
    between "down after $1" "$(rate at_home 10.2.0.2 6000000)" 19.2 20.6
}
nft flush ruleset
took_away "nft flush ruleset"
if nft list tables | grep -q 'inet analects-gateway'; then
    nft delete table inet analects-gateway
    took_away "the table is deleted"
    nft flush chain inet analects-gateway forward
    took_away "the chain is flushed"
    nft delete rule inet analects-gateway forward handle \
        "$(nft -a list chain inet analects-gateway forward | sed -n 's/.*queue.*handle //p' | head -1)"
    took_away "a rule is deleted"
else
    iptables -t mangle -F
    took_away "iptables -t mangle -F"
    iptables -t mangle -D analects-gateway 1
    took_away "a rule is deleted"
    iptables -t mangle -F FORWARD
    took_away "the way to the chain is deleted"
fi
grep -q "^analects_gateway_rules_restored_total.* $number\$" "$work/gateway.prom" || fail "no counter for Prometheus"
stop TERM 0
[ "$(grep -c 'took the rules away; they are there again' "$work/gateway")" = 1 ] || fail "it is not said once"
grep -q "put back $number times" "$work/gateway" || fail "the end does not say it"
rules | grep -q analects && fail "rules stay"
passed "rules that another program takes away are there again within two seconds, and counted"

# A host on which they cannot be put back: the programs that make rules are gone.
mkdir "$work/programs"
for program in nft iptables ip6tables; do
    printf '#!/bin/sh\n[ ! -e "%s/broken" ] || exit 1\nexec %s "$@"\n' "$work" "$(command -v $program)" \
        >"$work/programs/$program"
    chmod +x "$work/programs/$program"
done
flush() { "$(command -v nft)" flush ruleset; }
PATH=$work/programs:$PATH begin --down 20mbit
touch "$work/broken"
flush
for _ in $(seq 100); do
    kill -0 "$gateway" 2>/dev/null || break
    sleep 0.1
done
status=0
wait "$gateway" || status=$?
gateway=
rm "$work/broken"
[ "$status" = 1 ] || fail "it ended with $status"
grep -q 'cannot be put back' "$work/gateway" || fail "no word on why it ended"
"$analects" gateway --in lan --out wan --state "$work/state" --down 20mbit >"$work/out" 2>"$work/err" &
gateway=$!
sleep 2
stop TERM 0
passed "where they cannot be put back it ends with an error"
rules >"$work/before"

wrong() {
    if "$analects" gateway --state "$work/state" "$@" >"$work/out" 2>"$work/err"; then fail "taken: $*"; fi
    cat "$work/out" >>"$work/err"
}
wrong --in lan --out lan
grep -q 'both lan' "$work/err" || fail "one device twice"
wrong --in lan --out nothing
grep -q 'no device nothing' "$work/err" || fail "a device that is not there"
wrong --in lan --out wan --down fast
grep -q -- '--down' "$work/err" || fail "a rate that is none"
wrong --in lan --out wan --down auto
grep -q -- '--down: nothing says which rate' "$work/err" || fail "a rate that finds itself from none on"
wrong --in lan --out wan -d mencius,min_wait=x
grep -q 'min_wait' "$work/err" || fail "a setting that is none"
wrong --in lan --out wan --json "$work/none/json"
grep -q 'cannot be written' "$work/err" || fail "a file that cannot be written"
rules >"$work/after"
cmp "$work/before" "$work/after" || fail "a refused one changed the rules"
wrong --in lan --out lo
grep -q "forwarded by lo" "$work/err" || fail "the loopback device"
passed "wrong arguments change nothing"

# Rates that find themselves: the home behind a line of a FIFO at each end, whose rate falls to a quarter and comes back.
if [ -w /dev/net/tun ]; then
    printf '0 40\n10 10\n20 40\n60 40\n' >"$work/steps.txt"
    cat >"$work/line.toml" <<L
[link]
trace = "$work/steps.txt"
rtt = "40ms"
buffer = "400p"
discipline = "pfifo"

[link.up]
rate = "10mbit"
buffer = "200p"
discipline = "pfifo"
L
    serve="ip link set dev analects0 gso_max_segs 1 && exec python3 '$PWD/scripts/pace/server.py'"
    "$analects" link "$work/line.toml" --json "$work/line.json" --far "$serve" --far-ready 8080 -- \
        python3 scripts/gateway/line.py "$analects" "$work" >"$work/out" 2>"$work/err" || fail "a line that steps"
    # What a line shows whose own packets were late, since this host is busy, is not of the gateway; but it shows it.
    if ! grep -q '^wrong ' "$work/out"; then
        passed "rates that find themselves fall below a line that falls, and rise with it: $(grep 'until' "$work/out")"
    elif grep -q '"believed": false' "$work/line.json"; then
        echo "test-gateway: SKIPPED, a line that steps: $(sed -n 's/^ *"doubt": //p' "$work/line.json")" >&2
    else
        fail "$(grep '^wrong ' "$work/out")"
    fi
else
    echo "test-gateway: SKIPPED, a line that steps: /dev/net/tun cannot be used" >&2
fi

echo "test-gateway: $tests passed, 0 failed"
