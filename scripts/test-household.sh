#!/bin/sh
# `analects pace --household` on hosts of one link: they share a rate by what each wants, and one that is killed
# leaves it to the others. In network namespaces of its own, never in the host's.
#
#   test-household.sh [ANALECTS]
set -eu

case "${1:-}" in
--inside) ;;
*)
    cd "$(dirname "$0")/.."
    for program in ip unshare nsenter curl python3 nft iptables; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null ||
            sh scripts/apt.sh iproute2 util-linux curl python3 nftables iptables
    done
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    unshare -Urnm true 2>/dev/null || {
        echo "test-household: SKIPPED, nothing was tested: a namespace cannot be made here: unshare -Urnm fails" >&2
        exit 0
    }
    work=$(mktemp -d "${TMPDIR:-/tmp}/analects-household.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # What is started ends with the namespace of processes.
    unshare -Urnmp --fork --mount-proc sh "$0" --inside "$analects" "$work"
    exit
    ;;
esac

analects=$2
work=$3
PATH=$PATH:/usr/sbin:/sbin
export XTABLES_LOCKFILE=$work/xtables.lock
. scripts/assertions.sh
fail() {
    echo "test-household: FAILED: $1" >&2
    tail -n 5 "$work"/said-* >&2 2>/dev/null || true
    exit 1
}

# The router, a server in its place, and three hosts.
ip link set lo up
ip link add br0 type bridge
ip address add 10.9.0.254/24 dev br0
ip link set br0 up
for host in 1 2 3; do
    unshare -n sleep 1000 &
    eval "host$host=$!"
    # Until it has left this namespace.
    while [ "$(readlink "/proc/$!/ns/net")" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
    ip link add "port$host" type veth peer name eth0 netns "$!"
    ip link set "port$host" master br0 up
    # An address is used at once, without asking whether another host has it.
    nsenter -t "$!" -n sh -c "sysctl -qw net.ipv6.conf.eth0.accept_dad=0; ip link set lo up
        ip address add 10.9.0.$host/24 dev eth0; ip link set eth0 up"
done
python3 scripts/pace/server.py 2>/dev/null &
for _ in $(seq 100); do
    curl -s -o /dev/null "http://10.9.0.254:443/1" && break
    sleep 0.1
done

# on HOST COMMAND...
on() {
    eval "target=\$host$1"
    shift
    nsenter -t "$target" -n "$@"
}
# rate HOST: Mbit/s of a download for five seconds, with the 52 bytes of headers for each 1448.
rate() {
    on "$1" curl -s -o /dev/null --max-time 5 -w '%{speed_download}' http://10.9.0.254:443/1000000000 >"$work/speed-$1" || true
    awk '{ printf "%.2f", $1 * 8e-6 * 1500 / 1448 }' "$work/speed-$1"
}
# begin HOST ARGUMENTS...
begin() {
    host=$1
    shift
    : >"$work/said-$host"
    eval "target=\$host$host"
    # Not by on(), whose process would be the one to kill.
    nsenter -t "$target" -n "$analects" pace --state "$work/state-$host" --dev eth0 --json "$work/json-$host" "$@" \
        >"$work/out-$host" 2>"$work/said-$host" &
    eval "pacer$host=$!"
    said "$host" 'packets pass through'
}
# said HOST TEXT: within five seconds.
said() {
    for _ in $(seq 50); do
        grep -q "$2" "$work/said-$1" && return
        sleep 0.1
    done
    fail "host $1 does not say: $2"
}

head -c 32 /dev/urandom | base64 >"$work/key"
chmod 600 "$work/key"
head -c 32 /dev/urandom | base64 >"$work/other-key"
chmod 600 "$work/other-key"

# refused WORD ARGUMENTS...
refused() {
    word=$1
    shift
    if on 1 "$analects" pace --state "$work/state-1" "$@" >"$work/out" 2>"$work/said-refused"; then
        fail "$* is not refused"
    fi
    grep -q -- "$word" "$work/said-refused" || fail "$*: no word on it"
}
refused '--dev' --rate 20mbit --household "$work/key"
refused 'none to share' --dev eth0 --household "$work/key"
refused 'no device' --dev eth7 --rate 20mbit --household "$work/key"
refused 'No such file' --dev eth0 --rate 20mbit --household "$work/none"
refused 'is no file' --dev eth0 --rate 20mbit --household "$work"
(umask 022; echo 'a secret of a household' >"$work/open")
refused 'read by others' --dev eth0 --rate 20mbit --household "$work/open"
(umask 077; echo short >"$work/short")
refused '16 to 4096' --dev eth0 --rate 20mbit --household "$work/short"
passed "wrong arguments are refused"

begin 1 --rate 20mbit --household "$work/key"
begin 2 --rate 20mbit --household "$work/key"
begin 3 --rate 20mbit --household "$work/other-key"
said 1 'pacers of the household: 1'
said 2 'pacers of the household: 1'
grep 'of the household' "$work/said-3" && fail "one with another secret counts"
passed "those with the same secret find each other"

between "one that downloads alone" "$(rate 1)" 18.5 20.6
rate 1 >"$work/rate-1" &
one=$!
rate 2 >"$work/rate-2"
wait "$one"
between "the first of two" "$(cat "$work/rate-1")" 9 11
between "the second" "$(cat "$work/rate-2")" 9 11
passed "one has the whole rate while the other wants nothing, and two have half of it each"

# A little: 250 kB a second, 2 Mbit/s. curl takes them in one burst, while which it has half of the rate.
on 2 curl -s -o /dev/null --limit-rate 250k --max-time 6 http://10.9.0.254:443/1000000000 &
sleep 1
between "beside one that takes 2 Mbit/s" "$(rate 1)" 13 18.5
wait $! || true
passed "what one does not want, the other may take"

kill -9 "$pacer2"
said 1 'pacers of the household: 0'
between "after the other was killed" "$(rate 1)" 18.5 20.6
begin 2 --rate 20mbit --household "$work/key"
said 2 'pacers of the household: 1'
passed "one that vanishes leaves its part to the others, and is taken in again"

on 1 "$analects" change pace --state "$work/state-1" rate=adaptive >"$work/out" 2>"$work/said-refused" &&
    fail "a rate that cannot be shared is not refused"
grep -q "household" "$work/said-refused" || fail "rate=adaptive: no word on it"
for host in 1 2; do
    on "$host" "$analects" change pace --state "$work/state-$host" rate=10mbit || fail "rate=10mbit on host $host"
done
between "with another rate for all" "$(rate 1)" 9 10.4
passed "the rate of the household is changed while it runs"

for host in 1 2 3; do
    eval "kill -TERM \$pacer$host; wait \$pacer$host" || fail "host $host does not end as it should"
done
passed "they end"
echo "test-household: $tests passed, 0 failed"
