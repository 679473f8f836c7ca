// SPDX-License-Identifier: GPL-2.0
/*
 * How much the core of Confucius does in one call: see count.h.
 */
#include "user.h"
#include "count.h"
#include "../confucius/confucius.h"

#define MS	1000000ULL
#define FLOWS	CF_MAX_FLOWS
#define LIMIT	1000000

static struct confucius core;
static u64 now;
static void confucius_dropped(struct confucius *c, void *packet, u32 len, u32 class,
			      enum confucius_reason reason)
{
	(void)c, (void)packet, (void)len, (void)class, (void)reason;
}

static void confucius_moved(struct confucius *c, u32 flow, u32 from, u32 to)
{
	(void)c, (void)flow, (void)from, (void)to;
}

static noinline bool enqueue(u32 hash, u32 len, u32 mem)
{
	return confucius_enqueue(&core, now, hash, &core, len, mem);
}

static noinline bool dequeue(struct confucius_packet *packet)
{
	return !confucius_is_empty(&core) && confucius_dequeue(&core, now, packet);
}

static bool in(u32 hash, u32 len, u32 mem)
{
	bool room;

	COUNTED(room, enqueue(hash, len, mem));
	return room;
}

static bool out(void)
{
	struct confucius_packet packet;
	bool found;

	COUNTED(found, dequeue(&packet));
	return found;
}

/* A hash for each place of the table: eight in each set. */
static u32 spread(u32 flow)
{
	return flow / CF_WAYS << 19 | flow % CF_WAYS;
}

static void begin(void)
{
	struct confucius_params params = {
		.limit = LIMIT, .memory_limit = 1000000000, .flows = FLOWS, .quantum = 1514,
		.targets = { 10, 50, 90 }, .classes = 3, .scale = 100 * MS, .doubling = 250 * MS,
		.alpha = 10, .interval = 100 * MS, .idle = 1000 * MS,
	};
	void *table = malloc(confucius_table_size(FLOWS));
	void *slots = malloc(confucius_slots_size(LIMIT));

	if (!table || !slots)
		exit(1);
	confucius_init(&core, &params, table, slots, LIMIT);
	now = 1;
}

/* One flow that is old already, and keeps to itself. */
static void one_old(void)
{
	u32 at;

	for (at = 0; at < 20; at++) {
		in(spread(0), 100, 1000);
		out();
		now += 20 * MS;
	}
}

static void fill(u32 from, u32 packets)
{
	u32 flow, at;

	for (at = 0; at < packets; at++)
		for (flow = from; flow < FLOWS; flow++) {
			in(spread(flow), 100, 1000);
			now++;
		}
}

/* A link that is busy for so long. */
static void serve(u32 packets, u64 pause)
{
	while (packets--) {
		out();
		now += pause;
		in(spread(0), 100, 1000);
	}
}

/* All flows are new, and ripe at once. */
static void all_ripen(void)
{
	fill(0, 2);
	now += 250 * MS;
	serve(20000, 1000);
}

/* All reach step after step together, and ripen at the last but one. */
static void all_age(void)
{
	u32 step;

	one_old();
	fill(1, 2);
	for (step = 0; step < 18; step++) {
		now += 250 * MS;
		serve(3000, 100);
	}
}

/* All have sent, and are silent; half of them old, half new. */
static void all_idle(void)
{
	fill(FLOWS / 2, 1);
	while (out())
		;
	now += 250 * MS;
	fill(0, 1);
	while (out())
		;
	now += 1000 * MS;
	serve(20000, 1000);
}

/* A flow with all packets that fit moves, and leaves them in the list of the class it was in. */
static void moved(void)
{
	u32 at;

	one_old();
	for (at = 0; at < LIMIT - 10; at++)
		in(spread(8), 500, 1000);
	now += 250 * MS;
	in(spread(16), 100, 1000);
	serve(20000, 1000);
}

/* A packet for which many would have to go. */
static void large(void)
{
	u32 at;

	one_old();
	for (at = 0; at < LIMIT; at++)
		in(spread(8), 100, 1000);
	now += 250 * MS;
	serve(1000, 1000);
	in(spread(16), 0, 60000000);
	serve(1000, 1000);
}

/*
 * A heap as deep as can be: the flows' second packets come in the reverse order
 * of their beginning, so that each one that ripens is the first of all. Then
 * packets for which others are dropped.
 */
static void heaps(void)
{
	u32 at;

	fill(CF_WAYS, 1);
	while (out())
		;
	for (at = 2 * FLOWS; at-- > 0;)
		if (at % FLOWS >= CF_WAYS)
			in(spread(at % FLOWS), 200, 7500);
	now += 250 * MS;
	for (at = 0; at < 20000; at++) {
		now += 1000;
		in(spread(at % CF_WAYS), 0, at % 3 ? 110000 : 1000);
		if (at % 2)
			out();
	}
}

/* Any calls, with pauses. */
static void anything(void)
{
	u32 at, many;

	for (at = 0; at < 1000000; at++) {
		u32 flow = below(8) ? below(FLOWS) : below(40);

		if (below(16) < 9)
			in(spread(flow) + below(2), 40 + below(1500), 1000 + below(3000));
		else
			out();
		now += below(4000);
		many = below(20000);
		if (many < 2)
			now += (many ? 250 : 1000) * MS;
	}
}

/*
 * The cost of a packet while nothing special happens: one leaves for every so
 * many that come.
 */
static void packets(u32 flows, u32 waiting, u32 each)
{
	u32 at;

	for (at = 0; at < 40000; at++) {
		u32 flow = at % flows;

		in(spread(8 * flow), 1500, 2304);
		now += 1000 * (MS / 1000);
		if (core.packets > waiting && !(at % each))
			out();
	}
}

static void packets_1(void)
{
	packets(1, 0, 1);
}

static void packets_100(void)
{
	packets(100, 200, 1);
}

static void packets_full(void)
{
	core.params.limit = 200;
	packets(100, 0, 2);
}

static const struct scenario scenarios[] = {
	{ "all-ripen", all_ripen },
	{ "all-age", all_age },
	{ "all-idle", all_idle },
	{ "moved", moved },
	{ "large", large },
	{ "heaps", heaps },
	{ "anything", anything },
	{ "packets-1", packets_1 },
	{ "packets-100", packets_100 },
	{ "packets-full", packets_full },
	{},
};

int main(int argc, char **argv)
{
	/* Of no use here. */
	(void)confucius_change;
	(void)confucius_grow;
	begin();
	return count(argc, argv, scenarios);
}
