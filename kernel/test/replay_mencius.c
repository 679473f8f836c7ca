// SPDX-License-Identifier: GPL-2.0
/*
 * Reads recorded operations from standard input and prints what Mencius makes of
 * them: see trace_mencius.h. crates/qdisc/tests/it/kernel_c/mencius.rs compares it
 * with the discipline in Rust.
 */
#include <stdio.h>
#include <stdlib.h>

#include "user.h"

#define trace_print printf

#include "../mencius/mencius.h"
#include "lines.h"
#include "trace_mencius.h"

static void *table, *slots;
static struct trace trace;

/* Takes out all that waits; false if the counts say that something is left. */
static bool emptied(struct mencius *m)
{
	while (mencius_purge(m))
		;
	return !m->backlog.packets && !m->backlog.bytes && !m->memory;
}

static const char *trace_begin(struct trace *trace, const struct mencius_params *params)
{
	if (table && !emptied(&trace->core))
		return "packets of the trace before are left";
	free(table);
	free(slots);
	table = malloc(mencius_table_size(params->flows));
	slots = malloc(mencius_slots_size(params->limit));
	if (!table || !slots)
		return "out of memory";
	mencius_init(&trace->core, params, table, slots, params->limit);
	return NULL;
}

static const char *trace_grow(struct trace *trace, const struct mencius_params *params)
{
	void *larger;

	if (params->limit <= trace->core.slot_count)
		return NULL;
	larger = malloc(mencius_slots_size(params->limit));
	if (!larger)
		return "out of memory";
	slots = larger;
	free(mencius_grow(&trace->core, larger, params->limit));
	return NULL;
}

static const char *follow(const char *line)
{
	return trace_line(&trace, line);
}

int main(void)
{
	if (!follow_lines(follow))
		return 1;
	if (trace.begun && !emptied(&trace.core)) {
		fprintf(stderr, "packets are left\n");
		return 1;
	}
	free(table);
	free(slots);
	return 0;
}
