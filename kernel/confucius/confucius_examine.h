/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which class a flow belongs to, from how it uses the buffer: section 5 of the
 * paper.
 *
 * A flow's occupancy is sampled at its own packets and averaged over interval.
 * It counts towards its class's only once it was measured there, so that a flow
 * passing through does not affect the verdict on those that stay.
 */
#ifndef __CONFUCIUS_EXAMINE_H
#define __CONFUCIUS_EXAMINE_H

/* The measure of a class: @sum of the occupancies of so many flows. */
struct cf_total {
	u64	sum;
	u32	flows;
};

static inline u64 cf_target(const struct confucius *c, u32 class)
{
	return c->params.targets[class - 1] * CF_PERCENT;
}

/* The flow's packets as a part of the buffer. */
static inline u32 cf_of_buffer(const struct confucius *c,
			       const struct cf_flow *flow)
{
	u64 own = (u64)flow->packets * CF_FULL;

	return min_t(u64, cf_div(own, c->params.limit), CF_MOST);
}

/*
 * The delay that a flow would have if all flows of its class were like it, as a
 * part of the scale. One of its packets leaves after @sojourn ns; with it, @own
 * bytes of the flow and @all bytes of @waiting flows of its class were there.
 * sojourn * own / all is the part of the delay that the flow causes (Little's
 * law).
 */
static __always_inline u32 cf_of_delay(const struct confucius *c, u64 sojourn,
				       u32 own, u64 all, u32 waiting)
{
	u64 us = min_t(u64, div_u64(sojourn, 1000), U32_MAX);

	/* Packets may have no bytes. */
	all = max_t(u64, all, 1);
	/*
	 * Times 2^30 bytes of memory; then 2^32 us times 2^16 flows times 10^4.
	 */
	if (own < all)
		us = cf_div(us * own, (u32)all);
	us = cf_div(us * waiting * c->occupancy_num, c->occupancy_den);
	return min_t(u64, us, CF_MOST);
}

static __always_inline void cf_sample(struct cf_flow *flow, u32 occupancy)
{
	flow->sum += occupancy;
	flow->samples++;
}

static inline void cf_window_start(struct cf_flow *flow, u64 now)
{
	flow->window = now;
	flow->sum = 0;
	flow->samples = 0;
}

/* The last complete interval, or the part of the first one seen so far. */
static u32 cf_latest(const struct confucius *c, u32 at)
{
	const struct cf_flow *flow = &c->flows[at];

	if (c->ages[at].mean != CF_UNMEASURED)
		return c->ages[at].mean;
	return flow->samples ? (u32)div_u64(flow->sum, flow->samples) : 0;
}

/* Packets in the buffer add up, and delays are those of the class. */
static u64 cf_length(const struct confucius *c, struct cf_total total)
{
	if (c->params.occupancy == CONFUCIUS_BUFFER || total.flows < 2)
		return total.sum;
	return div_u64(total.sum, total.flows);
}

/* The class whose target is nearest; of two, the lower one. */
static u32 cf_nearest(const struct confucius *c, u64 occupancy)
{
	u64 least = CF_NEVER;
	u32 class, nearest = 1;

	for (class = 1; class <= c->params.classes; class++) {
		u64 target = cf_target(c, class);
		u64 apart = target > occupancy ? target - occupancy :
						 occupancy - target;

		if (apart < least) {
			least = apart;
			nearest = class;
		}
	}
	return nearest;
}

/* The middle between the targets of a class and the next. */
static u64 cf_middle(const struct confucius *c, u32 class)
{
	return (cf_target(c, class) + cf_target(c, class + 1)) / 2;
}

/*
 * The queue-level examination (figure 9): whether @length is past the middle to
 * a neighbour's target by more than the hysteresis.
 */
static enum cf_verdict cf_by_length(const struct confucius *c, u32 class,
				    u64 length)
{
	u64 margin = c->params.alpha * CF_PERCENT;

	if (class < c->params.classes && length > cf_middle(c, class) + margin)
		return CF_UP;
	if (class > 1 && length + margin < cf_middle(c, class - 1))
		return CF_DOWN;
	return CF_STAY;
}

/*
 * Equations (2) and (3): the verdict on a flow's share among those of its
 * class. False within the hysteresis, or without another flow to compare with.
 *
 * A class of 1/alpha flows or more could never demote: the threshold of (3) is
 * at least half the fair share. A class shorter than half its target has no
 * aggressive flow. And a flow does not move to a class from which, alone, the
 * queue-level examination would send it straight back.
 */
static bool cf_by_share(const struct confucius *c, u32 class, u64 own,
			struct cf_total total, enum cf_verdict *verdict)
{
	u64 margin = (u64)c->params.alpha * total.flows;
	u64 share = own * 100 * total.flows;
	u64 low = margin < 50 ? 100 - margin : 50;

	*verdict = CF_STAY;
	if (total.flows < 2 || !total.sum)
		return false;
	/* own / sum >= 1 / flows + alpha / 100, times 100 * flows * sum. */
	if (share >= total.sum * (100 + margin)) {
		if (class < c->params.classes &&
		    cf_length(c, total) >= cf_target(c, class) / 2 &&
		    cf_by_length(c, class + 1, own) != CF_DOWN)
			*verdict = CF_UP;
		return *verdict == CF_UP;
	}
	/* own / sum <= max(1 / flows - alpha / 100, 1 / (2 * flows)). */
	if (share > total.sum * low)
		return false;
	if (class > 1 && cf_by_length(c, class - 1, own) == CF_UP)
		return false;
	*verdict = CF_DOWN;
	return true;
}

/*
 * Judges the length of a class at most once an interval; in between the verdict
 * stands, and its flows follow it as they are examined. Members that were not
 * measured yet do not make it long, but it is short only if it were with all of
 * them like those that have been.
 */
static enum cf_verdict cf_judge(struct confucius *c, u64 now, u32 number)
{
	struct cf_class *class = &c->classes[number];
	struct cf_total least = { class->sum, class->counted };
	struct cf_total most = { 0, class->members };

	if (class->was_judged &&
	    fl_since(now, class->judged) < c->params.interval)
		return class->verdict;
	class->was_judged = true;
	class->judged = now;
	class->verdict = cf_by_length(c, number, cf_length(c, least));
	if (class->verdict == CF_DOWN) {
		most.sum = div_u64(class->sum * class->members,
				   max(class->counted, 1U));
		if (cf_by_length(c, number, cf_length(c, most)) != CF_DOWN)
			class->verdict = CF_STAY;
	}
	return class->verdict;
}

/*
 * The new mean of a flow of the class, which was @before, counts from now on.
 */
static void cf_count(struct confucius *c, u32 at, u32 before)
{
	struct cf_flow *flow = &c->flows[at];
	struct cf_class *class = &c->classes[flow->class];

	if (flow->counted)
		class->sum -= before;
	else
		class->counted++;
	flow->counted = true;
	class->sum += c->ages[at].mean;
}

/* A flow leaves its class, and is measured afresh. */
static void cf_uncount(struct confucius *c, u64 now, u32 at)
{
	struct cf_flow *flow = &c->flows[at];
	struct cf_class *class = &c->classes[flow->class];

	if (flow->counted) {
		class->counted--;
		class->sum -= c->ages[at].mean;
	}
	flow->counted = false;
	cf_window_start(flow, now);
}

/* Whether 100 % of occupancy is the same with both. */
static bool cf_same_unit(const struct confucius_params *a,
			 const struct confucius_params *b)
{
	if (a->occupancy != b->occupancy)
		return false;
	return a->occupancy == CONFUCIUS_BUFFER ? a->limit == b->limit :
						  a->scale == b->scale;
}

/*
 * Forgets all measurements. A class is judged again before its next flow is
 * examined.
 */
static void cf_measure_anew(struct confucius *c, u64 now)
{
	u32 at;

	for (at = 0; at < CF_CLASSES; at++) {
		c->classes[at].sum = 0;
		c->classes[at].counted = 0;
	}
	for (at = 0; at < cf_places(c->params.flows); at++) {
		cf_window_start(&c->flows[at], now);
		c->flows[at].counted = false;
		c->ages[at].mean = CF_UNMEASURED;
	}
}

#endif
