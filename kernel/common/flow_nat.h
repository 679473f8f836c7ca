/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses and ports before translation, as conntrack knows them (IPv4).
 */
#ifndef __FLOW_NAT_H
#define __FLOW_NAT_H

#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/flow_dissector.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#endif

struct flow_ends {
	__be32	source;
	__be32	destination;
	__be16	source_port;
	__be16	destination_port;
};

#if IS_ENABLED(CONFIG_NF_CONNTRACK)
/*
 * Of a packet that has not met conntrack, on its way in; conntrack's tuple is
 * that of the other direction.
 */
static noinline bool flow_ends_by_reply(const struct sk_buff *skb,
					struct flow_ends *at)
{
	struct nf_conntrack_tuple reply = {};

	if (!nf_ct_get_tuple_skb(&reply, skb))
		return false;
	at->source = reply.dst.u3.ip;
	at->destination = reply.src.u3.ip;
	at->source_port = reply.dst.u.all;
	at->destination_port = reply.src.u.all;
	return true;
}

/*
 * Puts the ends of an IPv4 packet before NAT into @at; false if conntrack has
 * no entry.
 */
static __always_inline bool flow_ends_before_nat(const struct sk_buff *skb,
						 struct flow_ends *at)
{
	enum ip_conntrack_info info;
	const struct nf_conn *ct = nf_ct_get(skb, &info);
	const struct nf_conntrack_tuple *tuple;

	if (!ct)
		return rcu_access_pointer(nf_ct_hook) &&
		       flow_ends_by_reply(skb, at);
	tuple = nf_ct_tuple(ct, CTINFO2DIR(info));
	at->source = tuple->src.u3.ip;
	at->destination = tuple->dst.u3.ip;
	at->source_port = tuple->src.u.all;
	at->destination_port = tuple->dst.u.all;
	return true;
}

/*
 * Puts the addresses and ports before NAT into @keys; false as above, and
 * behind tags in the packet, where conntrack would read them as the header.
 */
static bool flow_before_nat(struct flow_keys *keys,
			    const struct sk_buff *skb)
{
	struct flow_ends at;

	if (skb->protocol != htons(ETH_P_IP) ||
	    !flow_ends_before_nat(skb, &at))
		return false;
	if (!skb_flow_dissect_flow_keys(skb, keys,
					FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL) ||
	    keys->control.addr_type != FLOW_DISSECTOR_KEY_IPV4_ADDRS)
		return false;
	keys->addrs.v4addrs.src = at.source;
	keys->addrs.v4addrs.dst = at.destination;
	if (keys->ports.ports) {
		keys->ports.src = at.source_port;
		keys->ports.dst = at.destination_port;
	}
	return true;
}
#else
static __maybe_unused bool flow_ends_before_nat(const struct sk_buff *skb,
						struct flow_ends *at)
{
	return false;
}

static bool flow_before_nat(struct flow_keys *keys,
			    const struct sk_buff *skb)
{
	return false;
}
#endif

static noinline u32 flow_nat_hash(struct sk_buff *skb)
{
	struct flow_keys keys;

	if (flow_before_nat(&keys, skb))
		return flow_hash_from_keys(&keys);
	return skb_get_hash(skb);
}

#endif
