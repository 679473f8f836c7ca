#!/bin/sh
# In a guest with several processors: some send through the qdisc, others change it, dump it, filter
# for it, take its link down and put another in its place, all at once. No packet may be lost without
# an account, and the kernel must not complain; a warning ends the machine.
#   sh smp-in-guest.sh SCH_DISCIPLINE.ko SEND DUMP [SECONDS]
# SEND and DUMP are kernel/tc/tests/send.c and kernel/test/dump.c, built.
set -eu
module=$1 send=$PWD/$2 dump=$PWD/$3 seconds=${4:-10}
discipline=$(basename "$module" .ko)
discipline=${discipline#sch_}
case $discipline in
confucius)
    one="nat targets 50"
    other="nonat targets 5/10/50/90 interval 1ms doubling 1ms idle 10ms"
    ;;
mencius)
    one="nat hosts source target 1us"
    other="nonat hosts none target 5ms interval 1ms min_wait 1ms doubling 10ms noecn"
    ;;
floq)
    one="nat threshold 0 responsive 0 unresponsive 0 strikes 1 window 10ms windows 1"
    other="nonat threshold 80 responsive 50 variant algorithm-drop idle 100ms pardon 1 ecn"
    ;;
esac
test=smp
# shellcheck source=kernel/test/account.sh
. ./account.sh
stop=/tmp/stop
# forever COMMAND...: again and again, until all are told to stop; counts in a file of its name.
forever() {
    (
        turns=0
        until [ -e $stop ]; do
            "$@" >/dev/null 2>&1 || true
            turns=$((turns + 1))
        done
        echo $turns >"/tmp/turns-$1"
    ) &
}
# together JOBS...: all at once, for a while.
together() {
    rm -f $stop
    for job in "$@"; do forever "$job"; done
    sleep "$seconds"
    : >$stop
    wait
    for job in "$@"; do
        echo "smp: $job $(cat "/tmp/turns-$job") times"
        [ "$(cat "/tmp/turns-$job")" -gt 0 ] || wrong "$job never ran"
    done
}

[ "$(nproc)" -gt 1 ] || wrong "there is only one processor"
insmod "$module"
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add d0 type dummy
ip link set d0 up
tc qdisc add dev d0 root handle 1: htb default 1
tc class add dev d0 parent 1: classid 1:1 htb rate 200mbit quantum 1514
tc qdisc add dev d0 parent 1:1 handle 10: "$discipline" limit 300

plain() { "$send" d0 2000 1000 50; }
parts() { "$send" d0 20 1000 5 20; }
# By the dozen, since to start tc takes longer than all of these.
leaf="dev d0 parent 1:1 handle 10: $discipline"
for _ in 1 2 3 4 5 6; do
    echo "qdisc change $leaf limit 20 memory_limit 40000 $one"
    echo "qdisc change $leaf limit 4000 memory_limit 32mb $other"
done >/tmp/changes
change() { tc -force -batch /tmp/changes; }
dump() { "$dump" d0 100; }
name_flows() {
    tc filter add dev d0 parent 10: handle 1 flow hash keys src,proto-src divisor 64
    tc filter del dev d0 parent 10:
}
link() {
    sleep 0.3
    ip link set d0 down
    ip link set d0 up
}
# First two and two, so that a packet meets a dump or a change most often: with more of them than
# processors, they wait for one another.
together plain dump
together plain change
together plain plain parts change dump name_flows link

# What is sent now is all accounted for: the counts survived.
figures() {
    tc -s qdisc show dev d0 | grep -A 9 "^qdisc $discipline" | tr '\n' ' ' |
        sed 's/.*Sent [0-9]* bytes \([0-9]*\) pkt (dropped \([0-9]*\),.*backlog [0-9KMb]* \([0-9]*\)p.*/\1 \2 \3/'
}
tc qdisc change dev d0 parent 1:1 handle 10: "$discipline" limit 300
sleep 1
# The words are three numbers.
# shellcheck disable=SC2046
set -- $(figures)
sent=$1 dropped=$2
[ "$3" = 0 ] || wrong "$3 packets still wait"
plain
sleep 1
# shellcheck disable=SC2046
set -- $(figures)
echo "smp: then 2000 came, $(($1 - sent)) sent, $(($2 - dropped)) dropped, $3 waiting"
[ $(($1 - sent + $2 - dropped)) = 2000 ] && [ "$3" = 0 ] || wrong "packets were lost"
backlogs=$(tc -s qdisc show dev d0 | sed -n 's/.*backlog \([0-9KMb]* [0-9]*p\).*/\1/p' | sort -u)
[ "$backlogs" = "0b 0p" ] || wrong "counted as waiting: $backlogs"

# And deleted and made again while others send.
again() {
    tc qdisc replace dev d0 parent 1:1 handle 20: fq_codel
    tc qdisc replace dev d0 parent 1:1 handle 10: "$discipline"
    tc qdisc del dev d0 parent 1:1
    tc qdisc add dev d0 parent 1:1 handle 10: "$discipline"
}
together plain again dump

# Queues that share a rate look at each other while they come and go.
if [ "$discipline" = mencius ]; then
    ip link add d1 numtxqueues 4 type dummy
    ip link set d1 up
    tc qdisc add dev d1 root handle 8001: mq
    for queue in 1 2 3 4; do
        echo "qdisc replace dev d1 parent 8001:$queue handle $queue: mencius bandwidth 50mbit shared"
        echo "qdisc change dev d1 parent 8001:$queue handle $queue: mencius bandwidth 200mbit"
    done >/tmp/shares
    tc -batch /tmp/shares
    for queue in 2 3; do
        echo "qdisc del dev d1 parent 8001:$queue"
        sed -n "/:$queue handle/p" /tmp/shares
    done >/tmp/come-and-go
    many() { "$send" d1 1000 1000 200; }
    come_and_go() { tc -force -batch /tmp/come-and-go; }
    together many many come_and_go
    ip link del d1
fi
ip link del d0
tries=0
until rmmod "sch_$discipline" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || wrong "it does not unload"
    sleep 0.2
done
echo "smp: $discipline ok on $(uname -r)"
