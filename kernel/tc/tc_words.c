// SPDX-License-Identifier: GPL-2.0
/*
 * Words of a discipline's parameters, see tc_words.h. Units are tc's, tc(8).
 */
#include <string.h>
#include <strings.h>

#include "tc_print.h"
#include "tc_words.h"

struct unit {
	const char *name;
	double factor;
};

/* k is 1024, and a time without unit is in microseconds. */
static const struct unit number_units[] = { { "", 1 }, {} };
static const struct unit packet_units[] = { { "", 1 }, { "p", 1 }, {} };
static const struct unit percent_units[] = { { "", 1 }, { "%", 1 }, {} };
static const struct unit size_units[] = {
	{ "", 1 }, { "b", 1 },
	{ "k", 1 << 10 }, { "kb", 1 << 10 }, { "kib", 1 << 10 }, { "kbit", 1000. / 8 },
	{ "m", 1 << 20 }, { "mb", 1 << 20 }, { "mib", 1 << 20 }, { "mbit", 1e6 / 8 },
	{ "g", 1 << 30 }, { "gb", 1 << 30 }, { "gib", 1 << 30 }, { "gbit", 1e9 / 8 },
	{}
};
static const struct unit time_units[] = {
	{ "", 1 }, { "us", 1 }, { "usec", 1 }, { "usecs", 1 },
	{ "ms", 1e3 }, { "msec", 1e3 }, { "msecs", 1e3 },
	{ "s", 1e6 }, { "sec", 1e6 }, { "secs", 1e6 },
	{}
};

static const struct {
	const char *name;
	const struct unit *units;
} kinds[] = {
	[NUMBER] = { "a number", number_units },
	[PACKETS] = { "packets", packet_units },
	[SIZE] = { "a size", size_units },
	[TIME] = { "a time", time_units },
	[PERCENT] = { "percent", percent_units },
};

const char *tc_value_text(enum tc_kind kind, __u64 value, char *text, size_t size)
{
	unsigned long long v = value;

	switch (kind) {
	case TIME:
		if (v && v % TC_TIME_SEC == 0)
			snprintf(text, size, "%llus", v / TC_TIME_SEC);
		else if (v && v % TC_TIME_MSEC == 0)
			snprintf(text, size, "%llums", v / TC_TIME_MSEC);
		else
			snprintf(text, size, "%lluus", v);
		break;
	case SIZE:
		if (v && v % (1 << 20) == 0)
			snprintf(text, size, "%lluMb", v >> 20);
		else if (v && v % (1 << 10) == 0)
			snprintf(text, size, "%lluKb", v >> 10);
		else
			snprintf(text, size, "%llub", v);
		break;
	default:
		snprintf(text, size, "%llu%s", v,
			 kind == PACKETS ? "p" : kind == PERCENT ? "%" : "");
	}
	return text;
}

bool tc_decimal(const char *text, double *value, const char **end)
{
	double place = 0;
	bool digits = false;

	*value = 0;
	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !place); text++) {
		if (*text == '.') {
			place = 1;
			continue;
		}
		digits = true;
		*value = *value * 10 + (*text - '0');
		place *= 10;
	}
	if (place)
		*value /= place;
	*end = text;
	return digits;
}

static bool parse_value(const struct tc_word *word, const char *text, __u32 *value)
{
	const struct unit *unit = kinds[word->kind].units;
	const char *end;
	double number;

	if (!tc_decimal(text, &number, &end))
		return false;
	while (unit->name && strcasecmp(unit->name, end))
		unit++;
	if (!unit->name)
		return false;
	number *= unit->factor;
	if (!(number >= word->min && number <= word->max))
		return false;
	*value = number + 0.5;
	/*
	 * Half a packet is a mistake; half a byte results from "1.3k" and is
	 * rounded.
	 */
	return word->kind == SIZE || word->kind == TIME || *value == number;
}

int tc_refuse(const struct tc_discipline *of, const char *name, const char *text,
	      const char *expected)
{
	if (text)
		fprintf(stderr, "%s: %s: found \"%s\", expected %s\n", of->id, name, text,
			expected);
	else
		fprintf(stderr, "%s: %s: found nothing, expected %s\n", of->id, name, expected);
	return -1;
}

static int bad_value(const struct tc_discipline *of, const struct tc_word *word, const char *text)
{
	char min[32], max[32], expected[128];

	snprintf(expected, sizeof(expected), "%s from %s to %s", kinds[word->kind].name,
		 tc_value_text(word->kind, word->min, min, sizeof(min)),
		 tc_value_text(word->kind, word->max, max, sizeof(max)));
	return tc_refuse(of, word->name, text, expected);
}

/* "one, two or three". */
static void name_choices(const struct tc_word *word, char *text, size_t size)
{
	size_t at = 0;

	for (__u32 i = 0; i <= word->max && at < size; i++)
		at += snprintf(text + at, size - at, "%s%s",
			       !i ? "" : i < word->max ? ", " : " or ", word->choices[i]);
}

static int add_choice(const struct tc_discipline *of, const struct tc_word *word,
		      struct nlmsghdr *n, const char *text)
{
	char expected[128];

	for (__u8 i = 0; text && i <= word->max; i++)
		if (!strcmp(text, word->choices[i]))
			return addattr_l(n, TC_REQUEST_MAX, word->attr, &i, sizeof(i));
	name_choices(word, expected, sizeof(expected));
	return tc_refuse(of, word->name, text, expected);
}

static int add_word(const struct tc_discipline *of, const struct tc_word *word,
		    struct nlmsghdr *n, const char *text)
{
	__u32 value;

	if (word->kind == OWN)
		return word->add(of, n, text);
	if (word->kind == CHOICE)
		return add_choice(of, word, n, text);
	if (!text || !parse_value(word, text, &value))
		return bad_value(of, word, text);
	return addattr_l(n, TC_REQUEST_MAX, word->attr, &value, sizeof(value));
}

/* The attribute that a word stands for; 0 if none. */
static int attr_of(const struct tc_discipline *of, const char *text, const struct tc_word **word,
		   const struct tc_flag **flag)
{
	*word = NULL;
	*flag = NULL;
	for (size_t i = 0; i < of->word_count; i++)
		if (!strcmp(text, of->words[i].name))
			return (*word = &of->words[i])->attr;
	for (size_t i = 0; i < of->flag_count; i++)
		if (!strcmp(text, of->flags[i].name))
			return (*flag = &of->flags[i])->attr;
	return 0;
}

/* The present name of a word that may be a former one. */
static const char *present(const struct tc_discipline *of, const char *text)
{
	for (size_t i = 0; i < of->former_count; i++) {
		if (strcmp(text, of->formers[i].name))
			continue;
		fprintf(stderr, "%s: %s is called %s now\n", of->id, text, of->formers[i].now);
		return of->formers[i].now;
	}
	return text;
}

int tc_parse_words(const struct tc_discipline *of, int argc, char **argv, struct nlmsghdr *n)
{
	struct rtattr *nest = addattr_nest(n, TC_REQUEST_MAX, TCA_OPTIONS | NLA_F_NESTED);
	bool given[TC_ATTR_MAX + 1] = {};

	while (argc > 0) {
		const struct tc_word *word;
		const struct tc_flag *flag;
		int attr = attr_of(of, present(of, argv[0]), &word, &flag), words = flag ? 1 : 2;
		int err;

		if (!attr) {
			if (strcmp(argv[0], "help"))
				fprintf(stderr, "%s: found \"%s\", expected a parameter\n", of->id,
					argv[0]);
			fputs(of->usage, stderr);
			return -1;
		}
		if (given[attr]) {
			fprintf(stderr, "%s: %s: found a second time, expected once\n", of->id,
				argv[0]);
			return -1;
		}
		given[attr] = true;
		if (flag)
			err = addattr_l(n, TC_REQUEST_MAX, attr, &flag->value,
					sizeof(flag->value));
		else
			err = add_word(of, word, n, argc > 1 ? argv[1] : NULL);
		if (err < 0)
			return -1;
		argc -= words;
		argv += words;
	}
	addattr_nest_end(n, nest);
	return 0;
}

static bool is_zero(const struct rtattr *attr)
{
	const char *bytes = RTA_DATA(attr);

	for (size_t i = 0; i < RTA_PAYLOAD(attr); i++)
		if (bytes[i])
			return false;
	return true;
}

static void put_word(const char *word)
{
	put_text(word);
	put_text(" ");
}

static void print_choice(const struct tc_word *word, const struct rtattr *attr)
{
	const char *name = "unknown";
	__u8 value;

	if (RTA_PAYLOAD(attr) < sizeof(value))
		return;
	value = *(__u8 *)RTA_DATA(attr);
	if (value <= word->max)
		name = word->choices[value];
	put_json_string(word->name, name);
	put_word(word->name);
	put_word(name);
}

static void print_word(const struct tc_word *word, const struct rtattr *attr)
{
	char text[32];
	__u32 value;

	if (word->kind == OWN) {
		word->print(attr);
		return;
	}
	if (word->kind == CHOICE) {
		print_choice(word, attr);
		return;
	}
	if (RTA_PAYLOAD(attr) < sizeof(value))
		return;
	memcpy(&value, RTA_DATA(attr), sizeof(value));
	put_json_u64(word->name, value);
	put_word(word->name);
	put_word(tc_value_text(word->kind, value, text, sizeof(text)));
}

static void print_flags(const struct tc_discipline *of, struct rtattr *const *attrs)
{
	for (size_t i = 0; i < of->flag_count; i++) {
		const struct tc_flag *flag = &of->flags[i];
		const struct rtattr *attr = attrs[flag->attr];

		if (strcmp(flag->name, flag->key) || !attr || RTA_PAYLOAD(attr) < sizeof(__u8))
			continue;
		if (!*(__u8 *)RTA_DATA(attr))
			flag++;
		if (strcmp(flag->key, of->flags[i].key))
			continue;
		put_json_bool(flag->key, flag->value);
		put_word(flag->name);
	}
}

void tc_print_words(const struct tc_discipline *of, struct rtattr *opt)
{
	struct rtattr *attrs[TC_ATTR_MAX + 1] = {};
	struct rtattr *attr;
	int len = opt ? RTA_PAYLOAD(opt) : 0;

	for (attr = opt ? RTA_DATA(opt) : NULL; opt && RTA_OK(attr, len);
	     attr = RTA_NEXT(attr, len))
		if ((attr->rta_type & NLA_TYPE_MASK) <= TC_ATTR_MAX)
			attrs[attr->rta_type & NLA_TYPE_MASK] = attr;
	for (size_t i = 0; i < of->word_count; i++) {
		const struct tc_word *word = &of->words[i];
		bool quiet = of->quiet >> word->attr & 1;

		if (attrs[word->attr] && !(quiet && is_zero(attrs[word->attr])))
			print_word(word, attrs[word->attr]);
		attrs[word->attr] = NULL;
	}
	print_flags(of, attrs);
}
