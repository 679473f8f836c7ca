#!/bin/sh
# In a guest: `analects autorate` before a line of two directions, that changes, with real TCP through it: the rates of
# the shaper that `tc apply` set up fall below what the line carries and rise with it, and are put back; what is killed
# is known; what another program takes away ends it.
#   sh autorate-in-guest.sh ANALECTS
# ANALECTS is static.
set -eu
analects=$1
work=$(mktemp -d)
count=0

wrong() {
    echo "autorate: FAIL: $*"
    tail -n 20 "$work/out" "$work/err" "$work/said" 2>/dev/null || true
    exit 1
}
ok() {
    count=$((count + 1))
    echo "ok $count - $*"
}
tc_() {
    "$analects" tc "$@" --state "$work/state" >"$work/out" 2>"$work/err" || wrong "tc $*"
}
# begin ARGUMENTS...: autorate, once it looks.
begin() {
    "$analects" autorate --dev v0 --state "$work/state" "$@" >"$work/said" 2>"$work/err" &
    follower=$!
    tries=0
    until grep -q 'v0 up: .* at first' "$work/err"; do
        tries=$((tries + 1))
        if [ $tries -gt 100 ] || ! kill -0 $follower; then wrong "it does not begin"; fi
        sleep 0.1
    done
    sleep 0.5
}
# refused PART ARGUMENTS...: autorate ends by itself, and says so.
refused() {
    part=$1
    shift
    if "$analects" autorate --state "$work/state" "$@" >"$work/out" 2>"$work/refused"; then wrong "took $*"; fi
    tr -d '\n' <"$work/refused" | grep -q "$part" || { cat "$work/refused"; wrong "no word of $part"; }
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
# last WAY: the rate that was said last.
last() { sed -n 's/.*"rate_bps":\([0-9]*\).*"way":"'"$1"'".*/\1/p' "$work/said" | tail -n 1; }
# between WHAT VALUE LEAST MOST
between() {
    if [ "${2:-0}" -lt "$3" ] || [ "$2" -gt "$4" ]; then wrong "$1: $2, and not from $3 to $4"; fi
    echo "$1: $2"
}
download() {
    wget -q -O "$work/got" http://198.51.100.2:8000/file || wrong "a download"
    cmp -s "$work/got" "$work/served/file" || wrong "a download came otherwise than it was"
}
upload() { ip netns exec server wget -q -O /dev/null http://192.0.2.1:8000/less || wrong "an upload"; }
# gone WHAT: it ends within two seconds.
gone() {
    tries=0
    while kill -0 $follower 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -le 20 ] || wrong "two seconds after $1 it goes on"
        sleep 0.1
    done
    if wait $follower; then wrong "$1 is a success"; fi
}

modprobe ifb numifbs=0
for name in modem server; do ip netns add $name; done
ip link add v0 type veth peer name m0 netns modem
ip -n modem link add m1 type veth peer name s0 netns server
ip addr add 192.0.2.1/24 dev v0
ip link set v0 up
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
    [ "$first" = "50000000 20000000 " ] || wrong "at first $first"
    "$analects" autorate --dev v0 --state "$work/state" --dry-run >"$work/out" 2>"$work/err" || wrong "--dry-run"
    grep -q "^tc .* change dev ifb-v0 .*50mbit" "$work/out" || wrong "--dry-run prints nothing"
    "$analects" tc keep --dev v0 --state "$work/state" >/dev/null 2>"$work/kept" &
    keeper=$!
    begin --json
    refused 'another .analects autorate' --dev v0
    download
    upload
    between "$discipline, down, of 8 Mbit/s" "$(last down)" 5000000 11000000
    between "$discipline, up, of 3 Mbit/s" "$(last up)" 1500000 4200000
    now=$(shaped $discipline)
    [ "$now" = "$(last down) $(last up) " ] || wrong "it says $(last down) and $(last up), the kernel $now"
    low=$(last down)
    line 24 3
    download
    download
    download
    between "$discipline, down, of 24 Mbit/s" "$(last down)" $((low * 5 / 4)) 30000000
    "$analects" tc show --state "$work/state" >"$work/out" || wrong "tc show"
    grep -q 'by .analects autorate. it sends at .*, receives at ' "$work/out" || wrong "tc show does not say it"
    kill -TERM $follower
    wait $follower || wrong "SIGTERM: it failed"
    kill -TERM $keeper
    wait $keeper || wrong "tc keep failed"
    [ ! -s "$work/kept" ] || { cat "$work/kept"; wrong "tc keep takes its changes for another program's"; }
    [ "$(shaped $discipline)" = "$first" ] || wrong "SIGTERM: $(shaped $discipline)"
    ok "$discipline: down $low of 8 Mbit/s, then more; $(wc -l <"$work/said") changes beside tc keep, put back by SIGTERM"

    line 8 3
    begin --json --down 1mbit..6mbit
    download
    between "$discipline, down, of at most 6 Mbit/s" "$(last down)" 1000000 6000000
    kill -KILL $follower
    ! wait $follower 2>/dev/null || wrong "SIGKILL: success"
    [ "$(shaped $discipline)" != "$first" ] || wrong "nothing was changed"
    tc_ show
    grep -q 'receives at [1-6].* now' "$work/out" || wrong "tc show knows nothing of what was killed"
    grep -q '^  as it was applied' "$work/out" || wrong "tc show finds differences"
    tc_ apply --dev v0 --up 20mbit --down 50mbit -d $discipline
    [ "$(shaped $discipline)" = "$first" ] || wrong "applied again: $(shaped $discipline)"
    ok "$discipline: within limits; of what is killed the journal tells"

    begin --json
    download
    tc qdisc del dev v0 root
    gone "the queue"
    tr -d '\n' <"$work/err" | grep -q 'the root of v0 is' || wrong "no word of the root"
    [ "$(shaped $discipline | cut -d' ' -f1)" = 50000000 ] || wrong "what stands was not put back"
    tc_ clear --dev v0
    [ "$(ip -o link | grep -c ifb)" = 0 ] || wrong "the ifb stays"
    ok "$discipline: a queue that another program takes away ends it"
done

tc_ apply --dev v0 --up 20mbit --down 50mbit -d cake
begin
tc qdisc change dev ifb-v0 root cake bandwidth 7mbit
gone "another program's rate"
tr -d '\n' <"$work/err" | grep -q 'the rate of ifb-v0 is 7mbit, not 50mbit' || wrong "no word of the rate"
tc_ apply --dev v0 --up 20mbit --down 50mbit -d cake
begin
ip link del v0
gone "the device"
tr -d '\n' <"$work/err" | grep -q 'no device v0' || wrong "no word of the device"
ok "another program's rate ends it, and so does a device that goes"
echo "autorate: $count passed"
