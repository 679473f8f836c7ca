/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Confucius over netlink: the interface between tc and the kernel.
 *
 * In tree this would be part of include/uapi/linux/pkt_sched.h.
 */
#ifndef __PKT_SCHED_CONFUCIUS_H
#define __PKT_SCHED_CONFUCIUS_H

#include <linux/types.h>

/* Ranges and defaults are in confucius_params.h. */
enum {
	TCA_CONFUCIUS_UNSPEC,
	TCA_CONFUCIUS_PAD,
	TCA_CONFUCIUS_LIMIT,		/* u32: packets */
	TCA_CONFUCIUS_MEMORY_LIMIT,	/* u32: bytes */
	TCA_CONFUCIUS_FLOWS,		/* u32; set once */
	TCA_CONFUCIUS_QUANTUM,		/* u32: bytes */
	TCA_CONFUCIUS_TARGETS,		/* u16[1 to 7]: percent, increasing */
	TCA_CONFUCIUS_OCCUPANCY,	/* u8: TC_CONFUCIUS_DELAY or _BUFFER */
	TCA_CONFUCIUS_SCALE,		/* u32: us */
	TCA_CONFUCIUS_DOUBLING,		/* u32: us */
	TCA_CONFUCIUS_HEAD_START,	/* u32: doublings */
	TCA_CONFUCIUS_ALPHA,		/* u32: percent */
	TCA_CONFUCIUS_INTERVAL,		/* u32: us */
	TCA_CONFUCIUS_IDLE,		/* u32: us */
	TCA_CONFUCIUS_ECN,		/* u8: bool */
	TCA_CONFUCIUS_NAT,		/* u8: bool */
	TCA_CONFUCIUS_SPLIT_GSO,	/* u8: bool */
	__TCA_CONFUCIUS_MAX
};

#define TCA_CONFUCIUS_MAX	(__TCA_CONFUCIUS_MAX - 1)

enum {
	TC_CONFUCIUS_DELAY,
	TC_CONFUCIUS_BUFFER,
};

#define TC_CONFUCIUS_TARGETS	7

/*
 * The statistics, nested in TCA_STATS_APP: those of the qdisc. Of class MAJOR:N
 * there is only TCA_CONFUCIUS_STATS_CLASS, the N-th of the qdisc's. Counters
 * are since the start, the rest is now. More attributes may come.
 */
enum {
	TCA_CONFUCIUS_STATS_UNSPEC,
	TCA_CONFUCIUS_STATS_PAD,
	TCA_CONFUCIUS_STATS_CLASS,	/* nested; one each, new flows' first */
	TCA_CONFUCIUS_STATS_FLOWS,	/* u32: active ones */
	TCA_CONFUCIUS_STATS_NEW_FLOWS,	/* u64: flows that began */
	TCA_CONFUCIUS_STATS_FORGOTTEN,	/* u64: flows that fell idle */
	TCA_CONFUCIUS_STATS_SHARED,	/* u64: packets of flows without room */
	TCA_CONFUCIUS_STATS_AGED,	/* u64: moves out of the new flows */
	TCA_CONFUCIUS_STATS_MOVED_UP,	/* u64: to the next higher target */
	TCA_CONFUCIUS_STATS_MOVED_DOWN,	/* u64 */
	TCA_CONFUCIUS_STATS_MARKS,	/* u64 */
	TCA_CONFUCIUS_STATS_GSO_SPLIT,	/* u64: super-packets taken apart */
	TCA_CONFUCIUS_STATS_DROP_TAIL,	/* u64: arriving, of longest class */
	TCA_CONFUCIUS_STATS_DROP_OVERLIMIT, /* u64: oldest of longest class */
	TCA_CONFUCIUS_STATS_DROP_CHANGE, /* u64: a limit was lowered */
	TCA_CONFUCIUS_STATS_DROP_SPLIT,	/* u64: could not be taken apart */
	TCA_CONFUCIUS_STATS_DROP_FILTER, /* u64: by a filter's verdict */
	TCA_CONFUCIUS_STATS_MEMORY_USED, /* u32: as memory_limit counts */
	TCA_CONFUCIUS_STATS_MEMORY_PEAK, /* u32: bytes */
	__TCA_CONFUCIUS_STATS_MAX
};

#define TCA_CONFUCIUS_STATS_MAX	(__TCA_CONFUCIUS_STATS_MAX - 1)

enum {
	TCA_CONFUCIUS_CLASS_UNSPEC,
	TCA_CONFUCIUS_CLASS_PAD,
	TCA_CONFUCIUS_CLASS_TARGET,	/* u16: percent; new flows have none */
	TCA_CONFUCIUS_CLASS_FLOWS,	/* u32: active ones */
	TCA_CONFUCIUS_CLASS_BACKLOG_BYTES, /* u64 */
	TCA_CONFUCIUS_CLASS_BACKLOG_PACKETS, /* u32 */
	TCA_CONFUCIUS_CLASS_SENT_BYTES,	/* u64 */
	TCA_CONFUCIUS_CLASS_SENT_PACKETS, /* u64 */
	TCA_CONFUCIUS_CLASS_DROPS,	/* u64 */
	TCA_CONFUCIUS_CLASS_MARKS,	/* u64 */
	TCA_CONFUCIUS_CLASS_DELAY,	/* u32: us, moving average */
	TCA_CONFUCIUS_CLASS_PEAK,	/* u32: us, slow to fall */
	TCA_CONFUCIUS_CLASS_WEIGHT,	/* u64: 2^32 is that of one old flow */
	__TCA_CONFUCIUS_CLASS_MAX
};

#define TCA_CONFUCIUS_CLASS_MAX	(__TCA_CONFUCIUS_CLASS_MAX - 1)

#endif
