/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Confucius over netlink: parameters to and from attributes, and figures into
 * attributes. Nothing here knows of the qdisc or its lock.
 */
#ifndef __CONFUCIUS_NETLINK_H
#define __CONFUCIUS_NETLINK_H

#include <net/netlink.h>

#include "confucius_types.h"
#include "../common/flow_sched_netlink.h"
#include "pkt_sched_confucius.h"

/**
 * struct confucius_settings - all that can be set
 * @params:	what the discipline itself is told
 * @nat:	whether flows are told apart by their addresses before NAT
 * @split_gso:	whether super-packets are split
 */
struct confucius_settings {
	struct confucius_params	params;
	bool			nat;
	bool			split_gso;
};

/* The figures of one class; see TCA_CONFUCIUS_CLASS_... */
struct confucius_class_figures {
	u64	sent_bytes;
	u64	sent_packets;
	u64	backlog_bytes;
	u64	weight;
	u64	drops;
	u64	marks;
	u32	backlog_packets;
	u32	flows;
	u32	delay_us;
	u32	peak_us;
	u16	target;
};

/* The figures of the qdisc; see TCA_CONFUCIUS_STATS_... */
struct confucius_figures {
	struct confucius_counts		counts;
	u64				drop_tail;
	u64				drop_overlimit;
	u64				drop_change;
	u64				drop_split;
	u64				drop_filter;
	u64				gso_split;
	u32				flows;
	u32				memory_used;
	u32				memory_peak;
	u32				classes;
	struct confucius_class_figures	class[CF_CLASSES];
};

/* Ranges that do not fit the policy's 16 bits. */
static struct netlink_range_validation confucius_flows_range = {
	8, CF_MAX_FLOWS
};

static struct netlink_range_validation confucius_quantum_range = {
	256, 64000
};

static struct netlink_range_validation confucius_short_range = {
	1000, 10000000
};

static struct netlink_range_validation confucius_doubling_range = {
	1000, 60000000
};

static struct netlink_range_validation confucius_idle_range = {
	10000, 3600000000U
};

#define CONFUCIUS_RANGE(name) \
	NLA_POLICY_FULL_RANGE(NLA_U32, &confucius_##name##_range)

static const struct nla_policy confucius_policy[TCA_CONFUCIUS_MAX + 1] = {
	[TCA_CONFUCIUS_LIMIT]		=
		NLA_POLICY_FULL_RANGE(NLA_U32, &flow_sched_limit_range),
	[TCA_CONFUCIUS_MEMORY_LIMIT]	=
		NLA_POLICY_FULL_RANGE(NLA_U32, &flow_sched_memory_range),
	[TCA_CONFUCIUS_FLOWS]		= CONFUCIUS_RANGE(flows),
	[TCA_CONFUCIUS_QUANTUM]		= CONFUCIUS_RANGE(quantum),
	[TCA_CONFUCIUS_TARGETS]		=
		NLA_POLICY_RANGE(NLA_BINARY, sizeof(u16),
				 CF_TARGETS * sizeof(u16)),
	[TCA_CONFUCIUS_OCCUPANCY]	=
		NLA_POLICY_MAX(NLA_U8, TC_CONFUCIUS_BUFFER),
	[TCA_CONFUCIUS_SCALE]		= CONFUCIUS_RANGE(short),
	[TCA_CONFUCIUS_DOUBLING]	= CONFUCIUS_RANGE(doubling),
	[TCA_CONFUCIUS_HEAD_START]	= NLA_POLICY_MAX(NLA_U32, 6),
	[TCA_CONFUCIUS_ALPHA]		= NLA_POLICY_RANGE(NLA_U32, 1, 50),
	[TCA_CONFUCIUS_INTERVAL]	= CONFUCIUS_RANGE(short),
	[TCA_CONFUCIUS_IDLE]		= CONFUCIUS_RANGE(idle),
	[TCA_CONFUCIUS_ECN]		= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_CONFUCIUS_NAT]		= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_CONFUCIUS_SPLIT_GSO]	= NLA_POLICY_MAX(NLA_U8, 1),
};

static const struct confucius_settings confucius_defaults = {
	.params = {
		.limit		= 1000,
		.memory_limit	= 32 << 20,
		.flows		= 1024,
		.quantum	= 1514,
		.targets	= { 10, 50, 90 },
		.classes	= 3,
		.occupancy	= CONFUCIUS_DELAY,
		.scale		= 100 * NSEC_PER_MSEC,
		.doubling	= 250 * NSEC_PER_MSEC,
		.alpha		= 10,
		.interval	= 100 * NSEC_PER_MSEC,
		.idle		= NSEC_PER_SEC,
	},
	.split_gso = true,
};

static int confucius_parse_targets(struct confucius_params *params,
				   const struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	u16 targets[CF_TARGETS];
	int at, len = nla_len(attr) / sizeof(u16);

	if (nla_len(attr) % sizeof(u16)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "targets: expected 16 bits for each");
		return -EINVAL;
	}
	memcpy(targets, nla_data(attr), nla_len(attr));
	for (at = 0; at < len; at++) {
		if (targets[at] > 1000) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "targets: at most 1000 percent");
			return -EINVAL;
		}
		if (at && targets[at] <= targets[at - 1]) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "targets: each has to be above the last");
			return -EINVAL;
		}
	}
	memcpy(params->targets, targets, nla_len(attr));
	params->classes = len;
	return 0;
}

/* Takes over what @opt says into @set; @tb is left to point at it. */
static int confucius_parse(struct nlattr **tb, struct confucius_settings *set,
			   struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct confucius_params *params = &set->params;
	int err = nla_parse_nested(tb, TCA_CONFUCIUS_MAX, opt,
				   confucius_policy, extack);

	if (err < 0)
		return err;
	flow_sched_parse_u32(&params->limit, tb[TCA_CONFUCIUS_LIMIT]);
	flow_sched_parse_u32(&params->memory_limit,
			     tb[TCA_CONFUCIUS_MEMORY_LIMIT]);
	flow_sched_parse_u32(&params->flows, tb[TCA_CONFUCIUS_FLOWS]);
	flow_sched_parse_u32(&params->quantum, tb[TCA_CONFUCIUS_QUANTUM]);
	flow_sched_parse_u32(&params->head_start, tb[TCA_CONFUCIUS_HEAD_START]);
	flow_sched_parse_u32(&params->alpha, tb[TCA_CONFUCIUS_ALPHA]);
	flow_sched_parse_time(&params->scale, tb[TCA_CONFUCIUS_SCALE]);
	flow_sched_parse_time(&params->doubling, tb[TCA_CONFUCIUS_DOUBLING]);
	flow_sched_parse_time(&params->interval, tb[TCA_CONFUCIUS_INTERVAL]);
	flow_sched_parse_time(&params->idle, tb[TCA_CONFUCIUS_IDLE]);
	flow_sched_parse_u8(&params->occupancy, tb[TCA_CONFUCIUS_OCCUPANCY]);
	flow_sched_parse_bool(&params->ecn, tb[TCA_CONFUCIUS_ECN]);
	flow_sched_parse_bool(&set->nat, tb[TCA_CONFUCIUS_NAT]);
	flow_sched_parse_bool(&set->split_gso, tb[TCA_CONFUCIUS_SPLIT_GSO]);
	params->flows = round_up(params->flows, CF_WAYS);
	if (!tb[TCA_CONFUCIUS_TARGETS])
		return 0;
	return confucius_parse_targets(params, tb[TCA_CONFUCIUS_TARGETS],
				       extack);
}

static int confucius_put_settings(struct sk_buff *skb,
				  const struct confucius_settings *set)
{
	const struct confucius_params *params = &set->params;
	struct nlattr *opts;

	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_CONFUCIUS_LIMIT, params->limit) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_MEMORY_LIMIT,
			params->memory_limit) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_FLOWS, params->flows) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_QUANTUM, params->quantum) ||
	    nla_put(skb, TCA_CONFUCIUS_TARGETS, params->classes * sizeof(u16),
		    params->targets) ||
	    nla_put_u8(skb, TCA_CONFUCIUS_OCCUPANCY, params->occupancy) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_SCALE,
			flow_sched_us(params->scale)) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_DOUBLING,
			flow_sched_us(params->doubling)) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_HEAD_START, params->head_start) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_ALPHA, params->alpha) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_INTERVAL,
			flow_sched_us(params->interval)) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_IDLE, flow_sched_us(params->idle)) ||
	    nla_put_u8(skb, TCA_CONFUCIUS_ECN, params->ecn) ||
	    nla_put_u8(skb, TCA_CONFUCIUS_NAT, set->nat) ||
	    nla_put_u8(skb, TCA_CONFUCIUS_SPLIT_GSO, set->split_gso)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

#define CONFUCIUS_PUT_CLASS_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_CONFUCIUS_CLASS_##name, value, \
			  TCA_CONFUCIUS_CLASS_PAD)

static int confucius_put_class(struct sk_buff *skb, u32 number,
			       const struct confucius_class_figures *st)
{
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_CONFUCIUS_STATS_CLASS);
	if (!nest)
		return -EMSGSIZE;
	if ((number != CF_NEW &&
	     nla_put_u16(skb, TCA_CONFUCIUS_CLASS_TARGET, st->target)) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_CLASS_FLOWS, st->flows) ||
	    CONFUCIUS_PUT_CLASS_U64(skb, BACKLOG_BYTES, st->backlog_bytes) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_CLASS_BACKLOG_PACKETS,
			st->backlog_packets) ||
	    CONFUCIUS_PUT_CLASS_U64(skb, SENT_BYTES, st->sent_bytes) ||
	    CONFUCIUS_PUT_CLASS_U64(skb, SENT_PACKETS, st->sent_packets) ||
	    CONFUCIUS_PUT_CLASS_U64(skb, DROPS, st->drops) ||
	    CONFUCIUS_PUT_CLASS_U64(skb, MARKS, st->marks) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_CLASS_DELAY, st->delay_us) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_CLASS_PEAK, st->peak_us) ||
	    CONFUCIUS_PUT_CLASS_U64(skb, WEIGHT, st->weight)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

#define CONFUCIUS_PUT_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_CONFUCIUS_STATS_##name, value, \
			  TCA_CONFUCIUS_STATS_PAD)

static int confucius_put_totals(struct sk_buff *skb,
				const struct confucius_figures *st)
{
	const struct confucius_counts *counts = &st->counts;
	u64 marks = 0;
	u32 class;

	for (class = 0; class < CF_CLASSES; class++)
		marks += st->class[class].marks;
	if (nla_put_u32(skb, TCA_CONFUCIUS_STATS_FLOWS, st->flows) ||
	    CONFUCIUS_PUT_U64(skb, NEW_FLOWS, counts->new_flows) ||
	    CONFUCIUS_PUT_U64(skb, FORGOTTEN, counts->forgotten) ||
	    CONFUCIUS_PUT_U64(skb, SHARED, counts->shared) ||
	    CONFUCIUS_PUT_U64(skb, AGED, counts->aged) ||
	    CONFUCIUS_PUT_U64(skb, MOVED_UP, counts->moved_up) ||
	    CONFUCIUS_PUT_U64(skb, MOVED_DOWN, counts->moved_down) ||
	    CONFUCIUS_PUT_U64(skb, MARKS, marks) ||
	    CONFUCIUS_PUT_U64(skb, GSO_SPLIT, st->gso_split) ||
	    CONFUCIUS_PUT_U64(skb, DROP_TAIL, st->drop_tail) ||
	    CONFUCIUS_PUT_U64(skb, DROP_OVERLIMIT, st->drop_overlimit) ||
	    CONFUCIUS_PUT_U64(skb, DROP_CHANGE, st->drop_change) ||
	    CONFUCIUS_PUT_U64(skb, DROP_SPLIT, st->drop_split) ||
	    CONFUCIUS_PUT_U64(skb, DROP_FILTER, st->drop_filter) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_STATS_MEMORY_USED,
			st->memory_used) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_STATS_MEMORY_PEAK,
			st->memory_peak))
		return -EMSGSIZE;
	return 0;
}

/* The figures of the qdisc, those of its classes included. */
static int confucius_put_figures(struct sk_buff *skb,
				 const struct confucius_figures *st)
{
	struct nlattr *nest;
	u32 class;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	if (confucius_put_totals(skb, st))
		goto cancel;
	for (class = 0; class < st->classes; class++)
		if (confucius_put_class(skb, class, &st->class[class]))
			goto cancel;
	nla_nest_end(skb, nest);
	return 0;

cancel:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

/* The figures of one class, as the class's own. */
static int confucius_put_one(struct sk_buff *skb, u32 number,
			     const struct confucius_class_figures *st)
{
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	if (confucius_put_class(skb, number, st)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

#endif
