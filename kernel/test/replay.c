// SPDX-License-Identifier: GPL-2.0
/*
 * Reads recorded operations from standard input and prints what Confucius makes
 * of them: see trace.h. crates/qdisc/tests/kernel_c.rs compares it with the
 * discipline in Rust.
 */
#include <stdio.h>
#include <stdlib.h>

#include "user.h"

#define trace_print printf

#include "../confucius.h"
#include "trace.h"

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

int main(void)
{
	static u32 ids[CF_MAX_PLACES];
	static struct trace trace = { .ids = ids };
	static char line[512];
	unsigned long number = 0;

	while (fgets(line, sizeof(line), stdin)) {
		const char *error;

		number++;
		error = strchr(line, '\n') ? trace_line(&trace, line) : "line too long";
		if (error) {
			fflush(stdout);
			fprintf(stderr, "line %lu: %s, found: %.60s\n", number, error, line);
			return 1;
		}
	}
	while (trace.begun && confucius_purge(&trace.core))
		;
	if (trace.core.packets || trace.core.memory) {
		fprintf(stderr, "%u packets and %u bytes of memory are left\n",
			trace.core.packets, trace.core.memory);
		return 1;
	}
	free(table);
	free(slots);
	return ferror(stdin) ? 1 : 0;
}
