/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Confucius: new flows are given their share gradually, old ones are kept among
 * their like.
 *
 * Z. Meng et al., "Confucius: Achieving Consistent Low Latency with Practical
 * Queue Management for Real-Time Communications".
 *
 * This is the discipline without a kernel around it: it calls nothing, and
 * makes the same decisions, to the packet, as the one in Rust. Time is in ns
 * and only goes forward. The including file supplies the kernel's integer
 * types, min, min_t, max, max_t, likely, unlikely, noinline, __always_inline,
 * div_u64, div64_u64, memset, memcpy and the two hooks below; allocates; and
 * calls one function at a time.
 */
#ifndef __CONFUCIUS_H
#define __CONFUCIUS_H

#include "../common/flow_list.h"
#include "confucius_types.h"
#include "confucius_store.h"
#include "confucius_table.h"
#include "confucius_dwrr.h"
#include "confucius_weights.h"
#include "confucius_examine.h"

/*
 * The including file's: a packet of a flow of @class is dropped, and from now
 * on the hook's.
 */
static void confucius_dropped(struct confucius *c, void *packet, u32 len,
			      u32 class, enum confucius_reason reason);

/*
 * The including file's: @flow began in class @to (@from is FL_NIL), or moved
 * there.
 */
static void confucius_moved(struct confucius *c, u32 flow, u32 from, u32 to);

/**
 * struct confucius_packet - a packet that leaves
 * @packet:	the packet
 * @sojourn:	ns that it waited
 * @len:	its length
 * @class:	the class that sent it
 * @mark:	whether it waited longer than it ought to, with ecn
 */
struct confucius_packet {
	void	*packet;
	u64	sojourn;
	u32	len;
	u32	class;
	bool	mark;
};

static void cf_leave(struct confucius *c, u64 now, u32 at)
{
	u32 class = c->flows[at].class;

	cf_lose_member(c, class);
	cf_uncount(c, now, at);
	if (class == CF_NEW)
		cf_step_leave(c, at);
	else
		c->existing--;
	c->stale = true;
}

/* Moves a flow with its packets into a class of old flows. */
static void cf_reclassify(struct confucius *c, u64 now, u32 at, u32 to)
{
	u32 from = c->flows[at].class;

	cf_leave(c, now, at);
	cf_move(c, at, to);
	c->classes[to].members++;
	c->existing++;
	if (from == CF_NEW)
		c->counts.aged++;
	else if (from < to)
		c->counts.moved_up++;
	else
		c->counts.moved_down++;
	confucius_moved(c, at, from, to);
}

/*
 * Forgets flows that have been idle for long enough, no more than CF_BATCH of
 * them now.
 */
static noinline void cf_expire_idle(struct confucius *c, u64 now)
{
	u32 at, left = CF_BATCH;

	while ((at = c->activity.head) != FL_NIL && left-- &&
	       fl_since(now, c->flows[at].last_active) >= c->params.idle) {
		if (c->flows[at].packets) {
			/*
			 * The link stands still: a flow with packets queued is
			 * active.
			 */
			cf_touch(c, now, at);
			continue;
		}
		cf_leave(c, now, at);
		cf_forget(c, at);
	}
	c->idle_due = c->params.idle +
		      (at == FL_NIL ? now : c->flows[at].last_active);
}

static noinline void cf_reweigh_all(struct confucius *c)
{
	u32 class;

	for (class = 1; class < CF_CLASSES; class++)
		c->classes[class].weight = CF_UNIT * c->classes[class].members;
	c->classes[CF_NEW].weight = cf_new_weight(c);
	c->stale = false;
}

/*
 * Classifies flows whose weight has reached 1, no more than CF_BATCH of them
 * now. A flow that ages out raises the weights of the others, so that more may
 * age out; it lowers none that was ripe with it.
 */
static noinline void cf_ripen(struct confucius *c, u64 now)
{
	u32 at = FL_NIL, left = CF_BATCH;

	do {
		c->ripe = min_t(u32, c->ripe, cf_ripe_step(c));
		at = cf_oldest_from(c, c->ripe);
		if (at == FL_NIL)
			break;
		cf_reclassify(c, now, at, cf_nearest(c, cf_latest(c, at)));
	} while (--left);
	cf_reweigh_all(c);
	if (left)
		c->ripe = CF_STEPS - 1;
	else
		c->stale = true;
}

/* Brings the flow table, ages and weights up to date. */
static __always_inline void cf_update(struct confucius *c, u64 now)
{
	if (unlikely(now >= c->step_due))
		cf_age(c, now);
	if (unlikely(c->stale))
		cf_ripen(c, now);
}

/* A flow that was not known begins as new. */
static noinline void cf_begin(struct confucius *c, u64 now, u32 at)
{
	struct cf_flow *flow = &c->flows[at];

	cf_window_start(flow, now);
	c->ages[at].mean = CF_UNMEASURED;
	cf_move(c, at, CF_NEW);
	cf_step_enter(c, at, 0);
	c->step_due = min(c->step_due, now + c->params.doubling);
	c->classes[CF_NEW].members++;
	c->counts.new_flows++;
	c->stale = true;
	confucius_moved(c, at, FL_NIL, CF_NEW);
}

static __always_inline bool cf_fits(const struct confucius *c, u32 packets,
				    u32 mem)
{
	return c->packets + packets <= c->params.limit &&
	       (u64)c->memory + mem <= c->params.memory_limit;
}

/*
 * The class with the most bytes for its weight, @extra bytes in class @mine
 * included. Of equals it is @mine, then the lowest.
 */
static u32 cf_longest(const struct confucius *c, u32 mine, u32 extra)
{
	u64 most = c->classes[mine].bytes + extra;
	u32 longest = mine, rest;

	for (rest = c->backlogged; rest; rest &= rest - 1) {
		u32 number = __builtin_ctz(rest);
		const struct cf_class *class = &c->classes[number];
		u64 bytes = class->bytes + (number == mine ? extra : 0);

		if (bytes * max(c->classes[longest].weight, 1U) >
		    most * max(class->weight, 1U)) {
			most = bytes;
			longest = number;
		}
	}
	return longest;
}

/*
 * Drops the oldest packet of a class; false if more would have to be skipped.
 */
static bool cf_drop_from(struct confucius *c, u32 class, u32 *skips,
			 enum confucius_reason reason)
{
	struct cf_popped popped;
	u32 index = cf_front(c, class, skips);

	if (index == FL_NIL)
		return false;
	cf_pop(c, class, index, &popped);
	confucius_dropped(c, popped.packet, popped.len, class, reason);
	return true;
}

/*
 * Whether a packet of class @mine finds room, after others have made some. The
 * class with the most bytes for its weight gives way: the arriving packet if it
 * is of that class, otherwise that class's oldest packet. So a call in another
 * class never pays for a download. No packet gives way to one that would find
 * no room alone, and no more than CF_VICTIMS give way to one packet.
 */
static noinline bool cf_make_room(struct confucius *c, u32 mine, u32 len,
				  u32 mem)
{
	u32 left, skips = CF_SKIPS;

	if (mem > c->params.memory_limit)
		return false;
	for (left = CF_VICTIMS; left && !cf_fits(c, 1, mem); left--) {
		u32 victim = cf_longest(c, mine, len);

		if (victim == mine ||
		    !cf_drop_from(c, victim, &skips, CONFUCIUS_OVERLIMIT))
			return false;
	}
	return cf_fits(c, 1, mem);
}

/*
 * An interval of the flow's is over: moves the flow if it is among strangers.
 */
static noinline void cf_examine(struct confucius *c, u64 now, u32 at)
{
	struct cf_flow *flow = &c->flows[at];
	struct cf_age *age = &c->ages[at];
	u32 class = flow->class;
	u32 before = age->mean;
	struct cf_total total;
	enum cf_verdict verdict;

	if (!flow->samples) {
		cf_window_start(flow, now);
		return;
	}
	age->mean = (u32)div_u64(flow->sum, flow->samples);
	cf_window_start(flow, now);
	if (class == CF_NEW)
		return;
	cf_count(c, at, before);
	total.sum = c->classes[class].sum;
	total.flows = c->classes[class].counted;
	if (!cf_by_share(c, class, age->mean, total, &verdict))
		verdict = cf_judge(c, now, class);
	if (verdict == CF_UP && class < c->params.classes)
		cf_reclassify(c, now, at, class + 1);
	else if (verdict == CF_DOWN && class > 1)
		cf_reclassify(c, now, at, class - 1);
}

/**
 * confucius_enqueue() - a packet arrives
 * @c:		the discipline
 * @now:	ns
 * @hash:	of its flow, its high bits as good as its low ones
 * @packet:	the packet
 * @len:	bytes for the scheduler
 * @mem:	bytes of memory that it takes; @len if that is more, so that no
 *		sum of lengths is above @memory_limit
 *
 * Return: whether there was room. Otherwise the packet was dropped.
 */
static __always_inline bool confucius_enqueue(struct confucius *c, u64 now,
					      u32 hash, void *packet, u32 len,
					      u32 mem)
{
	bool fresh, room = true;
	struct cf_flow *flow;
	u32 at;

	mem = max(mem, len);
	if (unlikely(now >= c->idle_due))
		cf_expire_idle(c, now);
	at = cf_find(c, now, hash, &fresh);
	if (unlikely(fresh))
		cf_begin(c, now, at);
	cf_update(c, now);
	flow = &c->flows[at];
	if (unlikely(!cf_fits(c, 1, mem)))
		room = cf_make_room(c, flow->class, len, mem);
	if (unlikely(!c->backlogged))
		cf_forgive(c);
	if (likely(room))
		cf_push(c, now, at, packet, len, mem);
	else
		confucius_dropped(c, packet, len, flow->class, CONFUCIUS_TAIL);
	if (c->params.occupancy == CONFUCIUS_BUFFER)
		cf_sample(flow, cf_of_buffer(c, flow));
	if (unlikely(fl_since(now, flow->window) >= c->params.interval))
		cf_examine(c, now, at);
	return room;
}

/**
 * confucius_dequeue() - the link is free
 * @c:		the discipline
 * @now:	ns
 * @packet:	where to put the packet
 *
 * If no packets wait nothing happens: flows age and expire at the next packet.
 *
 * Return: whether there was one.
 */
static __always_inline bool confucius_dequeue(struct confucius *c, u64 now,
					      struct confucius_packet *packet)
{
	struct cf_popped popped;
	struct cf_class *class;
	u32 number, index, waiting, skips = CF_SKIPS;
	u64 bytes;

	if (confucius_is_empty(c))
		return false;
	if (unlikely(now >= c->idle_due))
		cf_expire_idle(c, now);
	cf_update(c, now);
	number = cf_pick(c);
	index = cf_front(c, number, &skips);
	if (unlikely(index == FL_NIL)) {
		/* It is this class's turn again until its packet is found. */
		c->turn = number;
		number = cf_eldest(c);
		index = cf_front(c, number, &skips);
	}
	class = &c->classes[number];
	bytes = class->bytes;
	waiting = class->waiting;
	cf_pop(c, number, index, &popped);
	cf_charge(c, number, popped.len);
	cf_touch(c, now, popped.flow);
	packet->packet = popped.packet;
	packet->sojourn = fl_since(now, popped.arrived);
	packet->len = popped.len;
	packet->class = number;
	packet->mark = c->params.ecn && packet->sojourn > class->mark_after;
	/* The wait in another class is no indication for this one. */
	if (likely(popped.native) && c->params.occupancy == CONFUCIUS_DELAY) {
		struct cf_flow *flow = &c->flows[popped.flow];
		u32 own = flow->bytes + popped.len;

		cf_sample(flow,
			  cf_of_delay(c, packet->sojourn, own, bytes, waiting));
	}
	return true;
}

/* Sets parameters, and values derived from them. */
static void cf_set_params(struct confucius *c,
			  const struct confucius_params *params)
{
	u32 scale = (u32)div_u64(params->scale, 1000);
	u32 class, a = CF_FULL, b = scale;

	c->params = *params;
	while (b) {
		u32 rest = a % b;

		a = b;
		b = rest;
	}
	c->occupancy_num = CF_FULL / a;
	c->occupancy_den = scale / a;
	for (class = 0; class < CF_CLASSES; class++) {
		u32 like = class == CF_NEW || class > params->classes ?
				   params->classes :
				   class;

		c->classes[class].mark_after =
			div_u64(params->scale * params->targets[like - 1], 100);
	}
}

/**
 * confucius_change() - changes parameters; new limits may leave packets no room
 * @c:		the discipline
 * @now:	ns
 * @params:	the parameters, with the same number of flows
 *
 * There have to be slots for the new limit: see confucius_grow().
 */
static void confucius_change(struct confucius *c, u64 now,
			     const struct confucius_params *params)
{
	bool same_unit = cf_same_unit(&c->params, params);
	u32 at, skips = U32_MAX;

	cf_set_params(c, params);
	if (!same_unit)
		cf_measure_anew(c, now);
	cf_reckon(c);
	for (at = 0; at < params->flows; at++)
		if (c->sets[at / CF_WAYS].used >> at % CF_WAYS & 1 &&
		    c->flows[at].class > params->classes)
			cf_reclassify(c, now, at, params->classes);
	cf_expire_idle(c, now);
	c->stale = true;
	cf_update(c, now);
	while (!cf_fits(c, 0, 0))
		cf_drop_from(c, cf_longest(c, __builtin_ctz(c->backlogged), 0),
			     &skips, CONFUCIUS_CHANGE);
}

/*
 * Bytes of the block that confucius_init() divides into flows, heaps and sets.
 */
static inline size_t confucius_table_size(u32 flows)
{
	return (size_t)cf_places(flows) *
		       (sizeof(struct cf_flow) + sizeof(struct cf_age)) +
	       (size_t)flows / CF_WAYS * sizeof(struct cf_set) +
	       (size_t)flows * CF_TARGETS * sizeof(u16);
}

/* Bytes of the block of slots for so many packets. */
static inline size_t confucius_slots_size(u32 limit)
{
	return (size_t)limit * sizeof(struct cf_slot);
}

/**
 * confucius_init() - begins with an empty queue
 * @c:		the discipline
 * @params:	the parameters
 * @table:	a block of confucius_table_size() bytes, of any content
 * @slots:	a block of slots, of any content
 * @slot_count:	how many there are, at least @params->limit
 *
 * Packets that waited are forgotten: confucius_purge() gives them back before.
 */
static void confucius_init(struct confucius *c,
			   const struct confucius_params *params, void *table,
			   void *slots, u32 slot_count)
{
	u32 at;

	memset(c, 0, sizeof(*c));
	memset(table, 0, confucius_table_size(params->flows));
	c->slots = slots;
	c->slot_count = slot_count;
	c->free = FL_NIL;
	c->step_due = CF_NEVER;
	c->ripe = CF_STEPS - 1;
	c->flows = table;
	c->set_count = params->flows / CF_WAYS;
	c->ages = (struct cf_age *)(c->flows + cf_places(params->flows));
	c->sets = (struct cf_set *)(c->ages + cf_places(params->flows));
	c->heaps = (u16 *)(c->sets + c->set_count);
	for (at = 0; at < cf_places(params->flows); at++)
		c->flows[at].head = FL_NIL;
	for (at = 0; at < CF_CLASSES; at++)
		fl_list_init(&c->classes[at].list);
	for (at = 0; at < CF_STEPS; at++)
		fl_list_init(&c->steps[at]);
	fl_list_init(&c->activity);
	cf_set_params(c, params);
}

/**
 * confucius_grow() - takes over a larger block of slots
 * @c:		the discipline
 * @slots:	the block
 * @slot_count:	how many slots it has
 *
 * Return: the former block, which is the caller's again.
 */
static void *confucius_grow(struct confucius *c, void *slots, u32 slot_count)
{
	void *former = c->slots;

	memcpy(slots, former, confucius_slots_size(c->slots_used));
	c->slots = slots;
	c->slot_count = slot_count;
	return former;
}

/* Takes out any packet, in no particular order; NULL where none is left. */
static inline void *confucius_purge(struct confucius *c)
{
	struct cf_popped popped;
	u32 class, skips = 0;

	if (!c->backlogged)
		return NULL;
	class = cf_eldest(c);
	cf_pop(c, class, cf_front(c, class, &skips), &popped);
	return popped.packet;
}

#endif
