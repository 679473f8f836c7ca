/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packet is sent next: that of the turn, unless a settled flow has
 * it instead.
 *
 * A hold does not go before turns. It takes the turn of a flow or a host that
 * stands: the packet that would go is of no settled flow, and has waited
 * for a while itself. So who stays below its share is served as if nobody were
 * held back.
 */
#ifndef __MENCIUS_SERVE_H
#define __MENCIUS_SERVE_H

#include "mencius_allowance.h"
#include "mencius_aqm.h"
#include "mencius_classify.h"
#include "mencius_figures.h"
#include "mencius_hold.h"
#include "mencius_pace.h"
#include "mencius_settling.h"
#include "mencius_sparse.h"
#include "mencius_store.h"
#include "mencius_turns.h"
#include "mencius_types.h"

/*
 * At most so many packets of flows that are no longer settled are skipped
 * for a packet.
 */
#define MN_SKIPS	16
/* Hosts that are considered for a packet that goes before other hosts. */
#define MN_CONSIDERED	4
/*
 * A settled flow is signalled above this wait if packets of no other flow
 * wait: a radio link that pauses causes that much. Behind the bottleneck
 * nothing does.
 */
#define MN_ALONE	(250 * MN_MS)

/*
 * The settled flow of a host that has waited longest, or FL_NIL: also where
 * too many packets of flows that no longer are would have to be skipped.
 */
static __always_inline u32 mn_longest_waiting_in(struct mencius *m,
						 const struct mn_host *host)
{
	u32 left;

	for (left = MN_SKIPS; left && host->listed.head != FL_NIL; left--) {
		u32 at = m->slots[host->listed.head].flow;

		if (likely(m->flows[at].standing == MN_SETTLED))
			return at;
		mn_unlist(m, host->listed.head);
	}
	return FL_NIL;
}

/*
 * Whether the minimum is the time of packets. Turns are lent without a limit
 * then, but for the hold's own: a call stalls on such a link if a few packets
 * have to wait.
 */
static __always_inline bool mn_is_slow(const struct mencius *m)
{
	return m->between.min_wait > m->params.min_wait;
}

/*
 * The settled flow of the next host in turn that has waited for the minimum, or
 * else of the last host considered, or FL_NIL.
 */
static __always_inline u32 mn_next_settled(struct mencius *m, u64 now)
{
	u32 found = FL_NIL, left, at;

	for (left = MN_CONSIDERED; left && m->settled_hosts.head != FL_NIL;
	     left--) {
		at = mn_longest_waiting_in(m, &m->hosts[m->settled_hosts.head]);
		mn_considered(m);
		if (unlikely(at == FL_NIL))
			continue;
		found = at;
		if (mn_wait(m, now, at) >= m->between.min_wait)
			break;
	}
	return found;
}

/* The flow that other hosts are held back for, or FL_NIL. */
static __always_inline u32 mn_ahead_of_hosts(struct mencius *m, u64 now)
{
	u32 at = mn_next_settled(m, now);
	u32 others;

	if (at == FL_NIL)
		return FL_NIL;
	/* Other flows of its own host do not compete with it. */
	others = m->backlogged.others -
		 (m->hosts[m->flows[at].host].backlogged.others > 0);
	if (!others) {
		mn_hold_rests(&m->hold, now);
		return FL_NIL;
	}
	if (!mn_hold_serves(&m->hold, now, mn_wait(m, now, at), &m->between,
			    &m->backlogged))
		return FL_NIL;
	return at;
}

/* The flow that others of its host are held back for, or FL_NIL. */
static __always_inline u32 mn_ahead_of_flows(struct mencius *m, u64 now,
					     struct mn_host *host)
{
	u32 at = mn_longest_waiting_in(m, host);

	if (at == FL_NIL)
		return FL_NIL;
	if (!host->backlogged.others) {
		mn_hold_rests(&host->hold, now);
		return FL_NIL;
	}
	if (!mn_hold_serves(&host->hold, now, mn_wait(m, now, at), &m->within,
			    &host->backlogged))
		return FL_NIL;
	return at;
}

static __always_inline enum mn_cause mn_cause_of(const struct mencius *m,
						 const struct mn_flow *flow)
{
	if (flow->standing != MN_SETTLED)
		return MN_FLOW;
	if (m->hosts[flow->host].hold.on || m->hold.on)
		return MN_OTHERS;
	if (flow->backlog.packets == m->backlog.packets)
		return MN_LINK;
	return MN_FLOW;
}

/* Takes the next packet of flow @at, which has one, through its AQM. */
static __always_inline void mn_send(struct mencius *m, u64 now, u32 at,
				    struct mn_popped *popped)
{
	struct mn_flow *flow = &m->flows[at];
	struct mn_host *host = &m->hosts[flow->host];
	struct mn_backlog before = flow->backlog;
	bool settled = flow->standing == MN_SETTLED;
	enum mn_cause cause = mn_cause_of(m, flow);
	u64 target = settled ? m->patient : m->plain;

	if (cause == MN_OTHERS && mn_wait(m, now, at) < m->spared)
		target = U64_MAX;
	else if (cause == MN_LINK && !m->params.ingress)
		target = max(target, MN_ALONE);
	if (unlikely(mn_tell(m, now, at, target, popped)) && cause != MN_OTHERS)
		mn_settling_dropped(&flow->settling, now);
	mn_settling_left(&flow->settling, now, fl_since(now, popped->arrived),
			 &m->within, cause);
	mn_count_sent(flow, host, now, popped->arrived, popped->len);
	if (host->backlogged.others || !settled)
		mn_hold_sent(&host->hold, popped->len, settled, &m->within);
	mn_hold_sent(&m->hold, popped->len, settled, &m->between);
	mn_resize(m, at, before);
	mn_judge(m, now, at);
}

#ifndef MENCIUS_RFC
/* What @len bytes of @host count in the turns of hosts. */
static __always_inline u32 mn_counts(const struct mn_host *host, u32 len)
{
	return len * host->queues;
}

#endif
/* Takes a packet of @kind out of its turn, and returns its flow. */
static __always_inline u32 mn_send_sparse(struct mencius *m, u64 now, u32 kind,
					  struct mn_popped *popped)
{
	u32 at = m->sparse.lists[kind].head;
	struct mn_flow *flow = &m->flows[at];
	struct mn_host *host = &m->hosts[flow->host];

	mn_send(m, now, at, popped);
	popped->why = MENCIUS_SPARSE;
	mn_charge(&flow->member, popped->len);
	mn_charge(&host->member, mn_counts(host, popped->len));
	return at;
}

/* A packet of @len bytes was sent in the turn of @host. */
static __always_inline void mn_turn_of_host(struct mencius *m,
					    struct mn_host *host, u32 len)
{
	mn_sent(&m->turns, mn_host_turns(m), &host->member,
		mn_counts(host, len), host->backlog.packets);
	m->before_turns -= min(m->before_turns, len);
}

/* Whether flow @at, whose turn it is, is held back for settled ones. */
static __always_inline bool mn_stands(const struct mencius *m, u64 now, u32 at,
				      const struct mn_rules *rules)
{
	return m->flows[at].standing != MN_SETTLED &&
	       mn_wait(m, now, at) >= rules->stands;
}

/* How a host lets a packet of another one go in its turn. */
enum mn_lends {
	MN_LENDS_NOT,
	/*
	 * It keeps its turn. The packet comes off the turns of the other host,
	 * which would have them in addition otherwise, so that a call near its
	 * fair share would not notice that others came.
	 */
	MN_LENDS_PASSAGE,
	MN_LENDS_ALLOWANCE,	/* it loses its turn, and so much allowance */
	MN_LENDS_TURN,		/* it loses its turn */
};

static __always_inline enum mn_lends mn_lends(struct mencius *m, u64 now,
					      struct mn_host *host,
					      const struct mn_host *other)
{
	if (mn_is_slow(m))
		return MN_LENDS_TURN;
	if (m->before_turns < MN_HOST_OWED && mn_may_owe(m, other))
		return MN_LENDS_PASSAGE;
	return mn_allowance_is_spent(&host->allowance, now) ? MN_LENDS_NOT :
							MN_LENDS_ALLOWANCE;
}

/* @host lets a packet of @len bytes of @other go. */
static __always_inline void mn_lend(struct mencius *m, u64 now,
				    enum mn_lends lends, struct mn_host *host,
				    struct mn_host *other, u32 len)
{
	u32 hosts = m->backlogged.settled + m->backlogged.others;

	if (lends == MN_LENDS_PASSAGE) {
		m->before_turns += len;
		mn_charge(&other->member, mn_counts(other, len));
		return;
	}
	mn_turn_of_host(m, host, len);
	if (lends == MN_LENDS_ALLOWANCE)
		mn_allowance_spend(&host->allowance, now,
				   mn_pace_time_of(&m->pace, len) * hosts);
}

/* Takes the next packet if no first one goes, and returns its flow. */
static __always_inline u32 mn_serve_later(struct mencius *m, u64 now,
					  struct mn_popped *popped)
{
	u32 quantum = m->params.quantum;
	u32 other = mn_ahead_of_hosts(m, now);
	u32 number = mn_next(&m->turns, mn_host_turns(m), quantum);
	struct mn_host *host = &m->hosts[number];
	u32 at = mn_ahead_of_flows(m, now, host);
	u32 turn = mn_next(&host->turns, mn_flow_turns(m), quantum);
	enum mn_lends lends = MN_LENDS_NOT;

	if (likely(at == FL_NIL) || !mn_stands(m, now, turn, &m->within))
		at = turn;
	if (unlikely(other != FL_NIL) && m->flows[other].host != number &&
	    mn_stands(m, now, at, &m->between))
		lends = mn_lends(m, now, host, &m->hosts[m->flows[other].host]);
	if (unlikely(lends != MN_LENDS_NOT)) {
		mn_send(m, now, other, popped);
		popped->why = MENCIUS_AHEAD_HOSTS;
		m->counts.ahead_hosts++;
		mn_count_ahead(m, other, popped->len);
		mn_lend(m, now, lends, host, &m->hosts[m->flows[other].host],
			popped->len);
		return other;
	}
	mn_send(m, now, at, popped);
	popped->why = MENCIUS_IN_TURN;
	if (unlikely(at != turn)) {
		popped->why = MENCIUS_AHEAD_FLOWS;
		m->counts.ahead_flows++;
		mn_count_ahead(m, at, popped->len);
	}
	mn_sent(&host->turns, mn_flow_turns(m), &m->flows[turn].member,
		popped->len, m->flows[turn].backlog.packets);
	mn_turn_of_host(m, host, popped->len);
	return at;
}

/* Takes the next packet, and returns its flow. */
static __always_inline u32 mn_serve(struct mencius *m, u64 now,
				    struct mn_popped *popped)
{
	u32 kind = mn_sparse_kind(&m->sparse);
	u32 at;

	if (kind != MN_KINDS)
		at = mn_send_sparse(m, now, kind, popped);
	else
		at = mn_serve_later(m, now, popped);
	mn_sparse_sent(&m->sparse, popped->len, kind);
	return at;
}

#endif
