/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of the discipline under test, for the tests. */
#ifndef CONFUCIUS_TEST_SETTINGS_H
#define CONFUCIUS_TEST_SETTINGS_H

#include "nl.h"
#include "subject.h"

/* The parameters that a message sets, or a dump shows: any may be absent. */
struct settings {
	bool		set[ATTR_MAX + 1];
	uint32_t	value[ATTR_MAX + 1];
	unsigned int	targets;
	uint16_t	target[TARGETS];
};

/* Appends a number in the option's size. */
void option_put(struct nl_msg *m, const struct option *o, uint32_t value);

/* Every parameter with probability one half, and legal. */
void settings_random(struct settings *s, uint64_t *rng);
void settings_put(struct nl_msg *m, const struct settings *s);

/*
 * Reads a dump's TCA_OPTIONS; NULL, or the parameter that is absent or out of
 * its range.
 */
const char *settings_read(struct settings *s, struct rtattr *opts);

/* NULL, or the first parameter set by `want` that differs in `have`. */
const char *settings_differ(const struct settings *want, const struct settings *have);

#endif
