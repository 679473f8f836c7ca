/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chance, seeded, so that the discipline in Rust draws the same: SplitMix64
 * (G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014).
 */
#ifndef __FLOQ_CHANCE_H
#define __FLOQ_CHANCE_H

/* The next 32 bits. */
static inline u32 fl_draw(u64 *state)
{
	u64 z;

	*state += 0x9e3779b97f4a7c15ULL;
	z = *state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) >> 32;
}

/*
 * Draws with this probability, of 2^32. Nothing is drawn for probability 0.
 */
static __always_inline bool fl_happens(u64 *state, u64 probability)
{
	return probability && fl_draw(state) < probability;
}

#endif
