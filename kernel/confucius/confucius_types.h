/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data structures of Confucius.
 *
 * Packets, flows and classes refer to each other by their places in arrays,
 * which are allocated once: there are no allocations per packet or flow.
 */
#ifndef __CONFUCIUS_TYPES_H
#define __CONFUCIUS_TYPES_H

#define CF_TARGETS	7			/* most classes of old flows */
#define CF_CLASSES	(CF_TARGETS + 1)
#define CF_NEW		0			/* Q_new, of new flows */
#define CF_WAYS		8			/* flows that one hash may be */
#define CF_STEPS	18			/* at 2^17 every weight is 1 */
#define CF_UNIT		128			/* the weight of an old flow */
#define CF_UNLISTED	0xff
#define CF_UNMEASURED	0xffffffffU
#define CF_MAX_FLOWS	65536
#define CF_MAX_PLACES	(CF_MAX_FLOWS + CF_MAX_FLOWS / CF_WAYS)
#define CF_NEVER	0xffffffffffffffffULL

/*
 * Bounds on the work done for one packet: number of flows that are forgotten,
 * reach a step, and are classified; of packets that give way; of packets
 * skipped whose flows have moved. The rest is done with the next packets.
 */
#define CF_BATCH	8
#define CF_VICTIMS	8
#define CF_SKIPS	64

/*
 * Occupancy is in hundredths of a percent and capped at ten times full.
 */
#define CF_PERCENT	100U
#define CF_FULL		(100 * CF_PERCENT)
#define CF_MOST		(10 * CF_FULL)

enum confucius_reason {
	CONFUCIUS_TAIL,		/* no room: the arriving packet */
	CONFUCIUS_OVERLIMIT,	/* no room: the oldest of the longest class */
	CONFUCIUS_CHANGE,	/* limits were lowered */
};

enum confucius_occupancy {
	CONFUCIUS_DELAY,
	CONFUCIUS_BUFFER,
};

enum cf_verdict {
	CF_DOWN,		/* to the class of the next lower target */
	CF_STAY,
	CF_UP,
};

/**
 * struct confucius_params - the parameters; the caller checks the ranges
 * @scale:	ns: the delay that is 100 %, with CONFUCIUS_DELAY
 * @doubling:	ns in which the weight of a new flow doubles
 * @interval:	ns between two examinations of a flow
 * @idle:	ns after which a flow without packets, arrivals or departures is
 *		forgotten
 * @limit:	packets that may wait
 * @memory_limit: bytes of memory that they may take, at most 2^30
 * @flows:	flows that are told apart, a multiple of CF_WAYS; never changes
 * @quantum:	bytes that the heaviest class may send in a round
 * @head_start:	doublings below equation (1) at which a new flow begins
 * @alpha:	percent: the hysteresis of the classification
 * @targets:	percent: occupancy at which each class of old flows aims,
 *		increasing
 * @classes:	number of targets
 * @occupancy:	the unit of occupancy
 * @ecn:	whether to mark packets that waited longer than its class's
 *		target
 */
struct confucius_params {
	u64	scale;
	u64	doubling;
	u64	interval;
	u64	idle;
	u32	limit;
	u32	memory_limit;
	u32	flows;
	u32	quantum;
	u32	head_start;
	u32	alpha;
	u16	targets[CF_TARGETS];
	u8	classes;
	u8	occupancy;
	bool	ecn;
};

/**
 * struct cf_slot - a packet that waits
 * @packet:	the packet itself, which is never examined
 * @arrived:	ns: when it came
 * @arrival:	number of its arrival
 * @len:	bytes for the scheduler
 * @mem:	bytes of memory
 * @next:	the flow's next packet, or the next free slot
 * @links:	its neighbours in the list of a class
 * @flow:	its flow
 * @listed_in:	the class in whose list it is, which is not its flow's after a
 *		move
 */
struct cf_slot {
	void		*packet;
	u64		arrived;
	u64		arrival;
	u32		len;
	u32		mem;
	u32		next;
	struct fl_links	links;
	u32		flow : 24;
	u32		listed_in : 8;
};

/**
 * struct cf_flow - the part used by every packet of a flow: one cache line
 * @last_active: ns: when a packet last came or left
 * @native_from: packets that arrived before this one came while it was in
 *		another class
 * @window:	ns: when the measurement began
 * @sum:	sum of the samples of its occupancy since then
 * @samples:	how many
 * @head:	its oldest packet
 * @tail:	its latest packet, if there is one
 * @packets:	number of packets that wait
 * @bytes:	their bytes
 * @by_activity: neighbours in the list of all flows by @last_active
 * @class:	its class
 * @migrant:	whether its oldest packet came while it was in another class
 * @counted:	whether its mean was measured in its class and counts there
 * @step:	doublings that it has lived through, as a new flow
 */
struct cf_flow {
	u64		last_active;
	u64		native_from;
	u64		window;
	u64		sum;
	u32		samples;
	u32		head;
	u32		tail;
	u32		packets;
	u32		bytes;
	struct fl_links	by_activity;
	u8		class;
	bool		migrant;
	bool		counted;
	u8		step;
};

/**
 * struct cf_age - the rarely used part of a flow
 * @started:	ns: when the flow began
 * @links:	neighbours in the list of its step, while it is new
 * @mean:	occupancy in its last complete interval, or CF_UNMEASURED
 * @place:	its position in the heap of its class, while it is a migrant
 */
struct cf_age {
	u64		started;
	struct fl_links	links;
	u32		mean;
	u32		place;
};

/**
 * struct cf_set - the flows among which a hash is looked up
 * @hash:	of the flow in each way
 * @used:	bit for each way that holds an active flow, and one above for
 *		guests
 */
struct cf_set {
	u32	hash[CF_WAYS];
	u16	used;
};

/**
 * struct cf_class - a class of flows
 * @bytes:	that wait, of all its flows
 * @deficit:	2^-10 bytes that it may send, or owes
 * @mark_after:	ns: a packet that waited longer is marked, with ecn
 * @sum:	sum of the means of the flows that count
 * @judged:	ns: when @verdict was found, if @was_judged
 * @packets:	that wait
 * @waiting:	flows with packets that wait
 * @members:	active flows
 * @weight:	in 1/CF_UNIT of an old flow
 * @counted:	number of flows in @sum
 * @migrants:	flows in its heap
 * @list:	its packets by arrival, and some of flows that have left since
 * @was_judged:	whether it ever was
 * @verdict:	of the examination of the class
 */
struct cf_class {
	u64		bytes;
	s64		deficit;
	u64		mark_after;
	u64		sum;
	u64		judged;
	u32		packets;
	u32		waiting;
	u32		members;
	u32		weight;
	u32		counted;
	u32		migrants;
	struct fl_list	list;
	bool		was_judged;
	u8		verdict;
};

/* Counters since the start. */
struct confucius_counts {
	u64	new_flows;
	u64	forgotten;
	u64	shared;
	u64	aged;
	u64	moved_up;
	u64	moved_down;
};

/**
 * struct confucius - the discipline
 * @slots:	packets
 * @flows:	flows, in the order of the sets, then the guests of each set
 * @ages:	the rest of them
 * @sets:	the flow table
 * @heaps:	for each class of old flows its migrants, earliest first
 * @arrivals:	packets that arrived and were accepted
 * @idle_due:	ns: no flow falls idle before this
 * @step_due:	ns: no new flow reaches its next step before this
 * @set_count:	sets
 * @slot_count:	slots that there are
 * @slots_used:	slots that were ever used
 * @free:	the first of those that are free again
 * @packets:	that wait
 * @memory:	bytes that they take
 * @existing:	|F_ext|: flows that have been classified
 * @occupancy_num: 100 % of occupancy by a scale, in lowest terms
 * @occupancy_den: the same
 * @backlogged:	bit for each class with packets that wait
 * @owing:	bit for each class whose deficit is negative
 * @last:	@backlogged at the last pick
 * @turn:	the class to try first
 * @ripe:	new flows of this step and later ones are being classified
 * @stale:	members or ages have changed since the weights were computed
 * @activity:	all flows by last activity
 * @params:	parameters
 * @classes:	classes; the first is that of the new flows
 * @steps:	the new flows of each step, oldest first
 * @step_flows:	their numbers
 * @counts:	counters
 */
struct confucius {
	struct cf_slot		*slots;
	struct cf_flow		*flows;
	struct cf_age		*ages;
	struct cf_set		*sets;
	u16			*heaps;
	u64			arrivals;
	u64			idle_due;
	u64			step_due;
	u32			set_count;
	u32			slot_count;
	u32			slots_used;
	u32			free;
	u32			packets;
	u32			memory;
	u32			existing;
	u32			occupancy_num;
	u32			occupancy_den;
	u8			backlogged;
	u8			owing;
	u8			last;
	u8			turn;
	u8			ripe;
	bool			stale;
	struct fl_list		activity;
	struct confucius_params	params;
	struct cf_class		classes[CF_CLASSES];
	struct fl_list		steps[CF_STEPS];
	u32			step_flows[CF_STEPS];
	struct confucius_counts	counts;
};

/*
 * @a / @b; most quotients here are of small numbers, which 32-bit machines
 * divide faster.
 */
static __always_inline u64 cf_div(u64 a, u32 b)
{
	return likely(!(a >> 32)) ? (u32)a / b : div_u64(a, b);
}

static __always_inline struct fl_nodes cf_slot_nodes(const struct confucius *c)
{
	return (struct fl_nodes){ &c->slots->links, sizeof(*c->slots) };
}

static __always_inline struct fl_nodes
cf_activity_nodes(const struct confucius *c)
{
	return (struct fl_nodes){ &c->flows->by_activity, sizeof(*c->flows) };
}

static __always_inline struct fl_nodes cf_step_nodes(const struct confucius *c)
{
	return (struct fl_nodes){ &c->ages->links, sizeof(*c->ages) };
}

#endif
