// SPDX-License-Identifier: GPL-2.0
/*
 * Confucius for tc: a plugin, since iproute2 does not know this qdisc.
 *
 * What is printed can be given back as it is, and in JSON times are microseconds, sizes
 * bytes and shares percent. Values are checked here, to name the range in the units that
 * were typed, and by the kernel, which trusts nobody; what the kernel answers is not
 * trusted here either, since module and plugin may be of different versions.
 */
#include <string.h>
#include <strings.h>

#include "q_confucius.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define REQUEST_MAX	1024	/* bytes of a request, as the other qdiscs of tc have it */

#define USEC_PER_MSEC	1000u
#define USEC_PER_SEC	1000000u

struct unit {
	const char *name;
	double factor;
};

/* tc's units, tc(8): k is 1024, and a time without unit is in microseconds. */
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

/* The ranges are those of pkt_sched_confucius.h. */
static const struct param {
	const char *name;
	int attr;
	enum confucius_kind kind;
	__u32 min, max;
} params[] = {
	{ "limit", TCA_CONFUCIUS_LIMIT, PACKETS, 1, 1000000 },
	{ "memory_limit", TCA_CONFUCIUS_MEMORY_LIMIT, SIZE, 4000, 1000000000 },
	{ "flows", TCA_CONFUCIUS_FLOWS, NUMBER, 8, 65536 },
	{ "quantum", TCA_CONFUCIUS_QUANTUM, SIZE, 256, 64000 },
	{ "scale", TCA_CONFUCIUS_SCALE, TIME, USEC_PER_MSEC, 10 * USEC_PER_SEC },
	{ "doubling", TCA_CONFUCIUS_DOUBLING, TIME, USEC_PER_MSEC, 60 * USEC_PER_SEC },
	{ "head_start", TCA_CONFUCIUS_HEAD_START, NUMBER, 0, 6 },
	{ "alpha", TCA_CONFUCIUS_ALPHA, PERCENT, 1, 50 },
	{ "interval", TCA_CONFUCIUS_INTERVAL, TIME, USEC_PER_MSEC, 10 * USEC_PER_SEC },
	{ "idle", TCA_CONFUCIUS_IDLE, TIME, 10 * USEC_PER_MSEC, 3600 * USEC_PER_SEC },
};

#define TARGET_MAX	1000	/* percent */

/* Words without a value; the first spelling of each attribute and value is the one printed. */
static const struct flag {
	const char *name;
	const char *key;
	int attr;
	__u8 value;
} flags[] = {
	{ "ecn", "ecn", TCA_CONFUCIUS_ECN, 1 },
	{ "noecn", "ecn", TCA_CONFUCIUS_ECN, 0 },
	{ "nat", "nat", TCA_CONFUCIUS_NAT, 1 },
	{ "nonat", "nat", TCA_CONFUCIUS_NAT, 0 },
	{ "split_gso", "split_gso", TCA_CONFUCIUS_SPLIT_GSO, 1 },
	{ "no-split-gso", "split_gso", TCA_CONFUCIUS_SPLIT_GSO, 0 },
	{ "split-gso", "split_gso", TCA_CONFUCIUS_SPLIT_GSO, 1 },
	{ "no_split_gso", "split_gso", TCA_CONFUCIUS_SPLIT_GSO, 0 },
};

static const char *const occupancies[] = {
	[TC_CONFUCIUS_DELAY] = "delay",
	[TC_CONFUCIUS_BUFFER] = "buffer",
};

static void explain(void)
{
	fputs("Usage: ... confucius [ limit PACKETS ] [ memory_limit BYTES ] [ flows NUMBER ]\n"
	      "                     [ quantum BYTES ] [ targets PERCENT/PERCENT/... ]\n"
	      "                     [ occupancy { delay | buffer } ] [ scale TIME ]\n"
	      "                     [ doubling TIME ] [ head_start DOUBLINGS ] [ alpha PERCENT ]\n"
	      "                     [ interval TIME ] [ idle TIME ] [ ecn | noecn ]\n"
	      "                     [ nat | nonat ] [ split_gso | no-split-gso ]\n",
	      stderr);
}


const char *confucius_value_text(enum confucius_kind kind, __u64 value, char *text, size_t size)
{
	unsigned long long v = value;

	switch (kind) {
	case TIME:
		if (v && v % USEC_PER_SEC == 0)
			snprintf(text, size, "%llus", v / USEC_PER_SEC);
		else if (v && v % USEC_PER_MSEC == 0)
			snprintf(text, size, "%llums", v / USEC_PER_MSEC);
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

/* Digits with at most one point among them; strtod() would take "inf" and "0x1p3" too. */
static bool parse_decimal(const char *text, double *value, const char **end)
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

static bool parse_value(const struct param *param, const char *text, __u32 *value)
{
	const struct unit *unit = kinds[param->kind].units;
	const char *end;
	double number;

	if (!parse_decimal(text, &number, &end))
		return false;
	while (unit->name && strcasecmp(unit->name, end))
		unit++;
	if (!unit->name)
		return false;
	number *= unit->factor;
	if (!(number >= param->min && number <= param->max))
		return false;
	*value = number + 0.5;
	/* Half a packet is a mistake; half a byte comes of "1.3k" and is rounded. */
	return param->kind == SIZE || param->kind == TIME || *value == number;
}

static int refuse(const char *name, const char *text, const char *expected)
{
	if (text)
		fprintf(stderr, "confucius: %s: found \"%s\", expected %s\n", name, text, expected);
	else
		fprintf(stderr, "confucius: %s: found nothing, expected %s\n", name, expected);
	return -1;
}

static int bad_value(const struct param *param, const char *text)
{
	char min[32], max[32], expected[128];

	snprintf(expected, sizeof(expected), "%s from %s to %s", kinds[param->kind].name,
		 confucius_value_text(param->kind, param->min, min, sizeof(min)),
		 confucius_value_text(param->kind, param->max, max, sizeof(max)));
	return refuse(param->name, text, expected);
}

static bool parse_target(const char **text, __u16 *target)
{
	const char *end;
	double number;

	if (!parse_decimal(*text, &number, &end) || number > TARGET_MAX)
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

static int add_targets(struct nlmsghdr *n, const char *text)
{
	__u16 targets[TC_CONFUCIUS_TARGETS];
	int count = text ? parse_targets(text, targets) : -1;

	if (count < 0)
		return refuse("targets", text,
			      "1 to 7 increasing percentages of at most 1000, such as 10/50/90");
	return addattr_l(n, REQUEST_MAX, TCA_CONFUCIUS_TARGETS, targets,
			 count * sizeof(targets[0]));
}

static int add_occupancy(struct nlmsghdr *n, const char *text)
{
	for (__u8 i = 0; text && i < ARRAY_SIZE(occupancies); i++)
		if (!strcmp(text, occupancies[i]))
			return addattr_l(n, REQUEST_MAX, TCA_CONFUCIUS_OCCUPANCY, &i, sizeof(i));
	return refuse("occupancy", text, "delay or buffer");
}

static int add_param(struct nlmsghdr *n, const struct param *param, const char *text)
{
	__u32 value;

	if (!text || !parse_value(param, text, &value))
		return bad_value(param, text);
	return addattr_l(n, REQUEST_MAX, param->attr, &value, sizeof(value));
}

/* The attribute that a word stands for; 0 if none. */
static int word_attr(const char *word, const struct param **param, const struct flag **flag)
{
	*param = NULL;
	*flag = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(params); i++)
		if (!strcmp(word, params[i].name))
			return (*param = &params[i])->attr;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (!strcmp(word, flags[i].name))
			return (*flag = &flags[i])->attr;
	if (!strcmp(word, "targets") || !strcmp(word, "classes"))
		return TCA_CONFUCIUS_TARGETS;
	return strcmp(word, "occupancy") ? 0 : TCA_CONFUCIUS_OCCUPANCY;
}

static int confucius_parse_words(int argc, char **argv, struct nlmsghdr *n)
{
	bool given[TCA_CONFUCIUS_MAX + 1] = {};

	while (argc > 0) {
		const struct param *param;
		const struct flag *flag;
		const char *word = argv[0], *text = argc > 1 ? argv[1] : NULL;
		int attr = word_attr(word, &param, &flag), words = flag ? 1 : 2, err;

		if (!attr) {
			if (strcmp(word, "help"))
				fprintf(stderr, "confucius: found \"%s\", expected a parameter\n",
					word);
			explain();
			return -1;
		}
		if (given[attr]) {
			fprintf(stderr, "confucius: %s: found a second time, expected once\n", word);
			return -1;
		}
		given[attr] = true;
		if (flag)
			err = addattr_l(n, REQUEST_MAX, attr, &flag->value, sizeof(flag->value));
		else if (param)
			err = add_param(n, param, text);
		else if (attr == TCA_CONFUCIUS_TARGETS)
			err = add_targets(n, text);
		else
			err = add_occupancy(n, text);
		if (err < 0)
			return -1;
		argc -= words;
		argv += words;
	}
	return 0;
}

static int confucius_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			       struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest = addattr_nest(n, REQUEST_MAX, TCA_OPTIONS | NLA_F_NESTED);

	(void)qu;
	(void)dev;
	if (confucius_parse_words(argc, argv, n))
		return -1;
	addattr_nest_end(n, nest);
	return 0;
}

static void print_targets(const struct rtattr *attr)
{
	__u16 targets[TC_CONFUCIUS_TARGETS];
	size_t count;
	char text[16];

	count = attr ? RTA_PAYLOAD(attr) / sizeof(targets[0]) : 0;
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

static void put_word(const char *word)
{
	put_text(word);
	put_text(" ");
}

static void print_occupancy(const struct rtattr *attr)
{
	const char *name = "unknown";
	__u8 value;

	if (!attr || RTA_PAYLOAD(attr) < sizeof(value))
		return;
	value = *(__u8 *)RTA_DATA(attr);
	if (value < ARRAY_SIZE(occupancies))
		name = occupancies[value];
	put_json_string("occupancy", name);
	put_word("occupancy");
	put_word(name);
}

static void print_param(const struct param *param, const struct rtattr *attr)
{
	char text[32];
	__u32 value;

	if (!attr || RTA_PAYLOAD(attr) < sizeof(value))
		return;
	memcpy(&value, RTA_DATA(attr), sizeof(value));
	put_json_u64(param->name, value);
	put_word(param->name);
	put_word(confucius_value_text(param->kind, value, text, sizeof(text)));
}

static void print_flags(struct rtattr *const *attrs)
{
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		const struct flag *flag = &flags[i];
		const struct rtattr *attr = attrs[flag->attr];

		if (strcmp(flag->name, flag->key) || !attr || RTA_PAYLOAD(attr) < sizeof(__u8))
			continue;
		/* The word for off follows the word for on. */
		if (!*(__u8 *)RTA_DATA(attr))
			flag++;
		put_json_bool(flag->key, flag->value);
		put_word(flag->name);
	}
}

static int confucius_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *attrs[TCA_CONFUCIUS_MAX + 1] = {};
	struct rtattr *attr;
	int len;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	len = RTA_PAYLOAD(opt);
	for (attr = RTA_DATA(opt); RTA_OK(attr, len); attr = RTA_NEXT(attr, len))
		if ((attr->rta_type & NLA_TYPE_MASK) <= TCA_CONFUCIUS_MAX)
			attrs[attr->rta_type & NLA_TYPE_MASK] = attr;

	for (size_t i = 0; i < ARRAY_SIZE(params); i++) {
		if (params[i].attr == TCA_CONFUCIUS_SCALE) {
			print_targets(attrs[TCA_CONFUCIUS_TARGETS]);
			print_occupancy(attrs[TCA_CONFUCIUS_OCCUPANCY]);
		}
		print_param(&params[i], attrs[params[i].attr]);
	}
	print_flags(attrs);
	return 0;
}

/* tc looks it up by this name; all else stays inside, where no name of tc can take its place. */
__attribute__((visibility("default")))
struct qdisc_util confucius_qdisc_util = {
	.id = "confucius",
	.parse_qopt = confucius_parse_opt,
	.print_qopt = confucius_print_opt,
	.print_xstats = confucius_print_xstats,
};
