/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recorded operations, a line each, and the decisions that Mencius makes.
 *
 * new LIMIT MEMORY FLOWS HOSTS QUANTUM TARGET INTERVAL ECN LOW HOLD RISE DOUBLING PART
 *     BANDWIDTH OVERHEAD MPU ATM INGRESS
 *					begins anew; times in us, HOSTS 0 auto, 1 destination,
 *					2 source, 3 none; BANDWIDTH in bytes per second, 0 unlimited,
 *					ATM 0 noatm, 1 atm, 2 ptm
 * change NOW LIMIT ... INGRESS		new parameters, FLOWS as before; NOW in ns
 * e NOW HASH SOURCE DESTINATION LEN ECN [MEM]
 *					a packet arrives, with hashes of its flow and of its
 *					addresses; ECN is the field of its IP header, MEM the
 *					memory that it takes, LEN if it is not said
 * d NOW				the link takes a packet
 * end
 *
 * Packets are numbered from 0 as they come. What is printed:
 *
 * tx NUMBER WAITED PACKETS BYTES	left after WAITED ns, and so much waits
 * wait UNTIL				packets wait, and none may leave before this ns
 * mark NUMBER				the next one to leave is marked
 * drop NUMBER REASON
 * end PACKETS BYTES
 * did HELD_FLOWS HELD_HOSTS FORGOTTEN_FLOWS FORGOTTEN_HOSTS SHARED_FLOWS SHARED_HOSTS
 *					only in C: packets for which others were held
 *					back, and look-ups that found guests
 */
#ifndef __TRACE_MENCIUS_H
#define __TRACE_MENCIUS_H

#include "trace_packet.h"

/* The including file supplies sscanf, and trace_print(), which is printf. */

#define TRACE_LIMIT	1000000

/* A discipline that follows a trace. */
struct trace {
	struct mencius core;
	struct mencius_params params;
	bool begun;
	u32 number;		/* of the next packet */
	u64 now;
	u32 source;		/* of the packet that arrives */
	u32 destination;
	bool refused;		/* the packet that arrives */
};

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

static void mencius_hosts(struct mencius *m, void *packet, u32 flow, u32 *source,
			  u32 *destination)
{
	struct trace *trace = (struct trace *)m;

	(void)packet;
	(void)flow;
	*source = trace->source;
	*destination = trace->destination;
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

/* Packets and bytes of hosts are those of all, and flows that wait are somebody's. */
static bool trace_counts_agree(const struct mencius *m)
{
	u32 places = ft_places(mn_hosts_for(m->params.flows)), at;
	struct mn_backlog sum = {};
	struct mn_rivals rivals = {};

	for (at = 0; at < places; at++) {
		const struct mn_host *host = &m->hosts[at];

		sum.packets += host->backlog.packets;
		sum.bytes += host->backlog.bytes;
		rivals.own += host->rivals.own > 0;
		rivals.others += host->rivals.others > 0;
		if (!host->backlog.packets != (host->member.place == MN_NOWHERE))
			return false;
	}
	return sum.packets == m->backlog.packets && sum.bytes == m->backlog.bytes &&
	       rivals.own == m->rivals.own && rivals.others == m->rivals.others;
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
	trace_print("did %llu %llu %llu %llu %llu %llu\n",
		    (unsigned long long)m->counts.held_flows,
		    (unsigned long long)m->counts.held_hosts,
		    (unsigned long long)m->flow_table.forgotten,
		    (unsigned long long)m->host_table.forgotten,
		    (unsigned long long)m->flow_table.shared,
		    (unsigned long long)m->host_table.shared);
	return NULL;
}

/* The parameters in @text, within their ranges; an error's text where they are not. */
static const char *trace_params(const char *text, struct mencius_params *params)
{
	u32 limit, memory, flows, hosts, quantum, target, interval, ecn;
	u32 low, hold, rise, doubling, part, mpu, atm, ingress;
	unsigned long long bandwidth;
	int overhead;

	if (sscanf(text, "%u %u %u %u %u %u %u %u %u %u %u %u %u %llu %d %u %u %u", &limit, &memory,
		   &flows, &hosts, &quantum, &target, &interval, &ecn, &low, &hold, &rise, &doubling,
		   &part, &bandwidth, &overhead, &mpu, &atm, &ingress) != 18)
		return "expected eighteen numbers";
	if (limit < 1 || limit > TRACE_LIMIT || memory < 1 || memory > 1 << 30 || flows < 8 ||
	    flows > MN_MAX_FLOWS || hosts > MENCIUS_NONE || quantum < 256 || quantum > 65536)
		return "limit, memory, flows, hosts or quantum is out of range";
	if (target < 1 || target > 10000000 || interval < 1 || interval > 100000000 || ecn > 1)
		return "target, interval or ecn is out of range";
	if (low < 1000 || low > 1000000 || hold < 1000 || hold > 1000000 || rise < 1000 ||
	    rise > 10000000 || doubling < 10000 || doubling > 60000000 || part > 256)
		return "low, hold, rise, doubling or part is out of range";
	if ((bandwidth && bandwidth < 1000) || bandwidth > 125000000000ULL || overhead < -64 ||
	    overhead > 256 || mpu > 256 || atm > MENCIUS_PTM || ingress > 1)
		return "bandwidth, overhead, mpu, atm or ingress is out of range";
	*params = (struct mencius_params){
		.limit = limit, .memory_limit = memory, .flows = flows, .hosts = hosts,
		.quantum = quantum, .target = target * 1000ULL, .interval = interval * 1000ULL,
		.ecn = ecn, .low = low * 1000ULL, .hold = hold * 1000ULL, .rise = rise * 1000ULL,
		.doubling = doubling * 1000ULL, .part = part, .bandwidth = bandwidth,
		.framing = { .overhead = overhead, .mpu = mpu, .atm = atm }, .ingress = ingress,
	};
	return NULL;
}

static const char *trace_time(struct trace *trace, u64 now)
{
	if (!trace->begun)
		return "expected a line with new before";
	if (now < trace->now || now >> 62)
		return "time goes backwards, or too far";
	trace->now = now;
	return NULL;
}

static const char *trace_enqueue(struct trace *trace, const char *line)
{
	u32 hash, source, destination, len, ecn, mem;
	unsigned long long now;
	const char *error;
	int read;

	read = sscanf(line, "e %llu %u %u %u %u %u %u", &now, &hash, &source, &destination, &len,
		      &ecn, &mem);
	if (read < 6 || ecn > 3 || !len)
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
	trace->refused = false;
	if (mencius_enqueue(&trace->core, now, hash, trace_packet(trace->number, ecn), len, mem) ==
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

/* The including file's: allocates for @params and begins. */
static const char *trace_begin(struct trace *trace, const struct mencius_params *params);

/* The including file's: slots for a limit of @params. */
static const char *trace_grow(struct trace *trace, const struct mencius_params *params);

static const char *trace_change(struct trace *trace, const char *line)
{
	struct mencius_params params;
	unsigned long long now;
	const char *error;
	int read = 0;

	if (sscanf(line, "change %llu%n", &now, &read) != 1)
		return "expected change NOW";
	error = trace_time(trace, now);
	if (!error)
		error = trace_params(line + read, &params);
	if (!error && params.flows != trace->params.flows)
		error = "flows cannot be changed";
	if (!error)
		error = trace_grow(trace, &params);
	if (!error && trace->core.slot_count < params.limit)
		error = "fewer slots than the limit";
	if (error)
		return error;
	trace->params = params;
	mencius_change(&trace->core, now, &params);
	return NULL;
}

/* Does what a line says; an error's text if it cannot be understood. */
static const char *trace_line(struct trace *trace, const char *line)
{
	const char *error;

	switch (line[0]) {
	case 'd':
		return trace_dequeue(trace, line);
	case 'c':
		return trace_change(trace, line);
	case 'n':
		if (strncmp(line, "new ", 4))
			return "expected new, change, e, d or end";
		error = trace_params(line + 4, &trace->params);
		if (error)
			return error;
		trace->begun = false;
		trace->now = 0;
		trace->number = 0;
		error = trace_begin(trace, &trace->params);
		trace->begun = !error;
		return error;
	case 'e':
		if (strncmp(line, "end", 3))
			return trace_enqueue(trace, line);
		return trace_end(trace);
	default:
		return "expected new, change, e, d or end";
	}
}

#endif
