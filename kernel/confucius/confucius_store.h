/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets in classes between which whole flows move, in O(1) and unreordered.
 *
 * A class has a list of its packets in the order of arrival, so that no search
 * among its flows is needed (as in section 6 of the paper). A flow that moves
 * leaves its packets in the old class's list; there they are skipped when they
 * come to the front. Until they are gone the flow is a migrant of its new
 * class, which finds it by a heap of migrants, earliest oldest packet first.
 * The next packet of a class is the earlier of both.
 */
#ifndef __CONFUCIUS_STORE_H
#define __CONFUCIUS_STORE_H

/* A packet that was taken out. */
struct cf_popped {
	void	*packet;
	u64	arrived;
	u32	len;
	u32	flow;
	bool	native;		/* came while its flow was in that class */
};

/*
 * The heap of a class of old flows. New flows begin without packets, and so are
 * no migrants.
 */
static inline u16 *cf_heap(const struct confucius *c, u32 class)
{
	return c->heaps + (size_t)(class - 1) * c->params.flows;
}

static inline u64 cf_oldest(const struct confucius *c, u32 flow)
{
	return c->slots[c->flows[flow].head].arrival;
}

static void cf_heap_up(struct confucius *c, u16 *heap, u32 at)
{
	u32 flow = heap[at];
	u64 arrival = cf_oldest(c, flow);

	while (at) {
		u32 parent = (at - 1) / 2;

		if (cf_oldest(c, heap[parent]) <= arrival)
			break;
		heap[at] = heap[parent];
		c->ages[heap[at]].place = at;
		at = parent;
	}
	heap[at] = flow;
	c->ages[flow].place = at;
}

static void cf_heap_down(struct confucius *c, u16 *heap, u32 len, u32 at)
{
	u32 flow = heap[at];
	u64 arrival = cf_oldest(c, flow);

	for (;;) {
		u32 child = 2 * at + 1;

		if (child >= len)
			break;
		if (child + 1 < len &&
		    cf_oldest(c, heap[child + 1]) < cf_oldest(c, heap[child]))
			child++;
		if (arrival <= cf_oldest(c, heap[child]))
			break;
		heap[at] = heap[child];
		c->ages[heap[at]].place = at;
		at = child;
	}
	heap[at] = flow;
	c->ages[flow].place = at;
}

static void cf_migrant_add(struct confucius *c, u32 at)
{
	struct cf_flow *flow = &c->flows[at];
	struct cf_class *class = &c->classes[flow->class];
	u16 *heap = cf_heap(c, flow->class);

	flow->migrant = true;
	heap[class->migrants] = at;
	cf_heap_up(c, heap, class->migrants++);
}

static void cf_migrant_remove(struct confucius *c, u32 at)
{
	struct cf_flow *flow = &c->flows[at];
	struct cf_class *class = &c->classes[flow->class];
	u16 *heap = cf_heap(c, flow->class);
	u32 hole = c->ages[at].place;

	flow->migrant = false;
	class->migrants--;
	if (hole == class->migrants)
		return;
	heap[hole] = heap[class->migrants];
	cf_heap_up(c, heap, hole);
	cf_heap_down(c, heap, class->migrants, hole);
}

/* The oldest packet of migrant @at has left. */
static noinline void cf_migrant_popped(struct confucius *c, u32 at)
{
	struct cf_flow *flow = &c->flows[at];
	u32 class = flow->class;

	if (flow->head != FL_NIL && cf_oldest(c, at) < flow->native_from)
		cf_heap_down(c, cf_heap(c, class), c->classes[class].migrants,
			     c->ages[at].place);
	else
		cf_migrant_remove(c, at);
}

/*
 * Appends a packet to a flow. There is a slot for each packet that @limit
 * allows.
 */
static __always_inline void cf_push(struct confucius *c, u64 now, u32 at,
				    void *packet, u32 len, u32 mem)
{
	struct cf_flow *flow = &c->flows[at];
	struct cf_class *class = &c->classes[flow->class];
	struct cf_slot *slot;
	u32 index = c->free;

	if (unlikely(index == FL_NIL))
		index = c->slots_used++;
	else
		c->free = c->slots[index].next;
	slot = &c->slots[index];
	slot->packet = packet;
	slot->arrived = now;
	slot->arrival = c->arrivals++;
	slot->len = len;
	slot->mem = mem;
	slot->next = FL_NIL;
	slot->flow = at;
	slot->listed_in = flow->class;
	if (flow->head == FL_NIL) {
		flow->head = index;
		class->waiting++;
		c->backlogged |= 1 << flow->class;
	} else {
		c->slots[flow->tail].next = index;
	}
	flow->tail = index;
	fl_append(&class->list, cf_slot_nodes(c), index);
	flow->packets++;
	flow->bytes += len;
	class->packets++;
	class->bytes += len;
	c->packets++;
	c->memory += mem;
}

static __always_inline void cf_unlist(struct confucius *c, u32 index)
{
	struct cf_slot *slot = &c->slots[index];

	fl_unlink(&c->classes[slot->listed_in].list, cf_slot_nodes(c), index);
	slot->listed_in = CF_UNLISTED;
}

/* The first packet of a class's migrants; FL_NIL if there are none. */
static u32 cf_first_migrant(const struct confucius *c, u32 number)
{
	return c->classes[number].migrants ?
		       c->flows[cf_heap(c, number)[0]].head :
		       FL_NIL;
}

/* Whether the flow of the packet is in class @number still. */
static __always_inline bool cf_is_native(const struct confucius *c, u32 number,
					 u32 index)
{
	return c->flows[c->slots[index].flow].class == number;
}

/* cf_front() of a class with migrants, or from which flows have moved. */
static noinline u32 cf_front_moved(struct confucius *c, u32 number, u32 *skips)
{
	u32 migrant = cf_first_migrant(c, number), index;
	u64 before = migrant == FL_NIL ? CF_NEVER : c->slots[migrant].arrival;

	while ((index = c->classes[number].list.head) != FL_NIL &&
	       c->slots[index].arrival < before) {
		if (cf_is_native(c, number, index))
			return index;
		if (!*skips)
			return FL_NIL;
		--*skips;
		cf_unlist(c, index);
	}
	return migrant;
}

/*
 * The packet of a backlogged class that arrived first; FL_NIL if more packets
 * of flows that have moved stand before it than may be skipped. It is its
 * flow's oldest: an older one would stand before it in the list, or be in the
 * heap. After a flow has moved away and back, its oldest may be in both.
 */
static __always_inline u32 cf_front(struct confucius *c, u32 number, u32 *skips)
{
	struct cf_class *class = &c->classes[number];
	u32 index = class->list.head;

	if (likely(index != FL_NIL && cf_is_native(c, number, index) &&
		   !class->migrants))
		return index;
	return cf_front_moved(c, number, skips);
}

/*
 * The class of the oldest packet of all, which is at the front of a list or a
 * heap, so that nothing has to be skipped for it.
 */
static noinline u32 cf_eldest(const struct confucius *c)
{
	u64 first = CF_NEVER;
	u32 rest, eldest = 0;

	for (rest = c->backlogged; rest; rest &= rest - 1) {
		u32 number = __builtin_ctz(rest);
		u32 index = c->classes[number].list.head;
		u32 migrant = cf_first_migrant(c, number);

		if (index == FL_NIL || !cf_is_native(c, number, index) ||
		    (migrant != FL_NIL &&
		     c->slots[migrant].arrival < c->slots[index].arrival))
			index = migrant;
		if (index != FL_NIL && c->slots[index].arrival < first) {
			first = c->slots[index].arrival;
			eldest = number;
		}
	}
	return eldest;
}

/* Takes packet @index, the first of class @number. */
static __always_inline void cf_pop(struct confucius *c, u32 number, u32 index,
				   struct cf_popped *popped)
{
	struct cf_class *class = &c->classes[number];
	struct cf_slot *slot = &c->slots[index];
	struct cf_flow *flow = &c->flows[slot->flow];

	if (likely(slot->listed_in != CF_UNLISTED))
		cf_unlist(c, index);
	popped->packet = slot->packet;
	popped->arrived = slot->arrived;
	popped->len = slot->len;
	popped->flow = slot->flow;
	popped->native = slot->arrival >= flow->native_from;

	c->packets--;
	c->memory -= slot->mem;
	class->packets--;
	class->bytes -= slot->len;
	flow->packets--;
	flow->bytes -= slot->len;
	flow->head = slot->next;
	slot->packet = NULL;
	slot->next = c->free;
	c->free = index;
	if (flow->head == FL_NIL && !--class->waiting)
		c->backlogged &= ~(1 << number);
	if (unlikely(flow->migrant))
		cf_migrant_popped(c, popped->flow);
}

/* Puts a flow with all its packets into class @to. */
static void cf_move(struct confucius *c, u32 at, u32 to)
{
	struct cf_flow *flow = &c->flows[at];
	struct cf_class *from = &c->classes[flow->class];

	if (flow->class == to)
		return;
	if (flow->migrant)
		cf_migrant_remove(c, at);
	if (flow->packets) {
		from->packets -= flow->packets;
		from->bytes -= flow->bytes;
		if (!--from->waiting)
			c->backlogged &= ~(1 << flow->class);
		c->classes[to].packets += flow->packets;
		c->classes[to].bytes += flow->bytes;
		c->classes[to].waiting++;
		c->backlogged |= 1 << to;
	}
	flow->class = to;
	flow->native_from = c->arrivals;
	if (flow->packets)
		cf_migrant_add(c, at);
}

#endif
