/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data structures of Mencius.
 *
 * Packets, flows and hosts refer to each other by their places in arrays, which
 * are allocated once: there are no allocations per packet or flow.
 */
#ifndef __MENCIUS_TYPES_H
#define __MENCIUS_TYPES_H

#include "../common/flow_list.h"
#include "../common/flow_table.h"
#include "../common/flow_words.h"
#include "mencius_shaper.h"

#define MN_FLOWS_OF_HOST 8		/* one host for so many flows */
#define MN_ROUNDS	64		/* rounds that are told apart */
#define MN_SIZES	16		/* powers of two of bytes */
#define MN_TICK		10		/* of waits in figures: 2^10 ns */
#define MN_MAX_FLOWS	65536

#define MN_MS		1000000ULL
#define MN_SECOND	(1000 * MN_MS)

enum mencius_reason {
	MENCIUS_TAIL,		/* no room: the arriving packet */
	MENCIUS_OVERLIMIT,	/* no room: of a flow with most waiting */
	MENCIUS_CONGESTION,	/* a queue stood */
	MENCIUS_CHANGE,		/* limits were lowered */
};

/* Whose addresses are hosts. */
enum mencius_hosts {
	MENCIUS_NONE,
	MENCIUS_DESTINATION,
	MENCIUS_SOURCE,
};

/* The class of a flow in the scheduler. */
enum mn_standing {
	MN_IDLE,		/* it has no packets queued */
	MN_OTHER,		/* it waits, and is not settled */
	MN_SETTLED,		/* it waits, and is */
};

/* Why it was this packet that left. */
enum mencius_why {
	MENCIUS_IN_TURN,
	MENCIUS_SPARSE,		/* a first packet, or of a sparse flow */
	MENCIUS_AHEAD_FLOWS,	/* others of its host are held back */
	MENCIUS_AHEAD_HOSTS,	/* other hosts are */
};

/**
 * struct mencius_sent - about a packet that leaves
 * @sojourn:	ns that it waited
 * @until:	ns when one may leave, if some wait and none may; else 0
 * @len:	bytes for the scheduler
 * @wire:	bytes on the link behind; @len if there is no bandwidth
 * @flow:	its flow
 * @why:	enum mencius_why
 */
struct mencius_sent {
	u64	sojourn;
	u64	until;
	u32	len;
	u32	wire;
	u32	flow;
	u8	why;
};

/* The place of a flow or a host in its turns. */
enum mn_place {
	MN_UNSEEN,		/* it never had packets */
	MN_NOWHERE,		/* it has none */
	MN_AMONG_BACK,		/* it came back, and has not sent since */
	MN_AMONG_AGAIN,		/* it came back, and has sent */
	MN_AMONG_NEW,
	MN_AMONG_OLD,
};

/**
 * struct mencius_params - the parameters; the caller checks the ranges
 * @target:	ns: acceptable standing delay of a flow
 * @interval:	ns that the delay may stand above @target
 * @min_wait:	ns that a packet of a settled flow waits before others are
 *		held back for it
 * @max_wait:	ns that it waits at most while others are
 * @rise:	ns in which the wait rises from @min_wait to @max_wait, at most
 *		10 s
 * @doubling:	ns in which the least that others get doubles, not 0
 * @limit:	packets that may wait
 * @memory_limit: bytes of memory that they may take, at most 2^30
 * @flows:	flows that are told apart, at most MN_MAX_FLOWS; never changes
 * @quantum:	bytes that a flow may send in a round, and a host; at most 2^16
 * @settled_share: of 256 bytes of its host that settled flows may always take
 * @hosts:	enum mencius_hosts
 * @ecn:	whether the AQM marks instead of dropping
 * @ingress:	whether packets dropped by the AQM count against @bandwidth
 * @bandwidth:	bytes per second; 0 for as many as the link takes
 * @framing:	of the link behind, if there is a bandwidth
 */
struct mencius_params {
	u64	target;
	u64	interval;
	u64	min_wait;
	u64	max_wait;
	u64	rise;
	u64	doubling;
	u32	limit;
	u32	memory_limit;
	u32	flows;
	u32	quantum;
	u32	settled_share;
	u8	hosts;
	bool	ecn;
	bool	ingress;
	u64	bandwidth;
	struct mn_framing framing;
};

struct mn_backlog {
	u32	packets;
	u32	bytes;
};

/**
 * struct mn_slot - a packet that waits
 * @packet:	the packet itself, which is never examined
 * @arrived:	ns: when it came
 * @len:	bytes for the scheduler
 * @mem:	bytes of memory
 * @next:	the flow's next packet, or the next free slot
 * @in_host:	neighbours among packets of the host's settled flows
 * @flow:	its flow
 * @listed:	whether it is among these
 */
struct mn_slot {
	void		*packet;
	u64		arrived;
	u32		len;
	u32		mem;
	u32		next;
	struct fl_links	in_host;
	u32		flow : 31;
	u32		listed : 1;
};

/**
 * struct mn_member - a flow or a host that takes turns
 * @links:	neighbours in its list
 * @deficit:	bytes that it may still send; negative if its last packet
 *		overdrew
 * @round:	in which it is its turn
 * @place:	enum mn_place
 */
struct mn_member {
	struct fl_links	links;
	s32		deficit;
	u32		round;
	u8		place;
};

/**
 * struct mn_turns - the turns of one group
 * @back:	members that came back without a debt, and have not sent since
 * @again:	those that have, and go on
 * @fresh:	newcomers
 * @old:	old ones, by their round modulo MN_ROUNDS
 * @used:	bit for each list of @old that is not empty
 * @round:	the round
 * @credit:	bytes that new members may still send before old ones
 * @turn:	enum mn_place of the member whose turn it is
 */
struct mn_turns {
	struct fl_list	back;
	struct fl_list	again;
	struct fl_list	fresh;
	struct fl_list	old[MN_ROUNDS];
	u64		used;
	u32		round;
	s32		credit;
	u8		turn;
};

/**
 * struct mn_rules - how a hold behaves
 * @min_wait:	ns: no flow is held back for waits below this
 * @stands:	ns: nor a flow that has waited for less itself
 * @max_wait:	ns: the most that a settled flow waits while others are
 * @rise:	ns in which the wait rises from @min_wait to @max_wait
 * @doubling:	ns in which the least share of the others doubles
 * @settled_share: of 256 bytes that settled flows may take whenever they wait
 * @of_fair:	final share of others: so many of 256 parts of their fair share,
 * @edge:	and no more than so many bytes per 256 of settled flows
 */
struct mn_rules {
	u64	min_wait;
	u64	stands;
	u64	max_wait;
	u64	rise;
	u64	doubling;
	u32	settled_share;
	u32	of_fair;
	u32	edge;
};

/* Flows or hosts with packets queued. */
struct mn_backlogged {
	u32	settled;	/* with settled flows */
	u32	others;
};

/**
 * struct mn_hold - the hold for the settled flows of a host, or of all
 * @waited:	ns: when packets waited last
 * @birth:	ns: when the newest flow came
 * @age:	ns that others have been held back; falls when they are not
 * @aged:	ns: when @age was brought up to date
 * @rising:	ns: when the wait began to rise
 * @parts:	256 doublings of @age, found last
 * @entitled:	bytes that settled flows may take at any time
 * @ahead:	bytes that they have taken beyond the limit that the others'
 *		share sets
 * @edge:	final share of the others: bytes per 256
 * @on:		whether packets wait, or did just now
 * @yielding:	whether the others' share still grows
 */
struct mn_hold {
	u64	waited;
	u64	birth;
	u64	age;
	u64	aged;
	u64	rising;
	u32	parts;
	s32	entitled;
	s32	ahead;
	u32	edge;
	bool	on;
	bool	yielding;
};

/**
 * struct mn_allowance - for how much of a host's part of the link others may
 *	have its turns
 * @left:	ns; below 0 if the last packet took more than there was
 * @at:		ns: when @left was brought up to date
 */
struct mn_allowance {
	s64	left;
	u64	at;
};

/**
 * struct mn_signals - when the sender of a flow is signalled
 * @next:	ns: when the next signal is due, or the memory of one fades
 * @count:	how often it signals: so many times in the square root of that
 *		many intervals
 * @inv_sqrt:	1/sqrt(@count) of 2^32
 * @late:	packets wait for too long
 */
struct mn_signals {
	u64	next;
	u32	count;
	u32	inv_sqrt;
	bool	late;
};

/**
 * struct mn_settling - a flow's behaviour
 * @since:	ns: settling since then; in the future after a drop
 * @below:	ns: not above the mark then, and since then always
 * @last:	ns: when a packet last came
 */
struct mn_settling {
	u64	since;
	u64	below;
	u64	last;
};

/* Packets that go first. */
enum mn_kind {
	MN_FIRST_KIND,		/* the first ones of a flow */
	MN_SPARSE_KIND,		/* those of a sparse flow */
	MN_KINDS,
};

/**
 * struct mn_sparse_flow - a flow's packets that go first
 * @links:	neighbours among flows that have such packets
 * @bytes:	that came since the flow was silent
 * @spent:	bytes of later packets that went first, less those that time has
 *		paid for
 * @waiting:	so many packets at the head of its queue go first
 * @kind:	enum mn_kind of the first of them
 */
struct mn_sparse_flow {
	struct fl_links	links;
	u32		bytes;
	u32		spent;
	u32		waiting;
	u8		kind;
};

/**
 * struct mn_sparse - flows whose packets go first
 * @lists:	these flows, by enum mn_kind
 * @credits:	bytes of each kind that may go now, if above 0
 */
struct mn_sparse {
	struct fl_list	lists[MN_KINDS];
	s32		credits[MN_KINDS];
};

/* Members in lists by the binary logarithm of their bytes. */
struct mn_sizes {
	struct fl_list	lists[MN_SIZES];
	u32		used;	/* bit for each that is not empty */
};

/**
 * struct mn_figures - statistics of a flow; not used for decisions
 * @bytes:	that left
 * @packets:	that left
 * @drops:	of its packets
 * @marks:	of its packets
 * @delay:	1024 ns: sojourn time of packets that were looked at, moving
 *		average; 0 before the first
 */
struct mn_figures {
	u64	bytes;
	u32	packets;
	u32	drops;
	u32	marks;
	u32	delay;
};

/**
 * struct mn_host_figures - statistics of a host; not used for decisions
 * @began:	ns: when it began
 * @bytes:	that left
 * @ahead:	of these, those of settled flows that went ahead of others
 * @packets:	that left
 * @drops:	of its packets
 * @marks:	of its packets
 * @wait:	1024 ns: one in twenty of its packets waits longer, as far as
 *		those tell that were looked at
 */
struct mn_host_figures {
	u64	began;
	u64	bytes;
	u64	ahead;
	u64	packets;
	u32	drops;
	u32	marks;
	u32	wait;
};

/**
 * struct mn_translation - look-ups of a flow's host
 * @last:	ns: when it was looked up
 * @asked:	look-ups in a row, at most MN_AT_ONCE
 * @open:	whether the host may still become another one
 */
struct mn_translation {
	u64	last;
	u8	asked;
	bool	open;
};

/**
 * struct mn_flow - a flow
 * @member:	its entry in the turns of its host
 * @head:	its oldest packet, if there is one
 * @tail:	its latest
 * @backlog:	its backlog
 * @host:	its host
 * @term:	of that place in which it was its host
 * @translation: look-ups of its host
 * @signals:	when its sender is signalled
 * @by_size:	neighbours among flows of its host with as much waiting
 * @settling:	its behaviour
 * @sparse:	its packets that go first
 * @figures:	its statistics
 * @standing:	enum mn_standing
 * @size_list:	one more than its list of sizes; 0 for none
 */
struct mn_flow {
	struct mn_member	member;
	u32			head;
	u32			tail;
	struct mn_backlog	backlog;
	u32			host;
	u32			term;
	struct mn_translation	translation;
	struct mn_signals	signals;
	struct fl_links		by_size;
	struct mn_settling	settling;
	struct mn_sparse_flow	sparse;
	struct mn_figures	figures;
	u8			standing;
	u8			size_list;
};

/**
 * struct mn_host - a host
 * @member:	its entry in the turns of hosts
 * @term:	hosts that had its place before
 * @known:	its known flows
 * @queues:	transmit queues in which it waits; it has a part of its turns in
 *		each
 * @backlogged:	its flows that wait
 * @backlog:	its backlog
 * @by_size:	neighbours among hosts with as much waiting
 * @listed:	packets of its settled flows, by arrival
 * @hold:	within it
 * @in_settled:	neighbours among hosts with such packets
 * @allowance:	for others that have its turns
 * @turns:	of its flows
 * @sizes:	its flows by backlog
 * @size_list:	one more than its list of sizes; 0 for none
 * @settled:	whether it has packets of settled flows
 * @figures:	its statistics
 */
struct mn_host {
	struct mn_member	member;
	u32			term;
	u32			known;
#ifndef MENCIUS_RFC
	u32			queues;
#endif
	struct mn_backlogged	backlogged;
	struct mn_backlog	backlog;
	struct fl_links		by_size;
	struct fl_list		listed;
	struct mn_hold		hold;
	struct fl_links		in_settled;
	struct mn_allowance	allowance;
	struct mn_turns		turns;
	struct mn_sizes		sizes;
	u8			size_list;
	bool			settled;
	struct mn_host_figures	figures;
};

/**
 * struct mn_pace - the time of a full packet on the link
 * @at:		ns: when the last packet left, if others waited
 * @time:	ns that @bytes took
 * @full:	ns
 * @bytes:	that left since @full was found
 * @len:	of the last packet
 * @known:	whether there is such a packet
 */
struct mn_pace {
	u64	at;
	u64	time;
	u64	full;
	u32	bytes;
	u32	len;
	bool	known;
};

/* Packets that went before others, which were held back, since the start. */
struct mencius_counts {
	u64	ahead_flows;	/* of the same host */
	u64	ahead_hosts;
	u64	ahead_bytes;	/* of both */
};

/**
 * struct mencius - the discipline
 * @slots:	packets
 * @flows:	those in the table with the guests of each set, and then the
 *		guests of each host
 * @hosts:	hosts
 * @slot_count:	slots that there are
 * @slots_used:	slots that were ever used
 * @free:	the first of those that are free again
 * @memory:	bytes of memory that packets take
 * @backlog:	the backlog
 * @settled_hosts: hosts with packets of settled flows, as they are considered
 * @before_turns: bytes that went before other hosts, less those that went by
 *		turns since
 * @flow_table:	the table of flows
 * @host_table:	the table of hosts
 * @sparse:	flows whose packets go first
 * @turns:	of hosts
 * @sizes:	hosts by backlog
 * @hold:	between hosts
 * @backlogged:	hosts that wait
 * @within:	rules within hosts
 * @between:	rules between hosts
 * @plain:	ns: other flows are signalled for longer waits
 * @patient:	ns: and settled flows
 * @step:	ns: L4S packets are marked for longer waits
 * @spared:	ns: settled flows that have waited less are not signalled,
 *		if others are the reason
 * @pace:	the speed of the link
 * @shaper:	when the next packet may leave, if there is a bandwidth
 * @params:	parameters
 * @counts:	counters
 */
struct mencius {
	struct mn_slot		*slots;
	struct mn_flow		*flows;
	struct mn_host		*hosts;
	u32			slot_count;
	u32			slots_used;
	u32			free;
	u32			memory;
	struct mn_backlog	backlog;
	struct fl_list		settled_hosts;
	u32			before_turns;
	struct ft_table		flow_table;
	struct ft_table		host_table;
	struct mn_sparse	sparse;
	struct mn_turns		turns;
	struct mn_sizes		sizes;
	struct mn_hold		hold;
	struct mn_backlogged	backlogged;
	struct mn_rules		within;
	struct mn_rules		between;
	u64			plain;
	u64			patient;
	u64			step;
	u64			spared;
	struct mn_pace		pace;
	struct mn_shaper	shaper;
	struct mencius_params	params;
	struct mencius_counts	counts;
};

static inline u32 mn_hosts_for(u32 flows)
{
	return flows / MN_FLOWS_OF_HOST;
}

/* Entries for so many flows, with the guests of each set and each host. */
static inline u32 mn_flow_places(u32 flows)
{
	return ft_places(flows) + ft_places(mn_hosts_for(flows));
}

/* Neighbours in the turns of a host, by flow. */
static __always_inline struct fl_nodes mn_flow_turns(const struct mencius *m)
{
	return (struct fl_nodes){ &m->flows->member.links, sizeof(*m->flows) };
}

/* Neighbours in the turns of hosts. */
static __always_inline struct fl_nodes mn_host_turns(const struct mencius *m)
{
	return (struct fl_nodes){ &m->hosts->member.links, sizeof(*m->hosts) };
}

#endif
