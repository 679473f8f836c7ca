/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of flows and hosts, for looking at: no decision depends on them.
 */
#ifndef __MENCIUS_FIGURES_H
#define __MENCIUS_FIGURES_H

/*
 * The wait of a host moves up by so many steps at a packet that waited longer,
 * and down by one at any other: so it stands where one in twenty waits longer.
 */
#define MN_RISES	19
/* A step is one in 2^MN_STEPS of it, and 1024 ns. */
#define MN_STEPS	9

/* Moves @wait, in units of 1024 ns, for a packet that waited @sojourn ns. */
static __always_inline u32 mn_wait_moved(u32 wait, u64 sojourn)
{
	u32 found = min_t(u64, sojourn >> MN_TICK, U32_MAX / 2);
	u32 step = (wait >> MN_STEPS) + 1;

	if (found > wait)
		return wait + min(found - wait, MN_RISES * step);
	return wait - min(wait - found, step);
}

/* A packet of flow @at was sent. */
static __always_inline void mn_count_sent(struct mencius *m, u32 at,
					  u64 sojourn, u32 len)
{
	struct mn_figures *flow = &m->flows[at].figures;
	struct mn_host_figures *host = &m->hosts[m->flows[at].host].figures;

	flow->bytes += len;
	flow->packets++;
	flow->delay += (u32)(sojourn >> (MN_TICK + 3)) - (flow->delay >> 3);
	host->bytes += len;
	host->packets++;
	host->wait = mn_wait_moved(host->wait, sojourn);
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
