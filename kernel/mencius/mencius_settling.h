/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which flows are settled: they have kept their own queue short for a while.
 *
 * A call does; a download fills any share it gets. A wait caused by a hold, or
 * by newcomers, says nothing about the flow itself, so no flow is judged
 * meanwhile.
 */
#ifndef __MENCIUS_SETTLING_H
#define __MENCIUS_SETTLING_H

#include "../common/flow_list.h"
#include "mencius_types.h"

/* For how long a flow has to keep its queue short. */
#define MN_PROBATION	MN_SECOND
/*
 * For how long its queue may stand, or be above the minimum, now and then: a
 * key frame does that.
 */
#define MN_BURST	(200 * MN_MS)
/* For how long it may wait above the mark when it is not the reason. */
#define MN_PATIENCE	(3 * MN_SECOND)
/* A flow that is silent for longer begins again. */
#define MN_GAP		(250 * MN_MS)
/* For so long after a drop or a mark by the AQM a flow is not settled. */
#define MN_AFTER_DROP	(5 * MN_SECOND)

/* Why a packet of a settled flow waits. */
enum mn_cause {
	MN_FLOW,		/* its flow sends too much */
	MN_OTHERS,		/* others are held back */
	MN_LINK,		/* the link became slower: no other waits */
};

static inline void mn_settling_init(struct mn_settling *settling, u64 now)
{
	settling->since = now;
	settling->below = now;
	settling->last = now;
}

static __always_inline void mn_settling_restart(struct mn_settling *settling,
						u64 now)
{
	settling->since = max(settling->since, now);
}

/* A packet of the flow came. Returns ns since the one before. */
static __always_inline u64 mn_settling_arrived(struct mn_settling *settling,
					       u64 now)
{
	u64 pause = fl_since(now, settling->last);

	if (pause > MN_GAP) {
		mn_settling_restart(settling, now);
		settling->below = now;
	}
	settling->last = now;
	return pause;
}

/* A packet of the flow left, which waited for @cause. */
static __always_inline void mn_settling_left(struct mn_settling *settling,
					     u64 now, u64 wait,
					     const struct mn_rules *rules,
					     enum mn_cause cause)
{
	u64 mark = cause == MN_OTHERS ? rules->max_wait : rules->min_wait;
	u64 patience = cause == MN_FLOW ? MN_BURST : MN_PATIENCE;

	if (wait <= mark)
		settling->below = now;
	if (fl_since(now, settling->below) > patience ||
	    (cause == MN_FLOW && wait > rules->max_wait))
		mn_settling_restart(settling, now);
}

/* A packet of the flow was dropped or marked. */
static inline void mn_settling_dropped(struct mn_settling *settling, u64 now)
{
	settling->since = now + (MN_AFTER_DROP - MN_PROBATION);
}

static __always_inline bool mn_has_settled(const struct mn_settling *settling,
					   u64 now)
{
	return fl_since(now, settling->since) >= MN_PROBATION;
}

#endif
