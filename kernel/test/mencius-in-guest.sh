#!/bin/sh
# In a guest: sch_mencius loads, carries traffic at the root, under htb and tbf and on an IFB, accounts
# for every packet, also where CoDel drops what a parent has counted, keeps its packets through a
# change, shows hosts and flows, and who uses most of the privilege, tells by its tracepoints what it does,
# sees hosts as they are before NAT, loses no packet's memory when its device goes down, and unloads.
#   sh mencius-in-guest.sh SCH_MENCIUS.ko SEND
# SEND is kernel/tc/tests/send.c, built; q_mencius.so is in tc's library folder.
set -eu
module=$1 send=$PWD/$2
tracing=/sys/kernel/tracing
test=mencius discipline=mencius
# shellcheck source=kernel/test/account.sh
. ./account.sh

insmod "$module"
# No packets but ours.
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add d0 type dummy
ip link set d0 up

# figure DEVICE NAME: what tc says of the one mencius there is.
figure() {
    tc -s qdisc show dev "$1" | grep -A 9 '^qdisc mencius' | sed -n "s/.* $2 \([0-9]*\).*/\1/p" | head -n 1
}

tc qdisc add dev d0 root handle 1: mencius
"$send" d0 5000 500 20
account d0 5000
tc qdisc del dev d0 root

# Packets wait for seconds, so that CoDel drops them at dequeue; the parent has to count as we do.
for shaper in "htb default 1" "tbf rate 4mbit burst 3000 latency 60s"; do
    # The words are arguments.
    # shellcheck disable=SC2086
    tc qdisc add dev d0 root handle 1: $shaper
    case $shaper in htb*) tc class add dev d0 parent 1: classid 1:1 htb rate 4mbit quantum 1514 ;; esac
    tc qdisc add dev d0 parent 1:1 handle 10: mencius
    "$send" d0 4000 1000 8
    account d0 4000
    tc qdisc change dev d0 parent 1:1 handle 10: mencius quantum 3000 min_wait 10ms hosts source
    account d0 4000
    sleep 2
    account d0 4000
    shown=$(tc -s class show dev d0 | tr '\n' ' ')
    echo "$shown" | grep -q 'class mencius 10:.* host flows 8 ' || wrong "no host is shown: $shown"
    echo "$shown" | grep -q 'class mencius 10:.* flow of :.* not settled' || wrong "no flow is shown: $shown"
    for _ in 1 2 3 4 5 6; do sleep 2; done
    account d0 4000
    [ "$waiting" = 0 ] || wrong "$waiting packets stay"
    [ "$dropped" != 0 ] || wrong "CoDel dropped nothing"
    [ "$dropped" = "$(figure d0 drop_congestion)" ] || wrong "another than CoDel dropped"
    outer=$(tc -s qdisc show dev d0 root | sed -n 's/.*backlog [0-9KMb]* \([0-9]*\)p.*/\1/p')
    [ "$outer" = 0 ] || wrong "the parent counts $outer packets that are gone"
    "$send" d0 1000 1000 8
    # What waits goes with the device.
    ip link set d0 down
    ip link set d0 up
    "$send" d0 1000 1000 8
    tc qdisc del dev d0 root
done

# Super-packets are charged as their parts are.
plain=$(charged 400 1 target 5s)
expect "bytes and packets charged of super-packets" "$(charged 40 10 target 5s)" "$plain"

# Tins by DSCP, as the guide for a router's owner has them: ets gives each its part, and filters choose.
tc qdisc add dev d0 root handle a1: htb default 1
tc class add dev d0 parent a1: classid a1:1 htb rate 8mbit quantum 1514
tc qdisc replace dev d0 parent a1:1 handle c1: ets bands 3 quanta 6056 22710 1514 \
    priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
for band in 1 2 3; do tc qdisc add dev d0 parent c1:$band handle c$band$band: mencius target 10s limit 20000; done
tc filter add dev d0 parent c1: protocol ip u32 match ip dsfield 0xb8 0xfc classid c1:1
tc filter add dev d0 parent c1: protocol ip u32 match ip dsfield 0x20 0xfc classid c1:3
tc filter add dev d0 parent c1: protocol ipv6 u32 match ip6 priority 0xb8 0xfc classid c1:1
tc filter add dev d0 parent c1: protocol ipv6 u32 match ip6 priority 0x20 0xfc classid c1:3
for dsfield in 0 0x20; do DSFIELD=$dsfield "$send" d0 6000 986 4; done
sleep 4
sent_by() { tc -s qdisc show dev d0 | grep -A 1 "^qdisc mencius $1:" | sed -n 's/.* \([0-9]*\) pkt.*/\1/p'; }
expect "packets of the tin for EF" "$(sent_by c11)" 0
normal=$(sent_by c22) bulk=$(sent_by c33)
[ "$bulk" -gt 0 ] && [ $((normal / bulk)) -ge 14 ] && [ $((normal / bulk)) -le 16 ] ||
    wrong "of the tins for all and for bulk left $normal and $bulk packets"
DSFIELD=0xb8 "$send" d0 40 986 1
sleep 0.3
expect "packets of the tin for EF, with the others full" "$(sent_by c11)" 40
tc qdisc del dev d0 root

# A call of 192.0.2.1 that has more than its share when 192.0.2.2 floods goes ahead of that for a while.
call() {
    n=$1
    while [ "$n" -gt 0 ]; do
        "$send" d0 10 1000 1
        sleep 0.02
        n=$((n - 1))
    done
}
# of_host ADDRESS NAME: a figure of its class.
of_host() { tc -s class show dev d0 | sed -n "s/^ *host $1 .* $2 \([0-9]*\).*/\1/p"; }
tc qdisc add dev d0 root handle 1: htb default 1
tc class add dev d0 parent 1: classid 1:1 htb rate 4mbit quantum 1514
tc qdisc add dev d0 parent 1:1 handle 10: mencius hosts source
call 80
FROM=192.0.2.2 "$send" d0 4000 1000 8
call 40
tc -s class show dev d0 | grep '^ *host'
[ "$(of_host 192.0.2.1 ahead)" -gt 0 ] || wrong "nothing of the call went ahead"
expect "bytes of the flood that went ahead" "$(of_host 192.0.2.2 ahead)" 0
expect "who used most of the privilege" \
    "$(tc -s qdisc show dev d0 | sed -n 's/.* most_ahead [0-9]* by \([0-9.]*\).*/\1/p')" 192.0.2.1
expect "the privilege of all" "$(figure d0 ahead_bytes)" "$(of_host 192.0.2.1 ahead)"
[ "$(of_host 192.0.2.2 wait)" != 0 ] || wrong "the flood did not wait"
tc -s class show dev d0 | grep -B 2 '^ *host 192.0.2.2' | grep -q 'Sent [1-9]' || wrong "the flood sent nothing"
tc qdisc del dev d0 root

# Filters name flows, and drop.
flows_with() {
    tc qdisc add dev d0 root handle 1: mencius
    [ $# = 0 ] || tc filter add dev d0 parent 1: "$@"
    "$send" d0 100 500 20
    figure d0 new_flows
    tc qdisc del dev d0 root
}
expect "flows by their headers" "$(flows_with)" 20
expect "flows by a filter's flowid" "$(flows_with matchall flowid 1:3)" 1
tc qdisc add dev d0 root handle 1: mencius
tc filter add dev d0 parent 1: protocol ip u32 match ip sport 1024 0xffff action drop
"$send" d0 100 500 20
expect "dropped by a filter" "$(figure d0 drop_filter)" 5
tc qdisc del dev d0 root

# Tracepoints.
trace() {
    echo >$tracing/trace
    echo 1 >$tracing/events/mencius/enable
    "$@"
    echo 0 >$tracing/events/mencius/enable
}
events() { grep -c "$1" $tracing/trace || true; }
under_htb() {
    tc qdisc add dev d0 root handle 1: htb default 1
    tc class add dev d0 parent 1: classid 1:1 htb rate 20mbit quantum 1514
    tc qdisc add dev d0 parent 1:1 handle 10: mencius limit 30
    "$send" d0 100 500 20
    sleep 1
}
trace under_htb
dropped=$(figure d0 '(dropped')
[ "$dropped" -gt 0 ] || wrong "nothing was dropped"
expect "flows that began, as traced" \
    "$(events 'mencius_flow:.* handle=0x100000 flow=[0-9]* protocol=17 from=[0-9.]*:[0-9]* to=[0-9.]*:[0-9]*')" 20
expect "drops, as traced" "$(events 'mencius_drop:.* len=514 reason=overlimit')" "$dropped"
expect "departures, as traced" \
    "$(events 'mencius_dequeue:.* len=514 sojourn=[0-9]* why=[tsa]')" $((100 - dropped))
tc qdisc del dev d0 root

# Ingress: what arrives on v1 is sent through the IFB.
ip link add v0 type veth peer name v1
ip link add i0 type ifb
for device in v0 v1 i0; do ip link set "$device" up; done
tc qdisc add dev v1 ingress
tc filter add dev v1 parent ffff: protocol ip matchall action mirred egress redirect dev i0
tc qdisc add dev i0 root handle 1: mencius nat
"$send" v0 1000 500 4
sleep 1
account i0 1000

# Two computers behind ro, which masquerades: cl 192.0.2.0/24 - ro - 198.51.100.1 sv.
modprobe crc32c_generic || true
modprobe -a nf_tables nft_masq nft_nat nft_chain_nat
for name in cl ro sv; do
    ip netns add $name
    ip netns exec $name sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
done
ip -n cl link add c0 type veth peer name r0 netns ro address 02:00:00:00:00:01
ip -n sv link add s0 type veth peer name r1 netns ro address 02:00:00:00:00:01
ip -n ro addr add 192.0.2.254/24 dev r0
ip -n ro addr add 198.51.100.254/24 dev r1
for end in "cl c0" "sv s0" "ro r0" "ro r1"; do
    # shellcheck disable=SC2086
    set -- $end
    ip -n "$1" link set "$2" up
done
ip -n ro neigh replace 198.51.100.1 dev r1 lladdr 02:00:00:00:00:02 nud permanent
ip netns exec ro sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip netns exec ro nft -f - <<'NFT'
table ip nat {
    chain post {
        type nat hook postrouting priority 100;
        oifname "r1" masquerade
    }
}
NFT

# What comes in meets the queue before it meets conntrack. The first packet of a flow that begins outside
# has the address of ro; from the second one on it is known whose it is.
ip -n ro link add i1 type ifb
ip -n ro link set i1 up
tc -n ro qdisc add dev r1 ingress
tc -n ro filter add dev r1 parent ffff: protocol ip matchall action mirred egress redirect dev i1
ip netns exec ro nft -f - <<'NFT'
table ip in {
    chain pre {
        type nat hook prerouting priority -100;
        iifname "r1" udp dport 1024-1028 dnat to 192.0.2.1
        iifname "r1" udp dport 1029-1033 dnat to 192.0.2.2
    }
}
NFT
# computers_with WORDS...: each host of ten flows from outside with its flows, after two packets of each.
computers_with() {
    tc -n ro qdisc add dev i1 root handle 1: mencius hosts destination "$@"
    for packet in 1 2; do
        ip netns exec sv "$send" s0 10 500 10 1 198.51.100.254
        sleep 0.1
    done
    tc -n ro -s class show dev i1 | sed -n 's/^ *host \([0-9.]*\) flows \([0-9]*\) .*/\1:\2/p' | sort | paste -sd ' '
    tc -n ro qdisc del dev i1 root
}
expect "flows of hosts that began outside" "$(computers_with)" \
    "192.0.2.1:5 192.0.2.2:5 198.51.100.254:0"
# Conntrack knows all ten by now.
expect "once they are known" "$(computers_with)" "192.0.2.1:5 192.0.2.2:5"
expect "of the router's address, without nat" "$(computers_with nonat)" "198.51.100.254:10"

# hosts_with WORDS...: so many hosts the two are on the way out, with ten flows each.
hosts_with() {
    tc -n ro qdisc add dev r1 root handle 1: mencius hosts source "$@"
    for address in 192.0.2.1 192.0.2.2; do
        FROM=$address ip netns exec cl "$send" c0 20 500 10
    done
    sleep 0.1
    tc -n ro -s qdisc show dev r1 | sed -n 's/.* new_flows \([0-9]*\) .* new_hosts \([0-9]*\) .*/\1 \2/p'
    tc -n ro qdisc del dev r1 root
}
expect "flows and hosts behind NAT" "$(hosts_with)" "20 2"
expect "without nat" "$(hosts_with nonat)" "20 1"
for name in cl ro sv; do
    ip netns del $name
done

if rmmod sch_mencius 2>/dev/null; then wrong "unloaded while in use"; fi
ip link del d0
ip link del v0
ip link del i0
# Namespaces are taken apart in the background, and hold the module until then.
tries=0
until rmmod sch_mencius 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || wrong "it does not unload"
    sleep 0.2
done
echo "mencius: ok on $(uname -r)"
