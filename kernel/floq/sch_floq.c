// SPDX-License-Identifier: GPL-2.0
/*
 * FLOQ: one queue that spares the first packets of a flow, and drops flows that
 * do not respond.
 *
 * M. Yanev and P. Harvey, "Herding the FLOQ: Flow Optimised Queueing", IFIP
 * Networking 2022.
 *
 * The discipline itself is floq.h; this file is the layer between it and the
 * kernel: packets, locks, memory. All of the core's state is under the qdisc's
 * lock.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
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
#include "floq.h"
#include "floq_netlink.h"
#include "../common/flow_sched.h"
#include "pkt_sched_floq.h"

#define CREATE_TRACE_POINTS
#include "floq_trace.h"

/* Departures of a type. */
struct floq_left {
	u64	packets;
	u64	bytes;
};

/**
 * struct floq_sched - the qdisc
 * @fs:		the common part
 * @core:	the discipline
 * @begun:	flows that began
 * @moved:	flows that became of each type since
 * @drop_change: packets for which a lower limit had no room
 * @delay:	ns: sojourn time of packets, moving average
 * @left:	departures of each type
 */
struct floq_sched {
	struct flow_sched	fs;
	struct floq		core;
	u64			begun;
	u64			moved[FLOQ_KINDS];
	u64			drop_change;
	u64			delay;
	struct floq_left	left[FLOQ_KINDS];
};

static struct floq_sched *floq_sched_of(struct floq *f)
{
	return container_of(f, struct floq_sched, core);
}

static void floq_dropped(struct floq *f, void *packet, u32 len, u8 kind,
			 enum floq_reason reason)
{
	struct floq_sched *q = floq_sched_of(f);
	struct sk_buff *skb = packet;

	trace_floq_drop(q->fs.sch, skb, kind, len, reason);
	if (reason == FLOQ_CONGESTION) {
		qdisc_drop_reason(skb, q->fs.sch, q->fs.to_free,
				  QDISC_DROP_CONGESTED);
		return;
	}
	if (reason == FLOQ_CHANGE) {
		q->drop_change++;
		flow_sched_gone(&q->fs, skb, len);
	}
	flow_sched_drop(&q->fs, skb);
}

static bool floq_mark(struct floq *f, void *packet)
{
	return INET_ECN_set_ce(packet);
}

static void floq_moved(struct floq *f, u32 flow, int from, int to)
{
	struct floq_sched *q = floq_sched_of(f);

	trace_floq_move(q->fs.sch, flow, from, to);
	if (from < 0)
		q->begun++;
	else
		q->moved[to]++;
}

/* Packets are limited by number alone: their memory is not passed. */
static __always_inline u32 floq_take(struct flow_sched *fs, struct sk_buff *skb,
				     u64 now, u32 hash)
{
	struct floq_sched *q = container_of(fs, struct floq_sched, fs);

	return floq_enqueue(&q->core, now, hash, skb, qdisc_pkt_len(skb));
}

static int floq_qdisc_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free)
{
	return flow_sched_enqueue(skb, sch, to_free, floq_take);
}

static struct sk_buff *floq_qdisc_dequeue(struct Qdisc *sch)
{
	struct floq_sched *q = qdisc_priv(sch);
	struct floq_sent sent;
	struct sk_buff *skb;

	if (floq_is_empty(&q->core))
		return NULL;
	skb = floq_dequeue(&q->core, ktime_get_ns(), &sent);
	trace_floq_dequeue(sch, skb, sent.kind, sent.len, sent.sojourn);
	q->left[sent.kind].packets++;
	q->left[sent.kind].bytes += sent.len;
	flow_sched_average(&q->delay, sent.sojourn);
	flow_sched_sent(sch, skb);
	return skb;
}

static int floq_change_qdisc(struct Qdisc *sch, struct nlattr *opt,
			     struct netlink_ext_ack *extack)
{
	struct floq_sched *q = qdisc_priv(sch);
	struct floq_settings set = {
		q->core.params, q->fs.nat, q->fs.split_gso
	};
	u32 limit, flows = set.params.flows;
	struct nlattr *tb[TCA_FLOQ_MAX + 1];
	void *slots = NULL;
	int err;

	err = floq_parse(tb, &set, opt, extack);
	if (err)
		return err;
	err = flow_sched_keep_flows(flows, set.params.flows,
				    tb[TCA_FLOQ_FLOWS], extack);
	if (err)
		return err;
	limit = set.params.limit;
	if (limit > q->core.slot_count) {
		slots = flow_sched_alloc_slots(floq_slots_size(limit),
					       tb[TCA_FLOQ_LIMIT], extack);
		if (!slots)
			return -ENOMEM;
	}

	sch_tree_lock(sch);
	if (slots)
		slots = floq_grow(&q->core, slots, limit);
	floq_change(&q->core, &set.params);
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
static int floq_init_qdisc(struct Qdisc *sch, struct nlattr *opt,
			   struct netlink_ext_ack *extack)
{
	struct floq_settings set = floq_defaults;
	struct floq_sched *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_FLOQ_MAX + 1];
	void *slots, *table;
	int err;

	if (opt) {
		err = floq_parse(tb, &set, opt, extack);
		if (err)
			return err;
	}
	err = tcf_block_get(&q->fs.block, &q->fs.filter_list, sch, extack);
	if (err)
		return err;
	slots = flow_sched_alloc(floq_slots_size(set.params.limit));
	table = flow_sched_alloc(floq_table_size(set.params.flows));
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
	floq_init(&q->core, &set.params, get_random_u64(), table, slots,
		  set.params.limit);
	return 0;
}

static void floq_reset(struct Qdisc *sch)
{
	struct floq_sched *q = qdisc_priv(sch);
	struct floq *f = &q->core;
	struct floq_counts counts[FLOQ_KINDS][FLOQ_PHASES];
	struct floq_params params = f->params;
	u64 shared = f->table.shared;
	struct sk_buff *skb;

	if (!q->fs.table)
		return;
	while ((skb = floq_purge(f)))
		rtnl_kfree_skbs(skb, skb);
	memcpy(counts, f->counts, sizeof(counts));
	floq_init(f, &params, f->chance, q->fs.table, f->slots, f->slot_count);
	memcpy(f->counts, counts, sizeof(counts));
	f->table.shared = shared;
}

static void floq_destroy(struct Qdisc *sch)
{
	struct floq_sched *q = qdisc_priv(sch);

	tcf_block_put(q->fs.block);
	kvfree(q->core.slots);
	kvfree(q->fs.table);
}

static int floq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct floq_sched *q = qdisc_priv(sch);
	struct floq_settings set;

	sch_tree_lock(sch);
	set.params = q->core.params;
	set.nat = q->fs.nat;
	set.split_gso = q->fs.split_gso;
	sch_tree_unlock(sch);
	return floq_put_settings(skb, &set);
}

/* Under the qdisc's lock. */
static void floq_class_now(const struct floq_sched *q, u8 kind,
			   struct floq_class_figures *to)
{
	const struct floq *f = &q->core;

	memcpy(to->phases, f->counts[kind], sizeof(to->phases));
	to->backlog_bytes = f->bytes[kind];
	to->backlog_packets = f->waiting[kind];
	to->sent_packets = q->left[kind].packets;
	to->sent_bytes = q->left[kind].bytes;
	to->flows = f->known[kind];
	to->quota = f->rules.own[kind];
}

static int floq_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct floq_sched *q = qdisc_priv(sch);
	const struct floq *f = &q->core;
	struct floq_figures st;
	u8 kind;

	sch_tree_lock(sch);
	st.new_flows = q->begun;
	st.flows = 0;
	for (kind = 0; kind < FLOQ_KINDS; kind++) {
		floq_class_now(q, kind, &st.classes[kind]);
		st.moved[kind] = q->moved[kind];
		st.flows += f->known[kind];
	}
	st.shared = f->table.shared;
	st.gso_split = q->fs.gso_split;
	st.drop_change = q->drop_change;
	st.drop_split = q->fs.drop_split;
	st.drop_filter = q->fs.drop_filter;
	st.delay = q->delay;
	sch_tree_unlock(sch);
	return floq_put_figures(d->skb, &st);
}

/* Types as classes, for looking at. The responsive ones are MAJOR:1. */
static unsigned long floq_find(struct Qdisc *sch, u32 classid)
{
	u32 minor = TC_H_MIN(classid);

	return minor <= FLOQ_KINDS ? minor : 0;
}

static void floq_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	flow_sched_walk(sch, FLOQ_KINDS, arg);
}

static u32 floq_drops(const struct floq_class_figures *st)
{
	u64 drops = 0;
	u8 phase;

	for (phase = 0; phase < FLOQ_PHASES; phase++)
		drops += st->phases[phase].drops[FLOQ_TAIL] +
			 st->phases[phase].drops[FLOQ_CONGESTION];
	return drops;
}

static int floq_dump_class_stats(struct Qdisc *sch, unsigned long minor,
				 struct gnet_dump *d)
{
	struct floq_sched *q = qdisc_priv(sch);
	struct gnet_stats_queue queue = {};
	struct floq_class_figures st;

	sch_tree_lock(sch);
	floq_class_now(q, minor - 1, &st);
	sch_tree_unlock(sch);
	queue.backlog = st.backlog_bytes;
	queue.drops = floq_drops(&st);
	if (flow_sched_copy_class(d, st.sent_packets, st.sent_bytes,
				  st.backlog_packets, &queue))
		return -1;
	return floq_put_one(d->skb, minor - 1, &st);
}

static const struct Qdisc_class_ops floq_class_ops = {
	.leaf		= flow_sched_leaf,
	.find		= floq_find,
	.tcf_block	= flow_sched_block,
	.bind_tcf	= flow_sched_bind,
	.unbind_tcf	= flow_sched_unbind,
	.walk		= floq_walk,
	.dump		= flow_sched_dump_class,
	.dump_stats	= floq_dump_class_stats,
};

static struct Qdisc_ops floq_qdisc_ops __read_mostly = {
	.cl_ops		= &floq_class_ops,
	.id		= "floq",
	.priv_size	= sizeof(struct floq_sched),
	.enqueue	= floq_qdisc_enqueue,
	.dequeue	= floq_qdisc_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= floq_init_qdisc,
	.reset		= floq_reset,
	.destroy	= floq_destroy,
	.change		= floq_change_qdisc,
	.dump		= floq_dump,
	.dump_stats	= floq_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("floq");

static int __init floq_module_init(void)
{
	BUILD_BUG_ON(offsetof(struct floq_sched, fs));
	BUILD_BUG_ON((int)FLOQ_ALGORITHM_DROP != (int)TC_FLOQ_ALGORITHM_DROP);
	BUILD_BUG_ON((int)FLOQ_UNRESPONSIVE != (int)TC_FLOQ_UNRESPONSIVE);
	BUILD_BUG_ON((int)FLOQ_LATER != (int)TC_FLOQ_LATER);
	return register_qdisc(&floq_qdisc_ops);
}

static void __exit floq_module_exit(void)
{
	unregister_qdisc(&floq_qdisc_ops);
}

module_init(floq_module_init)
module_exit(floq_module_exit)
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Analects developers");
MODULE_DESCRIPTION("FLOQ: a flow's first packets are spared");
