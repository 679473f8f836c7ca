// SPDX-License-Identifier: GPL-2.0
#include "settings.h"

#include <string.h>

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

	s->targets = rnd_between(rng, 1, TARGETS);
	for (unsigned int i = 0, last = 0; i < s->targets; i++) {
		room = TARGET_MAX - last - (s->targets - i - 1);
		last += rnd_between(rng, 1, room / 2 + 1);
		s->target[i] = last;
	}
}

/* Both or none, since the other's former value is not known here. */
static void legal_quotas(struct settings *s)
{
	s->set[subject->quotas[1]] = s->set[subject->quotas[0]];
	s->value[subject->quotas[1]] %= 101 - s->value[subject->quotas[0]];
}

void settings_random(struct settings *s, uint64_t *rng)
{
	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < subject->option_count; i++) {
		int type = subject->options[i].type;

		s->set[type] = rnd(rng) & 1 && type != subject->once;
		s->value[type] = legal_value(&subject->options[i], rng);
	}
	if (subject->quotas[0])
		legal_quotas(s);
	if (!subject->targets)
		return;
	s->set[subject->targets] = rnd(rng) & 1;
	legal_targets(s, rng);
}

void settings_put(struct nl_msg *m, const struct settings *s)
{
	for (unsigned int i = 0; i < subject->option_count; i++)
		if (s->set[subject->options[i].type])
			option_put(m, &subject->options[i], s->value[subject->options[i].type]);
	if (subject->targets && s->set[subject->targets])
		nl_put(m, subject->targets, s->target,
		       s->targets * sizeof(s->target[0]));
}

static const char *read_targets(struct settings *s, struct rtattr *attr)
{
	if (!attr)
		return "targets (absent)";
	s->targets = RTA_PAYLOAD(attr) / sizeof(s->target[0]);
	if (!s->targets || s->targets > TARGETS ||
	    RTA_PAYLOAD(attr) % sizeof(s->target[0]))
		return "targets (number)";
	memcpy(s->target, RTA_DATA(attr), RTA_PAYLOAD(attr));
	s->set[subject->targets] = true;
	for (unsigned int i = 0; i < s->targets; i++)
		if (s->target[i] > TARGET_MAX ||
		    (i && s->target[i] <= s->target[i - 1]))
			return "targets";
	return NULL;
}

const char *settings_read(struct settings *s, struct rtattr *opts)
{
	struct rtattr *tb[ATTR_MAX + 1];

	memset(s, 0, sizeof(*s));
	if (!opts)
		return "options (absent)";
	nl_parse(tb, ATTR_MAX, RTA_DATA(opts), RTA_PAYLOAD(opts));
	for (unsigned int i = 0; i < subject->option_count; i++) {
		const struct option *o = &subject->options[i];
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
	return subject->targets ? read_targets(s, tb[subject->targets]) : NULL;
}

const char *settings_differ(const struct settings *want, const struct settings *have)
{
	for (unsigned int i = 0; i < subject->option_count; i++) {
		int type = subject->options[i].type;
		uint32_t value = want->value[type];

		if (type == subject->flows)
			value = (value + subject->flow_step - 1) / subject->flow_step *
				subject->flow_step;
		if (want->set[type] && value != have->value[type])
			return subject->options[i].name;
	}
	if (subject->targets && want->set[subject->targets] &&
	    (want->targets != have->targets ||
	     memcmp(want->target, have->target,
		    want->targets * sizeof(want->target[0]))))
		return "targets";
	return NULL;
}
