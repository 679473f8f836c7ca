// SPDX-License-Identifier: GPL-2.0
/*
 * Replays recorded operations of Confucius inside a kernel, by the file
 * confucius_replay in debugfs: see replay_file.h and trace_confucius.h.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/types.h>

#include "replay_file.h"
#include "../confucius/confucius.h"
#include "trace_confucius.h"

static struct trace replay;
static void *replay_table, *replay_slots;

static const char *trace_begin(struct trace *trace, const struct confucius_params *params)
{
	kvfree(replay_table);
	kvfree(replay_slots);
	replay_table = kvmalloc(confucius_table_size(params->flows), GFP_KERNEL);
	replay_slots = kvmalloc(confucius_slots_size(params->limit), GFP_KERNEL);
	if (!replay_table || !replay_slots)
		return "out of memory";
	confucius_init(&trace->core, params, replay_table, replay_slots, params->limit);
	return NULL;
}

static const char *trace_grow(struct trace *trace, const struct confucius_params *params)
{
	void *larger;

	if (params->limit <= trace->core.slot_count)
		return NULL;
	larger = kvmalloc(confucius_slots_size(params->limit), GFP_KERNEL);
	if (!larger)
		return "out of memory";
	replay_slots = larger;
	kvfree(confucius_grow(&trace->core, larger, params->limit));
	return NULL;
}

static const char *replay_follow(const char *line)
{
	return trace_line(&replay, line);
}

static int __init replay_init(void)
{
	int err;

	replay.ids = kvcalloc(CF_MAX_PLACES, sizeof(*replay.ids), GFP_KERNEL);
	if (!replay.ids)
		return -ENOMEM;
	err = replay_begin("confucius_replay");
	if (err)
		kvfree(replay.ids);
	return err;
}

static void __exit replay_exit(void)
{
	replay_end();
	kvfree(replay_table);
	kvfree(replay_slots);
	kvfree(replay.ids);
}

module_init(replay_init)
module_exit(replay_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Replays traces of Confucius, for tests");
