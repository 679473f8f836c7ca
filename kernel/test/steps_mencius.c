// SPDX-License-Identifier: GPL-2.0
/*
 * How much the core of Mencius does in one call: see count.h.
 */
#include "user.h"
#include "count.h"
#include "../mencius/mencius.h"

#define MS	1000000ULL
#define FLOWS	MN_MAX_FLOWS
#define LIMIT	1000000
/* A host for each place in its table. */
#define HOSTS	(FLOWS / MN_FLOWS_OF_HOST)

static struct mencius core;
static u64 now;
static u32 from, to;

static void mencius_dropped(struct mencius *m, void *packet, u32 len, u32 flow,
			    enum mencius_reason reason)
{
	(void)m, (void)packet, (void)len, (void)flow, (void)reason;
}

static bool mencius_mark(struct mencius *m, void *packet)
{
	(void)m, (void)packet;
	return false;
}

static bool mencius_is_l4s(const void *packet)
{
	(void)packet;
	return true;
}

static void mencius_host_begun(struct mencius *m, u32 host)
{
	(void)m, (void)host;
}

static void mencius_begun(struct mencius *m, void *packet, u32 flow)
{
	(void)m, (void)packet, (void)flow;
}

static u32 mencius_host(struct mencius *m, void *packet, bool source,
			bool *final)
{
	(void)m, (void)packet, (void)final;
	return source ? from : to;
}

static u32 mencius_wire(const struct mencius *m, const void *packet, u32 len)
{
	(void)packet;
	return mn_framed(&m->params.framing, len);
}

static noinline bool enqueue(u32 hash, u32 len, u32 mem)
{
	return mencius_enqueue(&core, now, hash, &core, len, mem);
}

static noinline bool dequeue(struct mencius_sent *sent)
{
	return mencius_dequeue(&core, now, sent);
}

/* Hashes for each place of a table: eight in each set. */
static u32 spread(u32 at, u32 entries)
{
	return (u32)(((u64)(at / FT_WAYS) << 32) / (entries / FT_WAYS)) + at % FT_WAYS + 1;
}

/* A packet of @flow of @host. */
static bool in(u32 flow, u32 host, u32 len, u32 mem)
{
	u32 hash = spread(flow, FLOWS);
	bool room;

	from = flow;
	to = spread(host, HOSTS);
	COUNTED(room, enqueue(hash, len, mem));
	return room;
}

static bool out(void)
{
	struct mencius_sent sent;
	bool found;

	COUNTED(found, dequeue(&sent));
	return found;
}

static void begin_with(u32 quantum)
{
	struct mencius_params params = {
		.limit = LIMIT, .memory_limit = 1 << 30, .flows = FLOWS, .quantum = quantum,
		.target = 5 * MS, .interval = 100 * MS, .min_wait = 20 * MS, .max_wait = 100 * MS,
		.rise = 400 * MS, .doubling = 3000 * MS, .settled_share = 128, .ecn = true,
		.hosts = MENCIUS_DESTINATION,
	};
	void *table = malloc(mencius_table_size(FLOWS));
	void *slots = malloc(mencius_slots_size(LIMIT));

	if (!table || !slots)
		exit(1);
	mencius_init(&core, &params, table, slots, LIMIT);
	now = 1;
}

static void begin(void)
{
	begin_with(1514);
}

/* All flows send so many packets; flows of @hosts. */
static void fill(u32 flows, u32 hosts, u32 packets, u32 len)
{
	u32 flow, at;

	for (at = 0; at < packets; at++)
		for (flow = 0; flow < flows; flow++) {
			in(flow, flow % hosts, len, len);
			now++;
		}
}

/* A link that is busy for so long, while a flow goes on. */
static void serve(u32 packets, u64 pause)
{
	while (packets--) {
		out();
		now += pause;
		in(0, 0, 100, 1000);
	}
}

/* All owe more than 64 rounds pay, and go on. */
static void overdrawn(u32 hosts)
{
	u32 at;

	begin_with(256);
	fill(1000, hosts, 16, 64000);
	for (at = 0; at < 100000; at++) {
		out();
		now += 1000;
		in(at % 1000, at % 1000 % hosts, 64000, 64000);
	}
}

static void overdrawn_within(void)
{
	overdrawn(1);
}

static void overdrawn_between(void)
{
	overdrawn(50);
}

/* All have sent, and are silent: flows first, and then hosts too. */
static void all_idle(void)
{
	begin();
	fill(FLOWS, HOSTS, 1, 100);
	while (out())
		;
	now += 6000 * MS;
	serve(20000, 1000);
	now += 21000 * MS;
	fill(FLOWS, HOSTS, 1, 100);
	serve(20000, 1000);
}

/* So many flows, each sending now and then, so that they are settled. */
static void settle(u32 flows, u32 hosts)
{
	u32 at, flow;

	for (at = 0; at < 12; at++) {
		for (flow = 0; flow < flows; flow++) {
			in(flow, flow % hosts, 100, 1000);
			out();
		}
		now += 100 * MS;
	}
}

/*
 * Settled flows get far too much at once, and are so no longer: their
 * packets stand before those of flows that are. Then all of them are there.
 */
static void stale(u32 hosts)
{
	u32 at;

	begin();
	settle(FLOWS, hosts);
	for (at = 0; at < 3000; at++)
		in(8 * (at % 100), at % 100 % hosts, 1000, 1000);
	for (at = 0; at < 300000; at++)
		in(8 * (at % 100), at % 100 % hosts, 1000, 1000);
	fill(FLOWS, hosts, 2, 1000);
	now += 2000 * MS;
	serve(100000, 10000);
}

static void stale_within(void)
{
	stale(1);
}

static void stale_between(void)
{
	stale(HOSTS);
}

/* Late for long, and then pauses after which all is due. */
static void late(void)
{
	u32 at;

	begin();
	settle(100, 10);
	for (at = 0; at < LIMIT - 10; at++)
		in(at % 100, at % 10, 1000, 1000);
	for (at = 0; at < 20; at++) {
		serve(2000, 100000);
		now += 100000 * MS;
	}
}

/* A packet for which many would have to go, and flows that leave with it. */
static void large(void)
{
	u32 at;

	begin();
	settle(FLOWS, HOSTS);
	fill(FLOWS, HOSTS, 8, 2000);
	fill(FLOWS, HOSTS, 4, 1);
	for (at = 0; at < 3000; at++) {
		in(at, at % HOSTS, 65000, 60000000);
		now += MS;
		if (at % 5 == 0)
			out();
	}
}

/* New flows and hosts all the time, in sets that are full. */
static void others(void)
{
	u32 at;

	begin();
	for (at = 0; at < 400000; at++) {
		in(at * 7919 % (4 * FLOWS), at * 7907 % (4 * HOSTS), 60, 500);
		now += at % 1000 ? 20000 : 30 * MS;
		if (at % 3 == 0)
			out();
	}
}

/* Any calls, with pauses. */
static void anything(void)
{
	u32 at, pause;

	begin();
	settle(2000, 40);
	for (at = 0; at < 1000000; at++) {
		u32 flow = below(8) ? below(40) : below(FLOWS);

		if (below(16) < 9)
			in(flow, below(64) ? flow % 40 : below(HOSTS),
			   below(100) ? 60 + below(1450) : 64000, 1000 + below(3000));
		else
			out();
		now += below(40000);
		pause = below(20000);
		if (pause < 2)
			now += (pause ? 250 : 6000) * MS;
	}
}

static const struct scenario scenarios[] = {
	{ "overdrawn-within", overdrawn_within },
	{ "overdrawn-between", overdrawn_between },
	{ "all-idle", all_idle },
	{ "stale-within", stale_within },
	{ "stale-between", stale_between },
	{ "late", late },
	{ "large", large },
	{ "others", others },
	{ "anything", anything },
	{},
};

int main(int argc, char **argv)
{
	/* Of no use here. */
	(void)mencius_change;
	(void)mencius_shrink;
	(void)mencius_grow;
	return count(argc, argv, scenarios);
}
