/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recorded operations, a line each, and the decisions that FLOQ makes.
 *
 * new SEED LIMIT FLOWS RESPONSIVE UNRESPONSIVE THRESHOLD DROP_RESPONSIVE DROP_UNRESPONSIVE G F_R
 *     INITIAL IDLE WINDOW WINDOWS FALL STRIKES PARDON VARIANT ECN
 *					begins anew; times in us, VARIANT 0 reading, 1 equation,
 *					2 algorithm, 3 algorithm-drop
 * change NOW SEED LIMIT ... ECN	new parameters, FLOWS as before, SEED is nothing; NOW in ns
 * e NOW HASH LEN ECN			a packet arrives; ECN is the field of its IP header
 * d NOW				the link takes a packet
 * end
 *
 * Packets are numbered from 0 as they come. What is printed:
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

#include "trace_packet.h"

/* The including file supplies sscanf, and trace_print(), which is printf. */

#define TRACE_LIMIT	1000000

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

/* Whether as many flows of each type are known as are counted. */
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

/* The numbers in @text, within their ranges; an error's text where they are not. */
static const char *trace_params(const char *text, unsigned long long *seed,
				struct floq_params *params)
{
	u32 limit, flows, responsive, unresponsive, threshold, base[2], g, f_r, initial, idle;
	u32 window, windows, fall, strikes, pardon, variant, ecn;

	if (sscanf(text, "%llu %u %u %u %u %u %u %u %u %u %u %u %u %u %u %u %u %u %u", seed, &limit,
		   &flows, &responsive, &unresponsive, &threshold, &base[0], &base[1], &g, &f_r,
		   &initial, &idle, &window, &windows, &fall, &strikes, &pardon, &variant,
		   &ecn) != 19)
		return "expected nineteen numbers";
	if (limit < 1 || limit > TRACE_LIMIT || flows < 8 || flows > FL_MAX_FLOWS ||
	    responsive > 100 || unresponsive > 100 - responsive || threshold > 100)
		return "limit, flows, responsive, unresponsive or threshold is out of range";
	if (base[0] > 100 || base[1] > 100 || g > 1000 || f_r > 100 || initial > 1000000)
		return "a chance, g, f_r or initial is out of range";
	if (idle < 100000 || idle > 3600000000U || window < 10000 || window > 10000000)
		return "idle or window is out of range";
	if (windows < 1 || windows > 100 || fall < 1 || fall > 99 || strikes < 1 ||
	    strikes > 1000 || pardon > 1000 || variant > FLOQ_ALGORITHM_DROP || ecn > 1)
		return "windows, fall, strikes, pardon, variant or ecn is out of range";
	*params = (struct floq_params){
		.limit = limit, .flows = flows, .own = { responsive, unresponsive },
		.threshold = threshold, .base = { base[0], base[1] }, .g = g, .f_r = f_r,
		.initial = initial, .idle = idle * 1000ULL, .window = window * 1000ULL,
		.windows = windows, .fall = fall, .strikes = strikes, .pardon = pardon,
		.variant = variant, .ecn = ecn,
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

/* The including file's: allocates for the trace's parameters and begins. */
static const char *trace_begin(struct trace *trace, const struct floq_params *params);

/* The including file's: slots for a limit of @params. */
static const char *trace_grow(struct trace *trace, const struct floq_params *params);

static const char *trace_change(struct trace *trace, const char *line)
{
	struct floq_params params;
	unsigned long long now, seed;
	const char *error;
	int read = 0;

	if (sscanf(line, "change %llu%n", &now, &read) != 1)
		return "expected change NOW";
	error = trace_time(trace, now);
	if (!error)
		error = trace_params(line + read, &seed, &params);
	if (!error && params.flows != trace->params.flows)
		error = "flows cannot be changed";
	if (!error)
		error = trace_grow(trace, &params);
	if (!error && trace->core.slot_count < params.limit)
		error = "fewer slots than the limit";
	if (error)
		return error;
	trace->params = params;
	floq_change(&trace->core, &params);
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
		error = trace_params(line + 4, &trace->seed, &trace->params);
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
