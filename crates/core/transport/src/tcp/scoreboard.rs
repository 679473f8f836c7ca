//! Data in flight: sent, selectively acknowledged, lost (RFC 8985's RACK, RFC 6675's rule).
//!
//! Segments stand in the order of the stream and are never split. There are also two queues of
//! segments by number, one in the order of sending for RACK and one of those to be sent again.
//! Entries that no longer apply are skipped when they come to the front, so that the window is
//! never traversed.

use super::rack::{Newest, Rack};
use crate::delivery::Stamp;
use crate::ranges::Ranges;
use crate::wire::segment::Segment;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// A segment that is not cumulatively acknowledged yet.
#[derive(Debug, Clone)]
struct SentSegment {
    seq: u64,
    /// Number of its last transmission.
    transmission: u64,
    stamp: Stamp,
    len: u32,
    fate: SegmentFate,
    retransmitted: bool,
    /// Found lost, sent again or not, and not delivered since.
    missing: bool,
}

impl SentSegment {
    fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
}

/// The assumed state of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SegmentFate {
    /// On its way, or delivered without our knowing.
    Flying,
    /// Selectively acknowledged.
    Sacked,
    /// Lost, and not sent again yet.
    Lost,
}

/// The changes by an acknowledgement.
#[derive(Debug, Default)]
pub struct Acked {
    /// Newly delivered bytes.
    pub bytes: u64,
    /// The most recently sent of the newly delivered segments.
    pub newest: Option<Newest>,
    /// The acknowledgement moved the left edge.
    pub advanced: bool,
    /// A segment that had never been sent again arrived after a later one.
    pub reordered: bool,
    /// A segment was thought lost, had not been sent again, and has arrived.
    pub refound: bool,
    /// End of the highest segment that had been delivered before.
    highest_before: u64,
}

/// The scoreboard. Sizes in bytes.
#[derive(Debug, Default)]
pub struct Scoreboard {
    segments: VecDeque<SentSegment>,
    /// Number of the first segment: they are numbered in the order of their first sending.
    first: u64,
    /// Segment numbers by transmission; the first has the number `first_transmission`.
    transmissions: VecDeque<u64>,
    first_transmission: u64,
    /// Numbers of lost segments.
    lost: VecDeque<u64>,
    sacked: Ranges,
    sacked_segments: u32,
    missing_segments: u32,
    in_flight: u64,
    una: u64,
    /// End of the highest segment that was delivered.
    highest: u64,
    /// Segments below this number were judged by [`lose_by_count`](Self::lose_by_count).
    judged: u64,
}

impl Scoreboard {
    /// Bytes in flight: sent, not acknowledged, not lost.
    pub const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Lowest byte that is not acknowledged.
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// Whether no segment waits for an acknowledgement.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Number of segments that were selectively acknowledged, and wait for earlier ones.
    pub const fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Segments that were found lost and have not arrived, sent again or not (Linux `lost_out`).
    pub const fn missing_segments(&self) -> u32 {
        self.missing_segments
    }

    /// How many segments wait for an acknowledgement.
    pub fn count(&self) -> usize {
        self.segments.len()
    }

    /// Whether `newest` left before the first segment that waits was last sent.
    pub fn is_before_head(&self, newest: &Newest) -> bool {
        let head = self.segments.front();
        head.is_some_and(|head| newest.transmission < head.transmission)
    }

    /// Length of the next segment to be sent again.
    pub fn lost_len(&mut self) -> Option<u32> {
        while let Some(&number) = self.lost.front() {
            match self.get(number) {
                Some(segment) if segment.fate == SegmentFate::Lost => return Some(segment.len),
                _ => self.lost.pop_front(),
            };
        }
        None
    }

    /// A new segment leaves.
    pub fn sent(&mut self, seq: u64, len: u32, stamp: Stamp) {
        let number = self.first + self.segments.len() as u64;
        let transmission = self.transmission(number);
        self.segments.push_back(SentSegment {
            seq,
            transmission,
            stamp,
            len,
            fate: SegmentFate::Flying,
            retransmitted: false,
            missing: false,
        });
        self.in_flight += u64::from(len);
    }

    /// Sends the next lost segment again; returns its offset and length, and whether it is the
    /// first that waits for an acknowledgement.
    pub fn resend_lost(&mut self, stamp: Stamp) -> Option<(u64, u32, bool)> {
        self.lost_len()?;
        let number = self.lost.pop_front()?;
        let (seq, len) = self.resend(number, stamp)?;
        Some((seq, len, number == self.first))
    }

    /// Sends the last segment again, lost or not, as a tail loss probe does.
    pub fn resend_last(&mut self, stamp: Stamp) -> Option<(u64, u32)> {
        let last = self.segments.len().checked_sub(1)?;
        self.resend(self.first + last as u64, stamp)
    }

    fn resend(&mut self, number: u64, stamp: Stamp) -> Option<(u64, u32)> {
        let transmission = self.transmission(number);
        let segment = self.segments.get_mut((number - self.first) as usize)?;
        if segment.fate == SegmentFate::Lost {
            self.in_flight += u64::from(segment.len);
            segment.fate = SegmentFate::Flying;
        }
        segment.transmission = transmission;
        segment.stamp = stamp;
        segment.retransmitted = true;
        Some((segment.seq, segment.len))
    }

    fn transmission(&mut self, number: u64) -> u64 {
        self.transmissions.push_back(number);
        self.first_transmission + self.transmissions.len() as u64 - 1
    }

    /// An acknowledgement arrived.
    pub fn acknowledge(&mut self, ack: &Segment) -> Acked {
        let mut acked = Acked {
            highest_before: self.highest,
            ..Acked::default()
        };
        while let Some(segment) = self.segments.front()
            && segment.end() <= ack.ack
        {
            acked.advanced = true;
            self.una = segment.end();
            self.highest = self.highest.max(self.una);
            if segment.fate == SegmentFate::Sacked {
                self.sacked_segments -= 1;
            } else {
                self.in_flight -= deliver(segment, &mut acked);
            }
            self.missing_segments -= u32::from(segment.missing);
            self.segments.pop_front();
            self.first += 1;
        }
        if acked.advanced {
            self.sacked.trim(self.una);
            self.forget_stale();
        }
        for &(start, end) in ack.sacks.iter().take_while(|(start, end)| start < end) {
            self.selectively(start.max(self.una), end, &mut acked);
        }
        acked
    }

    /// Data known to have arrived already costs a search, and nothing else.
    fn selectively(&mut self, start: u64, end: u64, acked: &mut Acked) {
        let limit = self.segments.back().map_or(self.una, SentSegment::end);
        let mut sacked = core::mem::take(&mut self.sacked);
        sacked.insert(start, end.min(limit), |low, high| {
            let mut index = self.segments.partition_point(|segment| segment.seq < low);
            while let Some(segment) = self.segments.get_mut(index)
                && segment.end() <= high
            {
                if segment.fate != SegmentFate::Sacked {
                    self.in_flight -= deliver(segment, acked);
                    segment.fate = SegmentFate::Sacked;
                    self.missing_segments -= u32::from(core::mem::take(&mut segment.missing));
                    self.sacked_segments += 1;
                    self.highest = self.highest.max(segment.end());
                }
                index += 1;
            }
        });
        self.sacked = sacked;
    }

    /// RACK: marks segments that were sent before the newest delivered segment and are overdue;
    /// returns the bytes, and when to look again (RFC 8985, 6.2, step 5).
    pub fn lose_by_time(
        &mut self,
        now: Instant,
        rack: &Rack,
        reordering: Duration,
    ) -> (u64, Instant) {
        let mut bytes = 0;
        loop {
            self.forget_stale();
            if self.first_transmission >= rack.newest() {
                return (bytes, Instant::NEVER);
            }
            let Some((number, segment)) = self
                .transmissions
                .front()
                .and_then(|&number| Some((number, self.get(number)?)))
            else {
                return (bytes, Instant::NEVER);
            };
            let due = segment.stamp.sent + rack.rtt() + reordering;
            if due > now {
                return (bytes, due);
            }
            bytes += self.lose(number);
        }
    }

    /// RFC 6675, `IsLost`: three separate ranges, or more than two segments, have arrived above.
    /// One that was sent again waits for the timer.
    pub fn lose_by_count(&mut self, mss: u64) -> u64 {
        let (mut above, mut bound) = (0, None);
        for (index, (start, end)) in self.sacked.descending().enumerate() {
            above += end - start;
            if above > 2 * mss || index == 2 {
                bound = Some(start);
                break;
            }
        }
        let Some(bound) = bound else {
            return 0;
        };
        self.judged = self.judged.max(self.first);
        let mut bytes = 0;
        while let Some(segment) = self.get(self.judged)
            && segment.seq < bound
        {
            if segment.fate == SegmentFate::Flying && !segment.retransmitted {
                bytes += self.lose(self.judged);
            }
            self.judged += 1;
        }
        bytes
    }

    /// The timer ran out: all segments that are not selectively acknowledged are lost, except those
    /// that left less than `recent` ago (RFC 8985, 6.3); the first segment always is. Returns the
    /// bytes.
    pub fn lose_all(&mut self, now: Instant, recent: Duration) -> u64 {
        let mut bytes = 0;
        let end = self.first + self.segments.len() as u64;
        for number in self.first..end {
            let overdue = self.get(number).is_some_and(|segment| {
                let old = segment.stamp.sent + recent <= now || number == self.first;
                segment.fate == SegmentFate::Flying && old
            });
            if overdue {
                bytes += self.lose(number);
            }
        }
        bytes
    }

    /// Puts segments that were thought lost and not sent again back in flight. As if they had just
    /// been sent: their places among transmissions are forgotten.
    pub fn refind_all(&mut self) {
        for number in self.first..self.first + self.segments.len() as u64 {
            let unsure =
                |segment: &SentSegment| segment.fate == SegmentFate::Lost && !segment.retransmitted;
            if !self.get(number).is_some_and(unsure) {
                continue;
            }
            let transmission = self.transmission(number);
            let segment = &mut self.segments[(number - self.first) as usize];
            self.missing_segments -= u32::from(core::mem::take(&mut segment.missing));
            segment.transmission = transmission;
            segment.fate = SegmentFate::Flying;
            self.in_flight += u64::from(segment.len);
        }
    }

    fn lose(&mut self, number: u64) -> u64 {
        let Some(segment) = self.segments.get_mut((number - self.first) as usize) else {
            return 0;
        };
        segment.fate = SegmentFate::Lost;
        self.missing_segments += u32::from(!core::mem::replace(&mut segment.missing, true));
        let len = u64::from(segment.len);
        self.in_flight -= len;
        self.lost.push_back(number);
        len
    }

    fn get(&self, number: u64) -> Option<&SentSegment> {
        self.segments.get(number.checked_sub(self.first)? as usize)
    }

    /// Drops transmissions from the front that are delivered, lost or repeated.
    fn forget_stale(&mut self) {
        while let Some(&number) = self.transmissions.front() {
            let current = self.get(number).is_some_and(|segment| {
                segment.fate == SegmentFate::Flying
                    && segment.transmission == self.first_transmission
            });
            if current {
                return;
            }
            self.transmissions.pop_front();
            self.first_transmission += 1;
        }
    }
}

/// Counts a segment as delivered; returns the bytes that it no longer adds to the flight.
fn deliver(segment: &SentSegment, acked: &mut Acked) -> u64 {
    let len = u64::from(segment.len);
    acked.bytes += len;
    acked.refound |= segment.fate == SegmentFate::Lost && !segment.retransmitted;
    if acked
        .newest
        .is_none_or(|newest| segment.transmission > newest.transmission)
    {
        acked.newest = Some(Newest {
            transmission: segment.transmission,
            stamp: segment.stamp,
            retransmitted: segment.retransmitted,
        });
    }
    // RFC 8985, 6.2, step 3.
    if segment.end() < acked.highest_before && !segment.retransmitted {
        acked.reordered = true;
    }
    if segment.fate == SegmentFate::Flying {
        len
    } else {
        0
    }
}
