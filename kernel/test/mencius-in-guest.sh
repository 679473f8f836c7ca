#!/bin/sh
# In a guest: sch_mencius loads, carries traffic at the root, under htb and tbf and on an IFB, accounts
# for every packet, also where CoDel drops what a parent has counted, loses no packet's memory when its
# device goes down, and unloads. tc has no plugin for it yet, so that nothing is set.
#   sh mencius-in-guest.sh SCH_MENCIUS.ko SEND
# SEND is kernel/tc/tests/send.c, built.
set -eu
module=$1 send=$2
wrong() {
    echo "mencius: FAIL: $*"
    exit 1
}

insmod "$module"
# No packets but ours.
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add d0 type dummy
ip link set d0 up

# account DEVICE SENT: what was sent, dropped and is waiting must be what came.
account() {
    stats=$(tc -s qdisc show dev "$1" | grep -A 2 'qdisc mencius' | tr '\n' ' ')
    sent=$(echo "$stats" | sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p')
    dropped=$(echo "$stats" | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p')
    waiting=$(echo "$stats" | sed -n 's/.*backlog [0-9KMb]* \([0-9]*\)p.*/\1/p')
    echo "mencius: $1: $2 came, $sent sent, $dropped dropped, $waiting waiting"
    peeked=0
    if [ "$waiting" != 0 ] && tc qdisc show dev "$1" | grep -q '^qdisc tbf'; then
        peeked=1 # what tbf has looked at counts as sent, and waits (qdisc_peek_dequeued)
    fi
    [ "$2" = $((sent + dropped + waiting - peeked)) ] || wrong "packets were lost on $1: $stats"
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
    sleep 2
    account d0 4000
    tc -s class show dev d0 | grep -q 'class mencius 10:' || wrong "no host is shown"
    for _ in 1 2 3 4 5 6; do sleep 2; done
    account d0 4000
    [ "$waiting" = 0 ] || wrong "$waiting packets stay"
    [ "$dropped" != 0 ] || wrong "CoDel dropped nothing"
    outer=$(tc -s qdisc show dev d0 root | sed -n 's/.*backlog [0-9KMb]* \([0-9]*\)p.*/\1/p')
    [ "$outer" = 0 ] || wrong "the parent counts $outer packets that are gone"
    "$send" d0 1000 1000 8
    # What waits goes with the device.
    ip link set d0 down
    ip link set d0 up
    "$send" d0 1000 1000 8
    tc qdisc del dev d0 root
done

# Ingress: what arrives on v1 is sent through the IFB.
ip link add v0 type veth peer name v1
ip link add i0 type ifb
for device in v0 v1 i0; do ip link set "$device" up; done
tc qdisc add dev v1 ingress
tc filter add dev v1 parent ffff: protocol ip matchall action mirred egress redirect dev i0
tc qdisc add dev i0 root handle 1: mencius
"$send" v0 1000 500 4
sleep 1
account i0 1000

if rmmod sch_mencius 2>/dev/null; then wrong "unloaded while in use"; fi
ip link del d0
ip link del v0
ip link del i0
rmmod sch_mencius || wrong "it does not unload"
echo "mencius: ok on $(uname -r)"
