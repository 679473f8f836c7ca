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
	print_color_string(PRINT_FP, COLOR_NONE, NULL, " %s", key);
	print_color_u64(PRINT_ANY, COLOR_NONE, key, " %llu", value);
}

static void print_totals(const struct tc_confucius_xstats *st)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", " ");
	print_count("flows", st->flows);
	print_count("new_flows", st->new_flows);
	print_count("forgotten", st->forgotten);
	print_count("shared", st->shared);
	print_nl();
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", " ");
	print_count("aged", st->aged);
	print_count("moved_up", st->moved_up);
	print_count("moved_down", st->moved_down);
	print_count("marks", st->marks);
	print_count("gso_split", st->gso_split);
	print_nl();
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", " ");
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
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", line);
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
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", line);
}

static void print_class_json(const struct tc_confucius_class *class)
{
	print_color_uint(PRINT_JSON, COLOR_NONE, "flows", NULL, class->flows);
	print_color_u64(PRINT_JSON, COLOR_NONE, "backlog", NULL, class->backlog_bytes);
	print_color_uint(PRINT_JSON, COLOR_NONE, "backlog_packets", NULL, class->backlog_packets);
	print_color_u64(PRINT_JSON, COLOR_NONE, "sent", NULL, class->sent_bytes);
	print_color_u64(PRINT_JSON, COLOR_NONE, "sent_packets", NULL, class->sent_packets);
	print_color_uint(PRINT_JSON, COLOR_NONE, "drops", NULL, class->drops);
	print_color_uint(PRINT_JSON, COLOR_NONE, "marks", NULL, class->marks);
	print_color_uint(PRINT_JSON, COLOR_NONE, "delay_us", NULL, class->delay_us);
	print_color_uint(PRINT_JSON, COLOR_NONE, "peak_us", NULL, class->peak_us);
	print_color_float(PRINT_JSON, COLOR_NONE, "weight", NULL, weight(class));
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
	print_nl();
	print_class_text(name, target, class);

	open_json_object(NULL);
	print_color_string(PRINT_JSON, COLOR_NONE, "class", NULL, name);
	if (known)
		print_color_uint(PRINT_JSON, COLOR_NONE, "target", NULL, confucius_shown_targets[index - 1]);
	print_class_json(class);
	close_json_object();
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
	print_nl();
	print_class_header();
	open_json_array(PRINT_JSON, "classes");
	for (size_t i = 0; i < classes; i++)
		print_class(i, &st.class[i]);
	close_json_array(PRINT_JSON, NULL);
	return 0;
}
