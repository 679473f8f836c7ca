/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tells a sender that its packets wait for too long: marks or drops, by
 * CoDel's law with a memory, as cake's Cobalt has it. The reference CoDel (RFC
 * 8289) forgets how often it had to signal when the queue is short for a
 * moment. Here @next is when the next signal is due, and, while there is no
 * reason to signal, when the memory of earlier signals fades by one.
 *
 * It looks at the flow's own backlog, so that a flow's last packet is never
 * dropped.
 */
#ifndef __MENCIUS_AQM_H
#define __MENCIUS_AQM_H

#define MN_MOST		32	/* drops for a packet that leaves, and fades */

/* 2^32/sqrt(n), which a Newton step from the neighbour's would miss by far. */
static const u32 mn_inv_sqrt[] = {
	U32_MAX,    U32_MAX,	3037000500, 2479700525, 2147483647, 1920767767,
	1753413056, 1623345051, 1518500250, 1431655765, 1358187914, 1294981364,
	1239850263, 1191209601, 1147878294, 1108955788,
};

/* Nothing is remembered: an interval passes before the first signal. */
static void mn_signals_init(struct mn_signals *signals)
{
	*signals = (struct mn_signals){
		.next = U64_MAX,
		.inv_sqrt = U32_MAX,
	};
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

/*
 * Forgets signals until the next one is not due, but not too many at once;
 * whether it is past due even so.
 */
static bool mn_signals_fade(struct mn_signals *signals, u64 now, u64 interval)
{
	u32 left = MN_MOST;

	while (left--) {
		if (!signals->count || now < signals->next)
			return now > signals->next;
		mn_signals_set(signals, signals->count - 1);
		signals->next = mn_signals_after(signals, signals->next,
						 interval);
	}
	return false;
}

/*
 * Something is remembered, or packets wait for too long: whether this packet is
 * to be marked or dropped, and @past if the next event is past already.
 */
static noinline bool mn_signals_act(struct mn_signals *signals, u64 now,
				    u64 interval, bool late, bool *past)
{
	bool due = signals->count && now >= signals->next;

	*past = now > signals->next;
	if (late && !signals->late)
		signals->next = mn_signals_after(signals, now, interval);
	if (late && !signals->count)
		signals->count = 1;
	signals->late = late;
	if (due && late) {
		if (signals->count != U32_MAX)
			mn_signals_set(signals, signals->count + 1);
		signals->next = mn_signals_after(signals, signals->next,
						 interval);
		*past = now > signals->next;
		return true;
	}
	if (due)
		*past = mn_signals_fade(signals, now, interval);
	return false;
}

/* Afterwards, whether that packet was dropped or not. */
static __always_inline void mn_signals_settle(struct mn_signals *signals,
					      u64 now, u64 interval, bool past,
					      bool dropped)
{
	if (!signals->count)
		signals->next = now + interval;
	else if (past && !dropped)
		signals->next = now;
}

static bool mn_mark(struct mencius *m, u32 at, const struct mn_popped *popped)
{
	if (!m->params.ecn || !mencius_mark(m, popped->packet))
		return false;
	m->flows[at].figures.marks++;
	return true;
}

static void mn_refuse(struct mencius *m, u32 at, const struct mn_popped *popped)
{
	m->flows[at].figures.drops++;
	if (m->params.ingress && m->shaper.pace)
		mn_charge_link(m, popped->packet, popped->len, true);
	mencius_dropped(m, popped->packet, popped->len, at, MENCIUS_CONGESTION);
}

/*
 * Takes the next packet to send of a flow that has one; whether it is marked,
 * or others were dropped for it.
 */
static __always_inline bool mn_tell(struct mencius *m, u64 now, u32 at,
				    u64 target, struct mn_popped *popped)
{
	struct mn_flow *flow = &m->flows[at];
	struct mn_signals *signals = &flow->signals;
	u64 interval = m->params.interval;
	u32 dropped;

	for (dropped = 0; dropped < MN_MOST; dropped++) {
		bool late, signal, marked, past;

		mn_pop(m, at, popped);
		late = cf_since(now, popped->arrived) > target &&
		       flow->backlog.bytes > MN_FULL;
		if (likely(!late && !signals->count)) {
			signals->late = false;
			signals->next = now + interval;
			return dropped;
		}
		signal = mn_signals_act(signals, now, interval, late, &past);
		marked = signal && mn_mark(m, at, popped);
		mn_signals_settle(signals, now, interval, past,
				  signal && !marked);
		if (!signal || marked)
			return marked || dropped;
		mn_refuse(m, at, popped);
	}
	mn_pop(m, at, popped);
	return true;
}

#endif
