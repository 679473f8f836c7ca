// SPDX-License-Identifier: GPL-2.0
/*
 * Confucius for tc: a plugin, since iproute2 does not know this qdisc.
 *
 * The output can be used as input again, and in JSON times are microseconds,
 * sizes bytes and shares percent.
 */
#include <string.h>

#include "q_confucius.h"
#include "tc_print.h"
#include "tc_words.h"

#define TARGET_MAX	1000	/* percent */

static bool parse_target(const char **text, __u16 *target)
{
	const char *end;
	double number;

	if (!tc_decimal(*text, &number, &end) || number > TARGET_MAX)
		return false;
	*target = number;
	if (*target != number)
		return false;
	*text = *end == '%' ? end + 1 : end;
	return true;
}

/* "10/50/90", or "10%/50%/90%"; how many, or -1. */
static int parse_targets(const char *text, __u16 *targets)
{
	int count = 0;

	for (;; text++) {
		if (count == TC_CONFUCIUS_TARGETS || !parse_target(&text, &targets[count]))
			return -1;
		if (count && targets[count] <= targets[count - 1])
			return -1;
		count++;
		if (!*text)
			return count;
		if (*text != '/')
			return -1;
	}
}

static int add_targets(const struct tc_discipline *of, struct nlmsghdr *n, const char *text)
{
	__u16 targets[TC_CONFUCIUS_TARGETS];
	int count = text ? parse_targets(text, targets) : -1;

	if (count < 0)
		return tc_refuse(of, "targets", text,
				 "1 to 7 increasing percentages of at most 1000, such as 10/50/90");
	return addattr_l(n, TC_REQUEST_MAX, TCA_CONFUCIUS_TARGETS, targets,
			 count * sizeof(targets[0]));
}

static void print_targets(const struct rtattr *attr)
{
	__u16 targets[TC_CONFUCIUS_TARGETS];
	size_t count;
	char text[16];

	count = RTA_PAYLOAD(attr) / sizeof(targets[0]);
	if (count > TC_CONFUCIUS_TARGETS)
		count = TC_CONFUCIUS_TARGETS;
	if (!count)
		return;
	memcpy(targets, RTA_DATA(attr), count * sizeof(targets[0]));
	put_text("targets ");
	put_json_array("targets");
	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), i ? "/%u" : "%u", targets[i]);
		put_text(text);
		put_json_u64(NULL, targets[i]);
	}
	put_json_array_end();
	put_text(" ");
}

static const char *const occupancy_choices[] = {
	[TC_CONFUCIUS_DELAY] = "delay",
	[TC_CONFUCIUS_BUFFER] = "buffer",
};

static const struct tc_word words[] = {
#define PARAM(attribute, word, member, kind, least, most, preset) \
	TC_WORD_##kind(word, TCA_CONFUCIUS_##attribute, least, most)
#define AROUND	PARAM
#define OWN(attribute, word, member, least, most, preset) \
	TC_WORD_OWN(word, TCA_CONFUCIUS_##attribute)
#include "../confucius/confucius_params.h"
	{ .name = "classes", .attr = TCA_CONFUCIUS_TARGETS, .kind = OWN, .add = add_targets },
};

static const struct tc_flag flags[] = {
	TC_FLAGS(TCA_CONFUCIUS_ECN, TCA_CONFUCIUS_NAT, TCA_CONFUCIUS_SPLIT_GSO)
};

static const struct tc_discipline confucius = {
	.id = "confucius",
	.usage =
		"Usage: ... confucius [ limit PACKETS ] [ memory_limit BYTES ] [ flows NUMBER ]\n"
		"                     [ quantum BYTES ] [ targets PERCENT/PERCENT/... ]\n"
		"                     [ occupancy { delay | buffer } ] [ scale TIME ]\n"
		"                     [ doubling TIME ] [ head_start DOUBLINGS ] [ alpha PERCENT ]\n"
		"                     [ interval TIME ] [ idle TIME ] [ ecn | noecn ]\n"
		"                     [ nat | nonat ] [ split_gso | no-split-gso ]\n",
	.words = words,
	.word_count = TC_COUNT(words),
	.flags = flags,
	.flag_count = TC_COUNT(flags),
};

TC_PLUGIN(confucius, TCA_CONFUCIUS_MAX)
