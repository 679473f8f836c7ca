//! Turn taking: deficit round robin (RFC 8290, section 4.2) in which no member is passed over.
//!
//! Two things take time in proportion to the number of members there: a round passes every member
//! that overdrew by a large packet, once for each quantum, and every member without packets. Here
//!
//! 1. a member that overdrew is at once put into the round in which its debt is paid, one of 64
//!    lists;
//! 2. a member without packets is in no list. Only the round in which it may send again, and how much,
//!    is kept.
//!
//! A member that comes back without a debt goes before all others, with what it has left of its quantum if the
//! round is still the same: so who takes no more than a quantum a round waits for others of that kind
//! alone, and not for those that always have packets. Of these each sends a packet before any sends more: so who
//! has only one does not wait for a quantum of each. Members that never sent go before those that always have
//! packets until they have had 64 kB more, and then take turns with them, so that a spray of them takes no more
//! than half. What they send while no old one waits is not counted.

use crate::list::{List, NIL, Nodes};

/// Number of rounds that are told apart.
const ROUNDS: u32 = 64;
/// So many are moved per packet, if debts are above what 64 rounds pay. Then one is forgiven.
const MOVES: u32 = 16;
/// Newcomers may send so many bytes before old members, and then as many as these.
const CREDIT: i64 = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnPlace {
    /// It never had packets.
    Unseen,
    Idle,
    /// It came back, and has not sent since.
    Back,
    /// It came back, and has sent.
    Again,
    New,
    Old,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    place: TurnPlace,
    /// Bytes that it may still send; negative if its last packet overdrew.
    deficit: i32,
    /// The round in which it is its turn.
    round: u32,
}

/// The members that take turns: flows or hosts. Each is in the turns of one group at a time.
#[derive(Debug)]
pub(super) struct Members {
    members: Vec<Member>,
    nodes: Nodes,
}

/// The turns of one group.
#[derive(Debug)]
pub(super) struct Turns {
    /// Those that came back without a debt, and have not sent since.
    back: List,
    /// Those that have, and go on.
    again: List,
    /// Newcomers.
    new: List,
    /// Old ones, by the round modulo 64.
    old: [List; ROUNDS as usize],
    /// A bit for each list of old ones that is not empty.
    used: u64,
    round: u32,
    turn: TurnPlace,
    /// Bytes that new ones may still send before old ones.
    credit: i64,
}

impl Members {
    /// `len` of them, all idle.
    pub(super) fn new(len: usize) -> Self {
        let member = Member {
            place: TurnPlace::Unseen,
            deficit: 0,
            round: u32::MAX,
        };
        Members {
            members: vec![member; len],
            nodes: Nodes::with_len(len),
        }
    }

    /// Subtracts `len` bytes that `member` sent from its credit.
    pub(super) fn charge(&mut self, member: usize, len: u32) {
        let state = &mut self.members[member];
        state.deficit = state.deficit.saturating_sub_unsigned(len);
    }

    /// Whether `member` has no packets.
    pub(super) fn is_idle(&self, member: usize) -> bool {
        matches!(
            self.members[member].place,
            TurnPlace::Unseen | TurnPlace::Idle
        )
    }
}

impl Turns {
    /// No members.
    pub(super) fn new() -> Self {
        Turns {
            back: List::default(),
            again: List::default(),
            new: List::default(),
            old: [List::default(); ROUNDS as usize],
            used: 0,
            round: 0,
            turn: TurnPlace::Idle,
            credit: CREDIT,
        }
    }

    /// `member`, which is idle, stands for another flow or host from now on.
    pub(super) fn introduce(&self, members: &mut Members, member: usize) {
        debug_assert!(members.is_idle(member));
        members.members[member] = Member {
            place: TurnPlace::Unseen,
            deficit: 0,
            round: self.round.wrapping_sub(1),
        };
    }

    /// `member` has packets. No effect if it had before.
    // In place, like the rest of the path of every packet.
    #[inline]
    pub(super) fn join(&mut self, members: &mut Members, member: usize, quantum: u32) {
        let state = &mut members.members[member];
        let ahead = state.round.wrapping_sub(self.round);
        state.place = match state.place {
            TurnPlace::Unseen => TurnPlace::New,
            TurnPlace::Idle if (1..ROUNDS).contains(&ahead) => TurnPlace::Old,
            TurnPlace::Idle => TurnPlace::Back,
            _ => return,
        };
        if state.place == TurnPlace::New || ahead >= ROUNDS {
            state.deficit = quantum as i32;
        }
        self.put(members, member);
    }

    /// Bytes that `member` has sent before its turns: what these have to pay for first.
    pub(super) fn debt(&self, members: &Members, member: usize, quantum: u32) -> u32 {
        let Member { deficit, round, .. } = members.members[member];
        (self.paid(round) * quantum).saturating_add_signed(deficit.saturating_neg())
    }

    /// The member whose turn it is, if any has something to send. It keeps its turn until it has
    /// [sent](Turns::sent) its quantum, or a packet if it came back, or [leaves](Turns::leave). Each gets
    /// `quantum` bytes a round.
    #[inline]
    pub(super) fn next(&mut self, members: &mut Members, quantum: u32) -> Option<usize> {
        for _ in 0..MOVES {
            let head = self.head()?;
            if members.members[head].deficit > 0 {
                return Some(head);
            }
            self.take(members, head);
            self.pay(members, head, quantum);
            members.members[head].place = TurnPlace::Old;
            self.put(members, head);
        }
        let head = self.head()?;
        members.members[head].deficit = quantum as i32;
        Some(head)
    }

    /// The member whose turn it is has sent `len` bytes, and may have `more` to send.
    #[inline]
    pub(super) fn sent(&mut self, members: &mut Members, member: usize, len: u32, more: bool) {
        members.charge(member, len);
        let len = i64::from(len);
        let earned = match self.turn {
            TurnPlace::New if self.used > 0 => -len,
            TurnPlace::Old => len,
            _ => 0,
        };
        self.credit = (self.credit + earned).clamp(-CREDIT, CREDIT);
        let state = members.members[member];
        let came_back = matches!(state.place, TurnPlace::Back | TurnPlace::Again);
        if more && came_back && state.deficit > 0 {
            self.take(members, member);
            members.members[member].place = TurnPlace::Again;
            self.put(members, member);
        }
    }

    /// `member` has run empty. Until this round is over it has what is left of its deficit, and no new quantum; until
    /// its debt is paid, or the round that it has paid for, it counts as old. So no member gets more than a quantum a
    /// round by coming back as new.
    pub(super) fn leave(&mut self, members: &mut Members, member: usize, quantum: u32) {
        self.take(members, member);
        let state = &mut members.members[member];
        state.place = TurnPlace::Idle;
        if self.used == 0 && self.new.head() == NIL {
            // Rounds take no time if no member waits for one: all debts are paid, and the quantum is anew.
            self.round = self.round.wrapping_add(ROUNDS);
            state.round = self.round.wrapping_sub(1);
        } else if state.deficit > 0 {
            state.round = self.round.wrapping_add(self.paid(state.round));
        } else {
            self.pay(members, member, quantum);
        }
    }

    /// The member that would be next, regardless of its debt.
    fn head(&mut self) -> Option<usize> {
        for (list, turn) in [(self.back, TurnPlace::Back), (self.again, TurnPlace::Again)] {
            if list.head() != NIL {
                self.turn = turn;
                return Some(list.head() as usize);
            }
        }
        let new = self.new.head();
        if new != NIL && (self.credit > 0 || self.used == 0) {
            self.turn = TurnPlace::New;
            return Some(new as usize);
        }
        if self.used == 0 {
            return None;
        }
        self.turn = TurnPlace::Old;
        let rounds = self.used.rotate_right(self.round % ROUNDS).trailing_zeros();
        self.round = self.round.wrapping_add(rounds);
        Some(self.old[(self.round % ROUNDS) as usize].head() as usize)
    }

    /// Rounds from here to the one of a member: those that it has paid for, if it was not there yet.
    fn paid(&self, round: u32) -> u32 {
        match round.wrapping_sub(self.round) {
            ahead if ahead < ROUNDS => ahead,
            _ => 0,
        }
    }

    /// Gives `member` the quanta that make its deficit positive, as far as 64 rounds go, and the round in which it
    /// has them, after those that it has paid for.
    fn pay(&self, members: &mut Members, member: usize, quantum: u32) {
        let state = &mut members.members[member];
        let paid = self.paid(state.round);
        let rounds = (state.deficit.unsigned_abs() / quantum + 1).min(ROUNDS - 1 - paid);
        state.deficit = state.deficit.saturating_add((rounds * quantum) as i32);
        state.round = self.round.wrapping_add(paid + rounds);
    }

    /// Appends `member`, which is in no list, to that of its place.
    fn put(&mut self, members: &mut Members, member: usize) {
        let list = self.list(members.members[member]);
        members.nodes.push_back(list, member as u32);
        self.note(members.members[member]);
    }

    /// Takes `member` out of its list.
    #[inline]
    fn take(&mut self, members: &mut Members, member: usize) {
        let list = self.list(members.members[member]);
        members.nodes.remove(list, member as u32);
        self.note(members.members[member]);
    }

    /// The list of `member`, which has packets.
    fn list(&mut self, member: Member) -> &mut List {
        match member.place {
            TurnPlace::Back => &mut self.back,
            TurnPlace::Again => &mut self.again,
            TurnPlace::New => &mut self.new,
            _ => &mut self.old[(member.round % ROUNDS) as usize],
        }
    }

    /// The list of `member` has changed.
    fn note(&mut self, member: Member) {
        let list = member.round % ROUNDS;
        match self.old[list as usize].head() {
            NIL => self.used &= !(1 << list),
            _ => self.used |= 1 << list,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drr::Drr;
    use units::random::Stream;

    /// Turns of members, each with so many packets of so many bytes waiting.
    struct Table {
        members: Members,
        turns: Turns,
        waiting: Vec<(u32, u32)>,
        sent: Vec<usize>,
    }

    const QUANTUM: u32 = 1000;

    impl Table {
        fn new(members: usize) -> Self {
            Table {
                members: Members::new(members),
                turns: Turns::new(),
                waiting: vec![(0, 0); members],
                sent: Vec::new(),
            }
        }

        fn put(&mut self, member: usize, packets: u32, len: u32) {
            self.waiting[member].0 += packets;
            self.waiting[member].1 = len;
            self.turns.join(&mut self.members, member, QUANTUM);
        }

        fn send(&mut self, packets: usize) -> &[usize] {
            let from = self.sent.len();
            for _ in 0..packets {
                let member = self.turns.next(&mut self.members, QUANTUM).unwrap();
                let (left, len) = &mut self.waiting[member];
                *left -= 1;
                self.turns.sent(&mut self.members, member, *len, *left > 0);
                if *left == 0 {
                    self.turns.leave(&mut self.members, member, QUANTUM);
                }
                self.sent.push(member);
            }
            &self.sent[from..]
        }
    }

    /// The first owes 2500 bytes, and waits for the third round from here, when its packet is dropped. Its next packet
    /// waits for that round, too.
    #[test]
    fn what_is_paid_in_advance_stays_paid() {
        let mut table = Table::new(2);
        table.put(0, 1, 100);
        table.put(1, 100, QUANTUM);
        table.members.charge(0, 3500);
        assert_eq!(table.send(1), [1]);
        table.waiting[0].0 = 0;
        table.turns.leave(&mut table.members, 0, QUANTUM);
        table.put(0, 1, 100);
        assert_eq!(table.send(4), [1, 1, 0, 1]);
    }

    /// The same, but its packet, of 1200 bytes, leaves before its turn: a round more.
    #[test]
    fn what_is_sent_before_a_turn_that_is_paid_comes_on_top() {
        let mut table = Table::new(2);
        table.put(0, 1, 1200);
        table.put(1, 100, QUANTUM);
        table.members.charge(0, 3500);
        assert_eq!(table.send(1), [1]);
        table.waiting[0].0 = 0;
        table.members.charge(0, 1200);
        table.turns.leave(&mut table.members, 0, QUANTUM);
        table.put(0, 1, 100);
        assert_eq!(table.send(5), [1, 1, 1, 0, 1]);
    }

    /// Deficits go 1000, 400, -200 (two packets), then 800, 200, -400 (two), then 600, 0 (one).
    #[test]
    fn overdrawn_bytes_are_paid_back() {
        let mut table = Table::new(2);
        table.put(0, 100, 600);
        table.put(1, 100, 600);
        assert_eq!(table.send(12), [0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0]);
    }

    /// 3500 of 1000: the next turn is that of the third round after, whose own comes after it.
    #[test]
    fn who_overdrew_by_much_is_served_when_that_is_paid() {
        let mut table = Table::new(2);
        table.put(0, 2, 3500);
        assert_eq!(table.send(1), [0]);
        table.put(1, 100, 1000);
        assert_eq!(table.send(4), [1, 1, 1, 0]);
    }

    #[test]
    fn who_leaves_comes_back_as_new_until_it_has_had_its_quantum() {
        let mut table = Table::new(3);
        table.put(0, 200, 1000);
        table.put(1, 200, 1000);
        assert_eq!(table.send(3), [0, 1, 0]);
        for _ in 0..2 {
            table.put(2, 1, 600);
            assert_eq!(
                table.send(1),
                [2],
                "before member 1, whose turn it is in this round"
            );
        }
        table.put(2, 1, 600);
        assert_eq!(
            table.send(3),
            [1, 2, 0],
            "the next is that of the next round"
        );
        table.send(2);
        table.put(2, 1, 100);
        assert_eq!(table.send(1), [2], "new again");
        // A member that overdrew by 60 kB pays for 61 rounds, although it was empty in between.
        table.put(2, 1, 61_000);
        table.send(3);
        table.put(2, 1, 100);
        let others = table
            .send(200)
            .iter()
            .take_while(|&&member| member != 2)
            .count();
        assert!((118..=124).contains(&others), "{others}");
    }

    /// Members 1, 2 and 3 come back; who has one packet waits for one of each.
    #[test]
    fn of_those_that_come_back_each_sends_a_packet_before_any_sends_more() {
        let mut table = Table::new(4);
        for member in 0..4 {
            table.put(member, 1, 100);
        }
        table.send(4);
        table.put(0, 100, 1000);
        assert_eq!(table.send(2), [0, 0], "old from then on");
        for (member, packets) in [(1, 3), (2, 3), (3, 1)] {
            table.put(member, packets, 400);
        }
        assert_eq!(table.send(5), [1, 2, 3, 1, 2]);
        table.put(3, 1, 400);
        assert_eq!(table.send(4), [3, 1, 2, 0], "it has 600 left");
    }

    /// Member 0 sends 200 kB alone, a packet at a time and so always as a new one. Then it is old, and
    /// the next new member does not wait for it.
    #[test]
    fn new_ones_lose_no_credit_while_no_old_one_waits() {
        let mut table = Table::new(2);
        for _ in 0..200 {
            table.put(0, 1, 1000);
            table.send(1);
        }
        table.put(0, 100, 1000);
        table.send(2);
        table.put(1, 1, 600);
        assert_eq!(table.send(1), [1]);
    }

    /// Some leave now and then, but are back before the next packet is sent.
    #[test]
    fn everybody_gets_the_same_whatever_the_length_of_packets() {
        let mut table = Table::new(200);
        let mut random = Stream::new(1, "turns");
        let lens: Vec<u32> = (0..200)
            .map(|_| 100 + random.below(63_900) as u32)
            .collect();
        let mut bytes = vec![0_u64; 200];
        for _ in 0..200_000 {
            for (member, &len) in lens.iter().enumerate() {
                if table.waiting[member].0 == 0 {
                    table.put(member, 1 + random.below(3) as u32, len);
                }
            }
            let member = table.send(1)[0];
            bytes[member] += u64::from(lens[member]);
        }
        let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
        assert!(most - least < least / 20, "{least} to {most}");
    }

    /// If all are backlogged and packets are short, it is the round robin of `drr`.
    #[test]
    fn the_order_is_that_of_deficit_round_robin() {
        let mut table = Table::new(20);
        let mut drr = Drr::new(20);
        let mut random = Stream::new(2, "turns");
        let lens: Vec<u32> = (0..20).map(|_| 1 + random.below(999) as u32).collect();
        for (member, &len) in lens.iter().enumerate() {
            table.put(member, u32::MAX, len);
            drr.join_new(member as u32, QUANTUM);
        }
        for _ in 0..5000 {
            let flow = drr.next(|_| QUANTUM).unwrap();
            drr.charge(flow, lens[flow as usize]);
            assert_eq!(table.send(1), [flow as usize]);
        }
    }

    #[test]
    fn debts_of_many_rounds_are_forgiven_rather_than_searched_through() {
        let mut table = Table::new(2);
        table.put(0, 100, u32::MAX);
        table.put(1, 100, u32::MAX);
        table.send(50);
    }
}
