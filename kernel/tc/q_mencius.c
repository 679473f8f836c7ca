// SPDX-License-Identifier: GPL-2.0
/*
 * Mencius for tc: a plugin, since iproute2 does not know this qdisc.
 *
 * The output can be used as input again, and in JSON times are microseconds,
 * sizes bytes and rates bytes per second.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "q_mencius.h"
#include "tc_print.h"
#include "tc_words.h"

#define FASTEST	125000000000ull	/* bytes per second */

static const char *const hosts_choices[] = {
	[TC_MENCIUS_HOSTS_NONE] = "none",
	[TC_MENCIUS_HOSTS_DESTINATION] = "destination",
	[TC_MENCIUS_HOSTS_SOURCE] = "source",
};

static const char *const framing_choices[] = {
	[TC_MENCIUS_FRAMING_NOATM] = "noatm",
	[TC_MENCIUS_FRAMING_ATM] = "atm",
	[TC_MENCIUS_FRAMING_PTM] = "ptm",
};

/* As tc(8) has them: k is 1000, "bit" bits and "bps" bytes per second. */
static const struct {
	const char *name;
	double bytes;
} rates[] = {
	{ "bit", 1. / 8 }, { "kbit", 1e3 / 8 }, { "mbit", 1e6 / 8 }, { "gbit", 1e9 / 8 },
	{ "tbit", 1e12 / 8 }, { "", 1. / 8 },
	{ "bps", 1 }, { "kbps", 1e3 }, { "mbps", 1e6 }, { "gbps", 1e9 },
};

static bool parse_rate(const char *text, __u64 *rate)
{
	double number;
	const char *unit;

	if (!strcmp(text, "unlimited")) {
		*rate = 0;
		return true;
	}
	if (!tc_decimal(text, &number, &unit))
		return false;
	for (size_t i = 0; i < TC_COUNT(rates); i++) {
		if (strcasecmp(unit, rates[i].name))
			continue;
		number *= rates[i].bytes;
		*rate = number >= 1000 && number <= FASTEST ? (__u64)(number + 0.5) : 0;
		return *rate;
	}
	return false;
}

static int add_bandwidth(const struct tc_discipline *of, struct nlmsghdr *n, const char *text)
{
	__u64 rate;

	if (!text || !parse_rate(text, &rate))
		return tc_refuse(of, "bandwidth", text,
				 "unlimited, or a rate from 8kbit to 1000gbit");
	return addattr_l(n, TC_REQUEST_MAX, TCA_MENCIUS_BANDWIDTH, &rate, sizeof(rate));
}

/* Exact, so that it can be given back. */
static void print_bandwidth(const struct rtattr *attr)
{
	char text[48];
	__u64 rate, bits;

	if (RTA_PAYLOAD(attr) < sizeof(rate))
		return;
	memcpy(&rate, RTA_DATA(attr), sizeof(rate));
	put_json_u64("bandwidth", rate);
	bits = rate * 8;
	if (bits % 1000000000 == 0)
		snprintf(text, sizeof(text), "bandwidth %lluGbit ",
			 (unsigned long long)bits / 1000000000);
	else if (bits % 1000000 == 0)
		snprintf(text, sizeof(text), "bandwidth %lluMbit ",
			 (unsigned long long)bits / 1000000);
	else if (bits % 1000 == 0)
		snprintf(text, sizeof(text), "bandwidth %lluKbit ",
			 (unsigned long long)bits / 1000);
	else
		snprintf(text, sizeof(text), "bandwidth %llubit ", (unsigned long long)bits);
	put_text(text);
}

static int add_overhead(const struct tc_discipline *of, struct nlmsghdr *n, const char *text)
{
	char *end = NULL;
	long value = text ? strtol(text, &end, 10) : 0;
	__s32 overhead = value;

	if (!text || end == text || *end || value < -64 || value > 256)
		return tc_refuse(of, "overhead", text, "bytes from -64 to 256");
	return addattr_l(n, TC_REQUEST_MAX, TCA_MENCIUS_OVERHEAD, &overhead, sizeof(overhead));
}

static void print_overhead(const struct rtattr *attr)
{
	char text[32];
	__s32 overhead;

	if (RTA_PAYLOAD(attr) < sizeof(overhead))
		return;
	memcpy(&overhead, RTA_DATA(attr), sizeof(overhead));
	put_json_s64("overhead", overhead);
	snprintf(text, sizeof(text), "overhead %d ", overhead);
	put_text(text);
}

static const struct tc_word words[] = {
#define PARAM(attribute, word, member, kind, least, most, preset) \
	TC_WORD_##kind(word, TCA_MENCIUS_##attribute, least, most)
#define AROUND	PARAM
#define OWN(attribute, word, member, least, most, preset) \
	TC_WORD_OWN(word, TCA_MENCIUS_##attribute)
#include "../mencius/mencius_params.h"
};

static const struct tc_flag flags[] = {
	TC_FLAGS(TCA_MENCIUS_ECN, TCA_MENCIUS_NAT, TCA_MENCIUS_SPLIT_GSO)
	{ "ingress", "ingress", TCA_MENCIUS_INGRESS, 1 },
	{ "egress", "", TCA_MENCIUS_INGRESS, 0 },
	{ "shared", "shared", TCA_MENCIUS_SHARED, 1 },
	{ "alone", "", TCA_MENCIUS_SHARED, 0 },
	/* As tc-cake(8) has them; printed as overhead, or none, and framing. */
	{ "raw", "", TCA_MENCIUS_RAW, 1 },
	{ "noatm", "", TCA_MENCIUS_FRAMING, TC_MENCIUS_FRAMING_NOATM },
	{ "atm", "", TCA_MENCIUS_FRAMING, TC_MENCIUS_FRAMING_ATM },
	{ "ptm", "", TCA_MENCIUS_FRAMING, TC_MENCIUS_FRAMING_PTM },
};

static const struct tc_former formers[] = {
	{ "low", "min_wait" },
	{ "hold", "max_wait" },
	{ "part", "settled_share" },
};

static const struct tc_discipline mencius = {
	.id = "mencius",
	.usage =
		"Usage: ... mencius [ limit PACKETS ] [ memory_limit BYTES ] [ flows NUMBER ]\n"
		"                   [ hosts { none | destination | source } ]\n"
		"                   [ quantum BYTES ] [ target TIME ] [ interval TIME ]\n"
		"                   [ min_wait TIME ] [ max_wait TIME ] [ rise TIME ]\n"
		"                   [ doubling TIME ] [ settled_share OF_256 ] [ ecn | noecn ]\n"
		"                   [ nat | nonat ] [ split_gso | no-split-gso ]\n"
		"                   [ bandwidth { RATE | unlimited } ] [ overhead BYTES | raw ]\n"
		"                   [ mpu BYTES ] [ noatm | atm | ptm ] [ egress | ingress ]\n"
		"                   [ alone | shared ]\n",
	.words = words,
	.word_count = TC_COUNT(words),
	.quiet = 1u << TCA_MENCIUS_BANDWIDTH | 1u << TCA_MENCIUS_MPU | 1u << TCA_MENCIUS_FRAMING,
	.flags = flags,
	.flag_count = TC_COUNT(flags),
	.formers = formers,
	.former_count = TC_COUNT(formers),
};

TC_PLUGIN(mencius, TCA_MENCIUS_MAX)
