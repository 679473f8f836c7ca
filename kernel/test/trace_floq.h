/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recorded operations, a line each, and the decisions that FLOQ makes.
 *
 * new SEED PARAMETER...			begins anew, with those of floq_params.h in their order; times
 *					in us, VARIANT 0 reading, 1 equation, 2 algorithm,
 *					3 algorithm-drop
 * change NOW SEED PARAMETER...		new parameters, FLOWS as before, SEED is nothing; NOW in ns
 * e NOW HASH LEN ECN			a packet arrives; ECN is the field of its IP header
 * d NOW				the link takes a packet
 * end
 *
 * Packets are numbered from 0 in order of arrival. The output:
 *
 * tx NUMBER WAITED PACKETS BYTES	left after WAITED ns, and so much waits
 * move NUMBER FROM TO			this packet's flow is of type TO now, 0 responsive, 1
 *					unresponsive; it begins if FROM is -1
 * mark NUMBER				instead of a drop
 * drop NUMBER REASON
 * end PACKETS BYTES
 * did ARRIVED... CONGESTION... FORGOTTEN SHARED
 *					only in C: six numbers each, of the first type and its
 *					three phases and then of the second
 */
#ifndef __TRACE_FLOQ_H
#define __TRACE_FLOQ_H

#include "../floq/pkt_sched_floq.h"

#define CORE(name)	floq_##name

/* A discipline that follows a trace. */
struct trace {
	struct floq core;
	struct floq_params params;
	unsigned long long seed;
	bool begun;
	u32 number;		/* of the next packet */
	u64 now;
	bool refused;		/* the packet that arrives */
};

#include "trace_follow.h"

static void floq_dropped(struct floq *f, void *packet, u32 len, u8 kind, enum floq_reason reason)
{
	static const char * const names[] = { "tail", "congestion", "change" };
	struct trace *trace = (struct trace *)f;

	(void)len;
	(void)kind;
	trace->refused = reason != FLOQ_CHANGE;
	trace_print("drop %u %s\n", trace_number(packet), names[reason]);
}

static bool floq_mark(struct floq *f, void *packet)
{
	(void)f;
	if (trace_capable(packet))
		trace_print("mark %u\n", trace_number(packet));
	return trace_capable(packet);
}

static void floq_moved(struct floq *f, u32 flow, int from, int to)
{
	struct trace *trace = (struct trace *)f;

	(void)flow;
	trace_print("move %u %d %d\n", trace->number, from, to);
}

/* Whether the number of known flows of each type equals its counter. */
static bool trace_flows_agree(const struct floq *f)
{
	u32 at, known[FLOQ_KINDS] = {}, guests = 0;
	const struct ft_table *table = &f->table;

	for (at = 0; at < ft_places(f->params.flows); at++) {
		if (!ft_is_known(table, at))
			continue;
		if (ft_are_guests(table, at))
			guests++;
		else
			known[f->flows[at].behaviour.kind]++;
	}
	return known[0] == f->known[0] && known[1] == f->known[1] &&
	       known[0] + known[1] + guests == table->fresh - table->forgotten;
}

/* Of a type and a phase, which are numbered through. */
static const struct floq_counts *trace_counts(const struct floq *f, u32 at)
{
	return &f->counts[at / FLOQ_PHASES][at % FLOQ_PHASES];
}

static const char *trace_end(const struct trace *trace)
{
	const struct floq *f = &trace->core;
	u32 at;

	if (!trace->begun)
		return "expected a line with new before";
	if (!trace_flows_agree(f) || f->waiting[0] + f->waiting[1] != f->packets)
		return "flows or packets do not add up";
	trace_print("end %u %llu\n", f->packets, (unsigned long long)(f->bytes[0] + f->bytes[1]));
	trace_print("did");
	for (at = 0; at < FLOQ_KINDS * FLOQ_PHASES; at++)
		trace_print(" %llu", (unsigned long long)trace_counts(f, at)->arrived);
	for (at = 0; at < FLOQ_KINDS * FLOQ_PHASES; at++)
		trace_print(" %llu",
			    (unsigned long long)trace_counts(f, at)->drops[FLOQ_CONGESTION]);
	trace_print(" %llu %llu\n", (unsigned long long)f->table.forgotten,
		    (unsigned long long)f->table.shared);
	return NULL;
}

static const char *trace_params(struct trace *trace, const char *text, struct floq_params *params)
{
	unsigned long long seed;
	int read;

	if (sscanf(text, "%llu%n", &seed, &read) != 1)
		return "expected a seed";
	text += read;
	if (!trace->begun)
		trace->seed = seed;
	*params = (struct floq_params){};
#define PARAM(attribute, word, member, kind, least, most, preset) \
	TRACE_TAKE(word, member, TRACE_UNIT_##kind, least, most, preset)
#define AROUND(attribute, word, member, kind, least, most, preset)
#include "../floq/floq_params.h"
#undef PARAM
#undef AROUND
	return params->own[0] + params->own[1] > 100 ? "more than 100 percent together" : NULL;
}

static void trace_init(struct trace *trace, void *table, void *slots)
{
	floq_init(&trace->core, &trace->params, trace->seed, table, slots, trace->params.limit);
}

static void trace_changed(struct trace *trace, const struct floq_params *params)
{
	floq_change(&trace->core, params);
}

static bool trace_is_empty(const struct trace *trace)
{
	const struct floq *f = &trace->core;

	return !f->packets && !f->bytes[0] && !f->bytes[1];
}

static const char *trace_enqueue(struct trace *trace, const char *line)
{
	unsigned long long now;
	const char *error;
	u32 hash, len, ecn;
	void *packet;

	if (sscanf(line, "e %llu %u %u %u", &now, &hash, &len, &ecn) != 4 || ecn > 3)
		return "expected e NOW HASH LEN ECN";
	error = trace_time(trace, now);
	if (error)
		return error;
	if (trace->number >= TRACE_PACKETS)
		return "too many packets";
	trace->refused = false;
	packet = trace_packet(trace->number, ecn);
	if (floq_enqueue(&trace->core, now, hash, packet, len) == trace->refused)
		return "enqueue does not say whether there was room";
	trace->number++;
	return NULL;
}

static const char *trace_dequeue(struct trace *trace, const char *line)
{
	struct floq *f = &trace->core;
	struct floq_sent sent;
	unsigned long long now;
	const char *error;
	void *packet;

	if (sscanf(line, "d %llu", &now) != 1)
		return "expected d NOW";
	error = trace_time(trace, now);
	if (error)
		return error;
	packet = floq_dequeue(f, now, &sent);
	if (!packet)
		return NULL;
	trace_print("tx %u %llu %u %llu\n", trace_number(packet), (unsigned long long)sent.sojourn,
		    f->packets, (unsigned long long)(f->bytes[0] + f->bytes[1]));
	return NULL;
}

#endif
