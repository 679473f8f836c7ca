#!/bin/sh
# In a guest: what the kernel has around a discipline. Filters name flows, tracepoints tell what
# happens, memory is charged to whoever asks for it, and `nat` sees a flow as it is before NAT.
#   sh around-in-guest.sh SCH_CONFUCIUS.ko SEND
# SEND is kernel/tc/tests/send.c, built.
set -eu
module=$1 send=$PWD/$2
tracing=/sys/kernel/tracing
test=around
# shellcheck source=kernel/test/account.sh
. ./account.sh
# figure NAME: what tc says of the one confucius there is.
figure() {
    tc -s qdisc show dev d0 | grep -A 9 '^qdisc confucius' | sed -n "s/.* $1 \([0-9]*\).*/\1/p" | head -n 1
}

insmod "$module"
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add d0 type dummy
ip link set d0 up

# flows_with FILTER...: how many flows 100 packets of 20 flows are with that filter.
flows_with() {
    tc qdisc add dev d0 root handle 1: confucius
    [ $# = 0 ] || tc filter add dev d0 parent 1: "$@"
    "$send" d0 100 500 20
    figure new_flows
    tc qdisc del dev d0 root
}
expect "flows by their headers" "$(flows_with)" 20
expect "flows by a filter's flowid" "$(flows_with matchall flowid 1:3)" 1
# The key of `flow hash` is random: two ports may share a class, 20 of them share no single one.
expect "flows by flow hash, 2 to 4" \
    "$(flows_with handle 1 flow hash keys proto-src divisor 4 | sed 's/^[2-4]$/yes/')" yes
expect "flows by flow map" "$(flows_with handle 1 flow map key proto-src)" 20
expect "flows by flow hash of what they share" "$(flows_with handle 1 flow hash keys dst divisor 1024)" 1
expect "flows that no filter knows" \
    "$(flows_with protocol ip u32 match ip dst 203.0.113.1/32 flowid 1:3)" 20

# A filter drops, and HTB above knows: nothing waits there in the end.
tc qdisc add dev d0 root handle 1: htb default 1
tc class add dev d0 parent 1: classid 1:1 htb rate 20mbit quantum 1514
tc qdisc add dev d0 parent 1:1 handle 10: confucius
tc filter add dev d0 parent 10: protocol ip u32 match ip sport 1024 0xffff action drop
"$send" d0 100 500 20
sleep 1
expect "dropped by a filter" "$(figure drop_filter)" 5
expect "dropped in all" "$(figure '(dropped')" 5
backlogs=$(tc -s qdisc show dev d0 | sed -n 's/.*backlog \([0-9]*b [0-9]*p\).*/\1/p' | sort -u)
expect "waiting" "$backlogs" "0b 0p"
tc qdisc del dev d0 root

# trace COMMAND...: events of the module while it runs.
trace() {
    echo >$tracing/trace
    echo 1 >$tracing/events/confucius/enable
    "$@"
    echo 0 >$tracing/events/confucius/enable
}
events() { grep -c "$1" $tracing/trace || true; }
under_htb() {
    tc qdisc add dev d0 root handle 1: htb default 1
    tc class add dev d0 parent 1: classid 1:1 htb rate 20mbit quantum 1514
    tc qdisc add dev d0 parent 1:1 handle 10: confucius limit 30
    "$send" d0 100 500 20
    sleep 1
}
trace under_htb
dropped=$(figure '(dropped')
[ "$dropped" -gt 0 ] || wrong "nothing was dropped"
expect "flows that began, as traced" "$(events 'confucius_move:.* handle=0x100000 .*from=-1 to=0')" 20
expect "drops, as traced" "$(events 'confucius_drop:.* len=514 reason=[to]')" "$dropped"
expect "departures, as traced" "$(events 'confucius_dequeue:.* class=0 len=514 sojourn=[0-9]')" \
    $((100 - dropped))
tc qdisc del dev d0 root

# 48 MB of slots and 7 MB of flows are charged to the control group that asked for them.
mount -t cgroup2 none /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/asks
memory_charged() {
    sh -c 'echo $$ >/sys/fs/cgroup/asks/cgroup.procs
        exec tc qdisc add dev d0 root confucius limit 1000000 flows 65536'
    awk '{ print int($1 / 1048576) }' /sys/fs/cgroup/asks/memory.current
}
expect "MB charged for a large qdisc, 50 to 60" "$(memory_charged | sed 's/^5[0-9]$/yes/')" yes
tc qdisc del dev d0 root

# cl 192.0.2.1 - ro, which masquerades - 198.51.100.1 sv: what send believes.
modprobe crc32c_generic || true
modprobe -a nf_tables nft_masq nft_chain_nat
# IPv6 would speak by itself, and a new namespace does not inherit that it must not.
for name in cl ro sv; do
    ip netns add $name
    ip netns exec $name sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
done
ip -n cl link add c0 type veth peer name r0 netns ro address 02:00:00:00:00:01
ip -n sv link add s0 type veth peer name r1 netns ro address 02:00:00:00:00:01
ip -n cl addr add 192.0.2.1/24 dev c0
ip -n sv addr add 198.51.100.1/24 dev s0
ip -n ro addr add 192.0.2.254/24 dev r0
ip -n ro addr add 198.51.100.254/24 dev r1
ip -n ro link add i0 type ifb
for end in "cl c0" "sv s0" "ro r0" "ro r1" "ro i0"; do
    # shellcheck disable=SC2086
    set -- $end
    ip -n "$1" link set "$2" up
done
mac() { ip -n "$1" -o link show "$2" | sed 's/.*ether \([0-9a-f:]*\).*/\1/'; }
# No packets but ours: neighbours are known, and nobody answers.
ip -n ro neigh replace 192.0.2.1 dev r0 lladdr "$(mac cl c0)" nud permanent
ip -n ro neigh replace 198.51.100.1 dev r1 lladdr "$(mac sv s0)" nud permanent
ip -n cl link set c0 arp off
ip -n sv link set s0 arp off
ip netns exec ro sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip netns exec ro nft -f - <<'NFT'
table ip nat {
    chain post {
        type nat hook postrouting priority 100;
        oifname "r1" masquerade
    }
}
NFT

# places WHERE DIRECTION [nat]: in which places of the table ten flows are, which tells their hashes
# apart. WHERE is a device of ro, or one whose arrivals pass an IFB.
there() { ip netns exec cl "$send" c0 10 500 10; }
back() { ip netns exec sv "$send" s0 10 500 10 1 198.51.100.254; }
places() {
    where=$1 direction=$2
    shift 2
    case $where in
    from-*)
        tc -n ro qdisc add dev i0 root handle 1: confucius "$@"
        tc -n ro qdisc add dev "${where#from-}" ingress
        tc -n ro filter add dev "${where#from-}" ingress matchall action mirred egress redirect dev i0
        ;;
    *) tc -n ro qdisc add dev "$where" root handle 1: confucius "$@" ;;
    esac
    trace "$direction"
    sleep 0.1
    sed -n 's/.*confucius_move:.* flow=\([0-9]*\) from=-1 .*/\1/p' $tracing/trace | tr '\n' ' '
    for device in r0 r1 i0; do
        tc -n ro qdisc del dev $device root 2>/dev/null || true
        tc -n ro qdisc del dev $device ingress 2>/dev/null || true
    done
}
before=$(places from-r0 there)
after=$(places r1 there)
expect "flows on their way out" "$(echo "$before" | wc -w) $(echo "$after" | wc -w)" "10 10"
[ "$before" != "$after" ] || wrong "translation does not show"
expect "places on the way out, with nat" "$(places r1 there nat)" "$before"
inside=$(places r0 back)
outside=$(places from-r1 back)
expect "flows on their way back" "$(echo "$inside" | wc -w) $(echo "$outside" | wc -w)" "10 10"
[ "$inside" != "$outside" ] || wrong "translation does not show on the way back"
expect "places on the way back, with nat" "$(places from-r1 back nat)" "$inside"

for name in cl ro sv; do
    ip netns del $name
done
ip link del d0
echo "around: ok on $(uname -r)"
