/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mencius over netlink: parameters to and from attributes, and figures into
 * attributes. Independent of the qdisc and its lock.
 */
#ifndef __MENCIUS_NETLINK_H
#define __MENCIUS_NETLINK_H

#include <linux/gen_stats.h>
#include <linux/in6.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <net/ipv6.h>
#include <net/netlink.h>

#include "../common/flow_sched_netlink.h"
#include "mencius_types.h"
#include "pkt_sched_mencius.h"

/**
 * struct mencius_settings - all that can be set
 * @params:	parameters of the discipline itself
 * @nat:	whether hosts are told apart by their addresses before NAT
 * @split_gso:	whether super-packets are split
 * @memory_set:	whether memory_limit has been set, and does not follow the
 *		bandwidth
 * @raw:	whether packets are as long on the link behind as the device
 *		has them
 * @shared:	whether the bandwidth is that of all queues of the device with
 *		this setting
 */
struct mencius_settings {
	struct mencius_params	params;
	bool			nat;
	bool			split_gso;
	bool			memory_set;
	bool			raw;
#ifndef MENCIUS_RFC
	bool			shared;
#endif
};

/* The figures of the qdisc; see TCA_MENCIUS_STATS_... */
struct mencius_figures {
	struct mencius_counts	counts;
	u64			new_flows;
	u64			new_hosts;
	u64			shared_flows;
	u64			shared_hosts;
	u64			marks;
	u64			gso_split;
	u64			drops[MENCIUS_CHANGE + 1];
	u64			drop_split;
	u64			drop_filter;
	u64			full;
	u64			delay;
#ifndef MENCIUS_RFC
	u64			share;
#endif
	struct in6_addr		most_address;
	u64			most_ahead;
	u32			flows;
	u32			hosts;
	u32			memory_used;
	u32			memory_peak;
};

/* The figures of a host; see TCA_MENCIUS_HOST_... */
struct mencius_host_figures {
	struct mn_backlog	backlog;
	struct mn_backlogged	backlogged;
	struct mn_host_figures	sent;
	struct in6_addr		address;
	u64			age;
	u64			held;
	u32			known;
};

/* The figures of a flow; see TCA_MENCIUS_FLOW_... */
struct mencius_flow_figures {
	struct mn_backlog	backlog;
	struct mn_figures	sent;
	u64			settled;
	u64			wait;
	u32			host;
};

/* Bytes per second. */
#define MENCIUS_SLOWEST	1000
#define MENCIUS_FASTEST	125000000000ULL

/* Memory for packets on a slow link, unless it is set. */
#define MENCIUS_LEAST_MEMORY	(4U << 20)

/* Where each parameter is kept. */
static const struct flow_sched_param mencius_kept[TCA_MENCIUS_MAX + 1] = {
#define AROUND(attribute, word, member, kind, least, most, preset) \
	[TCA_MENCIUS_##attribute] = { \
		offsetof(struct mencius_settings, member), \
		FLOW_KIND_##kind, \
	},
#define PARAM(attribute, word, member, kind, least, most, preset) \
	AROUND(attribute, word, params.member, kind, least, most, preset)
#define OWN(attribute, word, member, least, most, preset)
#include "mencius_params.h"
#undef AROUND
};

static const struct nla_policy mencius_policy[TCA_MENCIUS_MAX + 1] = {
#define AROUND(attribute, word, member, kind, least, most, preset) \
	[TCA_MENCIUS_##attribute] = \
		NLA_POLICY_FULL_RANGE(FLOW_TYPE_##kind, \
				      FLOW_RANGE(least, most)),
#include "mencius_params.h"
#undef AROUND
	/* None at all, or no less than MENCIUS_SLOWEST: see below. */
	[TCA_MENCIUS_BANDWIDTH] =
		NLA_POLICY_FULL_RANGE(NLA_U64,
				      FLOW_RANGE(0, MENCIUS_FASTEST)),
	[TCA_MENCIUS_OVERHEAD] = NLA_POLICY_RANGE(NLA_S32, -64, 256),
	[TCA_MENCIUS_RAW] = NLA_POLICY_MAX(NLA_U8, 1),
};

static const struct mencius_settings mencius_defaults = {
#define AROUND(attribute, word, member, kind, least, most, preset) \
	.member = FLOW_VALUE_##kind(preset),
#include "mencius_params.h"
#undef AROUND
#undef PARAM
#undef OWN
	.raw = true,
};

/*
 * Unless it is set, the memory is that of the full packets of two seconds, in
 * memory up to twice their length, as far as the bandwidth is known.
 */
static void mencius_fit_memory(struct nlattr **tb, struct mencius_settings *set)
{
	struct mencius_params *params = &set->params;

	if (tb[TCA_MENCIUS_MEMORY_LIMIT])
		set->memory_set = true;
	if (set->memory_set)
		return;
	params->memory_limit = mencius_defaults.params.memory_limit;
	if (params->bandwidth)
		params->memory_limit = clamp_t(u64, 2 * params->bandwidth,
					       MENCIUS_LEAST_MEMORY,
					       params->memory_limit);
}

/* Parses the settings of the link behind. */
static int mencius_parse_link(struct nlattr **tb, struct mencius_settings *set,
			      struct netlink_ext_ack *extack)
{
	struct mencius_params *params = &set->params;

	if (tb[TCA_MENCIUS_BANDWIDTH])
		params->bandwidth = nla_get_u64(tb[TCA_MENCIUS_BANDWIDTH]);
	if (params->bandwidth && params->bandwidth < MENCIUS_SLOWEST) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_MENCIUS_BANDWIDTH],
				    "bandwidth is below 1000 bytes per second");
		return -ERANGE;
	}
	if (tb[TCA_MENCIUS_OVERHEAD]) {
		params->framing.overhead =
			nla_get_s32(tb[TCA_MENCIUS_OVERHEAD]);
		set->raw = false;
	}
	if (tb[TCA_MENCIUS_RAW])
		set->raw = nla_get_u8(tb[TCA_MENCIUS_RAW]);
	if (set->raw && tb[TCA_MENCIUS_OVERHEAD]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_MENCIUS_OVERHEAD],
				    "raw lengths have no overhead");
		return -EINVAL;
	}
	if (set->raw)
		params->framing.overhead = 0;
	return 0;
}

/* Copies the settings in @opt to @set; @tb is left to point at it. */
static int mencius_parse(struct nlattr **tb, struct mencius_settings *set,
			 struct nlattr *opt, struct netlink_ext_ack *extack)
{
	int err = nla_parse_nested(tb, TCA_MENCIUS_MAX, opt, mencius_policy,
				   extack);

	if (err < 0)
		return err;
	flow_sched_parse(mencius_kept, TCA_MENCIUS_MAX, tb, set);
	err = mencius_parse_link(tb, set, extack);
	mencius_fit_memory(tb, set);
	return err;
}

static int mencius_put_link(struct sk_buff *skb,
			    const struct mencius_settings *set)
{
	const struct mencius_params *params = &set->params;

	if (nla_put_u64_64bit(skb, TCA_MENCIUS_BANDWIDTH, params->bandwidth,
			      TCA_MENCIUS_PAD))
		return -EMSGSIZE;
	if (set->raw)
		return 0;
	return nla_put_s32(skb, TCA_MENCIUS_OVERHEAD,
			   params->framing.overhead);
}

static int mencius_put_settings(struct sk_buff *skb,
				const struct mencius_settings *set)
{
	struct nlattr *opts;
	bool full;

	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	full = flow_sched_put(skb, mencius_kept, TCA_MENCIUS_MAX, set) ||
	       mencius_put_link(skb, set);
	return flow_sched_nest_end(skb, opts, full);
}

/*
 * An address as it is in a header of IP, in 4 or 16 bytes; nothing if it is all
 * 0.
 */
static int mencius_put_address(struct sk_buff *skb, int attribute,
			       const struct in6_addr *address)
{
	if (ipv6_addr_any(address))
		return 0;
	if (ipv6_addr_v4mapped(address))
		return nla_put_in_addr(skb, attribute, address->s6_addr32[3]);
	return nla_put_in6_addr(skb, attribute, address);
}

#define MENCIUS_PUT_U64(skb, name, value) \
	nla_put_u64_64bit(skb, TCA_MENCIUS_STATS_##name, value, \
			  TCA_MENCIUS_STATS_PAD)

/* The figures of the qdisc. */
static int mencius_put_figures(struct sk_buff *skb,
			       const struct mencius_figures *st)
{
	struct nlattr *nest;
	bool full;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	full = nla_put_u32(skb, TCA_MENCIUS_STATS_FLOWS, st->flows) ||
	       nla_put_u32(skb, TCA_MENCIUS_STATS_HOSTS, st->hosts) ||
	       MENCIUS_PUT_U64(skb, NEW_FLOWS, st->new_flows) ||
	       MENCIUS_PUT_U64(skb, NEW_HOSTS, st->new_hosts) ||
	       MENCIUS_PUT_U64(skb, SHARED_FLOWS, st->shared_flows) ||
	       MENCIUS_PUT_U64(skb, SHARED_HOSTS, st->shared_hosts) ||
	       MENCIUS_PUT_U64(skb, AHEAD_FLOWS, st->counts.ahead_flows) ||
	       MENCIUS_PUT_U64(skb, AHEAD_HOSTS, st->counts.ahead_hosts) ||
	       MENCIUS_PUT_U64(skb, MARKS, st->marks) ||
	       MENCIUS_PUT_U64(skb, GSO_SPLIT, st->gso_split) ||
	       MENCIUS_PUT_U64(skb, DROP_TAIL, st->drops[MENCIUS_TAIL]) ||
	       MENCIUS_PUT_U64(skb, DROP_OVERLIMIT,
			       st->drops[MENCIUS_OVERLIMIT]) ||
	       MENCIUS_PUT_U64(skb, DROP_CONGESTION,
			       st->drops[MENCIUS_CONGESTION]) ||
	       MENCIUS_PUT_U64(skb, DROP_CHANGE, st->drops[MENCIUS_CHANGE]) ||
	       MENCIUS_PUT_U64(skb, DROP_SPLIT, st->drop_split) ||
	       MENCIUS_PUT_U64(skb, DROP_FILTER, st->drop_filter) ||
	       nla_put_u32(skb, TCA_MENCIUS_STATS_MEMORY_USED,
			   st->memory_used) ||
	       nla_put_u32(skb, TCA_MENCIUS_STATS_MEMORY_PEAK,
			   st->memory_peak) ||
	       nla_put_u32(skb, TCA_MENCIUS_STATS_FULL,
			   flow_sched_us(st->full)) ||
	       nla_put_u32(skb, TCA_MENCIUS_STATS_DELAY,
			   flow_sched_us(st->delay)) ||
#ifndef MENCIUS_RFC
	       (st->share && MENCIUS_PUT_U64(skb, SHARE, st->share)) ||
#endif
	       MENCIUS_PUT_U64(skb, AHEAD_BYTES, st->counts.ahead_bytes) ||
	       mencius_put_address(skb, TCA_MENCIUS_STATS_MOST_ADDRESS,
				   &st->most_address) ||
	       MENCIUS_PUT_U64(skb, MOST_AHEAD, st->most_ahead);
	return flow_sched_nest_end(skb, nest, full);
}

/* Whole ms, as far as 32 bits go. */
static u32 mencius_ms(u64 ns)
{
	return min_t(u64, div_u64(ns, NSEC_PER_MSEC), U32_MAX);
}

static int mencius_put_host_nest(struct sk_buff *skb,
				 const struct mencius_host_figures *st)
{
	u64 wait = (u64)st->sent.wait << MN_TICK;
	u32 age = mencius_ms(st->age);
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_MENCIUS_STATS_HOST);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_MENCIUS_HOST_FLOWS, st->known) ||
	    nla_put_u32(skb, TCA_MENCIUS_HOST_SETTLED,
			st->backlogged.settled) ||
	    nla_put_u32(skb, TCA_MENCIUS_HOST_OTHERS,
			st->backlogged.others) ||
	    nla_put_u32(skb, TCA_MENCIUS_HOST_HELD, flow_sched_us(st->held)) ||
	    mencius_put_address(skb, TCA_MENCIUS_HOST_ADDRESS, &st->address) ||
	    nla_put_u32(skb, TCA_MENCIUS_HOST_MARKS, st->sent.marks) ||
	    nla_put_u32(skb, TCA_MENCIUS_HOST_WAIT, flow_sched_us(wait)) ||
	    nla_put_u64_64bit(skb, TCA_MENCIUS_HOST_AHEAD, st->sent.ahead,
			      TCA_MENCIUS_HOST_PAD) ||
	    nla_put_u32(skb, TCA_MENCIUS_HOST_AGE, age))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int mencius_put_flow_nest(struct sk_buff *skb,
				 const struct mencius_flow_figures *st)
{
	u32 settled = mencius_ms(st->settled);
	u64 delay = (u64)st->sent.delay << MN_TICK;
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_MENCIUS_STATS_FLOW);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_MENCIUS_FLOW_HOST, st->host) ||
	    nla_put_u32(skb, TCA_MENCIUS_FLOW_SETTLED, settled) ||
	    nla_put_u32(skb, TCA_MENCIUS_FLOW_WAIT, flow_sched_us(st->wait)) ||
	    nla_put_u32(skb, TCA_MENCIUS_FLOW_DELAY, flow_sched_us(delay)) ||
	    nla_put_u32(skb, TCA_MENCIUS_FLOW_MARKS, st->sent.marks))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The figures of one class: of a @host or a @flow. */
static int mencius_put_class(struct sk_buff *skb,
			     const struct mencius_host_figures *host,
			     const struct mencius_flow_figures *flow)
{
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	bool full;

	if (!nest)
		return -EMSGSIZE;
	full = (host && mencius_put_host_nest(skb, host)) ||
	       (flow && mencius_put_flow_nest(skb, flow));
	return flow_sched_nest_end(skb, nest, full);
}

#endif
