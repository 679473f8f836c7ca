/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of flows and of hosts: sets of eight ways, looked up by hash.
 *
 * An entry is known until it is forgotten. Those for which a full set has no
 * way are its guests, and are one entry together. While packets of guests wait,
 * whoever is unknown in the set goes on being a guest although there may be
 * room again, because otherwise they could overtake themselves.
 */
#ifndef __MENCIUS_TABLE_H
#define __MENCIUS_TABLE_H

static inline u32 mn_sets_for(u32 entries)
{
	return max((entries + MN_WAYS - 1) / MN_WAYS, 1U);
}

/* Entries that there may be, the guests of each set counted as one. */
static inline u32 mn_places(u32 entries)
{
	return mn_sets_for(entries) * (MN_WAYS + 1);
}

static inline u32 mn_hosts_for(u32 flows)
{
	return flows / MN_FLOWS_OF_HOST;
}

/* Its links are the first of a struct mn_seen. */
static __always_inline struct mn_seen *mn_seen_at(const struct mn_table *table,
						  u32 at)
{
	return (struct mn_seen *)cf_links_at(table->nodes, at);
}

/* Whether this is the place of a set's guests. */
static inline bool mn_are_guests(const struct mn_table *table, u32 at)
{
	return at >= table->set_count * MN_WAYS;
}

static inline u32 mn_set_of(const struct mn_table *table, u32 hash)
{
	return (u64)hash * table->set_count >> 32;
}

/* Where the guests are among whom @hash would be. */
static inline u32 mn_guests_of(const struct mn_table *table, u32 hash)
{
	return table->set_count * MN_WAYS + mn_set_of(table, hash);
}

/* It was looked up, or found busy. */
static __always_inline void mn_touch(struct mn_table *table, u64 now, u32 at)
{
	mn_seen_at(table, at)->last_active = now;
	if (table->by_activity.tail == at)
		return;
	cf_unlink(&table->by_activity, table->nodes, at);
	cf_append(&table->by_activity, table->nodes, at);
}

/* The entry with @hash, or CF_NIL. */
static __always_inline u32 mn_lookup(const struct mn_table *table, u32 hash)
{
	u32 index = mn_set_of(table, hash);
	const struct mn_set *set = &table->sets[index];
	u32 way;

	for (way = 0; way < MN_WAYS; way++)
		if (set->hash[way] == hash && set->used >> way & 1)
			return index * MN_WAYS + way;
	return CF_NIL;
}

/*
 * A place for the unknown @hash; @fresh if it was not in use until now.
 * @guests_wait says whether something of its set's guests waits.
 */
static noinline u32 mn_admit(struct mn_table *table, u64 now, u32 hash,
			     bool guests_wait, bool *fresh)
{
	u32 index = mn_set_of(table, hash);
	struct mn_set *set = &table->sets[index];
	u32 way = __ffs(~(u32)set->used);
	u32 at = index * MN_WAYS + way;

	if (way >= MN_WAYS || guests_wait) {
		way = MN_WAYS;
		at = mn_guests_of(table, hash);
		table->shared++;
	}
	*fresh = !(set->used >> way & 1);
	if (!*fresh) {
		mn_touch(table, now, at);
		return at;
	}
	set->used |= 1 << way;
	if (way < MN_WAYS)
		set->hash[way] = hash;
	mn_seen_at(table, at)->last_active = now;
	cf_append(&table->by_activity, table->nodes, at);
	table->fresh++;
	return at;
}

/* Whether place @at is in use. */
static inline bool mn_is_known(const struct mn_table *table, u32 at)
{
	u32 guests = table->set_count * MN_WAYS;

	if (at >= guests)
		return table->sets[at - guests].used >> MN_WAYS;
	return table->sets[at / MN_WAYS].used >> at % MN_WAYS & 1;
}

static void mn_forget(struct mn_table *table, u32 at)
{
	if (mn_are_guests(table, at))
		table->sets[at - table->set_count * MN_WAYS].used &=
			~(1 << MN_WAYS);
	else
		table->sets[at / MN_WAYS].used &= ~(1 << at % MN_WAYS);
	cf_unlink(&table->by_activity, table->nodes, at);
	table->forgotten++;
}

/* Who has been silent longest, if that is for @idle or longer, or CF_NIL. */
static __always_inline u32 mn_idle(const struct mn_table *table, u64 now,
				   u64 idle)
{
	u32 at = table->by_activity.head;

	if (at == CF_NIL)
		return CF_NIL;
	return cf_since(now, mn_seen_at(table, at)->last_active) < idle ?
		       CF_NIL : at;
}

static void mn_table_init(struct mn_table *table, struct mn_set *sets,
			  struct cf_nodes nodes, u32 entries)
{
	table->sets = sets;
	table->nodes = nodes;
	table->set_count = mn_sets_for(entries);
	cf_list_init(&table->by_activity);
}

#endif
