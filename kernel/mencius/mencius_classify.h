/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow and the host of a packet, and the class of the flow in the
 * scheduler.
 */
#ifndef __MENCIUS_CLASSIFY_H
#define __MENCIUS_CLASSIFY_H

/* A flow or a host without packets for so long is forgotten. */
#define MN_FLOW_IDLE	(5 * MN_SECOND)
#define MN_HOST_IDLE	(20 * MN_SECOND)
/* Number of idle flows and hosts examined per packet. */
#define MN_BATCH	8

static noinline u32 mn_begin_host(struct mencius *m, u64 now, u32 hash)
{
	struct ft_table *table = &m->host_table;
	u32 guests = ft_guests_of(table, hash);
	struct mn_host *host;
	bool fresh;
	u32 at;

	at = ft_admit(table, now, hash, m->hosts[guests].backlog.packets,
		      &fresh);
	if (!fresh)
		return at;
	host = &m->hosts[at];
	fl_list_init(&host->listed);
	mn_hold_init(&host->hold, now);
	mn_turns_init(&host->turns);
	mn_sizes_init(&host->sizes);
	mn_introduce(&m->turns, &host->member);
	return at;
}

/* The host of @flow, which begins with @packet. */
static u32 mn_host_of(struct mencius *m, u64 now, void *packet, u32 flow)
{
	u32 source, destination, hash, at;

	mencius_hosts(m, packet, flow, &source, &destination);
	mn_sides_note(&m->sides, now, source, destination);
	hash = mn_sides_host(&m->sides, m->params.hosts, source, destination);
	at = ft_lookup(&m->host_table, hash);
	if (at == FL_NIL)
		return mn_begin_host(m, now, hash);
	ft_touch(&m->host_table, now, at);
	return at;
}

static noinline u32 mn_begin_flow(struct mencius *m, u64 now, u32 hash,
				  void *packet)
{
	struct ft_table *table = &m->flow_table;
	u32 guests = ft_guests_of(table, hash);
	struct mn_flow *flow;
	struct mn_host *host;
	bool fresh;
	u32 at;

	at = ft_admit(table, now, hash, m->flows[guests].backlog.packets,
		      &fresh);
	flow = &m->flows[at];
	if (!fresh) {
		ft_touch(&m->host_table, now, flow->host);
		return at;
	}
	flow->host = mn_host_of(m, now, packet, at);
	host = &m->hosts[flow->host];
	host->known++;
	host->hold.birth = now;
	m->hold.birth = now;
	mn_introduce(&host->turns, &flow->member);
	mn_signals_init(&flow->signals);
	memset(&flow->figures, 0, sizeof(flow->figures));
	mn_calm_init(&flow->calm, now);
	flow->begun.bytes = 0;
	flow->begun.spent = 0;
	return at;
}

/* The flow of the packet that arrives. */
static __always_inline u32 mn_flow_of(struct mencius *m, u64 now, u32 hash,
				      void *packet)
{
	u32 at = ft_lookup(&m->flow_table, hash);

	if (unlikely(at == FL_NIL))
		return mn_begin_flow(m, now, hash, packet);
	ft_touch(&m->flow_table, now, at);
	ft_touch(&m->host_table, now, m->flows[at].host);
	return at;
}

/*
 * Forgets flows and hosts that have fallen idle. While packets wait, the
 * scheduler still refers to them. A host's flows are forgotten first: they
 * refer to it by its place.
 */
static __always_inline void mn_forget_idle(struct mencius *m, u64 now)
{
	u32 at, left;

	for (left = MN_BATCH; left; left--) {
		at = ft_idle(&m->flow_table, now, MN_FLOW_IDLE);
		if (likely(at == FL_NIL))
			break;
		if (m->flows[at].member.place != MN_NOWHERE) {
			ft_touch(&m->flow_table, now, at);
			continue;
		}
		m->hosts[m->flows[at].host].known--;
		ft_forget(&m->flow_table, at);
	}
	for (left = MN_BATCH; left; left--) {
		at = ft_idle(&m->host_table, now, MN_HOST_IDLE);
		if (likely(at == FL_NIL))
			break;
		if (m->hosts[at].known ||
		    m->hosts[at].member.place != MN_NOWHERE)
			ft_touch(&m->host_table, now, at);
		else
			ft_forget(&m->host_table, at);
	}
}

/* One flow more in a host; hosts have any. */
static __always_inline void mn_joined(u32 *flows, u32 *hosts)
{
	*hosts += !*flows;
	++*flows;
}

/* One flow less. */
static __always_inline void mn_left(u32 *flows, u32 *hosts)
{
	--*flows;
	*hosts -= !*flows;
}

/* Guests never are: they have no common behaviour. */
static __always_inline bool mn_is_established(const struct mencius *m, u64 now,
					      u32 at)
{
	return !ft_are_guests(&m->flow_table, at) &&
	       mn_is_calm(&m->flows[at].calm, now);
}

/* Counts flow @at as @standing. */
static __always_inline void mn_count_as(struct mencius *m, u32 at, u8 standing)
{
	struct mn_flow *flow = &m->flows[at];
	struct mn_rivals *flows = &m->hosts[flow->host].rivals;
	u8 before = flow->standing;

	if (before == standing)
		return;
	flow->standing = standing;
	if (before == MN_STRANGER)
		mn_left(&flows->others, &m->rivals.others);
	else if (before == MN_ESTABLISHED)
		mn_left(&flows->own, &m->rivals.own);
	if (standing == MN_STRANGER)
		mn_joined(&flows->others, &m->rivals.others);
	else if (standing == MN_ESTABLISHED)
		mn_joined(&flows->own, &m->rivals.own);
}

/* The class of a flow that has packets waiting. */
static __always_inline u8 mn_standing_of(bool established)
{
	return established ? MN_ESTABLISHED : MN_STRANGER;
}

/* Counts flow @at, whose packets have left, under its current class. */
static __always_inline void mn_judge(struct mencius *m, u64 now, u32 at)
{
	u8 standing = MN_IDLE;

	if (m->flows[at].backlog.packets)
		standing = mn_standing_of(mn_is_established(m, now, at));
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
