// SPDX-License-Identifier: GPL-2.0
/*
 * The plugin of confucius: see plugin.h.
 */
#define PLUGIN	confucius_qdisc_util

#include "../tc_plugin.h"

extern struct qdisc_util PLUGIN;

#include "plugin.h"
#include "answer_confucius.h"

static void words(void)
{
	static const char all[] =
		"limit 1000p memory_limit 32Mb flows 1024 quantum 1514b targets 10/50/90 "
		"occupancy delay scale 100ms doubling 250ms head_start 0 alpha 10% "
		"interval 100ms idle 1s ecn nonat no-split-gso ";

	same("", "");
	same(all, all);
	same("limit 7 memory_limit 4000 quantum 1k", "limit 7p memory_limit 4000b quantum 1Kb ");
	same("classes 5%/1000% occupancy buffer", "targets 5/1000 occupancy buffer ");
	same("interval 1.5ms idle .01s scale 1001us", "scale 1001us interval 1500us idle 10ms ");
	same("no_split_gso nat noecn", "noecn nat no-split-gso ");
}

static void bounds(void)
{
	static const char *const good[] = {
		"limit 1", "limit 1000000", "memory_limit 4000", "memory_limit 1000000000",
		"flows 8", "flows 65536", "quantum 256", "quantum 64000", "targets 0",
		"targets 1/2/3/4/5/6/7", "targets 1000", "scale 1ms", "scale 10s", "doubling 1ms",
		"doubling 60s", "head_start 0", "head_start 6", "alpha 1", "alpha 50%",
		"interval 1ms", "interval 10s", "idle 10ms", "idle 3600s",
	};
	static const char *const bad[] = {
		"limit", "limit 0", "limit 1000001", "limit 1.5", "limit -1", "limit x",
		"limit 99999999999999999999999", "limit 4294967297", "memory_limit 3999",
		"memory_limit 1g", "flows 7", "flows 65537", "quantum 255", "quantum 64001",
		"targets", "targets 10/", "targets /", "targets 10/10", "targets 50/10",
		"targets 1001", "targets 1/2/3/4/5/6/7/8", "targets 1.5", "occupancy",
		"occupancy full", "scale 999us", "scale 10001ms", "doubling 999us",
		"doubling 60001ms", "head_start 7", "head_start -1", "alpha 0", "alpha 51",
		"interval 999", "interval 11s", "interval inf", "interval nan", "interval 0x1000",
		"interval 1e4", "idle 9ms", "idle 3601s", "idle 1h", "ecn noecn",
		"limit 5 limit 5", "lim 5", "help",
	};

	bounds_of(good, sizeof(good) / sizeof(good[0]), bad, sizeof(bad) / sizeof(bad[0]));
}

static void answers(void)
{
	/* A qdisc, of more classes than there are today. */
	begin();
	put_answer(&request.n, 9);
	assert(strstr(answered(), "  flows 0 new_flows 0 "));
	assert(strstr(out, " drop_split 4294967296 drop_filter 0\n"));
	assert(strstr(out, "\n  new        -      0 "));
	assert(strstr(out, "\n  9        13%      0         0       0            0         18 "));
	assert(strstr(out, " 1.500"));

	/* A class: without the part that tc prints itself. */
	begin();
	put_class(&request.n, 50, 7);
	assert(!strcmp(answered(), "  flows 0 marks 0 delay 0us peak 0us weight 1.500"));
}

int main(void)
{
	words();
	bounds();
	answers();
	short_options("limit 1 targets 10/50/90 ecn");
	begin();
	put_answer(&request.n, 3);
	short_xstats();
	wild_answers();
	puts("confucius: words, bounds, short answers and 100,000 wild ones: ok");
	return 0;
}
