/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics as the kernel gives them, for programs that take tc's place in a test. */
#ifndef TEST_ANSWER_FLOQ_H
#define TEST_ANSWER_FLOQ_H

#include "addattr.h"
#include "../q_floq.h"

static inline void put_u8(struct nlmsghdr *n, int type, __u8 value)
{
	addattr_l(n, ANSWER_MAX, type, &value, sizeof(value));
}

/* A type that sent so many packets, with so many in each phase. */
static inline void put_class(struct nlmsghdr *n, __u8 kind, __u64 packets)
{
	int type = TCA_FLOQ_STATS_CLASS | NLA_F_NESTED;
	struct rtattr *nest = addattr_nest(n, ANSWER_MAX, type), *phase;

	put_u8(n, TCA_FLOQ_CLASS_KIND, kind);
	put_u32(n, TCA_FLOQ_CLASS_FLOWS, 0);
	put_u32(n, TCA_FLOQ_CLASS_QUOTA, 500);
	put_u64(n, TCA_FLOQ_CLASS_SENT_PACKETS, packets);
	for (__u8 i = 0; i < 4; i++) {
		phase = addattr_nest(n, ANSWER_MAX, TCA_FLOQ_CLASS_PHASE | NLA_F_NESTED);
		put_u8(n, TCA_FLOQ_PHASE_NAME, i);
		put_u64(n, TCA_FLOQ_PHASE_ARRIVED, packets + i);
		put_u64(n, TCA_FLOQ_PHASE_DROP_CONGESTION, i);
		addattr_nest_end(n, phase);
	}
	/* Of a kernel that is newer than the plugin. */
	put_u64(n, TCA_FLOQ_CLASS_MAX + 1, packets);
	addattr_nest_end(n, nest);
}

/* Of a qdisc with so many types more than one. */
static inline void put_answer(struct nlmsghdr *n, unsigned int more)
{
	put_u32(n, TCA_FLOQ_STATS_FLOWS, 0);
	put_u64(n, TCA_FLOQ_STATS_DROP_SPLIT, 1ULL << 32);
	put_u32(n, TCA_FLOQ_STATS_DELAY, 1500);
	put_u64(n, TCA_FLOQ_STATS_MAX + 1, 1);
	for (unsigned int kind = 0; kind <= more; kind++)
		put_class(n, kind, 10 * kind);
}

#endif
