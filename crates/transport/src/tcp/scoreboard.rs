//! What is in flight: sent, selectively acknowledged, lost (RFC 8985's RACK, RFC 6675's rule).
//!
//! Segments stand in the order of the stream; transmissions in the order of sending, so that what
//! is presumed lost is found at the front, without walking the window.

use super::ranges::Ranges;
use super::segment::Segment;
use std::collections::{BTreeSet, VecDeque};
use units::{Duration, Instant};

/// A segment that is not cumulatively acknowledged yet.
#[derive(Debug, Clone)]
pub struct Sent {
    /// Offset of its first byte.
    pub seq: u64,
    /// Its length.
    pub len: u32,
    /// Last sent when.
    pub at: Instant,
    /// For the delivery rate: the connection's state when it was last sent.
    pub snapshot: Snapshot,
    /// Sent more than once.
    pub retransmitted: bool,
    /// Selectively acknowledged.
    pub sacked: bool,
    /// Counted as in flight: neither acknowledged, nor lost and not yet sent again.
    pub in_flight: bool,
}

/// The connection's delivery when a packet was sent (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Debug, Clone, Copy, Default)]
pub struct Snapshot {
    /// Delivered so far.
    pub delivered: u64,
    /// When that was.
    pub delivered_at: Instant,
    /// When the first packet of the sampled flight was sent.
    pub first_sent: Instant,
    /// The application limited sending.
    pub app_limited: bool,
}

/// What an acknowledgement changed.
#[derive(Debug, Default)]
pub struct Acked {
    /// Newly delivered bytes.
    pub bytes: u64,
    /// The most recently sent of the newly delivered packets.
    pub newest: Option<Newest>,
    /// The acknowledgement moved the left edge.
    pub advanced: bool,
}

/// The most recently sent packet that an acknowledgement delivered.
#[derive(Debug, Clone, Copy)]
pub struct Newest {
    /// Sent when.
    pub at: Instant,
    /// Its end in the stream.
    pub end: u64,
    /// Sent more than once.
    pub retransmitted: bool,
    /// The connection's state then.
    pub snapshot: Snapshot,
}

/// The scoreboard. Sizes in bytes.
#[derive(Debug, Default)]
pub struct Scoreboard {
    segments: VecDeque<Sent>,
    /// Transmissions in the order of sending: segment and time.
    transmissions: VecDeque<(u64, Instant)>,
    sacked: Ranges,
    sacked_segments: u32,
    lost: BTreeSet<u64>,
    in_flight: u64,
    una: u64,
    /// The most recently sent packet that was delivered (RACK.xmit_ts, RACK.end_seq).
    rack: Option<(Instant, u64)>,
    rack_rtt: Duration,
    reordering: bool,
    highest_sacked: u64,
}

/// Duplicate acknowledgements, and RACK's segments, that make a loss (RFC 5681, RFC 8985).
const DUPLICATES: u32 = 3;

impl Scoreboard {
    /// Bytes in flight: sent, not acknowledged, not lost.
    pub const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Lowest byte that is not acknowledged.
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// Nothing waits for an acknowledgement.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Something was selectively acknowledged, and waits for what is before it.
    pub const fn has_sacked(&self) -> bool {
        self.sacked_segments > 0
    }

    /// Length of the first segment that is lost and has not been sent again.
    pub fn lost_len(&self) -> Option<u32> {
        let seq = *self.lost.first()?;
        Some(self.segments[self.index(seq)?].len)
    }

    /// How many segments wait for an acknowledgement.
    pub fn count(&self) -> usize {
        self.segments.len()
    }

    fn index(&self, seq: u64) -> Option<usize> {
        let index = self.segments.partition_point(|segment| segment.seq < seq);
        self.segments
            .get(index)
            .filter(|segment| segment.seq == seq)?;
        Some(index)
    }

    /// A new segment was sent.
    pub fn sent(&mut self, now: Instant, seq: u64, len: u32, snapshot: Snapshot) {
        self.segments.push_back(Sent {
            seq,
            len,
            at: now,
            snapshot,
            retransmitted: false,
            sacked: false,
            in_flight: true,
        });
        self.transmissions.push_back((seq, now));
        self.in_flight += u64::from(len);
    }

    /// Sends the first lost segment again; returns its offset and length.
    pub fn resend_lost(&mut self, now: Instant, snapshot: Snapshot) -> Option<(u64, u32)> {
        let seq = self.lost.pop_first()?;
        let index = self.index(seq)?;
        Some(self.resend(index, now, snapshot))
    }

    /// Sends the last segment again, lost or not, as a tail loss probe does.
    pub fn resend_last(&mut self, now: Instant, snapshot: Snapshot) -> Option<(u64, u32)> {
        let index = self.segments.iter().rposition(|segment| !segment.sacked)?;
        self.lost.remove(&self.segments[index].seq);
        Some(self.resend(index, now, snapshot))
    }

    fn resend(&mut self, index: usize, now: Instant, snapshot: Snapshot) -> (u64, u32) {
        let segment = &mut self.segments[index];
        if !segment.in_flight {
            segment.in_flight = true;
            self.in_flight += u64::from(segment.len);
        }
        segment.retransmitted = true;
        segment.at = now;
        segment.snapshot = snapshot;
        self.transmissions.push_back((segment.seq, now));
        (segment.seq, segment.len)
    }

    /// An acknowledgement arrived.
    pub fn acknowledge(&mut self, ack: &Segment) -> Acked {
        let mut acked = Acked::default();
        while let Some(segment) = self.segments.front() {
            let end = segment.seq + u64::from(segment.len);
            if end > ack.ack {
                break;
            }
            let segment = self.segments.pop_front().expect("there is a first segment");
            acked.advanced = true;
            self.una = end;
            if segment.sacked {
                self.sacked_segments -= 1;
            } else {
                self.deliver(&segment, &mut acked);
            }
        }
        if acked.advanced && !self.sacked.is_empty() {
            self.sacked.trim(self.una);
        }
        for &(start, end) in ack.sacks.iter().filter(|(start, end)| start < end) {
            self.selectively(start.max(self.una), end, &mut acked);
        }
        acked
    }

    fn selectively(&mut self, start: u64, end: u64, acked: &mut Acked) {
        let mut parts = arrayvec::ArrayVec::<(u64, u64), 16>::new();
        let limit = self
            .segments
            .back()
            .map_or(self.una, |last| last.seq + u64::from(last.len));
        let end = end.min(limit);
        self.sacked.insert(start, end, |low, high| {
            // More parts than this are named again by the next acknowledgement's blocks; but they
            // are in the set by then. So the last part stretches over the rest.
            if parts.try_push((low, high)).is_err() {
                let last = parts.len() - 1;
                parts[last].1 = high;
            }
        });
        for (low, high) in parts {
            let first = self.segments.partition_point(|segment| segment.seq < low);
            for index in first..self.segments.len() {
                let segment = &self.segments[index];
                if segment.seq + u64::from(segment.len) > high {
                    break;
                }
                if segment.sacked {
                    continue;
                }
                let segment = segment.clone();
                self.segments[index].sacked = true;
                self.segments[index].in_flight = false;
                self.sacked_segments += 1;
                // Delivered below what was already delivered, though never sent again: reordered
                // (RFC 8985, 6.2, step 4).
                if segment.seq < self.highest_sacked && !segment.retransmitted {
                    self.reordering = true;
                }
                self.deliver(&segment, acked);
            }
        }
        self.highest_sacked = self.highest_sacked.max(end);
    }

    fn deliver(&mut self, segment: &Sent, acked: &mut Acked) {
        acked.bytes += u64::from(segment.len);
        if segment.in_flight {
            self.in_flight -= u64::from(segment.len);
        } else {
            self.lost.remove(&segment.seq);
        }
        let end = segment.seq + u64::from(segment.len);
        if acked
            .newest
            .is_none_or(|newest| (newest.at, newest.end) < (segment.at, end))
        {
            acked.newest = Some(Newest {
                at: segment.at,
                end,
                retransmitted: segment.retransmitted,
                snapshot: segment.snapshot,
            });
        }
    }

    /// RACK: takes note of what was delivered (RFC 8985, 6.2, step 2).
    pub fn update_rack(&mut self, now: Instant, newest: Newest, min_rtt: Duration) {
        let rtt = now.since(newest.at);
        // An acknowledgement faster than the path is for the first transmission.
        if newest.retransmitted && rtt < min_rtt {
            return;
        }
        if self.rack.is_none_or(|rack| rack < (newest.at, newest.end)) {
            self.rack = Some((newest.at, newest.end));
            self.rack_rtt = rtt;
        }
    }

    /// RACK: marks what is lost; returns the bytes, and when to look again (RFC 8985, 6.2, step 5).
    pub fn detect_by_time(
        &mut self,
        now: Instant,
        min_rtt: Duration,
        recovering: bool,
    ) -> (u64, Instant) {
        let Some((rack_at, rack_end)) = self.rack else {
            return (0, Instant::NEVER);
        };
        let patient = self.reordering || !(recovering || self.sacked_segments >= DUPLICATES);
        let window = if patient { min_rtt / 4 } else { Duration::ZERO };
        let mut bytes = 0;
        while let Some(&(seq, at)) = self.transmissions.front() {
            if seq >= self.una
                && let Some(index) = self.index(seq)
            {
                let segment = &self.segments[index];
                let current = segment.at == at && segment.in_flight;
                if current {
                    let end = segment.seq + u64::from(segment.len);
                    if (at, end) >= (rack_at, rack_end) {
                        break;
                    }
                    let due = at + self.rack_rtt + window;
                    if due > now {
                        return (bytes, due);
                    }
                    bytes += self.lose(index);
                }
            }
            self.transmissions.pop_front();
        }
        (bytes, Instant::NEVER)
    }

    /// RFC 6675: a segment is lost when three segments above it are selectively acknowledged.
    /// One that was sent again waits for the timer.
    pub fn detect_by_count(&mut self) -> u64 {
        self.transmissions.clear();
        if self.sacked_segments < DUPLICATES {
            return 0;
        }
        let mut above = self.sacked_segments;
        let mut bytes = 0;
        for index in 0..self.segments.len() {
            if above < DUPLICATES {
                break;
            }
            let segment = &self.segments[index];
            if segment.sacked {
                above -= 1;
            } else if segment.in_flight && !segment.retransmitted {
                bytes += self.lose(index);
            }
        }
        bytes
    }

    /// The timer ran out: everything that is not selectively acknowledged is lost.
    pub fn lose_all(&mut self) -> u64 {
        self.transmissions.clear();
        (0..self.segments.len())
            .map(|index| {
                if self.segments[index].in_flight {
                    self.lose(index)
                } else {
                    0
                }
            })
            .sum()
    }

    fn lose(&mut self, index: usize) -> u64 {
        let segment = &mut self.segments[index];
        segment.in_flight = false;
        self.in_flight -= u64::from(segment.len);
        self.lost.insert(segment.seq);
        u64::from(segment.len)
    }
}
