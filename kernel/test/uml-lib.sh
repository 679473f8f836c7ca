# shellcheck shell=sh disable=SC2154
# What the scripts that run as init of the sanitizer kernel share. The root file
# system is the host's, read only; `work` is the build directory on the host.

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc none /proc
mount -t sysfs none /sys
mount -t debugfs none /sys/kernel/debug
mount -t tmpfs none /run
mount -t tmpfs none /mnt
echo >/proc/sys/kernel/modprobe
leaks=/sys/kernel/debug/kmemleak

# shellcheck source=kernel/test/reports.sh
. "${0%/*}/reports.sh"

say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }

# What the kernel has to report, but for the leaks, of which it says only how many.
reports() { dmesg | kernel_reports; }

# An object is reported in the second scan that finds it unreferenced and unchanged,
# if it is five seconds old; the first may still take a stale word for a reference.
scan_leaks() {
    for _ in 1 2 3; do
        sleep 10
        echo scan >"$leaks"
    done
    sleep 1
}

# Whether the scans found a leak. Only reading tells: a file of debugfs has no size.
leaked() { grep -q 'unreferenced object' "$leaks"; }

# The host looks for this line: a kernel that died has not printed it.
finish() {
    echo "verdict: $1"
    "$work/poweroff"
}
