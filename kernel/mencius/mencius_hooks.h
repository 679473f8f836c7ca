/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the discipline asks of the qdisc around it, which also allocates, and
 * calls one function of the discipline at a time.
 */
#ifndef __MENCIUS_HOOKS_H
#define __MENCIUS_HOOKS_H

#include "mencius_types.h"

/* A packet of @flow is dropped, and from now on the hook's. */
static void mencius_dropped(struct mencius *m, void *packet, u32 len, u32 flow,
			    enum mencius_reason reason);

/*
 * Marks a packet as having met congestion; false if its sender would not
 * understand.
 */
static bool mencius_mark(struct mencius *m, void *packet);

/*
 * Whether the sender of a packet expects marks as those of L4S: its ECN field
 * is ECT(1).
 */
static bool mencius_is_l4s(const void *packet);

/*
 * A hash of the address of a packet's sender if @source, else of its receiver,
 * its high bits as good as its low ones. Clears @final if it may become another
 * one; then it is asked again at later packets of the flow.
 */
static u32 mencius_host(struct mencius *m, void *packet, bool source,
			bool *final);

/*
 * The host in the place @host begins. It is the one that was asked for last, if
 * hosts are told apart.
 */
static void mencius_host_begun(struct mencius *m, u32 host);

#ifndef MENCIUS_RFC
/* @flow, whose host is known, begins with @packet. */
static void mencius_begun(struct mencius *m, void *packet, u32 flow);

#endif
/*
 * Bytes that a packet of @len takes on the link behind, which is mn_framed() of
 * each packet that it is there. Called only if there is a bandwidth.
 */
static u32 mencius_wire(const struct mencius *m, const void *packet, u32 len);

/* A packet is sent or dropped that counts. Returns its bytes on the link. */
static noinline u32 mn_charge_link(struct mencius *m, const void *packet,
				   u32 len, bool dropped)
{
	u32 wire = mencius_wire(m, packet, len);

	mn_shaper_charge(&m->shaper, wire, dropped);
	return wire;
}

#endif
