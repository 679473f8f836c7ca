/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that go first: the first ones of a flow, and those of a sparse flow.
 *
 * A connection cannot begin without a name look-up and a handshake, and they
 * are small. So the first kilobyte of a flow that was silent goes before
 * everything else, even before settled flows in a hold; and so do later
 * packets of a flow that sends little, such as a game. Of either kind no more
 * than a part of all bytes goes first, so that nothing is gained by having many
 * flows.
 */
#ifndef __MENCIUS_SPARSE_H
#define __MENCIUS_SPARSE_H

#include "../common/flow_list.h"
#include "mencius_settling.h"
#include "mencius_turns.h"
#include "mencius_types.h"

/*
 * The first bytes of a flow are so many, and a later packet of a sparse flow
 * has no more.
 */
#define MN_FIRST_BYTES	1024
/*
 * So many bytes of a sparse flow may come at once: what a flow sends at random
 * comes together now and then.
 */
#define MN_SPARSE_BATCH	2048
/* A sparse flow sends at most a byte in 2^16 ns, 122 kbit/s. */
#define MN_SPARSE	16
/* One in so many bytes may be of first packets, */
#define MN_FIRST_SHARE	16
/* one in so many of sparse flows, */
#define MN_SPARSE_SHARE	4
/* and of each so many at once: two full packets. */
#define MN_FIRST_SAVED	(2 * 1514)

static inline void mn_sparse_init(struct mn_sparse *sparse)
{
	u32 kind;

	for (kind = 0; kind < MN_KINDS; kind++) {
		fl_list_init(&sparse->lists[kind]);
		sparse->credits[kind] = MN_FIRST_SAVED;
	}
}

static __always_inline struct fl_nodes mn_sparse_flows(const struct mencius *m)
{
	return (struct fl_nodes){ &m->flows->sparse.links, sizeof(*m->flows) };
}

/* The kind of a packet of @len bytes that arrives @pause ns after the last. */
static __always_inline u32 mn_kind_of(struct mn_sparse_flow *flow, u64 pause,
				      u32 len)
{
	if (pause > MN_GAP) {
		flow->bytes = 0;
		flow->spent = 0;
	}
	flow->bytes = min_t(u64, (u64)flow->bytes + len, U32_MAX);
	if (flow->bytes <= MN_FIRST_BYTES)
		return MN_FIRST_KIND;
	flow->spent -= min_t(u64, flow->spent, pause >> MN_SPARSE);
	if (len > MN_FIRST_BYTES || len > MN_SPARSE_BATCH - flow->spent)
		return MN_KINDS;
	flow->spent += len;
	return MN_SPARSE_KIND;
}

/*
 * A packet of @len bytes of flow @at arrives, @pause ns after the last. Behind
 * others of the flow it does not go first: a queue keeps its order. Nor does it
 * if its host @may send none before its turns.
 */
static __always_inline void mn_sparse_came(struct mencius *m, u32 at, u64 pause,
					   u32 len, bool may)
{
	struct mn_sparse_flow *flow = &m->flows[at].sparse;
	u32 kind = mn_kind_of(flow, pause, len);

	if (likely(kind == MN_KINDS) || !may ||
	    m->flows[at].backlog.packets != flow->waiting)
		return;
	if (!flow->waiting) {
		flow->kind = kind;
		fl_append(&m->sparse.lists[kind], mn_sparse_flows(m), at);
	}
	flow->waiting++;
}

/* @packets left the head of the queue of flow @at. */
static __always_inline void mn_sparse_left(struct mencius *m, u32 at,
					   u32 packets)
{
	struct mn_sparse_flow *flow = &m->flows[at].sparse;

	if (likely(!flow->waiting))
		return;
	flow->waiting -= min(packets, flow->waiting);
	if (!flow->waiting)
		fl_unlink(&m->sparse.lists[flow->kind], mn_sparse_flows(m), at);
}

/* The kind of which a packet goes first now, or MN_KINDS. */
static __always_inline u32 mn_sparse_kind(const struct mn_sparse *sparse)
{
	u32 kind;

	for (kind = 0; kind < MN_KINDS; kind++)
		if (sparse->lists[kind].head != FL_NIL &&
		    sparse->credits[kind] > 0)
			break;
	return kind;
}

/* A packet of @len bytes leaves, of a @kind that goes first or MN_KINDS. */
static __always_inline void mn_sparse_sent(struct mn_sparse *sparse, u32 len,
					   u32 kind)
{
	s32 *credits = sparse->credits;

	credits[MN_FIRST_KIND] = (s32)min_t(s64, MN_FIRST_SAVED,
		(s64)credits[MN_FIRST_KIND] + len / MN_FIRST_SHARE);
	credits[MN_SPARSE_KIND] = (s32)min_t(s64, MN_FIRST_SAVED,
		(s64)credits[MN_SPARSE_KIND] + len / MN_SPARSE_SHARE);
	if (kind != MN_KINDS)
		credits[kind] = (s32)max_t(s64, (s64)credits[kind] - len,
					   MN_LEAST);
}

#endif
