/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several transmit queues with one rate: those of a device with this setting,
 * under mq for instance.
 *
 * Each has its own shaper. Now and then it looks at what the others do: those
 * with packets waiting, now or a moment ago, share the rate that the rest
 * leave, and the rest count with their recent usage. So a queue that hardly
 * sends does not keep its share from the others, and has all of it as soon as
 * it needs it.
 *
 * Hosts get equal parts of the rate, in however many queues they wait: one that
 * waits in three has a third of a host's turns in each, and a queue has as much
 * of the rate as the parts of its hosts add up to.
 *
 * No queue waits for another: the sum is above the rate for no longer than it
 * takes all to look. Where 64 bits are read in two pieces a queue may be wrong
 * until it looks again, but not above the rate.
 */
#ifndef __MENCIUS_SHARE_H
#define __MENCIUS_SHARE_H

#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "../common/compat.h"
#include "../common/flow_list.h"

/* A queue looks so often, */
#define MENCIUS_LOOK	(200 * NSEC_PER_USEC)
/* and less often with many others: so much for each. */
#define MENCIUS_LOOK_EACH NSEC_PER_USEC
/* For so long after packets waited a queue counts as one that needs more: one
 * that is fed as fast as it sends is empty now and then.
 */
#define MENCIUS_WANTS	NSEC_PER_MSEC
/* So often it finds the parts of its hosts. */
#define MENCIUS_WEIGH	(2 * NSEC_PER_MSEC)
/* Hosts are told apart by so many values of their hash. Those with the same one
 * count as one.
 */
#define MENCIUS_HOSTS	512
/* A host waits in a queue for so many units of 2^20 ns after a packet of it
 * left another behind.
 */
#define MENCIUS_WAITED	240
/* The part of a host that waits in this queue and no other. */
#define MENCIUS_WHOLE	256
/* No host has less than one in so many of its turns in a queue. */
#define MENCIUS_QUEUES	16
/* The usage of a queue is measured for so long, */
#define MENCIUS_SPAN	(10 * NSEC_PER_MSEC)
/* and fades in this time. */
#define MENCIUS_FADES	(100 * NSEC_PER_MSEC)

/**
 * struct mencius_group - the queues of a device that share a rate
 * @list:	neighbours among all groups; under RTNL
 * @members:	struct mencius_share of each queue; RCU
 * @device:	whose they are
 * @count:	how many
 * @key:	of the hashes of addresses
 * @rcu:	for freeing it
 */
struct mencius_group {
	struct list_head	list;
	struct list_head	members;
	const struct net_device	*device;
	u32			count;
	hsiphash_key_t		key;
	struct rcu_head		rcu;
};

/**
 * struct mencius_share - a queue among those that share a rate
 * @list:	neighbours among the queues of the device
 * @group:	all of them
 * @rcu:	for freeing it
 * @waits:	packets wait, for its turn on a slow link too; others read it
 * @wanted:	ns: when packets waited; others read it
 * @used:	bytes per second that were sent lately; others read it
 * @found:	ns: when @used was; others read it
 * @looked:	ns: when it last looked at the others
 * @bytes:	that were sent since @found
 * @rate:	bytes per second that it may send
 * @weighed:	ns: when it found the parts of its hosts
 * @weight:	the parts of its hosts that wait; others read it
 * @waited:	2^20 ns: when each host waited; others read it
 * @queues:	in which each of them waits
 */
struct mencius_share {
	struct list_head	list;
	struct mencius_group	*group;
	struct rcu_head		rcu;
	bool			waits;
	u64			wanted;
	u64			used;
	u64			found;
	u64			looked;
	u64			bytes;
	u64			rate;
	u64			weighed;
	u32			weight;
	u32			waited[MENCIUS_HOSTS];
	u8			queues[MENCIUS_HOSTS];
};

static LIST_HEAD(mencius_groups);

static struct mencius_group *mencius_group_of(const struct net_device *device)
{
	struct mencius_group *group;

	list_for_each_entry(group, &mencius_groups, list)
		if (group->device == device)
			return group;
	group = kzalloc_obj(*group, GFP_KERNEL_ACCOUNT);
	if (!group)
		return NULL;
	group->device = device;
	get_random_bytes(&group->key, sizeof(group->key));
	INIT_LIST_HEAD(&group->members);
	list_add(&group->list, &mencius_groups);
	return group;
}

/* Adds another queue of the device; returns NULL if there is no memory. */
static struct mencius_share *mencius_share_join(const struct net_device *device)
{
	struct mencius_share *share;

	ASSERT_RTNL();
	share = kzalloc_obj(*share, GFP_KERNEL_ACCOUNT);
	if (!share)
		return NULL;
	share->group = mencius_group_of(device);
	if (!share->group) {
		kfree(share);
		return NULL;
	}
	share->weight = MENCIUS_WHOLE;
	memset(share->queues, 1, sizeof(share->queues));
	WRITE_ONCE(share->group->count, share->group->count + 1);
	list_add_tail_rcu(&share->list, &share->group->members);
	return share;
}

static void mencius_share_leave(struct mencius_share *share)
{
	struct mencius_group *group;

	if (!share)
		return;
	ASSERT_RTNL();
	group = share->group;
	list_del_rcu(&share->list);
	kfree_rcu(share, rcu);
	WRITE_ONCE(group->count, group->count - 1);
	if (group->count)
		return;
	list_del(&group->list);
	kfree_rcu(group, rcu);
}

/* The recent rate of @share in bytes per second, fading with time. */
static u64 mencius_share_used(const struct mencius_share *share, u64 now)
{
	u64 used = READ_ONCE(share->used);
	u64 since = fl_since(now, READ_ONCE(share->found));

	if (since >= MENCIUS_FADES)
		return 0;
	return div64_u64(used * ((MENCIUS_FADES - since) >> 10),
			 MENCIUS_FADES >> 10);
}

static bool mencius_share_wants(const struct mencius_share *share, u64 now)
{
	return READ_ONCE(share->waits) ||
	       fl_since(now, READ_ONCE(share->wanted)) <= MENCIUS_WANTS;
}

static bool mencius_share_has(const struct mencius_share *share, u32 now,
			      u32 host)
{
	return now - READ_ONCE(share->waited[host]) < MENCIUS_WAITED;
}

/* The queues in which @host waits, which does so in @share. */
static u32 mencius_share_queues(const struct mencius_share *share, u32 now,
				u32 host)
{
	const struct mencius_share *other;
	u32 queues = 0;

	list_for_each_entry_rcu(other, &share->group->members, list)
		queues += mencius_share_has(other, now, host);
	return clamp_t(u32, queues, 1, MENCIUS_QUEUES);
}

/* Finds the parts of its hosts. One waits at least, or nobody would ask. */
static void mencius_share_weigh(struct mencius_share *share, u64 now)
{
	u32 host, weight = 0, unit = now >> 20;

	share->weighed = now;
	rcu_read_lock();
	for (host = 0; host < MENCIUS_HOSTS; host++) {
		share->queues[host] = 1;
		if (!mencius_share_has(share, unit, host))
			continue;
		share->queues[host] = mencius_share_queues(share, unit, host);
		weight += MENCIUS_WHOLE / share->queues[host];
	}
	rcu_read_unlock();
	WRITE_ONCE(share->weight, weight ?: MENCIUS_WHOLE);
}

/* The part of @total bytes per second that @share may send. */
static u64 mencius_share_of(const struct mencius_share *share, u64 now,
			    u64 total)
{
	u32 count = max_t(u32, READ_ONCE(share->group->count), 1);
	u64 most = div_u64(total, count), light = 0;
	const struct mencius_share *other;
	u64 want = share->weight;

	rcu_read_lock();
	list_for_each_entry_rcu(other, &share->group->members, list) {
		if (other == share)
			continue;
		if (mencius_share_wants(other, now))
			want += READ_ONCE(other->weight);
		else
			light += min(mencius_share_used(other, now), most);
	}
	rcu_read_unlock();
	/* No rate would be no limit. */
	return max(div64_u64((total - min(light, total)) * share->weight, want),
		   1ULL);
}

/*
 * A packet of the host with @hash was sent, and others of it wait or not.
 * Returns the queues in which it waits, at least 1.
 */
static u32 mencius_share_host(struct mencius_share *share, u64 now, u32 hash,
			      bool waits)
{
	u32 place = (u64)hash * MENCIUS_HOSTS >> 32;

	if (waits)
		WRITE_ONCE(share->waited[place], (u32)(now >> 20));
	return share->queues[place];
}

/* A packet of @bytes was sent, and packets wait or not. */
static void mencius_share_sent(struct mencius_share *share, u64 now, u32 bytes,
			       bool waits)
{
	u64 span = fl_since(now, share->found);

	if (share->waits != waits)
		WRITE_ONCE(share->waits, waits);
	if (waits)
		WRITE_ONCE(share->wanted, now);
	share->bytes += bytes;
	if (span < MENCIUS_SPAN)
		return;
	WRITE_ONCE(share->used,
		   div64_u64(share->bytes * NSEC_PER_SEC, span));
	WRITE_ONCE(share->found, now);
	share->bytes = 0;
}

/* No packets wait any more, and the rate is to be found again. */
static void mencius_share_reset(struct mencius_share *share)
{
	WRITE_ONCE(share->waits, false);
	share->rate = 0;
}

/* Its current part of @total, looking at the others if it is time. */
static u64 mencius_share_look(struct mencius_share *share, u64 now, u64 total)
{
	u64 often = MENCIUS_LOOK +
		    MENCIUS_LOOK_EACH * READ_ONCE(share->group->count);

	if (fl_since(now, share->weighed) >= MENCIUS_WEIGH)
		mencius_share_weigh(share, now);
	if (fl_since(now, share->looked) >= often) {
		share->looked = now;
		share->rate = mencius_share_of(share, now, total);
	}
	return share->rate;
}

#endif
