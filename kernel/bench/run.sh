# run.sh FLOWS...: what runs in the virtual machine: pktgen sends packets of several flows into a discipline on a dummy
# device, and each run prints `MODE DISCIPLINE FLOWS NANOSECONDS`, the busy time of a packet. Where a
# nanosecond is an instruction, that is what it costs.
set -eu
export TC_LIB_DIR=/job
# Not the ones that are built into the shell.
ip() { /bin/ip "$@"; }
tc() { /bin/tc "$@"; }
modprobe -a dummy pktgen sch_fq_codel sch_cake sch_fq
insmod ./sch_gate.ko
insmod ./sch_confucius.ko
insmod ./sch_mencius.ko
insmod ./sch_floq.ko
ip link add d0 type dummy
ip link set d0 up
ip address add 10.5.0.1/24 dev d0
ip neighbour add 10.5.0.2 lladdr 02:00:00:00:00:02 dev d0
echo 'add_device d0' >/proc/net/pktgen/kpktgend_0

tell() { echo "$1" >/proc/net/pktgen/d0; }

# send FLOWS SECONDS DELAY: packets of the flows to $hosts hosts in turn, DELAY ns apart, for so long. pktgen has to be
# stopped: after a fixed number it waits for the last one, which the gate may keep.
send() {
    for setting in "count 0" "delay $3" "clone_skb 0" "pkt_size 1000" "xmit_mode queue_xmit" \
        "dst_mac 02:00:00:00:00:02" "src_min 10.5.0.1" "src_max 10.5.0.1" "dst_min 10.5.0.2" \
        "dst_max 10.5.$(((hosts + 1) / 256)).$(((hosts + 1) % 256))" "udp_src_min 9" "udp_src_max 9" "udp_dst_min 1000" \
        "udp_dst_max $((1000 + $1))"; do
        tell "$setting"
    done
    (
        sleep "$2"
        echo stop >/proc/net/pktgen/pgctrl
    ) &
    echo start >/proc/net/pktgen/pgctrl
    wait
}

# Busy nanoseconds for each packet of the last run.
cost() {
    sed -n 's/^Result: OK: [0-9]*(c\([0-9]*\)+d[0-9]*) usec, \([0-9]*\) .*/\1 \2/p' /proc/net/pktgen/d0 |
        (read -r busy packets && echo $((busy * 1000 / packets)))
}

# attach DISCIPLINE FLOWS: below the gate, with room for the backlog and nobody who drops for delay:
# packets that are dropped would not be measured. `mencius-hosts` shares by host, and each flow is of a host of its
# own, up to a thousand hosts. All other flows are of one host, whose quantum cake divides by their
# number, and then goes round them all for a packet: that is `cake-one-host`, and `cake` has the mode `flows`.
attach() {
    tc qdisc delete dev d0 root 2>/dev/null || true
    if [ "$1" = noqueue ]; then
        tc qdisc replace dev d0 root noqueue
        return
    fi
    tc qdisc add dev d0 root handle 1: gate
    case $1 in
    pfifo) set -- pfifo limit 40000 ;;
    confucius) set -- confucius limit 40000 memory_limit 128mb ;;
    confucius-64k) set -- confucius limit 40000 memory_limit 128mb flows 65536 ;;
    mencius) set -- mencius limit 40000 memory_limit 128mb target 9s interval 9s ;;
    mencius-hosts) set -- mencius hosts destination limit 40000 memory_limit 128mb target 9s interval 9s ;;
    mencius-64k) set -- mencius limit 40000 memory_limit 128mb target 9s interval 9s flows 65536 ;;
    floq) set -- floq limit 40000 threshold 100 ;;
    floq-64k) set -- floq limit 40000 threshold 100 flows 65536 ;;
    fq_codel) set -- fq_codel limit 40000 memory_limit 128mb target 9s interval 9s ;;
    fq) set -- fq limit 40000 flow_limit 40000 ;;
    cake) set -- cake unlimited besteffort flows rtt 20s memlimit 256mb ;;
    cake-one-host) set -- cake unlimited besteffort rtt 20s memlimit 256mb ;;
    esac
    tc qdisc add dev d0 parent 1:1 handle 10: "$@"
}

# Flows have to come often enough to be remembered, and for seconds until Confucius has classed them, and Mencius has.
age() {
    case $1 in
    10000) send "$1" 3 10000 ;;
    *) send "$1" 3 120000 ;;
    esac
}

# settle FLOWS: until two runs in a row cost the same to a percent, and not for ever: flows that slept
# while others were sent have to find their classes again.
settle() {
    send "$1" 0.2 0
    second=$(cost)
    for _ in 1 2 3 4 5 6 7 8; do
        first=$second
        send "$1" 0.2 0
        second=$(cost)
        difference=$((first - second))
        [ $((100 * ${difference#-})) -gt "$first" ] || return 0
    done
}

measure() { # MODE DISCIPLINE FLOWS
    hosts=1
    case $2 in *-hosts) hosts=$(($3 > 1000 ? 1000 : $3)) ;; esac
    echo 0 >/sys/module/sch_gate/parameters/hold
    [ "$1" = near_empty ] || echo $(($3 > 1000 ? 2 * $3 : 1000)) >/sys/module/sch_gate/parameters/hold
    attach "$2" "$3"
    case $2 in confucius* | mencius*) age "$3" ;; esac
    # Once to warm up, which fills what the gate keeps.
    send "$3" 0.4 0
    settle "$3"
    echo "$1 $2 $3 $first $second"
    if [ "$2" != noqueue ]; then
        dropped=$(tc -s qdisc show dev d0 parent 1:1 | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p')
        [ "$dropped" = 0 ] || echo "drops $1 $2 $3 $dropped"
    fi
}

for flows in "$@"; do
    for mode in near_empty backlogged; do
        for discipline in noqueue pfifo confucius mencius mencius-hosts floq fq_codel fq cake; do
            [ "$mode $discipline" = "backlogged noqueue" ] || measure $mode $discipline "$flows"
        done
        # With a thousand, one run of 0.2 s has fewer packets than flows.
        [ "$flows" -gt 100 ] || measure $mode cake-one-host "$flows"
        [ "$flows" != 10000 ] || measure $mode confucius-64k "$flows"
        [ "$flows" != 10000 ] || measure $mode mencius-64k "$flows"
        [ "$flows" != 10000 ] || measure $mode floq-64k "$flows"
    done
done
