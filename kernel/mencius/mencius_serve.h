/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packet is sent next: holds first, and then turns.
 */
#ifndef __MENCIUS_SERVE_H
#define __MENCIUS_SERVE_H

/*
 * At most so many packets of flows that are no longer established are skipped
 * for a packet.
 */
#define MN_SKIPS	64
/* Bytes that a host may owe for packets that went before others'. */
#define MN_HOST_OWED	30000
/*
 * An established flow is signalled above this wait if packets of no other flow
 * wait: a radio link that pauses causes that much.
 */
#define MN_ALONE	(250 * MN_MS)

/*
 * The established flow of a host that has waited longest, or FL_NIL: also where
 * too many packets of flows that no longer are would have to be skipped.
 */
static __always_inline u32 mn_longest_waiting_in(struct mencius *m,
						 const struct mn_host *host)
{
	u32 left;

	for (left = MN_SKIPS; left && host->listed.head != FL_NIL; left--) {
		u32 at = m->slots[host->listed.head].flow;

		if (likely(m->flows[at].standing == MN_ESTABLISHED))
			return at;
		mn_unlist(m, host->listed.head);
	}
	return FL_NIL;
}

/*
 * Whether low is the time of packets. Nothing is owed then: a call stalls on
 * such a link if a few packets have to wait.
 */
static __always_inline bool mn_is_slow(const struct mencius *m)
{
	return m->between.low > m->params.low;
}

/*
 * The established flow that has waited longest of those whose hosts have favour
 * left, or FL_NIL: also where too many packets of others would have to be
 * skipped.
 */
static __always_inline u32 mn_longest_waiting(struct mencius *m, u64 now)
{
	u32 left;

	for (left = MN_SKIPS; left && m->listed.head != FL_NIL; left--) {
		u32 at = m->slots[m->listed.head].flow;
		const struct mn_flow *flow = &m->flows[at];

		if (unlikely(flow->standing != MN_ESTABLISHED))
			mn_unlist(m, m->listed.head);
		else if (!mn_is_slow(m) &&
			 mn_favour_is_spent(&m->hosts[flow->host].favour, now))
			mn_unlist_from_all(m, m->listed.head);
		else
			return at;
	}
	return FL_NIL;
}

/* The flow that goes before those of all other hosts, or FL_NIL. */
static __always_inline u32 mn_of_held_hosts(struct mencius *m, u64 now)
{
	u32 at = mn_longest_waiting(m, now);
	u32 others;

	if (at == FL_NIL)
		return FL_NIL;
	/* Strangers of its own host are no rivals of a host. */
	others = m->rivals.others -
		 (m->hosts[m->flows[at].host].rivals.others > 0);
	if (!others) {
		mn_hold_rests(&m->hold, now);
		return FL_NIL;
	}
	if (!mn_hold_serves(&m->hold, now, mn_wait(m, now, at), &m->between,
			    &m->rivals))
		return FL_NIL;
	m->counts.held_hosts++;
	return at;
}

/* The flow that goes before all others of its host, or FL_NIL. */
static __always_inline u32 mn_of_held_flows(struct mencius *m, u64 now,
					    struct mn_host *host)
{
	u32 at = mn_longest_waiting_in(m, host);

	if (at == FL_NIL)
		return FL_NIL;
	if (!host->rivals.others) {
		mn_hold_rests(&host->hold, now);
		return FL_NIL;
	}
	if (!mn_hold_serves(&host->hold, now, mn_wait(m, now, at), &m->within,
			    &host->rivals))
		return FL_NIL;
	m->counts.held_flows++;
	return at;
}

static __always_inline void mn_count(struct mn_figures *figures, u64 sojourn,
				     u32 len)
{
	figures->bytes += len;
	figures->packets++;
	figures->delay += (u32)(sojourn >> (MN_TICK + 3)) -
			  (figures->delay >> 3);
}

static __always_inline enum mn_cause mn_cause_of(const struct mencius *m,
						 const struct mn_flow *flow)
{
	if (flow->standing != MN_ESTABLISHED)
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
	bool established = flow->standing == MN_ESTABLISHED;
	enum mn_cause cause = mn_cause_of(m, flow);
	u64 target = established ? m->patient : m->plain;

	if (cause == MN_OTHERS && mn_wait(m, now, at) < m->spared)
		target = U64_MAX;
	else if (cause == MN_LINK)
		target = max(target, MN_ALONE);
	if (unlikely(mn_tell(m, now, at, target, popped)) && cause != MN_OTHERS)
		mn_calm_dropped(&flow->calm, now);
	mn_calm_left(&flow->calm, now, fl_since(now, popped->arrived),
		     &m->within, cause);
	mn_count(&flow->figures, fl_since(now, popped->arrived), popped->len);
	if (host->rivals.others || !established)
		mn_hold_sent(&host->hold, popped->len, established, &m->within);
	mn_hold_sent(&m->hold, popped->len, established, &m->between);
	mn_resize(m, at, before);
	mn_judge(m, now, at);
}

/* What @len bytes of @host count in the turns of hosts. */
static __always_inline u32 mn_counts(const struct mn_host *host, u32 len)
{
	return len * host->queues;
}

/* Takes a packet of @kind out of its turn, and returns its flow. */
static __always_inline u32 mn_send_first(struct mencius *m, u64 now, u32 kind,
					 struct mn_popped *popped)
{
	u32 at = m->firsts.lists[kind].head;
	struct mn_flow *flow = &m->flows[at];
	struct mn_host *host = &m->hosts[flow->host];

	mn_send(m, now, at, popped);
	popped->why = MENCIUS_FIRST;
	mn_charge(&flow->member, popped->len);
	mn_charge(&host->member, mn_counts(host, popped->len));
	return at;
}

/*
 * A packet of a host of @len bytes went before all others: it comes off the
 * turns of its host, which would have them in addition otherwise, so that a
 * call near its fair share would not notice that others came; and, beyond
 * those, off its favour.
 */
static __always_inline void mn_owe_for_hold(struct mencius *m, u64 now,
					    struct mn_host *host, u32 len)
{
	u32 unpaid;

	if (mn_is_slow(m))
		return;
	unpaid = mn_owe(&host->member, mn_counts(host, len), MN_HOST_OWED);
	if (unpaid)
		mn_favour_spend(&host->favour, now,
				mn_pace_time_of(&m->pace,
						unpaid / host->queues));
}

/* Takes the next packet if no first one goes, and returns its flow. */
static __always_inline u32 mn_serve_later(struct mencius *m, u64 now,
					  struct mn_popped *popped)
{
	u32 quantum = m->params.quantum;
	u32 at = mn_of_held_hosts(m, now);
	struct mn_host *host;
	u32 number;
	bool held;

	if (at != FL_NIL) {
		mn_send(m, now, at, popped);
		popped->why = MENCIUS_HELD_HOSTS;
		mn_owe_for_hold(m, now, &m->hosts[m->flows[at].host],
				popped->len);
		return at;
	}
	number = mn_next(&m->turns, mn_host_turns(m), quantum);
	host = &m->hosts[number];
	at = mn_of_held_flows(m, now, host);
	held = at != FL_NIL;
	if (!held)
		at = mn_next(&host->turns, mn_flow_turns(m), quantum);
	mn_send(m, now, at, popped);
	popped->why = held ? MENCIUS_HELD_FLOWS : MENCIUS_IN_TURN;
	if (!held)
		mn_sent(&host->turns, &m->flows[at].member, popped->len);
	mn_sent(&m->turns, &host->member, mn_counts(host, popped->len));
	return at;
}

/* Takes the next packet, and returns its flow. */
static __always_inline u32 mn_serve(struct mencius *m, u64 now,
				    struct mn_popped *popped)
{
	u32 kind = mn_first_kind(&m->firsts);
	u32 at;

	if (kind != MN_KINDS)
		at = mn_send_first(m, now, kind, popped);
	else
		at = mn_serve_later(m, now, popped);
	mn_first_sent(&m->firsts, popped->len, kind);
	return at;
}

#endif
