/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much a core does in one call.
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
#ifndef __CONFUCIUS_COUNT_H
#define __CONFUCIUS_COUNT_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static u64 most;
/* The compiler assumes that the hook changes no data of this file. */
static volatile u64 blocks;
static unsigned long calls, worst, first = -1UL, last;
static volatile unsigned long steps;

void __sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
	blocks++;
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

/*
 * Makes a call, and counts its work. It calls a function that is not inlined,
 * so that nothing else is counted.
 */
#define COUNTED(result, call) do {		\
	if (watched()) {			\
		TRAP_ON;			\
		(result) = (call);		\
		TRAP_OFF;			\
	} else {				\
		(result) = (call);		\
	}					\
	done();					\
} while (0)

static u64 random_state = 1;

static u32 below(u32 n)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % n;
}

struct scenario {
	const char *name;
	void (*run)(void);
};

/* Runs the scenario that the arguments name, which has no name after the last. */
static int count(int argc, char **argv, const struct scenario *scenario)
{
	struct sigaction action = { .sa_handler = stepped };

	if (argc == 4) {
		first = strtoul(argv[2], NULL, 10);
		last = first + strtoul(argv[3], NULL, 10);
	} else if (argc != 2) {
		return 2;
	}
	sigaction(SIGTRAP, &action, NULL);
	for (; scenario->name; scenario++) {
		if (strcmp(scenario->name, argv[1]))
			continue;
		scenario->run();
		if (argc == 4)
			printf("%lu\n", steps);
		else
			printf("%lu %llu\n", worst, (unsigned long long)most);
		return 0;
	}
	return 2;
}

#endif
