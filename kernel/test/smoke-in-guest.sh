#!/bin/sh
# In a guest: the module loads, carries traffic at the root, under prio, htb and tbf and on an IFB,
# accounts for every packet, keeps its packets through a change, refuses nonsense with a reason and
# unloads. What it prints is the same in every run with the same seed: the runner compares.
#   sh smoke-in-guest.sh SCH_CONFUCIUS.ko SEND
# SEND is kernel/tc/tests/send.c, built.
set -eu
module=$1 send=$2
test=smoke discipline=confucius
# shellcheck source=kernel/test/account.sh
. ./account.sh

insmod "$module"
# No packets but ours.
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add d0 type dummy
ip link set d0 up

tc qdisc add dev d0 root handle 1: confucius
"$send" d0 5000 500 20
account d0 5000
tc qdisc change dev d0 handle 1: confucius limit 100 targets 20/80 noecn
tc qdisc show dev d0 | grep -q 'limit 100p.* targets 20/80 .*noecn' || wrong "the change does not show"
"$send" d0 5000 500 20
account d0 10000
tc qdisc del dev d0 root

# Packets without a priority are of the second band.
tc qdisc add dev d0 root handle 1: prio
tc qdisc add dev d0 parent 1:2 handle 20: confucius
"$send" d0 1000 500 4
account d0 1000
tc qdisc del dev d0 root

for shaper in "htb default 1" "tbf rate 20mbit burst 3000 latency 1s"; do
    # The words are arguments.
    # shellcheck disable=SC2086
    tc qdisc add dev d0 root handle 1: $shaper
    case $shaper in htb*) tc class add dev d0 parent 1: classid 1:1 htb rate 20mbit quantum 1514 ;; esac
    tc qdisc add dev d0 parent 1:1 handle 10: confucius limit 300
    "$send" d0 2000 1000 8
    account d0 2000
    tc qdisc change dev d0 parent 1:1 handle 10: confucius quantum 3000
    account d0 2000
    sleep 1
    account d0 2000
    tc qdisc del dev d0 root
done

# A size table is the root's, and what a shaper charges a packet has to be so also for a super-packet's
# parts: 400 packets of 1448 bytes, and 40 super-packets of 10 of them, in cells of ATM.
plain=$(charged 400 1)
split=$(charged 40 10)
echo "smoke: bytes and packets charged: $plain plain, $split as super-packets"
[ "$plain" = "$split" ] || wrong "super-packets are charged otherwise than their parts"

# Ingress: what arrives on v1 is sent through the IFB.
ip link add v0 type veth peer name v1
ip link add i0 type ifb
for device in v0 v1 i0; do ip link set "$device" up; done
tc qdisc add dev v1 ingress
tc filter add dev v1 parent ffff: protocol ip matchall action mirred egress redirect dev i0
tc qdisc add dev i0 root handle 1: confucius
"$send" v0 1000 500 4
sleep 1
account i0 1000

if tc qdisc add dev d0 root confucius flows 3000000 2>/tmp/refused; then wrong "flows 3000000 was taken"; fi
[ -s /tmp/refused ] || wrong "no reason was given for a refusal"
echo "smoke: refused: $(tr '\n' ' ' </tmp/refused)"

if rmmod sch_confucius 2>/dev/null; then wrong "unloaded while in use"; fi
ip link del d0
ip link del v0
ip link del i0
rmmod sch_confucius || wrong "it does not unload"
echo "smoke: entropy $(od -An -N 8 -t x8 /dev/urandom) at $(cut -d ' ' -f 1 /proc/uptime)"
echo "smoke: ok on $(uname -r)"
