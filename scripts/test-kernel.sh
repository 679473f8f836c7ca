#!/usr/bin/env bash
# The qdiscs in stock kernels: `make test-kernel`. On 6.1, 6.12 and 7.x: builds without a warning,
# loads, carries traffic, decides as in Rust, answers tc as the tdc cases expect, survives hostile
# netlink; and the same seed gives the same bytes twice. Asks for root only to make chroots.
#
# usage: scripts/test-kernel.sh [--short] [6.1|6.12|7.x]...     (all kernels by default)
# --short: builds without a warning, carries packets, decides as in Rust.
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
target=${CARGO_TARGET_DIR:-target}
disciplines=$(sh kernel/copy.sh --list)
machines=$(nproc)
short='' name=test-kernel
if [ "${1:-}" = --short ]; then short=yes name=$name-short && shift; fi
[ $# != 0 ] || set -- 6.1 6.12 7.x
results=target/$name/$(echo "$*" | tr ' ' +)

say() { echo "test-kernel: $*"; }

if [ "$(uname -m)" != x86_64 ]; then
    say "SKIPPED: the kernels are for x86-64, this machine is $(uname -m)"
    exit 0
fi
if ! sh scripts/kernel/packages.sh; then
    [ "${CI:-}" != true ] || exit 1
    say "SKIPPED: QEMU and what else is named above cannot be installed here"
    exit 0
fi
# The program as it is built for this host, with this host's C library, which may be newer than the guests':
# a folder whose files belong into /job.
host_program() {
    say "the program, with the libraries of this host"
    sh scripts/apt.sh patchelf
    built=$(sh scripts/built.sh analects)
    mkdir -p "$results/program/lib"
    # The guest boots with it in memory.
    strip -o "$results/program/analects" "$built"
    ldd "$built" | grep -o '/[^ ]*' | xargs cp -L -t "$results/program/lib"
    loader=$(patchelf --print-interpreter "$built")
    patchelf --set-interpreter "/job/lib/${loader##*/}" --set-rpath /job/lib "$results/program/analects"
}

say "1 of 3: kernels (slow the first time only: some minutes of fetching, unpacking and chroots)"
# shellcheck disable=SC2086 # a word or none
sh scripts/kernel-engine.sh ${short:+--no-guest} "$@"

say "2 of 3: what runs in them"
# Of the whole workspace, here and below: for one package alone, cargo chooses fewer features of what is below
# it, and builds all of that once more.
cargo build --quiet --locked --workspace --exclude rtc --bin vm
rm -rf "$results"
mkdir -p "$results/tc" "$results/traces"
sh scripts/kernel-test-programs.sh "$PWD/$results/programs"
# By bookworm's compiler: the tc in the guests is bookworm's.
tc_plugins "$1" "$PWD/$results/tc"
mkdir "$results/plugins"
cp "$results"/tc/tc/q_*.so "$results/plugins/"
for discipline in $disciplines; do
    # Traces of mencius and floq are longer, and the guest has them in memory.
    if [ "$discipline" = confucius ]; then traces=100; else traces=40; fi
    ANALECTS_TRACES=$traces ANALECTS_TRACE_DIR=$PWD/$results/traces/$discipline \
        cargo test --quiet --locked --workspace --exclude rtc --test it "kernel_c::$discipline::" -- --ignored
    python3 kernel/tc/tests/compile.py "kernel/tc/tests/$discipline.json" >"$results/$discipline.sh"
done
[ -n "$short" ] || host_program

vm() { "$target/debug/vm" --limit 1200 "$@"; }

# failed KERNEL/NAME: reported again at the end, for readers of the end only.
failed() { echo "$1" >>"$results/failed"; }

# bare LOG: whether the kernel failed before any module was loaded. QEMU's emulation of several processors does that
# now and then (decision 0050), and it says nothing of the module.
bare() {
    grep -q '^\[[^]]*\] Oops: ' "$1" && grep -q '\] Modules linked in:$' "$1"
}

# one KERNEL NAME ARGUMENTS...: a machine whose command must succeed; its output is kept.
one() {
    local log=$results/$1-$2.log kernel=$1 name=$2
    shift 2
    if vm --kernel "$kernel" "$@" >"$log" 2>&1 || again "$log" "$kernel" "$name" "$@"; then
        say "$kernel: $name ok: $(tail -n 2 "$log" | head -n 1)"
    else
        say "$kernel: $name FAILED, see $log:"
        tail -n 30 "$log"
        failed "$kernel/$name"
    fi
}

# again LOG KERNEL NAME ARGUMENTS...: the same machine once more, if it failed bare of modules.
again() {
    local log=$1 kernel=$2 name=$3
    shift 3
    bare "$log" || return 1
    say "$kernel: $name: the kernel failed while it booted, without any module; once more"
    vm --kernel "$kernel" "$@" >"$log" 2>&1
}

# check KERNEL NAME ARGUMENTS...: as one, in parallel with others: a machine's time does not depend on
# the host's load.
check() {
    while [ "$(jobs -pr | wc -l)" -ge "$machines" ]; do wait -n || true; done
    one "$@" &
}

# alone KERNEL NAME ARGUMENTS...: as one, when no other runs: a machine of several processors has the host's time.
alone() {
    wait
    one "$@"
}

# unpack KERNEL: the modules that the program needs and the machine has not: nftables' `queue`, and TUN.
unpack() {
    local module
    mkdir -p "$results/$1-modules"
    for module in "$cache/$1"/root/lib/modules/*/kernel/net/netfilter/nf*_queue.ko* \
        "$cache/$1"/root/lib/modules/*/kernel/drivers/net/tun.ko*; do
        case $module in
        *.xz) xz -dc "$module" >"$results/$1-modules/$(basename "${module%.xz}")" ;;
        *) cp "$module" "$results/$1-modules/" ;;
        esac
    done
}

# warns KERNEL: a warning in that kernel must fail its machine, or the checks below mean little.
warns() {
    log=$results/$1-warning.log
    if vm --kernel "$1" --file "$results/$1/test/broken.ko" -- 'insmod broken.ko what=warn' >"$log" 2>&1 ||
        ! grep -q 'Kernel panic.*panic_on_warn' "$log"; then
        say "$1: a warning of the kernel goes unnoticed, see $log"
        failed "$1/warning"
    fi
}

# build KERNEL: here and now, since the cache may be shared with another version of these sources.
build() {
    built=$results/$1
    sh scripts/kernel-module.sh "$1" kernel "$built"
    sh scripts/kernel-module.sh "$1" kernel "$built" test
    warns "$1"
    module=$built/sch_confucius.ko
}

smoke() { # KERNEL NAME
    check "$1" "$2" --file "$module" --file kernel/test/smoke-in-guest.sh \
        --file kernel/test/account.sh --file "$results/programs/send" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh smoke-in-guest.sh sch_confucius.ko ./send
}

replays() { # KERNEL
    for discipline in $disciplines; do
        check "$1" "replay-$discipline" --file kernel/test/in-kernel.sh \
            --file "$results/traces/$discipline:/job" --file "$built/test/${discipline}_replay.ko" -- \
            sh in-kernel.sh /job "$discipline"
    done
}

# Tests of the modules that the short form leaves out, after smoke and replays.
more() { # KERNEL
    smoke "$1" smoke-again
    check "$1" around --file "$module" --file kernel/test/around-in-guest.sh \
        --file kernel/test/account.sh --file "$results/programs/send" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh around-in-guest.sh sch_confucius.ko ./send
    for discipline in $disciplines; do
        check "$1" "tdc-$discipline" --file "$built/sch_$discipline.ko" --file kernel/tc/tests/run.sh \
            --file "$results/$discipline.sh" --file "$results/programs/send" \
            --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
            "insmod sch_$discipline.ko && sh run.sh $discipline.sh"
        check "$1" "traffic-$discipline" --file "$built/sch_$discipline.ko" \
            --file kernel/test/traffic.sh --file "$results/plugins/q_$discipline.so" -- \
            sh traffic.sh "$discipline"
        check "$1" "netlink-$discipline" --file "$built/sch_$discipline.ko" \
            --file kernel/test/fuzz-in-guest.sh --file "$results/programs/netlink_fuzz" -- \
            sh fuzz-in-guest.sh ./netlink_fuzz "sch_$discipline.ko"
    done
    for part in mencius shaper; do
        check "$1" $part --file "$built/sch_mencius.ko" --file kernel/test/$part-in-guest.sh \
            --file kernel/test/account.sh \
            --file "$results/programs/send" --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
            sh $part-in-guest.sh sch_mencius.ko ./send
    done
    check "$1" floq --file "$built/sch_floq.ko" --file kernel/test/floq-in-guest.sh \
        --file kernel/test/account.sh \
        --file "$results/programs/send" --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh floq-in-guest.sh sch_floq.ko ./send
    check "$1" odd --file "$built/sch_mencius.ko" --file kernel/test/odd-in-guest.sh \
        --file kernel/test/account.sh \
        --file "$results/programs/odd" --file "$results/programs/tagged" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh odd-in-guest.sh sch_mencius.ko ./odd ./tagged
    for discipline in $disciplines; do
        alone "$1" "smp-$discipline" --processors 2 --file "$built/sch_$discipline.ko" \
            --file kernel/test/smp-in-guest.sh --file kernel/test/account.sh --file "$results/programs/send" \
            --file "$results/programs/dump" --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
            sh smp-in-guest.sh "sch_$discipline.ko" ./send ./dump
    done
    if ! cmp "$results/$1-smoke.log" "$results/$1-smoke-again.log"; then
        say "$1: the same seed gave different runs"
        failed "$1/determinism"
    fi
}

# The program in that kernel, and the engine.
program() { # KERNEL
    check "$1" analects-tc --file "$module" --file "$built/sch_mencius.ko" \
        --file kernel/test/analects-tc.sh --file scripts/assertions.sh \
        --file "$results/program:/job" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh analects-tc.sh ./analects sch_mencius.ko sch_confucius.ko
    check "$1" two-level --file "$built/sch_mencius.ko" --file kernel/test/two-level-in-guest.sh --file scripts/assertions.sh \
        --file "$results/program:/job" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh two-level-in-guest.sh ./analects sch_mencius.ko
    check "$1" autorate --file kernel/test/autorate-in-guest.sh --file scripts/assertions.sh --file "$results/program:/job" -- \
        sh autorate-in-guest.sh ./analects
    check "$1" circle --file "$built/sch_mencius.ko" --file kernel/test/circle-in-guest.sh --file scripts/assertions.sh \
        --file "$results/program:/job" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh circle-in-guest.sh ./analects sch_mencius.ko
    check "$1" ages --file kernel/test/ages-in-guest.sh --file "$results/programs/flows" -- sh ages-in-guest.sh ./flows
    unpack "$1"
    check "$1" pace --file kernel/test/pace-in-guest.sh --file scripts/assertions.sh --file "$results/program:/job" \
        --file "$results/$1-modules:/job" -- \
        sh pace-in-guest.sh ./analects nfnetlink_queue.ko nft_queue.ko
    check "$1" link --file kernel/test/link-in-guest.sh --file scripts/assertions.sh --file "$results/program:/job" \
        --file "$results/$1-modules:/job" -- \
        sh link-in-guest.sh ./analects tun.ko
    system=$cache/chroot-bookworm/usr
    check "$1" analects-real --file "$module" --file kernel/test/analects-real.sh --file scripts/assertions.sh \
        --file "$results/program:/job" \
        --file "$system/bin/unshare:/job/bin/unshare" --file "$system/bin/setpriv:/job/bin/setpriv" \
        --file "$system/lib/x86_64-linux-gnu/libcap-ng.so.0:/usr/lib/libcap-ng.so.0" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        'PATH=/job/bin:$PATH sh analects-real.sh sch_confucius.ko ./analects'
    wait
    if [ "$1" = 6.1 ]; then
        cargo test --quiet --locked --workspace --exclude rtc --test machine --test tc -- --ignored --test-threads 2 ||
            failed "$1/tests"
    fi
    log=$results/$1-engine.log
    if sh scripts/kernel/test-engine.sh "$1" >"$log" 2>&1; then
        say "$1: engine ok: $(tail -n 1 "$log")"
    else
        say "$1: engine FAILED, see $log:"
        tail -n 30 "$log"
        failed "$1/engine"
    fi
}

say "3 of 3: the tests, $machines machines at once"
for kernel in "$@"; do
    build "$kernel"
    smoke "$kernel" smoke
    replays "$kernel"
    if [ -z "$short" ]; then
        more "$kernel"
        program "$kernel"
    fi
done
wait

if [ -s "$results/failed" ]; then
    while read -r check; do
        log=$results/$(echo "$check" | tr / -).log
        [ -f "$log" ] || continue
        say "of $log, its kernel's trouble and the end:"
        grep -A 12 'the kernel is in trouble' "$log" || true
        tail -n 5 "$log"
    done <"$results/failed"
    say "FAILED: $(tr '\n' ' ' <"$results/failed")"
    exit 1
fi
say "all passed on $*${short:+, in short}"
