//! When the receiver reports which packets arrived, and the contents of its reports.

use super::{Acks, Arrivals, Feedback, MediaPacket, MediaParams};
use units::{Duration, Ecn, Instant, Rate};

/// Bytes of a report of ordinary size: 20 IP, 8 UDP, 10 SRTP, 30 report (libwebrtc
/// `kTwccReportSize`).
const REPORT_BYTES: u64 = 68;
/// Arrival times are multiples of this (libwebrtc `TransportFeedback::kDeltaTick`).
const TICK_NS: u64 = 250_000;
/// A report never speaks of more packets than this: after a longer gap it starts anew.
const FARTHEST: u64 = 100_000;

/// Reports for a control that needs acknowledgements.
#[derive(Debug)]
pub struct AckReports {
    every: u32,
    delay: Duration,
    seen: Option<Seen>,
    marked: u64,
    pending: u32,
    due: Instant,
    ready: bool,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    largest: u64,
    before: u128,
    at: Instant,
}

impl AckReports {
    /// No packets have arrived.
    pub fn new(params: &MediaParams) -> Self {
        AckReports {
            every: params.ack_every,
            delay: params.ack_delay,
            seen: None,
            marked: 0,
            pending: 0,
            due: Instant::NEVER,
            ready: false,
        }
    }

    fn arrived(&mut self, now: Instant, ecn: Ecn, packet: &MediaPacket) {
        let sequence = packet.sequence;
        let (seen, in_order) = match self.seen {
            None => (fresh(sequence, now), sequence == 0),
            Some(seen) if sequence > seen.largest => {
                let ahead = sequence - seen.largest;
                // The old largest takes bit `ahead − 1`, and the earlier ones follow.
                let before = match u32::try_from(ahead).ok().filter(|&ahead| ahead <= 128) {
                    Some(128) => 1 << 127,
                    Some(ahead) => seen.before << ahead | 1 << (ahead - 1),
                    None => 0,
                };
                let mut newer = fresh(sequence, now);
                newer.before = before;
                (newer, ahead == 1)
            }
            Some(mut seen) => {
                let behind = seen.largest - sequence;
                if (1..=128).contains(&behind) {
                    seen.before |= 1 << (behind - 1);
                }
                (seen, false)
            }
        };
        self.seen = Some(seen);
        if ecn == Ecn::Ce {
            self.marked += u64::from(packet.len);
        }
        self.pending += 1;
        self.ready |= !in_order || self.pending >= self.every;
        self.due = self.due.min(now + self.delay);
    }

    fn take(&mut self, now: Instant) -> Option<Feedback> {
        let seen = self.seen.filter(|_| self.ready)?;
        self.ready = false;
        self.pending = 0;
        self.due = Instant::NEVER;
        Some(Feedback::Acks(Acks {
            largest: seen.largest,
            before: [seen.before as u64, (seen.before >> 64) as u64],
            delay: now.since(seen.at),
            marked: self.marked,
        }))
    }
}

const fn fresh(largest: u64, at: Instant) -> Seen {
    Seen {
        largest,
        before: 0,
        at,
    }
}

/// Reports for a control that needs arrival times: every 50 to 100 ms, so that they take 5% of the
/// rate that arrives (libwebrtc `RemoteEstimatorProxy`, which takes the rate that its own end may
/// send). A packet that arrives after the report that should have had it stays missing.
#[derive(Debug)]
pub struct ArrivalReports {
    min: Duration,
    max: Duration,
    /// First packet of the next report.
    base: u64,
    received: Vec<Option<Instant>>,
    bytes: u64,
    newest: Instant,
    last: Option<Instant>,
    interval: Duration,
    due: Instant,
    ready: bool,
}

impl ArrivalReports {
    /// No packets have arrived.
    pub fn new(params: &MediaParams) -> Self {
        ArrivalReports {
            min: params.feedback_min,
            max: params.feedback_max.max(params.feedback_min),
            base: 0,
            received: Vec::new(),
            bytes: 0,
            newest: Instant::ZERO,
            last: None,
            interval: params.feedback_min,
            due: Instant::NEVER,
            ready: false,
        }
    }

    fn arrived(&mut self, now: Instant, packet: &MediaPacket) {
        let Some(ahead) = packet.sequence.checked_sub(self.base) else {
            return;
        };
        let index = if ahead > FARTHEST {
            self.base = packet.sequence;
            self.received.clear();
            0
        } else {
            ahead as usize
        };
        if index >= self.received.len() {
            self.received.resize(index + 1, None);
            self.newest = now;
        }
        self.received[index].get_or_insert(in_ticks(now));
        self.bytes += u64::from(packet.len);
        let last = *self.last.get_or_insert(now);
        self.due = self.due.min((last + self.interval).max(now));
    }

    fn take(&mut self, now: Instant) -> Option<Feedback> {
        if !core::mem::take(&mut self.ready) {
            return None;
        }
        let rate = Rate::from_bytes_over(self.bytes, now.since(self.last.unwrap_or(now)));
        self.interval = rate
            .scale(1, 20)
            .time_for(REPORT_BYTES)
            .clamp(self.min, self.max);
        self.bytes = 0;
        self.last = Some(now);
        self.due = Instant::NEVER;
        let capacity = self.received.len();
        let received = core::mem::replace(&mut self.received, Vec::with_capacity(capacity));
        let base = self.base;
        self.base = base.saturating_add(received.len() as u64);
        Some(Feedback::Arrivals(Box::new(Arrivals {
            base,
            received,
            delay: now.since(self.newest),
        })))
    }
}

/// The nearest time that a report can name.
fn in_ticks(at: Instant) -> Instant {
    Instant::from_nanos((at.as_nanos() + TICK_NS / 2) / TICK_NS * TICK_NS)
}

/// One of the two.
#[derive(Debug)]
pub enum Reports {
    /// Acknowledgements.
    Acks(AckReports),
    /// Arrival times.
    Arrivals(ArrivalReports),
}

impl Reports {
    /// Reports of the kind that a control needs.
    pub fn new(wanted: cca::Feedback, params: &MediaParams) -> Self {
        match wanted {
            cca::Feedback::Acks => Reports::Acks(AckReports::new(params)),
            cca::Feedback::Arrivals => Reports::Arrivals(ArrivalReports::new(params)),
        }
    }

    /// A packet arrived.
    pub fn arrived(&mut self, now: Instant, ecn: Ecn, packet: &MediaPacket) {
        match self {
            Reports::Acks(acks) => acks.arrived(now, ecn, packet),
            Reports::Arrivals(arrivals) => arrivals.arrived(now, packet),
        }
    }

    /// When to call [`on_timer`](Self::on_timer).
    pub fn next_timer(&self) -> Instant {
        match self {
            Reports::Acks(acks) => acks.due,
            Reports::Arrivals(arrivals) => arrivals.due,
        }
    }

    /// Time has passed.
    pub fn on_timer(&mut self, now: Instant) {
        match self {
            Reports::Acks(acks) => acks.ready |= now >= acks.due,
            Reports::Arrivals(arrivals) => arrivals.ready |= now >= arrivals.due,
        }
    }

    /// The report that is due.
    pub fn take(&mut self, now: Instant) -> Option<Feedback> {
        match self {
            Reports::Acks(acks) => acks.take(now),
            Reports::Arrivals(arrivals) => arrivals.take(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Content;
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn packet(sequence: u64, len: u32) -> MediaPacket {
        MediaPacket {
            sequence,
            len,
            rtt: Duration::ZERO,
            content: Content::Padding,
        }
    }

    fn acks(every: u32) -> Reports {
        let params = MediaParams {
            ack_every: every,
            ..MediaParams::default()
        };
        Reports::new(cca::Feedback::Acks, &params)
    }

    fn arrive(reports: &mut Reports, at: u64, sequence: u64) -> Option<Feedback> {
        reports.arrived(ms(at), Ecn::NotCapable, &packet(sequence, 1000));
        reports.take(ms(at))
    }

    #[test]
    fn every_second_packet_or_ten_milliseconds_or_a_gap() {
        let mut reports = acks(2);
        assert_eq!(arrive(&mut reports, 0, 0), None);
        assert!(arrive(&mut reports, 1, 1).is_some());
        assert_eq!(arrive(&mut reports, 2, 2), None);
        assert_eq!(reports.next_timer(), ms(12));
        reports.on_timer(ms(12));
        let Some(Feedback::Acks(report)) = reports.take(ms(12)) else {
            panic!("due")
        };
        assert_eq!(report.delay, Duration::from_millis(10));
        assert!(arrive(&mut reports, 13, 5).is_some(), "3 and 4 are missing");
    }

    #[test]
    fn the_map_moves_with_the_largest() {
        let mut reports = acks(1);
        let mut last = None;
        for sequence in [0, 2, 1, 4, 132] {
            last = arrive(&mut reports, sequence, sequence);
        }
        let Some(Feedback::Acks(report)) = last else {
            panic!("each packet is acknowledged")
        };
        let arrived: Vec<_> = report.ranges().collect();
        assert_eq!(
            arrived,
            [(132, 133), (4, 5)],
            "132 − 128 is the last that the map holds"
        );
        assert!(arrive(&mut reports, 0, u64::MAX).is_some());
    }

    #[test]
    fn arrivals_every_50_ms_at_a_high_rate_and_slower_at_a_low_one() {
        let mut reports = Reports::new(cca::Feedback::Arrivals, &MediaParams::default());
        assert_eq!(arrive(&mut reports, 0, 0), None);
        assert_eq!(arrive(&mut reports, 20, 2), None);
        assert_eq!(reports.next_timer(), ms(50));
        reports.on_timer(ms(50));
        let expected = Arrivals {
            base: 0,
            received: vec![Some(ms(0)), None, Some(ms(20))],
            delay: Duration::from_millis(30),
        };
        assert_eq!(
            reports.take(ms(50)),
            Some(Feedback::Arrivals(Box::new(expected)))
        );
        assert_eq!(reports.next_timer(), Instant::NEVER);
        // 2000 B in 50 ms are 320 kbit/s; 68 B at 5% of that take 34 ms: the least is 50 ms.
        assert_eq!(arrive(&mut reports, 60, 3), None);
        assert_eq!(reports.next_timer(), ms(100));
        reports.on_timer(ms(100));
        assert!(reports.take(ms(100)).is_some());
        // 1000 B in 50 ms are 160 kbit/s; 544 bit at 8 kbit/s take 68 ms.
        assert_eq!(arrive(&mut reports, 110, 4), None);
        assert_eq!(reports.next_timer(), ms(168));
    }

    #[test]
    fn arrival_times_are_quarters_of_a_millisecond() {
        assert_eq!(
            in_ticks(Instant::from_nanos(1_124_999)),
            Instant::from_nanos(1_000_000)
        );
        assert_eq!(
            in_ticks(Instant::from_nanos(1_125_000)),
            Instant::from_nanos(1_250_000)
        );
    }
}
