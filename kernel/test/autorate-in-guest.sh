#!/bin/sh
# In a guest: `analects autorate` before a line of two directions, that changes, with real TCP through it: the rates of
# the shaper that `tc apply` set up fall below what the line carries and rise with it, and are put back; what is killed
# is known; what another program takes away ends it.
#   sh autorate-in-guest.sh ANALECTS
# ANALECTS is static.
set -eu
analects=$1
work=$(mktemp -d)

# shellcheck source=scripts/assertions.sh
. ./assertions.sh
fail() {
    echo "autorate: FAIL: $*"
    tail -n 20 "$work/out" "$work/told" "$work/err" "$work/said" 2>/dev/null || true
    exit 1
}
tc_() {
    "$analects" tc "$@" --state "$work/state" >"$work/out" 2>"$work/told" || fail "tc $*"
}
# begins [COUNT]: waits until the process $follower looks, for that time.
begins() {
    tries=0
    until [ "$(grep -c 'v0 up: .* at first' "$work/err")" -ge "${1:-1}" ]; do
        tries=$((tries + 1))
        if [ $tries -gt 100 ] || ! kill -0 $follower; then fail "it does not begin"; fi
        sleep 0.1
    done
    sleep 0.5
}
# begin ARGUMENTS...: autorate, once it looks.
begin() {
    "$analects" autorate --dev v0 --state "$work/state" "$@" >"$work/said" 2>"$work/err" &
    follower=$!
    begins
}
# keep: what looks after the set-up and follows its line, once it does.
keep() {
    "$analects" tc keep --dev v0 --state "$work/state" >"$work/said" 2>"$work/err" &
    follower=$!
    begins
}
# auto: `tc apply` with rates that find themselves, once it follows.
auto() {
    "$analects" tc apply --dev v0 -d cake --up 2mbit..20mbit --down 5mbit..50mbit --state "$work/state" >"$work/said" \
        2>"$work/err" &
    follower=$!
    begins
}
# ended SIGNAL: by it, without a failure, and with the rates that were applied.
ended() {
    kill "-$1" $follower
    wait $follower || fail "SIG$1: it failed"
    [ "$(shaped cake)" = "$first" ] || fail "SIG$1: $(shaped cake), not $first"
}
# refused PART ARGUMENTS...: autorate ends by itself, and says so.
refused() {
    part=$1
    shift
    if "$analects" autorate --state "$work/state" "$@" >"$work/out" 2>"$work/refused"; then fail "took $*"; fi
    tr -d '\n' <"$work/refused" | grep -q "$part" || { cat "$work/refused"; fail "no word of $part"; }
}
# line DOWN UP: its rates in Mbit/s; half of 40 ms and 300 packets each way.
line() {
    ip netns exec modem tc qdisc replace dev m0 root netem delay 20ms rate "$1mbit" limit 300
    ip netns exec modem tc qdisc replace dev m1 root netem delay 20ms rate "$2mbit" limit 300
}
# shaped: the rates that the kernel has, bit/s: down, up.
shaped() {
    for device in ifb-v0 v0; do
        case $1 in
        cake) tc -j qdisc show dev $device root | sed 's/.*"bandwidth":\([0-9]*\).*/\1/' | awk '{ print 8 * $1 }' ;;
        *) tc class show dev $device | sed -n 's/.* rate \([0-9.]*\)\([KM]\)bit ceil .*/\1 \2/p' |
            awk '{ print $1 * ($2 == "M" ? 1e6 : 1e3) }' ;;
        esac
    done | tr '\n' ' '
}
# stands: all that tc says of the shapers, but for bursts, which tc rounds to its microseconds.
stands() {
    for device in ifb-v0 v0; do
        tc qdisc show dev $device root
        tc class show dev $device
    done | sed 's/burst [0-9]*b/burst/g'
}
# last WAY: the rate that was said last.
last() { sed -n 's/.*"rate_bps":\([0-9]*\).*"way":"'"$1"'".*/\1/p' "$work/said" | tail -n 1; }
download() {
    wget -q -O "$work/got" http://198.51.100.2:8000/file || fail "a download"
    cmp -s "$work/got" "$work/served/file" || fail "a download came otherwise than it was"
}
upload() { ip netns exec server wget -q -O /dev/null http://192.0.2.1:8000/less || fail "an upload"; }
# gone WHAT: it ends within two seconds.
gone() {
    tries=0
    while kill -0 $follower 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -le 20 ] || fail "two seconds after $1 it goes on"
        sleep 0.1
    done
    if wait $follower; then fail "$1 is a success"; fi
}

modprobe ifb numifbs=0
for name in modem server; do ip netns add $name; done
# come: the device, and a modem behind it that has packets as long as a line has them.
come() {
    ip link add v0 type veth peer name m0 netns modem
    ip addr add 192.0.2.1/24 dev v0
    ip -n modem addr add 192.0.2.2/24 dev m0
    ip link set v0 up
    ip -n modem link set m0 up
    ip route add 198.51.100.0/24 via 192.0.2.2
    ethtool -K v0 tso off gso off gro off >/dev/null
}
come
ip -n modem link add m1 type veth peer name s0 netns server
ip -n modem addr add 198.51.100.1/24 dev m1
ip -n modem link set m1 up
ip netns exec modem sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip -n server addr add 198.51.100.2/24 dev s0
ip -n server link set s0 up
ip -n server route add default via 198.51.100.1
ip netns exec server ethtool -K s0 tso off gso off gro off >/dev/null
line 8 3
mkdir "$work/served"
head -c 4000000 /dev/urandom >"$work/served/file"
ip netns exec server httpd -p 8000 -h "$work/served"
head -c 1500000 "$work/served/file" >"$work/served/less"
httpd -p 8000 -h "$work/served"

refused 'no journal.*analects tc apply --dev v0' --dev v0
refused 'no device nowhere' --dev nowhere
refused 'is not MIN..MAX' --dev v0 --down 5mbit

for discipline in cake fq_codel; do
    tc_ apply --dev v0 --up 20mbit --down 50mbit -d $discipline
    first=$(shaped $discipline)
    [ "$first" = "50000000 20000000 " ] || fail "at first $first"
    "$analects" autorate --dev v0 --state "$work/state" --dry-run >"$work/out" 2>"$work/err" || fail "--dry-run"
    grep -q "^tc .* change dev ifb-v0 .*50mbit" "$work/out" || fail "--dry-run prints nothing"
    "$analects" tc keep --dev v0 --state "$work/state" >/dev/null 2>"$work/kept" &
    keeper=$!
    begin --json
    refused "another analects follows v0 already: process $follower, .*autorate --dev v0" --dev v0
    download
    upload
    # A rate that grows stands above what the line carries until a queue shows it.
    between "$discipline, down, of 8 Mbit/s" "$(last down)" 5000000 11000000
    between "$discipline, up, of 3 Mbit/s" "$(last up)" 1500000 4200000
    now=$(shaped $discipline)
    [ "$now" = "$(last down) $(last up) " ] || fail "it says $(last down) and $(last up), the kernel $now"
    low=$(last down)
    line 24 3
    download
    download
    download
    between "$discipline, down, of 24 Mbit/s" "$(last down)" $((low * 5 / 4)) 36000000
    "$analects" tc show --state "$work/state" >"$work/out" || fail "tc show"
    grep -q 'by .analects autorate. it sends at .*, receives at ' "$work/out" || fail "tc show does not say it"
    kill -TERM $follower
    wait $follower || fail "SIGTERM: it failed"
    kill -TERM $keeper
    wait $keeper || fail "tc keep failed"
    [ ! -s "$work/kept" ] || { cat "$work/kept"; fail "tc keep takes its changes for another program's"; }
    [ "$(shaped $discipline)" = "$first" ] || fail "SIGTERM: $(shaped $discipline)"
    passed "$discipline: down $low of 8 Mbit/s, then more; $(wc -l <"$work/said") changes beside tc keep, put back by SIGTERM"

    line 8 3
    begin --json --down 1mbit..6mbit
    download
    between "$discipline, down, of at most 6 Mbit/s" "$(last down)" 1000000 6000000
    kill -KILL $follower
    ! wait $follower 2>/dev/null || fail "SIGKILL: success"
    [ "$(shaped $discipline)" != "$first" ] || fail "nothing was changed"
    # The kernel was asked without tc, and does as tc would have it.
    asked=$(stands)
    "$analects" autorate --dev v0 --state "$work/state" --dry-run >"$work/out" 2>"$work/err" || fail "--dry-run"
    [ "$(grep -c '^tc .* change ' "$work/out")" = 2 ] || fail "--dry-run prints $(cat "$work/out")"
    sh -e "$work/out" || fail "what --dry-run prints"
    [ "$(stands)" = "$asked" ] || fail "asked for: $asked; by tc: $(stands)"
    tc_ show
    grep -q 'receives at [1-6].* now' "$work/out" || fail "tc show knows nothing of what was killed"
    grep -q '^  as it was applied' "$work/out" || fail "tc show finds differences"
    tc_ apply --dev v0 --up 20mbit --down 50mbit -d $discipline
    [ "$(shaped $discipline)" = "$first" ] || fail "applied again: $(shaped $discipline)"
    passed "$discipline: within limits; of what is killed the journal tells"

    begin --json
    download
    tc qdisc del dev v0 root
    gone "the queue"
    tr -d '\n' <"$work/err" | grep -q 'the root of v0 is' || fail "no word of the root"
    [ "$(shaped $discipline | cut -d' ' -f1)" = 50000000 ] || fail "what stands was not put back"
    tc_ clear --dev v0
    [ "$(ip -o link | grep -c ifb)" = 0 ] || fail "the ifb stays"
    passed "$discipline: a queue that another program takes away ends it"
done

tc_ apply --dev v0 --up 20mbit --down 50mbit -d cake
begin
tc qdisc change dev ifb-v0 root cake bandwidth 7mbit
gone "another program's rate"
tr -d '\n' <"$work/err" | grep -q 'the rate of ifb-v0 is 7mbit, not 50mbit' || fail "no word of the rate"
tc_ clear --dev v0

# Another program that sets rates: named, and nothing is changed beside it.
echo 'sleep 100' >"$work/cake-autorate.sh"
sh "$work/cake-autorate.sh" &
other=$!
sleep 0.2
if "$analects" tc apply --dev v0 -d cake --up 2mbit.. --state "$work/state" >"$work/out" 2>"$work/refused"; then
    fail "shapes beside cake-autorate"
fi
tr -d '\n' <"$work/refused" | grep -q "cake-autorate (process $other) sets rates" || fail "no word of cake-autorate"
if tc qdisc show dev v0 | grep -q cake; then fail "beside cake-autorate a queue was set up"; fi
kill $other
passed "a running cake-autorate is named before anything is changed"

# One command: from the least that was named on, and back to it.
first="5000000 2000000 "
line 24 3
auto
[ "$(shaped cake)" = "$first" ] || fail "at first $(shaped cake)"
if "$analects" tc apply --dev v0 -d cake --up auto --down 5mbit.. --state "$work/state" >"$work/out" 2>"$work/refused"; then
    fail "took a rate without a first one"
fi
grep -q -e '--up: nothing says' "$work/refused" || fail "no word of the first rate"
if "$analects" tc apply --dev v0 -d cake --up 1mbit.. --state "$work/state" >"$work/out" 2>"$work/refused"; then
    fail "two of them"
fi
tr -d '\n' <"$work/refused" | grep -q "process $follower, .*tc apply --dev v0" || fail "no name of the first"
[ "$(shaped cake)" = "$first" ] || fail "a refused one changed $(shaped cake)"
for _ in 1 2 3; do download; done
between "tc apply, down, of 24 Mbit/s" "$(shaped cake | cut -d' ' -f1)" 7000000 36000000
tc_ show
grep -q 'followed as the line carries: sends from 2mbit to 20mbit, receives from 5mbit to 50mbit' "$work/out" ||
    fail "tc show does not say what was asked for"
grep -q 'it sends at .*, receives at .* now' "$work/out" || fail "tc show does not say what stands"
ended INT
tc_ show
grep -q 'as it was applied' "$work/out" || fail "the set-up does not stay"
tc_ clear --dev v0
if "$analects" tc apply --dev v0 -d cake --up 2mbit.. --confirm 5s --state "$work/state" </dev/null >"$work/out" \
    2>"$work/refused"; then fail "a trial that nobody confirmed stays"; fi
grep -q 'is undone' "$work/refused" || fail "no word of what was undone"
if tc qdisc show dev v0 | grep -q cake; then fail "a trial that nobody confirmed left its queue"; fi
passed "tc apply follows from the least rate on, refuses a second one by its name, and is undone unless confirmed"

# The service's way: set up without staying, and looked after by what follows too.
tc_ apply --dev v0 -d cake --up 2mbit..20mbit --down 5mbit..50mbit --no-follow
[ "$(shaped cake)" = "$first" ] || fail "at first $(shaped cake)"
keep
refused "process $follower, .*tc keep --dev v0" --dev v0
download
between "tc keep, down, of 24 Mbit/s" "$(shaped cake | cut -d' ' -f1)" 5000001 36000000
tc qdisc del dev v0 root
begins 2
download
[ "$(grep -c 'is not followed: ' "$work/err")" = 1 ] || fail "it is not said once why it is followed anew"
ip link del v0
sleep 3
come
ip netns exec modem tc qdisc replace dev m0 root netem delay 20ms rate 24mbit limit 300
begins 3
download
download
between "tc keep, down, of a device that came back" "$(shaped cake | cut -d' ' -f1)" 5000001 36000000
tc_ apply --dev v0 -d cake --up 2mbit --down 5mbit
sleep 3
download
[ "$(shaped cake)" = "$first" ] || fail "it follows what is fixed by now: $(shaped cake)"
tc_ apply --dev v0 -d cake --up 2mbit..20mbit --down 5mbit..50mbit --no-follow
begins 4
download
kill -KILL $follower
! wait $follower 2>/dev/null || fail "SIGKILL: success"
[ "$(shaped cake)" != "$first" ] || fail "nothing was changed"
keep
ended TERM
passed "tc keep follows it: after another program, a device that comes back, another tc apply, and kill -9"

# A clock that jumps, both ways, and a default route that goes elsewhere for a while.
auto
download
now=$(date +%s)
for jump in 86400 -86400; do
    date -s "@$((now + jump))" >/dev/null
    download
    download
    kill -0 $follower || fail "a clock that jumps by $jump s ends it"
    between "down after a jump of $jump s" "$(shaped cake | cut -d' ' -f1)" 5000001 36000000
done
date -s "@$now" >/dev/null
# A machine that sleeps: all programs stand still, and the network with them; and this one alone while packets pass.
if echo freezer >/sys/power/pm_test && echo freeze >/sys/power/state; then
    download
    between "down after the machine slept" "$(shaped cake | cut -d' ' -f1)" 5000001 36000000
else
    echo "autorate: this kernel cannot be put to sleep"
fi
kill -STOP $follower
for _ in 1 2 3; do download; done
kill -CONT $follower
download
download
kill -0 $follower || fail "standing still ends it"
between "down after it stood still" "$(shaped cake | cut -d' ' -f1)" 5000001 36000000
stood=$(shaped cake)
ip link add other type dummy
ip link set other up
ip route replace default dev other
ip route del 198.51.100.0/24
sleep 8
kill -0 $follower || fail "a route that changes ends it"
[ "$(shaped cake)" = "$stood" ] || fail "without traffic $stood became $(shaped cake)"
ip route replace default via 192.0.2.2
line 8 3
download
download
between "down after the route came back, of 8 Mbit/s" "$(shaped cake | cut -d' ' -f1)" 5000000 11000000
ended TERM
tc_ clear --dev v0
passed "clocks that jump, sleep, and routes that change end nothing"

tc_ apply --dev v0 --up 20mbit --down 50mbit -d cake
begin
ip link del v0
gone "the device"
tr -d '\n' <"$work/err" | grep -q 'no device v0' || fail "no word of the device"
passed "another program's rate ends it, and so does a device that goes"
echo "autorate: $tests passed"
