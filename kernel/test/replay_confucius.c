// SPDX-License-Identifier: GPL-2.0
/*
 * Reads recorded operations from standard input and prints what Confucius makes
 * of them: see trace_confucius.h. crates/qdisc/tests/it/kernel_c/confucius.rs compares it with the
 * discipline in Rust.
 */
#include <stdio.h>
#include <stdlib.h>

#include "user.h"

#define trace_print printf

#include "../confucius/confucius.h"
#include "lines.h"
#include "trace_confucius.h"

static void *table, *slots;

static const char *trace_begin(struct trace *trace, const struct confucius_params *params)
{
	free(table);
	free(slots);
	table = malloc(confucius_table_size(params->flows));
	slots = malloc(confucius_slots_size(params->limit));
	if (!table || !slots)
		return "out of memory";
	confucius_init(&trace->core, params, table, slots, params->limit);
	return NULL;
}

static const char *trace_grow(struct trace *trace, const struct confucius_params *params)
{
	void *larger;

	if (params->limit <= trace->core.slot_count)
		return NULL;
	larger = malloc(confucius_slots_size(params->limit));
	if (!larger)
		return "out of memory";
	slots = larger;
	free(confucius_grow(&trace->core, larger, params->limit));
	return NULL;
}

static struct trace trace;

static const char *follow(const char *line)
{
	return trace_line(&trace, line);
}

int main(void)
{
	static u32 ids[CF_MAX_PLACES];

	trace.ids = ids;
	if (!follow_lines(follow))
		return 1;
	while (trace.begun && confucius_purge(&trace.core))
		;
	if (trace.core.packets || trace.core.memory) {
		fprintf(stderr, "%u packets and %u bytes of memory are left\n",
			trace.core.packets, trace.core.memory);
		return 1;
	}
	free(table);
	free(slots);
	return 0;
}
