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
	cf_unlink(&c->activity, cf_activity_nodes(c), at);
	cf_append(&c->activity, cf_activity_nodes(c), at);
}

static void cf_forget(struct confucius *c, u32 at)
{
	c->sets[at / CF_WAYS].used &= ~(1 << at % CF_WAYS);
	cf_unlink(&c->activity, cf_activity_nodes(c), at);
	c->counts.forgotten++;
}

/*
 * An unknown flow takes a free way of its set. There it is the newest; of those
 * that began in the same moment it is the one in the last way.
 */
static u32 cf_occupy(struct confucius *c, struct cf_set *set, u64 now, u32 hash)
{
	u32 first = (u32)(set - c->sets) * CF_WAYS;
	u32 way = __builtin_ctz((u8)~set->used);
	bool later = set->used >> set->newest & 1 && set->newest > way &&
		     c->ages[first + set->newest].started == now;

	if (!later)
		set->newest = way;
	set->used |= 1 << way;
	set->hash[way] = hash;
	c->ages[first + way].started = now;
	c->flows[first + way].last_active = now;
	cf_append(&c->activity, cf_activity_nodes(c), first + way);
	return first + way;
}

/*
 * In a full set an unknown flow is the guest of the flow that began last: old
 * flows, whose class says what they are, stay what they are. While packets of
 * guests wait, unknown flows of the set go on being guests although there may
 * be room again, because otherwise they could overtake themselves.
 */
static noinline u32 cf_find_unknown(struct confucius *c, struct cf_set *set, u64 now, u32 hash,
				    bool *fresh)
{
	bool pinned = set->host != CF_NIL && cf_waits(c, set->host, set->last);

	if (!pinned && set->used != 0xff) {
		*fresh = true;
		return cf_occupy(c, set, now, hash);
	}
	if (!pinned)
		set->host = (u32)(set - c->sets) * CF_WAYS + set->newest;
	set->last = c->arrivals;
	c->counts.shared++;
	cf_touch(c, now, set->host);
	return set->host;
}

/* The flow of the packet with @hash that arrives; @fresh if it was not known and now is. */
static __always_inline u32 cf_find(struct confucius *c, u64 now, u32 hash, bool *fresh)
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
	return cf_find_unknown(c, set, now, hash, fresh);
}

#endif
