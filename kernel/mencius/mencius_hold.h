/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hold: how long settled flows wait at most, and the bound on its cost
 * to others.
 *
 * Settled flows are entitled to a part of the bytes. While they keep to it,
 * they do not wait longer than the minimum. For more than that, if another flow
 * has come within the last second, the wait may rise from the minimum to the
 * maximum, stays there for a moment, is let down again, and so on: a congestion
 * control that follows delay notices a rise and not a level. The cost to the
 * others has a bound: they get at least a sixteenth of what settled flows get,
 * twice that after doubling, and so on up to an edge. There it stays.
 */
#ifndef __MENCIUS_HOLD_H
#define __MENCIUS_HOLD_H

#include "../common/flow_list.h"
#include "mencius_types.h"

/* Bytes that are saved up or owed at most. */
#define MN_SAVED	(64 << 10)
/* The debt is at most a full packet. */
#define MN_OWED		1514
/* The wait stays at its highest for so long. */
#define MN_STAY		(150 * MN_MS)
/* The hold is over when no packets have waited for so long. */
#define MN_REST		(200 * MN_MS)
/* A flow that came less than this ago is new. */
#define MN_NEW		MN_SECOND
/* Bytes of others per 256 bytes of settled flows, at first. */
#define MN_FIRST	16
/* Number of doublings after which nothing changes. */
#define MN_DOUBLINGS	20
/*
 * A hold's age is capped at this, so that the effect of a long one is forgotten
 * within as much.
 */
#define MN_OLDEST	(30 * MN_SECOND)

static void mn_hold_init(struct mn_hold *hold, u64 now)
{
	memset(hold, 0, sizeof(*hold));
	hold->waited = now;
	hold->birth = now;
	hold->aged = now;
	hold->rising = now;
	hold->entitled = MN_SAVED;
	hold->edge = 256;
}

static __always_inline void mn_hold_note(struct mn_hold *hold, u64 now,
					 bool waits)
{
	if (waits) {
		if (!hold->on) {
			hold->on = true;
			hold->ahead = 0;
			hold->aged = now;
			hold->yielding = false;
		}
		hold->waited = now;
	} else if (fl_since(now, hold->waited) > MN_REST) {
		hold->on = false;
	}
}

static __always_inline void mn_hold_grow_older(struct mn_hold *hold, u64 now)
{
	u64 span = fl_since(now, hold->aged);

	hold->aged = now;
	if (hold->on && hold->yielding)
		hold->age = min_t(u64, hold->age + span, MN_OLDEST);
	else
		hold->age -= min(hold->age, span);
}

/*
 * No flow can be held back: the wait of settled flows is their own doing.
 */
static __always_inline void mn_hold_rests(struct mn_hold *hold, u64 now)
{
	/* That would have no effect: @aged is set anew when it is on again. */
	if (likely(!hold->on && !hold->age))
		return;
	mn_hold_note(hold, now, false);
	mn_hold_grow_older(hold, now);
}

/*
 * Brings @parts up to date. Divides only if it has changed: no product is above
 * 2^56, as age and doubling are below 2^36.
 */
static __always_inline void mn_hold_reckon(struct mn_hold *hold,
					   const struct mn_rules *rules)
{
	u64 parts = hold->age << 8;

	if (hold->parts * rules->doubling > parts ||
	    (hold->parts + 1) * rules->doubling <= parts)
		hold->parts = (u32)div64_u64(parts, rules->doubling);
}

/* MN_FIRST, doubled with age, with straight lines between the doublings. */
static u32 mn_grown_share(struct mn_hold *hold, const struct mn_rules *rules)
{
	u32 whole;

	mn_hold_reckon(hold, rules);
	whole = min_t(u32, hold->parts >> 8, MN_DOUBLINGS);
	return ((u64)MN_FIRST << whole) * (256 + (hold->parts & 255)) >> 8;
}

/* Whether settled flows may have more than their part. */
static bool mn_hold_yields(struct mn_hold *hold, u64 now,
			   const struct mn_rules *rules,
			   const struct mn_backlogged *backlogged)
{
	u32 fair = rules->of_fair * max(backlogged->others, 1U) /
		   max(backlogged->settled, 1U);

	if (fl_since(now, hold->birth) <= MN_NEW)
		hold->yielding = true;
	hold->edge = min(fair, rules->edge);
	if (mn_grown_share(hold, rules) >= hold->edge)
		hold->yielding = false;
	return hold->ahead <= MN_SAVED;
}

/* Whether a packet has waited so long that it goes before the others. */
static bool mn_hold_is_over(struct mn_hold *hold, u64 now, u64 wait,
			    const struct mn_rules *rules)
{
	u64 span = fl_since(now, hold->rising);
	u64 above = rules->max_wait - rules->min_wait;

	wait -= rules->min_wait;
	if (span > rules->rise + MN_STAY) {
		hold->rising = now;
		return true;
	}
	/* As wait >= above * risen / rise, without a division. */
	return wait >= above ||
	       (wait + 1) * rules->rise > above * min(span, rules->rise);
}

/*
 * Whether a packet of a settled flow, the one that has waited longest and
 * for @wait, goes before all others.
 */
static __always_inline bool
mn_hold_serves(struct mn_hold *hold, u64 now, u64 wait,
	       const struct mn_rules *rules,
	       const struct mn_backlogged *backlogged)
{
	bool waits = wait >= rules->min_wait;

	mn_hold_note(hold, now, waits);
	mn_hold_grow_older(hold, now);
	if (!waits)
		return false;
	return hold->entitled > 0 ||
	       (mn_hold_yields(hold, now, rules, backlogged) &&
		mn_hold_is_over(hold, now, wait, rules));
}

/* A packet of @len bytes leaves while others wait too. */
static __always_inline void mn_hold_sent(struct mn_hold *hold, u32 len,
					 bool settled,
					 const struct mn_rules *rules)
{
	s64 entitled = hold->entitled + ((s64)len * rules->settled_share >> 8);
	s64 ahead = hold->ahead;
	u32 share;

	/* Without calls nothing changes. */
	if (likely(!settled && !hold->on && hold->entitled == MN_SAVED))
		return;
	if (settled)
		entitled -= len;
	hold->entitled = (s32)clamp_t(s64, entitled, -MN_OWED, MN_SAVED);
	if (!hold->on)
		return;
	if (settled) {
		share = hold->yielding ? mn_grown_share(hold, rules) :
					 hold->edge;
		ahead += (s64)((u64)len * share >> 8);
	} else {
		ahead -= len;
	}
	hold->ahead = (s32)clamp_t(s64, ahead, -MN_SAVED, 4 * MN_SAVED);
}

#endif
