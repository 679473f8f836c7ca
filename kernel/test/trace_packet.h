/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet of a trace is its number and ECN field, and never NULL.
 */
#ifndef __CONFUCIUS_TRACE_PACKET_H
#define __CONFUCIUS_TRACE_PACKET_H

/* Numbers are below this. */
#define TRACE_PACKETS	(1U << 29)

static void *trace_packet(u32 number, u32 ecn)
{
	return (void *)(uintptr_t)((number + 1) << 2 | ecn);
}

static u32 trace_number(void *packet)
{
	return ((u32)(uintptr_t)packet >> 2) - 1;
}

/* Whether its sender understands marks. */
static bool trace_capable(void *packet)
{
	return (uintptr_t)packet & 3;
}

#endif
