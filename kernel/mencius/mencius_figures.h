/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of flows and hosts, for looking at: no decision depends on them.
 */
#ifndef __MENCIUS_FIGURES_H
#define __MENCIUS_FIGURES_H

#include "../common/flow_list.h"
#include "../common/flow_words.h"
#include "mencius_types.h"

/*
 * Waits are those of one packet in MN_LOOKED, taken at random: where these bits
 * of the time of its arrival are 0, from 1 us on.
 */
#define MN_LOOKED	8
#define MN_LOOKS(arrived)	(!((arrived) & (MN_LOOKED - 1) << MN_TICK))
/*
 * The wait of a host moves down by one in 2^MN_STEPS at each of them, and up by
 * MN_RISES times as much at one that waited longer: so it stands where about
 * one in twenty does.
 */
#define MN_STEPS	8
#define MN_RISES	19

/* Moves @wait, in units of 1024 ns, for a packet that waited @found of them. */
static inline u32 mn_wait_moved(u32 wait, u32 found)
{
	u32 step = (wait >> MN_STEPS) + 1;

	if (found > wait)
		return wait + MN_RISES * step;
	return wait - min(wait, step);
}

/* A packet of @flow of @host that is looked at was sent. */
static noinline void mn_look_at(struct mn_flow *flow, struct mn_host *host,
				u64 sojourn)
{
	u32 wait = sojourn >> MN_TICK;

	flow->figures.delay += (wait >> 2) - (flow->figures.delay >> 2);
	host->figures.wait = mn_wait_moved(host->figures.wait, wait);
}

/* A packet of @flow of @host was sent that came at @arrived. */
static __always_inline void mn_count_sent(struct mn_flow *flow,
					  struct mn_host *host, u64 now,
					  u64 arrived, u32 len)
{
	flow->figures.bytes += len;
	flow->figures.packets++;
	host->figures.bytes += len;
	host->figures.packets++;
	if (unlikely(MN_LOOKS(arrived)))
		mn_look_at(flow, host, fl_since(now, arrived));
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
