#!/bin/sh
# shellcheck disable=SC2154
# Init of the sanitizer kernel: the hostile tests of a queue discipline. From the
# kernel's command line: work (the build directory), kind (the discipline), part
# (exact: in a time that only sleeping spends; races: in one that computing spends
# too, so that timers interrupt), length (short or long), seed.
set -u
# shellcheck source=kernel/test/uml-lib.sh
. "${0%/*}/uml-lib.sh"
failed=0
module=$work/module/sch_$kind.ko

run() { # PROGRAM ARGUMENTS...
    program=$1
    shift
    say "$program $*"
    "$work/$program" "$@" || { say "FAIL: $program $* returned $?"; failed=1; }
}

churn() { run churn -k "$kind" -s "$seed" "$@"; }

# A pair of devices, and an IFB behind the far end of it.
ip link add a0 type veth peer name b0
ip link add i0 type ifb
for dev in a0 b0 i0; do
    echo 1 >/proc/sys/net/ipv6/conf/$dev/disable_ipv6
    ip link set $dev up
done
redirect() {
    tc qdisc add dev b0 ingress
    tc filter add dev b0 ingress matchall action mirred egress redirect dev i0
}

if [ -f "$module" ]; then
    insmod "$module" || { say "FAIL: $module does not load"; failed=1; }
fi

exact() {
    if [ "$length" = long ]; then mix=2400 ifb=1200 faults=40 unload=200
    else mix=60 ifb=20 faults=8 unload=40; fi
    run netlink_fuzz -k "$kind" -s "$seed" -n 10000
    churn -x mix $mix
    redirect
    churn -x -d i0 mix $ifb
    tc qdisc del dev b0 ingress
    churn -x faults $faults
    # An IFB: a veth's default is none.
    churn -x -d i0 defaults 4
    if [ -f "$module" ]; then churn -x unload $unload "$module"; fi
    churn -x scan 1000000 b0
}

races() {
    if [ "$length" = long ]; then mix=300 unload=200; else mix=20 unload=20; fi
    churn mix $mix
    redirect
    churn -d i0 mix $mix
    if [ -f "$module" ]; then churn unload $unload "$module"; fi
}

$part

# Leaks with the module, whose functions then have names, and without it.
tc qdisc del dev b0 ingress 2>/dev/null
for left in with without; do
    if [ $left = without ] && [ -f "$module" ]; then
        rmmod "sch_$kind" || { say "FAIL: the module cannot be unloaded"; failed=1; }
    fi
    scan_leaks
    if leaked; then
        say "FAIL: leaks, $left the module:"
        head -n 60 "$leaks"
        failed=1
    fi
done
if [ -n "$(reports)" ]; then
    say "FAIL: the kernel has reports:"
    reports
    failed=1
fi

[ $failed = 0 ] && finish ok
finish failed
