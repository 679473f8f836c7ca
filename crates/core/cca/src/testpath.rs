//! A path for the tests of controls: one sender, one FIFO bottleneck of fixed rate, a fixed
//! propagation round trip, an acknowledgement for each packet. Exact to the nanosecond.
//!
//! The sender repairs nothing: lost data is sent anew as if it were other data. A packet is found
//! lost when one that was sent three later is acknowledged (RFC 6675), or by a timeout. Packets
//! that wait longer than a threshold may be marked, as an L4S queue with a step does.

use crate::{Ack, Congestion, Control, RateSample, Signal};
use std::collections::VecDeque;
use units::{Duration, Instant, Rate};

/// The data that the sender has to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Always more.
    Bulk,
    /// A frame of the control's `media_rate × interval` every `interval`, and padding while a probe asks for it.
    Frames(Duration),
}

/// A packet under way, or dropped and not yet missed.
#[derive(Debug)]
struct InFlight {
    sequence: u64,
    sent: Instant,
    /// When its acknowledgement reaches the sender; `None` for a dropped one.
    acked: Option<Instant>,
    marked: bool,
    /// The connection's state at sending, for the rate sample.
    delivered: u64,
    delivered_time: Instant,
    first_sent: Instant,
    app_limited: bool,
}

/// The path and the sender on it.
#[derive(Debug)]
pub struct Path {
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Propagation round trip, transmission excluded. May be changed between runs, upwards.
    pub rtt: Duration,
    /// Bytes that may wait, the packet in transmission included.
    pub limit: u64,
    /// Packets that wait longer than this are marked, and those alone.
    pub mark_over: Duration,
    /// Bytes of every packet.
    pub mss: u64,
    /// The source of data.
    pub source: Source,
    /// Time so far.
    pub now: Instant,
    /// Delivered so far, bytes.
    pub delivered: u64,
    /// Lost so far, bytes.
    pub lost: u64,
    /// Delivered with a mark so far, bytes.
    pub marked: u64,
    /// Largest wait in the queue since a test last set it to zero.
    pub peak_wait: Duration,
    /// Packet-timed round trips so far.
    pub rounds: u64,
    /// Bytes of frames that wait at the sender.
    pub waiting: u64,
    /// The most that the encoder can produce.
    pub encoder_limit: Rate,
    /// Smoothed round trip.
    pub srtt: Duration,
    link_free: Instant,
    flight: VecDeque<InFlight>,
    next_sequence: u64,
    round_end: u64,
    recovery_end: Option<u64>,
    mark_end: u64,
    limited_end: u64,
    next_send: Instant,
    next_frame: Instant,
    padding_end: Instant,
    app_limited_end: u64,
    delivered_time: Instant,
    first_sent: Instant,
    min_rtt: Duration,
}

impl Path {
    /// A bulk sender on a path whose buffer holds `limit` bytes.
    pub fn new(rate: Rate, rtt: Duration, limit: u64, mss: u64) -> Self {
        Path {
            rate,
            rtt,
            limit,
            mark_over: Duration::MAX,
            mss,
            source: Source::Bulk,
            now: Instant::ZERO,
            delivered: 0,
            lost: 0,
            marked: 0,
            peak_wait: Duration::ZERO,
            rounds: 0,
            waiting: 0,
            encoder_limit: Rate::from_bits(u64::MAX),
            srtt: Duration::ZERO,
            link_free: Instant::ZERO,
            flight: VecDeque::new(),
            next_sequence: 0,
            round_end: 0,
            recovery_end: None,
            mark_end: 0,
            limited_end: 0,
            next_send: Instant::ZERO,
            next_frame: Instant::ZERO,
            padding_end: Instant::ZERO,
            app_limited_end: 0,
            delivered_time: Instant::ZERO,
            first_sent: Instant::ZERO,
            min_rtt: Duration::MAX,
        }
    }

    /// Bytes in flight, as the sender sees it.
    pub fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * self.mss
    }

    /// How long a packet that arrived now would wait.
    pub fn wait(&self) -> Duration {
        self.link_free.since(self.now)
    }

    /// The bottleneck is the same as `other`'s: as busy as that has left it.
    pub fn share_link(&mut self, other: &Path) {
        self.link_free = other.link_free;
    }

    /// The bandwidth-delay product, bytes.
    pub fn bdp(&self) -> u64 {
        self.rate.bytes_in(self.rtt)
    }

    /// Runs until `end`.
    pub fn run(&mut self, control: &mut dyn Control, end: Instant) {
        loop {
            self.send(control);
            let ack = self.flight.iter().find_map(|packet| packet.acked);
            // If no further acknowledgement can arrive, the timer runs out (RFC 6298, floor of
            // Linux: 200 ms).
            let timeout = self
                .flight
                .back()
                .map(|packet| packet.sent + self.srtt + Duration::from_millis(200));
            let mut next = ack.or(timeout).unwrap_or(Instant::NEVER);
            if self.has_data() && self.window_open(control) {
                next = next.min(self.next_send);
            }
            if matches!(self.source, Source::Frames(_)) {
                next = next.min(self.next_frame);
            }
            if let Some(timer) = control.next_timer() {
                next = next.min(timer);
            }
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            if ack == Some(next) {
                self.acknowledge(control);
            } else if ack.is_none() && timeout == Some(next) {
                self.time_out(control);
            }
            if control.next_timer().is_some_and(|timer| timer <= self.now) {
                control.on_timer(self.now);
            }
        }
    }

    fn has_data(&self) -> bool {
        self.source == Source::Bulk || self.waiting > 0 || self.now < self.padding_end
    }

    fn window_open(&self, control: &dyn Control) -> bool {
        self.in_flight() + self.mss <= control.window()
    }

    fn send(&mut self, control: &mut dyn Control) {
        if let Source::Frames(interval) = self.source {
            if self.now >= self.next_frame {
                let rate = control.media_rate(self.srtt).min(self.encoder_limit);
                self.waiting += rate.bytes_in(interval);
                self.next_frame = self.now + interval;
            }
            if self.now >= self.padding_end
                && let Some(probe) = control.take_probe(self.now)
            {
                self.padding_end = self.now + probe.span;
            }
        }
        while self.has_data() {
            if !self.window_open(control) {
                self.limited_end = self.next_sequence;
                return;
            }
            if self.now < self.next_send {
                return;
            }
            self.transmit(control);
        }
        self.app_limited_end = self.delivered + self.in_flight().max(1);
    }

    fn transmit(&mut self, control: &mut dyn Control) {
        if self.flight.is_empty() {
            self.delivered_time = self.now;
            self.first_sent = self.now;
        }
        let wait = self.wait();
        let fits = self.rate.bytes_in(wait) + self.mss <= self.limit;
        let acked = fits.then(|| {
            self.link_free = self.link_free.max(self.now) + self.rate.time_for(self.mss);
            self.peak_wait = self.peak_wait.max(wait);
            self.link_free + self.rtt
        });
        self.flight.push_back(InFlight {
            sequence: self.next_sequence,
            sent: self.now,
            acked,
            marked: wait > self.mark_over,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
            app_limited: self.app_limited_end > 0,
        });
        self.next_sequence += 1;
        self.waiting = self.waiting.saturating_sub(self.mss);
        control.on_sent(self.now, self.mss, self.in_flight());
        if let Some(rate) = control.pacing_rate() {
            self.next_send = self.next_send.max(self.now) + rate.time_for(self.mss);
        }
    }

    fn acknowledge(&mut self, control: &mut dyn Control) {
        let prior_in_flight = self.in_flight();
        let Some(index) = self.flight.iter().position(|packet| packet.acked.is_some()) else {
            return;
        };
        let Some(packet) = self.flight.remove(index) else {
            return;
        };
        let before = self.flight.len();
        self.flight
            .retain(|other| other.acked.is_some() || other.sequence + 3 > packet.sequence);
        let lost = (before - self.flight.len()) as u64 * self.mss;
        self.lost += lost;
        self.delivered += self.mss;
        self.delivered_time = self.now;
        if self.delivered > self.app_limited_end {
            self.app_limited_end = 0;
        }
        let rtt = self.now.since(packet.sent);
        self.srtt = match self.srtt {
            Duration::ZERO => rtt,
            srtt => srtt.scale(7, 8) + rtt / 8,
        };
        self.min_rtt = self.min_rtt.min(rtt);
        let sent_over = packet.sent.since(packet.first_sent);
        let interval = sent_over.max(self.now.since(packet.delivered_time));
        self.first_sent = packet.sent;
        let round_start = packet.sequence >= self.round_end;
        if round_start {
            self.round_end = self.next_sequence;
            self.rounds += 1;
        }
        self.congest(control, lost);
        let marked = self.mark(control, &packet);
        control.on_ack(
            self.now,
            &Ack {
                bytes: self.mss,
                lost,
                rtt: Some(rtt),
                srtt: self.srtt,
                min_rtt: self.min_rtt,
                prior_in_flight,
                in_flight: self.in_flight(),
                delivered: self.delivered,
                rate: (interval >= self.min_rtt).then_some(RateSample {
                    delivered: self.delivered - packet.delivered,
                    interval,
                    prior_delivered: packet.delivered,
                    app_limited: packet.app_limited,
                }),
                round_start,
                newest_sent: packet.sent,
                in_recovery: self.recovery_end.is_some(),
                window_limited: packet.sequence < self.limited_end,
                marked,
            },
        );
        let oldest = self
            .flight
            .front()
            .map_or(u64::MAX, |packet| packet.sequence);
        if self.recovery_end.is_some_and(|end| oldest >= end) {
            self.recovery_end = None;
            control.on_recovered(self.now);
        }
    }

    fn congest(&mut self, control: &mut dyn Control, lost: u64) {
        if lost > 0 && self.recovery_end.is_none() {
            self.recovery_end = Some(self.next_sequence);
            let congestion = Congestion {
                signal: Signal::Loss,
                lost,
                in_flight: self.in_flight(),
                min_rtt: self.min_rtt,
            };
            control.on_congestion(self.now, &congestion);
        }
    }

    /// A mark is reported once a round trip; returns the bytes that were marked.
    fn mark(&mut self, control: &mut dyn Control, packet: &InFlight) -> u64 {
        if !packet.marked {
            return 0;
        }
        self.marked += self.mss;
        if packet.sequence >= self.mark_end {
            self.mark_end = self.next_sequence;
            let congestion = Congestion {
                signal: Signal::Mark,
                lost: 0,
                in_flight: self.in_flight(),
                min_rtt: self.min_rtt,
            };
            control.on_congestion(self.now, &congestion);
        }
        self.mss
    }

    fn time_out(&mut self, control: &mut dyn Control) {
        let in_flight = self.in_flight();
        self.lost += in_flight;
        self.flight.clear();
        self.recovery_end = Some(self.next_sequence);
        control.on_timeout(self.now, in_flight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Setup, reno::Reno};

    /// 12 Mbit/s carries a packet of 1500 B in 1 ms; 19 ms of propagation make a round trip of
    /// 20 ms, which 20 packets fill.
    #[test]
    fn reno_doubles_until_the_buffer_overflows_and_then_fills_the_link() {
        let setup = Setup {
            mss: 1500,
            initial_window: 15_000,
            ..Setup::default()
        };
        let mut reno = Reno::new(&[], &setup).unwrap();
        let rate = Rate::from_bits(12_000_000);
        let mut path = Path::new(rate, Duration::from_millis(19), 30_000, 1500);
        // The first ten packets are acknowledged from 20 to 29 ms, each making room for two.
        path.run(&mut reno, Instant::ZERO + Duration::from_micros(29_500));
        assert_eq!((reno.window(), path.in_flight()), (30_000, 30_000));
        assert_eq!(path.delivered, 15_000);
        path.run(&mut reno, Instant::ZERO + Duration::from_secs(1));
        assert!(path.lost > 0);
        // The buffer holds a bandwidth-delay product, so the link hardly idles after a halving.
        let before = path.delivered;
        path.run(&mut reno, Instant::ZERO + Duration::from_secs(5));
        let carried = (path.delivered - before) as f64 / (4 * 1_500_000) as f64;
        assert!((0.95..=1.0).contains(&carried), "{carried}");
        assert!(path.peak_wait <= Duration::from_millis(20));
    }

    /// A media sender limited by its encoder: 300 kbit/s in frames of 1250 B every 33 ms.
    #[test]
    fn frames_make_the_sender_application_limited() {
        struct Fixed(Vec<bool>);
        impl Control for Fixed {
            fn on_ack(&mut self, _now: Instant, ack: &Ack) {
                assert!(!ack.window_limited);
                self.0.extend(ack.rate.map(|sample| sample.app_limited));
            }
            fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {}
            fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {}
            fn window(&self) -> u64 {
                u64::MAX
            }
            fn media_rate(&self, _srtt: Duration) -> Rate {
                Rate::from_bits(300_000)
            }
        }
        let mut control = Fixed(Vec::new());
        let rtt = Duration::from_millis(20);
        let mut path = Path::new(Rate::from_bits(10_000_000), rtt, 30_000, 1250);
        assert_eq!(path.bdp(), 25_000);
        path.source = Source::Frames(Duration::from_millis(33));
        path.run(&mut control, Instant::ZERO + Duration::from_millis(999));
        // 300 kbit/s × 33 ms = 1237 B, one packet; frames at 0, 33, …, 990 ms; the last is not
        // acknowledged before 990 + 20 + 1 ms.
        assert_eq!(path.delivered, 30 * 1250);
        // The first packet is sent before the sender has found out that it has no more.
        assert_eq!(control.0.iter().filter(|limited| !**limited).count(), 1);
    }
}
