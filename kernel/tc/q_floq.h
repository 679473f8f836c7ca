/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared parts of the plugin: parameters in q_floq.c, statistics in
 * q_floq_stats.c.
 */
#ifndef Q_FLOQ_H
#define Q_FLOQ_H

#include "tc_plugin.h"
#include "../floq/pkt_sched_floq.h"

int floq_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats);

#endif
