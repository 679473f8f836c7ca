//! One control over two subflows: one window, one rate, 6/10 and 4/10 of it in turns.
//!
//! Each subflow has a [`Half`], which looks like a control of its own to its part of the transport.
//! A subflow may have in flight the part of the window that the other leaves. Its rate is its share
//! of the whole's; if the window limits instead of the pacer, a subflow that is ahead of its share
//! waits for the other, so that the shares hold there too.

use super::Reduction;
use super::detector::{Detector, Settings, Subflow};
use crate::notice::Kind;
use crate::{Ack, Congestion, Control, EcnMode, Notice, RateSample, Setup};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::{Duration, Instant, Rate};

/// Packets that a subflow may be ahead of its share.
const AHEAD: f64 = 2.0;
/// A subflow that has sent no data for this long does not hold the other back.
const SILENT: Duration = Duration::from_millis(200);
/// Above this part of the window, the flow counts as limited by it; in slow start half is enough.
const LIMITED: f64 = 0.9;
/// The least part of the window that congestion takes in a queue of its own (Bachl 2022, II.A: 1/8).
const GENTLE: f64 = 0.125;
/// The queue is empty if round trips are less than this above the least one.
const IDLE: Duration = Duration::from_millis(1);
/// The factor by which the window grows faster in an empty queue of its own.
const HASTE: u64 = 8;
/// Percent of window per round trip at which a control is paced that names no rate: RFC 9002, 7.7,
/// and twice in slow start.
const PACING: [u64; 2] = [125, 200];

/// The reaction when fair queuing is found.
pub enum Reaction {
    /// The part of the window given up each time.
    Reduce(Reduction),
    /// This control rules, for as long as the verdict holds.
    Switch(Box<dyn Control>),
}

#[derive(Debug, Clone, Copy, Default)]
struct Side {
    in_flight: u64,
    srtt: Duration,
    /// Delivery rate, bytes per second.
    rate: f64,
    last_sent: Option<Instant>,
    /// When the newest packet that was acknowledged was sent.
    newest: Instant,
    /// Bytes sent since the last swap.
    turn: u64,
}

/// A control, a detector, and the bytes that both subflows have in flight.
pub struct Pair {
    detector: Detector,
    base: Box<dyn Control>,
    reaction: Reaction,
    alone: bool,
    mss: u64,
    interval: Duration,
    sides: [Side; 2],
    delivered: u64,
    min_rtt: Duration,
    /// When congestion was last answered; valid until data sent later arrives.
    congested: Option<Instant>,
    /// When the packet-timed round trip began.
    round: Instant,
    evaluated: u64,
    /// Since the last reduction no interval is over.
    reduced: bool,
    /// Acknowledged and not yet credited, where round trips are shorter than intervals: in thousandths.
    credit: u64,
    told: Option<Kind>,
    notices: VecDeque<Notice>,
}

impl Pair {
    /// No data was sent.
    pub fn new(
        settings: Settings,
        reaction: Reaction,
        base: Box<dyn Control>,
        setup: &Setup,
    ) -> Self {
        Pair {
            interval: settings.shortest,
            detector: Detector::new(settings),
            base,
            reaction,
            alone: false,
            mss: setup.mss,
            sides: [Side::default(); 2],
            delivered: 0,
            min_rtt: Duration::ZERO,
            congested: None,
            round: Instant::ZERO,
            evaluated: 0,
            reduced: false,
            credit: 0,
            told: None,
            notices: VecDeque::new(),
        }
    }

    /// The controls for the two subflows' parts of a transport.
    pub fn split(self) -> [Box<dyn Control>; 2] {
        let pair = Arc::new(Mutex::new(self));
        Subflow::BOTH.map(|subflow| -> Box<dyn Control> {
            let pair = Arc::clone(&pair);
            Box::new(Half { pair, subflow })
        })
    }

    /// The control that rules now.
    fn ruling(&self) -> &dyn Control {
        match &self.reaction {
            Reaction::Switch(other) if self.alone => &**other,
            _ => &*self.base,
        }
    }

    /// All controls that receive the events.
    fn each(&mut self, mut tell: impl FnMut(&mut dyn Control)) {
        tell(&mut *self.base);
        if let Reaction::Switch(other) = &mut self.reaction {
            tell(&mut **other);
        }
    }

    fn in_flight(&self) -> u64 {
        self.sides[0].in_flight + self.sides[1].in_flight
    }

    /// The mean of both smoothed round trips, of those that are known.
    fn srtt(&self) -> Duration {
        match self.sides.map(|side| side.srtt) {
            [Duration::ZERO, only] | [only, Duration::ZERO] => only,
            [a, b] => (a + b) / 2,
        }
    }

    fn sent(&mut self, now: Instant, subflow: Subflow, bytes: u64, in_flight: u64) {
        if self.detector.advance(now, self.srtt()) {
            self.sides.iter_mut().for_each(|side| side.turn = 0);
            self.reduced = false;
            if self.ruling().in_slow_start() {
                // A queue that grows within a quarter of an interval looks different to each subflow.
                self.detector.forget();
            }
        }
        self.detector.sent(subflow, bytes);
        let side = &mut self.sides[subflow as usize];
        side.in_flight = in_flight;
        side.last_sent = Some(now);
        side.turn += bytes;
        let in_flight = self.in_flight();
        self.each(|control| control.on_sent(now, bytes, in_flight));
    }

    fn acked(&mut self, now: Instant, subflow: Subflow, ack: &Ack) {
        let side = &mut self.sides[subflow as usize];
        side.in_flight = ack.in_flight;
        side.srtt = ack.srtt;
        side.newest = side.newest.max(ack.newest_sent);
        if let Some(sample) = &ack.rate {
            side.rate = sample.delivered as f64 / sample.interval.as_secs_f64().max(1e-9);
        }
        self.detector
            .acked(now, subflow, ack.bytes, ack.newest_sent);
        if let Some(rtt) = ack.rtt {
            self.detector.delayed(subflow, ack.newest_sent, rtt);
        }
        self.delivered += ack.bytes;
        self.min_rtt = match self.min_rtt {
            Duration::ZERO => ack.min_rtt,
            known => known.min(ack.min_rtt),
        };
        let whole = self.whole(now, subflow, ack);
        self.tell(now, whole);
        self.judge(now);
    }

    /// Combines an acknowledgement on one subflow with the state of both.
    fn whole(&mut self, now: Instant, subflow: Subflow, ack: &Ack) -> Ack {
        let other = self.sides[1 - subflow as usize];
        let rate = ack.rate.map(|sample| {
            let more = (other.rate * sample.interval.as_secs_f64()) as u64;
            RateSample {
                delivered: sample.delivered + more,
                prior_delivered: self.delivered.saturating_sub(sample.delivered + more),
                ..sample
            }
        });
        let round_start = ack.newest_sent >= self.round;
        if round_start {
            self.round = now;
        }
        Ack {
            srtt: self.srtt(),
            min_rtt: self.min_rtt,
            prior_in_flight: ack.prior_in_flight + other.in_flight,
            in_flight: ack.in_flight + other.in_flight,
            delivered: self.delivered,
            rate,
            round_start,
            in_recovery: self.congested.is_some_and(|since| ack.newest_sent <= since),
            ..ack.clone()
        }
    }

    fn tell(&mut self, now: Instant, ack: Ack) {
        let bytes = self.growth(&ack);
        let mss = self.mss as f64;
        self.each(|control| {
            let least = if control.in_slow_start() {
                0.5
            } else {
                LIMITED
            };
            let window = control.window() as f64;
            // While one subflow waits for the other, a little of the window is free.
            let out = ack.prior_in_flight as f64;
            let slack = (AHEAD + 1.0) * mss;
            let ack = Ack {
                bytes,
                window_limited: out >= window * least || out + slack >= window,
                ..ack.clone()
            };
            control.on_ack(now, &ack);
        });
    }

    /// How many of the acknowledged bytes count for the window's growth.
    fn growth(&mut self, ack: &Ack) -> u64 {
        let slows = match self.reaction {
            Reaction::Reduce(Reduction::Part(_)) => !self.base.in_slow_start(),
            Reaction::Reduce(Reduction::Queue) => self.owns_queue(),
            Reaction::Switch(_) => false,
        };
        if !slows {
            return ack.bytes;
        }
        // The window can be reduced once in so many intervals, so it does not grow faster either.
        let part = self.srtt().as_nanos() * 1000 / self.interval.as_nanos().max(1);
        // In a queue of its own with no packets waiting, no other flow is pushed aside.
        let hastes = self.owns_queue() && self.srtt().saturating_sub(self.min_rtt) < IDLE;
        self.credit += ack.bytes * part.min(1000) * if hastes { HASTE } else { 1 };
        let bytes = self.credit / 1000;
        self.credit %= 1000;
        bytes
    }

    /// Reacts to the detector's findings since the last time.
    fn judge(&mut self, now: Instant) {
        let (evaluated, verdict) = self.detector.evaluation();
        let fresh = evaluated != self.evaluated;
        self.evaluated = evaluated;
        let kind = self.detector.verdict(now).kind;
        if Some(kind) != self.told {
            self.told = Some(kind);
            self.notice(Notice::Verdict(kind));
        }
        match self.reaction {
            Reaction::Switch(_) => self.alone = kind == Kind::Fair,
            Reaction::Reduce(reduction) => {
                if fresh && verdict.kind == Kind::Fair && !self.base.in_slow_start() {
                    self.reduce(reduction);
                }
            }
        }
    }

    fn reduce(&mut self, reduction: Reduction) {
        self.notice(Notice::Reduced);
        let part = match reduction {
            Reduction::Part(part) => part,
            Reduction::Queue => self.waiting(),
        };
        if part > 0.0 {
            self.base.give_up(part);
            self.detector.forget();
            self.reduced = true;
        }
    }

    /// Whether the queued part is to be given up, and the flow is known to have a queue of its own.
    fn owns_queue(&self) -> bool {
        let queue = matches!(self.reaction, Reaction::Reduce(Reduction::Queue));
        queue && self.told == Some(Kind::Fair) && !self.base.in_slow_start()
    }

    /// The part of the window that waits: at most half.
    fn waiting(&self) -> f64 {
        let srtt = self.srtt().as_secs_f64();
        let waits = srtt - self.min_rtt.as_secs_f64();
        (waits / srtt.max(1e-9)).clamp(0.0, 0.5)
    }

    /// Reacts to congestion. In a queue of its own it cannot be caused by others: the queued part
    /// is given up, or as much as the paper gives up, and not half of the window.
    fn congested(&mut self, now: Instant, congestion: &Congestion) {
        if self.owns_queue() {
            self.base.give_up(self.waiting().max(GENTLE));
        } else {
            self.each(|control| control.on_congestion(now, congestion));
        }
    }

    /// Keeps a notice. The oldest is dropped if they are not taken.
    fn notice(&mut self, notice: Notice) {
        const MOST: usize = 64;
        if self.notices.len() == MOST {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
    }

    /// True if congestion is not `known`, given when it was last answered, and is no echo of the
    /// last reduction.
    fn is_news(&mut self, now: Instant, known: impl Fn(&Self, Instant) -> bool) -> bool {
        let echo = self.reduced && !self.base.in_slow_start();
        if echo || self.congested.is_some_and(|since| known(self, since)) {
            return false;
        }
        self.congested = Some(now);
        self.notice(Notice::Congested);
        self.detector.congested();
        true
    }

    /// The window of `subflow`: no further bytes while it is ahead of its share and the other can
    /// send.
    fn window_of(&self, subflow: Subflow) -> u64 {
        let (own, other) = (
            &self.sides[subflow as usize],
            &self.sides[1 - subflow as usize],
        );
        let window = self.ruling().window();
        let last = own.last_sent.max(other.last_sent).unwrap_or(Instant::ZERO);
        let there = other.last_sent.is_some_and(|at| last.since(at) < SILENT);
        let share = self.detector.share(subflow);
        let ahead = own.turn as f64 / share - other.turn as f64 / (1.0 - share);
        if there && ahead > AHEAD * self.mss as f64 / share {
            return own.in_flight.min(window);
        }
        window.saturating_sub(other.in_flight)
    }

    fn rate_of(&self, subflow: Subflow) -> Option<Rate> {
        let ruling = self.ruling();
        let whole = match ruling.pacing_rate() {
            Some(rate) => rate,
            None if self.srtt() == Duration::ZERO => return None,
            None => {
                let percent = PACING[usize::from(ruling.in_slow_start())];
                Rate::from_bytes_over(ruling.window(), self.srtt()).scale(percent, 100)
            }
        };
        let thousandths = (self.detector.share(subflow) * 1000.0) as u64;
        Some(whole.scale(thousandths, 1000))
    }
}

/// One subflow's view of a [`Pair`].
struct Half {
    pair: Arc<Mutex<Pair>>,
    subflow: Subflow,
}

impl Half {
    /// The lock is held for no longer than a call.
    fn pair(&self) -> MutexGuard<'_, Pair> {
        self.pair.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Control for Half {
    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        self.pair().sent(now, self.subflow, bytes, in_flight);
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.pair().acked(now, self.subflow, ack);
    }

    fn on_congestion(&mut self, now: Instant, congestion: &Congestion) {
        let mut pair = self.pair();
        pair.sides[self.subflow as usize].in_flight = congestion.in_flight;
        // Lost data was sent before the data that revealed the loss. One subflow may report long
        // after the other, because it sends less.
        let newest = pair.sides[self.subflow as usize].newest;
        if pair.is_news(now, |_, since| newest <= since) {
            let congestion = Congestion {
                in_flight: pair.in_flight(),
                min_rtt: pair.min_rtt,
                ..*congestion
            };
            pair.congested(now, &congestion);
        }
    }

    fn on_recovered(&mut self, now: Instant) {
        self.pair().each(|control| control.on_recovered(now));
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u64) {
        let mut pair = self.pair();
        pair.sides[self.subflow as usize].in_flight = in_flight;
        if pair.is_news(now, |pair, since| now.since(since) <= pair.srtt()) {
            let in_flight = pair.in_flight();
            pair.each(|control| control.on_timeout(now, in_flight));
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        let pair = self.pair();
        let other = match &pair.reaction {
            Reaction::Switch(other) => other.next_timer(),
            Reaction::Reduce(_) => None,
        };
        pair.base.next_timer().into_iter().chain(other).min()
    }

    fn on_timer(&mut self, now: Instant) {
        self.pair().each(|control| {
            if control.next_timer().is_some_and(|at| at <= now) {
                control.on_timer(now);
            }
        });
    }

    fn window(&self) -> u64 {
        self.pair().window_of(self.subflow)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pair().rate_of(self.subflow)
    }

    fn in_slow_start(&self) -> bool {
        self.pair().ruling().in_slow_start()
    }

    fn ecn(&self) -> EcnMode {
        self.pair().base.ecn()
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.pair().notices.pop_front()
    }
}
