#!/bin/sh
# In a guest whose user space costs time, an instruction a nanosecond: how much later than the model
# `analects link` forwards packets, at 20 Mbit/s, while a download fills the link. No other program of the host
# can disturb this clock, so that the bound is the program's and not the machine's.
#   sh link-in-guest.sh ANALECTS TUN.ko
set -eu
analects=$1
# The 99th percentile may be so late, in us.
latest=200
work=$(mktemp -d)

# shellcheck source=scripts/assertions.sh
. ./assertions.sh
fail() {
    echo "link: FAIL: $*"
    cat "$work/out" "$work/err" 2>/dev/null || true
    exit 1
}
# number KEY: the first number of this name in the summary.
number() { sed -n 's/.*"'"$1"'": *\([0-9.]*\).*/\1/p' "$work/json" | head -n 1; }
# holds EXPRESSION of awk
holds() { awk "BEGIN { exit !($1) }"; }
link() {
    "$analects" link --host --down 20mbit --up 20mbit --rtt 40ms --json "$work/json" "$@" >"$work/out" 2>"$work/err" ||
        fail "link $*"
}

modprobe ipv6 2>/dev/null || true
insmod "$2"
[ -e /dev/net/tun ] || { mkdir -p /dev/net && mknod /dev/net/tun c 10 200; }

link -- ping -c 20 -i 0.05 100.64.0.1
# "round-trip min/avg/max = 40.1/40.2/40.3 ms"; the first one runs code that was never run before.
trips=$(sed -n 's,^round-trip min/avg/max = [0-9.]*/\([0-9.]*\)/\([0-9.]*\) ms,\1 \2,p' "$work/out")
mean=${trips% *} longest=${trips#* }
holds "${mean:-0} >= 40 && ${mean:-0} < 40.3 && $longest < 41" ||
    fail "20 round trips took ${mean:-no} ms, at most $longest"
passed "round trips take $mean ms, at most $longest"

mkdir "$work/served"
dd if=/dev/zero of="$work/served/file" bs=1M count=6 2>/dev/null
httpd -f -p 8000 -h "$work/served" &
for discipline in pfifo fq_codel mencius; do
    link -d "$discipline" -- sh -c '
        for download in 1 2; do wget -q -O /dev/null http://100.64.0.1:8000/file & done
        wait'
    rate=$(number mbit_per_s)
    late=$(number p99)
    holds "$rate > 17" || fail "$discipline: $rate Mbit/s"
    holds "$late > 0 && $late < $latest" || fail "$discipline: one packet in a hundred is $late us late"
    passed "$discipline: $rate Mbit/s; of a hundred packets one is $late us late or more, at most $(number max) us"
done
