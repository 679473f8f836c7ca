#!/bin/sh
# In a guest: conntrack's bytes of a hundred thousand flows, which two levels on Linux decide by, are those that
# were sent. `ages::tests::a_hundred_thousand_flows_have_the_bytes_that_they_sent` is the same of the simulator's table.
#   sh ages-in-guest.sh FLOWS
set -eu
# In a table of the default size chains are long, and long chains refuse new entries.
modprobe nf_conntrack hashsize=131072
modprobe -a nf_conntrack_netlink nf_tables nft_ct
sysctl -q -w net.netfilter.nf_conntrack_acct=1 net.netfilter.nf_conntrack_max=262144 \
    net.netfilter.nf_conntrack_udp_timeout=600 net.netfilter.nf_conntrack_udp_timeout_stream=600
# Connections are tracked once a rule asks for them.
nft 'add table ip ages; add chain ip ages out { type filter hook output priority 0; }; add rule ip ages out ct state new accept'
ip link add d0 type dummy
ip addr add 198.18.255.254/16 dev d0
ip link set d0 up
"$1" 100000 300000
echo "ok 1 - ages are exact"
