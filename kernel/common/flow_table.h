/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of flows and of hosts: sets of eight ways, looked up by hash.
 *
 * An entry is known until it is forgotten. Those for which a full set has no
 * way are its guests, and are one entry together. While packets of guests wait,
 * entries unknown in the set go on being guests although there may be room
 * again, because otherwise they could overtake themselves.
 */
#ifndef __FLOW_TABLE_H
#define __FLOW_TABLE_H

#include "flow_list.h"
#include "flow_words.h"
#include "unroll.h"

#define FT_WAYS		8		/* entries that one hash may be */

/**
 * struct ft_seen - an entry of a table, by activity
 * @links:	neighbours in the list of all entries by @last_active
 * @last_active: ns: when it was last looked up, or found busy
 */
struct ft_seen {
	struct fl_links	links;
	u64		last_active;
};

/**
 * struct ft_set - the entries among which a hash is looked up
 * @hash:	of the entry in each way
 * @used:	bit for each way that holds one, and one above for guests
 */
struct ft_set {
	u32	hash[FT_WAYS];
	u16	used;
};

/**
 * struct ft_table - a table of flows or hosts
 * @sets:	where hashes are looked up
 * @seen:	of each entry, in the order of the sets, and then of the guests
 *		of each set
 * @set_count:	sets
 * @by_activity: entries in use, the one that has been silent longest first
 * @active:	entries in use
 * @fresh:	entries that began
 * @forgotten:	entries that fell idle
 * @shared:	lookups that found guests
 */
struct ft_table {
	struct ft_set	*sets;
	struct ft_seen	*seen;
	u32		set_count;
	struct fl_list	by_activity;
	u32		active;
	u64		fresh;
	u64		forgotten;
	u64		shared;
};

static inline u32 ft_sets_for(u32 entries)
{
	return max((entries + FT_WAYS - 1) / FT_WAYS, 1U);
}

/* Entries that there may be, the guests of each set counted as one. */
static inline u32 ft_places(u32 entries)
{
	return ft_sets_for(entries) * (FT_WAYS + 1);
}

/* Neighbours in the list by activity. */
static inline struct fl_nodes ft_nodes(const struct ft_table *table)
{
	return (struct fl_nodes){ &table->seen->links, sizeof(*table->seen) };
}

/* Whether this is the place of a set's guests. */
static inline bool ft_are_guests(const struct ft_table *table, u32 at)
{
	return at >= table->set_count * FT_WAYS;
}

static inline u32 ft_set_of(const struct ft_table *table, u32 hash)
{
	return (u64)hash * table->set_count >> 32;
}

/* The place of the guests of the set of @hash. */
static inline u32 ft_guests_of(const struct ft_table *table, u32 hash)
{
	return table->set_count * FT_WAYS + ft_set_of(table, hash);
}

/* It was looked up, or found busy. */
static __always_inline void ft_touch(struct ft_table *table, u64 now, u32 at)
{
	table->seen[at].last_active = now;
	if (table->by_activity.tail != at)
		fl_to_end(&table->by_activity, ft_nodes(table), at);
}

/* The entry with @hash, or FL_NIL. */
static inline u32 ft_lookup(const struct ft_table *table, u32 hash)
{
	u32 index = ft_set_of(table, hash);
	const struct ft_set *set = &table->sets[index];
	u32 way;

	unrolled_count(FT_WAYS)
	for (way = 0; way < FT_WAYS; way++)
		if (set->hash[way] == hash && set->used >> way & 1)
			return index * FT_WAYS + way;
	return FL_NIL;
}

/* A way that is not in use in the set of @hash, or FL_NIL. */
static inline u32 ft_free_way(const struct ft_table *table, u32 hash)
{
	u32 index = ft_set_of(table, hash);
	u32 way = __ffs(~(u32)table->sets[index].used);

	return way < FT_WAYS ? index * FT_WAYS + way : FL_NIL;
}

/*
 * The way in the set of @hash, which is full, that has been silent longest
 * among those that @stays, asked with @m, does not keep, or FL_NIL.
 */
static inline u32
ft_silent_longest(const struct ft_table *table, u64 now, u32 hash,
		  bool (*stays)(const void *m, u32 at, u64 now), const void *m)
{
	u32 first = ft_set_of(table, hash) * FT_WAYS;
	const struct ft_seen *seen = &table->seen[first];
	u64 active = U64_MAX;
	u32 found = FL_NIL;
	u32 way;

	unrolled_count(FT_WAYS)
	for (way = 0; way < FT_WAYS; way++) {
		if (seen[way].last_active < active &&
		    !stays(m, first + way, now)) {
			active = seen[way].last_active;
			found = first + way;
		}
	}
	return found;
}

/* Puts the unknown @hash in place @at of its set, which was not in use. */
static void ft_insert(struct ft_table *table, u64 now, u32 hash, u32 at)
{
	struct ft_set *set = &table->sets[ft_set_of(table, hash)];
	u32 way = FT_WAYS;

	if (!ft_are_guests(table, at)) {
		way = at % FT_WAYS;
		set->hash[way] = hash;
	}
	set->used |= 1 << way;
	table->seen[at].last_active = now;
	fl_append(&table->by_activity, ft_nodes(table), at);
	table->active++;
	table->fresh++;
}

/* Puts the unknown @hash in place @at of its set, instead of what is there. */
static inline void ft_replace(struct ft_table *table, u64 now,
			      u32 hash, u32 at)
{
	table->sets[at / FT_WAYS].hash[at % FT_WAYS] = hash;
	ft_touch(table, now, at);
	table->fresh++;
	table->forgotten++;
}

/*
 * A place for the unknown @hash: @at, a way of its set that is not in use, or
 * where that is FL_NIL the set's guests; @fresh if it was not in use until now.
 */
static inline u32 ft_admit(struct ft_table *table, u64 now, u32 hash,
			   u32 at, bool *fresh)
{
	*fresh = true;
	if (at == FL_NIL) {
		at = ft_guests_of(table, hash);
		table->shared++;
		*fresh = !(table->sets[ft_set_of(table, hash)].used >>
			   FT_WAYS & 1);
	}
	if (*fresh)
		ft_insert(table, now, hash, at);
	else
		ft_touch(table, now, at);
	return at;
}

#ifndef MENCIUS_RFC
/* A hash whose place, or whose guests' place, is @at. */
static inline u32 ft_hash_of(const struct ft_table *table, u32 at)
{
	u32 guests = table->set_count * FT_WAYS;

	if (at >= guests)
		return (at - guests) * (U32_MAX / table->set_count);
	return table->sets[at / FT_WAYS].hash[at % FT_WAYS];
}
#endif

/* Whether place @at is in use. */
static inline bool ft_is_known(const struct ft_table *table, u32 at)
{
	u32 guests = table->set_count * FT_WAYS;

	if (at >= guests)
		return table->sets[at - guests].used >> FT_WAYS;
	return table->sets[at / FT_WAYS].used >> at % FT_WAYS & 1;
}

static void ft_forget(struct ft_table *table, u32 at)
{
	if (ft_are_guests(table, at))
		table->sets[at - table->set_count * FT_WAYS].used &=
			~(1 << FT_WAYS);
	else
		table->sets[at / FT_WAYS].used &= ~(1 << at % FT_WAYS);
	fl_unlink(&table->by_activity, ft_nodes(table), at);
	table->active--;
	table->forgotten++;
}

/* The entry silent for longest, if that is for @idle or longer, or FL_NIL. */
static inline u32 ft_idle(const struct ft_table *table, u64 now,
			  u64 idle)
{
	u32 at = table->by_activity.head;

	if (at == FL_NIL)
		return FL_NIL;
	return fl_since(now, table->seen[at].last_active) < idle ? FL_NIL : at;
}

static void ft_table_init(struct ft_table *table, struct ft_seen *seen,
			  struct ft_set *sets, u32 entries)
{
	table->sets = sets;
	table->seen = seen;
	table->set_count = ft_sets_for(entries);
	fl_list_init(&table->by_activity);
}

#endif
