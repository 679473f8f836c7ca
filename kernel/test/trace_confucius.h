/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recorded operations, a line each, and the decisions that Confucius makes.
 *
 * new LIMIT MEMORY FLOWS QUANTUM OCCUPANCY SCALE DOUBLING HEAD_START ALPHA INTERVAL IDLE ECN
 *	TARGET...			begins anew; times in us, occupancy 0 delay, 1 buffer
 * change NOW LIMIT ... TARGET...	new parameters, FLOWS as before; NOW in ns
 * e NOW HASH FLOW LEN ECN [MEM]	a packet of FLOW arrives; ECN is the field of its IP header,
 *					MEM the memory that it takes, LEN if it is not said
 * d NOW				the link takes a packet
 * end
 *
 * Packets are numbered from 0 as they come. What is printed:
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

#include "trace_packet.h"

/* The including file supplies sscanf, and trace_print(), which is printf. */

#define TRACE_LIMIT	1000000
#define TRACE_FLOWS	CF_MAX_FLOWS

/* A discipline that follows a trace. */
struct trace {
	struct confucius core;
	struct confucius_params params;
	bool begun;
	u32 number;		/* of the next packet */
	u32 flow;		/* whose packet arrives */
	u64 now;
	u32 *ids;		/* CF_MAX_PLACES: who each of them is to observers */
};

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

/* The parameters in @text, within their ranges; an error's text where they are not. */
static const char *trace_params(const char *text, struct confucius_params *params)
{
	u32 limit, memory, flows, quantum, occupancy, scale, doubling, head_start, alpha;
	u32 interval, idle, ecn;
	int read = 0, more, target;

	if (sscanf(text, "%u %u %u %u %u %u %u %u %u %u %u %u%n", &limit, &memory, &flows,
		   &quantum, &occupancy, &scale, &doubling, &head_start, &alpha, &interval, &idle,
		   &ecn, &read) != 12)
		return "expected twelve numbers and then targets";
	if (limit < 1 || limit > TRACE_LIMIT || memory < 4000 || memory > 1000000000 ||
	    flows < 8 || flows > TRACE_FLOWS || quantum < 256 || quantum > 64000)
		return "limit, memory, flows or quantum is out of range";
	if (occupancy > CONFUCIUS_BUFFER || scale < 1000 || scale > 10000000 || ecn > 1 ||
	    doubling < 1000 || doubling > 60000000 || head_start > 6 || alpha < 1 || alpha > 50)
		return "occupancy, scale, ecn, doubling, head_start or alpha is out of range";
	if (interval < 1000 || interval > 10000000 || idle < 10000 || idle > 3600000000U)
		return "interval or idle is out of range";
	*params = (struct confucius_params){
		.scale = scale * 1000ULL, .doubling = doubling * 1000ULL,
		.interval = interval * 1000ULL, .idle = idle * 1000ULL,
		.limit = limit, .memory_limit = memory,
		.flows = (flows + CF_WAYS - 1) / CF_WAYS * CF_WAYS,
		.quantum = quantum, .head_start = head_start, .alpha = alpha,
		.occupancy = occupancy, .ecn = ecn,
	};
	for (text += read; sscanf(text, "%d%n", &target, &more) == 1; text += more) {
		int least = params->classes ? params->targets[params->classes - 1] + 1 : 0;

		if (params->classes == CF_TARGETS || target < least || target > 1000)
			return "expected one to seven increasing targets up to 1000";
		params->targets[params->classes++] = target;
	}
	return params->classes ? NULL : "expected a target";
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

/* The including file's: allocates for @params and begins. */
static const char *trace_begin(struct trace *trace, const struct confucius_params *params);

/* The including file's: slots for a limit of @params. */
static const char *trace_grow(struct trace *trace, const struct confucius_params *params);

static const char *trace_change(struct trace *trace, const char *line)
{
	struct confucius_params params;
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
	if (error)
		return error;
	trace->params = params;
	confucius_change(&trace->core, now, &params);
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
