#!/bin/sh
# In a guest: `analects tc` with the real modules and plugins, and with what stock kernels have beside
# them. Without the modules it says what is missing; with it, shapers are made, changed in place, and
# every queue that was there before comes back exactly.
#   sh analects-tc.sh ANALECTS SCH_MENCIUS.ko SCH_CONFUCIUS.ko
# q_mencius.so and q_confucius.so are in tc's library folder, or where TC_LIB_DIR says. ANALECTS is
# static.
set -eu
analects=$1 mencius=$2 confucius=$3
work=$(mktemp -d)

# shellcheck source=scripts/assertions.sh
. ./assertions.sh
fail() {
    echo "analects-tc: FAIL: $*"
    cat "$work/out" "$work/err" 2>/dev/null || true
    exit 1
}
tc_() {
    "$analects" tc "$@" --state "$work/state" >"$work/out" 2>"$work/err"
}
network() {
    for device in v0 v1; do
        tc -d -j qdisc show dev $device | sed 's/"refcnt":[0-9]*,//g'
        tc class show dev $device
        tc filter show dev $device ingress
    done
    ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/\1/'
}
before() {
    network >"$work/before"
}
unchanged() {
    network >"$work/now"
    cmp -s "$work/before" "$work/now" || {
        diff "$work/before" "$work/now" || true
        fail "$*: the network is not what it was"
    }
}
# What is received and sent, with and without a limit of the discipline's.
both="--dev v0 --rate 9mbit --ingress 45mbit --overhead docsis"

# Loaded by itself, it brings two devices that stay (decision 0060).
modprobe ifb numifbs=0
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add v0 type veth peer name v1
ip link set v0 up
ip link set v1 up
before

# $both is several words.
# shellcheck disable=SC2086
if tc_ apply $both; then fail "applied without the module"; fi
tr -d '| \n' <"$work/err" | grep -q 'qdisckindisunknown.*everythingisasitwas.*analects-dkms' ||
    fail "no word on the missing module"
unchanged "without the module"
passed "without the module: $(tr -d '|\n' <"$work/err" | tr -s ' ' | cut -c 1-100)"

insmod "$mencius"
insmod "$confucius"
# shellcheck disable=SC2086
tc_ apply $both || fail "apply"
tc qdisc show dev v0 | grep -q '^qdisc mencius b1: parent a1:1' || fail "no mencius at v0"
tc qdisc show dev ifb-v0 | grep -q '^qdisc mencius b1: parent a1:1' || fail "no mencius at ifb-v0"
ip addr add 192.0.2.1/24 dev v1
ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev v1
ping -c 2 -W 1 192.0.2.2 >/dev/null || true
ping -c 30 -i 0.1 -s 500 -W 1 192.0.2.2 >/dev/null &
"$analects" tc show --watch --state "$work/state" >"$work/watch" 2>"$work/err" &
sleep 3
kill $!
wait
ip addr del 192.0.2.1/24 dev v1
tc_ show || fail "show"
grep -q '^  as it was applied' "$work/out" || fail "show finds differences"
grep -q 'ifb-v0: mencius b1: sent [1-9]' "$work/out" || fail "nothing came through the ifb"
grep -Eq '^ *192\.0\.2\.2 +[0-9.]+ +100 ' "$work/out" || fail "show: no computer"
tc_ show --format json || fail "show --format json"
grep -q '"address": "192.0.2.2"' "$work/out" || fail "show --format json: no computer"
tc_ show --format prometheus || fail "show --format prometheus"
grep -q '^analects_tc_host_bytes_total{setup="v0",device="ifb-v0",handle="b1:",host="192.0.2.2"} [1-9]' "$work/out" ||
    fail "show --format prometheus: no computer"
passed "with it: packets pass mencius on the ifb device"
cp "$work/watch" "$work/out"
grep -q '^ifb-v0: mencius b1: sends 0.0[1-9] Mbit/s and dropped 0 packets' "$work/out" || fail "show --watch: no rate"
grep -Eq '^ *:[0-9a-f]+ +:[0-9a-f]+ +0\.0[1-9] +100 ' "$work/out" || fail "show --watch: no flow"
grep -Eq '^ *192\.0\.2\.2 +0\.0[1-9] +100 ' "$work/out" || fail "show --watch: no computer"
passed "show --watch: the flow of the echo requests has all of its queue, and so has its computer"

all="limit=500,memory_limit=4MiB,flows=64,quantum=1514B,targets=20/80,occupancy=delay,scale=80ms"
all="$all,doubling=500ms,head_start=1,alpha=20,interval=50ms,idle=2s,nat=no,split_gso=yes"
# shellcheck disable=SC2086
tc_ apply $both --discipline "confucius,$all" || fail "apply with every setting"
tc qdisc show dev v0 | grep -q 'confucius b2: .*targets 20/80 ' || fail "the settings do not show"
# shellcheck disable=SC2086
tc_ apply $both --discipline "confucius,$(echo "$all" | sed 's/=500,/=400,/')" || fail "apply in place"
tc qdisc show dev v0 | grep -q 'confucius b2: .*limit 400p' || fail "the limit was not changed in place"
all="limit=500,memory_limit=4MiB,flows=64,hosts=source,quantum=1514,target=6ms,interval=90ms"
all="$all,min_wait=25ms,max_wait=90ms,rise=300ms,doubling=2s,settled_share=64,ecn=no,nat=no,split_gso=yes"
# shellcheck disable=SC2086
tc_ apply $both --discipline "mencius,$all" || fail "apply mencius with every setting"
tc qdisc show dev v0 | grep -q 'mencius b[13]: .*hosts source .*min_wait 25ms .*settled_share 64 .*noecn .*nonat' ||
    fail "the settings of mencius do not show"
tc_ clear --dev v0 || fail "clear"
unchanged "with every setting"
passed "every setting is taken, and changed in place"

for discipline in cake cake,rtt=50ms,nat=yes fq_codel fq_codel,target=10ms,ecn=no fq codel pie fq_pie; do
    # shellcheck disable=SC2086
    tc_ apply $both --discipline $discipline || fail "$discipline"
    tc_ show || fail "show $discipline"
    grep -q '^  as it was applied' "$work/out" || fail "$discipline: show finds differences"
done
tc_ clear --dev v0 || fail "clear"
unchanged "one after another"
passed "cake, fq_codel, fq, codel, pie and fq_pie, one after another"

for root in "fq_codel" "fq_codel target 7ms interval 90ms noecn limit 500 flows 256" "pfifo limit 7" \
    "bfifo limit 70000"; do
    # shellcheck disable=SC2086
    tc qdisc replace dev v0 root handle 8001: $root
    before
    # shellcheck disable=SC2086
    tc_ apply $both || fail "apply over $root"
    tc_ clear --dev v0 || fail "clear over $root"
    unchanged "over $root"
    tc qdisc del dev v0 root
done
passed "fq_codel, pfifo and bfifo come back as they were"

tc qdisc add dev v0 clsact
before
# shellcheck disable=SC2086
tc_ apply $both || fail "apply beside a clsact"
tc_ clear --dev v0 || fail "clear beside a clsact"
unchanged "beside a clsact"
tc filter add dev v0 ingress protocol all pref 1 matchall action mirred egress redirect dev v1
before
# shellcheck disable=SC2086
if tc_ apply $both; then fail "applied over a filter"; fi
unchanged "over a filter"
for root in "htb default 1" "cake bandwidth 5mbit" "tbf rate 1mbit burst 2000 limit 9000"; do
    # shellcheck disable=SC2086
    tc qdisc replace dev v0 root handle 1: $root
    before
    if tc_ apply --dev v0 --rate 9mbit; then fail "applied over $root"; fi
    unchanged "over $root"
    tc qdisc del dev v0 root
done
passed "an empty clsact is used and left; filters, htb, cake and tbf of others are left alone"

ip link del v0
rmmod sch_confucius
rmmod sch_mencius
echo "analects-tc: $tests passed"
