/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: why a packet waited, and where its flow was meanwhile. Class 0
 * is that of the new flows; a flow that begins comes from class -1.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM confucius

#if !defined(__CONFUCIUS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define __CONFUCIUS_TRACE_H

#include <linux/tracepoint.h>
#include <net/sch_generic.h>

TRACE_EVENT(confucius_move,

	TP_PROTO(const struct Qdisc *sch, u32 flow, u32 from, u32 to),

	TP_ARGS(sch, flow, from, to),

	TP_STRUCT__entry(
		__field(int,	ifindex)
		__field(u32,	handle)
		__field(u32,	flow)
		__field(int,	from)
		__field(int,	to)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->flow = flow;
		__entry->from = from;
		__entry->to = to;
	),

	TP_printk("ifindex=%d handle=0x%x flow=%u from=%d to=%d",
		  __entry->ifindex, __entry->handle, __entry->flow,
		  __entry->from, __entry->to)
);

TRACE_EVENT(confucius_drop,

	TP_PROTO(const struct Qdisc *sch, const void *skbaddr, u32 class,
		 u32 len, int reason),

	TP_ARGS(sch, skbaddr, class, len, reason),

	TP_STRUCT__entry(
		__field(int,		ifindex)
		__field(u32,		handle)
		__field(const void *,	skbaddr)
		__field(u32,		class)
		__field(u32,		len)
		__field(int,		reason)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->skbaddr = skbaddr;
		__entry->class = class;
		__entry->len = len;
		__entry->reason = reason;
	),

	TP_printk("ifindex=%d handle=0x%x skbaddr=%p class=%u len=%u reason=%s",
		  __entry->ifindex, __entry->handle, __entry->skbaddr,
		  __entry->class, __entry->len,
		  __print_symbolic(__entry->reason,
				   { 0, "tail" },
				   { 1, "overlimit" },
				   { 2, "change" }))
);

TRACE_EVENT(confucius_dequeue,

	TP_PROTO(const struct Qdisc *sch, const void *skbaddr, u32 class,
		 u32 len, u64 sojourn),

	TP_ARGS(sch, skbaddr, class, len, sojourn),

	TP_STRUCT__entry(
		__field(int,		ifindex)
		__field(u32,		handle)
		__field(const void *,	skbaddr)
		__field(u32,		class)
		__field(u32,		len)
		__field(u64,		sojourn)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->skbaddr = skbaddr;
		__entry->class = class;
		__entry->len = len;
		__entry->sojourn = sojourn;
	),

	TP_printk("ifindex=%d handle=0x%x skbaddr=%p class=%u len=%u sojourn=%llu",
		  __entry->ifindex, __entry->handle, __entry->skbaddr,
		  __entry->class, __entry->len,
		  (unsigned long long)__entry->sojourn)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE confucius_trace
#include <trace/define_trace.h>
