// SPDX-License-Identifier: GPL-2.0
/*
 * Replays recorded operations of Mencius inside a kernel, by the file
 * mencius_replay in debugfs: see replay_file.h and trace_mencius.h.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/types.h>

#include "replay_file.h"
#include "../mencius/mencius.h"
#include "trace_mencius.h"

static struct trace replay;
static void *replay_table, *replay_slots;

static const char *trace_begin(struct trace *trace, const struct mencius_params *params)
{
	kvfree(replay_table);
	kvfree(replay_slots);
	replay_table = kvmalloc(mencius_table_size(params->flows), GFP_KERNEL);
	replay_slots = kvmalloc(mencius_slots_size(params->limit), GFP_KERNEL);
	if (!replay_table || !replay_slots)
		return "out of memory";
	mencius_init(&trace->core, params, replay_table, replay_slots, params->limit);
	return NULL;
}

static const char *trace_grow(struct trace *trace, const struct mencius_params *params)
{
	void *larger;

	if (params->limit <= trace->core.slot_count)
		return NULL;
	larger = kvmalloc(mencius_slots_size(params->limit), GFP_KERNEL);
	if (!larger)
		return "out of memory";
	replay_slots = larger;
	kvfree(mencius_grow(&trace->core, larger, params->limit));
	return NULL;
}

static const char *replay_follow(const char *line)
{
	return trace_line(&replay, line);
}

static int __init replay_init(void)
{
	return replay_begin("mencius_replay");
}

static void __exit replay_exit(void)
{
	replay_end();
	kvfree(replay_table);
	kvfree(replay_slots);
}

module_init(replay_init)
module_exit(replay_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Replays traces of Mencius, for tests");
