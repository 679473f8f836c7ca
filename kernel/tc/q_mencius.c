// SPDX-License-Identifier: GPL-2.0
/*
 * Mencius for tc: a plugin, since iproute2 does not know this qdisc.
 *
 * What is printed can be given back as it is, and in JSON times are microseconds and sizes
 * bytes.
 */
#include "q_mencius.h"
#include "tc_words.h"

static const char *const sides[] = {
	[TC_MENCIUS_HOSTS_AUTO] = "auto",
	[TC_MENCIUS_HOSTS_DESTINATION] = "destination",
	[TC_MENCIUS_HOSTS_SOURCE] = "source",
	[TC_MENCIUS_HOSTS_NONE] = "none",
};

#define MSEC	TC_TIME_MSEC
#define SEC	TC_TIME_SEC

/* The ranges are those of pkt_sched_mencius.h. */
static const struct tc_word words[] = {
	TC_VALUE("limit", TCA_MENCIUS_LIMIT, PACKETS, 1, 1000000),
	TC_VALUE("memory_limit", TCA_MENCIUS_MEMORY_LIMIT, SIZE, 4000, 1000000000),
	TC_VALUE("flows", TCA_MENCIUS_FLOWS, NUMBER, 8, 65536),
	{ .name = "hosts", .attr = TCA_MENCIUS_HOSTS, .kind = CHOICE, .max = TC_COUNT(sides) - 1,
	  .choices = sides, .expected = "auto, destination, source or none" },
	TC_VALUE("quantum", TCA_MENCIUS_QUANTUM, SIZE, 256, 65536),
	TC_VALUE("target", TCA_MENCIUS_TARGET, TIME, 1, 10 * SEC),
	TC_VALUE("interval", TCA_MENCIUS_INTERVAL, TIME, 1, 100 * SEC),
	TC_VALUE("low", TCA_MENCIUS_LOW, TIME, MSEC, SEC),
	TC_VALUE("hold", TCA_MENCIUS_HOLD, TIME, MSEC, SEC),
	TC_VALUE("rise", TCA_MENCIUS_RISE, TIME, MSEC, 10 * SEC),
	TC_VALUE("doubling", TCA_MENCIUS_DOUBLING, TIME, 10 * MSEC, 60 * SEC),
	TC_VALUE("part", TCA_MENCIUS_PART, NUMBER, 0, 256),
};

static const struct tc_flag flags[] = {
	{ "ecn", "ecn", TCA_MENCIUS_ECN, 1 },
	{ "noecn", "ecn", TCA_MENCIUS_ECN, 0 },
	{ "nat", "nat", TCA_MENCIUS_NAT, 1 },
	{ "nonat", "nat", TCA_MENCIUS_NAT, 0 },
	{ "split_gso", "split_gso", TCA_MENCIUS_SPLIT_GSO, 1 },
	{ "no-split-gso", "split_gso", TCA_MENCIUS_SPLIT_GSO, 0 },
	{ "split-gso", "split_gso", TCA_MENCIUS_SPLIT_GSO, 1 },
	{ "no_split_gso", "split_gso", TCA_MENCIUS_SPLIT_GSO, 0 },
};

static const struct tc_discipline mencius = {
	.id = "mencius",
	.usage =
		"Usage: ... mencius [ limit PACKETS ] [ memory_limit BYTES ] [ flows NUMBER ]\n"
		"                   [ hosts { auto | destination | source | none } ]\n"
		"                   [ quantum BYTES ] [ target TIME ] [ interval TIME ]\n"
		"                   [ low TIME ] [ hold TIME ] [ rise TIME ] [ doubling TIME ]\n"
		"                   [ part OF_256 ] [ ecn | noecn ] [ nat | nonat ]\n"
		"                   [ split_gso | no-split-gso ]\n",
	.words = words,
	.word_count = TC_COUNT(words),
	.flags = flags,
	.flag_count = TC_COUNT(flags),
};

_Static_assert((int)TCA_MENCIUS_MAX <= TC_ATTR_MAX, "an attribute has room in tc_words.c");

const char *mencius_side(__u64 number)
{
	return number < TC_COUNT(sides) ? sides[number] : "unknown";
}

static int mencius_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	(void)qu;
	(void)dev;
	return tc_parse_words(&mencius, argc, argv, n);
}

static int mencius_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	(void)f;
	tc_print_words(&mencius, opt);
	return 0;
}

/* tc looks it up by this name; all else stays inside, where no name of tc can take its place. */
__attribute__((visibility("default")))
struct qdisc_util mencius_qdisc_util = {
	.id = "mencius",
	.parse_qopt = mencius_parse_opt,
	.print_qopt = mencius_print_opt,
	.print_xstats = mencius_print_xstats,
};
