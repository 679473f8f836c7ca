/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: the flow of a packet, drops, how long a packet waited and why it
 * was sent.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mencius

#if !defined(__MENCIUS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define __MENCIUS_TRACE_H

#include <linux/in6.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/types.h>
#include <net/sch_generic.h>

#define MENCIUS_ADDRESS	sizeof(struct sockaddr_in6)

/* A flow begins; addresses and ports are struct sockaddr_in or sockaddr_in6. */
TRACE_EVENT(mencius_flow,

	TP_PROTO(const struct Qdisc *sch, u32 flow, u8 protocol,
		 const void *from, const void *to),

	TP_ARGS(sch, flow, protocol, from, to),

	TP_STRUCT__entry(
		__field(int,	ifindex)
		__field(u32,	handle)
		__field(u32,	flow)
		__field(u8,	protocol)
		__array(__u8,	from, MENCIUS_ADDRESS)
		__array(__u8,	to, MENCIUS_ADDRESS)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->flow = flow;
		__entry->protocol = protocol;
		memcpy(__entry->from, from, MENCIUS_ADDRESS);
		memcpy(__entry->to, to, MENCIUS_ADDRESS);
	),

	TP_printk("ifindex=%d handle=0x%x flow=%u protocol=%u from=%pISpc to=%pISpc",
		  __entry->ifindex, __entry->handle, __entry->flow,
		  __entry->protocol, __entry->from, __entry->to)
);

TRACE_EVENT(mencius_drop,

	TP_PROTO(const struct Qdisc *sch, const void *skbaddr, u32 flow,
		 u32 host, u32 len, int reason),

	TP_ARGS(sch, skbaddr, flow, host, len, reason),

	TP_STRUCT__entry(
		__field(int,		ifindex)
		__field(u32,		handle)
		__field(const void *,	skbaddr)
		__field(u32,		flow)
		__field(u32,		host)
		__field(u32,		len)
		__field(int,		reason)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->skbaddr = skbaddr;
		__entry->flow = flow;
		__entry->host = host;
		__entry->len = len;
		__entry->reason = reason;
	),

	TP_printk("ifindex=%d handle=0x%x skbaddr=%p flow=%u host=%u len=%u reason=%s",
		  __entry->ifindex, __entry->handle, __entry->skbaddr,
		  __entry->flow, __entry->host, __entry->len,
		  __print_symbolic(__entry->reason,
				   { 0, "tail" },
				   { 1, "overlimit" },
				   { 2, "congestion" },
				   { 3, "change" }))
);

TRACE_EVENT(mencius_dequeue,

	TP_PROTO(const struct Qdisc *sch, const void *skbaddr, u32 flow,
		 u32 host, u32 len, u64 sojourn, int why),

	TP_ARGS(sch, skbaddr, flow, host, len, sojourn, why),

	TP_STRUCT__entry(
		__field(int,		ifindex)
		__field(u32,		handle)
		__field(const void *,	skbaddr)
		__field(u32,		flow)
		__field(u32,		host)
		__field(u32,		len)
		__field(u64,		sojourn)
		__field(int,		why)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->skbaddr = skbaddr;
		__entry->flow = flow;
		__entry->host = host;
		__entry->len = len;
		__entry->sojourn = sojourn;
		__entry->why = why;
	),

	TP_printk("ifindex=%d handle=0x%x skbaddr=%p flow=%u host=%u len=%u sojourn=%llu why=%s",
		  __entry->ifindex, __entry->handle, __entry->skbaddr,
		  __entry->flow, __entry->host, __entry->len,
		  (unsigned long long)__entry->sojourn,
		  __print_symbolic(__entry->why,
				   { 0, "turn" },
				   { 1, "sparse" },
				   { 2, "ahead-flows" },
				   { 3, "ahead-hosts" }))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE mencius_trace
#include <trace/define_trace.h>
