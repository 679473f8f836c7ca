/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Members by backlog, to a factor of two: lists by the binary logarithm of
 * their bytes.
 *
 * Finding the fattest flow by looking at all of them (fq_codel) takes too long
 * with 65,536; a heap (cake) costs every packet its way through it. Here a
 * packet mostly stays within a power of two.
 */
#ifndef __MENCIUS_BY_SIZE_H
#define __MENCIUS_BY_SIZE_H

#include "../common/flow_list.h"
#include "mencius_types.h"

/* Up to 2 kB are one list. */
#define MN_SMALLEST	11
/* Bytes added to each packet's length when sizes are compared. */
#define MN_EACH		256

/* How much waits, so that many small packets are much too. */
static __always_inline u32 mn_size(struct mn_backlog backlog)
{
	return backlog.bytes + MN_EACH * backlog.packets;
}

/* The list for so much, plus one; 0 if no packets wait. */
static inline u32 mn_size_list(u32 size)
{
	u32 log = fls(size);

	if (!size)
		return 0;
	return log <= MN_SMALLEST ? 1 :
				    min_t(u32, log - MN_SMALLEST + 1, MN_SIZES);
}

static void mn_sizes_init(struct mn_sizes *sizes)
{
	u32 at;

	sizes->used = 0;
	for (at = 0; at < MN_SIZES; at++)
		fl_list_init(&sizes->lists[at]);
}

/* So much waits now of member @at; @list is one more than its list, or 0. */
static __always_inline void mn_sizes_update(struct mn_sizes *sizes,
					    struct fl_nodes nodes, u32 at,
					    u8 *list, struct mn_backlog backlog)
{
	u32 from = *list, to = mn_size_list(mn_size(backlog));

	if (likely(from == to))
		return;
	*list = to;
	if (from) {
		from--;
		fl_unlink(&sizes->lists[from], nodes, at);
		if (sizes->lists[from].head == FL_NIL)
			sizes->used &= ~(1U << from);
	}
	if (to) {
		to--;
		fl_append(&sizes->lists[to], nodes, at);
		sizes->used |= 1U << to;
	}
}

/*
 * A member whose backlog is at least half that of any other, up to 64 MB, if
 * packets wait.
 */
static u32 mn_sizes_largest(const struct mn_sizes *sizes)
{
	return sizes->lists[fls(sizes->used) - 1].head;
}

#endif
