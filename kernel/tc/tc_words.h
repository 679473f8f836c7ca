/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters of a discipline as words: parsed into attributes, and printed so
 * that they can be used as input again. Values are checked here, to name the
 * range in the units that were typed, and by the kernel, which trusts no input;
 * its answers are not trusted here either, since module and plugin may be of
 * different versions.
 */
#ifndef TC_WORDS_H
#define TC_WORDS_H

#include "tc_plugin.h"

#define TC_REQUEST_MAX	1024	/* bytes of a request, as the other qdiscs of tc have it */
#define TC_ATTR_MAX	31	/* no discipline here has a higher attribute */
#define TC_TIME_MSEC	1000u	/* times are in microseconds */
#define TC_TIME_SEC	1000000u
#define TC_COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* The kind of a value; OWN has functions of its own. */
enum tc_kind { NUMBER, PACKETS, SIZE, TIME, PERCENT, CHOICE, OWN };

struct tc_discipline;

/*
 * A word and its value. The first spelling of an attribute is the one that is printed. Values of
 * 32 bits from @min to @max; or for CHOICE, 8 bits, the number of one of @max + 1 @choices.
 */
struct tc_word {
	const char *name;
	int attr;
	enum tc_kind kind;
	__u32 min, max;
	const char *const *choices;
	int (*add)(const struct tc_discipline *of, struct nlmsghdr *n, const char *text);
	void (*print)(const struct rtattr *attr);
};

/*
 * The kinds of the lists of parameters, as they are here: a word, or nothing
 * for a flag, which stands with its spellings. A choice has an array
 * WORD_choices.
 */
#define TC_WORD(kind_, word, number, least, most) \
	{ .name = #word, .attr = number, .kind = kind_, .min = least, .max = most },
#define TC_WORD_NUMBER(word, number, least, most) TC_WORD(NUMBER, word, number, least, most)
#define TC_WORD_PACKETS(word, number, least, most) TC_WORD(PACKETS, word, number, least, most)
#define TC_WORD_PERCENT(word, number, least, most) TC_WORD(PERCENT, word, number, least, most)
#define TC_WORD_SIZE(word, number, least, most) TC_WORD(SIZE, word, number, least, most)
#define TC_WORD_TIME(word, number, least, most) TC_WORD(TIME, word, number, least, most)
#define TC_WORD_FLAG(word, number, least, most)
#define TC_WORD_CHOICE(word, number, least, most_) \
	{ .name = #word, .attr = number, .kind = CHOICE, .max = most_, .choices = word##_choices },
#define TC_WORD_OWN(word, number) \
	{ .name = #word, .attr = number, .kind = OWN, .add = add_##word, .print = print_##word },

/*
 * A word without a value. That for on is printed if its name is its key; that for off, which follows
 * it, if it has the same key.
 */
struct tc_flag {
	const char *name;
	const char *key;
	int attr;
	__u8 value;
};

/* A flag that is printed by its words for on and off. */
#define TC_FLAG(on, off, number) { on, on, number, 1 }, { off, on, number, 0 },

/* Those that every discipline here has; split_gso in both of the spellings that people know. */
#define TC_FLAGS(ecn, nat, split_gso) \
	TC_FLAG("ecn", "noecn", ecn) \
	TC_FLAG("nat", "nonat", nat) \
	TC_FLAG("split_gso", "no-split-gso", split_gso) \
	{ "split-gso", "split_gso", split_gso, 1 }, \
	{ "no_split_gso", "split_gso", split_gso, 0 },

/* A word that was called otherwise before: still taken, with a notice. */
struct tc_former {
	const char *name;
	const char *now;
};

/*
 * In the order in which they are printed, flags last. Words whose attributes have a bit in @quiet are
 * not printed where all of their bytes are 0.
 */
struct tc_discipline {
	const char *id;
	const char *usage;
	const struct tc_word *words;
	size_t word_count;
	__u32 quiet;
	const struct tc_flag *flags;
	size_t flag_count;
	const struct tc_former *formers;
	size_t former_count;
};

/*
 * The plugin of the discipline that is declared as the variable @name: NAME_print_xstats() prints
 * its statistics, and @max is its highest attribute. tc looks it up by its name; all other symbols
 * are hidden, so that no name of tc can replace them.
 */
#define TC_PLUGIN(name, max) \
	_Static_assert((int)(max) <= TC_ATTR_MAX, "an attribute has room in tc_words.c"); \
	static int name##_parse_opt(const struct qdisc_util *qu, int argc, char **argv, \
				    struct nlmsghdr *n, const char *dev) \
	{ \
		(void)qu; \
		(void)dev; \
		return tc_parse_words(&name, argc, argv, n); \
	} \
	static int name##_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt) \
	{ \
		(void)qu; \
		(void)f; \
		tc_print_words(&name, opt); \
		return 0; \
	} \
	__attribute__((visibility("default"))) \
	struct qdisc_util name##_qdisc_util = { \
		.id = #name, \
		.parse_qopt = name##_parse_opt, \
		.print_qopt = name##_print_opt, \
		.print_xstats = name##_print_xstats, \
	};

/* Adds the words' attributes to @n; -1 if one was refused, with an error. */
int tc_parse_words(const struct tc_discipline *of, int argc, char **argv, struct nlmsghdr *n);

/* Prints the options that the kernel gave. */
void tc_print_words(const struct tc_discipline *of, struct rtattr *opt);

/* A value as it is typed; exact, so that it can be given back. Returns @text. */
const char *tc_value_text(enum tc_kind kind, __u64 value, char *text, size_t size);

/* Digits with at most one point among them; strtod() would take "inf" and "0x1p3" too. */
bool tc_decimal(const char *text, double *value, const char **end);

/*
 * Prints the value found at word @name, nothing if @text is NULL, and the
 * expected form: -1.
 */
int tc_refuse(const struct tc_discipline *of, const char *name, const char *text,
	      const char *expected);

#endif
