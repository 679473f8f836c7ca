// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of confucius: totals, then a table with a line for each class.
 */
#include <string.h>

#include "q_confucius.h"

/*
 * What the kernel gave under a number, if it did. A newer one may give more,
 * which is passed over, and an older one less, which counts as 0.
 */
struct figures {
	const struct rtattr *attr[TCA_CONFUCIUS_STATS_MAX + 1];
};

_Static_assert((int)TCA_CONFUCIUS_CLASS_MAX <= (int)TCA_CONFUCIUS_STATS_MAX,
	       "a class has room in figures");

static void read_figures(struct figures *to, const struct rtattr *nest, int max)
{
	const struct rtattr *attr = RTA_DATA(nest);
	int len = RTA_PAYLOAD(nest);

	memset(to, 0, sizeof(*to));
	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len))
		if ((attr->rta_type & NLA_TYPE_MASK) <= max)
			to->attr[attr->rta_type & NLA_TYPE_MASK] = attr;
}

/* Whatever its size is: a figure may grow. */
static __u64 figure(const struct figures *from, int type)
{
	const struct rtattr *attr = from->attr[type];
	__u64 wide = 0;
	__u32 word = 0;
	__u16 half = 0;

	switch (attr ? RTA_PAYLOAD(attr) : 0) {
	case sizeof(wide):
		memcpy(&wide, RTA_DATA(attr), sizeof(wide));
		return wide;
	case sizeof(word):
		memcpy(&word, RTA_DATA(attr), sizeof(word));
		return word;
	case sizeof(half):
		memcpy(&half, RTA_DATA(attr), sizeof(half));
		return half;
	}
	return 0;
}

struct total {
	int type;
	const char *key;
};

#define TOTAL(name, key) { TCA_CONFUCIUS_STATS_##name, key }

/* In lines, each of which ends with an empty one. */
static const struct total totals[] = {
	TOTAL(FLOWS, "flows"),
	TOTAL(NEW_FLOWS, "new_flows"),
	TOTAL(FORGOTTEN, "forgotten"),
	TOTAL(SHARED, "shared"),
	{},
	TOTAL(AGED, "aged"),
	TOTAL(MOVED_UP, "moved_up"),
	TOTAL(MOVED_DOWN, "moved_down"),
	TOTAL(MARKS, "marks"),
	TOTAL(GSO_SPLIT, "gso_split"),
	{},
	TOTAL(DROP_TAIL, "drop_tail"),
	TOTAL(DROP_OVERLIMIT, "drop_overlimit"),
	TOTAL(DROP_CHANGE, "drop_change"),
	TOTAL(DROP_SPLIT, "drop_split"),
	TOTAL(DROP_FILTER, "drop_filter"),
	{},
	TOTAL(MEMORY_USED, "memory_used"),
	TOTAL(MEMORY_PEAK, "memory_peak"),
};

static void print_totals(const struct figures *st)
{
	char text[64];

	put_text(" ");
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		const struct total *total = &totals[i];
		__u64 value;

		if (!total->key) {
			put_newline();
			put_text(" ");
			continue;
		}
		value = figure(st, total->type);
		snprintf(text, sizeof(text), " %s %llu", total->key,
			 (unsigned long long)value);
		put_text(text);
		put_json_u64(total->key, value);
	}
}

static void print_class_header(void)
{
	char line[128];

	snprintf(line, sizeof(line),
		 "  %-5s %6s %6s %9s %7s %12s %10s %7s %7s %9s %9s %7s",
		 "class", "target", "flows", "backlog", "pkts", "sent", "pkts",
		 "drops", "marks", "delay", "peak", "weight");
	put_text(line);
}

/* Weights have 32 bits after the point; 1 is that of one old flow. */
static double weight(const struct figures *class)
{
	return (double)figure(class, TCA_CONFUCIUS_CLASS_WEIGHT) / 4294967296.0;
}

#define CLASS(class, name) \
	((unsigned long long)figure(class, TCA_CONFUCIUS_CLASS_##name))

static void print_class_text(const char *name, const char *target,
			     const struct figures *class)
{
	char line[256], delay[32], peak[32];

	confucius_value_text(TIME, CLASS(class, DELAY), delay, sizeof(delay));
	confucius_value_text(TIME, CLASS(class, PEAK), peak, sizeof(peak));
	snprintf(line, sizeof(line),
		 "  %-5s %6s %6llu %9llu %7llu %12llu %10llu %7llu %7llu %9s %9s %7.3f",
		 name, target, CLASS(class, FLOWS), CLASS(class, BACKLOG_BYTES),
		 CLASS(class, BACKLOG_PACKETS), CLASS(class, SENT_BYTES),
		 CLASS(class, SENT_PACKETS), CLASS(class, DROPS),
		 CLASS(class, MARKS), delay, peak, weight(class));
	put_text(line);
}

static void print_class_json(const struct figures *class)
{
	put_json_u64("flows", CLASS(class, FLOWS));
	put_json_u64("backlog", CLASS(class, BACKLOG_BYTES));
	put_json_u64("backlog_packets", CLASS(class, BACKLOG_PACKETS));
	put_json_u64("sent", CLASS(class, SENT_BYTES));
	put_json_u64("sent_packets", CLASS(class, SENT_PACKETS));
	put_json_u64("drops", CLASS(class, DROPS));
	put_json_u64("marks", CLASS(class, MARKS));
	put_json_u64("delay_us", CLASS(class, DELAY));
	put_json_u64("peak_us", CLASS(class, PEAK));
	put_json_float("weight", weight(class));
}

/* Class 0 is that of the new flows and has no target. */
static void print_class(unsigned int index, const struct figures *class)
{
	char name[16] = "new", target[16] = "-";
	bool known = class->attr[TCA_CONFUCIUS_CLASS_TARGET];

	if (index)
		snprintf(name, sizeof(name), "%u", index);
	if (known)
		snprintf(target, sizeof(target), "%llu%%", CLASS(class, TARGET));
	put_newline();
	print_class_text(name, target, class);

	put_json_object();
	put_json_string("class", name);
	if (known)
		put_json_u64("target", CLASS(class, TARGET));
	print_class_json(class);
	put_json_object_end();
}

static void print_classes(const struct rtattr *nest)
{
	const struct rtattr *attr = RTA_DATA(nest);
	int len = RTA_PAYLOAD(nest);
	struct figures class;
	unsigned int index = 0;

	put_newline();
	print_class_header();
	put_json_array("classes");
	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len)) {
		if ((attr->rta_type & NLA_TYPE_MASK) !=
		    TCA_CONFUCIUS_STATS_CLASS)
			continue;
		read_figures(&class, attr, TCA_CONFUCIUS_CLASS_MAX);
		print_class(index++, &class);
	}
	put_json_array_end();
}

/* `tc -s class show` has bytes, packets, drops and backlog from tc itself. */
static void print_one(const struct figures *class)
{
	char line[128], delay[32], peak[32];

	confucius_value_text(TIME, CLASS(class, DELAY), delay, sizeof(delay));
	confucius_value_text(TIME, CLASS(class, PEAK), peak, sizeof(peak));
	snprintf(line, sizeof(line),
		 "  flows %llu marks %llu delay %s peak %s weight %.3f",
		 CLASS(class, FLOWS), CLASS(class, MARKS), delay, peak,
		 weight(class));
	put_text(line);
	put_json_u64("flows", CLASS(class, FLOWS));
	put_json_u64("marks", CLASS(class, MARKS));
	put_json_u64("delay_us", CLASS(class, DELAY));
	put_json_u64("peak_us", CLASS(class, PEAK));
	put_json_float("weight", weight(class));
}

int confucius_print_xstats(const struct qdisc_util *qu, FILE *f,
			   struct rtattr *xstats)
{
	struct figures st, class;
	const struct rtattr *one;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	read_figures(&st, xstats, TCA_CONFUCIUS_STATS_MAX);
	one = st.attr[TCA_CONFUCIUS_STATS_CLASS];
	if (!one)
		return 0;
	/* A class gives itself alone, by the same attribute as the qdisc. */
	if (!st.attr[TCA_CONFUCIUS_STATS_FLOWS]) {
		read_figures(&class, one, TCA_CONFUCIUS_CLASS_MAX);
		print_one(&class);
		return 0;
	}
	print_totals(&st);
	print_classes(xstats);
	return 0;
}
