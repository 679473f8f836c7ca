/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of flows and hosts, for looking at: no decision depends on them.
 */
#ifndef __MENCIUS_FIGURES_H
#define __MENCIUS_FIGURES_H

#include "../common/flow_words.h"
#include "mencius_types.h"

/*
 * The wait of a host moves down by one in 2^MN_STEPS at each packet, and up by
 * MN_RISES times as much at one that waited longer: so it stands where about
 * one in twenty does.
 */
#define MN_STEPS	9
#define MN_RISES	19

/* Moves @wait, in units of 1024 ns, for a packet that waited @found of them. */
static __always_inline u32 mn_wait_moved(u32 wait, u32 found)
{
	u32 step = (wait >> MN_STEPS) + 1;

	if (unlikely(found > wait))
		return wait + MN_RISES * step;
	return wait - min(wait, step);
}

/* A packet of @flow of @host was sent. */
static __always_inline void mn_count_sent(struct mn_flow *flow,
					  struct mn_host *host, u64 sojourn,
					  u32 len)
{
	u32 wait = sojourn >> MN_TICK;

	flow->figures.bytes += len;
	flow->figures.packets++;
	flow->figures.delay += (wait >> 3) - (flow->figures.delay >> 3);
	host->figures.bytes += len;
	host->figures.packets++;
	host->figures.wait = mn_wait_moved(host->figures.wait, wait);
}

/* A packet of flow @at was dropped. */
static inline void mn_count_drop(struct mencius *m, u32 at)
{
	m->flows[at].figures.drops++;
	m->hosts[m->flows[at].host].figures.drops++;
}

/* A packet of flow @at was marked. */
static inline void mn_count_mark(struct mencius *m, u32 at)
{
	m->flows[at].figures.marks++;
	m->hosts[m->flows[at].host].figures.marks++;
}

/* A packet of the settled flow @at went ahead of others: its privilege. */
static inline void mn_count_ahead(struct mencius *m, u32 at, u32 len)
{
	m->hosts[m->flows[at].host].figures.ahead += len;
	m->counts.ahead_bytes += len;
}

#endif
