// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of confucius: totals, then a table with a line for each class.
 */
#include <string.h>

#include "q_confucius.h"
#include "tc_figures.h"
#include "tc_print.h"
#include "tc_words.h"

_Static_assert((int)TCA_CONFUCIUS_CLASS_MAX <= TC_FIGURES_MAX &&
	       (int)TCA_CONFUCIUS_STATS_MAX <= TC_FIGURES_MAX, "all figures have room");

#define TOTAL(name, key) { TCA_CONFUCIUS_STATS_##name, key }

/* In lines, each ended by an empty entry. */
static const struct tc_figure totals[] = {
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
static double weight(const struct tc_figures *class)
{
	return (double)tc_figure(class, TCA_CONFUCIUS_CLASS_WEIGHT) / 4294967296.0;
}

#define CLASS(class, name) \
	((unsigned long long)tc_figure(class, TCA_CONFUCIUS_CLASS_##name))

static void print_class_text(const char *name, const char *target,
			     const struct tc_figures *class)
{
	char line[256], delay[32], peak[32];

	tc_value_text(TIME, CLASS(class, DELAY), delay, sizeof(delay));
	tc_value_text(TIME, CLASS(class, PEAK), peak, sizeof(peak));
	snprintf(line, sizeof(line),
		 "  %-5s %6s %6llu %9llu %7llu %12llu %10llu %7llu %7llu %9s %9s %7.3f",
		 name, target, CLASS(class, FLOWS), CLASS(class, BACKLOG_BYTES),
		 CLASS(class, BACKLOG_PACKETS), CLASS(class, SENT_BYTES),
		 CLASS(class, SENT_PACKETS), CLASS(class, DROPS),
		 CLASS(class, MARKS), delay, peak, weight(class));
	put_text(line);
}

static void print_class_json(const struct tc_figures *class)
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
static void print_class(unsigned int index, const struct tc_figures *class)
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
	const struct rtattr *attr = NULL;
	struct tc_figures class;
	unsigned int index = 0;

	put_newline();
	print_class_header();
	put_json_array("classes");
	while ((attr = tc_next(nest, attr, TCA_CONFUCIUS_STATS_CLASS))) {
		tc_read_figures(&class, attr);
		print_class(index++, &class);
	}
	put_json_array_end();
}

/* `tc -s class show` has bytes, packets, drops and backlog from tc itself. */
static void print_one(const struct tc_figures *class)
{
	char line[128], delay[32], peak[32];

	tc_value_text(TIME, CLASS(class, DELAY), delay, sizeof(delay));
	tc_value_text(TIME, CLASS(class, PEAK), peak, sizeof(peak));
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
	struct tc_figures st, class;
	const struct rtattr *one;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	tc_read_figures(&st, xstats);
	one = st.attr[TCA_CONFUCIUS_STATS_CLASS];
	if (!one)
		return 0;
	/* A class gives itself alone, by the same attribute as the qdisc. */
	if (!st.attr[TCA_CONFUCIUS_STATS_FLOWS]) {
		tc_read_figures(&class, one);
		print_one(&class);
		return 0;
	}
	tc_print_figures(&st, totals, TC_COUNT(totals));
	print_classes(xstats);
	return 0;
}
