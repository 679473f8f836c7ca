//! `gcc_library`: GCC as the RTC library that the Confucius paper took has it.
//!
//! Principles: the trend of the delay between frames, as libwebrtc finds it, with another rate
//! control behind it. Each decrease leaves 0.85 of the rate at most, of the rate sent in the last
//! second, and comes again every round trip; near the capacity the rate grows twice as fast as
//! libwebrtc's. There is no probing, and neither loss nor silence lowers the rate. Not for:
//! anything but that library's calls; `gcc` is the control in common use.
//!
//! Facts from the source of `transys-project/zhuge` (SIGCOMM 2022), `gcc-controller.cc` and
//! `sender-based-controller.cc`; decisions/0023. "Received" there means sent, lost packets
//! included.

use super::aimd::Capacity;
use super::detector::{PathUsage, TrendDetector};
use super::groups::Delta;
use super::signed_ms;
use super::trendline::{GAIN, Trendline};
use crate::{Ack, Arrival, Congestion, Control, ControlEntry, Feedback};
use std::collections::VecDeque;
use units::{Duration, Instant, Rate};

/// `gcc_library` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "gcc_library",
    summary: "GCC as implemented in the RTC library of the Confucius paper",
    about: "libwebrtc's trendline over whole frames, and a rate that falls to 0.85 of itself or \
        less at every overuse, and grows by 8 % a second from 0.5 Mbit/s without any \
        probe.\n\nOnly for calls as in that paper.",
    source: "transys-project/zhuge, gcc-controller.cc; decision 0023",
    params: &[],
    children: &[],
    build: |_| Ok(Box::new(GccLibrary::default())),
};

/// Least rate, which is also the first, and greatest, bit/s.
const BOUNDS: (f64, f64) = (5e5, 1e8);
/// A packet that leaves so much later than a group's first begins another: one group is one frame.
const GROUP: Duration = Duration::from_millis(10);
/// The trend counts in full after this many groups.
const GROUPS_FOR_TRUST: u32 = 60;
/// Groups over which the least round trip is taken.
const RTT_GROUPS: usize = 15;
/// Over how long "received" is taken.
const RECEIVED: Duration = Duration::from_secs(1);
/// Factor of a decrease.
const BETA: f64 = 0.85;
/// Growth per second far from the capacity.
const ETA: f64 = 1.08;
/// A packet, bits.
const PACKET: f64 = 1200.0 * 8.0;
/// The estimator's response time in addition to the round trip, seconds.
const RESPONSE: f64 = 0.1;

/// The state. Rates in bit/s.
#[derive(Debug, Clone)]
pub struct GccLibrary {
    rate: f64,
    group: Option<ArrivalGroup>,
    previous: Option<ArrivalGroup>,
    trendline: Trendline,
    detector: TrendDetector,
    groups: u32,
    /// Packets sent, as far as reported: when, and bits; and their sum.
    sent: VecDeque<(Instant, u64)>,
    bits: u64,
    rtts: VecDeque<Duration>,
    capacity: Capacity,
    holds: bool,
    changed: Option<Instant>,
}

impl Default for GccLibrary {
    fn default() -> Self {
        GccLibrary {
            rate: BOUNDS.0,
            group: None,
            previous: None,
            trendline: Trendline::default(),
            detector: TrendDetector::default(),
            groups: 0,
            sent: VecDeque::new(),
            bits: 0,
            rtts: VecDeque::new(),
            capacity: Capacity::default(),
            holds: true,
            changed: None,
        }
    }
}

/// Packets that left together: their first, and how much later than that they left, and arrived,
/// in milliseconds.
#[derive(Debug, Clone, Copy)]
struct ArrivalGroup {
    first_sent: Instant,
    first_received: Instant,
    last_received: Instant,
    sent: f64,
    received: f64,
    count: f64,
}

impl ArrivalGroup {
    const fn new(sent: Instant, received: Instant) -> Self {
        ArrivalGroup {
            first_sent: sent,
            first_received: received,
            last_received: received,
            sent: 0.0,
            received: 0.0,
            count: 1.0,
        }
    }

    fn add(&mut self, sent: Instant, received: Instant) {
        self.sent += signed_ms(self.first_sent, sent);
        self.received += signed_ms(self.first_received, received);
        self.last_received = self.last_received.max(received);
        self.count += 1.0;
    }

    /// From the mean of one group to the mean of the next, in whole milliseconds.
    fn until(&self, next: &ArrivalGroup) -> Delta {
        let sent = signed_ms(self.first_sent, next.first_sent);
        let received = signed_ms(self.first_received, next.first_received);
        let mean = |sum: fn(&ArrivalGroup) -> f64| sum(next) / next.count - sum(self) / self.count;
        Delta {
            sent: libm::trunc(sent + mean(|group| group.sent)),
            received: libm::trunc(received + mean(|group| group.received)),
        }
    }
}

impl GccLibrary {
    /// A packet arrived.
    fn add(&mut self, now: Instant, sent: Instant, received: Instant) {
        let Some(group) = &mut self.group else {
            self.group = Some(ArrivalGroup::new(sent, received));
            return;
        };
        if sent < group.first_sent {
            return;
        }
        if sent.since(group.first_sent) <= GROUP {
            group.add(sent, received);
            return;
        }
        let complete = core::mem::replace(group, ArrivalGroup::new(sent, received));
        self.rtts.push_back(now.since(complete.first_sent));
        if self.rtts.len() > RTT_GROUPS {
            self.rtts.pop_front();
        }
        if let Some(previous) = self.previous.replace(complete) {
            self.take(&previous.until(&complete), complete.last_received);
        }
    }

    /// Two groups are complete.
    fn take(&mut self, delta: &Delta, at: Instant) {
        self.groups = (self.groups + 1).min(GROUPS_FOR_TRUST);
        let trend = GAIN * self.trendline.update(delta, at);
        if self.groups >= 2 {
            let weight = f64::from(self.groups);
            self.detector.update(trend, weight, delta.sent, at);
        }
    }

    /// The bits sent over the last second, as far as reported.
    fn received(&mut self) -> Option<f64> {
        let newest = self.sent.back()?.0;
        while let Some(&(at, bits)) = self.sent.front()
            && newest.since(at) > RECEIVED
        {
            self.sent.pop_front();
            self.bits -= bits;
        }
        let (first, own) = *self.sent.front()?;
        let span = newest.since(first).as_secs_f64();
        (span > 0.0).then(|| (self.bits - own) as f64 / span)
    }

    fn rtt(&self) -> Duration {
        let least = self.rtts.iter().min().copied();
        least.unwrap_or(Duration::from_millis(200))
    }

    /// Moves the rate, if it is time to.
    fn update(&mut self, now: Instant, received: f64) {
        let wait = self.rtt();
        let wait = wait.clamp(Duration::from_millis(10), Duration::from_millis(200));
        let old = self.changed.is_none_or(|at| now.since(at) >= wait);
        if !old && received >= 0.5 * self.rate {
            return;
        }
        let elapsed = self.changed.map_or(0.0, |at| now.since(at).as_secs_f64());
        match self.detector.usage() {
            PathUsage::Over => self.decrease(received),
            PathUsage::Under => self.holds = true,
            PathUsage::Normal if self.holds => self.holds = false,
            PathUsage::Normal => self.increase(elapsed.min(1.0), received),
        }
        // Down as well as up, unlike libwebrtc's.
        let most = 1.5 * received.min(self.rate) + 10_000.0;
        self.rate = self.rate.min(most).clamp(BOUNDS.0, BOUNDS.1);
        self.changed = Some(now);
    }

    fn increase(&mut self, elapsed: f64, received: f64) {
        if received > self.capacity.upper() {
            self.capacity.forget();
        }
        if self.capacity.is_known() {
            self.rate += elapsed * PACKET / (self.rtt().as_secs_f64() + RESPONSE);
        } else {
            self.rate *= libm::pow(ETA, elapsed);
        }
    }

    fn decrease(&mut self, received: f64) {
        if received < self.capacity.lower() {
            self.capacity.forget();
        }
        self.capacity.overused_at(received);
        self.rate = BETA * received.min(self.rate);
        self.holds = true;
    }
}

impl Control for GccLibrary {
    /// Does nothing: arrivals carry more information.
    fn on_ack(&mut self, _now: Instant, _ack: &Ack) {}

    /// Does nothing: loss lowers no rate here.
    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {}

    /// Does nothing: silence does not lower it either.
    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {}

    fn on_arrivals(&mut self, now: Instant, arrivals: &[Arrival]) {
        for arrival in arrivals {
            let bits = u64::from(arrival.bytes) * 8;
            self.sent.push_back((arrival.sent, bits));
            self.bits += bits;
            if let Some(received) = arrival.received {
                self.add(now, arrival.sent, received);
            }
        }
        if let Some(received) = self.received() {
            self.update(now, received);
        }
    }

    /// No limit: it limits the rate only.
    fn window(&self) -> u64 {
        u64::MAX
    }

    /// A frame leaves at once, as fast as the sender's own link.
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bits(1_000_000_000))
    }

    fn media_rate(&self, _srtt: Duration) -> Rate {
        Rate::from_bits(self.rate as u64)
    }

    fn uses_prr(&self) -> bool {
        false
    }

    fn feedback(&self) -> Feedback {
        Feedback::Arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    /// A frame of ten packets of `bytes` that left at `sent`, a report 40 ms later, and arrivals
    /// `spread` ms apart after 20 ms.
    fn frame(gcc: &mut GccLibrary, sent: u64, delay: u64, bytes: u32) {
        let arrivals: Vec<Arrival> = (0..10)
            .map(|packet| Arrival {
                sequence: packet,
                bytes,
                sent: at(sent),
                received: Some(at(sent + delay)),
                probe: None,
            })
            .collect();
        gcc.on_arrivals(at(sent + delay + 20), &arrivals);
    }

    #[test]
    fn groups_are_frames_and_their_means_count() {
        let mut first = ArrivalGroup::new(at(0), at(20));
        first.add(at(0), at(26));
        let mut second = ArrivalGroup::new(at(40), at(60));
        second.add(at(0), at(60));
        second.add(at(40), at(75));
        // Means: sent 0 and 40 (once 0 in between: 40 − 40/3 = 26.67), received 23 and 65.
        let delta = first.until(&second);
        assert_eq!((delta.sent, delta.received), (26.0, 42.0));
    }

    #[test]
    fn it_grows_by_eight_percent_a_second_from_half_a_megabit() {
        let mut gcc = GccLibrary::default();
        for number in 0..251 {
            let bytes = (gcc.rate / 8.0 / 25.0 / 10.0) as u32 + 1;
            frame(&mut gcc, 40 * number, 20, bytes);
        }
        // Ten seconds; the first two reports do not count: 0.5·1.08^9.9 = 1.07 Mbit/s.
        assert!((1.04e6..1.09e6).contains(&gcc.rate), "{}", gcc.rate);
    }

    #[test]
    fn overuse_cuts_at_least_a_sixth_again_every_round_trip() {
        let mut gcc = GccLibrary {
            rate: 1e7,
            ..GccLibrary::default()
        };
        for number in 0..25 {
            frame(&mut gcc, 40 * number, 20, 5_000);
        }
        let before = gcc.rate;
        let mut cut = Vec::new();
        // The queue grows by 10 ms a frame.
        for number in 25..65 {
            frame(&mut gcc, 40 * number, 20 + 10 * (number - 24), 5_000);
            cut.push(gcc.rate);
        }
        let first = cut.iter().position(|rate| *rate < 0.9 * before).unwrap();
        let kept = cut[first] / cut[first - 1];
        assert!(kept <= BETA, "{kept}");
        assert!(cut.last().unwrap() < &(0.5 * before), "{cut:?}");
        assert!(gcc.capacity.is_known());
    }

    #[test]
    fn near_the_capacity_it_adds_a_packet_a_response_time() {
        let mut gcc = GccLibrary {
            rate: 2e6,
            holds: false,
            ..GccLibrary::default()
        };
        gcc.capacity.overused_at(2e6);
        gcc.rtts.push_back(Duration::from_millis(40));
        gcc.increase(1.0, 2e6);
        // 9600 bit in 140 ms.
        assert!((gcc.rate - 2e6 - 68_571.4).abs() < 0.1);
    }

    #[test]
    fn the_rate_is_bound_to_what_is_sent_downwards_too() {
        let mut gcc = GccLibrary {
            rate: 4e6,
            ..GccLibrary::default()
        };
        gcc.update(at(1_000), 1e6);
        assert_eq!(gcc.rate, 1_510_000.0);
    }
}
