/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * FLOQ over netlink: the interface between tc and the kernel.
 *
 * In tree this would be part of include/uapi/linux/pkt_sched.h.
 */
#ifndef __PKT_SCHED_FLOQ_H
#define __PKT_SCHED_FLOQ_H

#include <linux/types.h>

/* Ranges and defaults are in floq_params.h. */
enum {
	TCA_FLOQ_UNSPEC,
	TCA_FLOQ_PAD,
	TCA_FLOQ_LIMIT,			/* u32: packets */
	TCA_FLOQ_FLOWS,			/* u32; set once */
	TCA_FLOQ_RESPONSIVE,		/* u32: percent of LIMIT */
	TCA_FLOQ_UNRESPONSIVE,		/* u32: the same; both 100 at most */
	TCA_FLOQ_THRESHOLD,		/* u32: percent of LIMIT */
	TCA_FLOQ_DROP_RESPONSIVE,	/* u32: percent */
	TCA_FLOQ_DROP_UNRESPONSIVE,	/* u32: percent */
	TCA_FLOQ_G,			/* u32 */
	TCA_FLOQ_F_R,			/* u32: percent */
	TCA_FLOQ_INITIAL,		/* u32: packets */
	TCA_FLOQ_IDLE,			/* u32: us */
	TCA_FLOQ_WINDOW,		/* u32: us */
	TCA_FLOQ_WINDOWS,		/* u32 */
	TCA_FLOQ_FALL,			/* u32: percent */
	TCA_FLOQ_STRIKES,		/* u32 */
	TCA_FLOQ_PARDON,		/* u32; 0 is no way back */
	TCA_FLOQ_VARIANT,		/* u8: TC_FLOQ_... */
	TCA_FLOQ_ECN,			/* u8: bool */
	TCA_FLOQ_NAT,			/* u8: bool */
	TCA_FLOQ_SPLIT_GSO,		/* u8: bool */
	__TCA_FLOQ_MAX
};

#define TCA_FLOQ_MAX	(__TCA_FLOQ_MAX - 1)

/* How the paper's admission policy is read. */
enum {
	TC_FLOQ_READING,		/* text and formulas, if they agree */
	TC_FLOQ_EQUATION,		/* its equation (1) */
	TC_FLOQ_ALGORITHM,		/* its algorithm 1, admits */
	TC_FLOQ_ALGORITHM_DROP,		/* its algorithm 1, drops */
};

/*
 * The statistics, nested in TCA_STATS_APP: those of the qdisc. Of class MAJOR:1
 * and MAJOR:2 there is only TCA_FLOQ_STATS_CLASS, the qdisc's of that type.
 * Counters are since the start, the rest is now. More attributes may come.
 */
enum {
	TCA_FLOQ_STATS_UNSPEC,
	TCA_FLOQ_STATS_PAD,
	TCA_FLOQ_STATS_CLASS,		/* nested; one of each type */
	TCA_FLOQ_STATS_FLOWS,		/* u32: that are known */
	TCA_FLOQ_STATS_NEW_FLOWS,	/* u64: flows that began */
	TCA_FLOQ_STATS_FORGOTTEN,	/* u64: flows that fell idle */
	TCA_FLOQ_STATS_SHARED,		/* u64: packets of flows without room */
	TCA_FLOQ_STATS_TURNED,		/* u64: flows found to be unresponsive */
	TCA_FLOQ_STATS_PARDONED,	/* u64: flows found to respond again */
	TCA_FLOQ_STATS_MARKS,		/* u64 */
	TCA_FLOQ_STATS_GSO_SPLIT,	/* u64: super-packets taken apart */
	TCA_FLOQ_STATS_DROP_TAIL,	/* u64: arriving, without room */
	TCA_FLOQ_STATS_DROP_CONGESTION,	/* u64: arriving, by chance */
	TCA_FLOQ_STATS_DROP_CHANGE,	/* u64: the limit was lowered */
	TCA_FLOQ_STATS_DROP_SPLIT,	/* u64: could not be taken apart */
	TCA_FLOQ_STATS_DROP_FILTER,	/* u64: by a filter's verdict */
	TCA_FLOQ_STATS_DELAY,		/* u32: us, moving average */
	__TCA_FLOQ_STATS_MAX
};

#define TCA_FLOQ_STATS_MAX	(__TCA_FLOQ_STATS_MAX - 1)

/* Types of traffic. */
enum {
	TC_FLOQ_RESPONSIVE,		/* slows down after drops */
	TC_FLOQ_UNRESPONSIVE,
};

enum {
	TCA_FLOQ_CLASS_UNSPEC,
	TCA_FLOQ_CLASS_PAD,
	TCA_FLOQ_CLASS_KIND,		/* u8: TC_FLOQ_RESPONSIVE, ... */
	TCA_FLOQ_CLASS_PHASE,		/* nested; one of each phase */
	TCA_FLOQ_CLASS_FLOWS,		/* u32: that are known */
	TCA_FLOQ_CLASS_QUOTA,		/* u32: packets it has for itself */
	TCA_FLOQ_CLASS_BACKLOG_PACKETS,	/* u32 */
	TCA_FLOQ_CLASS_BACKLOG_BYTES,	/* u64 */
	TCA_FLOQ_CLASS_SENT_PACKETS,	/* u64 */
	TCA_FLOQ_CLASS_SENT_BYTES,	/* u64 */
	__TCA_FLOQ_CLASS_MAX
};

#define TCA_FLOQ_CLASS_MAX	(__TCA_FLOQ_CLASS_MAX - 1)

/* Phases of a flow, by its packet that arrives. */
enum {
	TC_FLOQ_INITIAL,		/* among its first ones */
	TC_FLOQ_INITIAL_LOST,		/* the same, one of which was dropped */
	TC_FLOQ_LATER,
};

enum {
	TCA_FLOQ_PHASE_UNSPEC,
	TCA_FLOQ_PHASE_PAD,
	TCA_FLOQ_PHASE_NAME,		/* u8: TC_FLOQ_INITIAL, ... */
	TCA_FLOQ_PHASE_ARRIVED,		/* u64: packets */
	TCA_FLOQ_PHASE_DROP_TAIL,	/* u64: of them, without room */
	TCA_FLOQ_PHASE_DROP_CONGESTION,	/* u64: of them, by chance */
	TCA_FLOQ_PHASE_MARKS,		/* u64: of them */
	__TCA_FLOQ_PHASE_MAX
};

#define TCA_FLOQ_PHASE_MAX	(__TCA_FLOQ_PHASE_MAX - 1)

#endif
