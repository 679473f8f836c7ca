/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Mencius over netlink: the interface between tc and the kernel.
 *
 * In tree this would be part of include/uapi/linux/pkt_sched.h.
 */
#ifndef __PKT_SCHED_MENCIUS_H
#define __PKT_SCHED_MENCIUS_H

#include <linux/types.h>

/* Ranges and defaults are in mencius_params.h. */
enum {
	TCA_MENCIUS_UNSPEC,
	TCA_MENCIUS_PAD,
	TCA_MENCIUS_LIMIT,		/* u32: packets */
	TCA_MENCIUS_MEMORY_LIMIT,	/* u32: bytes */
	TCA_MENCIUS_FLOWS,		/* u32: at most; set once */
	TCA_MENCIUS_HOSTS,		/* u8: TC_MENCIUS_HOSTS_... */
	TCA_MENCIUS_QUANTUM,		/* u32: bytes */
	TCA_MENCIUS_TARGET,		/* u32: us */
	TCA_MENCIUS_INTERVAL,		/* u32: us */
	TCA_MENCIUS_ECN,		/* u8: bool */
	TCA_MENCIUS_MIN_WAIT,		/* u32: us */
	TCA_MENCIUS_MAX_WAIT,		/* u32: us; at least MIN_WAIT */
	TCA_MENCIUS_RISE,		/* u32: us */
	TCA_MENCIUS_DOUBLING,		/* u32: us */
	TCA_MENCIUS_SETTLED_SHARE,	/* u32: of 256 */
	TCA_MENCIUS_NAT,		/* u8: bool */
	TCA_MENCIUS_SPLIT_GSO,		/* u8: bool */
	TCA_MENCIUS_BANDWIDTH,		/* u64: bytes/s; 0 none */
	TCA_MENCIUS_OVERHEAD,		/* s32: bytes beyond IP's */
	TCA_MENCIUS_RAW,		/* u8: bool; no OVERHEAD then */
	TCA_MENCIUS_MPU,		/* u32: bytes */
	TCA_MENCIUS_FRAMING,		/* u8: TC_MENCIUS_FRAMING_... */
	TCA_MENCIUS_INGRESS,		/* u8: bool */
#ifndef MENCIUS_RFC
	TCA_MENCIUS_SHARED,		/* u8: bool; set once */
#endif
	__TCA_MENCIUS_MAX
};

#define TCA_MENCIUS_MAX	(__TCA_MENCIUS_MAX - 1)

enum {
	TC_MENCIUS_HOSTS_NONE,
	TC_MENCIUS_HOSTS_DESTINATION,
	TC_MENCIUS_HOSTS_SOURCE,
};

enum {
	TC_MENCIUS_FRAMING_NOATM,
	TC_MENCIUS_FRAMING_ATM,		/* cells of 48 bytes in 53 */
	TC_MENCIUS_FRAMING_PTM,		/* 64 bytes in 65 */
};

/*
 * The statistics, nested in TCA_STATS_APP: those of the qdisc. Counters are
 * since the start, or since the device was last up; the rest is now. More
 * attributes may come.
 */
enum {
	TCA_MENCIUS_STATS_UNSPEC,
	TCA_MENCIUS_STATS_PAD,
	TCA_MENCIUS_STATS_FLOWS,	/* u32: that are known */
	TCA_MENCIUS_STATS_HOSTS,	/* u32: that are known */
	TCA_MENCIUS_STATS_NEW_FLOWS,	/* u64: flows that began */
	TCA_MENCIUS_STATS_NEW_HOSTS,	/* u64: hosts that began */
	TCA_MENCIUS_STATS_SHARED_FLOWS,	/* u64: packets of flows without room */
	TCA_MENCIUS_STATS_SHARED_HOSTS,	/* u64: flows of hosts without room */
	TCA_MENCIUS_STATS_AHEAD_FLOWS,	/* u64: others of its host held back */
	TCA_MENCIUS_STATS_AHEAD_HOSTS,	/* u64: other hosts held back */
	TCA_MENCIUS_STATS_MARKS,	/* u64: by the AQM */
	TCA_MENCIUS_STATS_GSO_SPLIT,	/* u64: super-packets taken apart */
	TCA_MENCIUS_STATS_DROP_TAIL,	/* u64: arriving, longer than memory */
	TCA_MENCIUS_STATS_DROP_OVERLIMIT, /* u64: oldest of a fullest flow */
	TCA_MENCIUS_STATS_DROP_CONGESTION, /* u64: by the AQM */
	TCA_MENCIUS_STATS_DROP_CHANGE,	/* u64: a limit was lowered */
	TCA_MENCIUS_STATS_DROP_SPLIT,	/* u64: could not be taken apart */
	TCA_MENCIUS_STATS_DROP_FILTER,	/* u64: by a filter's verdict */
	TCA_MENCIUS_STATS_MEMORY_USED,	/* u32: as memory_limit counts */
	TCA_MENCIUS_STATS_MEMORY_PEAK,	/* u32: bytes */
	TCA_MENCIUS_STATS_FULL,		/* u32: us of a full packet, or 0 */
	TCA_MENCIUS_STATS_DELAY,	/* u32: us, moving average */
	TCA_MENCIUS_STATS_AHEAD_BYTES,	/* u64: of both AHEAD_... */
	TCA_MENCIUS_STATS_MOST_ADDRESS,	/* binary: who had most, IPv4 or IPv6 */
	TCA_MENCIUS_STATS_MOST_AHEAD,	/* u64: its bytes, while it was known */
	TCA_MENCIUS_STATS_HOST,		/* nested: of a class, see below */
	TCA_MENCIUS_STATS_FLOW,		/* nested: of a class, see below */
#ifndef MENCIUS_RFC
	TCA_MENCIUS_STATS_SHARE,	/* u64: bytes/s, if SHARED */
#endif
	__TCA_MENCIUS_STATS_MAX
};

#define TCA_MENCIUS_STATS_MAX	(__TCA_MENCIUS_STATS_MAX - 1)

/*
 * Class MAJOR:N is a host or a flow: hosts first, and then flows, as far as
 * numbers reach. A host, in the nest TCA_MENCIUS_STATS_HOST:
 */
enum {
	TCA_MENCIUS_HOST_UNSPEC,
	TCA_MENCIUS_HOST_PAD,
	TCA_MENCIUS_HOST_FLOWS,		/* u32: that are known */
	TCA_MENCIUS_HOST_SETTLED,	/* u32: settled ones that wait */
	TCA_MENCIUS_HOST_OTHERS,	/* u32: others that wait */
	TCA_MENCIUS_HOST_HELD,		/* u32: us that others are held back */
	TCA_MENCIUS_HOST_ADDRESS,	/* binary: IPv4 or IPv6, or none */
	TCA_MENCIUS_HOST_MARKS,		/* u32: by the AQM */
	TCA_MENCIUS_HOST_WAIT,		/* u32: us; 1 of 20 waits longer */
	TCA_MENCIUS_HOST_AHEAD,		/* u64: bytes ahead of others */
	TCA_MENCIUS_HOST_AGE,		/* u32: ms that it has been known */
	__TCA_MENCIUS_HOST_MAX
};

#define TCA_MENCIUS_HOST_MAX	(__TCA_MENCIUS_HOST_MAX - 1)

/*
 * A flow, in the nest TCA_MENCIUS_STATS_FLOW. One that has been settled for no
 * time at all is not.
 */
enum {
	TCA_MENCIUS_FLOW_UNSPEC,
	TCA_MENCIUS_FLOW_PAD,
	TCA_MENCIUS_FLOW_HOST,		/* u32: the class of its host */
	TCA_MENCIUS_FLOW_SETTLED,	/* u32: for so many ms */
	TCA_MENCIUS_FLOW_WAIT,		/* u32: us, of its oldest packet */
	TCA_MENCIUS_FLOW_DELAY,		/* u32: us, moving average */
	TCA_MENCIUS_FLOW_MARKS,		/* u32: by the AQM */
	__TCA_MENCIUS_FLOW_MAX
};

#define TCA_MENCIUS_FLOW_MAX	(__TCA_MENCIUS_FLOW_MAX - 1)

#endif
