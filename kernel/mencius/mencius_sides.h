/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which side of the link the home is on.
 *
 * A home has a few addresses, and the world that it talks to has many. So the
 * side with fewer addresses seen lately is the home's. They are counted by
 * their hashes in a bitmap, which tells dozens apart; no more is needed. A
 * router that knows its side can set it.
 */
#ifndef __MENCIUS_SIDES_H
#define __MENCIUS_SIDES_H

/* Hashes seen in this span and in the one before count. */
#define MN_SPAN		(30 * MN_SECOND)

static void mn_addresses_note(struct mn_addresses *seen, u32 hash)
{
	u32 bit = hash % MN_SEEN_BITS;

	seen->bits[bit / 64] |= 1ULL << bit % 64;
}

/* Addresses of a side in both spans. */
static u32 mn_addresses_count(const struct mn_addresses *seen)
{
	u32 word, count = 0;

	for (word = 0; word < MN_SEEN_BITS / 64; word++)
		count += hweight64(seen[0].bits[word] | seen[1].bits[word]);
	return count;
}

static void mn_addresses_age(struct mn_addresses *seen)
{
	seen[1] = seen[0];
	memset(&seen[0], 0, sizeof(seen[0]));
}

/* A flow between these hosts begins. The home's side stays if it is @fixed. */
static void mn_sides_note(struct mn_sides *sides, u64 now, u32 source,
			  u32 destination, bool fixed)
{
	u32 sources, destinations;

	if (fl_since(now, sides->since) >= MN_SPAN) {
		sides->since = now;
		mn_addresses_age(sides->sources);
		mn_addresses_age(sides->destinations);
	}
	mn_addresses_note(sides->sources, source);
	mn_addresses_note(sides->destinations, destination);
	if (fixed)
		return;
	sources = mn_addresses_count(sides->sources);
	destinations = mn_addresses_count(sides->destinations);
	/* Equal numbers on both sides have no effect. */
	if (sources < destinations)
		sides->home = MENCIUS_SOURCE;
	else if (destinations < sources)
		sides->home = MENCIUS_DESTINATION;
}

/* The hash that stands for the home's end. */
static u32 mn_sides_host(const struct mn_sides *sides, u8 told, u32 source,
			 u32 destination)
{
	switch (told == MENCIUS_AUTO ? sides->home : told) {
	case MENCIUS_SOURCE:
		return source;
	case MENCIUS_DESTINATION:
		return destination;
	default:
		return 0;
	}
}

#endif
