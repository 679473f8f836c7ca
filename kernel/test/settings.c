// SPDX-License-Identifier: GPL-2.0
#include "settings.h"

#include <string.h>

const struct option options[OPTIONS] = {
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

void option_put(struct nl_msg *m, const struct option *o, uint32_t value)
{
	uint8_t byte = value;

	nl_put(m, o->type, o->size == 1 ? (void *)&byte : (void *)&value, o->size);
}

/* Small values as often as large ones: uniform in the number of bits. */
static uint32_t legal_value(const struct option *o, uint64_t *rng)
{
	uint64_t span = (uint64_t)o->max - o->min;
	int bits = 0;

	switch (rnd(rng) % 8) {
	case 0:
		return o->min;
	case 1:
		return o->max;
	}
	while (span >> bits)
		bits++;
	span &= (1ULL << rnd_between(rng, 0, bits)) - 1;
	return o->min + (span ? rnd(rng) % (span + 1) : 0);
}

static void legal_targets(struct settings *s, uint64_t *rng)
{
	unsigned int room;

	s->targets = rnd_between(rng, 1, TC_CONFUCIUS_TARGETS);
	for (unsigned int i = 0, last = 0; i < s->targets; i++) {
		room = TARGET_MAX - last - (s->targets - i - 1);
		last += rnd_between(rng, 1, room / 2 + 1);
		s->target[i] = last;
	}
}

void settings_random(struct settings *s, uint64_t *rng)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < OPTIONS; i++) {
		s->set[options[i].type] = rnd(rng) & 1;
		s->value[options[i].type] = legal_value(&options[i], rng);
	}
	s->set[TCA_CONFUCIUS_TARGETS] = rnd(rng) & 1;
	legal_targets(s, rng);
}

void settings_put(struct nl_msg *m, const struct settings *s)
{
	for (int i = 0; i < OPTIONS; i++)
		if (s->set[options[i].type])
			option_put(m, &options[i], s->value[options[i].type]);
	if (s->set[TCA_CONFUCIUS_TARGETS])
		nl_put(m, TCA_CONFUCIUS_TARGETS, s->target,
		       s->targets * sizeof(s->target[0]));
}

static const char *read_targets(struct settings *s, struct rtattr *attr)
{
	if (!attr)
		return "targets (absent)";
	s->targets = RTA_PAYLOAD(attr) / sizeof(s->target[0]);
	if (!s->targets || s->targets > TC_CONFUCIUS_TARGETS ||
	    RTA_PAYLOAD(attr) % sizeof(s->target[0]))
		return "targets (number)";
	memcpy(s->target, RTA_DATA(attr), RTA_PAYLOAD(attr));
	s->set[TCA_CONFUCIUS_TARGETS] = true;
	for (unsigned int i = 0; i < s->targets; i++)
		if (s->target[i] > TARGET_MAX ||
		    (i && s->target[i] <= s->target[i - 1]))
			return "targets";
	return NULL;
}

const char *settings_read(struct settings *s, struct rtattr *opts)
{
	struct rtattr *tb[TCA_CONFUCIUS_MAX + 1];

	memset(s, 0, sizeof(*s));
	if (!opts)
		return "options (absent)";
	nl_parse(tb, TCA_CONFUCIUS_MAX, RTA_DATA(opts), RTA_PAYLOAD(opts));
	for (int i = 0; i < OPTIONS; i++) {
		const struct option *o = &options[i];
		struct rtattr *attr = tb[o->type];

		if (!attr || RTA_PAYLOAD(attr) != o->size)
			return o->name;
		/* A byte's neighbours stay zero on any byte order. */
		s->value[o->type] = o->size == 1 ? *(uint8_t *)RTA_DATA(attr) :
						   *(uint32_t *)RTA_DATA(attr);
		s->set[o->type] = true;
		if (s->value[o->type] < o->min || s->value[o->type] > o->max)
			return o->name;
	}
	return read_targets(s, tb[TCA_CONFUCIUS_TARGETS]);
}

const char *settings_differ(const struct settings *want, const struct settings *have)
{
	for (int i = 0; i < OPTIONS; i++) {
		int type = options[i].type;
		uint32_t value = want->value[type];

		if (type == TCA_CONFUCIUS_FLOWS)	/* sets of eight */
			value = (value + 7) / 8 * 8;
		if (want->set[type] && value != have->value[type])
			return options[i].name;
	}
	if (want->set[TCA_CONFUCIUS_TARGETS] &&
	    (want->targets != have->targets ||
	     memcmp(want->target, have->target,
		    want->targets * sizeof(want->target[0]))))
		return "targets";
	return NULL;
}
