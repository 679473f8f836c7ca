/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics as the kernel gives them, for programs that take tc's place in a test. */
#ifndef TEST_ANSWER_CONFUCIUS_H
#define TEST_ANSWER_CONFUCIUS_H

#include "addattr.h"
#include "../q_confucius.h"

/* A class that sent so many packets; the new flows' has no target. */
static inline void put_class(struct nlmsghdr *n, __u16 target, __u64 packets)
{
	int type = TCA_CONFUCIUS_STATS_CLASS | NLA_F_NESTED;
	struct rtattr *nest = addattr_nest(n, ANSWER_MAX, type);

	if (target)
		addattr_l(n, ANSWER_MAX, TCA_CONFUCIUS_CLASS_TARGET, &target,
			  sizeof(target));
	put_u32(n, TCA_CONFUCIUS_CLASS_FLOWS, 0);
	put_u64(n, TCA_CONFUCIUS_CLASS_SENT_PACKETS, packets);
	put_u64(n, TCA_CONFUCIUS_CLASS_WEIGHT, 3ULL << 31);
	/* Of a kernel that is newer than the plugin. */
	put_u64(n, TCA_CONFUCIUS_CLASS_MAX + 1, packets);
	addattr_nest_end(n, nest);
}

/* Of a qdisc with new flows and `targets` more classes, at 5 %, 6 %, ... */
static inline void put_answer(struct nlmsghdr *n, unsigned int targets)
{
	put_u32(n, TCA_CONFUCIUS_STATS_FLOWS, 0);
	put_u64(n, TCA_CONFUCIUS_STATS_DROP_SPLIT, 1ULL << 32);
	put_u64(n, TCA_CONFUCIUS_STATS_MAX + 1, 1);
	put_class(n, 0, 0);
	for (unsigned int i = 0; i < targets; i++)
		put_class(n, 5 + i, 10 + i);
}

#endif
