/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Confucius over netlink: parameters to and from attributes, and figures into
 * attributes. Independent of the qdisc and its lock.
 */
#ifndef __CONFUCIUS_NETLINK_H
#define __CONFUCIUS_NETLINK_H

#include <net/netlink.h>

#include "confucius_types.h"
#include "../common/flow_sched_netlink.h"
#include "pkt_sched_confucius.h"

/**
 * struct confucius_settings - all that can be set
 * @params:	parameters of the discipline itself
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

/* Where each parameter is kept. */
static const struct flow_sched_param confucius_kept[TCA_CONFUCIUS_MAX + 1] = {
#define AROUND(attribute, word, member, kind, least, most, preset) \
	[TCA_CONFUCIUS_##attribute] = { \
		offsetof(struct confucius_settings, member), FLOW_KIND_##kind \
	},
#define PARAM(attribute, word, member, kind, least, most, preset) \
	AROUND(attribute, word, params.member, kind, least, most, preset)
#define OWN(attribute, word, member, least, most, preset)
#include "confucius_params.h"
#undef AROUND
};

static const struct nla_policy confucius_policy[TCA_CONFUCIUS_MAX + 1] = {
#define AROUND(attribute, word, member, kind, least, most, preset) \
	[TCA_CONFUCIUS_##attribute] = NLA_POLICY_FULL_RANGE(FLOW_TYPE_##kind, \
				FLOW_RANGE(least, most)),
#include "confucius_params.h"
#undef AROUND
	[TCA_CONFUCIUS_TARGETS]	= NLA_POLICY_RANGE(NLA_BINARY, sizeof(u16),
						   CF_TARGETS * sizeof(u16)),
};

static const struct confucius_settings confucius_defaults = {
#define AROUND(attribute, word, member, kind, least, most, preset) \
	.member = FLOW_VALUE_##kind(preset),
#include "confucius_params.h"
#undef AROUND
#undef PARAM
#undef OWN
	.params.targets	= { 10, 50, 90 },
	.params.classes	= 3,
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

/* Copies the settings in @opt to @set; @tb is left to point at it. */
static int confucius_parse(struct nlattr **tb, struct confucius_settings *set,
			   struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct confucius_params *params = &set->params;
	int err = nla_parse_nested(tb, TCA_CONFUCIUS_MAX, opt,
				   confucius_policy, extack);

	if (err < 0)
		return err;
	flow_sched_parse(confucius_kept, TCA_CONFUCIUS_MAX, tb, set);
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
	bool full;

	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	full = flow_sched_put(skb, confucius_kept, TCA_CONFUCIUS_MAX, set) ||
	       nla_put(skb, TCA_CONFUCIUS_TARGETS,
		       params->classes * sizeof(u16), params->targets);
	return flow_sched_nest_end(skb, opts, full);
}

#define CONFUCIUS_PUT_CLASS_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_CONFUCIUS_CLASS_##name, value, \
			  TCA_CONFUCIUS_CLASS_PAD)

static int confucius_put_class(struct sk_buff *skb, u32 number,
			       const struct confucius_class_figures *st)
{
	struct nlattr *nest;
	bool full;

	nest = nla_nest_start(skb, TCA_CONFUCIUS_STATS_CLASS);
	if (!nest)
		return -EMSGSIZE;
	full = (number != CF_NEW &&
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
	       CONFUCIUS_PUT_CLASS_U64(skb, WEIGHT, st->weight);
	return flow_sched_nest_end(skb, nest, full);
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
	bool full;
	u32 class;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	full = confucius_put_totals(skb, st);
	for (class = 0; class < st->classes && !full; class++)
		full = confucius_put_class(skb, class, &st->class[class]);
	return flow_sched_nest_end(skb, nest, full);
}

/* The figures of one class, as the class's own. */
static int confucius_put_one(struct sk_buff *skb, u32 number,
			     const struct confucius_class_figures *st)
{
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	return flow_sched_nest_end(skb, nest,
				   confucius_put_class(skb, number, st));
}

#endif
