/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spans of time, and lists through the elements of an array.
 */
#ifndef __FLOW_LIST_H
#define __FLOW_LIST_H

#include "flow_words.h"

#define FL_NIL		0xffffffffU		/* no slot, no flow */

/* Time from @then to @now. */
static __always_inline u64 fl_since(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

/* A doubly linked list through an array, and its ends. */
struct fl_links {
	u32	prev;
	u32	next;
};

struct fl_list {
	u32	head;
	u32	tail;
};

/*
 * The links of the elements of an array: those of number 0, and how far it is
 * to the next.
 */
struct fl_nodes {
	struct fl_links	*first;
	u32		size;
};

static __always_inline struct fl_links *fl_links_at(struct fl_nodes nodes,
						    u32 at)
{
	return (struct fl_links *)((char *)nodes.first +
				   (size_t)nodes.size * at);
}

/* Appends number @at, which is in no list. */
static __always_inline void fl_append(struct fl_list *list,
				      struct fl_nodes nodes, u32 at)
{
	struct fl_links *links = fl_links_at(nodes, at);

	links->prev = list->tail;
	links->next = FL_NIL;
	if (list->tail == FL_NIL)
		list->head = at;
	else
		fl_links_at(nodes, list->tail)->next = at;
	list->tail = at;
}

/* Takes number @at out of @list, in which it is. */
static __always_inline void fl_unlink(struct fl_list *list,
				      struct fl_nodes nodes, u32 at)
{
	struct fl_links *links = fl_links_at(nodes, at);

	if (links->prev == FL_NIL)
		list->head = links->next;
	else
		fl_links_at(nodes, links->prev)->next = links->next;
	if (links->next == FL_NIL)
		list->tail = links->prev;
	else
		fl_links_at(nodes, links->next)->prev = links->prev;
}

/* Moves number @at, which is in @list and not its last, to its end. */
static __always_inline void fl_to_end(struct fl_list *list,
				      struct fl_nodes nodes, u32 at)
{
	struct fl_links *links = fl_links_at(nodes, at);
	u32 prev = links->prev, next = links->next, tail = list->tail;

	if (prev == FL_NIL)
		list->head = next;
	else
		fl_links_at(nodes, prev)->next = next;
	fl_links_at(nodes, next)->prev = prev;
	links->prev = tail;
	links->next = FL_NIL;
	fl_links_at(nodes, tail)->next = at;
	list->tail = at;
}

static inline void fl_list_init(struct fl_list *list)
{
	list->head = FL_NIL;
	list->tail = FL_NIL;
}

#endif
