/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shaper: the time of a packet on the link behind, and when the next one
 * may leave. There is no bucket: each packet moves the time of the next one by
 * its own, and while packets wait that time does not stand still.
 */
#ifndef __MENCIUS_SHAPER_H
#define __MENCIUS_SHAPER_H

#include "../common/flow_words.h"

#define MN_SHAPER_BITS	34
#define MN_SLOWEST	64		/* bytes per second */
#define MN_SHAPER_FULL	1514		/* a full packet, bytes */
#define MN_MADE_UP	10000000ULL	/* ns of a pause that are made up for */

/* How the link behind cuts packets. */
enum mencius_atm {
	MENCIUS_NOATM,
	MENCIUS_CELLS,		/* 48 bytes in 53 */
	MENCIUS_PTM,		/* 64 bytes in 65 */
};

/**
 * struct mn_framing - the framing of packets on the link behind
 * @overhead:	bytes that it adds
 * @mpu:	bytes that a packet takes at least
 * @atm:	enum mencius_atm
 */
struct mn_framing {
	s32	overhead;
	u32	mpu;
	u8	atm;
};

/**
 * struct mn_shaper - when the next packet may leave
 * @next:	ns
 * @failsafe:	ns: the same at two thirds of the rate and without drops, which
 *		may not delay other packets for longer
 * @pace:	a byte takes @pace / 2^@shift ns; 0 if there is no rate
 * @shift:	see @pace
 */
struct mn_shaper {
	u64	next;
	u64	failsafe;
	u32	pace;
	u8	shift;
};

/* Bytes that a packet of @len takes. */
static inline u32 mn_framed(const struct mn_framing *framing, u32 len)
{
	u64 bytes = max_t(s64, (s64)len + framing->overhead, framing->mpu);

	if (framing->atm == MENCIUS_CELLS)
		bytes = div_u64(bytes + 47, 48) * 53;
	else if (framing->atm == MENCIUS_PTM)
		/* For each 64 or part of them: a little more than exact. */
		bytes += (bytes + 63) >> 6;
	return min_t(u64, bytes, U32_MAX);
}

static inline u64 mn_shaper_time(const struct mn_shaper *shaper, u32 bytes)
{
	return (u64)shaper->pace * bytes >> shaper->shift;
}

/*
 * Sets the pace to so many bytes per second; 0 for as many as the link takes.
 */
static void mn_shaper_pace(struct mn_shaper *shaper, u64 rate)
{
	u64 pace = 0;
	u8 shift = MN_SHAPER_BITS;

	if (rate)
		pace = div64_u64(1000000000ULL << MN_SHAPER_BITS,
				 max_t(u64, rate, MN_SLOWEST));
	while (pace > U32_MAX) {
		pace >>= 1;
		shift--;
	}
	shaper->pace = (u32)pace;
	shaper->shift = shift;
}

/*
 * Sets another rate. Bytes sent at the former one do not delay a full packet
 * for longer than one that is sent now, and unused time from before is not made
 * up for.
 */
static void mn_shaper_change(struct mn_shaper *shaper, u64 now, u64 rate)
{
	u64 due;

	mn_shaper_pace(shaper, rate);
	due = now + mn_shaper_time(shaper, MN_SHAPER_FULL);
	shaper->next = clamp_t(u64, shaper->next, now, due);
	shaper->failsafe = clamp_t(u64, shaper->failsafe, now, due);
}

/* A packet arrives while none wait: unused time is lost. */
static __always_inline void mn_shaper_wake_up(struct mn_shaper *shaper, u64 now)
{
	if (shaper->next < now) {
		shaper->next = now;
		shaper->failsafe = now;
	}
}

/* The time until which no packet may leave, if it may not @now; else 0. */
static __always_inline u64 mn_shaper_holds(const struct mn_shaper *shaper,
					   u64 now)
{
	u64 due = min(shaper->next, shaper->failsafe);

	return shaper->pace && due > now ? due : 0;
}

/*
 * Of the time that was not used while packets waited, because the device behind
 * did not ask, only so much is made up for.
 */
static __always_inline void mn_shaper_make_up(struct mn_shaper *shaper, u64 now)
{
	u64 from = now - min_t(u64, now, MN_MADE_UP);

	shaper->next = max(shaper->next, from);
	shaper->failsafe = max(shaper->failsafe, from);
}

/* @bytes left, or were dropped and count as if they had. */
static __always_inline void mn_shaper_charge(struct mn_shaper *shaper,
					     u32 bytes, bool dropped)
{
	u64 time = mn_shaper_time(shaper, bytes);

	shaper->next += time;
	if (!dropped)
		shaper->failsafe += time + time / 2;
}

#endif
