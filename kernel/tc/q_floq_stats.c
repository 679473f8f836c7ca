// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of floq: totals, then a line for each type of traffic, and one for each of its
 * phases.
 */
#include <string.h>

#include "q_floq.h"
#include "tc_figures.h"
#include "tc_print.h"
#include "tc_words.h"

_Static_assert((int)TCA_FLOQ_STATS_MAX <= TC_FIGURES_MAX &&
	       (int)TCA_FLOQ_CLASS_MAX <= TC_FIGURES_MAX &&
	       (int)TCA_FLOQ_PHASE_MAX <= TC_FIGURES_MAX, "all figures have room");

#define TOTAL(name, key) { TCA_FLOQ_STATS_##name, key }

/* In lines, each ended by an empty entry. */
static const struct tc_figure totals[] = {
	TOTAL(FLOWS, "flows"),
	TOTAL(NEW_FLOWS, "new_flows"),
	TOTAL(FORGOTTEN, "forgotten"),
	TOTAL(SHARED, "shared"),
	{},
	TOTAL(TURNED, "turned"),
	TOTAL(PARDONED, "pardoned"),
	TOTAL(MARKS, "marks"),
	TOTAL(GSO_SPLIT, "gso_split"),
	{},
	TOTAL(DROP_TAIL, "drop_tail"),
	TOTAL(DROP_CONGESTION, "drop_congestion"),
	TOTAL(DROP_CHANGE, "drop_change"),
	TOTAL(DROP_SPLIT, "drop_split"),
	TOTAL(DROP_FILTER, "drop_filter"),
	{},
};

static const char *const kinds[] = {
	[TC_FLOQ_RESPONSIVE] = "responsive",
	[TC_FLOQ_UNRESPONSIVE] = "unresponsive",
};

static const char *const phases[] = {
	[TC_FLOQ_INITIAL] = "initial",
	[TC_FLOQ_INITIAL_LOST] = "initial_lost",
	[TC_FLOQ_LATER] = "later",
};

/* The kernel may be newer than this. */
static const char *name_of(const char *const *names, size_t count, __u64 number)
{
	return number < count ? names[number] : "unknown";
}

#define CLASS(class, name) ((unsigned long long)tc_figure(class, TCA_FLOQ_CLASS_##name))
#define PHASE(phase, name) ((unsigned long long)tc_figure(phase, TCA_FLOQ_PHASE_##name))

static const char *kind_of(const struct tc_figures *class)
{
	return name_of(kinds, TC_COUNT(kinds), CLASS(class, KIND));
}

static void print_phase(const char *kind, const struct tc_figures *phase)
{
	const char *name = name_of(phases, TC_COUNT(phases), PHASE(phase, NAME));
	char line[256];

	snprintf(line, sizeof(line), "  %-12s %-12s %10llu %9llu %10llu %9llu", kind, name,
		 PHASE(phase, ARRIVED), PHASE(phase, DROP_TAIL),
		 PHASE(phase, DROP_CONGESTION), PHASE(phase, MARKS));
	put_newline();
	put_text(line);

	put_json_object();
	put_json_string("phase", name);
	put_json_u64("arrived", PHASE(phase, ARRIVED));
	put_json_u64("drop_tail", PHASE(phase, DROP_TAIL));
	put_json_u64("drop_congestion", PHASE(phase, DROP_CONGESTION));
	put_json_u64("marks", PHASE(phase, MARKS));
	put_json_object_end();
}

/* The phases of a type, from the kernel's @nest. */
static void print_phases(const char *kind, const struct rtattr *nest)
{
	const struct rtattr *attr = NULL;
	struct tc_figures phase;

	put_json_array("phases");
	while ((attr = tc_next(nest, attr, TCA_FLOQ_CLASS_PHASE))) {
		tc_read_figures(&phase, attr);
		print_phase(kind, &phase);
	}
	put_json_array_end();
}

static void print_phase_header(void)
{
	char line[128];

	snprintf(line, sizeof(line), "  %-12s %-12s %10s %9s %10s %9s", "type", "phase",
		 "arrived", "drop_tail", "congestion", "marks");
	put_newline();
	put_text(line);
}

static void print_class_text(const struct tc_figures *class)
{
	char line[256];

	snprintf(line, sizeof(line), "  %-12s %6llu %7llup %11llu %7llup %14llu %11llup",
		 kind_of(class), CLASS(class, FLOWS), CLASS(class, QUOTA),
		 CLASS(class, BACKLOG_BYTES), CLASS(class, BACKLOG_PACKETS),
		 CLASS(class, SENT_BYTES), CLASS(class, SENT_PACKETS));
	put_newline();
	put_text(line);
}

static void print_class_json(const struct tc_figures *class)
{
	put_json_string("type", kind_of(class));
	put_json_u64("flows", CLASS(class, FLOWS));
	put_json_u64("quota", CLASS(class, QUOTA));
	put_json_u64("backlog", CLASS(class, BACKLOG_BYTES));
	put_json_u64("backlog_packets", CLASS(class, BACKLOG_PACKETS));
	put_json_u64("sent", CLASS(class, SENT_BYTES));
	put_json_u64("sent_packets", CLASS(class, SENT_PACKETS));
}

static void print_class_header(void)
{
	char line[128];

	snprintf(line, sizeof(line), "  %-12s %6s %8s %11s %8s %14s %12s", "type", "flows",
		 "quota", "backlog", "", "sent", "");
	put_text(line);
}

/* The lines of types stand before those of phases; in JSON phases are inside of types. */
static void print_classes(const struct rtattr *nest)
{
	const struct rtattr *attr = NULL;
	struct tc_figures class;

	print_class_header();
	while ((attr = tc_next(nest, attr, TCA_FLOQ_STATS_CLASS))) {
		tc_read_figures(&class, attr);
		print_class_text(&class);
	}
	print_phase_header();
	put_json_array("types");
	while ((attr = tc_next(nest, attr, TCA_FLOQ_STATS_CLASS))) {
		tc_read_figures(&class, attr);
		put_json_object();
		print_class_json(&class);
		print_phases(kind_of(&class), attr);
		put_json_object_end();
	}
	put_json_array_end();
}

/* `tc -s class show` has bytes, packets, drops and backlog from tc itself. */
static void print_one(const struct rtattr *nest)
{
	struct tc_figures class;
	char line[128];

	tc_read_figures(&class, nest);
	snprintf(line, sizeof(line), "  %s flows %llu quota %llup", kind_of(&class),
		 CLASS(&class, FLOWS), CLASS(&class, QUOTA));
	put_text(line);
	put_json_string("type", kind_of(&class));
	put_json_u64("flows", CLASS(&class, FLOWS));
	put_json_u64("quota", CLASS(&class, QUOTA));
	print_phase_header();
	print_phases(kind_of(&class), nest);
}

static void print_delay(__u64 us)
{
	char value[32];

	put_text(" delay ");
	put_text(tc_value_text(TIME, us, value, sizeof(value)));
	put_newline();
	put_json_u64("delay_us", us);
}

int floq_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_figures st;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	tc_read_figures(&st, xstats);
	if (!st.attr[TCA_FLOQ_STATS_CLASS])
		return 0;
	/* A class gives itself alone, by the same attribute as the qdisc. */
	if (!st.attr[TCA_FLOQ_STATS_FLOWS]) {
		print_one(st.attr[TCA_FLOQ_STATS_CLASS]);
		return 0;
	}
	tc_print_figures(&st, totals, TC_COUNT(totals));
	print_delay(tc_figure(&st, TCA_FLOQ_STATS_DELAY));
	print_classes(xstats);
	return 0;
}
