// SPDX-License-Identifier: GPL-2.0
#include "subject.h"

#include "../confucius/pkt_sched_confucius.h"
#include "../floq/pkt_sched_floq.h"
#include "../mencius/pkt_sched_mencius.h"

#include <string.h>

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const struct option confucius_options[] = {
	{ TCA_CONFUCIUS_LIMIT,		"limit",	4, 1, 1000000 },
	{ TCA_CONFUCIUS_MEMORY_LIMIT,	"memory_limit",	4, 4000, 1000000000 },
	{ TCA_CONFUCIUS_FLOWS,		"flows",	4, 8, 65536 },
	{ TCA_CONFUCIUS_QUANTUM,	"quantum",	4, 256, 64000 },
	{ TCA_CONFUCIUS_OCCUPANCY,	"occupancy",	1, 0, TC_CONFUCIUS_BUFFER },
	{ TCA_CONFUCIUS_SCALE,		"scale",	4, 1000, 10000000 },
	{ TCA_CONFUCIUS_DOUBLING,	"doubling",	4, 1000, 60000000 },
	{ TCA_CONFUCIUS_HEAD_START,	"head_start",	4, 0, 6 },
	{ TCA_CONFUCIUS_ALPHA,		"alpha",	4, 1, 50 },
	{ TCA_CONFUCIUS_INTERVAL,	"interval",	4, 1000, 10000000 },
	{ TCA_CONFUCIUS_IDLE,		"idle",		4, 10000, 3600000000U },
	{ TCA_CONFUCIUS_ECN,		"ecn",		1, 0, 1 },
	{ TCA_CONFUCIUS_NAT,		"nat",		1, 0, 1 },
	{ TCA_CONFUCIUS_SPLIT_GSO,	"split_gso",	1, 0, 1 },
};

static const int confucius_drops[] = {
	TCA_CONFUCIUS_STATS_DROP_TAIL, TCA_CONFUCIUS_STATS_DROP_OVERLIMIT,
	TCA_CONFUCIUS_STATS_DROP_CHANGE, TCA_CONFUCIUS_STATS_DROP_SPLIT,
	TCA_CONFUCIUS_STATS_DROP_FILTER,
};

static const struct option mencius_options[] = {
	{ TCA_MENCIUS_LIMIT,		"limit",	4, 1, 1000000 },
	{ TCA_MENCIUS_MEMORY_LIMIT,	"memory_limit",	4, 4000, 1000000000 },
	{ TCA_MENCIUS_FLOWS,		"flows",	4, 8, 65536 },
	{ TCA_MENCIUS_HOSTS,		"hosts",	1, 0, TC_MENCIUS_HOSTS_NONE },
	{ TCA_MENCIUS_QUANTUM,		"quantum",	4, 256, 65536 },
	{ TCA_MENCIUS_TARGET,		"target",	4, 1, 10000000 },
	{ TCA_MENCIUS_INTERVAL,		"interval",	4, 1, 100000000 },
	{ TCA_MENCIUS_ECN,		"ecn",		1, 0, 1 },
	{ TCA_MENCIUS_LOW,		"low",		4, 1000, 1000000 },
	{ TCA_MENCIUS_HOLD,		"hold",		4, 1000, 1000000 },
	{ TCA_MENCIUS_RISE,		"rise",		4, 1000, 10000000 },
	{ TCA_MENCIUS_DOUBLING,		"doubling",	4, 10000, 60000000 },
	{ TCA_MENCIUS_PART,		"part",		4, 0, 256 },
	{ TCA_MENCIUS_NAT,		"nat",		1, 0, 1 },
	{ TCA_MENCIUS_SPLIT_GSO,	"split_gso",	1, 0, 1 },
	{ TCA_MENCIUS_MPU,		"mpu",		4, 0, 256 },
	{ TCA_MENCIUS_FRAMING,		"framing",	1, 0, TC_MENCIUS_FRAMING_PTM },
	{ TCA_MENCIUS_INGRESS,		"ingress",	1, 0, 1 },
};

static const int mencius_drops[] = {
	TCA_MENCIUS_STATS_DROP_TAIL, TCA_MENCIUS_STATS_DROP_OVERLIMIT,
	TCA_MENCIUS_STATS_DROP_CONGESTION, TCA_MENCIUS_STATS_DROP_CHANGE,
	TCA_MENCIUS_STATS_DROP_SPLIT, TCA_MENCIUS_STATS_DROP_FILTER,
};

static const struct option floq_options[] = {
	{ TCA_FLOQ_LIMIT,		"limit",	4, 1, 1000000 },
	{ TCA_FLOQ_FLOWS,		"flows",	4, 8, 65536 },
	{ TCA_FLOQ_RESPONSIVE,		"responsive",	4, 0, 100 },
	{ TCA_FLOQ_UNRESPONSIVE,	"unresponsive",	4, 0, 100 },
	{ TCA_FLOQ_THRESHOLD,		"threshold",	4, 0, 100 },
	{ TCA_FLOQ_DROP_RESPONSIVE,	"drop_responsive", 4, 0, 100 },
	{ TCA_FLOQ_DROP_UNRESPONSIVE,	"drop_unresponsive", 4, 0, 100 },
	{ TCA_FLOQ_G,			"g",		4, 0, 1000 },
	{ TCA_FLOQ_F_R,			"f_r",		4, 0, 100 },
	{ TCA_FLOQ_INITIAL,		"initial",	4, 0, 1000000 },
	{ TCA_FLOQ_IDLE,		"idle",		4, 100000, 3600000000U },
	{ TCA_FLOQ_WINDOW,		"window",	4, 10000, 10000000 },
	{ TCA_FLOQ_WINDOWS,		"windows",	4, 1, 100 },
	{ TCA_FLOQ_FALL,		"fall",		4, 1, 99 },
	{ TCA_FLOQ_STRIKES,		"strikes",	4, 1, 1000 },
	{ TCA_FLOQ_PARDON,		"pardon",	4, 0, 1000 },
	{ TCA_FLOQ_VARIANT,		"variant",	1, 0, TC_FLOQ_ALGORITHM_DROP },
	{ TCA_FLOQ_ECN,			"ecn",		1, 0, 1 },
	{ TCA_FLOQ_NAT,			"nat",		1, 0, 1 },
	{ TCA_FLOQ_SPLIT_GSO,		"split_gso",	1, 0, 1 },
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
