/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The discipline without a kernel around it: it calls nothing but its hooks,
 * and makes the same decisions, to the packet, as the one in Rust. Time is in
 * ns and only goes forward.
 *
 * Hosts take turns, and within a host its flows do, those that come back first,
 * and then new ones (RFC 8290); a flow whose packets wait for too long is
 * signalled by marks or drops. A flow that has kept its own queue short for a
 * second is settled. Within their host's share settled flows may always
 * have half, and when others come they give way as slowly as their congestion
 * control can follow. End hosts need no changes.
 */
#ifndef __MENCIUS_H
#define __MENCIUS_H

#include "../common/flow_list.h"
#include "../common/flow_table.h"
#include "mencius_aqm.h"
#include "mencius_by_size.h"
#include "mencius_classify.h"
#include "mencius_figures.h"
#include "mencius_hold.h"
#include "mencius_hooks.h"
#include "mencius_pace.h"
#include "mencius_room.h"
#include "mencius_serve.h"
#include "mencius_settling.h"
#include "mencius_sparse.h"
#include "mencius_store.h"
#include "mencius_turns.h"
#include "mencius_types.h"

/* So many packets are dropped at once after a change. */
#define MN_SHRINK	64
/* So many full packets are a short queue on a slow link. */
#define MN_SHORT	8
/* Packets that may wait in any flow before its sender is signalled. */
#define MN_STANDS	4
/*
 * The turn of a flow goes to a settled one of its host if its packet has
 * waited for a part of the minimum: one in so many.
 */
#define MN_STANDING	4
/*
 * Final bytes of a host's other flows per 256 of its settled ones,
 */
#define MN_EDGE		160
/* and final share of other hosts: so many of 256 parts of their fair share. */
#define MN_BETWEEN	192

/* Adapts to parameters, and to the link's rate as far as it shows. */
static noinline void mn_tune(struct mencius *m)
{
	const struct mencius_params *params = &m->params;
	u64 min_wait = max(params->min_wait, m->pace.full * MN_SHORT);
	u64 target = max(params->target, m->pace.full * MN_STANDS);

	m->within.min_wait = min_wait;
	m->within.stands = min_wait / MN_STANDING;
	m->within.max_wait = max(params->max_wait, params->min_wait) +
			     min_wait - params->min_wait;
	m->within.rise = params->rise;
	m->within.doubling = params->doubling;
	m->within.settled_share = params->settled_share;
	m->within.of_fair = 256;
	m->within.edge = MN_EDGE;
	m->between = m->within;
	m->between.stands = min_wait;
	m->between.settled_share = 0;
	m->between.of_fair = MN_BETWEEN;
	m->between.edge = U32_MAX;
	m->plain = target;
	/* Behind the bottleneck, that is no reason to wait longer. */
	m->patient = max(target, params->ingress ? m->pace.full * MN_SHORT :
						   min_wait);
	m->step = max(MN_STEP, m->pace.full * 2);
	/*
	 * Slightly above the highest, where even these are signalled by drops.
	 */
	m->spared = m->within.max_wait * 5 / 4;
}

/* Whether no packets wait, so that mencius_dequeue() would find nothing. */
static __always_inline bool mencius_is_empty(const struct mencius *m)
{
	return !m->backlog.packets;
}

/**
 * mencius_enqueue() - a packet arrives
 * @m:		the discipline
 * @now:	ns
 * @hash:	of its flow, its high bits as good as its low ones
 * @packet:	the packet
 * @len:	bytes for the scheduler, at least one
 * @mem:	bytes of memory that it takes; @len if that is more, so that no
 *		sum of lengths is above memory_limit
 *
 * Return: whether there was room. Otherwise the packet was dropped.
 */
static __always_inline bool mencius_enqueue(struct mencius *m, u64 now,
					    u32 hash, void *packet, u32 len,
					    u32 mem)
{
	struct mn_backlog before;
	struct mn_flow *flow;
	struct mn_host *host;
	bool settled;
	u32 at;

	mem = max(mem, len);
	if (unlikely(m->shaper.pace) && mencius_is_empty(m))
		mn_shaper_wake_up(&m->shaper, now);
	mn_forget_idle(m, now);
	at = mn_flow_of(m, now, hash, packet);
	if (unlikely(!mn_fits(m, 1, mem)) && !mn_make_room(m, now, mem)) {
		mn_count_drop(m, at);
		mencius_dropped(m, packet, len, at, MENCIUS_TAIL);
		return false;
	}
	flow = &m->flows[at];
	host = &m->hosts[flow->host];
	before = flow->backlog;
	mn_sparse_came(m, at, mn_settling_arrived(&flow->settling, now), len,
		       mn_may_owe(m, host));
	settled = mn_is_settled(m, now, at);
	mn_push(m, now, at, settled, packet, len, mem);
	mn_resize(m, at, before);
	mn_count_as(m, at, mn_standing_of(settled));
	mn_join(&host->turns, mn_flow_turns(m), at, m->params.quantum);
	mn_join(&m->turns, mn_host_turns(m), flow->host, m->params.quantum);
	return true;
}

/**
 * mencius_dequeue() - the link is free
 * @m:		the discipline
 * @now:	ns
 * @sent:	where to store data on the packet
 *
 * Return: a packet; NULL where none waits, or none may leave yet.
 */
static __always_inline void *mencius_dequeue(struct mencius *m, u64 now,
					     struct mencius_sent *sent)
{
	struct mn_popped popped;
	u32 at;

	sent->until = 0;
	if (mencius_is_empty(m))
		return NULL;
	if (unlikely(m->shaper.pace)) {
		sent->until = mn_shaper_holds(&m->shaper, now);
		if (sent->until)
			return NULL;
		mn_shaper_make_up(&m->shaper, now);
	}
	at = mn_serve(m, now, &popped);
	sent->wire = popped.len;
	if (unlikely(m->shaper.pace))
		sent->wire = mn_charge_link(m, popped.packet, popped.len,
					    false);
	mn_leave_if_empty(m, at);
	if (unlikely(mn_pace_sent(&m->pace, now, popped.len,
				  !mencius_is_empty(m))))
		mn_tune(m);
	sent->sojourn = fl_since(now, popped.arrived);
	sent->len = popped.len;
	sent->flow = at;
	sent->why = popped.why;
	return popped.packet;
}

/**
 * mencius_change() - changes parameters; new limits may leave packets no room
 * @m:		the discipline
 * @now:	ns
 * @params:	the parameters, with the same number of flows
 *
 * There have to be slots for the new limit: see mencius_grow(). What has no
 * room any more waits until mencius_shrink() drops it.
 */
static void mencius_change(struct mencius *m, u64 now,
			   const struct mencius_params *params)
{
	if (params->bandwidth != m->params.bandwidth)
		mn_shaper_change(&m->shaper, now, params->bandwidth);
	m->params = *params;
	mn_tune(m);
}

/*
 * Drops packets for which there is no room, MN_SHRINK at most. Returns whether
 * there are more.
 */
static bool mencius_shrink(struct mencius *m, u64 now)
{
	u32 left;

	for (left = MN_SHRINK; left && !mn_fits(m, 0, 0); left--)
		mn_drop_largest(m, now, MENCIUS_CHANGE);
	return !mn_fits(m, 0, 0);
}

/*
 * Bytes of the block that mencius_init() divides into flows, hosts and sets.
 */
static inline size_t mencius_table_size(u32 flows)
{
	u32 hosts = mn_hosts_for(flows);

	return (size_t)mn_flow_places(flows) * sizeof(struct mn_flow) +
	       (size_t)ft_places(hosts) * sizeof(struct mn_host) +
	       (size_t)(ft_places(flows) + ft_places(hosts)) *
		       sizeof(struct ft_seen) +
	       (size_t)(ft_sets_for(flows) + ft_sets_for(hosts)) *
		       sizeof(struct ft_set);
}

/* Bytes of the block of slots for so many packets. */
static inline size_t mencius_slots_size(u32 limit)
{
	return (size_t)limit * sizeof(struct mn_slot);
}

/**
 * mencius_init() - begins with an empty queue
 * @m:		the discipline
 * @params:	the parameters
 * @table:	a block of mencius_table_size() bytes, of any content
 * @slots:	a block of slots, of any content
 * @slot_count:	how many there are, at least @params->limit
 *
 * Packets that waited are forgotten: mencius_purge() gives them back before.
 */
static void mencius_init(struct mencius *m, const struct mencius_params *params,
			 void *table, void *slots, u32 slot_count)
{
	u32 flows = params->flows, hosts = mn_hosts_for(flows);
	struct ft_seen *seen;
	struct ft_set *sets;

	memset(m, 0, sizeof(*m));
	memset(table, 0, mencius_table_size(flows));
	m->slots = slots;
	m->slot_count = slot_count;
	m->free = FL_NIL;
	m->flows = table;
	m->hosts = (struct mn_host *)(m->flows + mn_flow_places(flows));
	seen = (struct ft_seen *)(m->hosts + ft_places(hosts));
	sets = (struct ft_set *)(seen + ft_places(flows) + ft_places(hosts));
	ft_table_init(&m->flow_table, seen, sets, flows);
	ft_table_init(&m->host_table, seen + ft_places(flows),
		      sets + ft_sets_for(flows), hosts);
	fl_list_init(&m->settled_hosts);
	mn_sparse_init(&m->sparse);
	mn_turns_init(&m->turns);
	mn_sizes_init(&m->sizes);
	mn_hold_init(&m->hold, 0);
	m->params = *params;
	mn_shaper_change(&m->shaper, 0, params->bandwidth);
	mn_tune(m);
}

/**
 * mencius_grow() - takes over a larger block of slots
 * @m:		the discipline
 * @slots:	the block
 * @slot_count:	how many slots it has
 *
 * Return: the former block, which is the caller's again.
 */
static void *mencius_grow(struct mencius *m, void *slots, u32 slot_count)
{
	void *former = m->slots;

	memcpy(slots, former, mencius_slots_size(m->slots_used));
	m->slots = slots;
	m->slot_count = slot_count;
	return former;
}

/*
 * Takes out any packet, in no particular order; NULL where none is left. Only
 * mencius_init() may follow.
 */
static inline void *mencius_purge(struct mencius *m)
{
	struct mn_backlog before;
	struct mn_popped popped;
	u32 at;

	if (mencius_is_empty(m))
		return NULL;
	at = mn_sizes_largest(&m->hosts[mn_sizes_largest(&m->sizes)].sizes);
	before = m->flows[at].backlog;
	mn_pop(m, at, &popped);
	mn_resize(m, at, before);
	return popped.packet;
}

#endif
