/* SPDX-License-Identifier: GPL-2.0 */
/*
 * FLOQ over netlink: parameters to and from attributes, and figures into
 * attributes. Independent of the qdisc and its lock.
 */
#ifndef __FLOQ_NETLINK_H
#define __FLOQ_NETLINK_H

#include <net/netlink.h>

#include "floq_types.h"
#include "../common/flow_sched_netlink.h"
#include "pkt_sched_floq.h"

/**
 * struct floq_settings - all that can be set
 * @params:	parameters of the discipline itself
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

/* Where each parameter is kept. */
static const struct flow_sched_param floq_kept[TCA_FLOQ_MAX + 1] = {
#define AROUND(attribute, word, member, kind, least, most, preset) \
	[TCA_FLOQ_##attribute] = { \
		offsetof(struct floq_settings, member), FLOW_KIND_##kind \
	},
#define PARAM(attribute, word, member, kind, least, most, preset) \
	AROUND(attribute, word, params.member, kind, least, most, preset)
#include "floq_params.h"
#undef AROUND
};

static const struct nla_policy floq_policy[TCA_FLOQ_MAX + 1] = {
#define AROUND(attribute, word, member, kind, least, most, preset) \
	[TCA_FLOQ_##attribute] = NLA_POLICY_FULL_RANGE(FLOW_TYPE_##kind, \
				FLOW_RANGE(least, most)),
#include "floq_params.h"
#undef AROUND
};

static const struct floq_settings floq_defaults = {
#define AROUND(attribute, word, member, kind, least, most, preset) \
	.member = FLOW_VALUE_##kind(preset),
#include "floq_params.h"
#undef AROUND
#undef PARAM
};

/* Copies the settings in @opt to @set; @tb is left to point at it. */
static int floq_parse(struct nlattr **tb, struct floq_settings *set,
		      struct nlattr *opt, struct netlink_ext_ack *extack)
{
	const u32 *own = set->params.own;
	struct nlattr *quota;
	int err;

	err = nla_parse_nested(tb, TCA_FLOQ_MAX, opt, floq_policy, extack);
	if (err < 0)
		return err;
	flow_sched_parse(floq_kept, TCA_FLOQ_MAX, tb, set);
	if (own[FLOQ_RESPONSIVE] + own[FLOQ_UNRESPONSIVE] > 100) {
		quota = tb[TCA_FLOQ_UNRESPONSIVE] ?: tb[TCA_FLOQ_RESPONSIVE];
		NL_SET_ERR_MSG_ATTR(extack, quota,
				    "responsive and unresponsive are more than 100 percent together");
		return -EINVAL;
	}
	return 0;
}

static int floq_put_settings(struct sk_buff *skb,
			     const struct floq_settings *set)
{
	struct nlattr *opts;

	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	return flow_sched_nest_end(skb, opts,
				   flow_sched_put(skb, floq_kept, TCA_FLOQ_MAX,
						  set));
}

#define FLOQ_PUT_PHASE_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_FLOQ_PHASE_##name, value, \
			  TCA_FLOQ_PHASE_PAD)

static int floq_put_phase(struct sk_buff *skb, u8 phase,
			  const struct floq_counts *st)
{
	struct nlattr *nest;
	bool full;

	nest = nla_nest_start(skb, TCA_FLOQ_CLASS_PHASE);
	if (!nest)
		return -EMSGSIZE;
	full = nla_put_u8(skb, TCA_FLOQ_PHASE_NAME, phase) ||
	       FLOQ_PUT_PHASE_U64(skb, ARRIVED, st->arrived) ||
	       FLOQ_PUT_PHASE_U64(skb, DROP_TAIL, st->drops[FLOQ_TAIL]) ||
	       FLOQ_PUT_PHASE_U64(skb, DROP_CONGESTION,
				  st->drops[FLOQ_CONGESTION]) ||
	       FLOQ_PUT_PHASE_U64(skb, MARKS, st->marks);
	return flow_sched_nest_end(skb, nest, full);
}

#define FLOQ_PUT_CLASS_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_FLOQ_CLASS_##name, value, \
			  TCA_FLOQ_CLASS_PAD)

static int floq_put_class(struct sk_buff *skb, u8 kind,
			  const struct floq_class_figures *st)
{
	struct nlattr *nest;
	bool full;
	u8 phase;

	nest = nla_nest_start(skb, TCA_FLOQ_STATS_CLASS);
	if (!nest)
		return -EMSGSIZE;
	full = nla_put_u8(skb, TCA_FLOQ_CLASS_KIND, kind) ||
	       nla_put_u32(skb, TCA_FLOQ_CLASS_FLOWS, st->flows) ||
	       nla_put_u32(skb, TCA_FLOQ_CLASS_QUOTA, st->quota) ||
	       nla_put_u32(skb, TCA_FLOQ_CLASS_BACKLOG_PACKETS,
			   st->backlog_packets) ||
	       FLOQ_PUT_CLASS_U64(skb, BACKLOG_BYTES, st->backlog_bytes) ||
	       FLOQ_PUT_CLASS_U64(skb, SENT_PACKETS, st->sent_packets) ||
	       FLOQ_PUT_CLASS_U64(skb, SENT_BYTES, st->sent_bytes);
	for (phase = 0; phase < FLOQ_PHASES && !full; phase++)
		full = floq_put_phase(skb, phase, &st->phases[phase]);
	return flow_sched_nest_end(skb, nest, full);
}

#define FLOQ_PUT_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_FLOQ_STATS_##name, value, \
			  TCA_FLOQ_STATS_PAD)

/* Counters summed over all types and phases. */
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
	bool full;
	u8 kind;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	full = floq_put_totals(skb, st);
	for (kind = 0; kind < FLOQ_KINDS && !full; kind++)
		full = floq_put_class(skb, kind, &st->classes[kind]);
	return flow_sched_nest_end(skb, nest, full);
}

/* The figures of one type, as the class's own. */
static int floq_put_one(struct sk_buff *skb, u8 kind,
			const struct floq_class_figures *st)
{
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	return flow_sched_nest_end(skb, nest, floq_put_class(skb, kind, st));
}

#endif
