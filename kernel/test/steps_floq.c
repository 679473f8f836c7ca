// SPDX-License-Identifier: GPL-2.0
/*
 * How much the core of FLOQ does in one call: see count.h.
 */
#include "user.h"
#include "count.h"
#include "../floq/floq.h"

#define MS	1000000ULL
#define FLOWS	FLOQ_MAX_FLOWS
#define LIMIT	1000000

static struct floq core;
static u64 now;

static void floq_dropped(struct floq *f, void *packet, u32 len, u8 kind, enum floq_reason reason)
{
	(void)f, (void)packet, (void)len, (void)kind, (void)reason;
}

static bool floq_mark(struct floq *f, void *packet)
{
	(void)f, (void)packet;
	return false;
}

static void floq_moved(struct floq *f, u32 flow, int from, int to)
{
	(void)f, (void)flow, (void)from, (void)to;
}

static noinline bool enqueue(u32 hash, u32 len)
{
	return floq_enqueue(&core, now, hash, &core, len);
}

static noinline bool dequeue(struct floq_sent *sent)
{
	return floq_dequeue(&core, now, sent);
}

/* A packet of @flow; the first FLOWS of them have a place in the table each. */
static bool in(u32 flow, u32 len)
{
	u32 set = flow % FLOWS / FT_WAYS, way = flow / FLOWS * FT_WAYS + flow % FT_WAYS;
	u32 hash = (u32)(((u64)set << 32) / (FLOWS / FT_WAYS)) + way + 1;
	bool room;

	COUNTED(room, enqueue(hash, len));
	return room;
}

static bool out(void)
{
	struct floq_sent sent;
	bool found;

	COUNTED(found, dequeue(&sent));
	return found;
}

static void begin(u32 limit, u8 variant)
{
	struct floq_params params = {
		.limit = limit, .flows = FLOWS, .own = { 50, 30 }, .threshold = 80,
		.base = { 2, 5 }, .g = 10, .f_r = 2, .initial = 10, .idle = 10000 * MS,
		.window = 10 * MS, .windows = 2, .fall = 10, .strikes = 1, .pardon = 1,
		.variant = variant, .ecn = true,
	};
	void *table = malloc(floq_table_size(FLOWS));
	void *slots = malloc(floq_slots_size(LIMIT));

	if (!table || !slots)
		exit(1);
	floq_init(&core, &params, 1, table, slots, LIMIT);
	now = 1;
}

/*
 * All flows have sent, and are silent; then unknown flows come, each to a full
 * set.
 */
static void all_idle(void)
{
	u32 flow;

	begin(LIMIT, FLOQ_READING);
	for (flow = 0; flow < FLOWS; flow++)
		in(flow, 100);
	for (flow = 0; flow < FLOWS; flow++)
		in(flow + FLOWS, 100);
	now += 20000 * MS;
	for (flow = 0; flow < 2 * FLOWS; flow++) {
		in(flow * 7919U % (4 * FLOWS), 100);
		now += 1000;
	}
}

/* A full queue, and verdicts all the time. */
static void full(void)
{
	u32 at;

	for (at = 0; at < 4; at++) {
		u32 packets;

		begin(200, at);
		for (packets = 0; packets < 300000; packets++) {
			in(packets % 5, 1000);
			if (packets % 2)
				out();
			now += 100000 + below(1000000);
		}
	}
}

/* Any calls, with pauses. */
static void anything(void)
{
	u32 at, pause;

	begin(1000, FLOQ_READING);
	for (at = 0; at < 1000000; at++) {
		u32 flow = below(8) ? below(40) : below(2 * FLOWS);

		if (below(16) < 9)
			in(flow, 60 + below(1450));
		else
			out();
		now += below(40000);
		pause = below(20000);
		if (pause < 2)
			now += (pause ? 250 : 16000) * MS;
	}
}

static const struct scenario scenarios[] = {
	{ "all-idle", all_idle },
	{ "full", full },
	{ "anything", anything },
	{},
};

int main(int argc, char **argv)
{
	/* Of no use here. */
	(void)floq_change;
	(void)floq_grow;
	return count(argc, argv, scenarios);
}
