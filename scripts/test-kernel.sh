#!/bin/sh
# The qdisc in stock kernels: `make test-kernel`. On 6.1, 6.12 and 7.x: builds without a warning,
# loads, carries traffic, decides as in Rust, answers tc as the tdc cases say, survives hostile
# netlink; and the same seed gives the same bytes twice. Root is asked for only to make chroots.
#
# usage: scripts/test-kernel.sh [6.1|6.12|7.x]...     (all where none is named)
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
target=${CARGO_TARGET_DIR:-target}
results=target/test-kernel
failed=

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
[ $# != 0 ] || set -- 6.1 6.12 7.x
say "1 of 3: kernels (slow the first time only: 5 to 10 minutes of fetching, unpacking and chroots)"
sh scripts/kernel-engine.sh "$@"

say "2 of 3: what runs in them"
cargo build --quiet --locked -p linux
rm -rf "$results"
mkdir -p "$results/tc" "$results/traces"
sh scripts/kernel-test-programs.sh "$PWD/$results/programs"
cp kernel/tc/*.[ch] kernel/tc/Makefile kernel/pkt_sched_*.h "$results/tc/"
sed -i 's,\.\./pkt_sched,pkt_sched,' "$results/tc/Makefile"
# The plugins by bookworm's compiler: the tc in the guests is bookworm's.
in_chroot bookworm "$PWD/$results/tc" "$1" make -s -C /build CC=gcc CPPFLAGS=-I/build
mkdir "$results/plugins"
cp "$results"/tc/q_*.so "$results/plugins/"
for discipline in confucius mencius floq; do
    python3 kernel/tc/tests/compile.py "kernel/tc/tests/$discipline.json" >"$results/$discipline.sh"
done
# The program for a guest: without libraries, and stripped, since the guest boots with it in memory.
CARGO_TARGET_DIR=$target/guest RUSTFLAGS="-C target-feature=+crt-static" cargo build --quiet --locked \
    --config 'profile.dev.strip=true' --config 'profile.dev.debug=false' \
    --target x86_64-unknown-linux-gnu -p analects
ANALECTS_TRACE_DIR=$PWD/$results/traces/confucius \
    cargo test --quiet --locked -p qdisc --test kernel_c -- --ignored
# These are longer, and the guest has them in memory.
ANALECTS_TRACES=40 ANALECTS_TRACE_DIR=$PWD/$results/traces/mencius \
    cargo test --quiet --locked -p qdisc --test kernel_c_mencius -- --ignored
ANALECTS_TRACES=40 ANALECTS_TRACE_DIR=$PWD/$results/traces/floq \
    cargo test --quiet --locked -p qdisc --test kernel_c_floq -- --ignored

vm() { "$target/debug/vm" --limit 1200 "$@"; }

# check KERNEL NAME ARGUMENTS...: a machine whose command must succeed; what it says is kept.
check() {
    log=$results/$1-$2.log kernel=$1 name=$2
    shift 2
    if vm --kernel "$kernel" "$@" >"$log" 2>&1; then
        say "$kernel: $name ok: $(tail -n 2 "$log" | head -n 1)"
    else
        say "$kernel: $name FAILED, see $log:"
        tail -n 30 "$log"
        failed="$failed $kernel/$name"
    fi
}

# warns KERNEL: a warning in that kernel must fail its machine, or none of the checks below means much.
warns() {
    log=$results/$1-warning.log
    if vm --kernel "$1" --file "$results/$1/test/broken.ko" -- 'insmod broken.ko what=warn' >"$log" 2>&1 ||
        ! grep -q 'Kernel panic.*panic_on_warn' "$log"; then
        say "$1: a warning of the kernel goes unnoticed, see $log"
        failed="$failed $1/warning"
    fi
}

case " $* " in *" 6.1 "*)
    cargo test --quiet --locked -p linux --test machine --test tc -- --ignored --test-threads 2
    ;;
esac

say "3 of 3: the tests, a few minutes for each kernel"
for kernel in "$@"; do
    # Built here and now: the cache may be shared with another version of these sources.
    built=$results/$kernel
    sh scripts/kernel-module.sh "$kernel" kernel "$built"
    sh scripts/kernel-module.sh "$kernel" kernel "$built" test
    warns "$kernel"
    module=$built/sch_confucius.ko
    for run in smoke smoke-again; do
        check "$kernel" $run --file "$module" --file kernel/test/smoke-in-guest.sh \
            --file kernel/test/account.sh --file "$results/programs/send" \
            --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
            sh smoke-in-guest.sh sch_confucius.ko ./send
    done
    if ! cmp "$results/$kernel-smoke.log" "$results/$kernel-smoke-again.log"; then
        say "$kernel: the same seed gave different runs"
        failed="$failed $kernel/determinism"
    fi
    check "$kernel" around --file "$module" --file kernel/test/around-in-guest.sh --file "$results/programs/send" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh around-in-guest.sh sch_confucius.ko ./send
    for discipline in confucius mencius floq; do
        check "$kernel" "tdc-$discipline" --file "$built/sch_$discipline.ko" --file kernel/tc/tests/run.sh \
            --file "$results/$discipline.sh" --file "$results/programs/send" \
            --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
            "insmod sch_$discipline.ko && sh run.sh $discipline.sh"
        check "$kernel" "traffic-$discipline" --file "$built/sch_$discipline.ko" \
            --file kernel/test/traffic.sh --file "$results/plugins/q_$discipline.so" -- \
            sh traffic.sh "$discipline"
        check "$kernel" "smp-$discipline" --processors 2 --file "$built/sch_$discipline.ko" \
            --file kernel/test/smp-in-guest.sh --file "$results/programs/send" \
            --file "$results/programs/dump" --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
            sh smp-in-guest.sh "sch_$discipline.ko" ./send ./dump
        check "$kernel" "netlink-$discipline" --file "$built/sch_$discipline.ko" \
            --file kernel/test/fuzz-in-guest.sh --file "$results/programs/netlink_fuzz" -- \
            sh fuzz-in-guest.sh ./netlink_fuzz "sch_$discipline.ko"
        check "$kernel" "replay-$discipline" --file kernel/test/in-kernel.sh \
            --file "$results/traces/$discipline:/job" --file "$built/test/${discipline}_replay.ko" -- \
            sh in-kernel.sh /job "$discipline"
    done
    check "$kernel" analects-tc --file "$module" --file "$built/sch_mencius.ko" \
        --file kernel/test/analects-tc.sh \
        --file "$target/guest/x86_64-unknown-linux-gnu/debug/analects" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh analects-tc.sh ./analects sch_mencius.ko sch_confucius.ko
    check "$kernel" two-level --file "$built/sch_mencius.ko" --file kernel/test/two-level-in-guest.sh \
        --file "$target/guest/x86_64-unknown-linux-gnu/debug/analects" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh two-level-in-guest.sh ./analects sch_mencius.ko
    system=$cache/chroot-bookworm/usr
    check "$kernel" analects-real --file "$module" --file kernel/test/analects-real.sh \
        --file "$target/guest/x86_64-unknown-linux-gnu/debug/analects" \
        --file "$system/bin/unshare:/job/bin/unshare" --file "$system/bin/setpriv:/job/bin/setpriv" \
        --file "$system/lib/x86_64-linux-gnu/libcap-ng.so.0:/usr/lib/libcap-ng.so.0" \
        --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        'PATH=/job/bin:$PATH sh analects-real.sh sch_confucius.ko ./analects'
    for part in mencius shaper; do
        check "$kernel" $part --file "$built/sch_mencius.ko" --file kernel/test/$part-in-guest.sh \
            --file kernel/test/account.sh \
            --file "$results/programs/send" --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
            sh $part-in-guest.sh sch_mencius.ko ./send
    done
    check "$kernel" floq --file "$built/sch_floq.ko" --file kernel/test/floq-in-guest.sh \
        --file kernel/test/account.sh \
        --file "$results/programs/send" --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh floq-in-guest.sh sch_floq.ko ./send
    check "$kernel" odd --file "$built/sch_mencius.ko" --file kernel/test/odd-in-guest.sh \
        --file kernel/test/account.sh \
        --file "$results/programs/odd" --file "$results/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        sh odd-in-guest.sh sch_mencius.ko ./odd
    log=$results/$kernel-engine.log
    if sh scripts/kernel/test-engine.sh "$kernel" >"$log" 2>&1; then
        say "$kernel: engine ok: $(tail -n 1 "$log")"
    else
        say "$kernel: engine FAILED, see $log:"
        tail -n 30 "$log"
        failed="$failed $kernel/engine"
    fi
done

if [ -n "$failed" ]; then
    # Again, where whoever reads only the end of this sees it.
    for check in $failed; do
        log=$results/$(echo "$check" | tr / -).log
        [ -f "$log" ] || continue
        say "of $log, its kernel's trouble and the end:"
        grep -A 12 'the kernel is in trouble' "$log" || true
        tail -n 5 "$log"
    done
    say "FAILED:$failed"
    exit 1
fi
say "all passed on $*"
