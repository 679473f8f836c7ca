// SPDX-License-Identifier: GPL-2.0
/*
 * Confucius: new flows are given their share gradually, old ones are kept among
 * their like.
 *
 * Z. Meng et al., "Confucius: Achieving Consistent Low Latency with Practical
 * Queue Management for Real-Time Communications".
 *
 * The discipline itself is confucius.h; this file is the layer between it and
 * the kernel: packets, locks, memory. All of the core's state is under the
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
#include <net/gen_stats.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>

#include "../common/compat.h"
#include "confucius.h"
#include "confucius_netlink.h"
#include "../common/flow_sched.h"
#include "pkt_sched_confucius.h"

#define CREATE_TRACE_POINTS
#include "confucius_trace.h"

/**
 * struct confucius_class_stats - statistics that the core does not keep
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
	u64	drops;
	u64	marks;
};

/**
 * struct confucius_sched - the qdisc
 * @fs:		the common part
 * @core:	the discipline
 * @drops:	by enum confucius_reason
 * @classes:	statistics of each class
 */
struct confucius_sched {
	struct flow_sched		fs;
	struct confucius		core;
	u64				drops[CONFUCIUS_CHANGE + 1];
	struct confucius_class_stats	classes[CF_CLASSES];
};

static void confucius_dropped(struct confucius *c, void *packet, u32 len,
			      u32 class, enum confucius_reason reason)
{
	struct confucius_sched *q =
		container_of(c, struct confucius_sched, core);
	struct sk_buff *skb = packet;

	trace_confucius_drop(q->fs.sch, skb, class, len, reason);
	q->drops[reason]++;
	q->classes[class].drops++;
	if (reason != CONFUCIUS_TAIL)
		flow_sched_gone(&q->fs, skb, len);
	flow_sched_drop(&q->fs, skb);
}

static void confucius_moved(struct confucius *c, u32 flow, u32 from, u32 to)
{
	struct confucius_sched *q =
		container_of(c, struct confucius_sched, core);

	trace_confucius_move(q->fs.sch, flow, from, to);
}

static __always_inline u32 confucius_take(struct flow_sched *fs,
					  struct sk_buff *skb, u64 now,
					  u32 hash)
{
	struct confucius_sched *q =
		container_of(fs, struct confucius_sched, fs);
	bool taken = confucius_enqueue(&q->core, now, hash, skb,
				       qdisc_pkt_len(skb), skb->truesize);

	return taken ? q->core.memory : 0;
}

static int confucius_qdisc_enqueue(struct sk_buff *skb, struct Qdisc *sch,
				   struct sk_buff **to_free)
{
	return flow_sched_enqueue(skb, sch, to_free, confucius_take);
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
	trace_confucius_dequeue(sch, skb, packet.class, packet.len,
				packet.sojourn);
	stats = &q->classes[packet.class];
	stats->sent_packets++;
	stats->sent_bytes += packet.len;
	flow_sched_average(&stats->delay, packet.sojourn);
	if (packet.sojourn > stats->peak)
		stats->peak += (packet.sojourn - stats->peak) >> 1;
	else
		stats->peak -= (stats->peak - packet.sojourn) >> 8;
	if (unlikely(packet.mark) && INET_ECN_set_ce(skb))
		stats->marks++;
	flow_sched_sent(sch, skb);
	return skb;
}

static int confucius_change_qdisc(struct Qdisc *sch, struct nlattr *opt,
				  struct netlink_ext_ack *extack)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius_settings set = {
		q->core.params, q->fs.nat, q->fs.split_gso
	};
	struct nlattr *tb[TCA_CONFUCIUS_MAX + 1];
	u32 limit, flows = set.params.flows;
	void *slots = NULL;
	int err;

	err = confucius_parse(tb, &set, opt, extack);
	if (err)
		return err;
	err = flow_sched_keep_flows(flows, set.params.flows,
				    tb[TCA_CONFUCIUS_FLOWS], extack);
	if (err)
		return err;
	limit = set.params.limit;
	if (limit > q->core.slot_count) {
		slots = flow_sched_alloc_slots(confucius_slots_size(limit),
					       tb[TCA_CONFUCIUS_LIMIT], extack);
		if (!slots)
			return -ENOMEM;
	}

	sch_tree_lock(sch);
	if (slots)
		slots = confucius_grow(&q->core, slots, limit);
	confucius_change(&q->core, ktime_get_ns(), &set.params);
	q->fs.nat = set.nat;
	q->fs.split_gso = set.split_gso;
	WRITE_ONCE(sch->limit, limit);
	flow_sched_tell_parents(&q->fs);
	sch_tree_unlock(sch);

	kvfree(slots);
	return 0;
}

/*
 * After a failure destroy is called, and before it reset, if it was as a
 * device's default: both find no state.
 */
static int confucius_init_qdisc(struct Qdisc *sch, struct nlattr *opt,
				struct netlink_ext_ack *extack)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius_settings set = confucius_defaults;
	struct nlattr *tb[TCA_CONFUCIUS_MAX + 1];
	void *slots, *table;
	int err;

	if (opt) {
		err = confucius_parse(tb, &set, opt, extack);
		if (err)
			return err;
	}
	err = tcf_block_get(&q->fs.block, &q->fs.filter_list, sch, extack);
	if (err)
		return err;
	slots = flow_sched_alloc(confucius_slots_size(set.params.limit));
	table = flow_sched_alloc(confucius_table_size(set.params.flows));
	if (!slots || !table) {
		kvfree(slots);
		kvfree(table);
		NL_SET_ERR_MSG(extack,
			       "no memory for so many packets and flows");
		return -ENOMEM;
	}
	flow_sched_begin(&q->fs, sch, table, set.params.limit);
	q->fs.nat = set.nat;
	q->fs.split_gso = set.split_gso;
	confucius_init(&q->core, &set.params, table, slots, set.params.limit);
	return 0;
}

static void confucius_reset(struct Qdisc *sch)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius *c = &q->core;
	struct confucius_counts counts = c->counts;
	struct confucius_params params = c->params;
	struct sk_buff *skb;

	if (!q->fs.table)
		return;
	while ((skb = confucius_purge(c)))
		rtnl_kfree_skbs(skb, skb);
	confucius_init(c, &params, q->fs.table, c->slots, c->slot_count);
	c->counts = counts;
}

static void confucius_destroy(struct Qdisc *sch)
{
	struct confucius_sched *q = qdisc_priv(sch);

	tcf_block_put(q->fs.block);
	kvfree(q->core.slots);
	kvfree(q->fs.table);
}

static int confucius_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius_settings set;

	sch_tree_lock(sch);
	set.params = q->core.params;
	set.nat = q->fs.nat;
	set.split_gso = q->fs.split_gso;
	sch_tree_unlock(sch);
	return confucius_put_settings(skb, &set);
}

/* Under the qdisc's lock. */
static void confucius_class_now(const struct confucius_sched *q, u32 number,
				struct confucius_class_figures *to)
{
	const struct confucius_class_stats *stats = &q->classes[number];
	const struct cf_class *class = &q->core.classes[number];

	to->sent_bytes = stats->sent_bytes;
	to->sent_packets = stats->sent_packets;
	to->backlog_bytes = class->bytes;
	to->backlog_packets = class->packets;
	to->weight = div_u64((u64)class->weight << 32, CF_UNIT);
	to->drops = stats->drops;
	to->marks = stats->marks;
	to->flows = class->members;
	to->delay_us = flow_sched_us(stats->delay);
	to->peak_us = flow_sched_us(stats->peak);
	to->target = number == CF_NEW ? 0 : q->core.params.targets[number - 1];
}

static int confucius_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct confucius_sched *q = qdisc_priv(sch);
	const struct confucius *c = &q->core;
	struct confucius_figures st;
	u32 class;

	sch_tree_lock(sch);
	st.counts = c->counts;
	st.drop_tail = q->drops[CONFUCIUS_TAIL];
	st.drop_overlimit = q->drops[CONFUCIUS_OVERLIMIT];
	st.drop_change = q->drops[CONFUCIUS_CHANGE];
	st.drop_split = q->fs.drop_split;
	st.drop_filter = q->fs.drop_filter;
	st.gso_split = q->fs.gso_split;
	st.flows = c->classes[CF_NEW].members + c->existing;
	st.memory_used = c->memory;
	st.memory_peak = q->fs.memory_peak;
	st.classes = c->params.classes + 1;
	for (class = 0; class < CF_CLASSES; class++)
		confucius_class_now(q, class, &st.class[class]);
	sch_tree_unlock(sch);
	return confucius_put_figures(d->skb, &st);
}

/* Classes are for looking at. Class number 0 is MAJOR:1. */
static unsigned long confucius_find(struct Qdisc *sch, u32 classid)
{
	struct confucius_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	return minor <= READ_ONCE(q->core.params.classes) + 1 ? minor : 0;
}

static void confucius_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	struct confucius_sched *q = qdisc_priv(sch);

	flow_sched_walk(sch, READ_ONCE(q->core.params.classes) + 1, arg);
}

static int confucius_dump_class_stats(struct Qdisc *sch, unsigned long minor,
				      struct gnet_dump *d)
{
	struct confucius_sched *q = qdisc_priv(sch);
	struct confucius_class_figures st;
	struct gnet_stats_queue queue = {};

	sch_tree_lock(sch);
	confucius_class_now(q, minor - 1, &st);
	sch_tree_unlock(sch);
	queue.backlog = st.backlog_bytes;
	queue.drops = st.drops;
	if (flow_sched_copy_class(d, st.sent_packets, st.sent_bytes,
				  st.backlog_packets, &queue))
		return -1;
	return confucius_put_one(d->skb, minor - 1, &st);
}

static const struct Qdisc_class_ops confucius_class_ops = {
	.leaf		= flow_sched_leaf,
	.find		= confucius_find,
	.tcf_block	= flow_sched_block,
	.bind_tcf	= flow_sched_bind,
	.unbind_tcf	= flow_sched_unbind,
	.walk		= confucius_walk,
	.dump		= flow_sched_dump_class,
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
	BUILD_BUG_ON(offsetof(struct confucius_sched, fs));
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
