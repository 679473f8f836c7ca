/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics as the kernel gives them, for programs that take tc's place in a test. */
#ifndef TEST_ANSWER_MENCIUS_H
#define TEST_ANSWER_MENCIUS_H

#include "addattr.h"
#include "../q_mencius.h"

/* Of a qdisc that knows @flows. */
static inline void put_answer(struct nlmsghdr *n, unsigned int flows)
{
	put_u32(n, TCA_MENCIUS_STATS_FLOWS, flows);
	put_u64(n, TCA_MENCIUS_STATS_DROP_TAIL, 1ULL << 32);
	put_u32(n, TCA_MENCIUS_STATS_DELAY, 1500);
	/* Of a kernel that is newer than the plugin. */
	put_u64(n, TCA_MENCIUS_STATS_MAX + 1, 1);
}

/* The privilege of all hosts, and of the one that had most. */
static inline void put_privilege(struct nlmsghdr *n)
{
	static const unsigned char address[4] = { 192, 168, 1, 5 };

	put_u64(n, TCA_MENCIUS_STATS_AHEAD_BYTES, 1ULL << 33);
	addattr_l(n, ANSWER_MAX, TCA_MENCIUS_STATS_MOST_ADDRESS, address, sizeof(address));
	put_u64(n, TCA_MENCIUS_STATS_MOST_AHEAD, 1ULL << 32);
}

/* Of a host, which has @address or none. */
static inline void put_host(struct nlmsghdr *n, const unsigned char *address, int len)
{
	struct rtattr *nest = addattr_nest(n, ANSWER_MAX, TCA_MENCIUS_STATS_HOST | NLA_F_NESTED);

	put_u32(n, TCA_MENCIUS_HOST_FLOWS, 5);
	put_u32(n, TCA_MENCIUS_HOST_SETTLED, 1);
	put_u32(n, TCA_MENCIUS_HOST_OTHERS, 2);
	put_u32(n, TCA_MENCIUS_HOST_HELD, 3000000);
	if (len)
		addattr_l(n, ANSWER_MAX, TCA_MENCIUS_HOST_ADDRESS, address, len);
	put_u32(n, TCA_MENCIUS_HOST_MARKS, 4);
	put_u32(n, TCA_MENCIUS_HOST_WAIT, 2500);
	put_u64(n, TCA_MENCIUS_HOST_AHEAD, 1ULL << 32);
	put_u32(n, TCA_MENCIUS_HOST_AGE, 60000);
	addattr_nest_end(n, nest);
}

/* A flow that has been settled for so many ms, or is not. */
static inline void put_flow(struct nlmsghdr *n, __u32 settled)
{
	struct rtattr *nest = addattr_nest(n, ANSWER_MAX, TCA_MENCIUS_STATS_FLOW | NLA_F_NESTED);

	put_u32(n, TCA_MENCIUS_FLOW_HOST, 0x1f);
	put_u32(n, TCA_MENCIUS_FLOW_SETTLED, settled);
	put_u32(n, TCA_MENCIUS_FLOW_DELAY, 4000);
	put_u32(n, TCA_MENCIUS_FLOW_WAIT, 20);
	addattr_nest_end(n, nest);
}

#endif
