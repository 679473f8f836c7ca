#!/bin/sh
# In a guest: `analects pace` with the rules of a kernel that has nftables' own `queue`. Downloads over IPv4
# and IPv6 have the rate, other ports do not; all rules go with it, or with the next start after kill -9, and
# those of others stay as they were.
#   sh pace-in-guest.sh ANALECTS MODULE.ko...
# The modules are what `queue` needs beside nf_tables. ANALECTS is static.
set -eu
analects=$1
shift
work=$(mktemp -d)

# shellcheck source=scripts/assertions.sh
. ./assertions.sh
fail() {
    echo "pace: FAIL: $*"
    cat "$work/out" "$work/err" 2>/dev/null || true
    nft list ruleset
    exit 1
}
rules() { nft -s list ruleset; }
# begin ARGUMENTS...: the pacer, once its rules are there.
begin() {
    : >"$work/err"
    "$analects" pace --state "$work/state" "$@" >"$work/out" 2>"$work/err" &
    pacer=$!
    tries=0
    until grep -q 'packets pass through' "$work/err"; do
        tries=$((tries + 1))
        if [ $tries -gt 100 ] || ! kill -0 $pacer; then fail "it serves no packets"; fi
        sleep 0.1
    done
}
# milliseconds URL: how long a download takes.
milliseconds() {
    read -r before _ </proc/uptime
    wget -q -O /dev/null "$1" || fail "$1"
    read -r after _ </proc/uptime
    echo $(((${after%.*}${after#*.} - ${before%.*}${before#*.}) * 10))
}

modprobe nf_tables
for module in "$@"; do insmod "$module"; done
ip netns add server
ip link add v0 type veth peer name v1 netns server
ip addr add 192.0.2.1/24 dev v0
ip -6 addr add 2001:db8::1/64 dev v0 nodad
ip link set v0 up
ip -n server addr add 192.0.2.2/24 dev v1
ip -n server -6 addr add 2001:db8::2/64 dev v1 nodad
ip -n server link set v1 up
mkdir "$work/served"
# With the 52 bytes of headers for each 1448: 1.24 s at 20 Mbit/s.
dd if=/dev/zero of="$work/served/file" bs=1000 count=3000 2>/dev/null
for port in 80 443 8080; do
    ip netns exec server httpd -p "[::]:$port" -h "$work/served"
done
nft -f - <<'R'
table inet firewall {
    chain input {
        type filter hook input priority filter; policy accept;
        tcp sport 8081 drop
        counter comment "theirs"
    }
}
R
rules >"$work/before"

"$analects" pace --state "$work/state" --dry-run --rate 20mbit >"$work/out" 2>"$work/err" || fail "--dry-run"
grep -q 'queue num 4430 bypass' "$work/out" || fail "--dry-run does not take nftables' queue"
rules | cmp -s - "$work/before" || fail "--dry-run changed rules"
begin --rate 20mbit --json "$work/json"
rules | grep -q 'queue flags bypass to 4430' || fail "there is no rule of nftables"
between "IPv4 from port 443, ms" "$(milliseconds http://192.0.2.2:443/file)" 1150 1350
between "IPv4 from port 80, ms" "$(milliseconds http://192.0.2.2/file)" 1150 1350
between "IPv6 from port 443, ms" "$(milliseconds 'http://[2001:db8::2]:443/file')" 1150 1350
between "another port, ms" "$(milliseconds http://192.0.2.2:8080/file)" 0 900
kill -TERM $pacer
wait $pacer || fail "SIGTERM: it failed"
rules | cmp -s - "$work/before" || fail "its rules stay"
grep -q '"unread": 0' "$work/json" || fail "packets were not read"
passed "downloads have the rate over both, other ports do not, and the firewall is as it was"

begin --rate 20mbit
if "$analects" pace --state "$work/other" >"$work/out2" 2>"$work/err2"; then fail "two at one queue"; fi
grep -q 'no other program listens' "$work/err2" || fail "no word on the queue"
rules | grep -q 'queue flags bypass to 4430' || fail "a refused one took the rules away"
kill -KILL $pacer
! wait $pacer 2>/dev/null || fail "SIGKILL: success"
between "after kill -9, ms" "$(milliseconds http://192.0.2.2:443/file)" 0 900
rules | cmp -s - "$work/before" && fail "nothing was left: the test shows nothing"
begin --rate 10mbit
between "the next one, ms" "$(milliseconds http://192.0.2.2:443/file)" 2350 2650
kill -TERM $pacer
wait $pacer || fail "the next one failed"
rules | cmp -s - "$work/before" || fail "rules outlive the next start"
passed "killed, connections pass at once, and the next start takes the rules away"
echo "pace: $tests passed"
