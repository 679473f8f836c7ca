/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts as classes, for looking at. Host number 0 is MAJOR:1.
 */
#ifndef __MENCIUS_CLASSES_H
#define __MENCIUS_CLASSES_H

#include <net/gen_stats.h>

#include "mencius_netlink.h"
#include "mencius_sched.h"

static u32 mencius_host_places(const struct mencius_sched *q)
{
	return mn_places(mn_hosts_for(q->core.params.flows));
}

static unsigned long mencius_find(struct Qdisc *sch, u32 classid)
{
	u32 minor = TC_H_MIN(classid);

	return minor <= mencius_host_places(qdisc_priv(sch)) ? minor : 0;
}

static bool mencius_is_known(struct Qdisc *sch, u32 host)
{
	struct mencius_sched *q = qdisc_priv(sch);
	bool known;

	sch_tree_lock(sch);
	known = mn_is_known(&q->core.host_table, host);
	sch_tree_unlock(sch);
	return known;
}

static void mencius_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	u32 host, places = mencius_host_places(qdisc_priv(sch));

	if (arg->stop)
		return;
	for (host = 0; host < places; host++) {
		if (arg->count < arg->skip || !mencius_is_known(sch, host)) {
			arg->count++;
			continue;
		}
		if (arg->fn(sch, host + 1, arg) < 0) {
			arg->stop = 1;
			break;
		}
		arg->count++;
	}
}

static int mencius_dump_class_stats(struct Qdisc *sch, unsigned long minor,
				    struct gnet_dump *d)
{
	struct mencius_sched *q = qdisc_priv(sch);
	const struct mn_host *host = &q->core.hosts[minor - 1];
	struct gnet_stats_queue queue = {};
	struct mencius_host_figures st;

	sch_tree_lock(sch);
	st.backlog = host->backlog;
	st.rivals = host->rivals;
	st.known = host->known;
	st.held = host->hold.on ? host->hold.age : 0;
	sch_tree_unlock(sch);
	queue.backlog = st.backlog.bytes;
	if (gnet_stats_copy_queue(d, NULL, &queue, st.backlog.packets) < 0)
		return -1;
	return mencius_put_host(d->skb, &st);
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
