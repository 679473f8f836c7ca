// SPDX-License-Identifier: GPL-2.0
/*
 * gate: keeps a standing queue in the discipline below it, for measuring.
 *
 * A packet leaves only while more than `hold` packets wait. So the first `hold`
 * packets stay, and from then on one leaves for each that arrives: the cost of
 * such a packet is that of the discipline with that backlog. With hold = 0 the
 * queue is empty before and after each packet.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>

static unsigned int hold;
module_param(hold, uint, 0644);
MODULE_PARM_DESC(hold, "packets that stay");

struct gate_sched {
	struct Qdisc *child;
};

static int gate_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct gate_sched *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	int ret = qdisc_enqueue(skb, q->child, to_free);

	if (ret != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(ret))
			qdisc_qstats_drop(sch);
		return ret;
	}
	sch->qstats.backlog += len;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *gate_dequeue(struct Qdisc *sch)
{
	struct gate_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (q->child->q.qlen <= READ_ONCE(hold))
		return NULL;
	skb = q->child->dequeue(q->child);
	if (!skb)
		return NULL;
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void gate_reset(struct Qdisc *sch)
{
	struct gate_sched *q = qdisc_priv(sch);

	qdisc_reset(q->child);
}

static int gate_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct gate_sched *q = qdisc_priv(sch);

	q->child = &noop_qdisc;
	return 0;
}

static void gate_destroy(struct Qdisc *sch)
{
	struct gate_sched *q = qdisc_priv(sch);

	qdisc_put(q->child);
}

static int gate_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	return skb->len;
}

static int gate_graft(struct Qdisc *sch, unsigned long arg, struct Qdisc *child,
		      struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct gate_sched *q = qdisc_priv(sch);

	*old = qdisc_replace(sch, child ?: &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *gate_leaf(struct Qdisc *sch, unsigned long arg)
{
	struct gate_sched *q = qdisc_priv(sch);

	return q->child;
}

static unsigned long gate_find(struct Qdisc *sch, u32 classid)
{
	return 1;
}

static void gate_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, 1, walker);
}

static int gate_dump_class(struct Qdisc *sch, unsigned long cl, struct sk_buff *skb,
			   struct tcmsg *tcm)
{
	struct gate_sched *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = q->child->handle;
	return 0;
}

static const struct Qdisc_class_ops gate_class_ops = {
	.graft		= gate_graft,
	.leaf		= gate_leaf,
	.find		= gate_find,
	.walk		= gate_walk,
	.dump		= gate_dump_class,
};

static struct Qdisc_ops gate_ops __read_mostly = {
	.cl_ops		= &gate_class_ops,
	.id		= "gate",
	.priv_size	= sizeof(struct gate_sched),
	.enqueue	= gate_enqueue,
	.dequeue	= gate_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= gate_init,
	.reset		= gate_reset,
	.destroy	= gate_destroy,
	.dump		= gate_dump,
	.owner		= THIS_MODULE,
};

static int __init gate_module_init(void)
{
	return register_qdisc(&gate_ops);
}

static void __exit gate_module_exit(void)
{
	unregister_qdisc(&gate_ops);
}

module_init(gate_module_init)
module_exit(gate_module_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Keeps a standing queue below it, for measuring");
