#!/bin/sh
# In a guest: mencius with a bandwidth of its own. Packets leave at that rate and with what the link
# behind adds, also those that are parts of a super-packet; a change loses none; what CoDel drops
# counts with ingress; and queues of a device share one rate, each with all of it when it is alone, and
# with equal parts for computers.
#   sh shaper-in-guest.sh SCH_MENCIUS.ko SEND
# SEND is kernel/tc/tests/send.c, built; q_mencius.so is in tc's library folder.
set -eu
module=$1 send=$PWD/$2
test=shaper discipline=mencius
# shellcheck source=kernel/test/account.sh
. ./account.sh

insmod "$module"
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add d0 type dummy
ip link set d0 up

# left DEVICE: bytes that have left by all mencius that it has.
left() {
    tc -s qdisc show dev "$1" | awk '/^qdisc/ { mine = $2 == "mencius" }
        mine && $1 == "Sent" { sum += $2 } END { print sum }'
}
now() { awk '{ print int($1 * 100) }' /proc/uptime; }
# about WHAT HAVE WANT PERCENT
about() {
    [ $(($2 * 100)) -ge $(($3 * (100 - $4))) ] && [ $(($2 * 100)) -le $(($3 * (100 + $4))) ] ||
        wrong "$1: $2, expected $3 to $4 %"
    echo "shaper: $1: about $3"
}
# per_second DEVICE: bytes that leave in a second, while some wait.
per_second() {
    before=$(left "$1") began=$(now)
    sleep 2
    passed=$(($(now) - began))
    echo $((($(left "$1") - before) * 100 / passed))
}
# rate_of COUNT BYTES SEGMENTS SETTINGS...: bytes in a second, in packets of so many with the IP header.
rate_of() {
    count=$1 bytes=$2 segments=$3
    shift 3
    tc qdisc add dev d0 root handle 1: mencius target 10s limit 20000 memory_limit 32mb "$@"
    "$send" d0 "$count" "$bytes" 4 "$segments"
    per_second d0
    tc qdisc del dev d0 root
}

# 8 Mbit/s are 1,000,000 bytes a second; the device has 14 more than IP.
about "bytes a second, as the device has them" "$(rate_of 9000 986 1 bandwidth 8mbit)" 1000000 2
about "with 14 more than IP" "$(rate_of 9000 986 1 bandwidth 8mbit overhead 14)" 1000000 2
# Of 250 bytes 100 are there.
about "small ones with an mpu" "$(rate_of 20000 86 1 bandwidth 8mbit overhead 14 mpu 250)" 400000 2
# 1448 and 40 are 1488 bytes, 31 cells, 1643 bytes, of which 1462 are there.
about "in cells" "$(rate_of 4000 1448 1 bandwidth 8mbit overhead 40 atm)" 889836 2
about "in cells, ten in one, taken apart" "$(rate_of 400 1448 10 bandwidth 8mbit overhead 40 atm)" 889836 2
about "in cells, ten in one" "$(rate_of 400 1448 10 bandwidth 8mbit overhead 40 atm no-split-gso)" 889836 3
# 1500 and 4 are 1504 bytes, 24 parts of 64 begun: 1528 bytes, of which 1514 are there.
about "parts of 65 bytes" "$(rate_of 4000 1500 1 bandwidth 8mbit overhead 4 ptm)" 990838 2

# The rate changes while packets wait, and none is lost.
tc qdisc add dev d0 root handle 1: mencius target 10s limit 20000 memory_limit 32mb bandwidth 8mbit
"$send" d0 12000 986 4
about "before a change" "$(per_second d0)" 1000000 2
tc qdisc change dev d0 root handle 1: mencius bandwidth 1600kbit
about "after it" "$(per_second d0)" 200000 5
tc qdisc change dev d0 root handle 1: mencius bandwidth 8kbit
sleep 1
tc qdisc change dev d0 root handle 1: mencius bandwidth 8mbit
about "soon after a very slow one" "$(per_second d0)" 1000000 2
tc qdisc change dev d0 root handle 1: mencius bandwidth unlimited
sleep 1
account d0 12000
[ "$sent" = 12000 ] || wrong "$waiting packets wait without a bandwidth, $dropped were dropped"
tc qdisc del dev d0 root

# What CoDel drops takes its part of the rate.
sent_of() {
    tc qdisc add dev d0 root handle 1: mencius limit 20000 memory_limit 32mb bandwidth 8mbit target 1ms interval 50ms "$@"
    "$send" d0 9000 986 4
    sleep 1
    account d0 9000 >&2
    [ "$waiting" != 0 ] || wrong "nothing waits any more"
    echo "$sent $dropped"
    tc qdisc del dev d0 root
}
# The words are two numbers.
# shellcheck disable=SC2046
set -- $(sent_of egress) $(sent_of ingress)
[ "$2" -gt 0 ] && [ "$4" -gt 0 ] || wrong "CoDel dropped $2 and $4"
[ "$3" -lt "$1" ] || wrong "with ingress $3 packets left and $4 were dropped, without it $1 and $2"
[ $((3 * $3)) -ge $((2 * $1 - 30)) ] || wrong "with ingress less than two thirds left: $3 of $1"
echo "shaper: with ingress drops count"
ip link del d0

# Two queues of a device.
ip link add d0 numtxqueues 2 type dummy
ip link set d0 up
tc qdisc add dev d0 root handle 8001: mq
for queue in 1 2; do
    tc qdisc add dev d0 parent 8001:$queue handle $queue: mencius target 10s limit 20000 memory_limit 32mb bandwidth 8mbit shared
done
share() { tc -s qdisc show dev d0 | grep -A 9 "^qdisc mencius $1:" | sed -n 's/.* share \([0-9]*\).*/\1/p'; }
"$send" d0 12000 986 64
about "two queues that share a rate" "$(per_second d0)" 1000000 3
# At any moment, also while one of them waits for its next packet on the slow link.
for _ in 1 2 3 4 5; do
    about "the share of the first" "$(share 1)" 500000 5
    about "the share of the second" "$(share 2)" 500000 5
    sleep 0.03
done
for _ in 1 2 3 4 5; do sleep 4; done
"$send" d0 6000 986 1
about "one of them alone" "$(per_second d0)" 1000000 3
if tc qdisc change dev d0 parent 8001:1 handle 1: mencius alone 2>/dev/null; then
    wrong "what is shared was changed in use"
fi
tc qdisc replace dev d0 parent 8001:1 handle 3: mencius bandwidth 8mbit
tc qdisc del dev d0 root
ip link del d0

# Computers get equal parts, in however many queues they wait: one has flows in all queues, the other one
# flow in one of them.
# largest DEVICE: bytes that the flow has sent that has sent most.
largest() {
    tc -s class show dev "$1" | awk '/^class/ { flow = $2 == "mencius" }
        flow && $1 == "Sent" && $2 > most { most = $2 } END { print most }'
}
for queues in 2 4; do
    ip link add d0 numtxqueues $queues type dummy
    ip link set d0 up
    tc qdisc add dev d0 root handle 8001: mq
    queue=0
    while [ $queue -lt $queues ]; do
        queue=$((queue + 1))
        tc qdisc add dev d0 parent 8001:$queue handle $queue: mencius \
            target 10s limit 20000 memory_limit 32mb bandwidth 8mbit hosts source shared
    done
    FROM=10.0.0.1 "$send" d0 12000 986 64
    FROM=10.0.0.2 "$send" d0 6000 986 1
    # Until new ones have had more than old ones.
    sleep 1
    before=$(largest d0) all=$(left d0) began=$(now)
    sleep 4
    passed=$(($(now) - began))
    about "all of $queues queues" $((($(left d0) - all) * 100 / passed)) 1000000 3
    about "of one computer in one of them" $((($(largest d0) - before) * 100 / passed)) 500000 5
    tc qdisc del dev d0 root
    ip link del d0
done
tries=0
until rmmod sch_mencius 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || wrong "it does not unload"
    sleep 0.2
done
echo "shaper: ok on $(uname -r)"
