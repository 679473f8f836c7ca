/* SPDX-License-Identifier: GPL-2.0 */
/*
 * New flows by age, and their weight together: equation (1) of the paper.
 *
 * A new flow of age t weighs min(|F_ext| / |Q_new| * 2^(t / doubling), 1), the
 * exponent in whole steps, less head_start steps. There is a list of the flows
 * of each step. Older flows are never in a lower step, so that each list is in
 * the order of the flows' beginning and a step costs O(1).
 */
#ifndef __CONFUCIUS_WEIGHTS_H
#define __CONFUCIUS_WEIGHTS_H

static u64 cf_step_due_at(const struct confucius *c, u32 step)
{
	u32 oldest = c->steps[step].head;

	if (oldest == FL_NIL)
		return CF_NEVER;
	return c->ages[oldest].started + c->params.doubling * (step + 1);
}

/* Finds out anew when a flow reaches its next step. */
static void cf_reckon(struct confucius *c)
{
	u32 step;

	c->step_due = CF_NEVER;
	for (step = 0; step < CF_STEPS - 1; step++)
		c->step_due = min(c->step_due, cf_step_due_at(c, step));
}

static void cf_step_enter(struct confucius *c, u32 at, u32 step)
{
	c->flows[at].step = step;
	c->step_flows[step]++;
	fl_append(&c->steps[step], cf_step_nodes(c), at);
}

static void cf_step_leave(struct confucius *c, u32 at)
{
	u32 step = c->flows[at].step;

	c->step_flows[step]--;
	fl_unlink(&c->steps[step], cf_step_nodes(c), at);
}

/*
 * A flow that was idle for a whole doubling is over, or like a new one when it
 * comes back.
 */
static bool cf_stays(const struct confucius *c, u64 now, u32 at)
{
	const struct cf_flow *flow = &c->flows[at];

	return flow->packets ||
	       fl_since(now, flow->last_active) < c->params.doubling;
}

/*
 * New flows reach their next steps, or are forgotten; guests begin again. From
 * low to high: a flow that slept through several steps takes them all, and
 * arrives behind those that began before it. No more than CF_BATCH now: the
 * rest stays due.
 */
static noinline void cf_age(struct confucius *c, u64 now)
{
	u32 step, left = CF_BATCH;

	for (step = 0; step < CF_STEPS - 1; step++) {
		while (left && now >= cf_step_due_at(c, step)) {
			u32 at = c->steps[step].head;

			if (at == FL_NIL)
				break;
			left--;
			cf_step_leave(c, at);
			if (!cf_stays(c, now, at)) {
				cf_lose_member(c, CF_NEW);
				cf_forget(c, at);
			} else if (cf_are_guests(c, at)) {
				c->ages[at].started = now;
				cf_step_enter(c, at, 0);
			} else {
				cf_step_enter(c, at, step + 1);
			}
			c->stale = true;
		}
	}
	cf_reckon(c);
}

/*
 * The step from which on new flows weigh 1, so that they age out (section 4.2).
 * At least 1: a flow shows for one doubling how it uses the buffer.
 */
static u32 cf_ripe_step(const struct confucius *c)
{
	u64 fresh = (u64)c->classes[CF_NEW].members << c->params.head_start;
	u32 step = 1;

	if (c->existing)
		while (step < CF_STEPS - 1 && (u64)c->existing << step < fresh)
			step++;
	return step;
}

/* The oldest new flow that has reached @step. */
static u32 cf_oldest_from(const struct confucius *c, u32 step)
{
	u32 at;

	for (at = CF_STEPS; at-- > step;)
		if (c->steps[at].head != FL_NIL)
			return c->steps[at].head;
	return FL_NIL;
}

/*
 * The weight of Q_new: the sum over its flows, divided once, so that many flows
 * of little weight do not vanish one by one.
 */
static u32 cf_new_weight(const struct confucius *c)
{
	u32 fresh = c->classes[CF_NEW].members;
	u64 one, sum = 0;
	u32 step;

	if (!c->existing || !fresh)
		return CF_UNIT * fresh;
	/*
	 * All but the counts is times fresh * 2^head_start: no more than 2^52
	 * in all.
	 */
	one = (u64)CF_UNIT * fresh << c->params.head_start;
	for (step = 0; step < CF_STEPS; step++)
		if (c->step_flows[step])
			sum += c->step_flows[step] *
			       min(one, (u64)CF_UNIT * c->existing << step);
	sum = div_u64(sum, fresh) >> c->params.head_start;
	return sum ? sum : 1;
}

#endif
