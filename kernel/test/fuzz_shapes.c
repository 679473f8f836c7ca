// SPDX-License-Identifier: GPL-2.0
#include "fuzz_shapes.h"

#include <string.h>

static struct rtattr *options_begin(struct fuzz *f, struct nl_msg *m)
{
	nl_put(m, TCA_KIND, f->kind, strlen(f->kind) + 1);
	return nl_nest(m, TCA_OPTIONS);
}

static const struct option *any_option(struct fuzz *f)
{
	return &subject->options[rnd(&f->rng) % subject->option_count];
}

/* Legal company for one bad attribute; `flows` is left out, it cannot change. */
static void company(struct fuzz *f, struct nl_msg *m)
{
	struct settings s;

	settings_random(&s, &f->rng);
	s.set[subject->flows] = false;
	if (rnd(&f->rng) & 1)
		settings_put(m, &s);
}

static void garbage(struct fuzz *f, void *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)to)[i] = rnd(&f->rng);
}

static void legal(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);

	settings_random(&f->legal, &f->rng);
	if (f->op != ADD)
		f->legal.set[subject->flows] = false;
	settings_put(m, &f->legal);
	nl_nest_end(m, nest);
	f->expect = ACCEPT;
}

static void no_options(struct fuzz *f, struct nl_msg *m)
{
	nl_put(m, TCA_KIND, f->kind, strlen(f->kind) + 1);
	f->expect = f->op == ADD ? ACCEPT : EITHER;
}

static void too_small(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	const struct option *o;

	do {
		o = any_option(f);
	} while (!o->min);
	company(f, m);
	option_put(m, o, rnd(&f->rng) & 1 ? o->min - 1 :
					    rnd_between(&f->rng, 0, o->min - 1));
	nl_nest_end(m, nest);
	f->expect = REJECT;
}

static void too_large(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	const struct option *o = any_option(f);
	uint32_t top = o->size == 1 ? UINT8_MAX : UINT32_MAX;
	uint32_t value[] = { o->max + 1, top, rnd_between(&f->rng, o->max + 1, top) };

	company(f, m);
	option_put(m, o, value[rnd(&f->rng) % 3]);
	nl_nest_end(m, nest);
	f->expect = REJECT;
}

static void too_short(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	const struct option *o = any_option(f);
	uint32_t one = 1;

	nl_put(m, o->type, &one, rnd(&f->rng) % o->size);
	company(f, m);
	nl_nest_end(m, nest);
	f->expect = REJECT;
}

static void too_long(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	const struct option *o = any_option(f);
	char payload[512];

	garbage(f, payload, sizeof(payload));
	nl_put(m, o->type, payload, rnd_between(&f->rng, o->size + 1, sizeof(payload)));
	nl_nest_end(m, nest);
}

static void bad_quotas(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	uint32_t first = rnd_between(&f->rng, 1, 100);
	uint32_t second = rnd_between(&f->rng, 101 - first, 100);

	company(f, m);
	nl_put(m, subject->quotas[0], &first, sizeof(first));
	nl_put(m, subject->quotas[1], &second, sizeof(second));
	nl_nest_end(m, nest);
	f->expect = REJECT;
}

static void bad_targets(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest;
	uint16_t target[12] = { 10, 50, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180 };
	size_t len = 6;

	if (subject->quotas[0]) {
		bad_quotas(f, m);
		return;
	}
	if (!subject->targets) {
		too_large(f, m);
		return;
	}
	nest = options_begin(f, m);
	switch (rnd(&f->rng) % 6) {
	case 0:
		len = 0;
		break;
	case 1:
		len = rnd_between(&f->rng, 0, TARGETS - 1) * 2 + 1;
		break;
	case 2:
		len = rnd_between(&f->rng, TARGETS + 1, 12) * 2;
		break;
	case 3:
		target[1] = target[0];
		break;
	case 4:
		target[rnd_between(&f->rng, 1, 2)] = rnd_between(&f->rng, 0, 9);
		break;
	case 5:
		target[2] = rnd_between(&f->rng, TARGET_MAX + 1, UINT16_MAX);
		break;
	}
	company(f, m);		/* before: of legal and wrong targets the last count */
	nl_put(m, subject->targets, target, len);
	nl_nest_end(m, nest);
	f->expect = REJECT;
}

/* An attribute whose length is less than its own header. */
static void truncated(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	struct rtattr *bad;

	company(f, m);
	bad = nl_put(m, any_option(f)->type, "\1\0\0", 4);
	company(f, m);
	nl_nest_end(m, nest);
	bad->rta_len = rnd(&f->rng) % sizeof(*bad);
}

/* An attribute that ends behind its nest, or a nest that ends behind its message. */
static void overrun(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	struct rtattr *bad;

	company(f, m);
	bad = nl_put(m, any_option(f)->type, "\1\0\0", 4);
	nl_nest_end(m, nest);
	if (rnd(&f->rng) & 1)
		bad = nest;
	bad->rta_len += rnd_between(&f->rng, 1, UINT16_MAX - bad->rta_len);
}

static void unknown_type(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	int type = rnd(&f->rng) % 4 ? rnd_between(&f->rng, subject->max + 1,
						  NLA_TYPE_MASK) : rnd(&f->rng) % 2;

	company(f, m);
	nl_put(m, type, "garbage", rnd(&f->rng) % 8);
	nl_nest_end(m, nest);
}

static void flagged(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	int flags[] = { NLA_F_NESTED, NLA_F_NET_BYTEORDER,
			NLA_F_NESTED | NLA_F_NET_BYTEORDER };

	nl_put(m, any_option(f)->type | flags[rnd(&f->rng) % 3], "\1\0\0", 4);
	nl_nest_end(m, nest);
}

static void nested_garbage(struct fuzz *f, struct nl_msg *m)
{
	int depth = rnd_between(&f->rng, 1, 40);
	struct rtattr *nest[41];

	nest[0] = options_begin(f, m);
	for (int i = 1; i <= depth; i++)
		nest[i] = nl_nest(m, rnd(&f->rng) % (subject->max + 3));
	nl_put(m, any_option(f)->type, "\1\0\0", 4);
	for (int i = depth; i >= 0; i--)
		nl_nest_end(m, nest[i]);
}

/* The same parameter twice, once legal and once not, in either order. */
static void duplicate(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	const struct option *o = any_option(f);
	bool first = rnd(&f->rng) & 1;

	if (o->type == subject->flows)
		o = &subject->options[0];
	option_put(m, o, first ? o->max + 1 : o->max);
	option_put(m, o, first ? o->max : o->max + 1);
	nl_nest_end(m, nest);
	f->expect = REJECT;
}

/* The size of the flow table is set once. */
static void other_flows(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	uint32_t other = 8208;

	if (f->op != ADD)
		company(f, m);
	nl_put(m, subject->flows, &other, sizeof(other));
	nl_nest_end(m, nest);
	f->expect = f->op == ADD ? ACCEPT : REJECT;
}

static void noise(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	char payload[2048];
	size_t len = rnd(&f->rng) % sizeof(payload);

	garbage(f, payload, len);
	nl_put(m, subject->limit, payload, len);
	nl_nest_end(m, nest);
	/* The noise begins at the nest's first byte: its first header is noise too. */
	garbage(f, RTA_DATA(nest), rnd(&f->rng) & 1 ? 4 : 0);
}

static void many(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);
	int n = rnd_between(&f->rng, 100, 600);

	for (int i = 0; i < n; i++) {
		uint32_t value = rnd(&f->rng) >> (32 + rnd(&f->rng) % 32);

		nl_put(m, rnd(&f->rng) % (subject->max + 2), &value,
		       rnd(&f->rng) % 5);
	}
	nl_nest_end(m, nest);
}

static void not_nested(struct fuzz *f, struct nl_msg *m)
{
	struct rtattr *nest = options_begin(f, m);

	company(f, m);
	nl_nest_end(m, nest);
	nest->rta_type &= NLA_TYPE_MASK;
	if (rnd(&f->rng) & 1)
		nest->rta_len = RTA_LENGTH(0);
}

static void wrong_kind(struct fuzz *f, struct nl_msg *m)
{
	static const char *const kind[] = { "", "confuciu", "menciuss", "Confucius",
		"a name longer than sixteen bytes", "../mencius", "%s%n" };
	unsigned int i = rnd(&f->rng) % 9;
	struct rtattr *nest;

	if (i < 7)
		nl_put(m, TCA_KIND, kind[i], strlen(kind[i]) + (rnd(&f->rng) & 1));
	else if (i == 7)
		nl_put(m, TCA_KIND, f->kind, strlen(f->kind));	/* no NUL */
	nest = nl_nest(m, TCA_OPTIONS);
	company(f, m);
	nl_nest_end(m, nest);
	f->about_options = false;
}

static void wrong_place(struct fuzz *f, struct nl_msg *m)
{
	uint32_t word = rnd(&f->rng);

	legal(f, m);
	switch (rnd(&f->rng) % 4) {
	case 0:
		m->tc.tcm_ifindex = word;
		break;
	case 1:
		m->tc.tcm_parent = word;
		break;
	case 2:
		m->tc.tcm_handle = word;
		break;
	case 3:
		m->tc.tcm_family = word;
		m->tc.tcm_info = word;
		m->h.nlmsg_flags ^= NLM_F_EXCL | NLM_F_CREATE;
		break;
	}
	f->expect = EITHER;
	f->about_options = false;
}

static void flipped(struct fuzz *f, struct nl_msg *m)
{
	int bits = rnd_between(&f->rng, 1, 8);

	legal(f, m);
	while (bits--) {
		size_t at = rnd_between(&f->rng, NLMSG_HDRLEN, m->h.nlmsg_len - 1);

		((uint8_t *)m)[at] ^= 1 << rnd(&f->rng) % 8;
	}
	f->expect = EITHER;
	f->about_options = false;
}

static void cut(struct fuzz *f, struct nl_msg *m)
{
	legal(f, m);
	m->h.nlmsg_len = rnd_between(&f->rng, NLMSG_HDRLEN, m->h.nlmsg_len - 1);
	f->expect = EITHER;
	f->about_options = false;
}

const struct shape shapes[SHAPES] = {
	{ "legal", legal },		{ "no options", no_options },
	{ "too small", too_small },	{ "too large", too_large },
	{ "too short", too_short },	{ "too long", too_long },
	{ "bad targets", bad_targets },	{ "truncated", truncated },
	{ "overrun", overrun },		{ "unknown type", unknown_type },
	{ "flagged", flagged },		{ "nested garbage", nested_garbage },
	{ "duplicate", duplicate },	{ "other flows", other_flows },
	{ "noise", noise },		{ "many", many },
	{ "not nested", not_nested },	{ "wrong kind", wrong_kind },
	{ "wrong place", wrong_place },	{ "bits flipped", flipped },
	{ "message cut", cut },
};
