/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The favour of a host: for how much of the link's time its packets may go
 * before other hosts beyond its turns.
 *
 * What goes before other hosts comes off the turns of its host, and what is
 * more than these comes off its favour: at most MN_FAVOUR at once, which a call
 * needs to slow down, and a sixteenth of the time. So whatever a host does,
 * with flows that begin, that imitate a call, or that take over from one
 * another, in any time t it gets no more than its turns and MN_FAVOUR + t / 16.
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
 * A packet that takes @time ns on the link goes before other hosts, beyond the
 * turns of its own.
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
