// SPDX-License-Identifier: GPL-2.0
#include "subject.h"

#include "../confucius/pkt_sched_confucius.h"
#include "../floq/pkt_sched_floq.h"
#include "../mencius/pkt_sched_mencius.h"

#include <string.h>

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* Parameters that are one number of a kind; the others have tests of their own. */
#define SIZE_FLAG	1
#define SIZE_CHOICE	1
#define SIZE_NUMBER	4
#define SIZE_PACKETS	4
#define SIZE_PERCENT	4
#define SIZE_SIZE	4
#define SIZE_TIME	4
#define OWN(attribute, word, member, least, most, preset)
#define AROUND	PARAM

static const struct option confucius_options[] = {
#define PARAM(attribute, word, member, kind, least, most, preset) \
	{ TCA_CONFUCIUS_##attribute, #word, SIZE_##kind, least, most },
#include "../confucius/confucius_params.h"
#undef PARAM
};

static const int confucius_drops[] = {
	TCA_CONFUCIUS_STATS_DROP_TAIL, TCA_CONFUCIUS_STATS_DROP_OVERLIMIT,
	TCA_CONFUCIUS_STATS_DROP_CHANGE, TCA_CONFUCIUS_STATS_DROP_SPLIT,
	TCA_CONFUCIUS_STATS_DROP_FILTER,
};

static const struct option mencius_options[] = {
#define PARAM(attribute, word, member, kind, least, most, preset) \
	{ TCA_MENCIUS_##attribute, #word, SIZE_##kind, least, most },
#include "../mencius/mencius_params.h"
#undef PARAM
};

static const int mencius_drops[] = {
	TCA_MENCIUS_STATS_DROP_TAIL, TCA_MENCIUS_STATS_DROP_OVERLIMIT,
	TCA_MENCIUS_STATS_DROP_CONGESTION, TCA_MENCIUS_STATS_DROP_CHANGE,
	TCA_MENCIUS_STATS_DROP_SPLIT, TCA_MENCIUS_STATS_DROP_FILTER,
};

static const struct option floq_options[] = {
#define PARAM(attribute, word, member, kind, least, most, preset) \
	{ TCA_FLOQ_##attribute, #word, SIZE_##kind, least, most },
#include "../floq/floq_params.h"
#undef PARAM
};

static const int floq_drops[] = {
	TCA_FLOQ_STATS_DROP_TAIL, TCA_FLOQ_STATS_DROP_CONGESTION, TCA_FLOQ_STATS_DROP_CHANGE,
	TCA_FLOQ_STATS_DROP_SPLIT, TCA_FLOQ_STATS_DROP_FILTER,
};

static const struct subject subjects[] = {
	{
		.kind = "confucius", .module = "sch_confucius",
		.options = confucius_options, .option_count = COUNT(confucius_options),
		.max = TCA_CONFUCIUS_MAX, .limit = TCA_CONFUCIUS_LIMIT,
		.memory_limit = TCA_CONFUCIUS_MEMORY_LIMIT, .flows = TCA_CONFUCIUS_FLOWS,
		.targets = TCA_CONFUCIUS_TARGETS, .flow_step = 8,
		.stats_max = TCA_CONFUCIUS_STATS_MAX, .stats_flows = TCA_CONFUCIUS_STATS_FLOWS,
		.stats_memory = TCA_CONFUCIUS_STATS_MEMORY_USED,
		.stats_class = TCA_CONFUCIUS_STATS_CLASS,
		.stats_change = TCA_CONFUCIUS_STATS_DROP_CHANGE,
		.class_flows = TCA_CONFUCIUS_CLASS_FLOWS,
		.class_packets = TCA_CONFUCIUS_CLASS_BACKLOG_PACKETS,
		.class_bytes = TCA_CONFUCIUS_CLASS_BACKLOG_BYTES,
		.drops = confucius_drops, .drop_count = COUNT(confucius_drops),
	}, {
		.kind = "mencius", .module = "sch_mencius",
		.options = mencius_options, .option_count = COUNT(mencius_options),
		.max = TCA_MENCIUS_MAX, .limit = TCA_MENCIUS_LIMIT,
		.memory_limit = TCA_MENCIUS_MEMORY_LIMIT, .flows = TCA_MENCIUS_FLOWS,
		.once = TCA_MENCIUS_SHARED,
		.flow_step = 1,
		.stats_max = TCA_MENCIUS_STATS_MAX, .stats_flows = TCA_MENCIUS_STATS_FLOWS,
		.stats_memory = TCA_MENCIUS_STATS_MEMORY_USED,
		.stats_change = TCA_MENCIUS_STATS_DROP_CHANGE,
		.drops = mencius_drops, .drop_count = COUNT(mencius_drops),
	}, {
		.kind = "floq", .module = "sch_floq", .one_queue = true,
		.options = floq_options, .option_count = COUNT(floq_options),
		.max = TCA_FLOQ_MAX, .limit = TCA_FLOQ_LIMIT, .flows = TCA_FLOQ_FLOWS,
		.quotas = { TCA_FLOQ_RESPONSIVE, TCA_FLOQ_UNRESPONSIVE }, .flow_step = 1,
		.stats_max = TCA_FLOQ_STATS_MAX, .stats_flows = TCA_FLOQ_STATS_FLOWS,
		.stats_class = TCA_FLOQ_STATS_CLASS, .stats_change = TCA_FLOQ_STATS_DROP_CHANGE,
		.classes = 2, .class_flows = TCA_FLOQ_CLASS_FLOWS,
		.class_packets = TCA_FLOQ_CLASS_BACKLOG_PACKETS,
		.class_bytes = TCA_FLOQ_CLASS_BACKLOG_BYTES,
		.drops = floq_drops, .drop_count = COUNT(floq_drops),
	},
};

_Static_assert((int)TCA_CONFUCIUS_STATS_MAX <= ATTR_MAX && (int)TCA_MENCIUS_STATS_MAX <= ATTR_MAX &&
	       (int)TCA_CONFUCIUS_MAX <= ATTR_MAX && (int)TCA_MENCIUS_MAX <= ATTR_MAX &&
	       (int)TCA_FLOQ_STATS_MAX <= ATTR_MAX && (int)TCA_FLOQ_MAX <= ATTR_MAX &&
	       (int)TCA_CONFUCIUS_CLASS_MAX <= ATTR_MAX && (int)TCA_FLOQ_CLASS_MAX <= ATTR_MAX,
	       "all attributes have room");

const struct subject *subject = &subjects[0];

bool subject_choose(const char *kind)
{
	for (unsigned int i = 0; i < COUNT(subjects); i++)
		if (!strcmp(kind, subjects[i].kind)) {
			subject = &subjects[i];
			return true;
		}
	return false;
}
