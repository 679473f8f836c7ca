// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of confucius: totals, then a table with a line for each class.
 */
#include <stddef.h>
#include <string.h>

#include "q_confucius.h"

/* One figure of the statistics, in text with its name. */
static void print_count(const char *key, __u64 value)
{
	char text[64];

	snprintf(text, sizeof(text), " %s %llu", key, (unsigned long long)value);
	put_text(text);
	put_json_u64(key, value);
}

static void print_totals(const struct tc_confucius_xstats *st)
{
	put_text(" ");
	print_count("flows", st->flows);
	print_count("new_flows", st->new_flows);
	print_count("forgotten", st->forgotten);
	print_count("shared", st->shared);
	put_newline();
	put_text(" ");
	print_count("aged", st->aged);
	print_count("moved_up", st->moved_up);
	print_count("moved_down", st->moved_down);
	print_count("marks", st->marks);
	print_count("gso_split", st->gso_split);
	put_newline();
	put_text(" ");
	print_count("drop_tail", st->drop_tail);
	print_count("drop_overlimit", st->drop_overlimit);
	print_count("drop_change", st->drop_change);
	print_count("memory_used", st->memory_used);
	print_count("memory_peak", st->memory_peak);
}

static void print_class_header(void)
{
	char line[128];

	snprintf(line, sizeof(line), "  %-5s %6s %6s %9s %7s %12s %10s %7s %7s %9s %9s %7s",
		 "class", "target", "flows", "backlog", "pkts", "sent", "pkts", "drops", "marks",
		 "delay", "peak", "weight");
	put_text(line);
}

/* Weights have 32 bits after the point; 1 is that of one old flow. */
static double weight(const struct tc_confucius_class *class)
{
	return (double)class->weight / 4294967296.0;
}

static void print_class_text(const char *name, const char *target,
			     const struct tc_confucius_class *class)
{
	char line[256], delay[32], peak[32];

	snprintf(line, sizeof(line),
		 "  %-5s %6s %6u %9llu %7u %12llu %10llu %7u %7u %9s %9s %7.3f", name, target,
		 class->flows, (unsigned long long)class->backlog_bytes, class->backlog_packets,
		 (unsigned long long)class->sent_bytes, (unsigned long long)class->sent_packets,
		 class->drops, class->marks,
		 confucius_value_text(TIME, class->delay_us, delay, sizeof(delay)),
		 confucius_value_text(TIME, class->peak_us, peak, sizeof(peak)), weight(class));
	put_text(line);
}

static void print_class_json(const struct tc_confucius_class *class)
{
	put_json_u64("flows", class->flows);
	put_json_u64("backlog", class->backlog_bytes);
	put_json_u64("backlog_packets", class->backlog_packets);
	put_json_u64("sent", class->sent_bytes);
	put_json_u64("sent_packets", class->sent_packets);
	put_json_u64("drops", class->drops);
	put_json_u64("marks", class->marks);
	put_json_u64("delay_us", class->delay_us);
	put_json_u64("peak_us", class->peak_us);
	put_json_float("weight", weight(class));
}

/* Class 0 is that of the new flows and has no target. */
static void print_class(size_t index, const struct tc_confucius_class *class)
{
	char name[16] = "new", target[16] = "-";
	bool known = index && index <= confucius_shown_count;

	if (index)
		snprintf(name, sizeof(name), "%zu", index);
	if (known)
		snprintf(target, sizeof(target), "%u%%", confucius_shown_targets[index - 1]);
	put_newline();
	print_class_text(name, target, class);

	put_json_object();
	put_json_string("class", name);
	if (known)
		put_json_u64("target", confucius_shown_targets[index - 1]);
	print_class_json(class);
	put_json_object_end();
}

/* `tc -s class show` has bytes, packets, drops and backlog from tc itself. */
static int print_class_xstats(const struct rtattr *xstats)
{
	char line[128], delay[32], peak[32];
	struct tc_confucius_class class;

	memcpy(&class, RTA_DATA(xstats), sizeof(class));
	snprintf(line, sizeof(line), "  flows %u marks %u delay %s peak %s weight %.3f", class.flows,
		 class.marks, confucius_value_text(TIME, class.delay_us, delay, sizeof(delay)),
		 confucius_value_text(TIME, class.peak_us, peak, sizeof(peak)), weight(&class));
	put_text(line);
	put_json_u64("flows", class.flows);
	put_json_u64("marks", class.marks);
	put_json_u64("delay_us", class.delay_us);
	put_json_u64("peak_us", class.peak_us);
	put_json_float("weight", weight(&class));
	return 0;
}

int confucius_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	const size_t totals = offsetof(struct tc_confucius_xstats, class);
	struct tc_confucius_xstats st = {};
	size_t len, classes;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	len = RTA_PAYLOAD(xstats);
	/* A qdisc and its classes give theirs by the same attribute, of different sizes. */
	if (len == sizeof(struct tc_confucius_class))
		return print_class_xstats(xstats);
	if (len < totals)
		return 0;
	memcpy(&st, RTA_DATA(xstats), len < sizeof(st) ? len : sizeof(st));
	print_totals(&st);

	classes = (len - totals) / sizeof(st.class[0]);
	if (classes > st.classes)
		classes = st.classes;
	if (classes > TC_CONFUCIUS_CLASSES)
		classes = TC_CONFUCIUS_CLASSES;
	if (!classes)
		return 0;
	put_newline();
	print_class_header();
	put_json_array("classes");
	for (size_t i = 0; i < classes; i++)
		print_class(i, &st.class[i]);
	put_json_array_end();
	return 0;
}
