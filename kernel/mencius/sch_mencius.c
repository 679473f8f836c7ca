// SPDX-License-Identifier: GPL-2.0
/*
 * Mencius: hosts share the link, flows share their host's part, and a flow that
 * has kept its queue short does not have to wait because others came.
 *
 * First what flows need of the kernel, then the discipline itself, which calls
 * nothing of it, and last the layer between both: packets, locks, memory. All
 * of the discipline's state is under the qdisc's lock.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <net/gen_stats.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>

#include "../common/flow_sched.h"
#include "mencius.h"
#include "mencius_netlink.h"
#include "mencius_sched.h"
#include "mencius_classes.h"
#include "mencius_wire.h"
#include "pkt_sched_mencius.h"

#ifndef MENCIUS_RFC
#define CREATE_TRACE_POINTS
#include "mencius_trace.h"
#endif

static struct mencius_sched *mencius_sched_of(struct mencius *m)
{
	return container_of(m, struct mencius_sched, core);
}

static void mencius_dropped(struct mencius *m, void *packet, u32 len, u32 flow,
			    enum mencius_reason reason)
{
	struct mencius_sched *q = mencius_sched_of(m);
	struct sk_buff *skb = packet;

#ifndef MENCIUS_RFC
	trace_mencius_drop(q->fs.sch, skb, flow, m->flows[flow].host, len,
			   reason);
#endif
	q->drops[reason]++;
	if (reason != MENCIUS_TAIL)
		flow_sched_gone(&q->fs, skb, len);
	if (q->fs.to_free || reason == MENCIUS_CHANGE) {
		flow_sched_drop(&q->fs, skb);
		return;
	}
	qdisc_qstats_drop(q->fs.sch);
	qdisc_dequeue_drop(q->fs.sch, skb, QDISC_DROP_CONGESTED);
}

static bool mencius_mark(struct mencius *m, void *packet)
{
	if (!INET_ECN_set_ce(packet))
		return false;
	mencius_sched_of(m)->marks++;
	return true;
}

/* Reads where INET_ECN_set_ce() would write, and no further. */
static bool mencius_is_l4s(const void *packet)
{
	const struct sk_buff *skb = packet;
	const u8 *header = skb_network_header(skb);
	u8 field;

	if (skb->protocol == htons(ETH_P_IP) &&
	    header + sizeof(struct iphdr) <= skb_tail_pointer(skb))
		field = ipv4_get_dsfield(ip_hdr(skb));
	else if (skb->protocol == htons(ETH_P_IPV6) &&
		 header + sizeof(struct ipv6hdr) <= skb_tail_pointer(skb))
		field = ipv6_get_dsfield(ipv6_hdr(skb));
	else
		return false;
	return (field & INET_ECN_MASK) == INET_ECN_ECT_1;
}

#ifndef MENCIUS_RFC
/*
 * Traces the beginning of a flow that is told by its headers, for the event
 * mencius_flow.
 */
static void mencius_trace_flow(const struct mencius_sched *q, u32 flow,
			       const struct flow_keys *keys)
{
	struct sockaddr_in6 from = {}, to = {};
	struct sockaddr_in *from4 = (void *)&from, *to4 = (void *)&to;

	/* The port is at the same place in both. */
	from.sin6_port = keys->ports.src;
	to.sin6_port = keys->ports.dst;
	if (keys->control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS) {
		from.sin6_family = AF_INET6;
		to.sin6_family = AF_INET6;
		from.sin6_addr = keys->addrs.v6addrs.src;
		to.sin6_addr = keys->addrs.v6addrs.dst;
	} else {
		from4->sin_family = AF_INET;
		to4->sin_family = AF_INET;
		from4->sin_addr.s_addr = keys->addrs.v4addrs.src;
		to4->sin_addr.s_addr = keys->addrs.v4addrs.dst;
	}
	trace_mencius_flow(q->fs.sch, flow, keys->basic.ip_proto, &from, &to);
}
#endif

/*
 * The hash of a host, whose address is kept for mencius_host_begun(). Keyed, so
 * that no sender can choose addresses that meet in the table.
 */
static u32 mencius_v4_host(struct mencius_sched *q, __be32 address)
{
	ipv6_addr_set_v4mapped(address, &q->asked);
	return hsiphash_1u32((__force u32)address, &q->key);
}

static u32 mencius_v6_host(struct mencius_sched *q,
			   const struct in6_addr *address)
{
	q->asked = *address;
	return hsiphash(address, sizeof(*address), &q->key);
}

#ifndef MENCIUS_RFC
static bool mencius_keys(const struct mencius_sched *q, void *packet,
			 struct flow_keys *keys)
{
	return (q->nat && flow_before_nat(keys, packet)) ||
	       skb_flow_dissect_flow_keys(packet, keys,
					  FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL);
}
#endif

/*
 * Whether conntrack has an entry for @skb, whose addresses before NAT are then
 * in @at. It reads the header of IP where the network header is, so behind tags
 * in the packet and behind PPPoE there is none.
 */
static bool mencius_before_nat(const struct mencius_sched *q,
			       const struct sk_buff *skb, struct flow_ends *at,
			       bool *final)
{
	if (!q->nat || skb->protocol != htons(ETH_P_IP))
		return false;
	*final = flow_ends_before_nat(skb, at);
	return *final;
}

/*
 * The address is that of the outermost header of IP, behind tags of VLANs
 * and PPPoE: what comes through a tunnel is of the tunnel's end, whatever it
 * has inside, unless a filter names a host: its number is the last two bytes
 * of an address 0.0.x.y, which no computer has. Packets without an address,
 * and those that the kernel does not look into, as MPLS, are of the host 0.
 * The address of IPv4 is the one before NAT, which conntrack does not know
 * before the first packet has passed.
 */
static u32 mencius_host(struct mencius *m, void *packet, bool source,
			bool *final)
{
	struct mencius_sched *q = mencius_sched_of(m);
	struct flow_dissector_key_addrs *addrs;
	struct flow_keys keys;
	struct flow_ends at;

	if (unlikely(q->fs.named))
		return mencius_v4_host(q, htonl(q->fs.named));
	if (mencius_before_nat(q, packet, &at, final))
		return mencius_v4_host(q, source ? at.source : at.destination);
	/* A packet that is broken further inside has addresses, too. */
	skb_flow_dissect_flow_keys(packet, &keys,
				   FLOW_DISSECTOR_F_STOP_AT_ENCAP |
				   FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL);
	addrs = &keys.addrs;
	switch (keys.control.addr_type) {
	case FLOW_DISSECTOR_KEY_IPV4_ADDRS:
		return mencius_v4_host(q, source ? addrs->v4addrs.src :
						   addrs->v4addrs.dst);
	case FLOW_DISSECTOR_KEY_IPV6_ADDRS:
		return mencius_v6_host(q, source ? &addrs->v6addrs.src :
						   &addrs->v6addrs.dst);
	default:
		q->asked = in6addr_any;
		return 0;
	}
}

/* Guests of a set are several hosts, and have no address. */
static void mencius_host_begun(struct mencius *m, u32 host)
{
	struct mencius_sched *q = mencius_sched_of(m);
	bool has_one = m->params.hosts != MENCIUS_NONE &&
		       !ft_are_guests(&m->host_table, host);

	q->addresses[host] = has_one ? q->asked : in6addr_any;
}

#ifndef MENCIUS_RFC
static noinline void mencius_trace_begun(const struct mencius_sched *q,
					 void *packet, u32 flow)
{
	struct flow_keys keys;

	if (!mencius_keys(q, packet, &keys))
		return;
	if (keys.control.addr_type == FLOW_DISSECTOR_KEY_IPV4_ADDRS ||
	    keys.control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS)
		mencius_trace_flow(q, flow, &keys);
}

static void mencius_begun(struct mencius *m, void *packet, u32 flow)
{
	if (trace_mencius_flow_enabled())
		mencius_trace_begun(mencius_sched_of(m), packet, flow);
}
#endif

static u32 mencius_wire(const struct mencius *m, const void *packet, u32 len)
{
	const struct mencius_sched *q =
		container_of(m, struct mencius_sched, core);

	return mencius_wire_len(q, packet, len);
}

static __always_inline u32 mencius_take(struct flow_sched *fs,
					struct sk_buff *skb, u64 now, u32 hash)
{
	struct mencius_sched *q = container_of(fs, struct mencius_sched, fs);
	bool taken;

	/* A tunnel that is one flow is several if its hosts are named. */
	if (unlikely(fs->named))
		hash = hash_32(hash ^ fs->named << 16, 32);
	taken = mencius_enqueue(&q->core, now, hash, skb, qdisc_pkt_len(skb),
				skb->truesize);
	return taken ? q->core.memory : 0;
}

static int mencius_qdisc_enqueue(struct sk_buff *skb, struct Qdisc *sch,
				 struct sk_buff **to_free)
{
	return flow_sched_enqueue(skb, sch, to_free, mencius_take);
}

#ifndef MENCIUS_RFC
/* The rate that is left to this queue by those with which it shares one. */
static noinline void mencius_take_share(struct mencius_sched *q, u64 now)
{
	u64 before = q->share->rate, rate;

	if (!q->core.params.bandwidth)
		return;
	rate = mencius_share_look(q->share, now, q->core.params.bandwidth);
	if (rate != before)
		mn_shaper_pace(&q->core.shaper, rate);
}

/*
 * A packet of @flow was sent, of @wire bytes on the link; or it was not time
 * for one, and @flow is FL_NIL.
 */
static noinline void mencius_tell_share(struct mencius_sched *q, u64 now,
					u32 flow, u32 wire)
{
	struct mencius *m = &q->core;
	struct mn_host *host;
	u32 at;

	mencius_share_sent(q->share, now, wire, !mencius_is_empty(m));
	if (flow == FL_NIL)
		return;
	at = m->flows[flow].host;
	host = &m->hosts[at];
	host->queues = mencius_share_host(q->share, now,
					  ft_hash_of(&m->host_table, at),
					  host->backlog.packets);
}
#endif

/* A packet of @host went ahead of others. */
static void mencius_note_most(struct mencius_sched *q, u32 host)
{
	u64 ahead = q->core.hosts[host].figures.ahead;

	if (ahead <= q->most.ahead)
		return;
	q->most.ahead = ahead;
	q->most.address = q->addresses[host];
}

static struct sk_buff *mencius_qdisc_dequeue(struct Qdisc *sch)
{
	struct mencius_sched *q = qdisc_priv(sch);
	struct mencius_sent sent;
	struct sk_buff *skb;
	u64 now;

	/* A qdisc is asked after each packet whether there is another. */
	if (mencius_is_empty(&q->core))
		return NULL;
	now = ktime_get_ns();
#ifndef MENCIUS_RFC
	if (unlikely(q->share))
		mencius_take_share(q, now);
#endif
	skb = mencius_dequeue(&q->core, now, &sent);
#ifndef MENCIUS_RFC
	if (unlikely(q->share))
		mencius_tell_share(q, now, skb ? sent.flow : FL_NIL,
				   skb ? sent.wire : 0);
#endif
	if (!skb) {
		if (sent.until)
			qdisc_watchdog_schedule_ns(&q->watchdog, sent.until);
		return NULL;
	}
	/*
	 * While the packet that leaves is still counted: a parent that is
	 * notified of an empty queue takes it out of service, and would do so
	 * again when it finds it empty itself.
	 */
	flow_sched_tell_parents(&q->fs);
#ifndef MENCIUS_RFC
	trace_mencius_dequeue(sch, skb, sent.flow,
			      q->core.flows[sent.flow].host, sent.len,
			      sent.sojourn, sent.why);
#endif
	if (sent.why >= MENCIUS_AHEAD_FLOWS)
		mencius_note_most(q, q->core.flows[sent.flow].host);
	flow_sched_average(&q->delay, sent.sojourn);
	flow_sched_sent(sch, skb);
	return skb;
}

static struct mencius_settings
mencius_settings_of(const struct mencius_sched *q)
{
	return (struct mencius_settings){
		.params		= q->core.params,
		.nat		= q->nat,
		.split_gso	= q->fs.split_gso,
		.memory_set	= q->memory_set,
		.raw		= q->raw,
#ifndef MENCIUS_RFC
		.shared		= q->share,
#endif
	};
}

/* Drops some of what a new limit leaves no room; whether there is more. */
static bool mencius_shrink_qdisc(struct Qdisc *sch)
{
	struct mencius_sched *q = qdisc_priv(sch);
	bool more;

	sch_tree_lock(sch);
	more = mencius_shrink(&q->core, ktime_get_ns());
	flow_sched_tell_parents(&q->fs);
	sch_tree_unlock(sch);
	return more;
}

static int mencius_change_qdisc(struct Qdisc *sch, struct nlattr *opt,
				struct netlink_ext_ack *extack)
{
	struct mencius_sched *q = qdisc_priv(sch);
	struct mencius_settings set = mencius_settings_of(q);
	struct nlattr *tb[TCA_MENCIUS_MAX + 1];
	u32 limit, flows = set.params.flows;
	void *slots = NULL;
	u64 now;
	int err;

	err = mencius_parse(tb, &set, opt, extack);
	if (err)
		return err;
	err = flow_sched_keep_flows(flows, set.params.flows,
				    tb[TCA_MENCIUS_FLOWS], extack);
	if (err)
		return err;
#ifndef MENCIUS_RFC
	if (set.shared != !!q->share) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_MENCIUS_SHARED],
				    "shared cannot be changed while the qdisc is in use");
		return -EINVAL;
	}
#endif
	limit = set.params.limit;
	if (limit > q->core.slot_count) {
		slots = flow_sched_alloc_slots(mencius_slots_size(limit),
					       tb[TCA_MENCIUS_LIMIT], extack);
		if (!slots)
			return -ENOMEM;
	}

	sch_tree_lock(sch);
	now = ktime_get_ns();
	if (slots)
		slots = mencius_grow(&q->core, slots, limit);
	mencius_change(&q->core, now, &set.params);
	q->nat = set.nat;
	q->raw = set.raw;
	q->memory_set = set.memory_set;
	q->fs.split_gso = set.split_gso;
#ifndef MENCIUS_RFC
	if (q->share)
		q->share->rate = 0;
#endif
	/* Queued packets may have to wait less. */
	if (!mencius_is_empty(&q->core))
		qdisc_watchdog_schedule_ns(&q->watchdog, now);
	WRITE_ONCE(sch->limit, limit);
	sch_tree_unlock(sch);

	kvfree(slots);
	/* No more at once than others can wait for. */
	while (mencius_shrink_qdisc(sch))
		cond_resched();
	return 0;
}

/* Bytes of the addresses of so many flows' hosts. */
static size_t mencius_addresses_size(u32 flows)
{
	return (size_t)ft_places(mn_hosts_for(flows)) * sizeof(struct in6_addr);
}

/*
 * After a failure destroy is called, and before it reset, if it was as a
 * device's default: both find no state.
 */
static int mencius_init_qdisc(struct Qdisc *sch, struct nlattr *opt,
			      struct netlink_ext_ack *extack)
{
	struct mencius_sched *q = qdisc_priv(sch);
	struct mencius_settings set = mencius_defaults;
	struct nlattr *tb[TCA_MENCIUS_MAX + 1];
	void *slots, *table, *addresses;
	int err;

	qdisc_watchdog_init(&q->watchdog, sch);

	if (opt) {
		err = mencius_parse(tb, &set, opt, extack);
		if (err)
			return err;
	}
	err = tcf_block_get(&q->fs.block, &q->fs.filter_list, sch, extack);
	if (err)
		return err;
	slots = flow_sched_alloc(mencius_slots_size(set.params.limit));
	table = flow_sched_alloc(mencius_table_size(set.params.flows));
	addresses = flow_sched_alloc(mencius_addresses_size(set.params.flows));
	if (!slots || !table || !addresses) {
		kvfree(slots);
		kvfree(table);
		kvfree(addresses);
		NL_SET_ERR_MSG(extack,
			       "no memory for so many packets and flows");
		return -ENOMEM;
	}
#ifndef MENCIUS_RFC
	if (set.shared)
		q->share = mencius_share_join(qdisc_dev(sch));
	if (set.shared && !q->share) {
		kvfree(slots);
		kvfree(table);
		kvfree(addresses);
		NL_SET_ERR_MSG(extack, "no memory for what queues share");
		return -ENOMEM;
	}
#endif
	flow_sched_begin(&q->fs, sch, table, set.params.limit);
	q->addresses = addresses;
	q->nat = set.nat;
	q->raw = set.raw;
	q->memory_set = set.memory_set;
	q->fs.split_gso = set.split_gso;
	get_random_bytes(&q->key, sizeof(q->key));
#ifndef MENCIUS_RFC
	if (q->share)
		q->key = q->share->group->key;
#endif
	mencius_init(&q->core, &set.params, table, slots, set.params.limit);
	/* What the AQM drops is freed without the lock. */
	sch->flags |= TCQ_F_DEQUEUE_DROPS;
	return 0;
}

/* Counters go on after a reset, as those of other qdiscs do. */
static void mencius_keep_counts(struct ft_table *table,
				const struct ft_table *before)
{
	table->fresh = before->fresh;
	table->forgotten = before->fresh;
	table->shared = before->shared;
}

static void mencius_reset(struct Qdisc *sch)
{
	struct mencius_sched *q = qdisc_priv(sch);
	struct mencius *m = &q->core;
	struct ft_table flows = m->flow_table, hosts = m->host_table;
	struct mencius_counts counts = m->counts;
	struct mencius_params params = m->params;
	struct sk_buff *skb;

	if (!q->fs.table)
		return;
	qdisc_watchdog_cancel(&q->watchdog);
	while ((skb = mencius_purge(m)))
		rtnl_kfree_skbs(skb, skb);
	mencius_init(m, &params, q->fs.table, m->slots, m->slot_count);
	m->counts = counts;
	mencius_keep_counts(&m->flow_table, &flows);
	mencius_keep_counts(&m->host_table, &hosts);
#ifndef MENCIUS_RFC
	if (q->share)
		mencius_share_reset(q->share);
#endif
}

static void mencius_destroy(struct Qdisc *sch)
{
	struct mencius_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	tcf_block_put(q->fs.block);
#ifndef MENCIUS_RFC
	mencius_share_leave(q->share);
#endif
	kvfree(q->core.slots);
	kvfree(q->fs.table);
	kvfree(q->addresses);
}

static int mencius_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	/* Settings change under RTNL alone, which who dumps them has. */
	struct mencius_settings set = mencius_settings_of(qdisc_priv(sch));

	return mencius_put_settings(skb, &set);
}

static int mencius_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct mencius_sched *q = qdisc_priv(sch);
	const struct mencius *m = &q->core;
	struct mencius_figures st;

	sch_tree_lock(sch);
	st.counts = m->counts;
	st.new_flows = m->flow_table.fresh;
	st.new_hosts = m->host_table.fresh;
	st.shared_flows = m->flow_table.shared;
	st.shared_hosts = m->host_table.shared;
	st.marks = q->marks;
	st.gso_split = q->fs.gso_split;
	memcpy(st.drops, q->drops, sizeof(st.drops));
	st.drop_split = q->fs.drop_split;
	st.drop_filter = q->fs.drop_filter;
	st.full = m->pace.full;
	st.delay = q->delay;
#ifndef MENCIUS_RFC
	st.share = q->share ? q->share->rate : 0;
#endif
	st.most_address = q->most.address;
	st.most_ahead = q->most.ahead;
	st.flows = m->flow_table.fresh - m->flow_table.forgotten;
	st.hosts = m->host_table.fresh - m->host_table.forgotten;
	st.memory_used = m->memory;
	st.memory_peak = q->fs.memory_peak;
	sch_tree_unlock(sch);
	return mencius_put_figures(d->skb, &st);
}

static struct Qdisc_ops mencius_qdisc_ops __read_mostly = {
	.cl_ops		= &mencius_class_ops,
	.id		= "mencius",
	.priv_size	= sizeof(struct mencius_sched),
	.enqueue	= mencius_qdisc_enqueue,
	.dequeue	= mencius_qdisc_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= mencius_init_qdisc,
	.reset		= mencius_reset,
	.destroy	= mencius_destroy,
	.change		= mencius_change_qdisc,
	.dump		= mencius_dump,
	.dump_stats	= mencius_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("mencius");

static int __init mencius_module_init(void)
{
	BUILD_BUG_ON(offsetof(struct mencius_sched, fs));
	BUILD_BUG_ON((int)MENCIUS_SOURCE != (int)TC_MENCIUS_HOSTS_SOURCE);
	BUILD_BUG_ON((int)MENCIUS_NONE != (int)TC_MENCIUS_HOSTS_NONE);
	BUILD_BUG_ON((int)MENCIUS_PTM != (int)TC_MENCIUS_FRAMING_PTM);
	return register_qdisc(&mencius_qdisc_ops);
}

static void __exit mencius_module_exit(void)
{
	unregister_qdisc(&mencius_qdisc_ops);
}

module_init(mencius_module_init)
module_exit(mencius_module_exit)
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Analects developers");
MODULE_DESCRIPTION("Mencius: fair queueing by host and flow that keeps the delay of calls low");
