#!/bin/sh
# In a guest: one probe of a server behind a router with a queue, and then a TCP flow under NewReno over
# the same queue, made new. Leaves what the queue counted in /out/probe and /out/reno, and the processor's time
# and idle time before and after the probe in /out/uptime.
# probe-in-guest.sh MBIT RTT_MS down|up DISCIPLINE [SETTINGS...]
set -eu
mbit=$1 rtt=$2 way=$3
shift 3
seconds=10
modprobe -a veth sch_netem sch_htb sch_fq sch_fq_codel sch_cake sch_codel sch_pie sch_fq_pie
case $1 in confucius | mencius | floq) insmod "sch_$1.ko" ;; esac
for name in server router home; do
    ip netns add $name
    ip -n $name link set lo up
done
ip link add s0 netns server type veth peer name r0 netns router
ip link add h0 netns home type veth peer name r1 netns router
for place in server:s0:10.0.0.1 router:r0:10.0.0.2 router:r1:10.0.1.2 home:h0:10.0.1.1; do
    name=${place%%:*} rest=${place#*:}
    ip -n "$name" address add "${rest#*:}/24" dev "${rest%:*}"
    ip -n "$name" link set "${rest%:*}" up gso_max_segs 1
done
ip netns exec router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip -n server route add default via 10.0.0.2
ip -n home route add default via 10.0.1.2
# The queue is on the way of the data, the delay on the way of the acknowledgements.
case $way in
down) queue=r1 delay=r0 from=server to=home at=10.0.1.1 ;;
*) queue=r0 delay=r1 from=home to=server at=10.0.0.1 ;;
esac
packets=$((mbit * rtt * 1000 / 8 / 1250))
[ "$packets" -ge 100 ] || packets=100
ip netns exec router tc qdisc add dev $delay root netem delay "${rtt}ms" limit 100000
ip netns exec router tc qdisc add dev $queue root handle 1: htb default 1
ip netns exec router tc class add dev $queue parent 1: classid 1:1 htb rate "${mbit}mbit" quantum 1514 \
    burst 1514 cburst 1514
discipline=$*
case $1 in
pfifo | fq) discipline="$* limit $packets" ;;
cake) discipline="$* unlimited" ;;
esac
# Word splitting is intended: a discipline comes with its settings.
# shellcheck disable=SC2086
fresh_queue() { ip netns exec router tc qdisc replace dev $queue parent 1:1 handle "$1:" $discipline; }
counts() { ip netns exec router tc -s qdisc show dev $queue parent 1:1 >"/out/$1"; }

fresh_queue 2
: >/tmp/served
ip netns exec server ./analects probe serve --listen 10.0.0.1:7411 --key /tmp/key >/tmp/served 2>&1 &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -q pin /tmp/served && break
    sleep 0.1
done
pin=$(sed -n 's/^pin //p' /tmp/served)
cat /proc/uptime >/out/uptime
ip netns exec home ./analects probe 10.0.0.1 --pin "$pin" --seconds $seconds "--$way" --json || {
    cat /tmp/served
    exit 1
}
cat /proc/uptime >>/out/uptime
kill $server
counts probe

fresh_queue 3
ip netns exec $from sh -c 'echo reno >/proc/sys/net/ipv4/tcp_congestion_control'
ip netns exec $to nc -l -p 5000 -e sh -c 'cat >/dev/null' &
sleep 0.1
ip netns exec $from timeout $seconds nc $at 5000 </dev/zero >/dev/null || true
counts reno
