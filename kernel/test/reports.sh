# shellcheck shell=sh
# Sourced in the sanitizer kernel, and on the host by scripts/kernel-races.sh.

# The lines of a kernel's log, on standard input, with which it reports something.
kernel_reports() {
    grep -E 'BUG:|KASAN|WARNING:|UBSAN|Oops|possible (recursive|circular|irq)|INFO: (task|rcu|suspicious|trying)|suspicious RCU|bad unlock|inconsistent lock|sleeping function|general protection|refcount_t|Kernel panic' || true
}
