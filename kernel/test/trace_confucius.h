/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recorded operations, a line each, and the decisions that Confucius makes.
 *
 * new PARAMETER... TARGET...		begins anew, with those of confucius_params.h in their order,
 *					of the core alone; times in us, OCCUPANCY 0 delay, 1 buffer
 * change NOW PARAMETER... TARGET...	new parameters, FLOWS as before; NOW in ns
 * e NOW HASH FLOW LEN ECN [MEM]	a packet of FLOW arrives; ECN is the field of its IP header,
 *					MEM the memory that it takes, LEN if it is not said
 * d NOW				the link takes a packet
 * end
 *
 * Packets are numbered from 0 in order of arrival. The output:
 *
 * tx NUMBER PACKETS BYTES		left, and so much waits
 * mark NUMBER				the next one to leave is marked
 * drop NUMBER REASON
 * move FLOW FROM TO			FROM is - for a flow that begins
 * end SHARED PACKETS BYTES NEW AGED UP DOWN
 *					the last four are moves, as they are counted
 */
#ifndef __CONFUCIUS_TRACE_H
#define __CONFUCIUS_TRACE_H

#include "../confucius/pkt_sched_confucius.h"

#define CORE(name)	confucius_##name

/* A discipline that follows a trace. */
struct trace {
	struct confucius core;
	struct confucius_params params;
	bool begun;
	u32 number;		/* of the next packet */
	u32 flow;		/* whose packet arrives */
	u64 now;
	u32 ids[CF_MAX_PLACES];	/* the name of each of them for observers */
};

#include "trace_follow.h"

static void confucius_dropped(struct confucius *c, void *packet, u32 len, u32 class,
			      enum confucius_reason reason)
{
	static const char * const names[] = { "tail", "overlimit", "change" };

	(void)c;
	(void)len;
	(void)class;
	trace_print("drop %u %s\n", trace_number(packet), names[reason]);
}

static void confucius_moved(struct confucius *c, u32 flow, u32 from, u32 to)
{
	struct trace *trace = (struct trace *)c;

	if (from != FL_NIL) {
		trace_print("move %u %u %u\n", trace->ids[flow], from, to);
		return;
	}
	trace->ids[flow] = trace->flow;
	trace_print("move %u - %u\n", trace->flow, to);
}

static u64 trace_bytes(const struct confucius *c)
{
	u64 bytes = 0;
	u32 class;

	for (class = 0; class < CF_CLASSES; class++)
		bytes += c->classes[class].bytes;
	return bytes;
}

/*
 * Flows that began, and were not forgotten, are the members of the classes, and
 * the packets are those of the classes.
 */
static bool trace_counts_agree(const struct confucius *c)
{
	u64 members = 0;
	u32 packets = 0, class;

	for (class = 0; class < CF_CLASSES; class++) {
		members += c->classes[class].members;
		packets += c->classes[class].packets;
		if (!c->classes[class].packets != !(c->backlogged >> class & 1))
			return false;
	}
	return c->counts.new_flows - c->counts.forgotten == members && c->packets == packets;
}

static const char *trace_end(const struct trace *trace)
{
	const struct confucius *c = &trace->core;
	const struct confucius_counts *counts = &c->counts;

	if (!trace->begun)
		return "expected a line with new before";
	if (!trace_counts_agree(c))
		return "flows or packets do not add up";
	trace_print("end %llu %u %llu %llu %llu %llu %llu\n",
		    (unsigned long long)counts->shared, c->packets,
		    (unsigned long long)trace_bytes(c),
		    (unsigned long long)counts->new_flows, (unsigned long long)counts->aged,
		    (unsigned long long)counts->moved_up, (unsigned long long)counts->moved_down);
	return NULL;
}

/* The targets stand last, since there are as many as one likes. */
static const char *trace_targets(const char *text, struct confucius_params *params)
{
	int more, target;

	for (; sscanf(text, "%d%n", &target, &more) == 1; text += more) {
		int least = params->classes ? params->targets[params->classes - 1] + 1 : 0;

		if (params->classes == CF_TARGETS || target < least || target > 1000)
			return "expected one to seven increasing targets up to 1000";
		params->targets[params->classes++] = target;
	}
	return params->classes ? NULL : "expected a target";
}

static const char *trace_params(struct trace *trace, const char *text, struct confucius_params *params)
{
	(void)trace;
	*params = (struct confucius_params){};
#define PARAM(attribute, word, member, kind, least, most, preset) \
	TRACE_TAKE(word, member, TRACE_UNIT_##kind, least, most, preset)
#define OWN(attribute, word, member, least, most, preset)
#define AROUND(attribute, word, member, kind, least, most, preset)
#include "../confucius/confucius_params.h"
#undef PARAM
#undef OWN
#undef AROUND
	params->flows = (params->flows + CF_WAYS - 1) / CF_WAYS * CF_WAYS;
	return trace_targets(text, params);
}

static void trace_init(struct trace *trace, void *table, void *slots)
{
	confucius_init(&trace->core, &trace->params, table, slots, trace->params.limit);
}

static void trace_changed(struct trace *trace, const struct confucius_params *params)
{
	confucius_change(&trace->core, trace->now, params);
}

static bool trace_is_empty(const struct trace *trace)
{
	return !trace->core.packets && !trace->core.memory;
}

static const char *trace_enqueue(struct trace *trace, const char *line)
{
	unsigned long long now;
	u32 hash, flow, len, ecn, mem;
	const char *error;
	int read;

	read = sscanf(line, "e %llu %u %u %u %u %u", &now, &hash, &flow, &len, &ecn, &mem);
	if (read < 5 || ecn > 3)
		return "expected e NOW HASH FLOW LEN ECN, and MEM";
	if (read == 5)
		mem = len;
	error = trace_time(trace, now);
	if (error)
		return error;
	if (trace->number >= TRACE_PACKETS)
		return "too many packets";
	trace->flow = flow;
	confucius_enqueue(&trace->core, now, hash, trace_packet(trace->number, ecn), len, mem);
	trace->number++;
	return NULL;
}

static const char *trace_dequeue(struct trace *trace, const char *line)
{
	struct confucius *c = &trace->core;
	struct confucius_packet packet;
	u64 bytes = trace_bytes(c);
	unsigned long long now;
	const char *error;

	if (sscanf(line, "d %llu", &now) != 1)
		return "expected d NOW";
	error = trace_time(trace, now);
	if (error || !confucius_dequeue(c, now, &packet))
		return error;
	if (bytes - trace_bytes(c) != packet.len || !trace_counts_agree(c))
		return "bytes, packets or flows do not add up";
	if (packet.mark && trace_capable(packet.packet))
		trace_print("mark %u\n", trace_number(packet.packet));
	trace_print("tx %u %u %llu\n", trace_number(packet.packet), c->packets,
		    (unsigned long long)trace_bytes(c));
	return NULL;
}

#endif
