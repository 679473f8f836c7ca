/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that kernels have under different names, 6.1 to 7.2. In tree none
 * of this is needed. The names COMPAT_HAS_... come from Kbuild.
 */
#ifndef __FLOW_COMPAT_H
#define __FLOW_COMPAT_H

#include <linux/slab.h>
#include <net/pkt_cls.h>
#include <net/sch_generic.h>

#ifdef COMPAT_HAS_GSO_H
#include <net/gso.h>
#endif

#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(id)	MODULE_ALIAS("net-sch-" id)
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(object, flags)	kzalloc(sizeof(object), flags)
#endif

#ifndef COMPAT_HAS_QLEN_INC
static inline void qdisc_qlen_inc(struct Qdisc *sch)
{
	sch->q.qlen++;
}

static inline void qdisc_qlen_dec(struct Qdisc *sch)
{
	sch->q.qlen--;
}
#endif

#ifndef COMPAT_HAS_CLASSIFY_QDISC
static inline int tcf_classify_qdisc(struct sk_buff *skb,
				     const struct tcf_proto *tp,
				     struct tcf_result *res, bool compat_mode)
{
	return tcf_classify(skb, NULL, tp, res, compat_mode);
}
#endif

/* Without reasons, a packet is dropped for none. */
#ifndef COMPAT_HAS_DROP_REASON
#define qdisc_drop_reason(skb, sch, to_free, reason) \
	qdisc_drop(skb, sch, to_free)
#define qdisc_dequeue_drop(sch, skb, reason)	kfree_skb(skb)
#undef TCQ_F_DEQUEUE_DROPS
#define TCQ_F_DEQUEUE_DROPS	0
#endif

/* __qdisc_calculate_pkt_len(), which is not exported. */
static inline int
compat_size_table_len(unsigned int len, const struct qdisc_size_table *stab)
{
	const struct tc_sizespec *spec = &stab->szopts;
	int pkt_len = len + spec->overhead;
	int slot;

	if (spec->tsize) {
		slot = max(pkt_len + spec->cell_align, 0) >> spec->cell_log;
		if (slot < spec->tsize)
			pkt_len = stab->data[slot];
		else
			pkt_len = stab->data[spec->tsize - 1] *
					(slot / spec->tsize) +
				  stab->data[slot % spec->tsize];
		pkt_len <<= spec->size_log;
	}
#ifdef QDISC_PKT_LEN_MAX
	return clamp_t(int, pkt_len, 1, QDISC_PKT_LEN_MAX);
#else
	return max(pkt_len, 1);
#endif
}

/*
 * A packet that was part of a larger one has a length and a count of its own:
 * the length is by the root's size table, as __dev_xmit_skb() computes it for a
 * packet that arrives alone. Other qdiscs cannot have one (qdisc_create()).
 */
static inline void compat_set_pkt_len(struct sk_buff *skb,
				      const struct Qdisc *sch)
{
	const struct qdisc_size_table *stab;

	stab = rcu_dereference_bh(qdisc_root_bh(sch)->stab);
	qdisc_skb_cb(skb)->pkt_len =
		stab ? compat_size_table_len(skb->len, stab) : skb->len;
#ifdef COMPAT_HAS_PKT_SEGS
	qdisc_skb_cb(skb)->pkt_segs = 1;
#endif
}

#endif
