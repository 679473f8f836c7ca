/* SPDX-License-Identifier: GPL-2.0 */
/*
 * FLOQ over netlink: parameters to and from attributes, and figures into
 * attributes. Nothing here knows of the qdisc or its lock.
 */
#ifndef __FLOQ_NETLINK_H
#define __FLOQ_NETLINK_H

#include <net/netlink.h>

#include "floq_types.h"
#include "../common/flow_sched_netlink.h"
#include "pkt_sched_floq.h"

/**
 * struct floq_settings - all that can be set
 * @params:	what the discipline itself is told
 * @nat:	whether flows are told apart by their addresses before NAT
 * @split_gso:	whether super-packets are split
 */
struct floq_settings {
	struct floq_params	params;
	bool			nat;
	bool			split_gso;
};

/* The figures of one type; see TCA_FLOQ_CLASS_... */
struct floq_class_figures {
	struct floq_counts	phases[FLOQ_PHASES];
	u64			backlog_bytes;
	u64			sent_packets;
	u64			sent_bytes;
	u32			backlog_packets;
	u32			flows;
	u32			quota;
};

/* The figures of the qdisc; see TCA_FLOQ_STATS_... */
struct floq_figures {
	struct floq_class_figures classes[FLOQ_KINDS];
	u64			new_flows;
	u64			shared;
	u64			moved[FLOQ_KINDS];
	u64			gso_split;
	u64			drop_change;
	u64			drop_split;
	u64			drop_filter;
	u64			delay;
	u32			flows;
};

/* Ranges that do not fit the policy's 16 bits. */
static struct netlink_range_validation floq_flows_range = {
	8, FL_MAX_FLOWS
};

static struct netlink_range_validation floq_initial_range = {
	0, 1000000
};

static struct netlink_range_validation floq_idle_range = {
	100000, 3600000000U
};

static struct netlink_range_validation floq_window_range = {
	10000, 10000000
};

#define FLOQ_RANGE(name) \
	NLA_POLICY_FULL_RANGE(NLA_U32, &floq_##name##_range)

static const struct nla_policy floq_policy[TCA_FLOQ_MAX + 1] = {
	[TCA_FLOQ_LIMIT]		=
		NLA_POLICY_FULL_RANGE(NLA_U32, &flow_sched_limit_range),
	[TCA_FLOQ_FLOWS]		= FLOQ_RANGE(flows),
	[TCA_FLOQ_RESPONSIVE]		= NLA_POLICY_MAX(NLA_U32, 100),
	[TCA_FLOQ_UNRESPONSIVE]		= NLA_POLICY_MAX(NLA_U32, 100),
	[TCA_FLOQ_THRESHOLD]		= NLA_POLICY_MAX(NLA_U32, 100),
	[TCA_FLOQ_DROP_RESPONSIVE]	= NLA_POLICY_MAX(NLA_U32, 100),
	[TCA_FLOQ_DROP_UNRESPONSIVE]	= NLA_POLICY_MAX(NLA_U32, 100),
	[TCA_FLOQ_G]			= NLA_POLICY_MAX(NLA_U32, 1000),
	[TCA_FLOQ_F_R]			= NLA_POLICY_MAX(NLA_U32, 100),
	[TCA_FLOQ_INITIAL]		= FLOQ_RANGE(initial),
	[TCA_FLOQ_IDLE]			= FLOQ_RANGE(idle),
	[TCA_FLOQ_WINDOW]		= FLOQ_RANGE(window),
	[TCA_FLOQ_WINDOWS]		= NLA_POLICY_RANGE(NLA_U32, 1, 100),
	[TCA_FLOQ_FALL]			= NLA_POLICY_RANGE(NLA_U32, 1, 99),
	[TCA_FLOQ_STRIKES]		= NLA_POLICY_RANGE(NLA_U32, 1, 1000),
	[TCA_FLOQ_PARDON]		= NLA_POLICY_MAX(NLA_U32, 1000),
	[TCA_FLOQ_VARIANT]		=
		NLA_POLICY_MAX(NLA_U8, TC_FLOQ_ALGORITHM_DROP),
	[TCA_FLOQ_ECN]			= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_FLOQ_NAT]			= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_FLOQ_SPLIT_GSO]		= NLA_POLICY_MAX(NLA_U8, 1),
};

/* Where each comes from is said in crates/qdisc/src/floq/params.rs. */
static const struct floq_settings floq_defaults = {
	.params = {
		.limit		= 1000,
		.flows		= 1024,
		.own		= { 50, 30 },
		.threshold	= 80,
		.base		= { 2, 5 },
		.g		= 30,
		.f_r		= 100,
		.initial	= 10,
		.idle		= 10ULL * NSEC_PER_SEC,
		.window		= 50 * NSEC_PER_MSEC,
		.windows	= 8,
		.fall		= 10,
		.strikes	= 3,
		.pardon		= 3,
		.variant	= FLOQ_READING,
	},
	.split_gso = true,
};

/* What admission goes by (IV.B). */
static int floq_parse_admission(struct nlattr **tb, struct floq_params *params,
				struct netlink_ext_ack *extack)
{
	u32 *own = params->own;
	struct nlattr *quota;

	flow_sched_parse_u32(&own[FLOQ_RESPONSIVE], tb[TCA_FLOQ_RESPONSIVE]);
	flow_sched_parse_u32(&own[FLOQ_UNRESPONSIVE],
			     tb[TCA_FLOQ_UNRESPONSIVE]);
	if (own[FLOQ_RESPONSIVE] + own[FLOQ_UNRESPONSIVE] > 100) {
		quota = tb[TCA_FLOQ_UNRESPONSIVE] ?: tb[TCA_FLOQ_RESPONSIVE];
		NL_SET_ERR_MSG_ATTR(extack, quota,
				    "responsive and unresponsive are more than 100 percent together");
		return -EINVAL;
	}
	flow_sched_parse_u32(&params->threshold, tb[TCA_FLOQ_THRESHOLD]);
	flow_sched_parse_u32(&params->base[FLOQ_RESPONSIVE],
			     tb[TCA_FLOQ_DROP_RESPONSIVE]);
	flow_sched_parse_u32(&params->base[FLOQ_UNRESPONSIVE],
			     tb[TCA_FLOQ_DROP_UNRESPONSIVE]);
	flow_sched_parse_u32(&params->g, tb[TCA_FLOQ_G]);
	flow_sched_parse_u32(&params->f_r, tb[TCA_FLOQ_F_R]);
	flow_sched_parse_u32(&params->initial, tb[TCA_FLOQ_INITIAL]);
	flow_sched_parse_u8(&params->variant, tb[TCA_FLOQ_VARIANT]);
	return 0;
}

/* Takes over what @opt says into @set; @tb is left to point at it. */
static int floq_parse(struct nlattr **tb, struct floq_settings *set,
		      struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct floq_params *params = &set->params;
	int err = nla_parse_nested(tb, TCA_FLOQ_MAX, opt, floq_policy, extack);

	if (err < 0)
		return err;
	flow_sched_parse_u32(&params->limit, tb[TCA_FLOQ_LIMIT]);
	flow_sched_parse_u32(&params->flows, tb[TCA_FLOQ_FLOWS]);
	flow_sched_parse_time(&params->idle, tb[TCA_FLOQ_IDLE]);
	flow_sched_parse_time(&params->window, tb[TCA_FLOQ_WINDOW]);
	flow_sched_parse_u32(&params->windows, tb[TCA_FLOQ_WINDOWS]);
	flow_sched_parse_u32(&params->fall, tb[TCA_FLOQ_FALL]);
	flow_sched_parse_u32(&params->strikes, tb[TCA_FLOQ_STRIKES]);
	flow_sched_parse_u32(&params->pardon, tb[TCA_FLOQ_PARDON]);
	flow_sched_parse_bool(&params->ecn, tb[TCA_FLOQ_ECN]);
	flow_sched_parse_bool(&set->nat, tb[TCA_FLOQ_NAT]);
	flow_sched_parse_bool(&set->split_gso, tb[TCA_FLOQ_SPLIT_GSO]);
	return floq_parse_admission(tb, params, extack);
}

static int floq_put_admission(struct sk_buff *skb,
			      const struct floq_params *params)
{
	if (nla_put_u32(skb, TCA_FLOQ_RESPONSIVE,
			params->own[FLOQ_RESPONSIVE]) ||
	    nla_put_u32(skb, TCA_FLOQ_UNRESPONSIVE,
			params->own[FLOQ_UNRESPONSIVE]) ||
	    nla_put_u32(skb, TCA_FLOQ_THRESHOLD, params->threshold) ||
	    nla_put_u32(skb, TCA_FLOQ_DROP_RESPONSIVE,
			params->base[FLOQ_RESPONSIVE]) ||
	    nla_put_u32(skb, TCA_FLOQ_DROP_UNRESPONSIVE,
			params->base[FLOQ_UNRESPONSIVE]) ||
	    nla_put_u32(skb, TCA_FLOQ_G, params->g) ||
	    nla_put_u32(skb, TCA_FLOQ_F_R, params->f_r) ||
	    nla_put_u32(skb, TCA_FLOQ_INITIAL, params->initial) ||
	    nla_put_u8(skb, TCA_FLOQ_VARIANT, params->variant))
		return -EMSGSIZE;
	return 0;
}

static int floq_put_settings(struct sk_buff *skb,
			     const struct floq_settings *set)
{
	const struct floq_params *params = &set->params;
	struct nlattr *opts;

	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_FLOQ_LIMIT, params->limit) ||
	    nla_put_u32(skb, TCA_FLOQ_FLOWS, params->flows) ||
	    floq_put_admission(skb, params) ||
	    nla_put_u32(skb, TCA_FLOQ_IDLE, flow_sched_us(params->idle)) ||
	    nla_put_u32(skb, TCA_FLOQ_WINDOW, flow_sched_us(params->window)) ||
	    nla_put_u32(skb, TCA_FLOQ_WINDOWS, params->windows) ||
	    nla_put_u32(skb, TCA_FLOQ_FALL, params->fall) ||
	    nla_put_u32(skb, TCA_FLOQ_STRIKES, params->strikes) ||
	    nla_put_u32(skb, TCA_FLOQ_PARDON, params->pardon) ||
	    nla_put_u8(skb, TCA_FLOQ_ECN, params->ecn) ||
	    nla_put_u8(skb, TCA_FLOQ_NAT, set->nat) ||
	    nla_put_u8(skb, TCA_FLOQ_SPLIT_GSO, set->split_gso)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

#define FLOQ_PUT_PHASE_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_FLOQ_PHASE_##name, value, \
			  TCA_FLOQ_PHASE_PAD)

static int floq_put_phase(struct sk_buff *skb, u8 phase,
			  const struct floq_counts *st)
{
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_FLOQ_CLASS_PHASE);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u8(skb, TCA_FLOQ_PHASE_NAME, phase) ||
	    FLOQ_PUT_PHASE_U64(skb, ARRIVED, st->arrived) ||
	    FLOQ_PUT_PHASE_U64(skb, DROP_TAIL, st->drops[FLOQ_TAIL]) ||
	    FLOQ_PUT_PHASE_U64(skb, DROP_CONGESTION,
			       st->drops[FLOQ_CONGESTION]) ||
	    FLOQ_PUT_PHASE_U64(skb, MARKS, st->marks)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

#define FLOQ_PUT_CLASS_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_FLOQ_CLASS_##name, value, \
			  TCA_FLOQ_CLASS_PAD)

static int floq_put_class(struct sk_buff *skb, u8 kind,
			  const struct floq_class_figures *st)
{
	struct nlattr *nest;
	u8 phase;

	nest = nla_nest_start(skb, TCA_FLOQ_STATS_CLASS);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u8(skb, TCA_FLOQ_CLASS_KIND, kind) ||
	    nla_put_u32(skb, TCA_FLOQ_CLASS_FLOWS, st->flows) ||
	    nla_put_u32(skb, TCA_FLOQ_CLASS_QUOTA, st->quota) ||
	    nla_put_u32(skb, TCA_FLOQ_CLASS_BACKLOG_PACKETS,
			st->backlog_packets) ||
	    FLOQ_PUT_CLASS_U64(skb, BACKLOG_BYTES, st->backlog_bytes) ||
	    FLOQ_PUT_CLASS_U64(skb, SENT_PACKETS, st->sent_packets) ||
	    FLOQ_PUT_CLASS_U64(skb, SENT_BYTES, st->sent_bytes))
		goto cancel;
	for (phase = 0; phase < FLOQ_PHASES; phase++)
		if (floq_put_phase(skb, phase, &st->phases[phase]))
			goto cancel;
	nla_nest_end(skb, nest);
	return 0;

cancel:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

#define FLOQ_PUT_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_FLOQ_STATS_##name, value, \
			  TCA_FLOQ_STATS_PAD)

/* What came of all types in all phases. */
static struct floq_counts floq_sum(const struct floq_figures *st)
{
	struct floq_counts sum = {};
	u8 kind, phase, reason;

	for (kind = 0; kind < FLOQ_KINDS; kind++)
		for (phase = 0; phase < FLOQ_PHASES; phase++) {
			const struct floq_counts *counts =
				&st->classes[kind].phases[phase];

			for (reason = 0; reason < FLOQ_CHANGE; reason++)
				sum.drops[reason] += counts->drops[reason];
			sum.marks += counts->marks;
		}
	return sum;
}

static int floq_put_totals(struct sk_buff *skb, const struct floq_figures *st)
{
	struct floq_counts sum = floq_sum(st);

	if (nla_put_u32(skb, TCA_FLOQ_STATS_FLOWS, st->flows) ||
	    FLOQ_PUT_U64(skb, NEW_FLOWS, st->new_flows) ||
	    FLOQ_PUT_U64(skb, FORGOTTEN, st->new_flows - st->flows) ||
	    FLOQ_PUT_U64(skb, SHARED, st->shared) ||
	    FLOQ_PUT_U64(skb, TURNED, st->moved[FLOQ_UNRESPONSIVE]) ||
	    FLOQ_PUT_U64(skb, PARDONED, st->moved[FLOQ_RESPONSIVE]) ||
	    FLOQ_PUT_U64(skb, MARKS, sum.marks) ||
	    FLOQ_PUT_U64(skb, GSO_SPLIT, st->gso_split) ||
	    FLOQ_PUT_U64(skb, DROP_TAIL, sum.drops[FLOQ_TAIL]) ||
	    FLOQ_PUT_U64(skb, DROP_CONGESTION, sum.drops[FLOQ_CONGESTION]) ||
	    FLOQ_PUT_U64(skb, DROP_CHANGE, st->drop_change) ||
	    FLOQ_PUT_U64(skb, DROP_SPLIT, st->drop_split) ||
	    FLOQ_PUT_U64(skb, DROP_FILTER, st->drop_filter) ||
	    nla_put_u32(skb, TCA_FLOQ_STATS_DELAY, flow_sched_us(st->delay)))
		return -EMSGSIZE;
	return 0;
}

/* The figures of the qdisc, those of its types included. */
static int floq_put_figures(struct sk_buff *skb, const struct floq_figures *st)
{
	struct nlattr *nest;
	u8 kind;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	if (floq_put_totals(skb, st))
		goto cancel;
	for (kind = 0; kind < FLOQ_KINDS; kind++)
		if (floq_put_class(skb, kind, &st->classes[kind]))
			goto cancel;
	nla_nest_end(skb, nest);
	return 0;

cancel:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

/* The figures of one type, as the class's own. */
static int floq_put_one(struct sk_buff *skb, u8 kind,
			const struct floq_class_figures *st)
{
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	if (floq_put_class(skb, kind, st)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

#endif
