#!/bin/sh
# Inside a guest: TCP through the qdisc, as root and under HTB, TBF and on an IFB.
#
#   sh traffic.sh DISCIPLINE [FOLDER]
#
# FOLDER (this script's own by default) has sch_DISCIPLINE.ko, and q_DISCIPLINE.so
# for tc. Exits with 0 if super-packets are split, packets are marked, parents'
# counts end at zero, nothing is lost by a change, and the kernel has no complaint.
set -eu

discipline=$1
folder=$(cd "${2:-$(dirname "$0")}" && pwd)
# Where packets are marked early, and what is changed while they wait.
case $discipline in
confucius) marking="targets 1/2/5" one="targets 10/50/90" other="targets 50" ;;
mencius) marking="target 1ms interval 20ms" one="hosts source min_wait 5ms" other="hosts none min_wait 20ms" ;;
floq) marking="threshold 2 responsive 0 drop_responsive 5" one="threshold 50" other="variant equation ecn" ;;
esac
# FLOQ counts packets only.
memory=memory_limit
[ "$discipline" != floq ] || memory=
export TC_LIB_DIR="$folder"
failed=0

check() {
    if [ "$2" "$3" "$4" ]; then
        echo "ok: $1"
    else
        echo "not ok: $1: $2 $3 $4"
        failed=1
    fi
}

# cl 10.0.1.2 - 10.0.1.1 ro 10.0.2.1 - 10.0.2.2 sv; ro translates cl's address.
link_up() {
    for name in cl ro sv; do
        ip netns add $name
        ip -n $name link set lo up
    done
    ip -n cl link add c0 type veth peer name r0 netns ro
    ip -n ro link add r1 type veth peer name s0 netns sv
    ip -n cl addr add 10.0.1.2/24 dev c0
    ip -n ro addr add 10.0.1.1/24 dev r0
    ip -n ro addr add 10.0.2.1/24 dev r1
    ip -n sv addr add 10.0.2.2/24 dev s0
    for end in "cl c0" "ro r0" "ro r1" "sv s0"; do
        # shellcheck disable=SC2086
        set -- $end
        ip -n "$1" link set "$2" up
    done
    ip -n cl route add default via 10.0.1.1
    ip netns exec ro sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
    for name in cl sv; do
        ip netns exec $name sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_ecn'
    done
    ip netns exec ro nft -f - <<NFT && return
table ip nat {
    chain post {
        type nat hook postrouting priority 100;
        oifname "r1" masquerade
    }
}
NFT
    echo "# skipped: address translation, because this guest's nft cannot do it"
    ip -n sv route add default via 10.0.2.1
}

# So many connections from cl to sv, of so many kB each; waits until all are over.
transfer() {
    connections=$1
    kilobytes=$2
    listeners=
    senders=
    for port in $(seq 1 "$connections"); do
        ip netns exec sv nc -l -p $((5000 + port)) -e sh -c 'cat > /dev/null' &
        listeners="$listeners $!"
    done
    ip netns exec cl sleep 0.2
    for port in $(seq 1 "$connections"); do
        dd if=/dev/zero bs=1k count="$kilobytes" 2> /dev/null |
            ip netns exec cl nc 10.0.2.2 $((5000 + port)) > /dev/null &
        senders="$senders $!"
    done
    # shellcheck disable=SC2086
    wait $senders $listeners
}

# The number before or after a word in what tc says of a qdisc of ro's r1.
of_qdisc() {
    tc -n ro -s qdisc show dev r1 | awk -v kind="$1" -v key="$2" '
        /^qdisc/ { mine = $2 == kind }
        mine && match($0, key) {
            rest = substr($0, RSTART + RLENGTH)
            if (match(rest, /[0-9]+/)) { print substr(rest, RSTART, RLENGTH); exit }
        }'
}

# nf_tables needs checksums from a module that it does not name.
modprobe crc32c_generic || true
modprobe -a nf_tables nft_masq nft_chain_nat || true
modprobe -a sch_htb sch_tbf sch_ingress act_mirred cls_u32 ifb
link_up
insmod "$folder/sch_$discipline.ko"

echo "# under HTB, at 20 Mbit/s, with NAT"
tc -n ro qdisc add dev r1 root handle 1: htb default 1
tc -n ro class add dev r1 parent 1: classid 1:1 htb rate 20mbit quantum 1514
# Settings are several words, here and below.
# shellcheck disable=SC2086
tc -n ro qdisc add dev r1 parent 1:1 handle 10: "$discipline" nat ecn $marking
transfer 4 1500
tc -n ro -s qdisc show dev r1
check "super-packets were split" "$(of_qdisc "$discipline" 'gso_split')" -gt 0
check "packets were marked" "$(of_qdisc "$discipline" 'marks')" -gt 0
check "nothing is left in HTB" "$(of_qdisc htb backlog)" -eq 0
check "all bytes arrived" "$(of_qdisc "$discipline" Sent)" -gt 6144000

echo "# changes under load"
transfer 8 1000 &
load=$!
for round in 1 2 3 4 5 6; do
    ip netns exec cl sleep 0.2
    # shellcheck disable=SC2086
    tc -n ro qdisc change dev r1 parent 1:1 handle 10: "$discipline" limit $((round * round)) \
        $one no-split-gso
    # shellcheck disable=SC2086
    tc -n ro qdisc change dev r1 parent 1:1 handle 10: "$discipline" limit 4000 $other \
        ${memory:+$memory $((round * 20000))} split_gso
done
wait $load
check "nothing is left in HTB" "$(of_qdisc htb backlog)" -eq 0
check "nothing is left in $discipline" "$(of_qdisc "$discipline" backlog)" -eq 0
check "limits that were lowered dropped" "$(of_qdisc "$discipline" drop_change)" -gt 0
tc -n ro qdisc del dev r1 root

echo "# under TBF, and replaced under load"
tc -n ro qdisc add dev r1 root handle 1: tbf rate 20mbit burst 16k limit 1mb
tc -n ro qdisc add dev r1 parent 1: handle 10: "$discipline" limit 50 flows 8
transfer 8 500 &
load=$!
ip netns exec cl sleep 0.3
tc -n ro qdisc replace dev r1 parent 1: handle 11: "$discipline" limit 40
wait $load
check "nothing is left in TBF" "$(of_qdisc tbf backlog)" -eq 0
tc -n ro qdisc del dev r1 root

echo "# as root"
tc -n ro qdisc add dev r1 root "$discipline"
transfer 4 500
check "packets went through" "$(of_qdisc "$discipline" Sent)" -gt 2048000
transfer 2 2000 &
load=$!
ip netns exec cl sleep 0.05
tc -n ro qdisc del dev r1 root
wait $load

echo "# on an IFB, for what comes in"
ip -n ro link add ifb0 type ifb
ip -n ro link set ifb0 up
tc -n ro qdisc add dev ifb0 root "$discipline" nat
tc -n ro qdisc add dev r0 ingress
tc -n ro filter add dev r0 parent ffff: protocol all u32 match u32 0 0 \
    action mirred egress redirect dev ifb0
transfer 4 500
sent=$(tc -n ro -s qdisc show dev ifb0 | awk '/Sent/ { print $2; exit }')
check "packets went through the IFB" "$sent" -gt 2048000

for name in cl ro sv; do
    ip netns del $name
done
# Namespaces are taken apart in the background, and hold the module until then.
tries=0
until rmmod "sch_$discipline" 2> /dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || break
    sleep 0.2
done
check "the module can be taken out" "$(grep -c "^sch_$discipline" /proc/modules || true)" -eq 0
complaints=$(dmesg | grep -cE 'WARNING|BUG|Oops|refcount|Call Trace' || true)
check "the kernel has no complaint" "$complaints" -eq 0
[ "$complaints" -eq 0 ] || dmesg | grep -A20 -E 'WARNING|BUG|Oops|refcount' | head -60
exit $failed
