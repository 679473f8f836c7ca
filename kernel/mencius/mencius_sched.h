/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The qdisc of Mencius: the discipline, and what the kernel needs beside it.
 */
#ifndef __MENCIUS_SCHED_H
#define __MENCIUS_SCHED_H

#include "../common/flow_sched.h"
#include "mencius.h"
#include "mencius_share.h"

/**
 * struct mencius_sched - the qdisc
 * @fs:		what it has in common with others
 * @core:	the discipline
 * @salt:	of the hashes of addresses
 * @nat:	whether hosts are told apart by addresses before NAT; flows need
 *		not be, since their ports differ after it too
 * @raw:	whether packets are as long on the link behind as the device
 *		has them
 * @share:	it among the queues with which it shares its bandwidth, if any
 * @watchdog:	for when the bandwidth allows the next packet
 * @delay:	ns: what packets waited, moving average
 * @marks:	packets that the AQM has marked
 * @drops:	by enum mencius_reason
 */
struct mencius_sched {
	struct flow_sched	fs;
	struct mencius		core;
	u32			salt;
	bool			nat;
	bool			raw;
	struct mencius_share	*share;
	struct qdisc_watchdog	watchdog;
	u64			delay;
	u64			marks;
	u64			drops[MENCIUS_CHANGE + 1];
};

#endif
