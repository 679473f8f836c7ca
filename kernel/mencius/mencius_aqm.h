/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals to a sender whose packets wait for too long: marks or drops, by
 * CoDel's law with a memory. The reference CoDel (RFC 8289) forgets how often
 * it had to signal when the queue is short for a moment. Here, as in cake's
 * Cobalt, @next is when the next signal is due, and, while there is no reason
 * for one, when the memory of one fades. Unlike in Cobalt a signal needs
 * packets that are late for all of the time before it: a call whose pictures
 * come in bursts is not signalled for those.
 *
 * It looks at the flow's own backlog, so that a flow's last packet is never
 * dropped.
 */
#ifndef __MENCIUS_AQM_H
#define __MENCIUS_AQM_H

#include "../common/flow_list.h"
#include "mencius_figures.h"
#include "mencius_hooks.h"
#include "mencius_pace.h"
#include "mencius_store.h"
#include "mencius_types.h"

#define MN_MOST		32	/* drops for a packet that leaves, and fades */
/*
 * L4S packets are marked above this wait, or the time of two full packets
 * (sch_dualpi2.c: step_thresh).
 */
#define MN_STEP		MN_MS

/* 2^32/sqrt(n), which a Newton step from the neighbour's would miss by far. */
static const u32 mn_inv_sqrt[] = {
	U32_MAX,    U32_MAX,	3037000500, 2479700525, 2147483647, 1920767767,
	1753413056, 1623345051, 1518500250, 1431655765, 1358187914, 1294981364,
	1239850263, 1191209601, 1147878294, 1108955788,
};

/* No signals are remembered: an interval passes before the first signal. */
static void mn_signals_init(struct mn_signals *signals)
{
	*signals = (struct mn_signals){ .inv_sqrt = U32_MAX };
}

/* One step of Newton's method towards 1/sqrt(count): x (3 - count x^2) / 2. */
static u32 mn_signals_newton(u32 count, u32 inv_sqrt)
{
	u64 square = (u64)inv_sqrt * inv_sqrt >> 32;
	u64 taken = min(count * square, 3ULL << 32);

	/* Two bits less, so that the product fits; one more for the half. */
	return (u32)((((3ULL << 32) - taken) >> 2) * inv_sqrt >> 31);
}

static void mn_signals_set(struct mn_signals *signals, u32 count)
{
	signals->count = count;
	if (count < ARRAY_SIZE(mn_inv_sqrt))
		signals->inv_sqrt = mn_inv_sqrt[count];
	else
		signals->inv_sqrt = mn_signals_newton(count, signals->inv_sqrt);
}

/* Adds interval / sqrt(count) to @from. */
static u64 mn_signals_after(const struct mn_signals *signals, u64 from,
			    u64 interval)
{
	return from + mul_u64_u32_shr(interval, signals->inv_sqrt, 32);
}

/* Lets the memory of signals fade as far as due, but not too much at once. */
static void mn_signals_fade(struct mn_signals *signals, u64 now, u64 interval)
{
	u32 left = MN_MOST;

	while (left-- && signals->count && now >= signals->next) {
		mn_signals_set(signals, signals->count - 1);
		signals->next = mn_signals_after(signals, signals->next,
						 interval);
	}
}

/*
 * A packet was late, or earlier ones were and the memory of that has not faded:
 * whether this one is to be marked or dropped.
 */
static bool mn_signals_judge(struct mn_signals *signals, u64 now, u64 interval,
			     bool late)
{
	if (late && !signals->late) {
		signals->next = mn_signals_after(signals, now, interval);
		if (!signals->count)
			signals->count = 1;
	}
	signals->late = late;
	if (!late) {
		mn_signals_fade(signals, now, interval);
		return false;
	}
	if (now < signals->next)
		return false;
	if (signals->count != U32_MAX)
		mn_signals_set(signals, signals->count + 1);
	signals->next = mn_signals_after(signals, signals->next, interval);
	return true;
}

/*
 * A packet that has waited for very long is dropped even if it could be marked:
 * its sender ignores marks (RFC 3168, section 7).
 */
static bool mn_mark(struct mencius *m, u64 now, u32 at, u64 target,
		    const struct mn_popped *popped)
{
	if (!m->params.ecn ||
	    fl_since(now, popped->arrived) > max(m->spared, 2 * target) ||
	    !mencius_mark(m, popped->packet))
		return false;
	mn_count_mark(m, at);
	return true;
}

/* Whether a queue stands after a packet of it that L4S marks for its wait. */
static __always_inline bool mn_steps(const struct mencius *m, u64 now, u32 at,
				     const struct mn_popped *popped)
{
	return fl_since(now, popped->arrived) > m->step &&
	       m->flows[at].backlog.bytes > MN_FULL;
}

static void mn_refuse(struct mencius *m, u32 at, const struct mn_popped *popped)
{
	mn_count_drop(m, at);
	if (m->params.ingress && m->shaper.pace)
		mn_charge_link(m, popped->packet, popped->len, true);
	mencius_dropped(m, popped->packet, popped->len, at, MENCIUS_CONGESTION);
}

/*
 * As mn_tell(), for a packet that has waited, or of a flow with signals in
 * memory.
 */
static noinline bool mn_tell_late(struct mencius *m, u64 now, u32 at,
				  u64 target, struct mn_popped *popped)
{
	struct mn_flow *flow = &m->flows[at];
	u32 dropped;

	for (dropped = 0; dropped < MN_MOST; dropped++) {
		bool late = fl_since(now, popped->arrived) > target &&
			    flow->backlog.bytes > MN_FULL;
		bool stepped = mn_steps(m, now, at, popped) &&
			       mencius_is_l4s(popped->packet) &&
			       mn_mark(m, now, at, target, popped);

		if (!mn_signals_judge(&flow->signals, now, m->params.interval,
				      late))
			return dropped;
		if (stepped || mn_mark(m, now, at, target, popped)) {
			/* One is enough: others due are not made up for. */
			flow->signals.next = max(flow->signals.next, now);
			return true;
		}
		mn_refuse(m, at, popped);
		mn_pop(m, at, popped);
	}
	return true;
}

/*
 * Takes the next packet to send of a flow that has one; returns whether it is
 * marked, or others were dropped for it.
 */
static __always_inline bool mn_tell(struct mencius *m, u64 now, u32 at,
				    u64 target, struct mn_popped *popped)
{
	mn_pop(m, at, popped);
	if (likely(!m->flows[at].signals.count &&
		   fl_since(now, popped->arrived) <= target &&
		   !mn_steps(m, now, at, popped)))
		return false;
	return mn_tell_late(m, now, at, target, popped);
}

#endif
