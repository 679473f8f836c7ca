// SPDX-License-Identifier: GPL-2.0
/*
 * Reads recorded operations from standard input and prints what Mencius makes of
 * them: see mencius_trace.h. crates/qdisc/tests/kernel_c_mencius.rs compares it
 * with the discipline in Rust.
 */
#include <stdio.h>
#include <stdlib.h>

#include "user.h"

#define trace_print printf

#include "../mencius.h"
#include "lines.h"
#include "mencius_trace.h"

static void *table, *slots;
static struct trace trace;

static const char *trace_begin(struct trace *trace, const struct mencius_params *params)
{
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
	const struct mencius *core = &trace.core;

	if (!follow_lines(follow))
		return 1;
	while (trace.begun && mencius_purge(&trace.core))
		;
	if (core->backlog.packets || core->backlog.bytes || core->memory) {
		fprintf(stderr, "%u packets, %u bytes and %u bytes of memory are left\n",
			core->backlog.packets, core->backlog.bytes, core->memory);
		return 1;
	}
	free(table);
	free(slots);
	return 0;
}
