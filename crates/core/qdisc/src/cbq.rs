//! `cbq`: real-time packets and all others share the link by fixed weights.
//!
//! Principles: the Confucius paper's "weighted class" and CBQ (1:1) and (1:5) (sections 2.4 and
//! 7.1). Two classes by label, each first in, first out with a limit of its own; they take turns by
//! deficit round robin, with quanta in proportion to their weights. Work-conserving: a class that
//! has the link to itself gets all of it. Reads [`Label`](crate::Label).
//! Not for: loads that change. Weights are right for one number of flows in each class only.
//!
//! Not Linux's `sch_cbq.c` (removed in 6.3), which limited the rates of classes by estimating the
//! link's idle time: the paper means shares, and gives no rates. Packets of one flow with different
//! labels overtake each other.

use crate::drr::Drr;
use crate::labelled::{Labelled, REAL_TIME, REST};
use crate::{Backlog, Discipline, Env, Observer, Order, Packet, Qdisc};
use core::fmt;
use units::param::{Settings, Value};
use units::{Instant, ParseError, Refusal};

/// Bytes that the class of the smaller weight may send in a round: a full-sized packet on Ethernet
/// (`psched_mtu`), so that no turn is skipped.
const QUANTUM: u32 = 1514;
/// The largest weight.
const MAX_WEIGHT: u32 = 1000;

/// The weights of the two classes, real-time first; written `1:5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weights([u32; 2]);

impl Weights {
    /// Bytes that each class may send in a round.
    fn quanta(self) -> [u32; 2] {
        let smaller = self.0[REAL_TIME].min(self.0[REST]);
        self.0.map(|weight| QUANTUM * weight / smaller)
    }
}

impl Value for Weights {
    const KIND: &'static str = "weights";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let weight = |part: &str| {
            let weight = part.trim().parse().ok()?;
            (1..=MAX_WEIGHT).contains(&weight).then_some(weight)
        };
        text.split_once(':')
            .and_then(|(real_time, rest)| Some(Weights([weight(real_time)?, weight(rest)?])))
            .ok_or_else(|| ParseError::new(text, "two weights from 1 to 1000, such as 1:5"))
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0[REAL_TIME], self.0[REST])
    }
}

units::params! {
    /// Parameters of `cbq`.
    pub struct CbqParams {
        /// Shares of the link: packets labelled as real-time, and all others.
        weights: Weights = "1:1", source "Confucius paper, section 7.1: CBQ (1:1); its other one is 1:5";
        /// Limit of the backlog of each of the two classes, in packets.
        class_limit: u32 = "1000", range "1".."1000000", source "Linux: tx_queue_len of an Ethernet device, as in prio";
    }
}

/// `cbq` for the registry.
pub fn cbq<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "cbq",
        summary: "packets labelled as real-time and all others share the link by fixed weights",
        about: "Two classes, each first in, first out: packets labelled as real-time, and all \
            others. They take turns in proportion to their weights; each class takes what the \
            other does not use.\n\nNot for loads that change: weights fit only one number of flows \
            in each class. And senders choose their class by the labels that they set.",
        source: "Confucius paper, sections 2.4 and 7.1 (\"weighted class\", CBQ (1:1), CBQ (1:5))",
        params: CbqParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Cbq::new(parts.settings, parts.env)?)),
    }
}

/// Two weighted classes by label.
#[derive(Debug)]
pub struct Cbq<P> {
    params: CbqParams,
    quanta: [u32; 2],
    turns: Drr,
    classes: Labelled<P>,
}

impl<P> Cbq<P> {
    /// Empty classes with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = CbqParams::default();
        if let Some(limit) = env.limit {
            params.class_limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(Cbq {
            quanta: params.weights.quanta(),
            turns: Drr::new(2),
            classes: Labelled::default(),
            params,
        })
    }
}

impl<P: Send> Qdisc<P> for Cbq<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let class = self
            .classes
            .push(now, packet, self.params.class_limit, observer);
        self.turns.join(class as u32, self.quanta[class]);
    }

    fn dequeue(&mut self, _now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        while let Some(class) = self.turns.next(|class| self.quanta[class as usize]) {
            if let Some(packet) = self.classes.pop(class as usize) {
                self.turns.charge(class, packet.len);
                return Some(packet);
            }
            self.turns.leave();
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.classes.backlog()
    }

    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        self.params.apply(settings)?;
        self.quanta = self.params.weights.quanta();
        self.classes.shrink(now, self.params.class_limit, observer);
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn order(&self) -> Order {
        Order::FlowAndLabel
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Log, packets, put_labelled, settings};
    use crate::{DropReason, Ignore, Label, Limit};

    const NOW: Instant = Instant::from_nanos(0);

    fn cbq(set: &[(&str, &str)]) -> Cbq<u32> {
        Cbq::new(&settings(set), &Env::default()).unwrap()
    }

    fn letter(packet: &Packet<u32>) -> char {
        match packet.label {
            Label::RealTime => 'R',
            _ => 'w',
        }
    }

    fn put(queue: &mut Cbq<u32>, labels: &str, len: u32, observer: &mut dyn Observer<u32>) {
        put_labelled(queue, &labels.replace('w', "B"), len, observer);
    }

    fn take(queue: &mut Cbq<u32>, n: usize) -> String {
        packets(queue, NOW, n).iter().map(letter).collect()
    }

    /// Quanta 1514 and 5 * 1514 = 7570, packets of 1500; a class may send while its deficit is above
    /// zero.
    ///
    /// - R: 1514, 14, -1486 (two packets). w: 7570, 6070, 4570, 3070, 1570, 70, -1430 (six).
    /// - R: 28, -1472 (one). w: 6140, 4640, 3140, 1640, 140, -1360 (five).
    /// - R: 42, -1458 (one). w: 6210, 4710, 3210, 1710, 210, -1290 (five).
    #[test]
    fn one_to_five() {
        let mut queue = cbq(&[("weights", "1:5")]);
        put(&mut queue, &"R".repeat(30), 1500, &mut Ignore);
        put(&mut queue, &"w".repeat(30), 1500, &mut Ignore);
        assert_eq!(take(&mut queue, 20), "RRwwwwwwRwwwwwRwwwww");
    }

    /// Bytes, not packets, are shared: 3 rounds of 1514 are 4542 bytes for each class, 3 packets of
    /// 1514 against 45.42 packets of 100, the last of which overdraws.
    #[test]
    fn equal_weights_share_bytes() {
        let mut queue = cbq(&[("weights", "1:1")]);
        put(&mut queue, &"w".repeat(100), 1514, &mut Ignore);
        put(&mut queue, &"R".repeat(100), 100, &mut Ignore);
        let sent = take(&mut queue, 3 + 46);
        assert_eq!(sent.matches('w').count(), 3);
        assert_eq!(sent.matches('R').count(), 46);
    }

    /// Weights of 2 to 3 are quanta of 1514 and 2271: of 5000 packets of 757 bytes, 2000 to 3000.
    #[test]
    fn the_share_is_that_of_the_weights() {
        let mut queue = cbq(&[("weights", "2:3"), ("class_limit", "5000")]);
        put(&mut queue, &"R".repeat(5000), 757, &mut Ignore);
        put(&mut queue, &"w".repeat(5000), 757, &mut Ignore);
        let sent = take(&mut queue, 5000);
        assert_eq!(sent.matches('R').count(), 2000);
    }

    #[test]
    fn a_class_alone_gets_the_whole_link() {
        let mut queue = cbq(&[("weights", "1:1000")]);
        put(&mut queue, &"R".repeat(10), 1500, &mut Ignore);
        assert_eq!(take(&mut queue, 20), "RRRRRRRRRR");
        assert!(queue.backlog().is_empty());
    }

    /// A class that was away starts with one quantum, regardless of the traffic meanwhile.
    #[test]
    fn idling_saves_nothing_up() {
        let mut queue = cbq(&[("weights", "1:1")]);
        put(&mut queue, &"w".repeat(50), 1514, &mut Ignore);
        assert_eq!(take(&mut queue, 20), "w".repeat(20));
        put(&mut queue, "RRR", 1514, &mut Ignore);
        assert_eq!(take(&mut queue, 6), "RwRwRw");
    }

    #[test]
    fn each_class_has_its_own_limit() {
        let env = Env {
            limit: Some(Limit::Bytes(3000)),
            ..Env::default()
        };
        let mut queue = Cbq::new(&[], &env).unwrap();
        let mut drops = Log::by(|_, packet| letter(packet));
        put(&mut queue, "wwwwRRR", 1500, &mut drops);
        assert_eq!(drops.who(), "wwR");
        assert!(drops.dropped.iter().all(|drop| drop.1 == DropReason::Tail));
        assert_eq!(queue.backlog().packets, 4);
    }

    #[test]
    fn weights_are_two_positive_numbers() {
        for text in ["1", "0:1", "1:0", "1:2:3", "-1:1", "1:1001", ":", ""] {
            assert!(Weights::parse(text).is_err(), "{text}");
        }
        assert_eq!(Weights::parse(" 1 : 5 ").unwrap().to_string(), "1:5");
        assert_eq!(Weights::parse("1:1000").unwrap().quanta()[1], 1_514_000);
    }
}
