//! One control over two subflows: one window, one rate, 6/10 and 4/10 of it in turns.
//!
//! Each subflow has a [`Half`], which looks like a control of its own to its part of the transport.
//! A subflow may have in flight the part of the window that the other leaves, and sends when the
//! detector permits it. Dealt out in turns, both follow one pace; otherwise each has its share of
//! the rate as its own.

mod delivered;
mod half;

use super::Reduction;
use super::alone::Alone;
use super::dealing::Deal;
use super::detector::Detector;
use super::settings::{Settings, Subflow};
use crate::notice::NoticeKind;
use crate::{Ack, Congestion, Control, Notice, Pace, Setup};
use delivered::Delivered;
use half::Half;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use units::{Duration, Instant, Rate};

/// Packets of the window that may be free while one subflow waits for the other.
const SLACK: f64 = 3.0;
/// With evidence for fair queuing as young as this, one subflow sends.
const ONE_SHARE: Duration = Duration::from_secs(6);
/// Above this part of the window, the flow counts as limited by it; in slow start half is enough.
const LIMITED: f64 = 0.9;
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
struct PairSide {
    in_flight: u64,
    srtt: Duration,
    min_rtt: Duration,
    /// When the newest packet that was acknowledged was sent.
    newest: Instant,
}

/// A control, a detector, and the bytes that both subflows have in flight.
pub struct Pair {
    detector: Detector,
    base: Box<dyn Control>,
    reaction: Reaction,
    /// It is to have one share under fair queuing.
    one: bool,
    /// The flow has its own queue, as far as is known.
    alone: bool,
    keeper: Alone,
    /// The window for a short queue, beside a base that cannot go on from another one.
    kept: Option<u64>,
    /// The window was full in this round trip: one that is not used does not grow.
    limited: bool,
    deal: Deal,
    /// Of both subflows, dealt out in turns.
    pace: Pace,
    mss: u64,
    interval: Duration,
    sides: [PairSide; 2],
    delivered: Delivered,
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
    told: Option<NoticeKind>,
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
            keeper: Alone::default(),
            kept: None,
            limited: false,
            deal: settings.deal,
            pace: Pace::default(),
            detector: Detector::new(settings),
            base,
            reaction,
            one: true,
            alone: false,
            mss: setup.mss,
            sides: [PairSide::default(); 2],
            delivered: Delivered::default(),
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

    /// The same with the shares of both subflows under fair queuing.
    #[must_use]
    pub fn with_two_shares(self) -> Self {
        Pair { one: false, ..self }
    }

    /// The controls for the two subflows' parts of a transport.
    pub fn split(self) -> [Box<dyn Control>; 2] {
        let pair = Arc::new(Mutex::new(self));
        Subflow::BOTH.map(|subflow| -> Box<dyn Control> {
            let pair = Arc::clone(&pair);
            Box::new(Half::new(pair, subflow))
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
            self.reduced = false;
            if self.ruling().in_slow_start() {
                // The shares of a window that doubles are not those of a queue.
                self.detector.forget();
            }
        }
        self.detector.sent(now, subflow, bytes);
        self.delivered.sent(now, self.in_flight() == 0);
        self.sides[subflow as usize].in_flight = in_flight;
        if let Some(rate) = self.rate() {
            self.pace.sent(now, rate.time_for(bytes));
        }
        let in_flight = self.in_flight();
        self.each(|control| control.on_sent(now, bytes, in_flight));
    }

    fn acked(&mut self, now: Instant, subflow: Subflow, ack: &Ack) {
        let side = &mut self.sides[subflow as usize];
        side.in_flight = ack.in_flight;
        side.srtt = ack.srtt;
        side.min_rtt = ack.min_rtt;
        side.newest = side.newest.max(ack.newest_sent);
        self.detector
            .acked(now, subflow, ack.bytes, ack.newest_sent);
        if let Some(rtt) = ack.rtt {
            self.detector.delayed(subflow, ack.newest_sent, rtt);
            self.keeper.delayed(subflow as usize, rtt);
        }
        self.min_rtt = match self.min_rtt {
            Duration::ZERO => ack.min_rtt,
            known => known.min(ack.min_rtt),
        };
        let whole = self.whole(now, subflow, ack);
        self.tell(now, whole);
        self.judge(now);
        let room = self.window().saturating_sub(self.in_flight());
        let empty = self.in_flight() == 0;
        self.detector.room(now, room / self.mss, empty);
    }

    /// Combines an acknowledgement on one subflow with the state of both.
    fn whole(&mut self, now: Instant, subflow: Subflow, ack: &Ack) -> Ack {
        let other = self.sides[1 - subflow as usize];
        if ack.rate.is_some_and(|sample| sample.app_limited) {
            self.delivered.limited_by_app(self.in_flight());
        }
        let rate = self
            .delivered
            .acked(now, ack.bytes, ack.newest_sent, self.min_rtt);
        let round_start = ack.newest_sent >= self.round;
        if round_start {
            self.round = now;
        }
        Ack {
            srtt: self.srtt(),
            min_rtt: self.min_rtt,
            prior_in_flight: ack.prior_in_flight + other.in_flight,
            in_flight: ack.in_flight + other.in_flight,
            delivered: self.delivered.bytes(),
            rate,
            round_start,
            in_recovery: self.congested.is_some_and(|since| ack.newest_sent <= since),
            ..ack.clone()
        }
    }

    fn tell(&mut self, now: Instant, ack: Ack) {
        let bytes = self.growth(&ack);
        let keeps = self.keeps_queue();
        // While one subflow waits for the other, a little of the window is free.
        let out = ack.prior_in_flight as f64;
        let nearly = out + SLACK * self.mss as f64;
        self.limited |= nearly >= self.window() as f64;
        self.each(|control| {
            let least = if control.in_slow_start() {
                0.5
            } else {
                LIMITED
            };
            let window = control.window() as f64;
            let ack = Ack {
                bytes,
                window_limited: !keeps && (out >= window * least || nearly >= window),
                ..ack.clone()
            };
            control.on_ack(now, &ack);
        });
    }

    /// How many of the acknowledged bytes count for the window's growth.
    fn growth(&mut self, ack: &Ack) -> u64 {
        let slows = matches!(self.reaction, Reaction::Reduce(Reduction::Part(_)));
        if !slows || self.base.in_slow_start() {
            return ack.bytes;
        }
        // The window can be reduced once in so many intervals, so it does not grow faster either.
        let part = self.srtt().as_nanos() * 1000 / self.interval.as_nanos().max(1);
        self.credit += ack.bytes * part.min(1000);
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
        self.alone = kind == NoticeKind::Fair;
        let young = now.since(self.detector.last_fair()) < ONE_SHARE;
        self.detector
            .set_single(self.one && young && self.keeps_queue());
        match self.reaction {
            Reaction::Switch(_) => {}
            Reaction::Reduce(Reduction::Part(part)) => {
                if fresh && verdict.kind == NoticeKind::Fair && !self.base.in_slow_start() {
                    self.reduce(part);
                }
            }
            Reaction::Reduce(Reduction::Queue) => self.keep_queue(now),
        }
    }

    /// The paper's reduction.
    fn reduce(&mut self, part: f64) {
        self.notice(Notice::Reduced);
        if part > 0.0 {
            let window = self.base.window() as f64;
            self.base.adopt((window * (1.0 - part)) as u64);
            self.detector.forget();
            self.reduced = true;
        }
    }

    /// The window of both subflows.
    fn window(&self) -> u64 {
        self.kept.unwrap_or_else(|| self.ruling().window())
    }

    /// Whether the window follows the queue. Slow start ends when there is one.
    fn keeps_queue(&self) -> bool {
        let queue = matches!(self.reaction, Reaction::Reduce(Reduction::Queue));
        queue && self.alone && !self.base.in_slow_start()
    }

    /// Once per round trip in a queue of its own: a window for a short queue.
    fn keep_queue(&mut self, now: Instant) {
        if !self.keeps_queue() {
            self.kept = None;
        }
        if !self.alone {
            return;
        }
        let since = now.since(self.detector.last_fair());
        let (packet, srtt) = (self.detector.packet_time(), self.srtt());
        let bases = self.sides.map(|side| side.min_rtt);
        let Some(queue) = self.keeper.round(now, srtt, bases) else {
            return;
        };
        let limited = core::mem::take(&mut self.limited);
        let aim = Alone::aim(packet, since);
        if self.base.in_slow_start() && queue <= aim {
            return;
        }
        let window = self.window();
        let next = Alone::window((window, self.mss), srtt, queue, aim);
        if next < window || next > window && limited {
            self.go_on_from(next);
        }
        if next < window {
            self.notice(Notice::Reduced);
        }
    }

    /// The window for a short queue is `window` now. A base that cannot go on from it starts up by itself,
    /// until it has filled a queue.
    fn go_on_from(&mut self, window: u64) {
        let filled = self.kept.is_some() || window < self.window();
        if !self.base.adopt(window) && filled && self.keeps_queue() {
            self.kept = Some(window);
        }
    }

    /// Reacts to congestion. In a queue of its own it cannot be caused by others: as much is given up
    /// as in the paper, and not half of the window.
    fn congested(&mut self, now: Instant, congestion: &Congestion) {
        if self.keeps_queue() {
            let window = self.window();
            self.go_on_from(window - window / 8);
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
        true
    }

    /// The window of `subflow`: no further bytes while it is the other's turn. A train may exceed it.
    fn window_of(&self, subflow: Subflow) -> u64 {
        let [own, other] = [subflow, subflow.other()].map(|of| self.sides[of as usize].in_flight);
        let window = self.window();
        if !self.detector.permits(subflow) {
            return own.min(window);
        }
        if self.detector.may_exceed() {
            return u64::MAX;
        }
        window.saturating_sub(other)
    }

    /// The rate of both; none before a round trip is known.
    fn rate(&self) -> Option<Rate> {
        let ruling = self.ruling();
        let own = ruling.pacing_rate().filter(|_| self.kept.is_none());
        own.or_else(|| {
            let known = self.srtt() > Duration::ZERO;
            let percent = PACING[usize::from(ruling.in_slow_start())];
            known.then(|| Rate::from_bytes_over(self.window(), self.srtt()).scale(percent, 100))
        })
    }

    fn rate_of(&self, subflow: Subflow) -> Option<Rate> {
        let thousandths = (self.detector.share(subflow) * 1000.0) as u64;
        self.rate().map(|rate| rate.scale(thousandths, 1000))
    }

    /// When the next packet may leave, if both subflows follow one pace.
    fn release(&self) -> Option<Instant> {
        if self.deal != Deal::Turns || self.srtt() == Duration::ZERO {
            return None;
        }
        Some(if self.detector.is_train() {
            Instant::ZERO
        } else {
            self.pace.next()
        })
    }
}

#[cfg(test)]
mod tests;
