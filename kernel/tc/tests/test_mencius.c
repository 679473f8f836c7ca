// SPDX-License-Identifier: GPL-2.0
/*
 * The plugin of mencius: see plugin.h.
 */
#define PLUGIN	mencius_qdisc_util

#include "../tc_plugin.h"

extern struct qdisc_util PLUGIN;

#include "plugin.h"
#include "answer_mencius.h"

static void words(void)
{
	static const char all[] =
		"limit 10240p memory_limit 32Mb flows 4096 hosts none quantum 1514b target 5ms "
		"interval 100ms min_wait 20ms max_wait 80ms rise 400ms doubling 3s "
		"settled_share 128 ecn nonat split_gso ";

	same("", "");
	same(all, all);
	same("limit 7 memory_limit 4000 quantum 1k", "limit 7p memory_limit 4000b quantum 1Kb ");
	same("hosts source settled_share 0 doubling 1.5s",
	     "hosts source doubling 1500ms settled_share 0 ");
	/* As they were called before; each is told on standard error. */
	same("low 30ms hold 90ms part 64", "min_wait 30ms max_wait 90ms settled_share 64 ");
	same("no_split_gso nat noecn", "noecn nat no-split-gso ");
	same("bandwidth 20mbit overhead -4 mpu 84 atm ingress shared",
	     "bandwidth 20Mbit overhead -4 mpu 84b framing atm ingress shared ");
	same("bandwidth 1.5gbit framing ptm alone", "bandwidth 1500Mbit framing ptm ");
	same("bandwidth 1001bps noatm egress", "bandwidth 8008bit ");
	same("bandwidth 1000gbit raw", "bandwidth 1000Gbit ");
	same("bandwidth 8.5kbit", "bandwidth 8504bit ");
	same("bandwidth unlimited overhead 0", "overhead 0 ");
}

static void bounds(void)
{
	static const char *const good[] = {
		"limit 1", "limit 1000000", "memory_limit 4000", "memory_limit 1000000000",
		"flows 8", "flows 65536", "hosts none", "hosts destination", "hosts source",
		 "quantum 256", "quantum 64k", "target 1us", "target 10s",
		"interval 1us", "interval 100s", "min_wait 1ms", "min_wait 1s", "max_wait 1ms",
		"max_wait 1s", "rise 1ms", "rise 10s", "doubling 10ms", "doubling 60s",
		"settled_share 0", "settled_share 256", "low 1ms",
		"bandwidth 8kbit", "bandwidth 1000gbit", "bandwidth 1tbit", "bandwidth 8000",
		"bandwidth unlimited", "overhead -64", "overhead 256", "mpu 0", "mpu 256",
	};
	static const char *const bad[] = {
		"limit", "limit 0", "limit 1000001", "limit 1.5", "limit -1", "limit x",
		"memory_limit 3999", "memory_limit 1g", "flows 7", "flows 65537", "hosts",
		"hosts both", "hosts auto", "hosts 1", "quantum 255", "quantum 65537", "target 0",
		"target 10001ms", "interval 0", "interval 101s", "interval inf", "min_wait 999us",
		"min_wait 1001ms", "max_wait 999us", "max_wait 2s", "rise 999us", "rise 11s",
		"doubling 9ms", "doubling 61s", "settled_share -1", "settled_share 257",
		"settled_share 1.5", "ecn noecn", "min_wait 5ms min_wait 5ms",
		"low 5ms min_wait 5ms", "part 257", "bandwidth", "bandwidth 7999bit",
		"bandwidth 1001gbit", "bandwidth 20", "bandwidth -1mbit", "bandwidth 20mb",
		"bandwidth infgbit", "overhead", "overhead -65", "overhead 257", "overhead 4b",
		"overhead x", "mpu -1", "mpu 257", "framing 1", "framing", "atm ptm", "atm noatm",
		"ingress egress", "shared alone", "raw raw", "lim 5", "targets 10/50/90", "help",
	};

	bounds_of(good, sizeof(good) / sizeof(good[0]), bad, sizeof(bad) / sizeof(bad[0]));
}

static void answers(void)
{
	static const unsigned char address[16] = { 0x20, 1, 0xd, 0xb8, [15] = 7 };

	begin();
	put_answer(&request.n, 3);
	assert(strstr(answered(), "  flows 3 new_flows 0 "));
	assert(strstr(out, " drop_tail 4294967296 "));
	assert(strstr(out, "\n  delay 1500us full_packet 0us"));
	short_xstats();
	begin();
	put_answer(&request.n, 3);
	put_privilege(&request.n);
	assert(strstr(answered(), "\n  ahead_bytes 8589934592 most_ahead 4294967296 by 192.168.1.5"));
	short_xstats();

	begin();
	put_host(&request.n, NULL, 0);
	assert(!strcmp(answered(), "  host flows 5 settled 1 others 2 held 3s marks 4 wait 2500us "
				   "ahead 4294967296 age 60s"));
	short_xstats();
	begin();
	put_host(&request.n, address, sizeof(address));
	assert(!strcmp(answered(), "  host 2001:db8::7 flows 5 settled 1 others 2 held 3s marks 4 "
				   "wait 2500us ahead 4294967296 age 60s"));
	short_xstats();

	begin();
	put_flow(&request.n, 12000);
	assert(!strcmp(answered(), "  flow of :1f settled 12s delay 4ms wait 20us marks 0"));
	short_xstats();
	begin();
	put_flow(&request.n, 0);
	assert(!strcmp(answered(), "  flow of :1f not settled delay 4ms wait 20us marks 0"));
}

int main(void)
{
	words();
	bounds();
	answers();
	short_options("limit 1 hosts source min_wait 5ms ecn");
	wild_answers();
	puts("mencius: words, bounds, short answers and 100,000 wild ones: ok");
	return 0;
}
