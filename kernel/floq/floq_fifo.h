/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one queue: a ring, in the order of arrival, and the backlog of each type.
 */
#ifndef __FLOQ_FIFO_H
#define __FLOQ_FIFO_H

/* The slot of the packet @behind the oldest. */
static __always_inline struct fl_slot *fl_slot_at(const struct floq *f,
						  u32 behind)
{
	u32 at = f->head + behind;

	return &f->slots[at < f->slot_count ? at : at - f->slot_count];
}

/* There is a slot for each packet that @limit allows. */
static __always_inline void fl_push(struct floq *f, u64 now, u8 kind,
				    void *packet, u32 len)
{
	struct fl_slot *slot = fl_slot_at(f, f->packets);

	slot->packet = packet;
	slot->arrived = now;
	slot->len = len;
	slot->kind = kind;
	f->packets++;
	f->waiting[kind]++;
	f->bytes[kind] += len;
}

/* The packet in @slot, the oldest or the latest, does not wait any more. */
static __always_inline void fl_uncount(struct floq *f,
				       const struct fl_slot *slot)
{
	f->packets--;
	f->waiting[slot->kind]--;
	f->bytes[slot->kind] -= slot->len;
}

/* Takes the oldest packet, if there is one. */
static __always_inline struct fl_slot *fl_shift(struct floq *f)
{
	struct fl_slot *slot = &f->slots[f->head];

	f->head = f->head + 1 < f->slot_count ? f->head + 1 : 0;
	fl_uncount(f, slot);
	return slot;
}

/* Takes the latest packet, if there is one. */
static struct fl_slot *fl_pop(struct floq *f)
{
	struct fl_slot *slot = fl_slot_at(f, f->packets - 1);

	fl_uncount(f, slot);
	return slot;
}

/* Moves the queue to a larger ring, from its beginning. */
static void fl_move(struct floq *f, struct fl_slot *to, u32 slot_count)
{
	u32 first = min(f->packets, f->slot_count - f->head);

	memcpy(to, f->slots + f->head, first * sizeof(*to));
	memcpy(to + first, f->slots, (f->packets - first) * sizeof(*to));
	f->slots = to;
	f->slot_count = slot_count;
	f->head = 0;
}

#endif
