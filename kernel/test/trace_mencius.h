/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recorded operations, a line each, and the decisions that Mencius makes.
 *
 * new PARAMETER...			begins anew, with those of mencius_params.h in their order,
 *					of the core alone; times in us, HOSTS 0 none, 1 destination,
 *					2 source; BANDWIDTH in bytes per second, 0 unlimited,
 *					FRAMING 0 noatm, 1 atm, 2 ptm
 * change NOW PARAMETER...		new parameters, FLOWS as before; NOW in ns
 * e NOW HASH SOURCE DESTINATION LEN ECN [MEM]
 *					a packet arrives, with hashes of its flow and of its
 *					addresses; ECN is the field of its IP header, and 4 more
 *					where later packets of the flow may have other addresses;
 *					MEM is the memory that it takes, LEN if it is not said
 * d NOW				the link takes a packet
 * end
 *
 * Packets are numbered from 0 in order of arrival. The output:
 *
 * tx NUMBER WAITED PACKETS BYTES	left after WAITED ns, and so much waits
 * wait UNTIL				packets wait, and none may leave before this ns
 * mark NUMBER				the next one to leave is marked
 * drop NUMBER REASON
 * end PACKETS BYTES
 * did AHEAD_FLOWS AHEAD_HOSTS FORGOTTEN_FLOWS FORGOTTEN_HOSTS SHARED_FLOWS SHARED_HOSTS
 *					only in C: packets for which others were held
 *					back, and look-ups that found guests
 */
#ifndef __TRACE_MENCIUS_H
#define __TRACE_MENCIUS_H

#include "../mencius/pkt_sched_mencius.h"

#define CORE(name)	mencius_##name

/* A discipline that follows a trace. */
struct trace {
	struct mencius core;
	struct mencius_params params;
	bool begun;
	u32 number;		/* of the next packet */
	u64 now;
	u32 source;		/* of the packet that arrives */
	u32 destination;
	bool final;		/* so are its addresses */
	bool refused;		/* the packet that arrives */
};

#include "trace_follow.h"

static void mencius_dropped(struct mencius *m, void *packet, u32 len, u32 flow,
			    enum mencius_reason reason)
{
	static const char * const names[] = { "tail", "overlimit", "congestion", "change" };
	struct trace *trace = (struct trace *)m;

	(void)len;
	(void)flow;
	trace->refused = reason == MENCIUS_TAIL;
	trace_print("drop %u %s\n", trace_number(packet), names[reason]);
}

static bool mencius_mark(struct mencius *m, void *packet)
{
	(void)m;
	if (trace_capable(packet))
		trace_print("mark %u\n", trace_number(packet));
	return trace_capable(packet);
}

static bool mencius_is_l4s(const void *packet)
{
	return ((uintptr_t)packet & 3) == 1;
}

static u32 mencius_host(struct mencius *m, void *packet, bool source,
			bool *final)
{
	struct trace *trace = (struct trace *)m;

	(void)packet;
	*final = trace->final;
	return source ? trace->source : trace->destination;
}

static void mencius_host_begun(struct mencius *m, u32 host)
{
	(void)m;
	(void)host;
}

static void mencius_begun(struct mencius *m, void *packet, u32 flow)
{
	(void)m;
	(void)packet;
	(void)flow;
}

static u32 mencius_wire(const struct mencius *m, const void *packet, u32 len)
{
	(void)packet;
	return mn_framed(&m->params.framing, len);
}

/* Whether as many entries are known as have begun and were not forgotten. */
static bool trace_table_agrees(const struct ft_table *table)
{
	u32 at, known = 0;

	for (at = 0; at < table->set_count * (FT_WAYS + 1); at++)
		known += ft_is_known(table, at);
	return table->fresh - table->forgotten == known;
}

/*
 * Packets and bytes of hosts are those of all, and flows that wait belong to a
 * host.
 */
static bool trace_counts_agree(const struct mencius *m)
{
	u32 places = ft_places(mn_hosts_for(m->params.flows)), at;
	struct mn_backlog sum = {};
	struct mn_backlogged backlogged = {};

	for (at = 0; at < places; at++) {
		const struct mn_host *host = &m->hosts[at];

		sum.packets += host->backlog.packets;
		sum.bytes += host->backlog.bytes;
		backlogged.settled += host->backlogged.settled > 0;
		backlogged.others += host->backlogged.others > 0;
		if (!host->backlog.packets != mn_is_idle(&host->member))
			return false;
	}
	return sum.packets == m->backlog.packets && sum.bytes == m->backlog.bytes &&
	       backlogged.settled == m->backlogged.settled && backlogged.others == m->backlogged.others;
}

/* Hosts that have spent their allowance. */
static u32 trace_without_allowance(const struct mencius *m)
{
	u32 places = ft_places(mn_hosts_for(m->params.flows)), at, spent = 0;

	for (at = 0; at < places; at++)
		spent += ft_is_known(&m->host_table, at) && m->hosts[at].allowance.left <= 0;
	return spent;
}

static const char *trace_end(const struct trace *trace)
{
	const struct mencius *m = &trace->core;

	if (!trace->begun)
		return "expected a line with new before";
	if (!trace_counts_agree(m) || !trace_table_agrees(&m->flow_table) ||
	    !trace_table_agrees(&m->host_table))
		return "flows or packets do not add up";
	trace_print("end %u %u\n", m->backlog.packets, m->backlog.bytes);
	trace_print("did %llu %llu %llu %llu %llu %llu %u\n",
		    (unsigned long long)m->counts.ahead_flows,
		    (unsigned long long)m->counts.ahead_hosts,
		    (unsigned long long)m->flow_table.forgotten,
		    (unsigned long long)m->host_table.forgotten,
		    (unsigned long long)m->flow_table.shared,
		    (unsigned long long)m->host_table.shared, trace_without_allowance(m));
	return NULL;
}

static const char *trace_params(struct trace *trace, const char *text, struct mencius_params *params)
{
	(void)trace;
	*params = (struct mencius_params){};
#define PARAM(attribute, word, member, kind, least, most, preset) \
	TRACE_TAKE(word, member, TRACE_UNIT_##kind, least, most, preset)
#define OWN(attribute, word, member, least, most, preset) \
	TRACE_TAKE(word, member, 1, least, most, preset)
#define AROUND(attribute, word, member, kind, least, most, preset)
#include "../mencius/mencius_params.h"
#undef PARAM
#undef OWN
#undef AROUND
	return NULL;
}

static void trace_init(struct trace *trace, void *table, void *slots)
{
	mencius_init(&trace->core, &trace->params, table, slots, trace->params.limit);
}

static void trace_changed(struct trace *trace, const struct mencius_params *params)
{
	mencius_change(&trace->core, trace->now, params);
	while (mencius_shrink(&trace->core, trace->now))
		;
}

static bool trace_is_empty(const struct trace *trace)
{
	const struct mencius *m = &trace->core;

	return !m->backlog.packets && !m->backlog.bytes && !m->memory;
}

static const char *trace_enqueue(struct trace *trace, const char *line)
{
	u32 hash, source, destination, len, ecn, mem;
	unsigned long long now;
	const char *error;
	int read;

	read = sscanf(line, "e %llu %u %u %u %u %u %u", &now, &hash, &source, &destination, &len,
		      &ecn, &mem);
	if (read < 6 || ecn > 7 || !len)
		return "expected e NOW HASH SOURCE DESTINATION LEN ECN, and MEM";
	if (read == 6)
		mem = len;
	error = trace_time(trace, now);
	if (error)
		return error;
	if (trace->number >= TRACE_PACKETS)
		return "too many packets";
	trace->source = source;
	trace->destination = destination;
	trace->final = !(ecn & 4);
	trace->refused = false;
	if (mencius_enqueue(&trace->core, now, hash, trace_packet(trace->number, ecn & 3), len,
			    mem) ==
	    trace->refused)
		return "enqueue does not say whether there was room";
	trace->number++;
	return NULL;
}

static const char *trace_dequeue(struct trace *trace, const char *line)
{
	struct mencius *m = &trace->core;
	unsigned long long now;
	const char *error;
	struct mencius_sent sent;
	void *packet;

	if (sscanf(line, "d %llu", &now) != 1)
		return "expected d NOW";
	error = trace_time(trace, now);
	if (error)
		return error;
	packet = mencius_dequeue(m, now, &sent);
	if (!packet && sent.until)
		trace_print("wait %llu\n", (unsigned long long)sent.until);
	if (!packet)
		return NULL;
	trace_print("tx %u %llu %u %u\n", trace_number(packet), (unsigned long long)sent.sojourn,
		    m->backlog.packets, m->backlog.bytes);
	return NULL;
}

#endif
