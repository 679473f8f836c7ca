#!/bin/sh
# In a guest: flows that are not what their ports say. Flow labels of IPv6 make as many flows of one as
# their sender likes, or one of many; fragments are one flow of a pair of addresses; a tunnel has
# addresses inside, and a filter may name hosts by them. Whatever a computer does with that, another one
# gets its half. Computers behind tags of VLANs and PPPoE are told apart, where an IFB has what a line
# brings.
#   sh odd-in-guest.sh SCH_MENCIUS.ko ODD TAGGED
# ODD and TAGGED are kernel/test/odd.c and tagged.c, built; q_mencius.so is in tc's library folder.
set -eu
module=$1 odd=$PWD/$2 tagged=$PWD/$3
# Of account.sh.
# shellcheck disable=SC2034
test=odd discipline=mencius
# shellcheck source=kernel/test/account.sh
. ./account.sh

insmod "$module"
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add d0 type dummy
ip link set d0 up

# begin SETTINGS...: nothing is dropped for its delay.
begin() {
    tc qdisc add dev d0 root handle 1: mencius target 10s limit 20000 memory_limit 32mb bandwidth "${rate:-4mbit}" "$@"
}
end() { tc qdisc del dev d0 root; }
# hosts: a line for each: its class, its flows, and its packets that wait.
hosts() {
    tc -s class show dev d0 | awk '/^class/ { class = $3 }
        $1 == "backlog" { sub("p$", "", $3); waits = $3 }
        $1 == "host" { for (at = 2; at < NF; at++) if ($at == "flows") print class, $(at + 1), waits }'
}
# flows KIND: of one host that sends so, through eight ports.
flows() {
    begin hosts source
    "$odd" d0 80 1 "$1"
    hosts | awk '{ print $2 }'
    end
}
# Names the hosts 2 and 3, by the last bit of who sends inside of a tunnel.
name_hosts() {
    for bit in 0 1; do
        tc filter add dev d0 parent 1: protocol ipv6 u32 match ip6 protocol 41 0xff \
            match u32 $bit 1 at 60 flowid $((2 + bit)):0
    done
}
# part KIND SETTINGS...: of a thousand packets those of who sends so, beside a host with plain flows. In a
# `named` tunnel are two hosts.
part() {
    kind=$1
    shift
    begin "$@"
    case $kind in named) name_hosts && kind=tunnel ;; esac
    "$odd" d0 1400 1 "$kind"
    first=$(hosts | awk '{ printf "%s ", $1 }')
    "$odd" d0 1400 2 plain
    before=$(hosts)
    sleep 2
    after=$(hosts)
    printf '%s\n%s\n' "$before" "$after" | awk -v first="$first" -v hosts="$(echo "$before" | wc -l)" '
        { waits = NR <= hosts ? $3 : -$3 } index(first, $1 " ") { mine += waits } { all += waits }
        END { print int(1000 * mine / all) }'
    end
}
# expect_within WHAT HAVE LEAST MOST
expect_within() {
    [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || wrong "$1: $2, expected $3 to $4"
    echo "$test: $1: $2"
}

expect_within "flows of eight ports, without a label" "$(flows plain)" 8 8
expect_within "with another label for each packet" "$(flows rotate)" 80 80
expect_within "with one label for all" "$(flows same)" 1 1
expect_within "as fragments" "$(flows fragments)" 1 1
expect_within "as fragments of IPv6" "$(flows fragments6)" 1 1
for kind in plain rotate same fragments6 tunnel; do
    got=$(part $kind hosts source flows 65536)
    expect_within "of 1000 packets, to who sends $kind beside another computer" "$got" 490 510
done
expect_within "of 1000 packets, to a tunnel of which a filter names two hosts" "$(part named hosts source flows 65536)" 656 677
begin hosts source
name_hosts
"$odd" d0 80 1 tunnel
have=$(tc -s class show dev d0 | awk '$1 == "host" { print $2 }' | sort | tr '\n' ' ')
end
[ "$have" = "0.0.0.2 0.0.0.3 " ] || wrong "hosts that a filter names: $have, expected 0.0.0.2 and 0.0.0.3"
echo "odd: hosts that a filter names: $have"
# With more flows waiting than there are places, the other's new flows are guests of their own host.
got=$(part rotate hosts source flows 1024)
expect_within "of 1000 packets, to who sends rotate and fills 1024 places" "$got" 490 510
ip link del d0

modprobe -a veth ifb sch_ingress cls_matchall act_mirred
ip link add line type veth peer name wan
ip link add d0 type ifb
for device in line wan d0; do ip link set "$device" up; done
tc qdisc add dev wan ingress
tc filter add dev wan parent ffff: matchall action mirred egress redirect dev d0
# told KIND: how many computers and flows there are of two computers with fifty each, behind that.
told() {
    rate=8kbit begin hosts source
    "$tagged" line "$1" 200
    sleep 1
    hosts | awk '{ hosts++; flows += $2 } END { print hosts, flows }'
    end
}
# The kernel looks for no address behind MPLS, so that all is one flow there.
for kind in plain vlan qinq pppoe mpls; do
    case $kind in mpls) want="1 1" ;; *) want="2 100" ;; esac
    have=$(told "$kind")
    [ "$have" = "$want" ] || wrong "computers and flows behind $kind: $have, expected $want"
    echo "odd: computers and flows behind $kind: $have"
done
ip link del line
ip link del d0
rmmod sch_mencius
echo "odd: ok on $(uname -r)"
