#!/bin/sh
# shellcheck disable=SC2154
# Init of the sanitizer kernel, once per build of it: every detector must report
# what broken.ko does wrong, and none must report when it does nothing.
set -u
# shellcheck source=kernel/test/uml-lib.sh
. "${0%/*}/uml-lib.sh"
failed=0

expect() { # WHAT-BROKEN-DOES PATTERN
    before=$(dmesg | grep -cE "$2")
    insmod "$work/broken/broken.ko" what="$1" || { say "FAIL: broken.ko $1 does not load"; failed=1; }
    rmmod broken
    after=$(dmesg | grep -cE "$2")
    if [ "$after" -gt "$before" ]; then
        say "ok: $1 is detected"
    else
        say "FAIL: $1 is not detected"
        failed=1
    fi
}

insmod "$work/broken/broken.ko" what=none && rmmod broken
scan_leaks
if [ -n "$(reports)" ] || leaked; then
    say "FAIL: reports where nothing was broken:"
    reports
    cat "$leaks"
    failed=1
fi

# Lock checking first: it ends for good when anything else has tainted the kernel.
expect order 'possible circular locking'
expect atomic 'sleeping function called from invalid context'
expect shift 'UBSAN: shift-out-of-bounds'
echo clear >"$leaks"
insmod "$work/broken/broken.ko" what=leak
scan_leaks
if leaked; then
    say "ok: leak is detected"
else
    say "FAIL: leak is not detected"
    failed=1
fi
rmmod broken
expect slab 'KASAN: slab-out-of-bounds'
expect freed 'KASAN: slab-use-after-free'
expect vmalloc 'KASAN: vmalloc-out-of-bounds'
expect warn 'WARNING:'

[ $failed = 0 ] && finish ok
finish failed
