/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics in nested attributes. A newer kernel may give more, which is passed over, and an
 * older one less, which counts as 0.
 */
#ifndef TC_FIGURES_H
#define TC_FIGURES_H

#include "tc_plugin.h"

#define TC_FIGURES_MAX	47	/* no nest here has a higher attribute */

/* The kernel's value under a number, if any. */
struct tc_figures {
	const struct rtattr *attr[TC_FIGURES_MAX + 1];
};

/* A figure and its name; one without a name ends a line. */
struct tc_figure {
	int type;
	const char *key;
};

void tc_read_figures(struct tc_figures *to, const struct rtattr *nest);

/* Reads any size: a figure may grow. */
__u64 tc_figure(const struct tc_figures *from, int type);

/* The next attribute of @type in @list behind @after, or the first if that is NULL; or NULL. */
const struct rtattr *tc_next(const struct rtattr *list, const struct rtattr *after, int type);

/* Lines of names and values, and the same in JSON. */
void tc_print_figures(const struct tc_figures *st, const struct tc_figure *figures, size_t count);

#endif
