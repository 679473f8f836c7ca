#!/bin/sh
# The verdicts of `analects probe` on links of `analects link`, with real packets in real time: a
# line for each cell, and the number of each verdict for each discipline. In network namespaces of its own.
#
#   test-probe.sh [ANALECTS [RATES [RTTS [WAYS [DISCIPLINES]]]]], such as:
#   test-probe.sh target/release/analects "10 50" "20 100" "down up" "pfifo cake"
set -eu

missing() {
    echo "test-probe: SKIPPED, nothing was measured: $1" >&2
    exit 0
}

if [ "${1:-}" != --inside ]; then
    cd "$(dirname "$0")/.."
    analects=${1:-$(sh scripts/built.sh analects)}
    [ -w /dev/net/tun ] || missing "/dev/net/tun cannot be used; run it as root, or chmod 666 /dev/net/tun"
    unshare -Urnm true 2>/dev/null || missing "a namespace cannot be made here: unshare -Urnm fails"
    [ $# -eq 0 ] || shift
    exec unshare -Urnm sh "$0" --inside "$(realpath "$analects")" "$@"
fi

analects=$2
rates=${3:-10 50} rtts=${4:-20} ways=${5:-down} disciplines=${6:-pfifo fq fq_codel cake confucius mencius codel pie}
out=${CARGO_TARGET_DIR:-target}/test-probe
work=$(mktemp -d "${TMPDIR:-/tmp}/analects-probe.XXXXXX")
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
PATH=$PATH:/usr/sbin:/sbin
ip link set lo up
rm -rf "$out"
mkdir -p "$out"
: >"$work/served"
"$analects" probe serve --key "$work/key" --bytes 100GB --bytes-in-all 100GB >"$work/served" 2>&1 &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -q '^pin ' "$work/served" && break
    sleep 0.2
done
pin=$(sed -n 's/^pin //p' "$work/served")
[ -n "$pin" ] || { cat "$work/served" >&2; exit 1; }

for rate in $rates; do
    for rtt in $rtts; do
        packets=$((rate * rtt * 1000 / 8 / 1250))
        [ "$packets" -ge 100 ] || packets=100
        for way in $ways; do
            for discipline in $disciplines; do
                name=$rate-$rtt-$way-$discipline
                case $discipline in
                fq) chosen=fq,flow_limit=$packets ;;
                *) chosen=$discipline ;;
                esac
                "$analects" link --host --down "${rate}mbit" --up "${rate}mbit" --rtt "${rtt}ms" --buffer "${packets}p" \
                    --discipline "$chosen" -- "$analects" probe 100.64.0.1 --pin "$pin" --seconds 10 \
                    "--$way" --json >"$out/$name.json" 2>"$out/$name.log" ||
                    echo "probe-matrix: $name failed: $(tail -1 "$out/$name.log")" >&2
            done
        done
    done
done
python3 "$(dirname "$0")/probe-matrix.py" "$out"
