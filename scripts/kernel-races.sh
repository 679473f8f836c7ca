#!/bin/sh
# The qdisc on two processors under KCSAN, which looks for data races, and lockdep: `make
# sanitizers OF=races` (kernel/test/README.md). Fails for a race with our module on a stack, and for
# any other report of the kernel.
# usage: scripts/kernel-races.sh [SECONDS]     for each of four kinds of load, 20 by default
# Builds the kernel once, in about 7 minutes on two cores, and keeps it. Needs root only to install
# missing packages and to make a chroot.
set -eu
cd "$(dirname "$0")/.."
. scripts/kernel/common.sh
logs=$PWD/target/kernel-races
target=${CARGO_TARGET_DIR:-target}
seconds=${1:-20}
mkdir -p "$cache/races" "$logs"
races=$(cd "$cache/races" && pwd)

say() { echo "kernel-races: $*"; }
fail() {
    echo "kernel-races: error: $*" >&2
    exit 1
}

[ "$(uname -m)" = x86_64 ] || fail "the kernel is for x86-64, this machine is $(uname -m)"
own=$races arch=x86_64 config=kernel/test/races.config
# Only the kernel's network and our modules are watched: the rest would only make it slow.
# shellcheck disable=SC2016 # make's words
flags='KCSAN_SANITIZE=$(if $(filter net/% drivers/net/%,$(obj)/),,n)'
. scripts/kernel/own.sh
. kernel/test/reports.sh

# The files that `vm` boots: the kernel and its modules, stored like the stock ones.
install_kernel() {
    if [ "$races/release" -nt "$races/built" ]; then return; fi
    rm -rf "$races/root" "$races/base.stamp"
    mkdir -p "$races/root" "$races/headers"
    kernel_make -s "INSTALL_MOD_PATH=$races/root" modules_install >"$logs/install.log" 2>&1 ||
        fail "its modules cannot be installed: $logs/install.log"
    ln -sfn build/vmlinux "$races/vmlinux"
    cat "$races/build/include/config/kernel.release" >"$races/release"
}

# machine NAME ARGUMENTS...: a machine with two processors, watched; its output is in NAME.log, its
# kernel's log in NAME/log.
machine() {
    name=$1
    shift
    rm -rf "${logs:?}/$name"
    "$target/debug/vm" --kernel "$races" --processors 2 --limit 1200 --out "$logs/$name" \
        --file kernel/test/races-in-guest.sh "$@" >"$logs/$name.log" 2>&1
}

# under_load NAME MODULE.KO: smp-in-guest.sh with that module.
under_load() {
    machine "$1" --file "$2" --file kernel/test/smp-in-guest.sh --file kernel/test/account.sh \
        --file "$races/send" --file "$races/dump" \
        --file "$races/plugins:/usr/lib/x86_64-linux-gnu/tc" -- \
        "sh races-in-guest.sh sh smp-in-guest.sh $(basename "$2") ./send ./dump $seconds"
}

# races_of NAME MODULE: KCSAN's reports in that machine, "ours" and the title if a function of the
# module is on a stack of it, "stack" and the title if none is.
races_of() {
    head -n 1 "$logs/$1/log" | grep -q 'Linux version' || fail "the beginning is lost: $logs/$1/log"
    awk -v "module=[$2]" '
        function done() { if (title) print (ours ? "ours" : "stack") "\t" title; title = "" }
        /BUG: KCSAN: / { title = $0; sub(/.*BUG: KCSAN: /, "", title); ours = 0 }
        index($0, module) { ours = 1 }
        /==========$/ { done() }
        END { done() }' "$logs/$1/log"
}

# The reports of other kinds in that machine.
others_of() { kernel_reports <"$logs/$1/log" | grep -v 'BUG: KCSAN' || true; }

prove_detectors() {
    say "proving that KCSAN and lockdep report what kernel/test/broken.c does"
    build_module broken kernel/test/broken.c
    machine broken --file "$races/broken/broken.ko" -- "sh races-in-guest.sh sh -ec '
        for what in none race atomic; do insmod broken.ko what=\$what; rmmod broken; done'" ||
        fail "broken.ko does not load: $logs/broken.log"
    races_of broken broken | grep -q '^ours.*data-race in count ' || fail "a race is not reported: $logs/broken/log"
    others_of broken | grep -q 'sleeping function' || fail "sleeping in atomic context is not reported: $logs/broken/log"
    # A report of lockdep is printed at any level of the console, and ends the run.
    if machine order --file "$races/broken/broken.ko" -- 'insmod broken.ko what=order' ||
        ! grep -q 'possible circular' "$logs/order.log"; then
        fail "locks in the wrong order are not reported: $logs/order.log"
    fi

    say "proving that a lock which the module forgets is missed"
    rm -rf "$races/forgetful"
    sh kernel/copy.sh "$races/forgetful" confucius
    file=confucius/sch_confucius.c
    sed -i '/^static int confucius_dump_stats/,/^}/ { /sch_tree_.*lock/d; }' "$races/forgetful/$file"
    ! cmp -s "kernel/$file" "$races/forgetful/$file" || fail "there is no lock to forget"
    build_module careless "$races"/forgetful/*
    under_load careless "$races/careless/sch_confucius.ko" || say "  which breaks more: $logs/careless.log"
    races_of careless sch_confucius | grep -q '^ours.*confucius' || fail "no race is seen: $logs/careless/log"
}

sh scripts/kernel/packages.sh
sh scripts/apt.sh gcc libc6-dev make flex bison bc xz-utils libelf-dev kmod patch debian-archive-keyring
exec 9>"$races/lock"
flock -n 9 || { say "waiting for another run to finish"; flock 9; }
mkdir -p "$cache/uml"
flock "$cache/uml/lock" sh scripts/kernel/linux-source.sh
flock "$cache/.lock" sh scripts/kernel/chroot.sh bookworm
source=$(cd "$cache/uml/src" && pwd)
build_kernel "a kernel with KCSAN and lockdep" 7 allnoconfig vmlinux
install_kernel
sh scripts/kernel/initramfs.sh races
cargo build --quiet --locked -p machine
sh scripts/kernel-test-programs.sh "$races"
tc_plugins races "$races/plugin" || fail "the tc plugins do not build"
mkdir -p "$races/plugins"
cp "$races"/plugin/tc/q_*.so "$races/plugins/"
prove_detectors

say "building the module"
rm -rf "$races/sources"
sh kernel/copy.sh "$races/sources"
build_module module "$races"/sources/*
say "load, changes, dumps, filters and deletion on two processors"
passed=yes
for discipline in $(sh kernel/copy.sh --list); do
    smp=smp-$discipline found=$logs/races-$discipline
    under_load $smp "$races/module/sch_$discipline.ko" || { tail -n 20 "$logs/$smp.log"; passed=; }
    [ -f "$logs/$smp/log" ] || fail "the machine did not end: $logs/$smp.log"
    grep "^smp: $discipline ok" "$logs/$smp.log" || passed=
    races_of $smp "sch_$discipline" | sort | uniq -c | sort -rn >"$found"
    others_of $smp >"$logs/others"
    grep -q 'debug_locks: *1$' "$logs/$smp/lockdep" || fail "lockdep had stopped: $logs/$smp/lockdep"
    say "$discipline: races of the stack itself: $(grep -c 'stack' "$found" || true) pairs of functions, in $found"
    if grep 'ours' "$found"; then passed= && say "these are the module's, see $logs/$smp/log"; fi
    if [ -s "$logs/others" ]; then cat "$logs/others" && passed= && say "see $logs/$smp/log"; fi
done
[ -n "$passed" ] || fail "FAILED"
say "ok"
