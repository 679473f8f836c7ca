/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared parts of the plugin: parameters in q_mencius.c, statistics in
 * q_mencius_stats.c.
 */
#ifndef Q_MENCIUS_H
#define Q_MENCIUS_H

#include "tc_plugin.h"
#include "../mencius/pkt_sched_mencius.h"

int mencius_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats);

#endif
