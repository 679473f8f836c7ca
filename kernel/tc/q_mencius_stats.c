// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of mencius: of the qdisc, of a host and of a flow.
 */
#include <arpa/inet.h>
#include <string.h>

#include "q_mencius.h"
#include "tc_figures.h"
#include "tc_print.h"
#include "tc_words.h"

_Static_assert((int)TCA_MENCIUS_STATS_MAX <= TC_FIGURES_MAX &&
	       (int)TCA_MENCIUS_HOST_MAX <= TC_FIGURES_MAX &&
	       (int)TCA_MENCIUS_FLOW_MAX <= TC_FIGURES_MAX, "all figures have room");

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

/* Writes the address that the kernel gave, if it did; returns whether. */
static bool read_address(const struct rtattr *attr, char *text, size_t size)
{
	switch (attr ? RTA_PAYLOAD(attr) : 0) {
	case sizeof(struct in_addr):
		return inet_ntop(AF_INET, RTA_DATA(attr), text, size);
	case sizeof(struct in6_addr):
		return inet_ntop(AF_INET6, RTA_DATA(attr), text, size);
	}
	return false;
}

/* In text a space and the address, in JSON under @key; nothing if there is none. */
static void put_address(const char *key, const struct rtattr *attr)
{
	char text[INET6_ADDRSTRLEN];

	if (!read_address(attr, text, sizeof(text)))
		return;
	put_text(" ");
	put_text(text);
	put_json_string(key, text);
}

/* What went ahead of others, and the host that had most of it. */
static void print_privilege(const struct tc_figures *st)
{
	if (!st->attr[TCA_MENCIUS_STATS_AHEAD_BYTES])
		return;
	put_newline();
	put_text(" ");
	put_u64("ahead_bytes", tc_figure(st, TCA_MENCIUS_STATS_AHEAD_BYTES));
	put_u64("most_ahead", tc_figure(st, TCA_MENCIUS_STATS_MOST_AHEAD));
	if (!st->attr[TCA_MENCIUS_STATS_MOST_ADDRESS])
		return;
	put_text(" by");
	put_address("most_ahead_by", st->attr[TCA_MENCIUS_STATS_MOST_ADDRESS]);
}

static void print_qdisc(const struct tc_figures *st)
{
	tc_print_figures(st, totals, TC_COUNT(totals));
	put_time("delay", tc_figure(st, TCA_MENCIUS_STATS_DELAY));
	put_time("full_packet", tc_figure(st, TCA_MENCIUS_STATS_FULL));
	if (st->attr[TCA_MENCIUS_STATS_SHARE])
		put_u64("share", tc_figure(st, TCA_MENCIUS_STATS_SHARE));
	print_privilege(st);
}

static void print_host(const struct tc_figures *st)
{
	put_text("  host");
	put_json_string("is", "host");
	put_address("address", st->attr[TCA_MENCIUS_HOST_ADDRESS]);
	put_u64("flows", tc_figure(st, TCA_MENCIUS_HOST_FLOWS));
	put_u64("settled", tc_figure(st, TCA_MENCIUS_HOST_SETTLED));
	put_u64("others", tc_figure(st, TCA_MENCIUS_HOST_OTHERS));
	put_time("held", tc_figure(st, TCA_MENCIUS_HOST_HELD));
	put_u64("marks", tc_figure(st, TCA_MENCIUS_HOST_MARKS));
	put_time("wait", tc_figure(st, TCA_MENCIUS_HOST_WAIT));
	put_u64("ahead", tc_figure(st, TCA_MENCIUS_HOST_AHEAD));
	put_time("age", tc_figure(st, TCA_MENCIUS_HOST_AGE) * TC_TIME_MSEC);
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
	struct tc_figures st, of_class;
	const struct rtattr *host, *flow;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	tc_read_figures(&st, xstats);
	host = st.attr[TCA_MENCIUS_STATS_HOST];
	flow = st.attr[TCA_MENCIUS_STATS_FLOW];
	if (host) {
		tc_read_figures(&of_class, host);
		print_host(&of_class);
	} else if (flow) {
		tc_read_figures(&of_class, flow);
		print_flow(&of_class);
	} else {
		print_qdisc(&st);
	}
	return 0;
}
