/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings from attributes and to them, for disciplines that tell flows apart,
 * by the lists in which they declare their parameters.
 */
#ifndef __FLOW_SCHED_NETLINK_H
#define __FLOW_SCHED_NETLINK_H

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <net/netlink.h>

/* How a parameter is kept; times are us in attributes, and ns here. */
enum flow_sched_kind {
	FLOW_SCHED_OWN,		/* by a function of the discipline's own */
	FLOW_SCHED_U8,		/* or bool */
	FLOW_SCHED_U32,
	FLOW_SCHED_TIME,
};

/* The kinds in the lists of parameters, as they are here. */
#define FLOW_KIND_FLAG		FLOW_SCHED_U8
#define FLOW_KIND_CHOICE	FLOW_SCHED_U8
#define FLOW_KIND_NUMBER	FLOW_SCHED_U32
#define FLOW_KIND_PACKETS	FLOW_SCHED_U32
#define FLOW_KIND_PERCENT	FLOW_SCHED_U32
#define FLOW_KIND_SIZE		FLOW_SCHED_U32
#define FLOW_KIND_TIME		FLOW_SCHED_TIME

#define FLOW_TYPE_FLAG		NLA_U8
#define FLOW_TYPE_CHOICE	NLA_U8
#define FLOW_TYPE_NUMBER	NLA_U32
#define FLOW_TYPE_PACKETS	NLA_U32
#define FLOW_TYPE_PERCENT	NLA_U32
#define FLOW_TYPE_SIZE		NLA_U32
#define FLOW_TYPE_TIME		NLA_U32

#define FLOW_VALUE_FLAG(value)		(value)
#define FLOW_VALUE_CHOICE(value)	(value)
#define FLOW_VALUE_NUMBER(value)	(value)
#define FLOW_VALUE_PACKETS(value)	(value)
#define FLOW_VALUE_PERCENT(value)	(value)
#define FLOW_VALUE_SIZE(value)		(value)
#define FLOW_VALUE_TIME(value)		((value) * (u64)NSEC_PER_USEC)

/* Of its own, since few ranges fit the policy's 16 bits. */
#define FLOW_RANGE(least, most) \
	(&(struct netlink_range_validation){ .min = least, .max = most })

/**
 * struct flow_sched_param - the place of a parameter
 * @offset:	in the discipline's settings
 * @kind:	enum flow_sched_kind
 */
struct flow_sched_param {
	u16	offset;
	u8	kind;
};

/*
 * Copies the parameters in @tb to @settings; others keep their values. @params
 * has an entry for each attribute up to @max.
 */
static void flow_sched_parse(const struct flow_sched_param *params, int max,
			     struct nlattr **tb, void *settings)
{
	int at;

	for (at = 0; at <= max; at++) {
		void *value = settings + params[at].offset;

		if (!tb[at])
			continue;
		switch (params[at].kind) {
		case FLOW_SCHED_U8:
			*(u8 *)value = nla_get_u8(tb[at]);
			break;
		case FLOW_SCHED_U32:
			*(u32 *)value = nla_get_u32(tb[at]);
			break;
		case FLOW_SCHED_TIME:
			*(u64 *)value = (u64)nla_get_u32(tb[at]) *
					NSEC_PER_USEC;
			break;
		}
	}
}

static u32 flow_sched_us(u64 ns)
{
	return min_t(u64, div_u64(ns, NSEC_PER_USEC), U32_MAX);
}

/* Ends @nest, or takes it back if something of it had no room. */
static int flow_sched_nest_end(struct sk_buff *skb, struct nlattr *nest,
			       bool full)
{
	if (full) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Shows @settings as attributes. */
static int flow_sched_put(struct sk_buff *skb,
			  const struct flow_sched_param *params, int max,
			  const void *settings)
{
	int at, err = 0;

	for (at = 0; at <= max && !err; at++) {
		const void *value = settings + params[at].offset;

		switch (params[at].kind) {
		case FLOW_SCHED_U8:
			err = nla_put_u8(skb, at, *(const u8 *)value);
			break;
		case FLOW_SCHED_U32:
			err = nla_put_u32(skb, at, *(const u32 *)value);
			break;
		case FLOW_SCHED_TIME:
			err = nla_put_u32(skb, at,
					  flow_sched_us(*(const u64 *)value));
			break;
		}
	}
	return err;
}

#endif
