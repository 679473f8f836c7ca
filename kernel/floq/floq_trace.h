/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: verdicts on flows, drops, and the wait of a packet. Type 0 is
 * responsive, 1 unresponsive; a flow that begins comes from type -1.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM floq

#if !defined(__FLOQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define __FLOQ_TRACE_H

#include "../common/flow_trace.h"

FLOW_TRACE_MOVE(floq_move);

FLOW_TRACE_DROP(floq_drop, "type",
		{ 0, "tail" }, { 1, "congestion" }, { 2, "change" });

FLOW_TRACE_DEQUEUE(floq_dequeue, "type");

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE floq_trace
#include <trace/define_trace.h>
