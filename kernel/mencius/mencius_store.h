/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets in the queues of flows; those of settled flows also in the order
 * of their arrival, by host, so that the one that has waited longest need not
 * be searched; and the hosts that have such packets, in the order in which they
 * are considered for what goes before other hosts: each in turn, whoever's
 * packets came first.
 */
#ifndef __MENCIUS_STORE_H
#define __MENCIUS_STORE_H

#include "../common/flow_list.h"
#include "mencius_by_size.h"
#include "mencius_sparse.h"
#include "mencius_types.h"

/* A packet that was taken out. */
struct mn_popped {
	void	*packet;
	u64	arrived;
	u32	len;
	u8	why;
};

static __always_inline struct fl_nodes mn_in_host(const struct mencius *m)
{
	return (struct fl_nodes){ &m->slots->in_host, sizeof(*m->slots) };
}

static __always_inline struct fl_nodes mn_settled_hosts(const struct mencius *m)
{
	return (struct fl_nodes){ &m->hosts->in_settled, sizeof(*m->hosts) };
}

/* A packet of a settled flow of a host came. */
static __always_inline void mn_list(struct mencius *m, u32 number, u32 index)
{
	struct mn_host *host = &m->hosts[number];

	fl_append(&host->listed, mn_in_host(m), index);
	if (host->settled)
		return;
	host->settled = true;
	fl_append(&m->settled_hosts, mn_settled_hosts(m), number);
}

/*
 * The first of the hosts with packets of settled flows was considered: it
 * is the last one now, or leaves if it has no such packet any more.
 */
static __always_inline void mn_considered(struct mencius *m)
{
	u32 number = m->settled_hosts.head;
	struct mn_host *host = &m->hosts[number];

	fl_unlink(&m->settled_hosts, mn_settled_hosts(m), number);
	host->settled = host->listed.head != FL_NIL;
	if (host->settled)
		fl_append(&m->settled_hosts, mn_settled_hosts(m), number);
}

/*
 * Appends a packet to a flow, which is settled or not. There is a slot for
 * each packet that @limit allows.
 */
static __always_inline void mn_push(struct mencius *m, u64 now, u32 at,
				    bool settled, void *packet, u32 len,
				    u32 mem)
{
	struct mn_flow *flow = &m->flows[at];
	struct mn_slot *slot;
	u32 index = m->free;

	if (unlikely(index == FL_NIL))
		index = m->slots_used++;
	else
		m->free = m->slots[index].next;
	slot = &m->slots[index];
	slot->packet = packet;
	slot->arrived = now;
	slot->len = len;
	slot->mem = mem;
	slot->flow = at;
	slot->listed = settled;
	if (flow->backlog.packets)
		m->slots[flow->tail].next = index;
	else
		flow->head = index;
	flow->tail = index;
	flow->backlog.packets++;
	flow->backlog.bytes += len;
	m->backlog.packets++;
	m->backlog.bytes += len;
	m->memory += mem;
	if (settled)
		mn_list(m, flow->host, index);
}

/* The packet's flow is not settled any more, or the packet leaves. */
static __always_inline void mn_unlist(struct mencius *m, u32 index)
{
	struct mn_slot *slot = &m->slots[index];

	if (!slot->listed)
		return;
	slot->listed = false;
	fl_unlink(&m->hosts[m->flows[slot->flow].host].listed, mn_in_host(m),
		  index);
}

/* Takes the oldest packet of a flow that has one. */
static __always_inline void mn_pop(struct mencius *m, u32 at,
				   struct mn_popped *popped)
{
	struct mn_flow *flow = &m->flows[at];
	u32 index = flow->head;
	struct mn_slot *slot = &m->slots[index];

	mn_unlist(m, index);
	popped->packet = slot->packet;
	popped->arrived = slot->arrived;
	popped->len = slot->len;
	flow->head = slot->next;
	flow->backlog.packets--;
	flow->backlog.bytes -= slot->len;
	m->backlog.packets--;
	m->backlog.bytes -= slot->len;
	m->memory -= slot->mem;
	slot->next = m->free;
	m->free = index;
}

/* For how long the oldest packet of a flow has waited. */
static __always_inline u64 mn_wait(const struct mencius *m, u64 now, u32 at)
{
	return fl_since(now, m->slots[m->flows[at].head].arrived);
}

/* Updates the sizes after a change of flow @at, whose backlog was @before. */
static __always_inline void mn_resize(struct mencius *m, u32 at,
				      struct mn_backlog before)
{
	struct mn_flow *flow = &m->flows[at];
	struct mn_host *host = &m->hosts[flow->host];
	struct fl_nodes flows = { &m->flows->by_size, sizeof(*m->flows) };
	struct fl_nodes hosts = { &m->hosts->by_size, sizeof(*m->hosts) };

	if (before.packets > flow->backlog.packets)
		mn_sparse_left(m, at, before.packets - flow->backlog.packets);
	host->backlog.packets += flow->backlog.packets - before.packets;
	host->backlog.bytes += flow->backlog.bytes - before.bytes;
	mn_sizes_update(&host->sizes, flows, at, &flow->size_list,
			flow->backlog);
	mn_sizes_update(&m->sizes, hosts, flow->host, &host->size_list,
			host->backlog);
}

#endif
