/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of flows: sets of eight ways, looked up by the packet's hash.
 *
 * A flow is active while packets of it wait or the last one came or left less
 * than idle ago. The table knows active flows only, in the order of their last
 * activity, so that those that fell idle are at the front.
 */
#ifndef __CONFUCIUS_TABLE_H
#define __CONFUCIUS_TABLE_H

/* A packet of the flow came or left. */
static __always_inline void cf_touch(struct confucius *c, u64 now, u32 at)
{
	c->flows[at].last_active = now;
	if (c->activity.tail == at)
		return;
	fl_unlink(&c->activity, cf_activity_nodes(c), at);
	fl_append(&c->activity, cf_activity_nodes(c), at);
}

/* Flows that there may be, the guests of each set counted as one. */
static inline u32 cf_places(u32 flows)
{
	return flows + flows / CF_WAYS;
}

/* Whether this is the place of a set's guests. */
static inline bool cf_are_guests(const struct confucius *c, u32 at)
{
	return at >= c->params.flows;
}

static void cf_forget(struct confucius *c, u32 at)
{
	if (cf_are_guests(c, at))
		c->sets[at - c->params.flows].used &= ~(1 << CF_WAYS);
	else
		c->sets[at / CF_WAYS].used &= ~(1 << at % CF_WAYS);
	fl_unlink(&c->activity, cf_activity_nodes(c), at);
	c->counts.forgotten++;
}

/* A flow that was not known takes place @at. */
static u32 cf_occupy(struct confucius *c, u64 now, u32 at)
{
	c->ages[at].started = now;
	c->flows[at].last_active = now;
	fl_append(&c->activity, cf_activity_nodes(c), at);
	return at;
}

/*
 * An unknown flow takes a free way of its set. Flows for which a full set has
 * none are its guests. They count as one flow that stays new: other flows' age
 * and class say nothing about them, nor theirs about others. While packets of
 * guests wait, unknown flows of the set go on being guests although there may
 * be room again, because otherwise they could overtake themselves.
 */
static noinline u32 cf_find_unknown(struct confucius *c, u32 index, u64 now,
				    u32 hash, bool *fresh)
{
	u32 guests = c->params.flows + index;
	struct cf_set *set = &c->sets[index];
	u32 way = __builtin_ctz(~set->used);

	if (way < CF_WAYS && !c->flows[guests].packets) {
		set->used |= 1 << way;
		set->hash[way] = hash;
		*fresh = true;
		return cf_occupy(c, now, index * CF_WAYS + way);
	}
	c->counts.shared++;
	if (set->used >> CF_WAYS) {
		cf_touch(c, now, guests);
		return guests;
	}
	set->used |= 1 << CF_WAYS;
	*fresh = true;
	return cf_occupy(c, now, guests);
}

/*
 * The flow of the packet with @hash that arrives; @fresh if it was not known
 * and now is.
 */
static __always_inline u32 cf_find(struct confucius *c, u64 now, u32 hash,
				   bool *fresh)
{
	u32 index = (u64)hash * c->set_count >> 32;
	struct cf_set *set = &c->sets[index];
	u32 way;

	*fresh = false;
	for (way = 0; way < CF_WAYS; way++) {
		if (set->hash[way] == hash && set->used >> way & 1) {
			cf_touch(c, now, index * CF_WAYS + way);
			return index * CF_WAYS + way;
		}
	}
	return cf_find_unknown(c, index, now, hash, fresh);
}

#endif
