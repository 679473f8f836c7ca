// SPDX-License-Identifier: GPL-2.0
/*
 * How much the core does in one call.
 *
 *	steps SCENARIO			the call in which it does most: its number,
 *					and how many basic blocks it went through
 *	steps SCENARIO FIRST COUNT	instructions of so many calls from number
 *					FIRST on, exactly: the processor stops
 *					after each of them
 *
 * The first needs -fsanitize-coverage=trace-pc, the second x86-64 and a build
 * without that.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "user.h"
#include "../confucius.h"

#define MS	1000000ULL
#define FLOWS	CF_MAX_FLOWS
#define LIMIT	1000000

static struct confucius core;
static u64 now, most;
/* The compiler takes it that the hook changes nothing of this file. */
static volatile u64 blocks;
static unsigned long calls, worst, first = -1UL, last;
static volatile unsigned long steps;

void __sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static void confucius_dropped(struct confucius *c, void *packet, u32 len, u32 class,
			      enum confucius_reason reason)
{
	(void)c, (void)packet, (void)len, (void)class, (void)reason;
}

static void confucius_moved(struct confucius *c, u32 flow, u32 from, u32 to)
{
	(void)c, (void)flow, (void)from, (void)to;
}

static void stepped(int signal)
{
	(void)signal;
	steps++;
}

#ifdef __x86_64__
#define TRAP(change)	asm volatile("pushfq\n" change "\npopfq" ::: "memory", "cc")
#define TRAP_ON		TRAP("orq $0x100, (%%rsp)")
#define TRAP_OFF	TRAP("andq $~0x100, (%%rsp)")
#else
#define TRAP_ON		exit(77)
#define TRAP_OFF
#endif

/* Not in place, so that what is counted is one function and its call. */
static noinline bool enqueue(u32 hash, u32 len, u32 mem)
{
	return confucius_enqueue(&core, now, hash, &core, len, mem);
}

static noinline bool dequeue(struct confucius_packet *packet)
{
	return !confucius_is_empty(&core) && confucius_dequeue(&core, now, packet);
}

static bool watched(void)
{
	blocks = 0;
	calls++;
	return calls >= first && calls < last;
}

static void done(void)
{
	if (blocks > most) {
		most = blocks;
		worst = calls;
	}
}

static bool in(u32 hash, u32 len, u32 mem)
{
	bool room;

	if (watched()) {
		TRAP_ON;
		room = enqueue(hash, len, mem);
		TRAP_OFF;
	} else {
		room = enqueue(hash, len, mem);
	}
	done();
	return room;
}

static bool out(void)
{
	struct confucius_packet packet;
	bool found;

	if (watched()) {
		TRAP_ON;
		found = dequeue(&packet);
		TRAP_OFF;
	} else {
		found = dequeue(&packet);
	}
	done();
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

/* Everybody is new, and ripe at once. */
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
 * of their beginning, so that each who ripens is the first of all. Then packets
 * for which others have to go.
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

static u64 random_state = 1;

static u32 below(u32 n)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % n;
}

/* Anything, with pauses. */
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

/* What a packet costs while nothing special happens: one leaves for every so many that come. */
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

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
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
};

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = stepped };
	size_t at;

	if (argc == 4) {
		first = strtoul(argv[2], NULL, 10);
		last = first + strtoul(argv[3], NULL, 10);
	} else if (argc != 2) {
		return 2;
	}
	/* Of no use here. */
	(void)confucius_change;
	(void)confucius_grow;
	sigaction(SIGTRAP, &action, NULL);
	for (at = 0; at < sizeof(scenarios) / sizeof(*scenarios); at++) {
		if (strcmp(scenarios[at].name, argv[1]))
			continue;
		begin();
		scenarios[at].run();
		if (argc == 4)
			printf("%lu\n", steps);
		else
			printf("%lu %llu\n", worst, (unsigned long long)most);
		return 0;
	}
	return 2;
}
