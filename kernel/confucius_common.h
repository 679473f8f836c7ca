/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Confucius and Mencius have in common: spans of time, and lists through
 * the elements of an array.
 */
#ifndef __CONFUCIUS_COMMON_H
#define __CONFUCIUS_COMMON_H

#define CF_NIL		0xffffffffU		/* no slot, no flow */

/* Time from @then to @now. */
static __always_inline u64 cf_since(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

/* A doubly linked list through an array, and its ends. */
struct cf_links {
	u32	prev;
	u32	next;
};

struct cf_list {
	u32	head;
	u32	tail;
};

/*
 * The links of the elements of an array: those of number 0, and how far it is
 * to the next.
 */
struct cf_nodes {
	struct cf_links	*first;
	u32		size;
};

static __always_inline struct cf_links *cf_links_at(struct cf_nodes nodes,
						    u32 at)
{
	return (struct cf_links *)((char *)nodes.first +
				   (size_t)nodes.size * at);
}

/* Appends number @at, which is in no list. */
static __always_inline void cf_append(struct cf_list *list,
				      struct cf_nodes nodes, u32 at)
{
	struct cf_links *links = cf_links_at(nodes, at);

	links->prev = list->tail;
	links->next = CF_NIL;
	if (list->tail == CF_NIL)
		list->head = at;
	else
		cf_links_at(nodes, list->tail)->next = at;
	list->tail = at;
}

/* Takes number @at out of @list, in which it is. */
static __always_inline void cf_unlink(struct cf_list *list,
				      struct cf_nodes nodes, u32 at)
{
	struct cf_links *links = cf_links_at(nodes, at);

	if (links->prev == CF_NIL)
		list->head = links->next;
	else
		cf_links_at(nodes, links->prev)->next = links->next;
	if (links->next == CF_NIL)
		list->tail = links->prev;
	else
		cf_links_at(nodes, links->next)->prev = links->prev;
}

static inline void cf_list_init(struct cf_list *list)
{
	list->head = CF_NIL;
	list->tail = CF_NIL;
}

#endif
