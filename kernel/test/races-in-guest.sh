#!/bin/sh
# In a guest of scripts/kernel-races.sh: a command, watched by KCSAN; /out gets what the kernel said.
#   sh races-in-guest.sh COMMAND...
set -u
kcsan=/sys/kernel/debug/kcsan
# A report must not end the machine, since the stack has races of its own; nor be printed: a
# serial line is slow, and `vm` takes each for the end. The host reads the log.
echo 0 >/proc/sys/kernel/panic_on_warn
dmesg -n 1
echo on >$kcsan || exit
"$@"
code=$?
echo off >$kcsan
cat $kcsan >/out/kcsan
cat /proc/lockdep_stats >/out/lockdep
dmesg >/out/log
exit $code
