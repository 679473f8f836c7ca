//! The sender's control: one window over both subflows, 6/10 and 4/10 of the rate in turns.
//!
//! Each path of a connection has a [`Controller`](noq_proto::congestion::Controller) of its own,
//! and all of them share one [`Sender`]: a NewReno (`cca::reno`), the detector, and the bytes in
//! flight on both. A path may have in flight the part of the window that the other leaves, and
//! sends when the detector deals it the next packet. Both follow one pace, window / round trip
//! times 5/4 (twice in slow start, RFC 9002 section 7.7 and Linux), which stands in for the pacers
//! of `noq`: two of them would release bursts that put one subflow behind the other.
//!
//! A third path carries a call beside them ([`frames`]).

pub mod frames;
mod path;
mod subflow;

pub use subflow::{Factory, Shared};

use crate::depth::Depth;
use crate::order::AckOrder;
use crate::trains::{Overtaking, Trains};
use cca::tonopah::{Detector, Evidence, NoticeKind, Settings, Subflow, Verdict};
use cca::{Ack, Congestion, Control, Pace, Signal};
use frames::ProbeFrames;
use path::{LoadPath, PathPacket};
use std::time::Instant as Clock;
use units::{Duration, Instant, Rate};

/// Every datagram's payload, bytes: the size that QUIC requires of every path (RFC 9000 section
/// 14), so that no path discovery is needed.
pub const DATAGRAM: u16 = 1200;
/// RFC 9002, section 7.2.
const INITIAL_WINDOW: u64 = 10 * DATAGRAM as u64;
/// Shortest time over which a rate is given.
const LEAST: Duration = Duration::from_millis(100);
/// The detector's verdicts count from then on: slow start and its losses prove little.
const WARM_UP: Duration = Duration::from_secs(2);

/// Slow start ends when packets have waited for this long: what that means for a call is known, and a buffer
/// of up to twice that is not overrun. By the time that the sender sees it the window has doubled again.
const DEEP_ENOUGH: Duration = Duration::from_millis(200);

/// Waits below this are compared with nothing: a processor that is busy makes them, too.
const DEEP_FOR_A_CALL: Duration = Duration::from_millis(5);

/// The totals of a sender so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Bytes that left.
    pub sent: u64,
    /// Bytes that arrived.
    pub delivered: u64,
    /// Bytes that were lost.
    pub lost: u64,
}

/// The state that both subflows' controls share.
pub struct Sender {
    start: Clock,
    detector: Detector,
    window: Box<dyn Control>,
    limit: Rate,
    paths: [LoadPath; 2],
    depth: Depth,
    order: AckOrder,
    recovery: Option<Instant>,
    dominant: Subflow,
    totals: Totals,
    /// The time of the last call that had one.
    now: Instant,
    pace: Pace,
    rate_from: Option<(Instant, u64)>,
    last_ack: Instant,
    votes: Votes,
    /// In the quick form, instead of the detector.
    trains: Option<Trains>,
    frames: ProbeFrames,
}

/// The detector's verdicts over the whole time, one for each of its intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Votes {
    /// Fair queuing.
    pub fair: u32,
    /// One queue for all.
    pub shared: u32,
    /// None.
    pub unknown: u32,
    /// Those of `shared` whose reason were trains in order.
    pub in_order: u32,
}

impl Sender {
    fn over(start: Clock, settings: Settings, limit: Rate, window: Box<dyn Control>) -> Self {
        let detector = Detector::new(settings);
        Sender {
            start,
            dominant: detector.dominant(),
            detector,
            window,
            limit,
            paths: Default::default(),
            depth: Depth::default(),
            order: AckOrder::default(),
            recovery: None,
            totals: Totals::default(),
            now: Instant::ZERO,
            pace: Pace::default(),
            rate_from: None,
            last_ack: Instant::ZERO,
            votes: Votes::default(),
            trains: None,
            frames: ProbeFrames::default(),
        }
    }

    /// Begins a call, and the load after it. Without this the load begins at once, and there is no call.
    pub fn begin_call(&mut self, now: Clock) {
        self.tick(now);
        self.frames.begin(self.now, self.limit);
    }

    /// The call's frames.
    pub fn frames(&self) -> &ProbeFrames {
        &self.frames
    }

    /// When the call's next frame leaves.
    pub fn next_frame(&self) -> Option<Clock> {
        self.frames.next().map(|at| self.clock(at))
    }

    /// An acknowledgement of the call's is read. Where the load's packets wait for longer than turns among three flows
    /// take, what its frame waited is compared with that.
    fn frame_read(&mut self, now: Instant) {
        let (Some(rtt), Some(base)) = (self.frames.ack_read(now), self.depth.base()) else {
            return;
        };
        let turns = self.rate().time_for(4 * u64::from(DATAGRAM));
        let load = self.depth.latest();
        if self.rate().as_bits() > 0 && load > turns.max(DEEP_FOR_A_CALL) {
            self.frames.beside_deep(rtt.saturating_sub(base), load);
        }
    }

    /// Bytes of the datagram that may leave now, if any: the call's before the load's.
    pub fn due(&self) -> Option<usize> {
        let may = |subflow| {
            let in_flight = self.paths[index(subflow)].in_flight;
            in_flight.saturating_add(DATAGRAM.into()) <= self.window_of(subflow)
        };
        let loads = || self.now >= self.frames.load() && Subflow::BOTH.into_iter().any(may);
        let frame = self.frames.due(self.now);
        frame.or_else(|| loads().then_some(DATAGRAM.into()))
    }

    /// Bytes that left, the call's too.
    pub fn sent_in_all(&self) -> u64 {
        self.totals.sent + self.frames.bytes()[0]
    }

    /// Sends trains only, from now on.
    pub fn send_trains(&mut self) {
        self.trains = Some(Trains::default());
    }

    /// Begins the next train if the last one is over, and there is time for it; true if packets are to be
    /// made ready for it.
    pub fn next_train(&mut self, now: Clock, until: Clock) -> bool {
        self.tick(now);
        let (now, until) = (self.now, self.time(until));
        let trains = self.trains.as_mut();
        trains.is_some_and(|trains| trains.begin(now, until))
    }

    /// Whether all trains are over.
    pub fn is_over(&self) -> bool {
        self.trains.as_ref().is_some_and(Trains::is_over)
    }

    /// What the trains of the quick form showed.
    pub fn overtaking(&self) -> Option<Overtaking> {
        self.trains.as_ref().map(Trains::result)
    }

    /// The detector's current verdict.
    pub fn verdict(&self, now: Clock) -> Verdict {
        self.detector.verdict(self.time(now))
    }

    /// The age of the last evidence for the verdict.
    pub fn age(&self, now: Clock) -> Duration {
        let now = self.time(now);
        now.since(self.detector.verdict(now).at)
    }

    /// Whether the limit holds it back now, and not the path.
    pub fn is_held(&self) -> bool {
        self.wanted() >= self.load_limit()
    }

    fn load_limit(&self) -> Rate {
        self.frames.left_of(self.limit)
    }

    /// The detector's verdicts so far.
    pub fn votes(&self) -> Votes {
        self.votes
    }

    /// The queue as it was seen.
    pub fn depth(&self) -> &Depth {
        &self.depth
    }

    /// The order in which packets were acknowledged.
    pub fn order(&self) -> AckOrder {
        self.order
    }

    /// The totals so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Bytes delivered over time, the call's too, since the end of slow start, or of its first two seconds; zero until
    /// some of it has passed. In the quick form, the rate at which the last train arrived.
    pub fn rate(&self) -> Rate {
        if let Some(trains) = &self.trains {
            return trains.rate();
        }
        match self.rate_from {
            Some((from, bytes)) if self.last_ack > from + LEAST => {
                Rate::from_bytes_over(self.delivered() - bytes, self.last_ack.since(from))
            }
            _ => Rate::from_bits(0),
        }
    }

    /// Sends never more than `limit` from now on.
    pub fn set_limit(&mut self, limit: Rate) {
        self.limit = self.limit.min(limit);
    }

    fn time(&self, now: Clock) -> Instant {
        Instant::from_nanos(now.saturating_duration_since(self.start).as_nanos() as u64)
    }

    fn clock(&self, at: Instant) -> Clock {
        self.start + std::time::Duration::from_nanos(at.as_nanos())
    }

    fn delivered(&self) -> u64 {
        self.totals.delivered + self.frames.bytes()[1]
    }

    fn warmed_up(&self, now: Instant) -> bool {
        now >= self.frames.load() + WARM_UP
    }

    fn in_flight(&self) -> u64 {
        self.paths[0].in_flight + self.paths[1].in_flight
    }

    /// The shorter of the two smoothed round trips.
    fn srtt(&self) -> Duration {
        let known = self
            .paths
            .iter()
            .map(|p| p.srtt)
            .filter(|&srtt| srtt > Duration::ZERO);
        known.min().unwrap_or(Duration::from_millis(100))
    }

    /// It is `now`, and packets may be asked for.
    pub fn tick(&mut self, now: Clock) {
        self.reach(self.time(now));
        self.frames.tick(self.now);
    }

    fn reach(&mut self, now: Instant) {
        let before = self.now;
        self.now = before.max(now);
        if self.frames.is_begun() && (before..self.now).contains(&self.frames.load()) {
            self.detector.begin(self.now);
        }
    }

    /// When the next packet may leave, if not yet.
    pub fn next_slot(&self) -> Option<Clock> {
        let slot = self.pace.next();
        let waits = slot > self.now && !self.detector.is_train() && self.trains.is_none();
        waits.then(|| self.clock(slot))
    }

    fn advance(&mut self, now: Instant) {
        self.reach(now);
        self.detector.advance(now, self.srtt());
        if self.detector.dominant() != self.dominant {
            self.dominant = self.detector.dominant();
            if self.warmed_up(now) {
                let verdict = self.detector.verdict(now);
                match verdict.kind {
                    NoticeKind::Fair => self.votes.fair += 1,
                    NoticeKind::Shared => {
                        self.votes.shared += 1;
                        self.votes.in_order += u32::from(verdict.evidence == Evidence::Order);
                    }
                    NoticeKind::Unknown => self.votes.unknown += 1,
                }
            }
        }
    }

    fn sent(&mut self, now: Instant, subflow: Subflow, number: u64, bytes: u64) {
        self.advance(now);
        self.detector.sent(now, subflow, bytes);
        let gap = self.wanted().min(self.load_limit()).time_for(bytes);
        self.pace.sent(now, gap);
        let in_flight = self.in_flight() + bytes;
        self.window.on_sent(now, bytes, in_flight);
        self.totals.sent += bytes;
        if let Some(trains) = &mut self.trains {
            trains.sent(subflow, bytes);
        }
        let path = &mut self.paths[index(subflow)];
        path.forget(now);
        path.packets.push_back(PathPacket {
            number,
            sent: now,
            bytes,
        });
        path.in_flight += bytes;
    }

    fn acked(&mut self, now: Instant, subflow: Subflow, packet: PathPacket) {
        self.advance(now);
        self.detector.acked(now, subflow, packet.bytes, packet.sent);
        self.totals.delivered += packet.bytes;
        self.last_ack = now;
        if let Some(trains) = &mut self.trains {
            trains.settled(packet.sent, packet.bytes, true);
        }
        self.order.acknowledged(subflow, packet.sent);
        let prior_in_flight = self.in_flight();
        let path = &mut self.paths[index(subflow)];
        path.take(packet.number, Some(packet.sent));
        if path
            .newest
            .is_none_or(|newest| newest.number < packet.number)
        {
            path.newest = Some(packet);
        }
        let in_recovery = self.recovery.is_some_and(|since| packet.sent <= since);
        let used = if self.window.in_slow_start() { 2 } else { 1 };
        let ack = Ack {
            bytes: packet.bytes,
            srtt: self.srtt(),
            min_rtt: self.depth.base().unwrap_or_default(),
            prior_in_flight,
            in_flight: self.in_flight(),
            delivered: self.totals.delivered,
            newest_sent: packet.sent,
            in_recovery,
            window_limited: prior_in_flight * used * 10 >= self.window.window() * 9,
            ..Ack::default()
        };
        self.window.on_ack(now, &ack);
        let begun = !self.window.in_slow_start() || self.warmed_up(now);
        if self.rate_from.is_none() && begun {
            self.rate_from = Some((now, self.delivered()));
        }
    }

    fn ack_read(&mut self, now: Instant, subflow: Subflow, in_flight: u64) {
        let path = &mut self.paths[index(subflow)];
        if in_flight == 0 {
            path.packets.clear();
            path.in_flight = 0;
        }
        if let Some(newest) = path.newest.take() {
            // Zero means none.
            let rtt = now.since(newest.sent).max(Duration::from_nanos(1));
            path.srtt = match path.srtt {
                Duration::ZERO => rtt,
                srtt => srtt.scale(7, 8) + rtt.scale(1, 8),
            };
            self.order.read(subflow, newest.sent);
            self.depth.round_trip(now, rtt);
            if self.window.in_slow_start() && self.depth.latest() > DEEP_ENOUGH {
                self.window.adopt(self.window.window());
            }
            self.detector.delayed(subflow, newest.sent, rtt);
            if let Some(trains) = &mut self.trains {
                trains.timed(subflow, newest.sent, newest.bytes, rtt);
            }
        }
        let room = self.window.window().saturating_sub(self.in_flight());
        let empty = self.in_flight() == 0;
        self.detector.room(now, room / u64::from(DATAGRAM), empty);
    }

    fn lost(&mut self, subflow: Subflow, number: u64) {
        if let Some(packet) = self.paths[index(subflow)].take(number, None) {
            self.totals.lost += packet.bytes;
            self.detector.lost(packet.sent);
            if let Some(trains) = &mut self.trains {
                trains.settled(packet.sent, packet.bytes, false);
            }
        }
    }

    fn returned(&mut self) {
        self.order.returned();
    }

    fn congestion(&mut self, now: Instant, sent: Instant, event: Event) {
        if event == Event::Mark {
            self.depth.marked();
        }
        if self.recovery.is_some_and(|since| sent <= since) {
            return;
        }
        self.recovery = Some(now);
        self.detector.congested(match event {
            Event::Mark => Signal::Mark,
            Event::Loss | Event::Persistent => Signal::Loss,
        });
        if event != Event::Mark {
            self.depth.lost();
        }
        let congestion = Congestion {
            signal: if event == Event::Mark {
                Signal::Mark
            } else {
                Signal::Loss
            },
            lost: 0,
            in_flight: self.in_flight(),
            min_rtt: self.depth.base().unwrap_or_default(),
        };
        if event == Event::Persistent {
            self.window.on_timeout(now, self.in_flight());
        } else {
            self.window.on_congestion(now, &congestion);
        }
    }

    /// The window of `subflow`: no further bytes before the next packet's time, while it is the other's turn, and while
    /// a frame of the call is to leave. A train may exceed it.
    fn window_of(&self, subflow: Subflow) -> u64 {
        let own = &self.paths[index(subflow)];
        let other = &self.paths[1 - index(subflow)];
        let window = self.window.window();
        if let Some(trains) = &self.trains {
            return match trains.turn() {
                Some(turn) if turn == subflow => u64::MAX,
                Some(_) => own.in_flight,
                None => window.saturating_sub(other.in_flight),
            };
        }
        let frame = self.frames.due(self.now).is_some();
        if frame || self.next_slot().is_some() || !self.detector.permits(subflow) {
            return own.in_flight.min(window);
        }
        if self.detector.may_exceed() {
            return u64::MAX;
        }
        window.saturating_sub(other.in_flight)
    }

    /// The rate for both subflows, without the limit.
    fn wanted(&self) -> Rate {
        let rate = Rate::from_bytes_over(self.window.window(), self.srtt());
        if self.window.in_slow_start() {
            rate.scale(2, 1)
        } else {
            rate.scale(5, 4)
        }
    }
}

/// Congestion, as QUIC reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Loss,
    /// All packets were lost for a while (RFC 9002, section 7.6).
    Persistent,
    Mark,
}

fn index(subflow: Subflow) -> usize {
    match subflow {
        Subflow::A => 0,
        Subflow::B => 1,
    }
}
