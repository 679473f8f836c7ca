/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The qdisc of Mencius: the discipline, and the data that the kernel needs in
 * addition.
 */
#ifndef __MENCIUS_SCHED_H
#define __MENCIUS_SCHED_H

#include <linux/in6.h>
#include <linux/siphash.h>
#include <linux/types.h>
#include <net/pkt_sched.h>

#include "../common/flow_sched.h"
#include "mencius.h"
#ifndef MENCIUS_RFC
#include "mencius_share.h"
#endif
#include "mencius_types.h"

/**
 * struct mencius_most - the host of which most went ahead of others
 * @address:	its address; all 0 if it has none
 * @ahead:	bytes that did while it was known
 */
struct mencius_most {
	struct in6_addr	address;
	u64		ahead;
};

/**
 * struct mencius_sched - the qdisc
 * @fs:		the common part
 * @core:	the discipline
 * @key:	of the hashes of addresses
 * @nat:	whether hosts are told apart by addresses before NAT; flows need
 *		not be, since their ports differ after it too
 * @memory_set:	whether memory_limit has been set
 * @raw:	whether packets are as long on the link behind as the device
 *		has them
 * @share:	its entry among the queues that share the bandwidth, if any
 * @watchdog:	for when the bandwidth allows the next packet
 * @addresses:	of hosts, by their places; IPv4's are mapped, none is all 0
 * @asked:	the address of the host that was asked for last
 * @most:	the host that had most of the privilege
 * @delay:	ns: sojourn time of packets, moving average
 * @marks:	packets that the AQM has marked
 * @drops:	by enum mencius_reason
 */
struct mencius_sched {
	struct flow_sched	fs;
	struct mencius		core;
	hsiphash_key_t		key;
	bool			nat;
	bool			memory_set;
	bool			raw;
#ifndef MENCIUS_RFC
	struct mencius_share	*share;
#endif
	struct qdisc_watchdog	watchdog;
	struct in6_addr		*addresses;
	struct in6_addr		asked;
	struct mencius_most	most;
	u64			delay;
	u64			marks;
	u64			drops[MENCIUS_CHANGE + 1];
};

#endif
