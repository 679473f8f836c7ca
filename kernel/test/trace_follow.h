/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of following a trace: numbers, time, memory, and the kinds of
 * lines. Included by a discipline's file after CORE(name), which puts its name
 * before one of its core's, and struct trace, with
 *
 *	core	the discipline
 *	params	what it was told last
 *	begun	whether there was a line with new
 *	number	of the next packet
 *	now	ns
 *
 * The file that includes it supplies sscanf, trace_print(), which is printf,
 * trace_alloc() and trace_free().
 */
#ifndef __TRACE_FOLLOW_H
#define __TRACE_FOLLOW_H

/* Numbers of packets are below this. */
#define TRACE_PACKETS	(1U << 29)

/*
 * The discipline's: the parameters in @text; an error's text if they are not
 * valid.
 */
static const char *trace_params(struct trace *trace, const char *text, struct CORE(params) *params);

/* The discipline's: begins with @table and @slots for its params. */
static void trace_init(struct trace *trace, void *table, void *slots);

/* The discipline's: new parameters. */
static void trace_changed(struct trace *trace, const struct CORE(params) *params);

/*
 * The discipline's: whether nothing is left after all packets have been taken
 * out.
 */
static bool trace_is_empty(const struct trace *trace);

/* The discipline's: handlers of these lines. */
static const char *trace_enqueue(struct trace *trace, const char *line);
static const char *trace_dequeue(struct trace *trace, const char *line);
static const char *trace_end(const struct trace *trace);

static void *trace_table, *trace_slots;

/* A packet of a trace is its number and ECN field, and never NULL. */
static void *trace_packet(u32 number, u32 ecn)
{
	return (void *)(uintptr_t)((number + 1) << 2 | ecn);
}

static u32 trace_number(void *packet)
{
	return ((u32)(uintptr_t)packet >> 2) - 1;
}

/* Whether its sender understands marks. */
static bool trace_capable(void *packet)
{
	return (uintptr_t)packet & 3;
}

/* The factor from a kind of parameter in a trace to the core's unit. */
#define TRACE_UNIT_FLAG		1
#define TRACE_UNIT_CHOICE	1
#define TRACE_UNIT_NUMBER	1
#define TRACE_UNIT_PACKETS	1
#define TRACE_UNIT_PERCENT	1
#define TRACE_UNIT_SIZE		1
#define TRACE_UNIT_TIME		1000	/* us */

/*
 * Takes the next number from @text. Outside of its range only its default is
 * valid, if that has a meaning of its own.
 */
static bool trace_take(const char **text, s64 least, s64 most, s64 preset, s64 *value)
{
	long long number;
	int read;

	if (sscanf(*text, "%lld%n", &number, &read) != 1)
		return false;
	*text += read;
	*value = number;
	return (number >= least && number <= most) || number == preset;
}

/* Takes a parameter from the local @text into the local @params, or returns. */
#define TRACE_TAKE(word, member, unit, least, most, preset)					\
	do {											\
		s64 taken;									\
												\
		if (!trace_take(&text, least, most, preset, &taken))				\
			return "expected a number within its range for " #word;			\
		params->member = taken * (unit);						\
	} while (0);

static const char *trace_time(struct trace *trace, u64 now)
{
	if (!trace->begun)
		return "expected a line with new before";
	if (now < trace->now || now >> 62)
		return "time goes backwards, or too far";
	trace->now = now;
	return NULL;
}

/* Takes out all that waits, and frees. */
static const char *trace_finish(struct trace *trace)
{
	bool empty = true;

	if (trace_table) {
		while (CORE(purge)(&trace->core))
			;
		empty = trace_is_empty(trace);
	}
	trace_free(trace_table);
	trace_free(trace_slots);
	trace_table = NULL;
	trace_slots = NULL;
	return empty ? NULL : "packets of the trace before are left";
}

static const char *trace_begin(struct trace *trace, const char *line)
{
	struct CORE(params) params;
	const char *error;

	if (strncmp(line, "new ", 4))
		return "expected new, change, e, d or end";
	trace->begun = false;
	error = trace_params(trace, line + 4, &params);
	if (error)
		return error;
	error = trace_finish(trace);
	if (error)
		return error;
	trace_table = trace_alloc(CORE(table_size)(params.flows));
	trace_slots = trace_alloc(CORE(slots_size)(params.limit));
	if (!trace_table || !trace_slots) {
		trace_free(trace_table);
		trace_table = NULL;
		return "out of memory";
	}
	trace->params = params;
	trace->now = 0;
	trace->number = 0;
	trace_init(trace, trace_table, trace_slots);
	trace->begun = true;
	return NULL;
}

/* Slots for a limit of @params. */
static const char *trace_grow(struct trace *trace, const struct CORE(params) *params)
{
	void *larger;

	if (params->limit <= trace->core.slot_count)
		return NULL;
	larger = trace_alloc(CORE(slots_size)(params->limit));
	if (!larger)
		return "out of memory";
	trace_slots = larger;
	trace_free(CORE(grow)(&trace->core, larger, params->limit));
	return trace->core.slot_count < params->limit ? "fewer slots than the limit" : NULL;
}

static const char *trace_change(struct trace *trace, const char *line)
{
	struct CORE(params) params;
	unsigned long long now;
	const char *error;
	int read = 0;

	if (sscanf(line, "change %llu%n", &now, &read) != 1)
		return "expected change NOW";
	error = trace_time(trace, now);
	if (!error)
		error = trace_params(trace, line + read, &params);
	if (!error && params.flows != trace->params.flows)
		error = "flows cannot be changed";
	if (!error)
		error = trace_grow(trace, &params);
	if (error)
		return error;
	trace->params = params;
	trace_changed(trace, &params);
	return NULL;
}

/* Executes a line; an error's text if it cannot be parsed. */
static const char *trace_line(struct trace *trace, const char *line)
{
	switch (line[0]) {
	case 'd':
		return trace_dequeue(trace, line);
	case 'c':
		return trace_change(trace, line);
	case 'n':
		return trace_begin(trace, line);
	case 'e':
		if (strncmp(line, "end", 3))
			return trace_enqueue(trace, line);
		return trace_end(trace);
	default:
		return "expected new, change, e, d or end";
	}
}

#endif
