/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drops for lack of room: the oldest packet of the longest flow of the most
 * backlogged host.
 */
#ifndef __MENCIUS_ROOM_H
#define __MENCIUS_ROOM_H

#include "mencius_by_size.h"
#include "mencius_classify.h"
#include "mencius_figures.h"
#include "mencius_hooks.h"
#include "mencius_settling.h"
#include "mencius_store.h"
#include "mencius_types.h"

/* At most so many packets give way to an arriving one. */
#define MN_VICTIMS	8

static __always_inline bool mn_fits(const struct mencius *m, u32 packets,
				    u32 mem)
{
	return m->backlog.packets + packets <= m->params.limit &&
	       (u64)m->memory + mem <= m->params.memory_limit;
}

/* Drops a packet, where any waits. */
static noinline void mn_drop_largest(struct mencius *m, u64 now,
				     enum mencius_reason reason)
{
	u32 host = mn_sizes_largest(&m->sizes);
	u32 at = mn_sizes_largest(&m->hosts[host].sizes);
	struct mn_flow *flow = &m->flows[at];
	struct mn_backlog before = flow->backlog;
	struct mn_popped popped;

	mn_pop(m, at, &popped);
	mn_settling_dropped(&flow->settling, now);
	mn_count_drop(m, at);
	mencius_dropped(m, popped.packet, popped.len, at, reason);
	mn_resize(m, at, before);
	mn_judge(m, now, at);
	mn_leave_if_empty(m, at);
}

/*
 * Whether a packet finds room, after others have made some. No packet gives way
 * to one that would find no room alone.
 */
static noinline bool mn_make_room(struct mencius *m, u64 now, u32 mem)
{
	u32 left;

	if (mem > m->params.memory_limit)
		return false;
	for (left = MN_VICTIMS; left && !mn_fits(m, 1, mem); left--)
		mn_drop_largest(m, now, MENCIUS_OVERLIMIT);
	return mn_fits(m, 1, mem);
}

#endif
