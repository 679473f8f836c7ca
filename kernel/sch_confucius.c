// SPDX-License-Identifier: GPL-2.0
/*
 * Confucius: new flows are given their share gradually, old ones are kept among
 * their like.
 *
 * Z. Meng et al., "Confucius: Achieving Consistent Low Latency with Practical
 * Queue Management for Real-Time Communications".
 *
 * The discipline itself is confucius.h; this file is what is between it and the
 * kernel: packets, locks, memory, netlink. All of the core's state is under the
 * qdisc's lock.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <net/flow_dissector.h>
#include <net/gen_stats.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#endif

#include "compat.h"
#include "confucius.h"
#include "pkt_sched_confucius.h"

/**
 * struct confucius_class_stats - what the core does not count
 * @sent_bytes:	that left
 * @sent_packets: that left
 * @delay:	ns: sojourn time of its packets, moving average
 * @peak:	ns: the same, quick to rise and slow to fall
 * @drops:	of its packets
 * @marks:	of its packets
 */
struct confucius_class_stats {
	u64	sent_bytes;
	u64	sent_packets;
	u64	delay;
	u64	peak;
	u32	drops;
	u32	marks;
};

/**
 * struct confucius_sched - the qdisc
 * @core:	the discipline
 * @sch:	the qdisc that this is in
 * @table:	the core's block of flows
 * @to_free:	where the core's drops go; NULL outside of enqueue
 * @gone_packets: packets dropped that parents have counted, not told them yet
 * @gone_bytes:	their length
 * @memory_peak: most bytes of memory that packets have taken
 * @nat:	whether flows are told apart by their addresses before NAT
 * @split_gso:	whether super-packets are split
 * @gso_split:	how many were
 * @marks:	packets that were marked; each class counts in 32 bits
 * @drops:	by enum confucius_reason
 * @classes:	statistics of each class
 */
struct confucius_sched {
	struct confucius		core;
	struct Qdisc			*sch;
	void				*table;
	struct sk_buff			**to_free;
	u32				gone_packets;
	u32				gone_bytes;
	u32				memory_peak;
	bool				nat;
	bool				split_gso;
	u64				gso_split;
	u64				marks;
	u64				drops[CONFUCIUS_CHANGE + 1];
	struct confucius_class_stats	classes[CF_CLASSES];
};

static void confucius_dropped(struct confucius *c, void *packet, u32 len, u32 class,
			      enum confucius_reason reason)
{
	struct confucius_sched *q = container_of(c, struct confucius_sched, core);
	struct sk_buff *skb = packet;

	q->drops[reason]++;
	q->classes[class].drops++;
	if (reason != CONFUCIUS_TAIL) {
		qdisc_qlen_dec(q->sch);
		qdisc_qstats_backlog_dec(q->sch, skb);
		q->gone_packets++;
		q->gone_bytes += len;
	}
	if (q->to_free) {
		confucius_drop_overlimit(skb, q->sch, q->to_free);
	} else {
		qdisc_qstats_drop(q->sch);
		rtnl_kfree_skbs(skb, skb);
	}
}

/* The core's counts say it all. */
static void confucius_moved(struct confucius *c, u32 flow, u32 from, u32 to)
{
}

/* Tells parents of packets that they have counted and that are gone. */
static void confucius_tell_parents(struct confucius_sched *q)
{
	qdisc_tree_reduce_backlog(q->sch, q->gone_packets, q->gone_bytes);
	q->gone_packets = 0;
	q->gone_bytes = 0;
}

#if IS_ENABLED(CONFIG_NF_CONNTRACK)
/*
 * Puts the addresses before NAT into @keys; false where conntrack knows nothing.
 * A packet on its way in has not met conntrack yet; the tuple is then that of
 * the other direction.
 */
static bool confucius_before_nat(struct flow_keys *keys, const struct sk_buff *skb)
{
	struct nf_conntrack_tuple tuple = {};
	bool reply = !skb_nfct(skb);

	if (skb_protocol(skb, true) != htons(ETH_P_IP) || !nf_ct_get_tuple_skb(&tuple, skb))
		return false;
	if (!skb_flow_dissect_flow_keys(skb, keys, FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL) ||
	    keys->control.addr_type != FLOW_DISSECTOR_KEY_IPV4_ADDRS)
		return false;
	keys->addrs.v4addrs.src = reply ? tuple.dst.u3.ip : tuple.src.u3.ip;
	keys->addrs.v4addrs.dst = reply ? tuple.src.u3.ip : tuple.dst.u3.ip;
	if (keys->ports.ports) {
		keys->ports.src = reply ? tuple.dst.u.all : tuple.src.u.all;
		keys->ports.dst = reply ? tuple.src.u.all : tuple.dst.u.all;
	}
	return true;
}
#else
static bool confucius_before_nat(struct flow_keys *keys, const struct sk_buff *skb)
{
	return false;
}
#endif

static noinline u32 confucius_nat_hash(struct sk_buff *skb)
{
	struct flow_keys keys;

	return confucius_before_nat(&keys, skb) ? flow_hash_from_keys(&keys) : skb_get_hash(skb);
}

/* Whether there was room for @skb. */
static __always_inline bool confucius_take(struct confucius_sched *q, struct sk_buff *skb, u64 now,
					   u32 hash, struct sk_buff **to_free)
{
	struct Qdisc *sch = q->sch;

	q->to_free = to_free;
	if (unlikely(!confucius_enqueue(&q->core, now, hash, skb, qdisc_pkt_len(skb),
					skb->truesize)))
		return false;
	qdisc_qlen_inc(sch);
	qdisc_qstats_backlog_inc(sch, skb);
	if (q->core.memory > q->memory_peak)
		q->memory_peak = q->core.memory;
	return true;
}

/* Takes the parts of a super-packet. Parents have counted one, of its length. */
static noinline int confucius_enqueue_parts(struct sk_buff *skb, struct Qdisc *sch, u64 now,
					    u32 hash, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb) & ~NETIF_F_GSO_MASK;
	struct confucius_sched *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	struct sk_buff *part, *next;
	int packets = 0, bytes = 0;

	part = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(part))
		return qdisc_drop(skb, sch, to_free);
	q->gso_split++;
	skb_list_walk_safe(part, part, next) {
		skb_mark_not_on_list(part);
		confucius_set_pkt_len(part, sch);
		if (!confucius_take(q, part, now, hash, to_free))
			continue;
		packets++;
		bytes += qdisc_pkt_len(part);
	}
	consume_skb(skb);
	if (q->gone_packets)
		confucius_tell_parents(q);
	if (!packets)
		return NET_XMIT_DROP;
	qdisc_tree_reduce_backlog(sch, 1 - packets, len - bytes);
	return NET_XMIT_SUCCESS;
}

static int confucius_qdisc_enqueue(struct sk_buff *skb, struct Qdisc *sch,
				   struct sk_buff **to_free)
{
	struct confucius_sched *q = qdisc_priv(sch);
	u32 hash = unlikely(q->nat) ? confucius_nat_hash(skb) : skb_get_hash(skb);
	u64 now = ktime_get_ns();
	bool taken;

	if (q->split_gso && skb_is_gso(skb))
		return confucius_enqueue_parts(skb, sch, now, hash, to_free);
	taken = confucius_take(q, skb, now, hash, to_free);
	if (unlikely(q->gone_packets))
		confucius_tell_parents(q);
	/* If others made room it is not this sender who has to slow down: no NET_XMIT_CN. */
	return likely(taken) ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}

static struct sk_buff *confucius_qdisc_dequeue(struct Qdisc *sch)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius_class_stats *stats;
	struct confucius_packet packet;
	struct sk_buff *skb;

	if (confucius_is_empty(&q->core))
		return NULL;
	if (!confucius_dequeue(&q->core, ktime_get_ns(), &packet))
		return NULL;
	skb = packet.packet;
	stats = &q->classes[packet.class];
	stats->sent_packets++;
	stats->sent_bytes += packet.len;
	stats->delay += (packet.sojourn >> 3) - (stats->delay >> 3);
	if (packet.sojourn > stats->peak)
		stats->peak += (packet.sojourn - stats->peak) >> 1;
	else
		stats->peak -= (stats->peak - packet.sojourn) >> 8;
	if (unlikely(packet.mark) && INET_ECN_set_ce(skb)) {
		stats->marks++;
		q->marks++;
	}
	qdisc_qlen_dec(sch);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_bstats_update(sch, skb);
	return skb;
}

/* Ranges that do not fit the policy's 16 bits. */
static struct netlink_range_validation confucius_limit_range = { 1, 1000000 };
static struct netlink_range_validation confucius_memory_range = { 4000, 1000000000 };
static struct netlink_range_validation confucius_flows_range = { 8, CF_MAX_FLOWS };
static struct netlink_range_validation confucius_quantum_range = { 256, 64000 };
static struct netlink_range_validation confucius_short_range = { 1000, 10000000 };
static struct netlink_range_validation confucius_doubling_range = { 1000, 60000000 };
static struct netlink_range_validation confucius_idle_range = { 10000, 3600000000U };

static const struct nla_policy confucius_policy[TCA_CONFUCIUS_MAX + 1] = {
	[TCA_CONFUCIUS_LIMIT] = NLA_POLICY_FULL_RANGE(NLA_U32, &confucius_limit_range),
	[TCA_CONFUCIUS_MEMORY_LIMIT] = NLA_POLICY_FULL_RANGE(NLA_U32, &confucius_memory_range),
	[TCA_CONFUCIUS_FLOWS] = NLA_POLICY_FULL_RANGE(NLA_U32, &confucius_flows_range),
	[TCA_CONFUCIUS_QUANTUM] = NLA_POLICY_FULL_RANGE(NLA_U32, &confucius_quantum_range),
	[TCA_CONFUCIUS_TARGETS] =
		NLA_POLICY_RANGE(NLA_BINARY, sizeof(u16), CF_TARGETS * sizeof(u16)),
	[TCA_CONFUCIUS_OCCUPANCY] = NLA_POLICY_MAX(NLA_U8, TC_CONFUCIUS_BUFFER),
	[TCA_CONFUCIUS_SCALE] = NLA_POLICY_FULL_RANGE(NLA_U32, &confucius_short_range),
	[TCA_CONFUCIUS_DOUBLING] = NLA_POLICY_FULL_RANGE(NLA_U32, &confucius_doubling_range),
	[TCA_CONFUCIUS_HEAD_START] = NLA_POLICY_MAX(NLA_U32, 6),
	[TCA_CONFUCIUS_ALPHA] = NLA_POLICY_RANGE(NLA_U32, 1, 50),
	[TCA_CONFUCIUS_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &confucius_short_range),
	[TCA_CONFUCIUS_IDLE] = NLA_POLICY_FULL_RANGE(NLA_U32, &confucius_idle_range),
	[TCA_CONFUCIUS_ECN] = NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_CONFUCIUS_NAT] = NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_CONFUCIUS_SPLIT_GSO] = NLA_POLICY_MAX(NLA_U8, 1),
};

static const struct confucius_params confucius_defaults = {
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
};

static int confucius_parse_targets(struct confucius_params *params, const struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	u16 targets[CF_TARGETS];
	int at, len = nla_len(attr) / sizeof(u16);

	if (nla_len(attr) % sizeof(u16)) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "targets: expected 16 bits for each");
		return -EINVAL;
	}
	memcpy(targets, nla_data(attr), nla_len(attr));
	for (at = 0; at < len; at++) {
		if (targets[at] > 1000) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "targets: at most 1000 percent");
			return -EINVAL;
		}
		if (at && targets[at] <= targets[at - 1]) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "targets: each has to be above the last");
			return -EINVAL;
		}
	}
	memcpy(params->targets, targets, nla_len(attr));
	params->classes = len;
	return 0;
}

static void confucius_parse_time(u64 *ns, const struct nlattr *attr)
{
	if (attr)
		*ns = (u64)nla_get_u32(attr) * NSEC_PER_USEC;
}

static void confucius_parse_u32(u32 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u32(attr);
}

static void confucius_parse_u8(u8 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u8(attr);
}

static void confucius_parse_bool(bool *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u8(attr);
}

/* Takes over what @opt says into @params. */
static int confucius_parse(struct nlattr **tb, struct confucius_params *params, struct nlattr *opt,
			   struct netlink_ext_ack *extack)
{
	int err = nla_parse_nested(tb, TCA_CONFUCIUS_MAX, opt, confucius_policy, extack);

	if (err < 0)
		return err;
	confucius_parse_u32(&params->limit, tb[TCA_CONFUCIUS_LIMIT]);
	confucius_parse_u32(&params->memory_limit, tb[TCA_CONFUCIUS_MEMORY_LIMIT]);
	confucius_parse_u32(&params->flows, tb[TCA_CONFUCIUS_FLOWS]);
	confucius_parse_u32(&params->quantum, tb[TCA_CONFUCIUS_QUANTUM]);
	confucius_parse_u32(&params->head_start, tb[TCA_CONFUCIUS_HEAD_START]);
	confucius_parse_u32(&params->alpha, tb[TCA_CONFUCIUS_ALPHA]);
	confucius_parse_time(&params->scale, tb[TCA_CONFUCIUS_SCALE]);
	confucius_parse_time(&params->doubling, tb[TCA_CONFUCIUS_DOUBLING]);
	confucius_parse_time(&params->interval, tb[TCA_CONFUCIUS_INTERVAL]);
	confucius_parse_time(&params->idle, tb[TCA_CONFUCIUS_IDLE]);
	confucius_parse_u8(&params->occupancy, tb[TCA_CONFUCIUS_OCCUPANCY]);
	confucius_parse_bool(&params->ecn, tb[TCA_CONFUCIUS_ECN]);
	params->flows = round_up(params->flows, CF_WAYS);
	if (tb[TCA_CONFUCIUS_TARGETS])
		return confucius_parse_targets(params, tb[TCA_CONFUCIUS_TARGETS], extack);
	return 0;
}

static int confucius_change_qdisc(struct Qdisc *sch, struct nlattr *opt,
				  struct netlink_ext_ack *extack)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius_params params = q->core.params;
	struct nlattr *tb[TCA_CONFUCIUS_MAX + 1];
	void *slots = NULL;
	int err;

	err = confucius_parse(tb, &params, opt, extack);
	if (err)
		return err;
	if (params.flows != q->core.params.flows) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_CONFUCIUS_FLOWS],
				    "flows cannot be changed while the qdisc is in use");
		return -EINVAL;
	}
	if (params.limit > q->core.slot_count) {
		slots = kvmalloc(confucius_slots_size(params.limit), GFP_KERNEL);
		if (!slots) {
			NL_SET_ERR_MSG_ATTR(extack, tb[TCA_CONFUCIUS_LIMIT],
					    "no memory for a limit of so many packets");
			return -ENOMEM;
		}
	}

	sch_tree_lock(sch);
	if (slots)
		slots = confucius_grow(&q->core, slots, params.limit);
	q->to_free = NULL;
	confucius_change(&q->core, ktime_get_ns(), &params);
	confucius_parse_bool(&q->nat, tb[TCA_CONFUCIUS_NAT]);
	confucius_parse_bool(&q->split_gso, tb[TCA_CONFUCIUS_SPLIT_GSO]);
	WRITE_ONCE(sch->limit, params.limit);
	if (q->gone_packets)
		confucius_tell_parents(q);
	sch_tree_unlock(sch);

	kvfree(slots);
	return 0;
}

/*
 * After a failure destroy is called, and before it reset, if it was as a
 * device's default: both find nothing.
 */
static int confucius_init_qdisc(struct Qdisc *sch, struct nlattr *opt,
				struct netlink_ext_ack *extack)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius_params params = confucius_defaults;
	struct nlattr *tb[TCA_CONFUCIUS_MAX + 1];
	void *slots, *table;
	int err;

	q->sch = sch;
	q->split_gso = true;
	if (opt) {
		err = confucius_parse(tb, &params, opt, extack);
		if (err)
			return err;
		confucius_parse_bool(&q->nat, tb[TCA_CONFUCIUS_NAT]);
		confucius_parse_bool(&q->split_gso, tb[TCA_CONFUCIUS_SPLIT_GSO]);
	}
	slots = kvmalloc(confucius_slots_size(params.limit), GFP_KERNEL);
	table = kvmalloc(confucius_table_size(params.flows), GFP_KERNEL);
	if (!slots || !table) {
		kvfree(slots);
		kvfree(table);
		NL_SET_ERR_MSG(extack,
			       "no memory for so many packets and flows");
		return -ENOMEM;
	}
	q->table = table;
	confucius_init(&q->core, &params, table, slots, params.limit);
	sch->limit = params.limit;
	/* A packet that went past the core would be none of its flow's. */
	sch->flags &= ~TCQ_F_CAN_BYPASS;
	return 0;
}

static void confucius_reset(struct Qdisc *sch)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius *c = &q->core;
	struct confucius_counts counts = c->counts;
	struct confucius_params params = c->params;
	struct sk_buff *skb;

	if (!q->table)
		return;
	while ((skb = confucius_purge(c)))
		rtnl_kfree_skbs(skb, skb);
	confucius_init(c, &params, q->table, c->slots, c->slot_count);
	c->counts = counts;
}

static void confucius_destroy(struct Qdisc *sch)
{
	struct confucius_sched *q = qdisc_priv(sch);

	kvfree(q->core.slots);
	kvfree(q->table);
}

static u32 confucius_us(u64 ns)
{
	return min_t(u64, div_u64(ns, NSEC_PER_USEC), U32_MAX);
}

static int confucius_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius_params params;
	bool nat, split_gso;
	struct nlattr *opts;

	sch_tree_lock(sch);
	params = q->core.params;
	nat = q->nat;
	split_gso = q->split_gso;
	sch_tree_unlock(sch);

	opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_CONFUCIUS_LIMIT, params.limit) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_MEMORY_LIMIT, params.memory_limit) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_FLOWS, params.flows) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_QUANTUM, params.quantum) ||
	    nla_put(skb, TCA_CONFUCIUS_TARGETS, params.classes * sizeof(u16), params.targets) ||
	    nla_put_u8(skb, TCA_CONFUCIUS_OCCUPANCY, params.occupancy) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_SCALE, confucius_us(params.scale)) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_DOUBLING, confucius_us(params.doubling)) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_HEAD_START, params.head_start) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_ALPHA, params.alpha) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_INTERVAL, confucius_us(params.interval)) ||
	    nla_put_u32(skb, TCA_CONFUCIUS_IDLE, confucius_us(params.idle)) ||
	    nla_put_u8(skb, TCA_CONFUCIUS_ECN, params.ecn) ||
	    nla_put_u8(skb, TCA_CONFUCIUS_NAT, nat) ||
	    nla_put_u8(skb, TCA_CONFUCIUS_SPLIT_GSO, split_gso)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

/* Under the qdisc's lock. */
static void confucius_class_now(const struct confucius_sched *q, u32 number,
				struct tc_confucius_class *to)
{
	const struct confucius_class_stats *stats = &q->classes[number];
	const struct cf_class *class = &q->core.classes[number];

	to->sent_bytes = stats->sent_bytes;
	to->sent_packets = stats->sent_packets;
	to->backlog_bytes = class->bytes;
	to->backlog_packets = class->packets;
	to->weight = div_u64((u64)class->weight << 32, CF_UNIT);
	to->flows = class->members;
	to->drops = stats->drops;
	to->marks = stats->marks;
	to->delay_us = confucius_us(stats->delay);
	to->peak_us = confucius_us(stats->peak);
}

static int confucius_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct confucius_sched *q = qdisc_priv(sch);
	const struct confucius *c = &q->core;
	struct tc_confucius_xstats st = {};
	u32 class;

	sch_tree_lock(sch);
	st.classes = c->params.classes + 1;
	st.flows = c->classes[CF_NEW].members + c->existing;
	st.new_flows = c->counts.new_flows;
	st.forgotten = c->counts.forgotten;
	st.shared = c->counts.shared;
	st.aged = c->counts.aged;
	st.moved_up = c->counts.moved_up;
	st.moved_down = c->counts.moved_down;
	st.drop_tail = q->drops[CONFUCIUS_TAIL];
	st.drop_overlimit = q->drops[CONFUCIUS_OVERLIMIT];
	st.drop_change = q->drops[CONFUCIUS_CHANGE];
	st.gso_split = q->gso_split;
	st.memory_used = c->memory;
	st.memory_peak = q->memory_peak;
	st.marks = q->marks;
	for (class = 0; class < CF_CLASSES; class++)
		confucius_class_now(q, class, &st.class[class]);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

/* Classes are for looking at: nothing can be put under them. Class number 0 is MAJOR:1. */
static struct Qdisc *confucius_leaf(struct Qdisc *sch, unsigned long arg)
{
	return NULL;
}

static unsigned long confucius_find(struct Qdisc *sch, u32 classid)
{
	struct confucius_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	return minor <= READ_ONCE(q->core.params.classes) + 1 ? minor : 0;
}

static void confucius_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	struct confucius_sched *q = qdisc_priv(sch);
	unsigned long minor;

	if (arg->stop)
		return;
	for (minor = 1; minor <= READ_ONCE(q->core.params.classes) + 1; minor++) {
		if (arg->count < arg->skip) {
			arg->count++;
			continue;
		}
		if (arg->fn(sch, minor, arg) < 0) {
			arg->stop = 1;
			break;
		}
		arg->count++;
	}
}

static int confucius_dump_class(struct Qdisc *sch, unsigned long minor, struct sk_buff *skb,
				struct tcmsg *tcm)
{
	tcm->tcm_handle |= TC_H_MIN(minor);
	return 0;
}

static int confucius_dump_class_stats(struct Qdisc *sch, unsigned long minor, struct gnet_dump *d)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct gnet_stats_basic_sync sent;
	struct tc_confucius_class st = {};
	struct gnet_stats_queue queue = {};

	sch_tree_lock(sch);
	confucius_class_now(q, minor - 1, &st);
	sch_tree_unlock(sch);
	gnet_stats_basic_sync_init(&sent);
	u64_stats_set(&sent.bytes, st.sent_bytes);
	u64_stats_set(&sent.packets, st.sent_packets);
	queue.backlog = st.backlog_bytes;
	queue.drops = st.drops;
	if (gnet_stats_copy_basic(d, NULL, &sent, false) < 0 ||
	    gnet_stats_copy_queue(d, NULL, &queue, st.backlog_packets) < 0)
		return -1;
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static const struct Qdisc_class_ops confucius_class_ops = {
	.leaf		= confucius_leaf,
	.find		= confucius_find,
	.walk		= confucius_walk,
	.dump		= confucius_dump_class,
	.dump_stats	= confucius_dump_class_stats,
};

static struct Qdisc_ops confucius_qdisc_ops __read_mostly = {
	.cl_ops		= &confucius_class_ops,
	.id		= "confucius",
	.priv_size	= sizeof(struct confucius_sched),
	.enqueue	= confucius_qdisc_enqueue,
	.dequeue	= confucius_qdisc_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= confucius_init_qdisc,
	.reset		= confucius_reset,
	.destroy	= confucius_destroy,
	.change		= confucius_change_qdisc,
	.dump		= confucius_dump,
	.dump_stats	= confucius_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("confucius");

static int __init confucius_module_init(void)
{
	BUILD_BUG_ON(CF_TARGETS != TC_CONFUCIUS_TARGETS);
	BUILD_BUG_ON((int)CONFUCIUS_BUFFER != (int)TC_CONFUCIUS_BUFFER);
	return register_qdisc(&confucius_qdisc_ops);
}

static void __exit confucius_module_exit(void)
{
	unregister_qdisc(&confucius_qdisc_ops);
}

module_init(confucius_module_init)
module_exit(confucius_module_exit)
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Analects developers");
MODULE_DESCRIPTION("Confucius: new flows are given their share gradually");
