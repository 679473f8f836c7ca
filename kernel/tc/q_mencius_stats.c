// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of mencius: of the qdisc, of a host and of a flow.
 */
#include <string.h>

#include "q_mencius.h"
#include "tc_figures.h"
#include "tc_print.h"
#include "tc_words.h"

_Static_assert((int)TCA_MENCIUS_STATS_MAX <= TC_FIGURES_MAX &&
	       (int)TCA_MENCIUS_HOST_MAX <= TC_FIGURES_MAX &&
	       (int)TCA_MENCIUS_FLOW_MAX <= TC_FIGURES_MAX, "all figures have room");

/* Attributes of a host have the same numbers as those of a qdisc, which has more. */
_Static_assert((int)TCA_MENCIUS_HOST_MAX < (int)TCA_MENCIUS_STATS_DROP_TAIL,
	       "a host can be told from a qdisc");

#define TOTAL(name, key) { TCA_MENCIUS_STATS_##name, key }

/* In lines, each ended by an empty entry. */
static const struct tc_figure totals[] = {
	TOTAL(FLOWS, "flows"),
	TOTAL(NEW_FLOWS, "new_flows"),
	TOTAL(SHARED_FLOWS, "shared_flows"),
	TOTAL(HOSTS, "hosts"),
	TOTAL(NEW_HOSTS, "new_hosts"),
	TOTAL(SHARED_HOSTS, "shared_hosts"),
	{},
	TOTAL(AHEAD_FLOWS, "ahead_flows"),
	TOTAL(AHEAD_HOSTS, "ahead_hosts"),
	TOTAL(MARKS, "marks"),
	TOTAL(GSO_SPLIT, "gso_split"),
	{},
	TOTAL(DROP_CONGESTION, "drop_congestion"),
	TOTAL(DROP_OVERLIMIT, "drop_overlimit"),
	TOTAL(DROP_TAIL, "drop_tail"),
	TOTAL(DROP_CHANGE, "drop_change"),
	TOTAL(DROP_SPLIT, "drop_split"),
	TOTAL(DROP_FILTER, "drop_filter"),
	{},
	TOTAL(MEMORY_USED, "memory_used"),
	TOTAL(MEMORY_PEAK, "memory_peak"),
	{},
};

static void put_u64(const char *name, __u64 value)
{
	char text[64];

	snprintf(text, sizeof(text), " %s %llu", name, (unsigned long long)value);
	put_text(text);
	put_json_u64(name, value);
}

/* In text @name, in JSON with its unit, which is microseconds. */
static void put_time(const char *name, __u64 us)
{
	char text[64], value[32];

	snprintf(text, sizeof(text), " %s %s", name, tc_value_text(TIME, us, value, sizeof(value)));
	put_text(text);
	snprintf(text, sizeof(text), "%s_us", name);
	put_json_u64(text, us);
}

static void print_qdisc(const struct tc_figures *st)
{
	tc_print_figures(st, totals, TC_COUNT(totals));
	put_time("delay", tc_figure(st, TCA_MENCIUS_STATS_DELAY));
	put_time("full_packet", tc_figure(st, TCA_MENCIUS_STATS_FULL));
	if (st->attr[TCA_MENCIUS_STATS_SHARE])
		put_u64("share", tc_figure(st, TCA_MENCIUS_STATS_SHARE));
}

static void print_host(const struct tc_figures *st)
{
	put_text("  host");
	put_json_string("is", "host");
	put_u64("flows", tc_figure(st, TCA_MENCIUS_HOST_FLOWS));
	put_u64("settled", tc_figure(st, TCA_MENCIUS_HOST_SETTLED));
	put_u64("others", tc_figure(st, TCA_MENCIUS_HOST_OTHERS));
	put_time("held", tc_figure(st, TCA_MENCIUS_HOST_HELD));
}

/*
 * A flow is protected while it is settled, which is the word its owner
 * looks for.
 */
static void print_flow(const struct tc_figures *st)
{
	__u64 settled = tc_figure(st, TCA_MENCIUS_FLOW_SETTLED) * TC_TIME_MSEC;

	char host[16];

	/* As tc writes a class, without the qdisc's own number. */
	snprintf(host, sizeof(host), ":%llx",
		 (unsigned long long)tc_figure(st, TCA_MENCIUS_FLOW_HOST));
	put_text("  flow of ");
	put_text(host);
	put_json_string("is", "flow");
	put_json_string("host", host);
	if (settled)
		put_time("settled", settled);
	else
		put_text(" not settled");
	put_time("delay", tc_figure(st, TCA_MENCIUS_FLOW_DELAY));
	put_time("wait", tc_figure(st, TCA_MENCIUS_FLOW_WAIT));
	put_u64("marks", tc_figure(st, TCA_MENCIUS_FLOW_MARKS));
}

int mencius_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_figures st, flow;
	const struct rtattr *nest;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	tc_read_figures(&st, xstats);
	nest = st.attr[TCA_MENCIUS_FLOW];
	if (st.attr[TCA_MENCIUS_STATS_DROP_TAIL]) {
		print_qdisc(&st);
	} else if (nest) {
		tc_read_figures(&flow, nest);
		print_flow(&flow);
	} else {
		print_host(&st);
	}
	return 0;
}
