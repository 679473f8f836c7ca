/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow's rate falls after a drop (IV.A).
 *
 * A drop starts a trial: the arrivals in the window before it are compared with
 * each of some windows after it, as a sender learns of a drop a round trip
 * later. The rate fell if one of these has less by a share, and by a packet
 * more, which is the possible error of counting packets in windows; otherwise
 * it was kept. A window in which a flow begins to pause is not compared: bursts
 * end whether or not packets were dropped. The trial goes on when the flow
 * does. Arrivals count, not admitted packets.
 */
#ifndef __FLOQ_BEHAVIOUR_H
#define __FLOQ_BEHAVIOUR_H

/* With fewer packets in a window, half of them might be all of them. */
#define FL_FEW	4

enum fl_verdict {
	FL_NO_VERDICT,
	FL_FELL,
	FL_KEPT,
};

static inline u32 fl_add(u32 a, u32 b)
{
	return a + b < a ? U32_MAX : a + b;
}

/* The part of @n that @part is of @whole, both in us. */
static inline u32 fl_scaled(u32 n, u32 part, u32 whole)
{
	return div_u64((u64)n * part, whole);
}

/* A flow that begins: responsive, as all are at first. */
static void fl_begin(struct fl_behaviour *b, u64 now)
{
	memset(b, 0, sizeof(*b));
	b->opened = now;
	b->kind = FLOQ_RESPONSIVE;
}

/*
 * Arrivals in the last window, taking the window before the current one as
 * even.
 */
static struct fl_sample fl_before(const struct fl_behaviour *b, u64 now,
				  u64 window)
{
	u64 age = fl_since(now, b->opened);
	u32 part = age < window ? div_u64(window - age, 1000) : 0;
	u32 whole = div_u64(window, 1000);

	return (struct fl_sample){
		fl_add(b->now.bytes, fl_scaled(b->last.bytes, part, whole)),
		fl_add(b->now.packets, fl_scaled(b->last.packets, part, whole)),
	};
}

/* The sender was signalled congestion: the last packet was dropped. */
static void fl_told(struct fl_behaviour *b, u64 now,
		    const struct floq_params *params)
{
	struct fl_sample before;
	u64 floor;
	u32 packet;

	if (b->left || !b->has_last)
		return;
	before = fl_before(b, now, params->window);
	if (before.packets < FL_FEW)
		return;
	floor = div_u64((u64)before.bytes * (100 - params->fall), 100);
	packet = before.bytes / before.packets;
	b->floor = floor > packet ? floor - packet : 0;
	b->left = params->windows;
	b->opened = now;
	memset(&b->now, 0, sizeof(b->now));
}

/* Closes the current window if it is over. */
static __always_inline enum fl_verdict fl_roll(struct fl_behaviour *b, u64 now,
					       const struct floq_params *params)
{
	u64 age = fl_since(now, b->opened);

	if (likely(age <= params->window))
		return FL_NO_VERDICT;
	b->last = b->now;
	memset(&b->now, 0, sizeof(b->now));
	b->has_last = age <= 2 * params->window;
	if (!b->has_last) {
		b->opened = now;
		return FL_NO_VERDICT;
	}
	b->opened += params->window;
	if (!b->left)
		return FL_NO_VERDICT;
	b->left--;
	if (b->last.bytes < b->floor) {
		b->left = 0;
		return FL_FELL;
	}
	return b->left ? FL_NO_VERDICT : FL_KEPT;
}

/* Draws the conclusion from how a trial ended. */
static noinline void fl_judge(struct fl_behaviour *b, bool kept,
			      const struct floq_params *params)
{
	b->row = fl_add(kept == b->kept ? b->row : 0, 1);
	b->kept = kept;
	if (kept && b->row >= params->strikes)
		b->kind = FLOQ_UNRESPONSIVE;
	if (!kept && params->pardon && b->row >= params->pardon)
		b->kind = FLOQ_RESPONSIVE;
}

/* A packet of @len bytes arrives. */
static __always_inline void fl_arrived(struct fl_behaviour *b, u64 now, u32 len,
				       const struct floq_params *params)
{
	enum fl_verdict verdict = fl_roll(b, now, params);

	/* A packet without bytes is one all the same. */
	b->now.bytes = fl_add(b->now.bytes, max(len, 1U));
	b->now.packets = fl_add(b->now.packets, 1);
	if (unlikely(verdict != FL_NO_VERDICT))
		fl_judge(b, verdict == FL_KEPT, params);
}

#endif
