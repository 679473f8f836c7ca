// SPDX-License-Identifier: GPL-2.0
/*
 * The plugin of floq: see plugin.h.
 */
#define PLUGIN	floq_qdisc_util

#include "../tc_plugin.h"

extern struct qdisc_util PLUGIN;

#include "plugin.h"
#include "answer_floq.h"

static void words(void)
{
	static const char all[] =
		"limit 1000p flows 1024 variant reading responsive 50% unresponsive 30% "
		"threshold 80% drop_responsive 2% drop_unresponsive 5% g 10 f_r 2% initial 10p "
		"idle 10s window 50ms windows 8 fall 10% strikes 3 pardon 3 ecn nonat split_gso ";

	same("", "");
	same(all, all);
	same("limit 7 initial 0", "limit 7p initial 0p ");
	same("variant algorithm-drop g 1000", "variant algorithm-drop g 1000 ");
	same("window 10000 idle .1s", "idle 100ms window 10ms ");
	same("no_split_gso nat noecn", "noecn nat no-split-gso ");
}

static void bounds(void)
{
	static const char *const good[] = {
		"limit 1", "limit 1000000", "flows 8", "flows 65536", "variant equation",
		"variant algorithm", "responsive 0", "responsive 100%", "unresponsive 0",
		"unresponsive 100", "threshold 0", "threshold 100", "drop_responsive 0",
		"drop_responsive 100", "drop_unresponsive 0", "drop_unresponsive 100", "g 0",
		"g 1000", "f_r 0", "f_r 100", "initial 0", "initial 1000000p", "idle 100ms",
		"idle 3600s", "window 10ms", "window 10s", "windows 1", "windows 100", "fall 1",
		"fall 99%", "strikes 1", "strikes 1000", "pardon 0", "pardon 1000",
	};
	static const char *const bad[] = {
		"limit", "limit 0", "limit 1000001", "limit 1.5", "limit -1", "limit x",
		"flows 7", "flows 65537", "variant", "variant 0", "variant paper",
		"responsive -1", "responsive 101", "responsive 1.5", "unresponsive -1",
		"unresponsive 101", "threshold -1", "threshold 101", "drop_responsive -1",
		"drop_responsive 101", "drop_unresponsive -1", "drop_unresponsive 101",
		"g -1", "g 1001", "g 1%", "f_r -1", "f_r 101", "initial -1", "initial 1000001",
		"idle 99ms", "idle 3601s", "idle inf", "window 9999us", "window 10001ms",
		"windows 0", "windows 101", "fall 0", "fall 100", "strikes 0", "strikes 1001",
		"pardon -1", "pardon 1001", "ecn noecn", "limit 5 limit 5", "lim 5",
		"targets 10/50/90", "memory_limit 32mb", "help",
	};

	bounds_of(good, sizeof(good) / sizeof(good[0]), bad, sizeof(bad) / sizeof(bad[0]));
}

static void answers(void)
{
	static const char one[] = "  unresponsive flows 0 quota 500p\n  type ";

	/* A qdisc, of more types and phases than there are today. */
	begin();
	put_answer(&request.n, 2);
	assert(strstr(answered(), "  flows 0 new_flows 0 "));
	assert(strstr(out, " drop_split 4294967296 drop_filter 0\n"));
	assert(strstr(out, "\n  delay 1500us\n  type "));
	assert(strstr(out, "\n  responsive        0     500p           0       0p "));
	assert(strstr(out, "\n  unresponsive later                12         0          2 "));
	assert(strstr(out, "\n  unknown      unknown              23         0          3 "));

	/* A class: without the part that tc prints itself. */
	begin();
	put_class(&request.n, 1, 7);
	assert(!strncmp(answered(), one, strlen(one)));
	assert(strstr(out, "\n  unresponsive initial               7         0          0 "));
}

int main(void)
{
	words();
	bounds();
	answers();
	short_options("limit 1 window 20ms ecn");
	begin();
	put_answer(&request.n, 1);
	short_xstats();
	wild_answers();
	puts("floq: words, bounds, short answers and 100,000 wild ones: ok");
	return 0;
}
