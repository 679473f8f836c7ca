#!/bin/sh
# In a guest: `analects tc apply 2lps` with what a stock kernel has. A flow's first bytes are counted in
# the upper level and the rest in the lower, sent from here and forwarded; what comes back is of its
# own age; another threshold is one transaction; and `clear` leaves tc, nft and sysctl as they were.
#   sh two-level-in-guest.sh ANALECTS [SCH_MENCIUS.ko]
# q_mencius.so is in tc's library folder. ANALECTS is static.
set -eu
analects=$1 mencius=${2:-}
work=$(mktemp -d)
limit=100000

# shellcheck source=scripts/assertions.sh
. ./assertions.sh
fail() {
    echo "two-level: FAIL: $*"
    cat "$work/out" "$work/err" 2>/dev/null || true
    tc -s qdisc show dev v0
    nft list ruleset
    exit 1
}
tc_() {
    "$analects" tc "$@" --state "$work/state" >"$work/out" 2>"$work/err"
}
apply() {
    tc_ apply 2lps --dev v0 --threshold $limit "$@"
}
accounting() {
    sysctl -n net.netfilter.nf_conntrack_acct 2>/dev/null || echo 0
}
host() {
    for device in v0 w0; do
        tc -d -j qdisc show dev $device | sed 's/"refcnt":[0-9]*,//g'
        tc class show dev $device
        tc filter show dev $device
    done
    nft list ruleset
    accounting
    ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/\1/'
}
clear() {
    tc_ clear --dev v0 || fail "$1: clear"
    unchanged "$1"
    [ -z "$(ls "$work/state" | grep json)" ] || fail "$1: a journal is left"
}
unchanged() {
    host >"$work/now"
    cmp -s "$work/before" "$work/now" || {
        diff "$work/before" "$work/now" || true
        fail "$1: the host is not what it was"
    }
}
# A transfer: send BYTES FROM TO ADDRESS
send() {
    ip netns exec "$3" nc -l -p 5000 -e sh -c "cat >$work/came" &
    listener=$!
    sleep 0.1
    head -c "$1" /dev/zero | ip netns exec "$2" timeout 60 nc "$4" 5000 >/dev/null || fail "nothing is sent"
    wait $listener || fail "nothing came"
    [ "$(wc -c <"$work/came")" = "$1" ] || fail "$(wc -c <"$work/came") of $1 bytes came"
}
# Bytes of IP packets that a level of v0 sent so far, with nothing dropped: tc counts Ethernet's header of each as well.
level() {
    tc_ show --dev v0 || fail "show"
    set -- $(sed -n "s/^  $1 flows: sent \([0-9]*\) packets, \([0-9]*\) bytes; dropped 0$/\1 \2/p" "$work/out")
    [ $# = 2 ] || fail "show says nothing of the level"
    echo $(($2 - 14 * $1))
}
# What a transfer of 1 MB from $1 to $2, at $3, adds to the levels.
adds() {
    young=$(level young) old=$(level old)
    send 1000000 "$@"
    young=$(($(level young) - young)) old=$(($(level old) - old))
}
# What a transfer of 1 MB added: the packet that goes past the threshold is old, with all after it. Each has a header
# of 40 or 52 bytes; a tenth more is what TCP may send again, without a loss, where a busy host holds its guest up.
parted() {
    between "$1, young" "$young" $((limit - 1500)) $((limit + 200))
    between "$1, old" "$old" $((1000000 - limit)) $((1170000 - limit))
}

modprobe veth
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
# near - w0 here v0 - far; no super-packets, whose bytes would come to the threshold at once.
mkdir -p /run/netns
ln -s /proc/1/ns/net /run/netns/here
for name in near far; do
    ip netns add $name
done
ip link add v0 type veth peer name f0 netns far
ip link add w0 type veth peer name n0 netns near
ip addr add 10.0.1.1/24 dev v0
ip addr add 10.0.2.1/24 dev w0
ip -n far addr add 10.0.1.2/24 dev f0
ip -n near addr add 10.0.2.2/24 dev n0
ip -n far link set f0 up
ip -n near link set n0 up
for device in v0 w0; do
    ip link set $device up
    ethtool -K $device tso off gso off >/dev/null
done
ip netns exec near ethtool -K n0 tso off gso off >/dev/null
ip netns exec far ethtool -K f0 tso off gso off >/dev/null
ip -n far route add default via 10.0.1.1
ip -n near route add default via 10.0.2.1
# TCP makes super-packets whatever the device can, unless they may have one segment only.
for device in v0 w0; do
    ip link set $device gso_max_segs 1
done
ip -n near link set n0 gso_max_segs 1
ip -n far link set f0 gso_max_segs 1
echo 1 >/proc/sys/net/ipv4/ip_forward
# A table of somebody's own.
nft 'add table inet mine
add chain inet mine input { type filter hook input priority 0; policy accept; }
add rule inet mine input tcp dport 9 counter packets 0 bytes 0 drop'
host >"$work/before"

nft=$(command -v nft)
mv "$nft" "$nft.away"
if apply; then fail "applied without nft"; fi
tr -d '| \n' <"$work/err" | grep -q 'nftcannotberun.*installnftables' || fail "no word on nft"
mv "$nft.away" "$nft"
unchanged "without nft"
for bad in 0 1000000000001 -1 many; do
    if tc_ apply 2lps --dev v0 "--threshold=$bad"; then fail "a threshold of $bad"; fi
    tr -d '|\n' <"$work/err" | tr -s ' ' | grep -q '1 B to 1 TB' || fail "no word on the range"
done
apply --dry-run || fail "a dry run"
unchanged "a dry run"
passed "says what is missing and what is permitted, and changes nothing"

apply || fail "apply"
[ "$(accounting)" = 1 ] || fail "the bytes of connections do not count"
adds here far 10.0.1.2
parted "from here"
adds near far 10.0.1.2
parted "forwarded"
passed "the first $limit bytes of a flow are young, the rest old: sent from here, and forwarded ($young, $old)"

adds far near 10.0.2.2
between "acknowledgements, old" "$old" 0 0
[ "$young" -gt 5000 ] || fail "$young bytes of acknowledgements"
passed "what a flow sends back is as old as that: its acknowledgements are young"

grep -q '^  as it was applied' "$work/out" || fail "show finds differences"
apply --threshold 10MB 2>/dev/null && fail "two thresholds"
tc_ apply 2lps --dev v0 --threshold 10MB || fail "another threshold"
[ "$(grep -c '^[a-z]' "$work/out")" = 3 ] || fail "more than the map is changed"
grep -q '^flush map' "$work/out" || fail "the map is not changed"
adds near far 10.0.1.2
between "old" "$old" 0 0
nft flush map inet analects-2lps-v0 ages
nft 'add element inet analects-2lps-v0 ages { 0-5 : a1:1 }'
tc_ show || fail "show"
grep -q 'threshold of v0 is 5, not 10000000 bytes' "$work/out" || fail "show does not see another threshold"
clear "another threshold"
passed "another threshold is one transaction; show sees what somebody else changed; clear goes back"

bases="pfifo pfifo,limit=500 bfifo codel fq_codel,target=2ms pie fq_pie fq cake,rtt=500ms"
if [ -n "$mencius" ]; then
    insmod "$mencius"
    bases="$bases mencius"
fi
for base in $bases; do
    for rate in "" "--rate 100mbit"; do
        # $rate is two words or none.
        # shellcheck disable=SC2086
        apply --base $base $rate || fail "$base $rate"
        adds near far 10.0.1.2
        parted "$base $rate"
        tc_ show || fail "show $base $rate"
        grep -q '^  as it was applied' "$work/out" || fail "$base $rate: show finds differences"
    done
done
clear "one after another"
passed "every base, shaped or not, one after another"

for rate in "" "--rate 100mbit"; do
    # shellcheck disable=SC2086
    apply --base pfifo_fast $rate || fail "pfifo_fast $rate"
    send 1000000 near far 10.0.1.2
    tc_ show || fail "show pfifo_fast $rate"
    grep -q '^  as it was applied' "$work/out" || fail "pfifo_fast $rate: show finds differences"
    grep -q '^  old flows: sent - packets' "$work/out" || fail "pfifo_fast does not count its bands"
    clear "pfifo_fast $rate"
done
tc qdisc replace dev v0 root handle 8001: fq_codel limit 500
host >"$work/before"
apply --base codel || fail "apply over an fq_codel"
clear "over an fq_codel"
tc qdisc del dev v0 root
host >"$work/before"
passed "pfifo_fast; what was at the root comes back"

apply || fail "apply"
tc_ apply 2lps --dev w0 --threshold 5kB || fail "a second device"
tc_ clear --dev v0 || fail "clear the first device"
[ "$(accounting)" = 1 ] || fail "the other device is not served any more"
tc_ clear --dev w0 || fail "clear the second device"
unchanged "two devices"
apply || fail "apply"
nft delete table inet analects-2lps-v0
tc_ show || fail "show"
grep -q 'table of ages of v0 is gone' "$work/out" || fail "show does not see that the table is gone"
clear "a table that is gone"
nft add table inet analects-2lps-v0
apply || fail "a table of ours is in the way of which no journal tells"
grep -q 'no journal tells of what v0 has' "$work/err" || fail "no word on the lost journal"
clear "a table of ours without a journal"
passed "two devices; tables that others took, and one whose journal is lost"
# Nineteen of twenty flows send 2 kB, the others 200 kB: a threshold of 1 GB is no good.
watch() {
    "$analects" tc apply 2lps --dev v0 --threshold auto --watch --state "$work/state" "$@" \
        >"$work/out" 2>"$work/err" &
    watcher=$!
}
for bad in "--threshold auto" "--threshold 1MB --watch" "--threshold auto --watch --load 1" \
    "--threshold auto --watch --flows 99" "--threshold auto --watch --every 1ms"; do
    # shellcheck disable=SC2086
    if tc_ apply 2lps --dev v0 $bad; then fail "$bad is taken"; fi
done
unchanged "watching, refused"
watch --flows 100 --every 1s
sleep 0.5
flow=0
while [ $flow -lt 130 ]; do
    size=2000
    [ $((flow % 20)) -ne 7 ] || size=200000
    send $((size + 11 * flow)) near far 10.0.1.2
    [ $flow -ne 0 ] || for state in time_wait close last_ack; do
        sysctl -q -w net.netfilter.nf_conntrack_tcp_timeout_$state=1
    done
    flow=$((flow + 1))
done
rounds=0
until grep -q 'instead of 6331208 bytes' "$work/err"; do
    rounds=$((rounds + 1))
    [ $rounds -lt 300 ] || fail "the threshold does not follow"
    sleep 1
done
sleep 1
threshold=$(nft list map inet analects-2lps-v0 ages | sed -n 's/.*{ 0-\([0-9]*\) : a1:1.*/\1/p')
between "a threshold that follows" "$threshold" 2000 200000
kill -INT $watcher
wait $watcher || fail "watching ends with $?"
grep -q "$threshold bytes stand" "$work/err" || fail "no word on what stands"
tc_ show || fail "show"
grep -q '^  as it was applied' "$work/out" || fail "show finds differences"
clear "a threshold that follows"
watch --flows 100 --every 1s
sleep 2
grep -q '0 of 100 flows ended so far' "$work/err" || fail "no word on few flows"
tc_ clear --dev v0 || fail "clear while it is watched"
unchanged "clear while it is watched"
kill -TERM $watcher
wait $watcher || fail "watching what is gone ends with $?"
unchanged "watching ended"
passed "a threshold that follows the flows that end: $threshold bytes; cleared meanwhile, it changes nothing"
echo "two-level: $tests passed"
