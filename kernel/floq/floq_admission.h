/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How likely an arrival is dropped (IV.B).
 *
 * Percentages are fixed-point numbers with 16 binary places; the result is of
 * 2^32, to be compared with 32 random bits.
 */
#ifndef __FLOQ_ADMISSION_H
#define __FLOQ_ADMISSION_H

#define FL_PLACES	16
#define FL_ONE		0x10000ULL	/* of a percent */
#define FL_HUNDRED	(100ULL << FL_PLACES)

/* Whether @kind is responsive and @phase is established, which F_r is for. */
static inline bool fl_settled(u8 kind, u8 phase)
{
	return kind == FLOQ_RESPONSIVE && phase == FLOQ_LATER;
}

/*
 * F_d: from 0 at the threshold to g in a full buffer. It is doubled where this
 * packet would overflow into the other type's quota.
 */
static u64 fl_scaling(const struct floq *f, u8 kind)
{
	u32 above = f->packets - f->rules.threshold;
	u32 range = f->params.limit - f->rules.threshold;
	u64 f_d = div_u64(((u64)f->params.g << FL_PLACES) * above, range);

	return f->waiting[kind] >= f->rules.full[kind] ? 2 * f_d : f_d;
}

/*
 * F_d is added for responsive traffic and multiplies for unresponsive traffic.
 * The initial packets of a responsive flow are spared F_r, and all but the
 * first of them that is lost any drop by chance.
 */
static u64 fl_reading(const struct floq_params *params, u64 f_d, u8 kind,
		      u8 phase)
{
	u64 base = params->base[kind];
	u64 chance = (base << FL_PLACES) + f_d;
	u64 spared = (u64)params->f_r << FL_PLACES;

	if (kind == FLOQ_UNRESPONSIVE)
		return base * (FL_ONE + f_d);
	switch (phase) {
	case FLOQ_INITIAL:
		return chance > spared ? chance - spared : 0;
	case FLOQ_INITIAL_LOST:
		return 0;
	default:
		return chance;
	}
}

/* F_t(t, ep) as the text has it, in whole percent. */
static u64 fl_literal(const struct floq_params *params, u8 kind, u8 phase)
{
	return params->base[kind] + (fl_settled(kind, phase) ? params->f_r : 0);
}

/* Algorithm 1, line by line, for a full quota. */
static u64 fl_algorithm(const struct floq_params *params, u64 f_d, u8 kind,
			u8 phase)
{
	u64 p = (u64)params->base[kind] << FL_PLACES;

	if (phase != FLOQ_LATER)
		p += (u64)params->f_r << FL_PLACES;
	return p + fl_literal(params, kind, phase) * f_d;
}

/* The complement of @percent, which are admitted. */
static u64 fl_rest(u64 percent)
{
	return percent < FL_HUNDRED ? FL_HUNDRED - percent : 0;
}

/* Where neither its quota nor the threshold admits it. */
static noinline u64 fl_drop_by_chance(const struct floq *f, u8 kind, u8 phase)
{
	const struct floq_params *params = &f->params;
	u64 percent, f_d = fl_scaling(f, kind);

	switch (params->variant) {
	case FLOQ_EQUATION:
		percent = fl_rest(fl_literal(params, kind, phase) * f_d);
		break;
	case FLOQ_ALGORITHM:
		percent = fl_rest(fl_algorithm(params, f_d, kind, phase));
		break;
	case FLOQ_ALGORITHM_DROP:
		percent = fl_algorithm(params, f_d, kind, phase);
		break;
	default:
		percent = fl_reading(params, f_d, kind, phase);
	}
	return div_u64(min(percent, FL_HUNDRED) << FL_PLACES, 100);
}

/* The probability of dropping an arrival if there is room, of 2^32. */
static __always_inline u64 fl_drop_probability(const struct floq *f, u8 kind,
					       u8 phase)
{
	if (f->waiting[kind] < f->rules.own[kind] ||
	    f->packets <= f->rules.threshold)
		return 0;
	return fl_drop_by_chance(f, kind, phase);
}

static u32 fl_part(u32 limit, u32 percent)
{
	return div_u64((u64)limit * percent, 100);
}

/* Percentages as packets: they are only needed so where packets arrive. */
static void fl_rules_set(struct fl_rules *rules,
			 const struct floq_params *params)
{
	u32 limit = params->limit;
	u32 responsive = fl_part(limit, params->own[FLOQ_RESPONSIVE]);
	u32 unresponsive = fl_part(limit, params->own[FLOQ_UNRESPONSIVE]);

	rules->own[FLOQ_RESPONSIVE] = responsive;
	rules->own[FLOQ_UNRESPONSIVE] = unresponsive;
	rules->full[FLOQ_RESPONSIVE] = limit - unresponsive;
	rules->full[FLOQ_UNRESPONSIVE] = limit - responsive;
	rules->threshold = fl_part(limit, params->threshold);
}

#endif
