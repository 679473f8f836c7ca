/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow and the host of a packet, and the class of the flow in the
 * scheduler.
 */
#ifndef __MENCIUS_CLASSIFY_H
#define __MENCIUS_CLASSIFY_H

#include "../common/flow_table.h"
#include "mencius_allowance.h"
#include "mencius_aqm.h"
#include "mencius_by_size.h"
#include "mencius_hold.h"
#include "mencius_hooks.h"
#include "mencius_settling.h"
#include "mencius_translation.h"
#include "mencius_turns.h"
#include "mencius_types.h"

/* A flow or a host without packets for so long is forgotten. */
#define MN_FLOW_IDLE	(5 * MN_SECOND)
#define MN_HOST_IDLE	(20 * MN_SECOND)
/* Number of idle flows and hosts examined per packet. */
#define MN_BATCH	8

/*
 * Bytes that a host may owe for packets that went before its turns, and all
 * together for those that went before other hosts: eight full packets.
 */
#define MN_HOST_OWED	(8 * 1514)

/* Whether packets of @host may go before its turns. */
static __always_inline bool mn_may_owe(const struct mencius *m,
				       const struct mn_host *host)
{
	return mn_debt(&m->turns, &host->member, m->params.quantum) <
	       MN_HOST_OWED;
}

/* The place of the guests of a host. */
static inline u32 mn_guests_of(const struct mencius *m, u32 host)
{
	return m->flow_table.set_count * (FT_WAYS + 1) + host;
}

/* Flow @at is another one of a host from now on. */
static void mn_begin(struct mencius *m, u64 now, u32 at, u32 number)
{
	struct mn_host *host = &m->hosts[number];
	struct mn_flow *flow = &m->flows[at];

	mn_introduce(&host->turns, &flow->member);
	mn_signals_init(&flow->signals);
	memset(&flow->figures, 0, sizeof(flow->figures));
	mn_settling_init(&flow->settling, now);
	flow->sparse.bytes = 0;
	flow->sparse.spent = 0;
	flow->host = number;
	flow->term = host->term;
	flow->translation = (struct mn_translation){};
}

/* Its flows find out when their next packet comes. */
static void mn_forget_host(struct mencius *m, u32 at)
{
	m->hosts[at].term++;
	ft_forget(&m->host_table, at);
}

/* Whether a host keeps its place: it has packets waiting, or is not silent. */
static inline bool mn_host_stays(const void *core, u32 at, u64 now)
{
	const struct mencius *m = core;

	return m->hosts[at].backlog.packets ||
	       fl_since(now, m->host_table.seen[at].last_active) <= MN_GAP;
}

/*
 * A way for the unknown host @hash, or FL_NIL: where its set is full, that of
 * the host which has been silent longest, if it is silent and has nothing
 * waiting.
 */
static inline u32 mn_way_for_host(struct mencius *m, u64 now, u32 hash)
{
	struct ft_table *table = &m->host_table;
	u32 at;

	if (m->hosts[ft_guests_of(table, hash)].backlog.packets)
		return FL_NIL;
	at = ft_free_way(table, hash);
	if (at != FL_NIL || ft_idle(table, now, MN_GAP) == FL_NIL)
		return at;
	at = ft_silent_longest(table, now, hash, mn_host_stays, m);
	if (at != FL_NIL)
		mn_forget_host(m, at);
	return at;
}

static noinline u32 mn_begin_host(struct mencius *m, u64 now, u32 hash)
{
	u32 way = mn_way_for_host(m, now, hash);
	struct mn_host *host;
	bool fresh;
	u32 at;

	at = ft_admit(&m->host_table, now, hash, way, &fresh);
	if (!fresh)
		return at;
	host = &m->hosts[at];
	host->known = 0;
#ifndef MENCIUS_RFC
	host->queues = 1;
#endif
	fl_list_init(&host->listed);
	mn_hold_init(&host->hold, now);
	mn_allowance_init(&host->allowance, now);
	mn_turns_init(&host->turns);
	mn_sizes_init(&host->sizes);
	host->figures = (struct mn_host_figures){ .began = now };
	mn_introduce(&m->turns, &host->member);
	mn_begin(m, now, mn_guests_of(m, at), at);
	mencius_host_begun(m, at);
	return at;
}

/*
 * The hash that stands for the host of a packet. It may become another one
 * unless it is @final.
 */
static inline u32 mn_host_hash(struct mencius *m, void *packet,
			       bool *final)
{
	*final = true;
	if (m->params.hosts == MENCIUS_NONE)
		return 0;
	return mencius_host(m, packet, m->params.hosts == MENCIUS_SOURCE,
			    final);
}

/* The host of @packet, by addresses that are @final or not. */
static inline u32 mn_host_of(struct mencius *m, u64 now, void *packet,
			     bool *final)
{
	u32 hash = mn_host_hash(m, packet, final), at;

	at = ft_lookup(&m->host_table, hash);
	if (at == FL_NIL)
		return mn_begin_host(m, now, hash);
	ft_touch(&m->host_table, now, at);
	return at;
}

/* Whether the place of the flow's host is still that host's. */
static inline bool mn_has_host(const struct mencius *m,
			       const struct mn_flow *flow)
{
	return m->hosts[flow->host].term == flow->term;
}

/* A flow is forgotten: its host has one less. */
static inline void mn_leaves_host(struct mencius *m, u32 at)
{
	if (mn_has_host(m, &m->flows[at]))
		m->hosts[m->flows[at].host].known--;
}

static void mn_forget(struct mencius *m, u32 at)
{
	mn_leaves_host(m, at);
	ft_forget(&m->flow_table, at);
}

/* So many of the places of flows are each host's part, and one part is left. */
static inline u32 mn_part_of_host(const struct mencius *m)
{
	return m->flow_table.set_count * FT_WAYS / (m->host_table.active + 1);
}

/* A flow of @host that wants a place. */
struct mn_newcomer {
	const struct mencius *m;
	u32 host;
};

/*
 * Whether a flow keeps its place: it has packets waiting; or it is settled
 * and not silent, and the newcomer is of its host, which else has no more than
 * its part of all places.
 */
static inline bool mn_flow_stays(const void *newcomer, u32 at, u64 now)
{
	const struct mn_newcomer *new = newcomer;
	const struct mencius *m = new->m;
	const struct mn_flow *flow = &m->flows[at];

	return flow->backlog.packets ||
	       (mn_has_settled(&flow->settling, now) &&
		fl_since(now, flow->settling.last) <= MN_GAP &&
		(flow->host == new->host ||
		 m->hosts[flow->host].known <= mn_part_of_host(m)));
}

/*
 * The place that the unknown @hash of @host has now, or FL_NIL. In a full set
 * it is that of the flow which has been silent longest among those that do not
 * keep theirs.
 */
static u32 mn_place_for(struct mencius *m, u64 now, u32 hash, u32 host)
{
	const struct mn_newcomer newcomer = { m, host };
	struct ft_table *table = &m->flow_table;
	u32 at = ft_free_way(table, hash);

	if (at != FL_NIL) {
		ft_insert(table, now, hash, at);
		return at;
	}
	at = ft_silent_longest(table, now, hash, mn_flow_stays, &newcomer);
	if (at != FL_NIL) {
		mn_leaves_host(m, at);
		ft_replace(table, now, hash, at);
	}
	return at;
}

/* The place for an unknown flow of a host; @fresh if it is not with guests. */
static u32 mn_place_in_host(struct mencius *m, u64 now, u32 hash, u32 number,
			    bool *fresh)
{
	u32 of_set = ft_guests_of(&m->flow_table, hash);
	u32 of_host = mn_guests_of(m, number), at;
	bool set_waits = m->flows[of_set].backlog.packets;

	*fresh = false;
	if (set_waits && m->flows[of_set].host == number)
		return of_set;
	if (m->flows[of_host].backlog.packets)
		return of_host;
	m->hosts[number].hold.birth = now;
	m->hold.birth = now;
	at = mn_place_for(m, now, hash, number);
	if (at != FL_NIL) {
		*fresh = true;
		return at;
	}
	if (set_waits)
		return of_host;
	mn_begin(m, now, of_set, number);
	return of_set;
}

/*
 * The flow of an unknown @packet: a new one, or guests: flows for which there
 * is no room.
 *
 * The guests of a set are one flow, of one host. Where they are another host's,
 * there are the guests of the host. While either have packets waiting, flows
 * that may be among them stay guests: they could overtake themselves.
 */
static noinline u32 mn_begin_flow(struct mencius *m, u64 now, u32 hash,
				  void *packet)
{
	bool final, fresh;
	u32 number = mn_host_of(m, now, packet, &final);
	u32 at = mn_place_in_host(m, now, hash, number, &fresh);

	if (!fresh) {
		m->flow_table.shared++;
		return at;
	}
	m->hosts[number].known++;
	mn_begin(m, now, at, number);
	mn_translation_asked(&m->flows[at].translation, now, final);
#ifndef MENCIUS_RFC
	mencius_begun(m, packet, at);
#endif
	return at;
}

/*
 * Looks up the host of flow @at, which had provisional addresses. A flow with
 * packets waiting stays where it is, so that it cannot overtake itself.
 */
static noinline void mn_look_up_again(struct mencius *m, u64 now, u32 at,
				      void *packet)
{
	struct mn_flow *flow = &m->flows[at];
	u32 before = flow->host, number;
	bool final, had_host;

	if (flow->backlog.packets)
		return;
	number = mn_host_of(m, now, packet, &final);
	mn_translation_asked(&flow->translation, now, final);
	had_host = mn_has_host(m, flow);
	flow->host = number;
	flow->term = m->hosts[number].term;
	if (had_host && before == number)
		return;
	if (had_host)
		m->hosts[before].known--;
	m->hosts[number].known++;
	mn_introduce(&m->hosts[number].turns, &flow->member);
}

/* The flow of the packet that arrives. */
static inline u32 mn_flow_of(struct mencius *m, u64 now, u32 hash,
			     void *packet)
{
	u32 at = ft_lookup(&m->flow_table, hash);

	if (unlikely(at == FL_NIL))
		return mn_begin_flow(m, now, hash, packet);
	if (unlikely(!mn_has_host(m, &m->flows[at]))) {
		mn_forget(m, at);
		return mn_begin_flow(m, now, hash, packet);
	}
	if (mn_translation_is_due(&m->flows[at].translation, now))
		mn_look_up_again(m, now, at, packet);
	ft_touch(&m->flow_table, now, at);
	ft_touch(&m->host_table, now, m->flows[at].host);
	return at;
}

/*
 * Forgets flows and hosts that have fallen idle. While packets wait, the
 * scheduler still refers to them.
 */
static inline void mn_forget_idle(struct mencius *m, u64 now)
{
	u32 at, left;

	for (left = MN_BATCH; left; left--) {
		at = ft_idle(&m->flow_table, now, MN_FLOW_IDLE);
		if (likely(at == FL_NIL))
			break;
		if (!mn_is_idle(&m->flows[at].member))
			ft_touch(&m->flow_table, now, at);
		else
			mn_forget(m, at);
	}
	for (left = MN_BATCH; left; left--) {
		at = ft_idle(&m->host_table, now, MN_HOST_IDLE);
		if (likely(at == FL_NIL))
			break;
		if (!mn_is_idle(&m->hosts[at].member))
			ft_touch(&m->host_table, now, at);
		else
			mn_forget_host(m, at);
	}
}

/* One flow more in a host; hosts have any. */
static inline void mn_joined(u32 *flows, u32 *hosts)
{
	*hosts += !*flows;
	++*flows;
}

/* One flow less. */
static inline void mn_left(u32 *flows, u32 *hosts)
{
	--*flows;
	*hosts -= !*flows;
}

/* Guests never are: they have no common behaviour. */
static __always_inline bool mn_is_settled(const struct mencius *m, u64 now,
					  u32 at)
{
	return !ft_are_guests(&m->flow_table, at) &&
	       mn_has_settled(&m->flows[at].settling, now);
}

/* Counts flow @at as @standing. */
static __always_inline void mn_count_as(struct mencius *m, u32 at, u8 standing)
{
	struct mn_flow *flow = &m->flows[at];
	struct mn_backlogged *flows = &m->hosts[flow->host].backlogged;
	u8 before = flow->standing;

	if (before == standing)
		return;
	flow->standing = standing;
	if (before == MN_OTHER)
		mn_left(&flows->others, &m->backlogged.others);
	else if (before == MN_SETTLED)
		mn_left(&flows->settled, &m->backlogged.settled);
	if (standing == MN_OTHER)
		mn_joined(&flows->others, &m->backlogged.others);
	else if (standing == MN_SETTLED)
		mn_joined(&flows->settled, &m->backlogged.settled);
}

/* The class of a flow that has packets waiting. */
static __always_inline u8 mn_standing_of(bool settled)
{
	return settled ? MN_SETTLED : MN_OTHER;
}

/* Counts flow @at, whose packets have left, under its current class. */
static __always_inline void mn_judge(struct mencius *m, u64 now, u32 at)
{
	u8 standing = MN_IDLE;

	if (m->flows[at].backlog.packets)
		standing = mn_standing_of(mn_is_settled(m, now, at));
	mn_count_as(m, at, standing);
}

/* Flow @at may have run empty, and its host, too. */
static __always_inline void mn_leave_if_empty(struct mencius *m, u32 at)
{
	struct mn_flow *flow = &m->flows[at];
	struct mn_host *host = &m->hosts[flow->host];

	if (flow->backlog.packets)
		return;
	mn_leave(&host->turns, mn_flow_turns(m), at, m->params.quantum);
	if (!host->backlog.packets)
		mn_leave(&m->turns, mn_host_turns(m), flow->host,
			 m->params.quantum);
}

#endif
