#!/bin/sh
# In a guest: sch_floq loads, carries traffic at the root, under htb and tbf and on an IFB, accounts for
# every packet, keeps its packets through a change, drops by type and phase, finds out who does not
# respond, tells by its tracepoints what it does, loses no packet's memory when its device goes down,
# and unloads.
#   sh floq-in-guest.sh SCH_FLOQ.ko SEND
# SEND is kernel/tc/tests/send.c, built; q_floq.so is in tc's library folder.
set -eu
module=$1 send=$PWD/$2
tracing=/sys/kernel/tracing
test=floq discipline=floq
# shellcheck source=kernel/test/account.sh
. ./account.sh

insmod "$module"
# No packets but ours.
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add d0 type dummy
ip link set d0 up

# figure NAME: what tc says of the one floq on d0.
figure() {
    tc -s qdisc show dev d0 | grep -A 6 '^qdisc floq' | sed -n "s/.* $1 \([0-9]*\).*/\1/p" | head -n 1
}
# cell TYPE PHASE COLUMN: what came of packets, 1 arrived, 2 drop_tail, 3 congestion, 4 marks.
cell() {
    tc -s qdisc show dev d0 | awk -v type="$1" -v phase="$2" -v column="$3" \
        '$1 == type && $2 == phase { print $(column + 2) }'
}
# slow RATE SETTINGS...: floq with these settings under htb.
slow() {
    rate=$1
    shift
    tc qdisc add dev d0 root handle 1: htb default 1
    tc class add dev d0 parent 1: classid 1:1 htb rate "$rate" quantum 1514
    tc qdisc add dev d0 parent 1:1 handle 10: floq "$@"
}

tc qdisc add dev d0 root handle 1: floq
"$send" d0 5000 500 20
account d0 5000
expect "flows" "$(figure new_flows)" 20
tc qdisc del dev d0 root

for shaper in "htb default 1" "tbf rate 20mbit burst 3000 latency 10s"; do
    # The words are arguments.
    # shellcheck disable=SC2086
    tc qdisc add dev d0 root handle 1: $shaper
    case $shaper in htb*) tc class add dev d0 parent 1: classid 1:1 htb rate 20mbit quantum 1514 ;; esac
    tc qdisc add dev d0 parent 1:1 handle 10: floq limit 1000
    "$send" d0 2000 1000 8
    account d0 2000
    [ "$(figure drop_congestion)" -gt 0 ] || wrong "nothing was dropped by chance"
    # A ring that has gone round becomes a larger one, and then the latest have to go.
    before=$dropped
    tc qdisc change dev d0 parent 1:1 handle 10: floq limit 3000 variant equation
    account d0 2000
    expect "dropped by a larger limit" $((dropped - before)) 0
    tc qdisc change dev d0 parent 1:1 handle 10: floq limit 100
    account d0 2000
    [ "$(figure drop_change)" = $((dropped - before)) ] || wrong "another than the change dropped"
    [ "$waiting" -le 100 ] || wrong "$waiting packets wait above the limit"
    sleep 2
    account d0 2000
    expect "packets that stay" "$waiting" 0
    outer=$(tc -s qdisc show dev d0 root | sed -n 's/.*backlog [0-9KMb]* \([0-9]*\)p.*/\1/p')
    expect "packets that the parent counts" "$outer" 0
    "$send" d0 1000 1000 8
    # What waits goes with the device.
    ip link set d0 down
    ip link set d0 up
    "$send" d0 1000 1000 8
    tc qdisc del dev d0 root
done

# All but initial packets are dropped by chance, which is certain here, once two wait.
slow 100kbit limit 1000 responsive 0 threshold 0 drop_responsive 100 f_r 100 g 0 initial 10
"$send" d0 400 500 20
account d0 400
expect "initial packets" "$(cell responsive initial 1)" 200
expect "of them dropped" "$(cell responsive initial 3)" 0
expect "later packets" "$(cell responsive later 1)" 200
expect "of them dropped" "$(cell responsive later 3)" 200
tc -s class show dev d0 classid 10:1 | grep -q '^  responsive flows 20 quota 0p$' || wrong "the class does not say so"
tc qdisc del dev d0 root

# Who lost an initial packet loses no other.
slow 100kbit limit 1000 responsive 0 threshold 0 drop_responsive 100 f_r 0 initial 1000
"$send" d0 10 500 1
"$send" d0 400 500 20
[ "$(cell responsive initial 3)" -ge 19 ] || wrong "flows lost no initial packet"
[ "$(cell responsive initial 3)" -le 20 ] || wrong "a flow lost two initial packets"
expect "dropped of those who had lost one" "$(cell responsive initial_lost 3)" 0
tc qdisc del dev d0 root

# A sender that keeps its rate through drops is unresponsive after three of them, and is dropped more.
# Its packets come in pairs, so that a rate is uncertain by more than a packet.
slow 200kbit limit 50 window 100ms windows 4 fall 50
for _ in $(seq 1 400); do
    "$send" d0 2 500 1
    sleep 0.01
done
account d0 800
expect "found not to respond" "$(figure turned)" 1
expect "flows that do not" "$(tc -s class show dev d0 classid 10:2 | sed -n 's/.*unresponsive flows \([0-9]*\).*/\1/p')" 1
[ "$(cell unresponsive later 1)" -gt 100 ] || wrong "its packets are counted otherwise"
tc qdisc del dev d0 root

# Super-packets are charged as their parts are.
plain=$(charged 400 1 limit 10000)
expect "bytes and packets charged of super-packets" "$(charged 40 10 limit 10000)" "$plain"

# Filters name flows, and drop.
flows_with() {
    tc qdisc add dev d0 root handle 1: floq
    [ $# = 0 ] || tc filter add dev d0 parent 1: "$@"
    "$send" d0 100 500 20
    figure new_flows
    tc qdisc del dev d0 root
}
expect "flows by their headers" "$(flows_with)" 20
expect "flows by a filter's flowid" "$(flows_with matchall flowid 1:3)" 1
tc qdisc add dev d0 root handle 1: floq
tc filter add dev d0 parent 1: protocol ip u32 match ip sport 1024 0xffff action drop
"$send" d0 100 500 20
expect "dropped by a filter" "$(figure drop_filter)" 5
tc qdisc del dev d0 root

# Tracepoints.
echo >$tracing/trace
echo 1 >$tracing/events/floq/enable
slow 20mbit limit 30
"$send" d0 100 500 20
sleep 1
echo 0 >$tracing/events/floq/enable
events() { grep -c "$1" $tracing/trace || true; }
account d0 100
expect "flows that began, as traced" "$(events 'floq_move:.* handle=0x100000 flow=[0-9]* from=-1 to=0')" 20
expect "drops, as traced" "$(events 'floq_drop:.* type=0 len=514 reason=[tc]')" "$dropped"
expect "departures, as traced" "$(events 'floq_dequeue:.* type=0 len=514 sojourn=[0-9]*')" $((100 - dropped))
tc qdisc del dev d0 root

# Ingress: what arrives on v1 is sent through the IFB.
ip link add v0 type veth peer name v1
ip link add i0 type ifb
for device in v0 v1 i0; do ip link set "$device" up; done
tc qdisc add dev v1 ingress
tc filter add dev v1 parent ffff: protocol ip matchall action mirred egress redirect dev i0
tc qdisc add dev i0 root handle 1: floq nat
"$send" v0 1000 500 4
sleep 1
account i0 1000

if rmmod sch_floq 2>/dev/null; then wrong "unloaded while in use"; fi
ip link del d0
ip link del v0
ip link del i0
rmmod sch_floq || wrong "it does not unload"
echo "floq: ok on $(uname -r)"
