/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several transmit queues with one rate: those of a device with this setting,
 * under mq for instance.
 *
 * Each has its own shaper. Now and then it looks at what the others do: those
 * with packets waiting, now or a moment ago, get equal shares of the rate that
 * the rest leave, and the rest count with their recent usage. So a queue that
 * hardly sends does not keep its share from the others, and has all of it as
 * soon as it needs it. No queue waits for another: the sum is above the rate
 * for no longer than it takes all to look. Where 64 bits are read in two pieces
 * a queue may be wrong until it looks again, but not below its fair share, nor
 * above the rate.
 */
#ifndef __MENCIUS_SHARE_H
#define __MENCIUS_SHARE_H

#include <linux/list.h>
#include <linux/math64.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

/* A queue looks so often, */
#define MENCIUS_LOOK	(200 * NSEC_PER_USEC)
/* and less often with many others: so much for each. */
#define MENCIUS_LOOK_EACH NSEC_PER_USEC
/* For so long after packets waited a queue counts as one that needs more: one
 * that is fed as fast as it sends is empty now and then.
 */
#define MENCIUS_WANTS	NSEC_PER_MSEC
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
 * @rcu:	for freeing it
 */
struct mencius_group {
	struct list_head	list;
	struct list_head	members;
	const struct net_device	*device;
	u32			count;
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

/* The part of @total bytes per second that @share may send. */
static u64 mencius_share_of(const struct mencius_share *share, u64 now,
			    u64 total)
{
	u32 count = max_t(u32, READ_ONCE(share->group->count), 1);
	u64 most = div_u64(total, count), light = 0;
	const struct mencius_share *other;
	u32 want = 1;

	rcu_read_lock();
	list_for_each_entry_rcu(other, &share->group->members, list) {
		if (other == share)
			continue;
		if (mencius_share_wants(other, now))
			want++;
		else
			light += min(mencius_share_used(other, now), most);
	}
	rcu_read_unlock();
	/* Queues may have been added since they were counted. */
	return max(div_u64(total - min(light, total), want), most);
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

	if (fl_since(now, share->looked) >= often) {
		share->looked = now;
		share->rate = mencius_share_of(share, now, total);
	}
	return share->rate;
}

#endif
