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
	TC_FLAGS(TCA_FLOQ_ECN, TCA_FLOQ_NAT, TCA_FLOQ_SPLIT_GSO)
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

TC_PLUGIN(floq, TCA_FLOQ_MAX)
