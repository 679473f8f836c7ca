/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CoDel (RFC 8289) over the queue of one flow: it looks at the flow's own
 * backlog, so that a flow's last packet is never dropped.
 *
 * It decides as codel_impl.h does, with two exceptions: a queue that never
 * dropped is not taken for one that dropped at time zero, and no more than
 * MN_DROPS packets are dropped in one call.
 */
#ifndef __MENCIUS_CODEL_H
#define __MENCIUS_CODEL_H

#define MN_FOREVER	0x7fffffff	/* the longest span to tell apart */
#define MN_DROPS	32		/* at most, for a packet that leaves */

static inline u32 mn_ticks(u64 ns)
{
	return (u32)(ns >> MN_TICK);
}

/* A span; those above 36 minutes count as 36 minutes. */
static inline u32 mn_span(u64 ns)
{
	return (u32)min_t(u64, ns >> MN_TICK, MN_FOREVER);
}

/* Whether @a is after @b, modulo 2^32. */
static inline bool mn_after(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/*
 * Whether the delay has been above the target for an interval, seen from the
 * packet that was just taken.
 */
static __always_inline bool mn_codel_stands(struct mn_flow *flow, u64 now,
					    const struct mn_aim *aim,
					    const struct mn_popped *popped)
{
	struct mn_codel *codel = &flow->codel;
	u32 waited = mn_ticks(now) - mn_ticks(popped->arrived);

	if (mn_after(aim->target, waited) || flow->backlog.bytes <= MN_FULL) {
		codel->first_above = 0;
		return false;
	}
	if (!codel->first_above) {
		codel->first_above = mn_ticks(now) + aim->interval;
		return false;
	}
	return mn_after(mn_ticks(now), codel->first_above);
}

/*
 * One step of Newton's method towards 1/sqrt(count): x (3 - count x^2) / 2,
 * with x a fraction of 2^32. After a jump of count the product may wrap.
 */
static void mn_codel_step(struct mn_codel *codel)
{
	u64 x = (u64)codel->inv_sqrt << 16;
	u64 bracket = (3ULL << 32) - codel->count * (x * x >> 32);

	/* Two bits less, so that the product fits; one more for the half. */
	codel->inv_sqrt = (u32)((bracket >> 2) * x >> (32 - 2 + 1)) >> 16;
}

/* @from + interval / sqrt(count). */
static u32 mn_codel_law(const struct mn_codel *codel, u32 from,
			const struct mn_aim *aim)
{
	return from + (u32)((u64)aim->interval * codel->inv_sqrt >> 16);
}

/*
 * Where to start counting: if the last dropping state was a short while ago, at
 * the rate that controlled the queue then.
 */
static void mn_codel_start(struct mn_codel *codel, u64 now,
			   const struct mn_aim *aim)
{
	u32 drops = codel->count - codel->last_count;
	u32 since = mn_ticks(now) - codel->drop_next;

	if (drops > 1 && mn_after(aim->interval * 16, since) &&
	    codel->inv_sqrt) {
		codel->count = drops;
		mn_codel_step(codel);
	} else {
		codel->count = 1;
		codel->inv_sqrt = 0xffff;
	}
	codel->last_count = codel->count;
}

/* Whether the packet is marked; otherwise it is dropped. */
static bool mn_mark_or_drop(struct mencius *m, u32 at,
			    struct mn_popped *popped)
{
	if (m->params.ecn && mencius_mark(m, popped->packet)) {
		m->flows[at].figures.marks++;
		return true;
	}
	m->flows[at].figures.drops++;
	if (m->params.ingress && m->shaper.pace)
		mn_charge_link(m, popped->packet, popped->len, true);
	mencius_dropped(m, popped->packet, popped->len, at, MENCIUS_CONGESTION);
	return false;
}

/*
 * Enters the dropping state. More than a full packet is left, or it would not:
 * so there is another one to send.
 */
static noinline void mn_codel_enter(struct mencius *m, u64 now, u32 at,
				    const struct mn_aim *aim,
				    struct mn_popped *popped)
{
	struct mn_flow *flow = &m->flows[at];

	if (!mn_mark_or_drop(m, at, popped)) {
		mn_pop(m, at, popped);
		mn_codel_stands(flow, now, aim, popped);
	}
	flow->codel.dropping = true;
	mn_codel_start(&flow->codel, now, aim);
	flow->codel.drop_next =
		mn_codel_law(&flow->codel, mn_ticks(now), aim);
}

/*
 * In the dropping state, drops or marks what is due from @popped on. What would
 * be more than MN_DROPS stays due.
 */
static noinline void mn_codel_go_on(struct mencius *m, u64 now, u32 at,
				    const struct mn_aim *aim,
				    struct mn_popped *popped, bool *acted)
{
	struct mn_flow *flow = &m->flows[at];
	struct mn_codel *codel = &flow->codel;
	u32 left = MN_DROPS;

	while (codel->dropping && left-- &&
	       !mn_after(codel->drop_next, mn_ticks(now))) {
		*acted = true;
		codel->count++;
		mn_codel_step(codel);
		if (mn_mark_or_drop(m, at, popped)) {
			codel->drop_next =
				mn_codel_law(codel, codel->drop_next, aim);
			return;
		}
		mn_pop(m, at, popped);
		if (mn_codel_stands(flow, now, aim, popped))
			codel->drop_next =
				mn_codel_law(codel, codel->drop_next, aim);
		else
			codel->dropping = false;
	}
}

/*
 * Takes the next packet to send of a flow that has one; @acted if it is marked,
 * or others were dropped for it.
 */
static __always_inline void mn_codel_dequeue(struct mencius *m, u64 now, u32 at,
					     const struct mn_aim *aim,
					     struct mn_popped *popped,
					     bool *acted)
{
	struct mn_flow *flow = &m->flows[at];

	*acted = false;
	mn_pop(m, at, popped);
	if (likely(!mn_codel_stands(flow, now, aim, popped))) {
		flow->codel.dropping = false;
	} else if (flow->codel.dropping) {
		mn_codel_go_on(m, now, at, aim, popped, acted);
	} else {
		*acted = true;
		mn_codel_enter(m, now, at, aim, popped);
	}
}

#endif
