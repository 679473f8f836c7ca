/* SPDX-License-Identifier: GPL-2.0 */
/*
 * First packets: a name look-up, a handshake, a key that was pressed.
 *
 * A connection cannot begin without them, and they are small. So the first
 * kilobyte of a flow that was silent goes before everything else, even before
 * established flows in a hold; but no more than a sixteenth of all bytes does,
 * so that nothing is gained by having many flows.
 */
#ifndef __MENCIUS_FIRSTS_H
#define __MENCIUS_FIRSTS_H

/* The first bytes of a flow are so many. */
#define MN_FIRST_BYTES	1024
/* One in so many bytes may be of first packets, */
#define MN_FIRST_SHARE	16
/* and so many at once: two full packets. */
#define MN_FIRST_SAVED	(2 * 1514)

static inline void mn_firsts_init(struct mn_firsts *firsts)
{
	fl_list_init(&firsts->list);
	firsts->credit = MN_FIRST_SAVED;
}

static __always_inline struct fl_nodes mn_begun(const struct mencius *m)
{
	return (struct fl_nodes){ &m->flows->begun.links, sizeof(*m->flows) };
}

/*
 * A packet of @len bytes of flow @at arrives, which was @silent or not. Behind
 * others of the flow it is no first one: a queue keeps its order.
 */
static __always_inline void mn_first_came(struct mencius *m, u32 at,
					  bool silent, u32 len)
{
	struct mn_begun *begun = &m->flows[at].begun;

	if (silent)
		begun->bytes = 0;
	begun->bytes = min_t(u64, (u64)begun->bytes + len, U32_MAX);
	if (begun->bytes > MN_FIRST_BYTES ||
	    m->flows[at].backlog.packets != begun->waiting)
		return;
	if (!begun->waiting)
		fl_append(&m->firsts.list, mn_begun(m), at);
	begun->waiting++;
}

/* @packets left the head of the queue of flow @at. */
static __always_inline void mn_first_left(struct mencius *m, u32 at,
					  u32 packets)
{
	struct mn_begun *begun = &m->flows[at].begun;

	if (likely(!begun->waiting))
		return;
	begun->waiting -= min(packets, begun->waiting);
	if (!begun->waiting)
		fl_unlink(&m->firsts.list, mn_begun(m), at);
}

/* The flow whose first packet is sent now, or FL_NIL. */
static __always_inline u32 mn_first(const struct mn_firsts *firsts)
{
	return firsts->credit > 0 ? firsts->list.head : FL_NIL;
}

/* A packet of @len bytes leaves, as a @first one or not. */
static __always_inline void mn_first_sent(struct mn_firsts *firsts, u32 len,
					  bool first)
{
	s64 credit = (s64)firsts->credit + len / MN_FIRST_SHARE;

	if (first)
		credit -= len;
	firsts->credit = (s32)min_t(s64, credit, MN_FIRST_SAVED);
}

#endif
