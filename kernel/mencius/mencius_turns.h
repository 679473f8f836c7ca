/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turn taking: deficit round robin (RFC 8290, section 4.2) in which no member
 * is passed over.
 *
 * Two things take time in proportion to the number of members there: a round
 * passes every member that overdrew by a large packet, once for each quantum,
 * and every member without packets. Here a member that overdrew is at once put
 * into the round in which its debt is paid; and a member without packets is in
 * no list. Only the round in which it may send again, and how much, is kept.
 *
 * A member that comes back without a debt goes before all others, with what is
 * left of its quantum if the round is still the same. So who takes no more than
 * a quantum a round waits for others of that kind alone, and not for those that
 * always have packets. Of these each sends a packet before any sends more: so
 * who has only one does not wait for a quantum of each.
 *
 * Newcomers go before those that always have packets until they have had 64 kB
 * more, and then take turns with them, so that a spray of newcomers takes no
 * more than half of what is left. What they send while no old member waits is
 * not counted.
 */
#ifndef __MENCIUS_TURNS_H
#define __MENCIUS_TURNS_H

#include "../common/flow_list.h"
#include "mencius_types.h"

/*
 * So many are moved per packet, if debts are above what MN_ROUNDS pay. Then one
 * is forgiven.
 */
#define MN_MOVES	16
/* No member owes more. */
#define MN_LEAST	(-0x7fffffffLL - 1)
/* Bytes of newcomers that may go before old members, and then as many. */
#define MN_CREDIT	(64 << 10)

/* Its links are the first of a struct mn_member. */
static __always_inline struct mn_member *mn_member_at(struct fl_nodes group,
						      u32 at)
{
	return (struct mn_member *)fl_links_at(group, at);
}

static void mn_turns_init(struct mn_turns *turns)
{
	u32 at;

	memset(turns, 0, sizeof(*turns));
	turns->credit = MN_CREDIT;
	fl_list_init(&turns->back);
	fl_list_init(&turns->again);
	fl_list_init(&turns->fresh);
	for (at = 0; at < MN_ROUNDS; at++)
		fl_list_init(&turns->old[at]);
}

/* Whether @member has no packets. */
static inline bool mn_is_idle(const struct mn_member *member)
{
	return member->place <= MN_NOWHERE;
}

/* @member, which is idle, stands for another flow or host from now on. */
static inline void mn_introduce(const struct mn_turns *turns,
				struct mn_member *member)
{
	member->place = MN_UNSEEN;
	member->deficit = 0;
	member->round = turns->round - 1;
}

/* The list of @member, which has packets. */
static __always_inline struct fl_list *
mn_list_of(struct mn_turns *turns, const struct mn_member *member)
{
	switch (member->place) {
	case MN_AMONG_BACK:
		return &turns->back;
	case MN_AMONG_AGAIN:
		return &turns->again;
	case MN_AMONG_NEW:
		return &turns->fresh;
	default:
		return &turns->old[member->round % MN_ROUNDS];
	}
}

/* Appends @at, which is in no list, to that of its place. */
static __always_inline void mn_put(struct mn_turns *turns,
				   struct fl_nodes group, u32 at)
{
	const struct mn_member *member = mn_member_at(group, at);

	fl_append(mn_list_of(turns, member), group, at);
	if (member->place == MN_AMONG_OLD)
		turns->used |= 1ULL << member->round % MN_ROUNDS;
}

/* Takes @at out of its list. */
static __always_inline void mn_take(struct mn_turns *turns,
				    struct fl_nodes group, u32 at)
{
	const struct mn_member *member = mn_member_at(group, at);
	struct fl_list *list = mn_list_of(turns, member);

	fl_unlink(list, group, at);
	if (member->place == MN_AMONG_OLD && list->head == FL_NIL)
		turns->used &= ~(1ULL << member->round % MN_ROUNDS);
}

/*
 * Rounds from here to the one of @member: those that it has paid for, if it was
 * not there yet.
 */
static __always_inline u32 mn_paid(const struct mn_turns *turns,
				   const struct mn_member *member)
{
	u32 ahead = member->round - turns->round;

	return ahead < MN_ROUNDS ? ahead : 0;
}

/*
 * Gives @member the quanta that make its deficit, which is not above 0,
 * positive, as far as MN_ROUNDS go, and the round in which it has them, after
 * those that it has paid for.
 */
static __always_inline void mn_pay(const struct mn_turns *turns,
				   struct mn_member *member, u32 quantum)
{
	u32 debt = 0U - (u32)member->deficit;
	u32 paid = mn_paid(turns, member);
	u32 rounds = min_t(u32, debt / quantum + 1, MN_ROUNDS - 1 - paid);

	member->deficit += (s32)(rounds * quantum);
	member->round = turns->round + paid + rounds;
}

/* @at has packets. No effect if it had before. */
static __always_inline void mn_join(struct mn_turns *turns,
				    struct fl_nodes group, u32 at, u32 quantum)
{
	struct mn_member *member = mn_member_at(group, at);
	u32 ahead = member->round - turns->round;

	if (!mn_is_idle(member))
		return;
	if (member->place == MN_UNSEEN)
		member->place = MN_AMONG_NEW;
	else if (ahead && ahead < MN_ROUNDS)
		member->place = MN_AMONG_OLD;
	else
		member->place = MN_AMONG_BACK;
	if (member->place == MN_AMONG_NEW || ahead >= MN_ROUNDS)
		member->deficit = quantum;
	mn_put(turns, group, at);
}

/* The member that would be next, regardless of its debt, if any has packets. */
static __always_inline u32 mn_head(struct mn_turns *turns)
{
	if (turns->back.head != FL_NIL) {
		turns->turn = MN_AMONG_BACK;
		return turns->back.head;
	}
	if (turns->again.head != FL_NIL) {
		turns->turn = MN_AMONG_AGAIN;
		return turns->again.head;
	}
	if (turns->fresh.head != FL_NIL &&
	    (turns->credit > 0 || !turns->used)) {
		turns->turn = MN_AMONG_NEW;
		return turns->fresh.head;
	}
	turns->turn = MN_AMONG_OLD;
	turns->round += __ffs64(ror64(turns->used, turns->round % MN_ROUNDS));
	return turns->old[turns->round % MN_ROUNDS].head;
}

/*
 * The member whose turn it is, if any has packets. It keeps its turn until it
 * has sent its quantum, or a packet if it came back, or leaves.
 */
static __always_inline u32 mn_next(struct mn_turns *turns,
				   struct fl_nodes group, u32 quantum)
{
	u32 moves, at;

	for (moves = MN_MOVES; moves; moves--) {
		at = mn_head(turns);
		if (mn_member_at(group, at)->deficit > 0)
			return at;
		mn_take(turns, group, at);
		mn_pay(turns, mn_member_at(group, at), quantum);
		mn_member_at(group, at)->place = MN_AMONG_OLD;
		mn_put(turns, group, at);
	}
	at = mn_head(turns);
	mn_member_at(group, at)->deficit = quantum;
	return at;
}

/* Subtracts @len bytes that @member sent from its credit. */
static __always_inline void mn_charge(struct mn_member *member, u32 len)
{
	member->deficit = (s32)max_t(s64, (s64)member->deficit - len, MN_LEAST);
}

/*
 * Bytes that @member has sent before its turns: what these have to pay for
 * first.
 */
static __always_inline u32 mn_debt(const struct mn_turns *turns,
				   const struct mn_member *member, u32 quantum)
{
	s64 owed = (s64)mn_paid(turns, member) * quantum - member->deficit;

	return (u32)max_t(s64, owed, 0);
}

/*
 * The member whose turn it is, the first of its list, came back and has sent a
 * packet: it goes on after the others.
 */
static __always_inline void mn_go_on(struct mn_turns *turns,
				     struct fl_nodes group,
				     const struct mn_member *member)
{
	u32 at = mn_list_of(turns, member)->head;

	mn_take(turns, group, at);
	mn_member_at(group, at)->place = MN_AMONG_AGAIN;
	mn_put(turns, group, at);
}

/* @member, whose turn it is, has sent @len bytes, and may have more to send. */
static __always_inline void mn_sent(struct mn_turns *turns,
				    struct fl_nodes group,
				    struct mn_member *member, u32 len,
				    bool more)
{
	s64 credit = turns->credit;

	mn_charge(member, len);
	if (turns->turn == MN_AMONG_OLD)
		credit += len;
	else if (turns->turn == MN_AMONG_NEW && turns->used)
		credit -= len;
	turns->credit = (s32)clamp_t(s64, credit, -MN_CREDIT, MN_CREDIT);
	if (more && member->deficit > 0 &&
	    (member->place == MN_AMONG_BACK || member->place == MN_AMONG_AGAIN))
		mn_go_on(turns, group, member);
}

/*
 * @at has run empty. Until this round is over it has what is left of its
 * deficit, and no new quantum; until its debt is paid, or the round that it has
 * paid for, it counts as old. So no member gets more than a quantum a round by
 * coming back.
 */
static __always_inline void mn_leave(struct mn_turns *turns,
				     struct fl_nodes group, u32 at, u32 quantum)
{
	struct mn_member *member = mn_member_at(group, at);

	mn_take(turns, group, at);
	member->place = MN_NOWHERE;
	if (!turns->used && turns->fresh.head == FL_NIL) {
		/*
		 * Rounds take no time if no member waits for one: this one is
		 * past all in which debts were to be paid.
		 */
		turns->round += MN_ROUNDS;
	} else if (member->deficit > 0) {
		member->round = turns->round + mn_paid(turns, member);
	} else {
		mn_pay(turns, member, quantum);
	}
}

#endif
