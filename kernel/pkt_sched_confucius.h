/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Confucius over netlink: what tc and the kernel say to each other.
 *
 * In tree this would be part of include/uapi/linux/pkt_sched.h.
 */
#ifndef __PKT_SCHED_CONFUCIUS_H
#define __PKT_SCHED_CONFUCIUS_H

#include <linux/types.h>

enum {
	TCA_CONFUCIUS_UNSPEC,
	TCA_CONFUCIUS_PAD,
	TCA_CONFUCIUS_LIMIT,		/* u32: packets, 1 to 1,000,000 */
	TCA_CONFUCIUS_MEMORY_LIMIT,	/* u32: bytes, 4,000 to 1,000,000,000 */
	TCA_CONFUCIUS_FLOWS,		/* u32: 8 to 65,536; set once */
	TCA_CONFUCIUS_QUANTUM,		/* u32: bytes, 256 to 64,000 */
	TCA_CONFUCIUS_TARGETS,		/* u16[1 to 7]: percent, increasing, at most 1,000 */
	TCA_CONFUCIUS_OCCUPANCY,	/* u8: TC_CONFUCIUS_DELAY or _BUFFER */
	TCA_CONFUCIUS_SCALE,		/* u32: us, 1 ms to 10 s */
	TCA_CONFUCIUS_DOUBLING,		/* u32: us, 1 ms to 60 s */
	TCA_CONFUCIUS_HEAD_START,	/* u32: doublings, 0 to 6 */
	TCA_CONFUCIUS_ALPHA,		/* u32: percent, 1 to 50 */
	TCA_CONFUCIUS_INTERVAL,		/* u32: us, 1 ms to 10 s */
	TCA_CONFUCIUS_IDLE,		/* u32: us, 10 ms to 1 h */
	TCA_CONFUCIUS_ECN,		/* u8: 0 or 1 */
	TCA_CONFUCIUS_NAT,		/* u8: 0 or 1 */
	TCA_CONFUCIUS_SPLIT_GSO,	/* u8: 0 or 1 */
	__TCA_CONFUCIUS_MAX
};

#define TCA_CONFUCIUS_MAX	(__TCA_CONFUCIUS_MAX - 1)

enum {
	TC_CONFUCIUS_DELAY,
	TC_CONFUCIUS_BUFFER,
};

#define TC_CONFUCIUS_TARGETS	7
#define TC_CONFUCIUS_CLASSES	(TC_CONFUCIUS_TARGETS + 1)

/*
 * A class; the first is that of the new flows. Counters since the start, the
 * rest is now. The xstats of class MAJOR:N are one of these, the N-th.
 */
struct tc_confucius_class {
	__u64	sent_bytes;
	__u64	sent_packets;
	__u64	backlog_bytes;
	__u64	weight;			/* 2^32 is that of one old flow */
	__u32	backlog_packets;
	__u32	flows;			/* active ones */
	__u32	drops;
	__u32	marks;
	__u32	delay_us;		/* sojourn time of its packets, moving average */
	__u32	peak_us;		/* the same, quick to rise and slow to fall */
};

/* The xstats of the qdisc. */
struct tc_confucius_xstats {
	__u32	classes;		/* in use, that of the new flows included */
	__u32	flows;			/* active ones */
	__u64	new_flows;		/* flows that began */
	__u64	forgotten;		/* flows that fell idle */
	__u64	shared;			/* packets for whose flow there was no room */
	__u64	aged;			/* moves out of the class of the new flows */
	__u64	moved_up;		/* moves to the class of the next higher target */
	__u64	moved_down;
	__u64	drop_tail;		/* the arriving packet, of the longest class */
	__u64	drop_overlimit;		/* the oldest packet of the longest class */
	__u64	drop_change;		/* limits that were lowered */
	__u64	marks;
	__u64	gso_split;		/* super-packets that were split */
	__u32	memory_used;		/* bytes, as memory_limit counts them */
	__u32	memory_peak;
	struct tc_confucius_class class[TC_CONFUCIUS_CLASSES];
};

#endif
