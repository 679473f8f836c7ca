/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data structures of FLOQ.
 *
 * Packets and flows are in arrays, which are allocated once: there are no
 * allocations per packet or flow.
 */
#ifndef __FLOQ_TYPES_H
#define __FLOQ_TYPES_H

#include "../common/flow_table.h"

#define FLOQ_MAX_FLOWS	65536

/* Types of traffic (IV.A). The paper's "other" has room, no traffic. */
enum floq_kind {
	FLOQ_RESPONSIVE,	/* slows down after drops, as far as is known */
	FLOQ_UNRESPONSIVE,	/* does not */
	FLOQ_KINDS
};

/* Phases of a flow (IV.A), as its next packet has them. */
enum floq_phase {
	FLOQ_INITIAL,		/* among its first packets */
	FLOQ_INITIAL_LOST,	/* among them, and one of them was dropped */
	FLOQ_LATER,
	FLOQ_PHASES
};

enum floq_reason {
	FLOQ_TAIL,		/* no room */
	FLOQ_CONGESTION,	/* by chance */
	FLOQ_CHANGE,		/* the limit was lowered */
	FLOQ_REASONS
};

/* How the paper's admission policy is read (IV.B). */
enum floq_variant {
	FLOQ_READING,		/* text and formulas, as far as they agree */
	FLOQ_EQUATION,		/* equation (1): admitted with F_t * F_d */
	FLOQ_ALGORITHM,		/* algorithm 1: a chance of admission */
	FLOQ_ALGORITHM_DROP,	/* algorithm 1: a chance of a drop */
};

/**
 * struct floq_params - the parameters; the caller checks the ranges
 * @idle:	ns: a flow that sends nothing for so long is forgotten
 * @window:	ns: length of the windows in which a flow's rate is measured, at
 *		most 10 s
 * @limit:	packets that may wait, at most 1,000,000
 * @flows:	flows that are told apart, at most FLOQ_MAX_FLOWS; never changes
 * @own:	percent of @limit that each type has for itself, 100 together
 *		at most
 * @threshold:	percent of @limit up to which all is admitted
 * @base:	percent: chance of a drop of each type, before it grows
 * @g:		the drop scaling factor in a full buffer, at most 1000
 * @f_r:	percent that initial packets of responsive flows are spared
 * @initial:	packets with which a flow establishes itself
 * @windows:	after a drop, in one of which the rate has fallen
 * @fall:	percent by which it falls at least, 1 to 99
 * @strikes:	drops in a row without a fall that make a flow unresponsive
 * @pardon:	falls in a row that make it responsive again; 0 for no way back
 * @variant:	enum floq_variant
 * @ecn:	whether packets are marked by chance instead of dropped
 */
struct floq_params {
	u64	idle;
	u64	window;
	u32	limit;
	u32	flows;
	u32	own[FLOQ_KINDS];
	u32	threshold;
	u32	base[FLOQ_KINDS];
	u32	g;
	u32	f_r;
	u32	initial;
	u32	windows;
	u32	fall;
	u32	strikes;
	u32	pardon;
	u8	variant;
	bool	ecn;
};

/**
 * struct fl_rules - the parameters of admission, in packets
 * @own:	quota of each type
 * @full:	the own quota of a type and the part in neither
 * @threshold:	AT
 */
struct fl_rules {
	u32	own[FLOQ_KINDS];
	u32	full[FLOQ_KINDS];
	u32	threshold;
};

/**
 * struct fl_sample - arrivals in a window; as much as fits
 * @bytes:	their length
 * @packets:	their number
 */
struct fl_sample {
	u32	bytes;
	u32	packets;
};

/**
 * struct fl_behaviour - a flow's rate, and the effect of drops on it
 * @opened:	ns: when the current window began
 * @now:	arrivals in it
 * @last:	arrivals in the window before
 * @floor:	bytes: with fewer in a window the rate has fallen
 * @left:	windows that are still to come of a trial; 0 for no trial
 * @row:	number of consecutive trials with the same end
 * @kept:	whether these ended with the rate as before
 * @has_last:	whether there is a window before, without a pause
 * @kind:	enum floq_kind
 */
struct fl_behaviour {
	u64			opened;
	struct fl_sample	now;
	struct fl_sample	last;
	u32			floor;
	u32			left;
	u32			row;
	bool			kept;
	bool			has_last;
	u8			kind;
};

/**
 * struct fl_flow - a flow
 * @behaviour:	its response to drops
 * @count:	packets that arrived, as many as fit
 * @lost:	whether any was dropped
 */
struct fl_flow {
	struct fl_behaviour	behaviour;
	u32			count;
	bool			lost;
};

/**
 * struct fl_slot - a packet that waits
 * @packet:	the packet itself, which is never examined
 * @arrived:	ns: when it came
 * @len:	bytes
 * @kind:	the type with which it was counted
 */
struct fl_slot {
	void	*packet;
	u64	arrived;
	u32	len;
	u8	kind;
};

/**
 * struct floq_counts - counters of a type in a phase; used for statistics only
 * @arrived:	packets
 * @drops:	of them at arrival: FLOQ_TAIL and FLOQ_CONGESTION
 * @marks:	of them
 */
struct floq_counts {
	u64	arrived;
	u64	drops[FLOQ_CHANGE];
	u64	marks;
};

/**
 * struct floq_sent - about a packet that leaves
 * @sojourn:	ns that it waited
 * @len:	bytes
 * @kind:	the type with which it was counted
 */
struct floq_sent {
	u64	sojourn;
	u32	len;
	u8	kind;
};

/**
 * struct floq - the discipline
 * @slots:	packets, a ring
 * @flows:	flows
 * @slot_count:	slots that there are
 * @head:	the slot of the oldest packet
 * @packets:	that wait
 * @waiting:	of each type
 * @bytes:	that wait, of each type
 * @table:	the table of flows
 * @known:	flows of each type that are known
 * @chance:	the generator's state
 * @rules:	parameters of admission
 * @params:	parameters
 * @counts:	counters by type and phase
 */
struct floq {
	struct fl_slot		*slots;
	struct fl_flow		*flows;
	u32			slot_count;
	u32			head;
	u32			packets;
	u32			waiting[FLOQ_KINDS];
	u64			bytes[FLOQ_KINDS];
	struct ft_table		table;
	u32			known[FLOQ_KINDS];
	u64			chance;
	struct fl_rules		rules;
	struct floq_params	params;
	struct floq_counts	counts[FLOQ_KINDS][FLOQ_PHASES];
};

#endif
