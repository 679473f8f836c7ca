#!/bin/sh
# Our qdiscs under KASAN, UBSAN, lockdep, kmemleak and failing allocations, in a user-mode
# Linux in virtual time: churn, hostile netlink, a scanner (kernel/test/README.md).
# usage: scripts/kernel-sanitizers.sh [--long] [--seed N] [--kind QDISC]
# Builds the kernel once, in about 6 minutes on two cores, and keeps it.
# Needs root only to install missing packages.
set -eu
cd "$(dirname "$0")/.."
project=$PWD
uml=${ANALECTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/analects}/kernel/uml
logs=$project/target/kernel-sanitizers
length=short
seed=1
kinds=$(sh kernel/copy.sh --list)

say() { echo "kernel-sanitizers: $*"; }
fail() {
    echo "kernel-sanitizers: error: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --long) length=long ;;
    --seed) seed=${2:?--seed wants a number} && shift ;;
    --kind) kinds=${2:?--kind wants a qdisc} && shift ;;
    *) fail "unknown argument $1: expected --long, --seed N or --kind QDISC" ;;
    esac
    shift
done
[ "$(uname -m)" = x86_64 ] || fail "KASAN in user-mode Linux is for x86-64, this machine is $(uname -m)"

arch=um config=kernel/test/uml.config
. scripts/kernel/own.sh

# boot NAME SECONDS TIME SCRIPT ARGUMENTS...: runs the script as init of the kernel and shows what
# its output; all of the console goes to a log. Fails without the verdict "ok".
boot() {
    log=$logs/$1.log limit=$2 time=$3 script=$4
    shift 4
    mkdir -p "$uml/tmp"
    TMPDIR=$uml/tmp timeout -k 10 "$limit" "$uml/build/linux" mem=1G rootfstype=hostfs rootflags=/ ro \
        "init=$project/kernel/test/$script" "work=$uml" con=null con0=null,fd:1 "$time" \
        kasan_multi_shot log_buf_len=8M "uml_dir=$uml/tmp" "$@" </dev/null 2>&1 | tr -d '\r' |
        tee "$log" | grep --line-buffered -aE '^(\[[0-9.]+\] |  +[a-z0-9]+.*(frames|flows|fail|SKIP|memory|rounds)|FAIL|netlink_fuzz|verdict|BUG:|WARNING:|UBSAN:)' ||
        true
    grep -aqx 'verdict: ok' "$log"
}

prove_detectors() {
    want=$(stamp "$uml/built" kernel/test/broken.c kernel/test/uml-detectors.sh kernel/test/uml-lib.sh \
        kernel/test/reports.sh)
    if stamped "$uml/proven" "$want"; then return; fi
    say "proving that every detector fires on kernel/test/broken.c (these reports are wanted)"
    build_module broken kernel/test/broken.c
    boot detectors 300 time-travel=inf-cpu uml-detectors.sh || fail "a detector is dead: $logs/detectors.log"
    echo "$want" >"$uml/proven"
}

sh scripts/apt.sh gcc libc6-dev make flex bison bc xz-utils iproute2 kmod patch debian-archive-keyring
mkdir -p "$uml" "$logs"
uml=$(cd "$uml" && pwd)
source=$uml/src own=$uml
exec 9>"$uml/lock"
flock -n 9 || { say "waiting for another run to finish"; flock 9; }
sh scripts/kernel/linux-source.sh
build_kernel "user-mode Linux with the sanitizers" 6 alldefconfig linux
sh scripts/kernel-test-programs.sh "$uml"
prove_detectors
ours=
for kind in $kinds; do
    if [ -d "kernel/$kind" ]; then ours="$ours $kind"; fi
done
if [ -n "$ours" ]; then
    say "building$ours"
    rm -rf "$uml/sources"
    # shellcheck disable=SC2086 # words
    sh kernel/copy.sh "$uml/sources" $ours
    build_module module "$uml"/sources/*
fi
[ $length = long ] && limit=10800 || limit=1800

# test_part KIND PART: one machine, of one processor; each line of its output begins with the part.
test_part() {
    [ "$2" = exact ] && time="time-travel=inf-cpu" || time="time-travel"
    boot "$1-$2" "$limit" "$time" uml-churn.sh "kind=$1" "part=$2" "length=$length" "seed=$seed" |
        sed -u "s/^/$2: /"
    grep -aqx 'verdict: ok' "$logs/$1-$2.log"
}
for kind in $kinds; do
    say "the tests of $kind, both parts at once ($length form)"
    test_part "$kind" exact &
    exact=$!
    # The other machine is waited for in any case: it holds the lock.
    failed=
    test_part "$kind" races || failed=races
    wait $exact || failed=${failed:+$failed and }exact
    [ -z "$failed" ] || fail "$kind, part $failed: see $logs/$kind-*.log"
done
say "ok"
