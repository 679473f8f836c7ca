/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernels have under different names, 6.1 to 7.2. In tree nothing of this
 * is needed. The names CONFUCIUS_HAS_... come from Kbuild.
 */
#ifndef __CONFUCIUS_COMPAT_H
#define __CONFUCIUS_COMPAT_H

#include <net/sch_generic.h>

#ifdef CONFUCIUS_HAS_GSO_H
#include <net/gso.h>
#endif

#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(id)	MODULE_ALIAS("net-sch-" id)
#endif

#ifndef CONFUCIUS_HAS_QLEN_INC
static inline void qdisc_qlen_inc(struct Qdisc *sch)
{
	sch->q.qlen++;
}

static inline void qdisc_qlen_dec(struct Qdisc *sch)
{
	sch->q.qlen--;
}
#endif

/* A packet found no room. */
static inline int confucius_drop_overlimit(struct sk_buff *skb, struct Qdisc *sch,
					   struct sk_buff **to_free)
{
#ifdef CONFUCIUS_HAS_DROP_REASON
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
#else
	return qdisc_drop(skb, sch, to_free);
#endif
}

/* A packet that was part of a larger one has a length and a count of its own. */
static inline void confucius_set_pkt_len(struct sk_buff *skb)
{
	qdisc_skb_cb(skb)->pkt_len = skb->len;
#ifdef CONFUCIUS_HAS_PKT_SEGS
	qdisc_skb_cb(skb)->pkt_segs = 1;
#endif
}

#endif
