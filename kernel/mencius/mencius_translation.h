/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the host of a flow is looked up again.
 *
 * Connection tracking records a flow's addresses before translation (NAT) only
 * when its first packet has passed. Of a flow that begins outside, what arrives
 * first has the router's own address, and so may all packets until the computer
 * at home has answered.
 */
#ifndef __MENCIUS_TRANSLATION_H
#define __MENCIUS_TRANSLATION_H

#include "../common/flow_list.h"
#include "mencius_types.h"

/* The first look-ups are at packets in a row, */
#define MN_AT_ONCE	8
/* and later ones so far apart. */
#define MN_APART	(250 * MN_MS)

/* The host has been looked up, by addresses that are @final or not. */
static void mn_translation_asked(struct mn_translation *translation, u64 now,
				 bool final)
{
	translation->open = !final;
	if (translation->asked < MN_AT_ONCE)
		translation->asked++;
	translation->last = now;
}

/* Whether the host is to be looked up again. */
static __always_inline bool
mn_translation_is_due(const struct mn_translation *translation, u64 now)
{
	return unlikely(translation->open) &&
	       (translation->asked < MN_AT_ONCE ||
		fl_since(now, translation->last) >= MN_APART);
}

#endif
