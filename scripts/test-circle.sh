#!/bin/sh
# A newcomer's circle in a home of namespaces: a computer behind a router behind a provider's line (`analects link`)
# measures, compares, has `analects gateway` apply it on the router, and measures again. Prints all of it as it would be
# typed, and fails if packets of others do not wait less than half as long on the full line, if the rates suffer, or if it
# takes three minutes. Never in the host's own network.
#
#   test-circle.sh [ANALECTS]
set -eu

missing() {
    echo "test-circle: SKIPPED, nothing was tested: $1" >&2
    exit 0
}

case "${1:-}" in
--router) ;;
*)
    cd "$(dirname "$0")/.."
    for program in ip unshare nsenter nft python3; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || sh scripts/apt.sh iproute2 util-linux nftables python3
    done
    analects=${1:-}
    [ -n "$analects" ] || analects=$(sh scripts/built.sh analects)
    analects=$(realpath "$analects")
    [ -x "$analects" ] || { echo "test-circle: $analects cannot be run" >&2; exit 1; }
    [ "$(id -u)" = 0 ] || missing "the line and the router need root"
    [ -w /dev/net/tun ] || missing "/dev/net/tun cannot be used"
    unshare -nm true 2>/dev/null || missing "a namespace cannot be made here: unshare -nm fails"
    work=$(mktemp -d "${TMPDIR:-/tmp}/analects-circle.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # The provider's line: a FIFO before each end, as in most modems.
    cat >"$work/line.toml" <<'S'
name = "line"

[link]
rate = "20mbit"
rtt = "30ms"
buffer = "500kB"
discipline = "pfifo"

[link.up]
rate = "4mbit"
buffer = "150kB"
discipline = "pfifo"
S
    # As on a wire: a packet that is still to be cut into segments waits as one, and is counted as one.
    serve="ip link set dev analects0 gso_max_segs 1 && exec '$analects' probe serve --listen 0.0.0.0:7411 --key '$work/key'"
    unshare -nm "$analects" link "$work/line.toml" --far "$serve" --far-ready 7411 -- sh "$0" --router "$analects" "$work" \
        2>"$work/link" || { tail -n 20 "$work/link" >&2; exit 1; }
    exit
    ;;
esac

# On the router.
analects=$2
work=$3
PATH=$PATH:/usr/sbin:/sbin
. scripts/assertions.sh
cd "$work"
home=
gateway=
trap 'kill -9 $gateway $home 2>/dev/null || true' EXIT
fail() {
    echo "test-circle: FAILED: $1"
    for file in err gateway; do sed "s/^/    $file: /" "$work/$file" 2>/dev/null || true; done
    exit 1
}

# The home's computer, and the router's addresses for it.
unshare -n sleep 600 &
home=$!
until [ "$(readlink /proc/$home/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
at_home() { nsenter -t $home -n "$@"; }
ip link add lan type veth peer name eth0 netns $home
ip address add 10.1.0.1/24 dev lan
ip link set lan gso_max_segs 1 up
ip link set analects0 gso_max_segs 1
at_home ip address add 10.1.0.2/24 dev eth0
at_home ip link set eth0 gso_max_segs 1 up
at_home ip link set lo up
at_home ip route add default via 10.1.0.1
echo 1 >/proc/sys/net/ipv4/ip_forward
nft -f - <<'R'
table ip home {
    chain postrouting {
        type nat hook postrouting priority srcnat; policy accept;
        oifname "analects0" masquerade
    }
}
R

# typed WHERE ARGUMENTS...: a command and what it prints.
typed() {
    where=$1
    shift
    echo "$where\$ analects $*"
    case $where in
        home) at_home "$analects" "$@" 2>"$work/err" ;;
        router) "$analects" "$@" 2>"$work/err" ;;
    esac || fail "$*"
    echo
}
began=$(date +%s)
server="$ANALECTS_FAR:7411"
typed home measure "$server" --trust-anyone --compare -o my-line.toml
echo "router\$ analects gateway --in lan --out analects0 --from my-line.toml"
"$analects" gateway --in lan --out analects0 --from my-line.toml --state "$work/state" >"$work/gateway" 2>&1 &
gateway=$!
for _ in $(seq 100); do
    grep -q 'packets pass through' "$work/gateway" && break
    kill -0 "$gateway" 2>/dev/null || fail "the gateway ended at once"
    sleep 0.1
done
cat "$work/gateway"
echo
typed home measure "$server" --trust-anyone --queue mencius --before my-line.toml -o after.toml
took=$(($(date +%s) - began))
kill "$gateway"
wait "$gateway" || fail "the gateway failed"
gateway=
tail -n 2 "$work/gateway"

python3 - my-line.toml after.toml >"$work/figures" 2>"$work/err" <<'P' || fail "the files"
import sys, tomllib
before, after = (tomllib.load(open(name, "rb"))["measured"] for name in sys.argv[1:])
for way in "down", "up":
    one, other = before[way], after[way]
    print(way, "rate", other["rate_mbit"] / one["rate_mbit"])
    print(way, "others", other["others_ms"][1] / one["others_ms"][1])
P
figure() { sed -n "s/^$1 $2 //p" "$work/figures"; }
for way in down up; do
    between "$way: the rate after, as a part of that before" "$(figure $way rate)" 0.8 1.02
    between "$way: the full line's round trip, as a part of that before" "$(figure $way others)" 0 0.5
done
[ "$took" -lt 180 ] || fail "it took $took s"
passed "measure, compare, apply, measure in $took s: the full line's round trip is less than half"
