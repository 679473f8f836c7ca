/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deficit-weighted round robin between the classes.
 *
 * A class may send while its deficit is not negative, one packet in turn, and
 * pays the packet's length. If no class with packets may send, every class gets
 * the credit of as many rounds as the first of them needs; in a round the
 * heaviest gets a quantum, and the others in proportion. A class without
 * packets keeps no credit, but keeps its debt until its last flow leaves it or
 * all classes are empty.
 */
#ifndef __CONFUCIUS_DWRR_H
#define __CONFUCIUS_DWRR_H

/* Bits, so that a small weight is not rounded away. */
#define CF_FRACTION	10
/* No device sends more at once. */
#define CF_MAX_DEBT	(1LL << (24 + CF_FRACTION))

/*
 * The credit of a class of @weight in a round: at most 2^26, or 2^49 if it only
 * has debt.
 */
static u64 cf_credit(const struct confucius *c, u32 weight, u32 heaviest)
{
	u64 credit = (u64)c->params.quantum << CF_FRACTION;

	if (weight != heaviest)
		credit = div_u64(credit * weight, heaviest);
	return credit ? credit : 1;
}

/*
 * Rounds until a class that gets @credit in each has no debt. The least of them
 * is that of the heaviest class or less: at most CF_MAX_DEBT by a quantum,
 * 2^16, so that no product with a credit overflows.
 */
static u64 cf_rounds(const struct cf_class *class, u64 credit)
{
	u64 need = (u64)-class->deficit;

	return need <= credit ? 1 : div64_u64(need + credit - 1, credit);
}

/* No other class waits or has debt: it has the heaviest weight. */
static void cf_refill_only(struct confucius *c, struct cf_class *class)
{
	u64 credit = (u64)c->params.quantum << CF_FRACTION;

	class->deficit += (s64)(credit * cf_rounds(class, credit));
	c->owing = 0;
}

static noinline void cf_refill(struct confucius *c)
{
	u32 rest = c->backlogged | c->owing;
	u64 rounds = CF_NEVER;
	u32 heaviest = 1;

	if (!(rest & (rest - 1))) {
		cf_refill_only(c, &c->classes[__builtin_ctz(rest)]);
		return;
	}

	for (rest = c->backlogged; rest; rest &= rest - 1)
		heaviest =
			max(heaviest, c->classes[__builtin_ctz(rest)].weight);
	for (rest = c->backlogged; rest; rest &= rest - 1) {
		struct cf_class *class = &c->classes[__builtin_ctz(rest)];

		rounds = min(rounds,
			     cf_rounds(class,
				       cf_credit(c, class->weight, heaviest)));
	}
	for (rest = c->backlogged | c->owing; rest; rest &= rest - 1) {
		u32 number = __builtin_ctz(rest);
		struct cf_class *class = &c->classes[number];

		class->deficit +=
			(s64)(cf_credit(c, class->weight, heaviest) * rounds);
		if (class->deficit < 0)
			continue;
		c->owing &= ~(1 << number);
		if (!(c->backlogged >> number & 1))
			class->deficit = 0;
	}
}

/* Clears the credit of classes that have no packets any more. */
static noinline void cf_settle(struct confucius *c, u32 gone)
{
	for (; gone; gone &= gone - 1) {
		struct cf_class *class = &c->classes[__builtin_ctz(gone)];

		class->deficit = min_t(s64, class->deficit, 0);
	}
}

/* A flow leaves a class. The class's debt is cleared with its last one. */
static void cf_lose_member(struct confucius *c, u32 number)
{
	if (--c->classes[number].members)
		return;
	c->classes[number].deficit = 0;
	c->owing &= ~(1 << number);
}

/* No packets wait: clears all credits and debts. */
static noinline void cf_forgive(struct confucius *c)
{
	u32 rest;

	for (rest = c->last | c->owing; rest; rest &= rest - 1)
		c->classes[__builtin_ctz(rest)].deficit = 0;
	c->owing = 0;
}

/*
 * Whether no packets wait. confucius_dequeue() asks this before anything else,
 * but a qdisc is asked after each packet whether there is another, and here no
 * clock is read.
 */
static __always_inline bool confucius_is_empty(const struct confucius *c)
{
	return !c->backlogged;
}

/* The class that sends next, if packets wait. */
static __always_inline u32 cf_pick(struct confucius *c)
{
	u32 ready, class;

	if (c->last & ~c->backlogged)
		cf_settle(c, c->last & ~c->backlogged);
	c->last = c->backlogged;
	if (!(c->backlogged & ~c->owing))
		cf_refill(c);
	ready = c->backlogged & ~c->owing;
	/* From the one in turn upwards, and then from the first. */
	class = __builtin_ctz(ready >> c->turn ? ready >> c->turn << c->turn :
						 ready);
	c->turn = (class + 1) % CF_CLASSES;
	return class;
}

/* A class sent a packet. */
static __always_inline void cf_charge(struct confucius *c, u32 number, u32 len)
{
	struct cf_class *class = &c->classes[number];

	class->deficit = max_t(s64, class->deficit - ((s64)len << CF_FRACTION),
			       -CF_MAX_DEBT);
	if (class->deficit < 0)
		c->owing |= 1 << number;
}

#endif
