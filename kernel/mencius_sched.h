/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The qdisc of Mencius: the discipline, and what the kernel needs beside it.
 */
#ifndef __MENCIUS_SCHED_H
#define __MENCIUS_SCHED_H

#include <net/sch_generic.h>

/**
 * struct mencius_sched - the qdisc
 * @core:	the discipline
 * @sch:	the qdisc that this is in
 * @table:	the core's block of flows; NULL until there is all that it needs
 * @filter_list: of @block
 * @block:	filters that say which flow a packet is of
 * @to_free:	where the core's drops go; NULL outside of enqueue
 * @gone_packets: packets dropped that parents have counted, not told them yet
 * @gone_bytes:	their length
 * @memory_peak: most bytes of memory that packets have taken
 * @salt:	of the hashes of addresses
 * @nat:	whether flows and hosts are told apart by their addresses before
 *		NAT
 * @split_gso:	whether super-packets are split
 * @delay:	ns: what packets waited, moving average
 * @gso_split:	how many were
 * @marks:	packets that CoDel has marked
 * @drop_split:	super-packets that could not be split, and were dropped
 * @drop_filter: packets that a filter had dropped
 * @drops:	by enum mencius_reason
 */
struct mencius_sched {
	struct mencius		core;
	struct Qdisc		*sch;
	void			*table;
	struct tcf_proto __rcu	*filter_list;
	struct tcf_block	*block;
	struct sk_buff		**to_free;
	u32			gone_packets;
	u32			gone_bytes;
	u32			memory_peak;
	u32			salt;
	bool			nat;
	bool			split_gso;
	u64			delay;
	u64			gso_split;
	u64			marks;
	u64			drop_split;
	u64			drop_filter;
	u64			drops[MENCIUS_CHANGE + 1];
};

#endif
