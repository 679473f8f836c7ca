/* SPDX-License-Identifier: GPL-2.0 */
/* The discipline under test: its parameters and statistics as its netlink header states them. */
#ifndef CONFUCIUS_TEST_SUBJECT_H
#define CONFUCIUS_TEST_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ATTR_MAX	47	/* no discipline here has a higher attribute */
#define TARGETS		7	/* of Confucius */
#define TARGET_MAX	1000

/* One number; the targets, which are a list, are apart. */
struct option {
	int		type;
	const char	*name;
	size_t		size;		/* bytes: 4 or 1 */
	uint32_t	min, max;
};

struct subject {
	const char		*kind, *module;
	const struct option	*options;
	unsigned int		option_count;
	/* Attributes: the highest, and those that tests know; 0 for one that there is not. */
	int			max, limit, memory_limit, flows, targets;
	int			once;		/* cannot be changed, as flows, and is left as it is */
	bool			one_queue;	/* flows are not kept apart */
	int			quotas[2];	/* percent, not more than 100 together */
	uint32_t		flow_step;	/* flows are rounded up to it */
	/* Statistics: the same. */
	int			stats_max, stats_flows, stats_memory, stats_class, stats_change;
	/*
	 * Per class; there are `classes`, where 0 means one more than targets.
	 */
	int			class_flows, class_packets, class_bytes;
	unsigned int		classes;
	const int		*drops;
	unsigned int		drop_count;
};

/* Confucius until another is chosen. */
extern const struct subject *subject;

/* Chooses by name; false if that kind is unknown; nothing is changed then. */
bool subject_choose(const char *kind);

#endif
