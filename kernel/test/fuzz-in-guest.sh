#!/bin/sh
# Hostile netlink on any test machine or guest, a busybox one too: no sanitizers,
# but 10,000 messages whose answers are checked, and a kernel log without complaint.
# usage: fuzz-in-guest.sh NETLINK_FUZZ [SCH_DISCIPLINE.ko] [MESSAGES]
# NETLINK_FUZZ is the static program that scripts/kernel-test-programs.sh builds.
# Needs root, no devices: it works in a network name space of its own.
set -u
fuzz=$1 module=${2:-} messages=${3:-10000}

kind=$(basename "${module:-sch_confucius.ko}" .ko)
complaints() { dmesg | grep -cE 'BUG:|WARNING:|Oops|general protection|refcount_t|stall'; }

before=$(complaints)
"$fuzz" -k "${kind#sch_}" ${module:+-m "$module"} -n "$messages" || exit 1
after=$(complaints)
if [ "$after" != "$before" ]; then
    echo "fuzz-in-guest: FAIL: the kernel complained:"
    dmesg | grep -E -A 20 'BUG:|WARNING:|Oops|general protection|refcount_t|stall'
    exit 1
fi
echo "fuzz-in-guest: ok"
