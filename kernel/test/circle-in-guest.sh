#!/bin/sh
# In a guest: a router measures its line, sets up what the line's file says by `tc apply --from`, on trial, and measures
# again: the full line's round trip falls. A real kernel's shaper, mencius behind it, and its TCP.
#   sh circle-in-guest.sh ANALECTS sch_mencius.ko
set -eu
analects=$1
work=$(mktemp -d)

# shellcheck source=scripts/assertions.sh
. ./assertions.sh
fail() {
    echo "circle: FAIL: $*"
    tail -n 20 "$work/out" "$work/err" "$work/served" 2>/dev/null || true
    exit 1
}
# said ARGUMENTS...: a command, what it prints, and what it says.
said() {
    echo "router# analects $*"
    "$analects" "$@" >"$work/out" 2>"$work/err" || fail "$*"
    cat "$work/out"
    grep "^$work/my-line.toml" "$work/err" || true
}
# less ROW: the full line's round trips of others, in ms, before and after: whether the median is less than half, and one in
# twenty is less.
less() {
    sed -n "s/^ *$1, full: others' round trip, ms, and of one in twenty *//p" "$work/out" | tr -d ',*' |
        awk -v row="$1" '{ print row " full: a round trip takes " $3 " ms after " $1 ", one in twenty " $4 " after " $2
                found = $3 < $1 / 2 && $4 < $2 }
            END { exit !found }'
}
# again: a measurement beside the first one finds both ways less. Its eight seconds are those in which sixteen connections
# begin, whose bursts wait in the modem before any shaper: one of three is enough.
again() {
    for try in 1 2 3; do
        said measure 198.51.100.2 --trust-anyone --queue mencius --before "$work/my-line.toml"
        if less down && less up; then return; fi
        echo "measurement $try: it is not less"
    done
    fail "it is not less"
}

insmod "$2"
modprobe ifb numifbs=0
for name in modem server; do ip netns add $name; done
ip link add v0 type veth peer name m0 netns modem
ip -n modem link add m1 type veth peer name s0 netns server
ip addr add 192.0.2.1/24 dev v0
ip link set v0 up
ip link set lo up
ip route add 198.51.100.0/24 via 192.0.2.2
ip -n modem addr add 192.0.2.2/24 dev m0
ip -n modem addr add 198.51.100.1/24 dev m1
for device in m0 m1; do ip -n modem link set $device up; done
ip netns exec modem sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip -n server addr add 198.51.100.2/24 dev s0
ip -n server link set s0 up
ip -n server route add default via 198.51.100.1
# Packets as long as a line has them.
ethtool -K v0 tso off gso off gro off >/dev/null
ip netns exec server ethtool -K s0 tso off gso off gro off >/dev/null
# 2 Mbit/s down and 1 up, which a guest carries under TLS; half of 30 ms and a FIFO of some 200 and 300 ms each way.
ip netns exec modem tc qdisc replace dev m0 root netem delay 15ms rate 2mbit limit 40
ip netns exec modem tc qdisc replace dev m1 root netem delay 15ms rate 1mbit limit 30

: >"$work/served"
ip netns exec server "$analects" probe serve --listen 0.0.0.0:7411 --key "$work/key" >"$work/served" 2>&1 &
tries=0
until grep -q '^pin ' "$work/served"; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || fail "the server does not begin"
    sleep 0.1
done

said measure 198.51.100.2 --trust-anyone -o "$work/my-line.toml"
passed "measured"
echo yes | said tc apply --dev v0 --from "$work/my-line.toml" --confirm 60s --state "$work/state"
grep -q ' mencius ' "$work/out" || fail "no mencius"
grep -q 'v0: it stays' "$work/err" || fail "it was not confirmed"
passed "applied, and confirmed"
again
passed "measured again"
said tc clear --dev v0 --state "$work/state"
echo "circle: $tests passed"
