/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared parts of the plugin: parameters in q_confucius.c, statistics in
 * q_confucius_stats.c.
 */
#ifndef Q_CONFUCIUS_H
#define Q_CONFUCIUS_H

#include "tc_plugin.h"
#include "../confucius/pkt_sched_confucius.h"

int confucius_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats);

#endif
