// SPDX-License-Identifier: GPL-2.0
/*
 * FLOQ for tc: a plugin, since iproute2 does not know this qdisc.
 *
 * The output can be used as input again, and in JSON times are microseconds and
 * shares percent.
 */
#include "q_floq.h"
#include "tc_print.h"
#include "tc_words.h"

static const char *const variant_choices[] = {
	[TC_FLOQ_READING] = "reading",
	[TC_FLOQ_EQUATION] = "equation",
	[TC_FLOQ_ALGORITHM] = "algorithm",
	[TC_FLOQ_ALGORITHM_DROP] = "algorithm-drop",
};

static const struct tc_word words[] = {
#define PARAM(attribute, word, member, kind, least, most, preset) \
	TC_WORD_##kind(word, TCA_FLOQ_##attribute, least, most)
#define AROUND	PARAM
#include "../floq/floq_params.h"
};

static const struct tc_flag flags[] = {
	{ "ecn", "ecn", TCA_FLOQ_ECN, 1 },
	{ "noecn", "ecn", TCA_FLOQ_ECN, 0 },
	{ "nat", "nat", TCA_FLOQ_NAT, 1 },
	{ "nonat", "nat", TCA_FLOQ_NAT, 0 },
	{ "split_gso", "split_gso", TCA_FLOQ_SPLIT_GSO, 1 },
	{ "no-split-gso", "split_gso", TCA_FLOQ_SPLIT_GSO, 0 },
	{ "split-gso", "split_gso", TCA_FLOQ_SPLIT_GSO, 1 },
	{ "no_split_gso", "split_gso", TCA_FLOQ_SPLIT_GSO, 0 },
};

static const struct tc_discipline floq = {
	.id = "floq",
	.usage =
		"Usage: ... floq [ limit PACKETS ] [ flows NUMBER ]\n"
		"                [ variant { reading | equation | algorithm | algorithm-drop } ]\n"
		"                [ responsive PERCENT ] [ unresponsive PERCENT ]\n"
		"                [ threshold PERCENT ] [ drop_responsive PERCENT ]\n"
		"                [ drop_unresponsive PERCENT ] [ g NUMBER ] [ f_r PERCENT ]\n"
		"                [ initial PACKETS ] [ idle TIME ] [ window TIME ]\n"
		"                [ windows NUMBER ] [ fall PERCENT ] [ strikes NUMBER ]\n"
		"                [ pardon NUMBER ] [ ecn | noecn ] [ nat | nonat ]\n"
		"                [ split_gso | no-split-gso ]\n",
	.words = words,
	.word_count = TC_COUNT(words),
	.flags = flags,
	.flag_count = TC_COUNT(flags),
};

_Static_assert((int)TCA_FLOQ_MAX <= TC_ATTR_MAX, "an attribute has room in tc_words.c");

static int floq_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	(void)qu;
	(void)dev;
	return tc_parse_words(&floq, argc, argv, n);
}

static int floq_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	(void)f;
	tc_print_words(&floq, opt);
	return 0;
}

/*
 * tc looks it up by this name; all other symbols are hidden, so that no name of
 * tc can replace them.
 */
__attribute__((visibility("default")))
struct qdisc_util floq_qdisc_util = {
	.id = "floq",
	.parse_qopt = floq_parse_opt,
	.print_qopt = floq_print_opt,
	.print_xstats = floq_print_xstats,
};
