/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layer between the kernel and a discipline that tells flows apart: the
 * flow of a packet, the parts of super-packets, notifications of parents, and
 * classes that can only be dumped.
 *
 * A qdisc has a struct flow_sched as the first member of its private data. All
 * of it is under the qdisc's lock.
 */
#ifndef __FLOW_SCHED_H
#define __FLOW_SCHED_H

#include <linux/err.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <net/gen_stats.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>

#include "compat.h"
#include "flow_nat.h"

/**
 * struct flow_sched - the common part of the qdiscs
 * @sch:	the qdisc that this is in
 * @table:	the core's block of flows; NULL until its allocations exist
 * @filter_list: of @block
 * @block:	filters that select the flow of a packet
 * @to_free:	the list of the core's drops; NULL outside of enqueue
 * @named:	the number of the host that a filter names for the packet that
 *		arrives, or 0
 * @gone_packets: packets dropped that parents have counted, not reported yet
 * @gone_bytes:	their length
 * @memory_peak: most bytes of memory that packets have taken
 * @nat:	whether flows are told apart by their addresses before NAT
 * @split_gso:	whether super-packets are split
 * @gso_split:	how many were
 * @drop_split:	how many could not be, and were dropped
 * @drop_filter: packets that a filter had dropped
 */
struct flow_sched {
	struct Qdisc		*sch;
	void			*table;
	struct tcf_proto __rcu	*filter_list;
	struct tcf_block	*block;
	struct sk_buff		**to_free;
	u32			named;
	u32			gone_packets;
	u32			gone_bytes;
	u32			memory_peak;
	bool			nat;
	bool			split_gso;
	u64			gso_split;
	u64			drop_split;
	u64			drop_filter;
};

/*
 * Hands @skb of the flow @hash to the core, @now in ns. Returns the memory that
 * the core's packets take then, or 0 if there was no room.
 */
typedef u32 flow_sched_core(struct flow_sched *q, struct sk_buff *skb,
			    u64 now, u32 hash);

/* A packet that waited is dropped: parents have counted it. */
static inline void flow_sched_gone(struct flow_sched *q, struct sk_buff *skb,
				   u32 len)
{
	qdisc_qlen_dec(q->sch);
	qdisc_qstats_backlog_dec(q->sch, skb);
	q->gone_packets++;
	q->gone_bytes += len;
}

/*
 * Drops @skb, which is not counted any more: with what else enqueue drops, or
 * outside of it where RTNL is held.
 */
static void flow_sched_drop(struct flow_sched *q, struct sk_buff *skb)
{
	if (q->to_free) {
		qdisc_drop_reason(skb, q->sch, q->to_free,
				  QDISC_DROP_OVERLIMIT);
		return;
	}
	qdisc_qstats_drop(q->sch);
	rtnl_kfree_skbs(skb, skb);
}

/* Reports packets that parents have counted and that are gone, if any. */
static __always_inline void flow_sched_tell_parents(struct flow_sched *q)
{
	if (likely(!q->gone_packets))
		return;
	qdisc_tree_reduce_backlog(q->sch, q->gone_packets, q->gone_bytes);
	q->gone_packets = 0;
	q->gone_bytes = 0;
}

/* By a packet's headers. */
static __always_inline u32 flow_sched_hash(const struct flow_sched *q,
					   struct sk_buff *skb)
{
	return unlikely(q->nat) ? flow_nat_hash(skb) : skb_get_hash(skb);
}

/*
 * Finds the flow that a filter names by a classid's minor number, as `flow
 * hash` does, or else that of the headers. The major number names the host, as
 * in cake, unless it is the qdisc's own. Returns 0, or the return value of
 * enqueue, with the packet gone, if a filter kept it from the queue.
 */
static noinline int flow_sched_classify(struct sk_buff *skb, struct Qdisc *sch,
					struct tcf_proto *filter, u32 *hash,
					struct sk_buff **to_free)
{
	struct flow_sched *q = qdisc_priv(sch);
	struct tcf_result res = {};
	u32 major;
	int verdict;

	q->named = 0;
	verdict = tcf_classify_qdisc(skb, filter, &res, false);
#ifdef CONFIG_NET_CLS_ACT
	switch (verdict) {
	case TC_ACT_STOLEN:
	case TC_ACT_QUEUED:
	case TC_ACT_TRAP:
		__qdisc_drop(skb, to_free);
		return NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
	case TC_ACT_SHOT:
		q->drop_filter++;
		qdisc_qstats_drop(sch);
		__qdisc_drop(skb, to_free);
		return NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
	}
#endif
	if (verdict >= 0 && TC_H_MIN(res.classid))
		*hash = hash_32(TC_H_MIN(res.classid), 32);
	else
		*hash = flow_sched_hash(q, skb);
	major = TC_H_MAJ(res.classid);
	if (verdict >= 0 && major != TC_H_MAJ(sch->handle))
		q->named = major >> 16;
	return 0;
}

/* Whether there was room for @skb. */
static __always_inline bool flow_sched_take(struct flow_sched *q,
					    struct sk_buff *skb, u64 now,
					    u32 hash, struct sk_buff **to_free,
					    flow_sched_core *core)
{
	struct Qdisc *sch = q->sch;
	u32 memory;

	q->to_free = to_free;
	memory = core(q, skb, now, hash);
	q->to_free = NULL;
	if (unlikely(!memory))
		return false;
	qdisc_qlen_inc(sch);
	qdisc_qstats_backlog_inc(sch, skb);
	if (memory > q->memory_peak)
		q->memory_peak = memory;
	return true;
}

/*
 * Takes the parts of a super-packet. Parents have counted one, of its length.
 */
static noinline int flow_sched_enqueue_parts(struct sk_buff *skb,
					     struct Qdisc *sch, u64 now,
					     u32 hash, struct sk_buff **to_free,
					     flow_sched_core *core)
{
	netdev_features_t features = netif_skb_features(skb);
	struct flow_sched *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	struct sk_buff *part, *next;
	int packets = 0, bytes = 0;

	part = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(part)) {
		q->drop_split++;
		return qdisc_drop(skb, sch, to_free);
	}
	q->gso_split++;
	skb_list_walk_safe(part, part, next) {
		skb_mark_not_on_list(part);
		compat_set_pkt_len(part, sch);
		if (!flow_sched_take(q, part, now, hash, to_free, core))
			continue;
		packets++;
		bytes += qdisc_pkt_len(part);
	}
	consume_skb(skb);
	flow_sched_tell_parents(q);
	if (!packets)
		return NET_XMIT_DROP;
	qdisc_tree_reduce_backlog(sch, 1 - packets, len - bytes);
	return NET_XMIT_SUCCESS;
}

/* A qdisc's enqueue(), around the core's handling of a packet. */
static __always_inline int flow_sched_enqueue(struct sk_buff *skb,
					      struct Qdisc *sch,
					      struct sk_buff **to_free,
					      flow_sched_core *core)
{
	struct flow_sched *q = qdisc_priv(sch);
	struct tcf_proto *filter = rcu_dereference_bh(q->filter_list);
	u64 now = ktime_get_ns();
	bool taken;
	u32 hash;
	int ret;

	if (unlikely(filter)) {
		ret = flow_sched_classify(skb, sch, filter, &hash, to_free);
		if (ret)
			return ret;
	} else {
		q->named = 0;
		hash = flow_sched_hash(q, skb);
	}
	if (q->split_gso && skb_is_gso(skb))
		return flow_sched_enqueue_parts(skb, sch, now, hash, to_free,
						core);
	taken = flow_sched_take(q, skb, now, hash, to_free, core);
	flow_sched_tell_parents(q);
	/*
	 * If others made room this sender need not slow down: no NET_XMIT_CN.
	 */
	return likely(taken) ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}

/* Counts a packet that leaves in dequeue(). */
static __always_inline void flow_sched_sent(struct Qdisc *sch,
					    struct sk_buff *skb)
{
	qdisc_qlen_dec(sch);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_bstats_update(sch, skb);
}

/* A moving average, of which each packet's @value is an eighth. */
static __always_inline void flow_sched_average(u64 *average, u64 value)
{
	*average += (value >> 3) - (*average >> 3);
}

/* Blocks of some 50 MB at most, charged to the caller. */
static void *flow_sched_alloc(size_t size)
{
	return kvmalloc(size, GFP_KERNEL_ACCOUNT);
}

/* Those of a higher limit, which @attr has set; NULL, with an error, if not. */
static void *flow_sched_alloc_slots(size_t size, const struct nlattr *attr,
				    struct netlink_ext_ack *extack)
{
	void *slots = flow_sched_alloc(size);

	if (!slots)
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "no memory for a limit of so many packets");
	return slots;
}

/* The table of flows stays: @attr may only say what is. */
static int flow_sched_keep_flows(u32 before, u32 flows,
				 const struct nlattr *attr,
				 struct netlink_ext_ack *extack)
{
	if (flows == before)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "flows cannot be changed while the qdisc is in use");
	return -EINVAL;
}

/* Before the core's init(): the qdisc has state of its own from here on. */
static void flow_sched_begin(struct flow_sched *q, struct Qdisc *sch,
			     void *table, u32 limit)
{
	q->sch = sch;
	q->table = table;
	sch->limit = limit;
	/* A packet that went past the core would be none of its flow's. */
	sch->flags &= ~TCQ_F_CAN_BYPASS;
}

/* No qdisc can be grafted to a class. */
static struct Qdisc *flow_sched_leaf(struct Qdisc *sch, unsigned long arg)
{
	return NULL;
}

/* Filters are the qdisc's, and name flows and hosts, which are no classes. */
static struct tcf_block *flow_sched_block(struct Qdisc *sch, unsigned long cl,
					  struct netlink_ext_ack *extack)
{
	struct flow_sched *q = qdisc_priv(sch);

	return cl ? NULL : q->block;
}

static unsigned long flow_sched_bind(struct Qdisc *sch, unsigned long parent,
				     u32 classid)
{
	return 0;
}

static void flow_sched_unbind(struct Qdisc *sch, unsigned long cl)
{
}

/* A class is its minor number. */
static int flow_sched_dump_class(struct Qdisc *sch, unsigned long minor,
				 struct sk_buff *skb, struct tcmsg *tcm)
{
	tcm->tcm_handle |= TC_H_MIN(minor);
	return 0;
}

/* For classes that are always there, numbered from 1 to @classes. */
static void __maybe_unused flow_sched_walk(struct Qdisc *sch,
					   unsigned long classes,
					   struct qdisc_walker *arg)
{
	unsigned long minor;

	if (arg->stop)
		return;
	for (minor = 1; minor <= classes; minor++) {
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

/* Dumps the departures of a class, and its backlog: @packets, and @queue. */
static int flow_sched_copy_class(struct gnet_dump *d, u64 sent_packets,
				 u64 sent_bytes, u32 packets,
				 struct gnet_stats_queue *queue)
{
	struct gnet_stats_basic_sync sent;

	gnet_stats_basic_sync_init(&sent);
	u64_stats_set(&sent.bytes, sent_bytes);
	u64_stats_set(&sent.packets, sent_packets);
	if (gnet_stats_copy_basic(d, NULL, &sent, false) < 0 ||
	    gnet_stats_copy_queue(d, NULL, queue, packets) < 0)
		return -1;
	return 0;
}

#endif
