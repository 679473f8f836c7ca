#!/bin/sh
# Sends UDP packets out of a device, through its qdisc, as fast as it takes them:
#   sh pktgen.sh DEVICE COUNT [BYTES [FLOWS]]
# Returns when the last has left the device: for one that drops or keeps packets there is send.c. See Documentation/networking/pktgen.rst.
set -eu
device=$1 count=$2 bytes=${3:-500} flows=${4:-1}

modprobe -q pktgen || [ -d /proc/net/pktgen ]
thread=/proc/net/pktgen/kpktgend_0
echo rem_device_all > $thread
echo "add_device $device" > $thread
for setting in "count $count" "pkt_size $bytes" "delay 0" "xmit_mode queue_xmit" \
    "dst 198.51.100.1" "src_min 192.0.2.1" "src_max 192.0.2.1" "dst_mac 02:00:00:00:00:01" \
    "udp_dst_min 9" "udp_dst_max 9" "udp_src_min 1024" "udp_src_max $((1024 + flows - 1))"; do
    echo "$setting" > "/proc/net/pktgen/$device"
done
echo start > /proc/net/pktgen/pgctrl
grep -q 'Result: OK' "/proc/net/pktgen/$device"
