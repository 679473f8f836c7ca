/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The allowance of a host: for how much of its own part of the link others may
 * have its turns.
 *
 * Calls of other hosts, which need a moment to slow down when it comes, have
 * turns of it beyond what they pay back with their own: at most MN_ALLOWANCE of
 * its part at once, and a sixteenth of the time. So whatever others do, however
 * many they are, in any time t a host has its turns for
 * 15 / 16 t - MN_ALLOWANCE.
 */
#ifndef __MENCIUS_ALLOWANCE_H
#define __MENCIUS_ALLOWANCE_H

#include "../common/flow_list.h"
#include "mencius_types.h"

/* The largest allowance. */
#define MN_ALLOWANCE	(2 * MN_SECOND)
/* It grows by one in so many ns. */
#define MN_ALLOWANCE_GROWS	16

static inline void mn_allowance_init(struct mn_allowance *allowance, u64 now)
{
	allowance->left = MN_ALLOWANCE;
	allowance->at = now;
}

static inline void mn_allowance_grow(struct mn_allowance *allowance,
				     u64 now)
{
	s64 grown = fl_since(now, allowance->at) / MN_ALLOWANCE_GROWS;

	allowance->left = min_t(s64, allowance->left + grown, MN_ALLOWANCE);
	allowance->at = now;
}

/*
 * A packet of another host that takes @time ns of this one's part goes in its
 * turn.
 */
static inline void mn_allowance_spend(struct mn_allowance *allowance, u64 now,
				      u64 time)
{
	mn_allowance_grow(allowance, now);
	allowance->left -= time;
}

static __always_inline bool
mn_allowance_is_spent(struct mn_allowance *allowance, u64 now)
{
	mn_allowance_grow(allowance, now);
	return allowance->left <= 0;
}

#endif
