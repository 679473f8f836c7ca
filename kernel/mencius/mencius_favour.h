/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The favour of a host: for how much of its own part of the link others may
 * have its turns.
 *
 * Calls of other hosts, which need a moment to slow down when it comes, have
 * turns of it beyond what they pay back with their own: at most MN_FAVOUR of
 * its part at once, and a sixteenth of the time. So whatever others do, however
 * many they are, in any time t a host has its turns for
 * 15 / 16 t - MN_FAVOUR.
 */
#ifndef __MENCIUS_FAVOUR_H
#define __MENCIUS_FAVOUR_H

/* The largest favour. */
#define MN_FAVOUR	(2 * MN_SECOND)
/* It grows by one in so many ns. */
#define MN_FAVOUR_GROWS	16

static inline void mn_favour_init(struct mn_favour *favour, u64 now)
{
	favour->left = MN_FAVOUR;
	favour->at = now;
}

static __always_inline void mn_favour_grow(struct mn_favour *favour, u64 now)
{
	s64 grown = fl_since(now, favour->at) / MN_FAVOUR_GROWS;

	favour->left = min_t(s64, favour->left + grown, MN_FAVOUR);
	favour->at = now;
}

/*
 * A packet of another host that takes @time ns of this one's part goes in its
 * turn.
 */
static inline void mn_favour_spend(struct mn_favour *favour, u64 now, u64 time)
{
	mn_favour_grow(favour, now);
	favour->left -= time;
}

static __always_inline bool mn_favour_is_spent(struct mn_favour *favour,
					       u64 now)
{
	mn_favour_grow(favour, now);
	return favour->left <= 0;
}

#endif
