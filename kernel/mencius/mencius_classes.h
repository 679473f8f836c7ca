/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts and then flows as classes, for looking at. Host number 0 is MAJOR:1.
 */
#ifndef __MENCIUS_CLASSES_H
#define __MENCIUS_CLASSES_H

#include <linux/compiler.h>
#include <linux/in6.h>
#include <linux/minmax.h>
#include <linux/pkt_sched.h>
#include <linux/timekeeping.h>
#include <net/gen_stats.h>
#include <net/sch_generic.h>

#include "../common/flow_list.h"
#include "../common/flow_sched.h"
#include "../common/flow_table.h"
#include "mencius.h"
#include "mencius_netlink.h"
#include "mencius_sched.h"

static u32 mencius_host_places(const struct mencius_sched *q)
{
	return ft_places(mn_hosts_for(q->core.params.flows));
}

/* The places of hosts and of flows, as far as there are numbers for them. */
static u32 mencius_class_places(const struct mencius_sched *q)
{
	return min_t(u32, mencius_host_places(q) +
				  mn_flow_places(q->core.params.flows),
		     TC_H_MIN(TC_H_ROOT) - 1);
}

static unsigned long mencius_find(struct Qdisc *sch, u32 classid)
{
	u32 minor = TC_H_MIN(classid);

	return minor <= mencius_class_places(qdisc_priv(sch)) ? minor : 0;
}

/* Whether @at is a known flow, or a known host has guests. */
static bool mencius_is_flow(const struct mencius *m, u32 at)
{
	if (ft_are_guests(&m->flow_table, at))
		return m->flows[at].figures.packets ||
		       m->flows[at].backlog.packets;
	return ft_is_known(&m->flow_table, at);
}

/*
 * Whether the host or flow in @place has statistics. Looks without the lock, as
 * there are many places: the tables stay where they are, and one that comes or
 * goes meanwhile is shown or not.
 */
static bool mencius_is_known(struct Qdisc *sch, u32 place)
{
	const struct mencius_sched *q = qdisc_priv(sch);
	u32 hosts = mencius_host_places(q);

	/* See above. */
	return data_race(place < hosts ?
			 ft_is_known(&q->core.host_table, place) :
			 mencius_is_flow(&q->core, place - hosts));
}

static void mencius_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	u32 place, places = mencius_class_places(qdisc_priv(sch));

	if (arg->stop)
		return;
	for (place = 0; place < places; place++) {
		if (arg->count < arg->skip || !mencius_is_known(sch, place)) {
			arg->count++;
			continue;
		}
		if (arg->fn(sch, place + 1, arg) < 0) {
			arg->stop = 1;
			break;
		}
		arg->count++;
	}
}

static int mencius_dump_host(struct Qdisc *sch, u32 at, struct gnet_dump *d)
{
	struct mencius_sched *q = qdisc_priv(sch);
	const struct mn_host *host = &q->core.hosts[at];
	struct gnet_stats_queue queue = {};
	struct mencius_host_figures st;
	u64 now = ktime_get_ns();

	sch_tree_lock(sch);
	st.backlog = host->backlog;
	st.backlogged = host->backlogged;
	st.known = host->known;
	st.held = host->hold.on ? host->hold.age : 0;
	st.sent = host->figures;
	st.age = fl_since(now, host->figures.began);
	st.address = ft_is_known(&q->core.host_table, at) ? q->addresses[at] :
							     in6addr_any;
	sch_tree_unlock(sch);
	queue.backlog = st.backlog.bytes;
	queue.drops = st.sent.drops;
	if (flow_sched_copy_class(d, st.sent.packets, st.sent.bytes,
				  st.backlog.packets, &queue))
		return -1;
	return mencius_put_class(d->skb, &st, NULL);
}

static int mencius_dump_flow(struct Qdisc *sch, u32 at, struct gnet_dump *d)
{
	struct mencius_sched *q = qdisc_priv(sch);
	const struct mn_flow *flow = &q->core.flows[at];
	struct mencius_flow_figures st = {};
	struct gnet_stats_queue queue = {};
	u64 now = ktime_get_ns();

	sch_tree_lock(sch);
	st.backlog = flow->backlog;
	st.sent = flow->figures;
	st.host = flow->host + 1;
	if (flow->backlog.packets)
		st.wait = mn_wait(&q->core, now, at);
	if (mn_is_settled(&q->core, now, at))
		st.settled = fl_since(now, flow->settling.since);
	sch_tree_unlock(sch);
	queue.backlog = st.backlog.bytes;
	queue.drops = st.sent.drops;
	if (flow_sched_copy_class(d, st.sent.packets, st.sent.bytes,
				  st.backlog.packets, &queue))
		return -1;
	return mencius_put_class(d->skb, NULL, &st);
}

static int mencius_dump_class_stats(struct Qdisc *sch, unsigned long minor,
				    struct gnet_dump *d)
{
	u32 hosts = mencius_host_places(qdisc_priv(sch));

	return minor <= hosts ? mencius_dump_host(sch, minor - 1, d) :
				mencius_dump_flow(sch, minor - 1 - hosts, d);
}

static const struct Qdisc_class_ops mencius_class_ops = {
	.leaf		= flow_sched_leaf,
	.find		= mencius_find,
	.tcf_block	= flow_sched_block,
	.bind_tcf	= flow_sched_bind,
	.unbind_tcf	= flow_sched_unbind,
	.walk		= mencius_walk,
	.dump		= flow_sched_dump_class,
	.dump_stats	= mencius_dump_class_stats,
};

#endif
