/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: why a packet waited, and the class of its flow meanwhile. Class
 * 0 is that of the new flows; a flow that begins comes from class -1.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM confucius

#if !defined(__CONFUCIUS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define __CONFUCIUS_TRACE_H

#include "../common/flow_trace.h"

FLOW_TRACE_MOVE(confucius_move);

FLOW_TRACE_DROP(confucius_drop, "class",
		{ 0, "tail" }, { 1, "overlimit" }, { 2, "change" });

FLOW_TRACE_DEQUEUE(confucius_dequeue, "class");

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE confucius_trace
#include <trace/define_trace.h>
