/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the link takes for a full packet, as far as it shows.
 *
 * A wait of 20 ms is thirteen packets at 8 Mbit/s and three at 2, where one
 * picture of a call is more. So on slow links a short wait is defined in
 * packets. A discipline does not know the link's rate, but while packets wait,
 * it is the rate of dequeue calls.
 */
#ifndef __MENCIUS_PACE_H
#define __MENCIUS_PACE_H

#include "../common/flow_list.h"
#include "mencius_types.h"

/* A full packet on Ethernet, bytes. */
#define MN_FULL		1514
/* So much is averaged. */
#define MN_BLOCK	(16 * MN_FULL)
/* A pause that is longer is no part of a link's rate. */
#define MN_PAUSE	(200 * MN_MS)

/*
 * A packet of @len bytes leaves, and others wait or not. Returns whether the
 * time of a full packet has changed. Packets are no shorter than a byte, so
 * that no block takes longer than MN_BLOCK pauses, 2^53 ns, by far.
 */
static __always_inline bool mn_pace_sent(struct mn_pace *pace, u64 now, u32 len,
					 bool wait)
{
	u64 full;

	if (pace->known && fl_since(now, pace->at) <= MN_PAUSE) {
		pace->bytes += pace->len;
		pace->time += fl_since(now, pace->at);
	}
	pace->at = now;
	pace->len = len;
	pace->known = wait;
	if (likely(pace->bytes < MN_BLOCK))
		return false;
	full = div_u64(pace->time * MN_FULL, pace->bytes);
	/*
	 * The mean of the old and the new value, so that a burst of the device
	 * does not count for much.
	 */
	pace->full = (pace->full + full) / 2;
	pace->bytes = 0;
	pace->time = 0;
	return true;
}

/* ns that @len bytes take, if a full packet takes less than 2^31. */
static inline u64 mn_pace_time_of(const struct mn_pace *pace, u32 len)
{
	return div_u64(pace->full * len, MN_FULL);
}

#endif
