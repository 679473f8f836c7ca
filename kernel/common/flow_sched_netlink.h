/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings from attributes, for disciplines that tell flows apart: a value that
 * is not said stays as it is.
 */
#ifndef __FLOW_SCHED_NETLINK_H
#define __FLOW_SCHED_NETLINK_H

#include <linux/math64.h>
#include <net/netlink.h>

/* Ranges that do not fit the policy's 16 bits: packets, and bytes. */
static struct netlink_range_validation flow_sched_limit_range = {
	1, 1000000
};

static struct netlink_range_validation __maybe_unused
flow_sched_memory_range = {
	4000, 1000000000
};

static void flow_sched_parse_time(u64 *ns, const struct nlattr *attr)
{
	if (attr)
		*ns = (u64)nla_get_u32(attr) * NSEC_PER_USEC;
}

static void flow_sched_parse_u32(u32 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u32(attr);
}

static void flow_sched_parse_u8(u8 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u8(attr);
}

static void flow_sched_parse_bool(bool *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u8(attr);
}

static u32 flow_sched_us(u64 ns)
{
	return min_t(u64, div_u64(ns, NSEC_PER_USEC), U32_MAX);
}

#endif
