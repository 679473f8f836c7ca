/* SPDX-License-Identifier: GPL-2.0 */
/*
 * FLOQ: one queue that spares the first packets of a flow, and drops flows that
 * do not respond.
 *
 * M. Yanev and P. Harvey, "Herding the FLOQ: Flow Optimised Queueing", IFIP
 * Networking 2022; remarks name its sections.
 *
 * A flow is responsive until its rate does not fall after drops. Each type has
 * a part of the buffer for itself, and the last fifth of the buffer admits by
 * chance: responsive flows more than others, and the first packets of a
 * responsive flow most, since a flow that loses one of these waits for a
 * timeout.
 *
 * This is the discipline without a kernel around it: it calls nothing, and
 * makes the same decisions, to the packet, as the one in Rust, which documents
 * the reading of the paper. Time is in ns and only goes forward. The including
 * file supplies the kernel's integer types, U32_MAX, min, max, likely,
 * unlikely, noinline, __always_inline, div_u64, __ffs, memset, memcpy and the
 * three hooks below; allocates; and calls one function at a time.
 */
#ifndef __FLOQ_H
#define __FLOQ_H

#include "../common/flow_list.h"
#include "floq_types.h"

/* At most so many idle flows are forgotten for a packet. */
#define FL_BATCH	8

/*
 * The including file's: a packet of a type is dropped, and from now on the
 * hook's. It waited if @reason is FLOQ_CHANGE, and else has just arrived.
 */
static void floq_dropped(struct floq *f, void *packet, u32 len, u8 kind,
			 enum floq_reason reason);

/*
 * The including file's: marks a packet as having met congestion; false if its
 * sender would not understand.
 */
static bool floq_mark(struct floq *f, void *packet);

/* The including file's: @flow is of another type; it begins if @from is -1. */
static void floq_moved(struct floq *f, u32 flow, int from, int to);

#include "floq_admission.h"
#include "floq_behaviour.h"
#include "floq_chance.h"
#include "floq_fifo.h"

/**
 * struct fl_arrival - the flow of an arriving packet
 * @flow:	its flow; NULL if the table has no room for it
 * @kind:	enum floq_kind
 * @phase:	enum floq_phase
 */
struct fl_arrival {
	struct fl_flow	*flow;
	u8		kind;
	u8		phase;
};

/* Packets of these may still wait: they are counted by type. */
static __always_inline void fl_forget_idle(struct floq *f, u64 now)
{
	u32 batch, at;

	for (batch = 0; batch < FL_BATCH; batch++) {
		at = ft_idle(&f->table, now, f->params.idle);
		if (likely(at == FL_NIL))
			return;
		if (!ft_are_guests(&f->table, at))
			f->known[f->flows[at].behaviour.kind]--;
		ft_forget(&f->table, at);
	}
}

/* The unknown flow @hash begins, if there is room for it. */
static noinline u32 fl_find_unknown(struct floq *f, u64 now, u32 hash)
{
	bool fresh;
	u32 at;

	/* One queue keeps packets in order, for any state of their flow. */
	at = ft_admit(&f->table, now, hash, ft_free_way(&f->table, hash),
		      &fresh);
	if (ft_are_guests(&f->table, at))
		return FL_NIL;
	fl_begin(&f->flows[at].behaviour, now);
	f->flows[at].count = 0;
	f->flows[at].lost = false;
	f->known[FLOQ_RESPONSIVE]++;
	floq_moved(f, at, -1, FLOQ_RESPONSIVE);
	return at;
}

/* The phase of the next packet of @flow (IV.A). */
static __always_inline u8 fl_phase(const struct fl_flow *flow, u32 initial)
{
	if (flow->count >= initial)
		return FLOQ_LATER;
	return flow->lost ? FLOQ_INITIAL_LOST : FLOQ_INITIAL;
}

/*
 * A packet of @len bytes of the flow @hash arrives. A flow for which there is
 * no room is taken for responsive and established.
 */
static __always_inline void fl_arrival_of(struct floq *f, u64 now, u32 hash,
					  u32 len, struct fl_arrival *arrival)
{
	u32 at = ft_lookup(&f->table, hash);
	struct fl_flow *flow;
	u8 before;

	if (likely(at != FL_NIL))
		ft_touch(&f->table, now, at);
	else
		at = fl_find_unknown(f, now, hash);
	if (unlikely(at == FL_NIL)) {
		arrival->flow = NULL;
		arrival->kind = FLOQ_RESPONSIVE;
		arrival->phase = FLOQ_LATER;
		return;
	}
	flow = &f->flows[at];
	before = flow->behaviour.kind;
	fl_arrived(&flow->behaviour, now, len, &f->params);
	arrival->flow = flow;
	arrival->kind = flow->behaviour.kind;
	arrival->phase = fl_phase(flow, f->params.initial);
	flow->count = fl_add(flow->count, 1);
	if (unlikely(arrival->kind != before)) {
		f->known[before]--;
		f->known[arrival->kind]++;
		floq_moved(f, at, before, arrival->kind);
	}
}

/* The arriving packet is dropped. */
static noinline void fl_lose(struct floq *f, u64 now, void *packet, u32 len,
			     const struct fl_arrival *arrival,
			     enum floq_reason reason)
{
	f->counts[arrival->kind][arrival->phase].drops[reason]++;
	if (arrival->flow) {
		arrival->flow->lost = true;
		fl_told(&arrival->flow->behaviour, now, &f->params);
	}
	floq_dropped(f, packet, len, arrival->kind, reason);
}

/*
 * Instead of a drop by chance. A mark requires the same reaction as a drop,
 * without a loss.
 */
static noinline bool fl_mark(struct floq *f, u64 now, void *packet,
			     const struct fl_arrival *arrival)
{
	if (!f->params.ecn || !floq_mark(f, packet))
		return false;
	f->counts[arrival->kind][arrival->phase].marks++;
	if (arrival->flow)
		fl_told(&arrival->flow->behaviour, now, &f->params);
	return true;
}

/* Whether no packets wait, so that floq_dequeue() would find nothing. */
static __always_inline bool floq_is_empty(const struct floq *f)
{
	return !f->packets;
}

/**
 * floq_enqueue() - a packet arrives
 * @f:		the discipline
 * @now:	ns
 * @hash:	of its flow, its high bits as good as its low ones
 * @packet:	the packet
 * @len:	its bytes
 *
 * Return: whether it was queued. Otherwise it was dropped.
 */
static __always_inline bool floq_enqueue(struct floq *f, u64 now, u32 hash,
					 void *packet, u32 len)
{
	struct fl_arrival arrival;
	u64 chance;

	fl_forget_idle(f, now);
	fl_arrival_of(f, now, hash, len, &arrival);
	f->counts[arrival.kind][arrival.phase].arrived++;
	if (unlikely(f->packets >= f->params.limit)) {
		fl_lose(f, now, packet, len, &arrival, FLOQ_TAIL);
		return false;
	}
	chance = fl_drop_probability(f, arrival.kind, arrival.phase);
	if (unlikely(fl_happens(&f->chance, chance)) &&
	    !fl_mark(f, now, packet, &arrival)) {
		fl_lose(f, now, packet, len, &arrival, FLOQ_CONGESTION);
		return false;
	}
	fl_push(f, now, arrival.kind, packet, len);
	return true;
}

/**
 * floq_dequeue() - the link is free
 * @f:		the discipline
 * @now:	ns
 * @sent:	where to store data on the packet
 *
 * Return: the packet that has waited longest; NULL where none waits.
 */
static __always_inline void *floq_dequeue(struct floq *f, u64 now,
					  struct floq_sent *sent)
{
	struct fl_slot *slot;

	if (floq_is_empty(f))
		return NULL;
	slot = fl_shift(f);
	sent->sojourn = fl_since(now, slot->arrived);
	sent->len = slot->len;
	sent->kind = slot->kind;
	return slot->packet;
}

/**
 * floq_change() - changes parameters; a smaller limit drops the latest packets
 * @f:		the discipline
 * @params:	the parameters, with the same number of flows
 *
 * There have to be slots for the new limit: see floq_grow(). Trials that are
 * under way go on with the new windows.
 */
static void floq_change(struct floq *f, const struct floq_params *params)
{
	struct fl_slot *slot;

	f->params = *params;
	fl_rules_set(&f->rules, params);
	while (f->packets > params->limit) {
		slot = fl_pop(f);
		floq_dropped(f, slot->packet, slot->len, slot->kind,
			     FLOQ_CHANGE);
	}
}

/* Bytes of the block that floq_init() divides into flows and sets. */
static inline size_t floq_table_size(u32 flows)
{
	return (size_t)ft_places(flows) *
		       (sizeof(struct fl_flow) + sizeof(struct ft_seen)) +
	       (size_t)ft_sets_for(flows) * sizeof(struct ft_set);
}

/* Bytes of the block of slots for so many packets. */
static inline size_t floq_slots_size(u32 limit)
{
	return (size_t)limit * sizeof(struct fl_slot);
}

/**
 * floq_init() - begins with an empty queue
 * @f:		the discipline
 * @params:	the parameters
 * @seed:	of its chance
 * @table:	a block of floq_table_size() bytes, of any content
 * @slots:	a block of slots, of any content
 * @slot_count:	how many there are, at least @params->limit
 *
 * Packets that waited are forgotten: floq_purge() gives them back before.
 */
static void floq_init(struct floq *f, const struct floq_params *params,
		      u64 seed, void *table, void *slots, u32 slot_count)
{
	struct fl_flow *flows = table;
	u32 places = ft_places(params->flows);
	struct ft_seen *seen = (void *)(flows + places);
	struct ft_set *sets = (void *)(seen + places);

	memset(f, 0, sizeof(*f));
	memset(table, 0, floq_table_size(params->flows));
	f->slots = slots;
	f->slot_count = slot_count;
	f->flows = flows;
	ft_table_init(&f->table, seen, sets, params->flows);
	f->chance = seed;
	f->params = *params;
	fl_rules_set(&f->rules, params);
}

/**
 * floq_grow() - takes over a larger block of slots
 * @f:		the discipline
 * @slots:	the block
 * @slot_count:	how many slots it has
 *
 * Return: the former block, which is the caller's again.
 */
static void *floq_grow(struct floq *f, void *slots, u32 slot_count)
{
	void *former = f->slots;

	fl_move(f, slots, slot_count);
	return former;
}

/* Takes out the oldest packet; NULL where none is left. */
static inline void *floq_purge(struct floq *f)
{
	return floq_is_empty(f) ? NULL : fl_shift(f)->packet;
}

#endif
