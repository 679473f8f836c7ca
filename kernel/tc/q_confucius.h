/* SPDX-License-Identifier: GPL-2.0 */
/* What the two halves of the plugin share: parameters in q_confucius.c, statistics beside it. */
#ifndef Q_CONFUCIUS_H
#define Q_CONFUCIUS_H

#include "tc_plugin.h"
#include "tc_print.h"
#include "pkt_sched_confucius.h"

enum confucius_kind { NUMBER, PACKETS, SIZE, TIME, PERCENT };

/* A value as it is typed; exact, so that it can be given back. Returns @text. */
const char *confucius_value_text(enum confucius_kind kind, __u64 value, char *text, size_t size);

int confucius_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats);

#endif
