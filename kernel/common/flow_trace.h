/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of disciplines whose flows are of classes: moves of flows, drops,
 * and the wait of a packet. Expanded again whenever the header that uses them
 * is read again, as those of tracepoints are.
 */
#ifndef __FLOW_TRACE_H
#define __FLOW_TRACE_H

#include <linux/tracepoint.h>
#include <net/sch_generic.h>

/* A flow that begins comes from class -1. */
#define FLOW_TRACE_MOVE(name)						\
TRACE_EVENT(name,							\
									\
	TP_PROTO(const struct Qdisc *sch, u32 flow, int from, int to),	\
									\
	TP_ARGS(sch, flow, from, to),					\
									\
	TP_STRUCT__entry(						\
		__field(int,	ifindex)				\
		__field(u32,	handle)					\
		__field(u32,	flow)					\
		__field(int,	from)					\
		__field(int,	to)					\
	),								\
									\
	TP_fast_assign(							\
		__entry->ifindex = qdisc_dev(sch)->ifindex;		\
		__entry->handle = sch->handle;				\
		__entry->flow = flow;					\
		__entry->from = from;					\
		__entry->to = to;					\
	),								\
									\
	TP_printk("ifindex=%d handle=0x%x flow=%u from=%d to=%d",	\
		  __entry->ifindex, __entry->handle, __entry->flow,	\
		  __entry->from, __entry->to)				\
)

/* @label is the name of a class; it is followed by reasons and their names. */
#define FLOW_TRACE_DROP(name, label, ...)				\
TRACE_EVENT(name,							\
									\
	TP_PROTO(const struct Qdisc *sch, const void *skbaddr,		\
		 u32 class, u32 len, int reason),			\
									\
	TP_ARGS(sch, skbaddr, class, len, reason),			\
									\
	TP_STRUCT__entry(						\
		__field(int,		ifindex)			\
		__field(u32,		handle)				\
		__field(const void *,	skbaddr)			\
		__field(u32,		class)				\
		__field(u32,		len)				\
		__field(int,		reason)				\
	),								\
									\
	TP_fast_assign(							\
		__entry->ifindex = qdisc_dev(sch)->ifindex;		\
		__entry->handle = sch->handle;				\
		__entry->skbaddr = skbaddr;				\
		__entry->class = class;					\
		__entry->len = len;					\
		__entry->reason = reason;				\
	),								\
									\
	TP_printk("ifindex=%d handle=0x%x skbaddr=%p " label		\
		  "=%u len=%u reason=%s",				\
		  __entry->ifindex, __entry->handle, __entry->skbaddr,	\
		  __entry->class, __entry->len,				\
		  __print_symbolic(__entry->reason, __VA_ARGS__))	\
)

#define FLOW_TRACE_DEQUEUE(name, label)					\
TRACE_EVENT(name,							\
									\
	TP_PROTO(const struct Qdisc *sch, const void *skbaddr,		\
		 u32 class, u32 len, u64 sojourn),			\
									\
	TP_ARGS(sch, skbaddr, class, len, sojourn),			\
									\
	TP_STRUCT__entry(						\
		__field(int,		ifindex)			\
		__field(u32,		handle)				\
		__field(const void *,	skbaddr)			\
		__field(u32,		class)				\
		__field(u32,		len)				\
		__field(u64,		sojourn)			\
	),								\
									\
	TP_fast_assign(							\
		__entry->ifindex = qdisc_dev(sch)->ifindex;		\
		__entry->handle = sch->handle;				\
		__entry->skbaddr = skbaddr;				\
		__entry->class = class;					\
		__entry->len = len;					\
		__entry->sojourn = sojourn;				\
	),								\
									\
	TP_printk("ifindex=%d handle=0x%x skbaddr=%p " label		\
		  "=%u len=%u sojourn=%llu",				\
		  __entry->ifindex, __entry->handle, __entry->skbaddr,	\
		  __entry->class, __entry->len,				\
		  (unsigned long long)__entry->sojourn)			\
)

#endif
