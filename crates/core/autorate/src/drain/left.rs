//! What went onto the line and was not acknowledged yet, in the order in which it went.

use super::clocks::TICK;
use crate::Stamps;
use std::collections::VecDeque;

/// Records: of segments of a connection that went within a tick there is one. The oldest go first.
const MOST: usize = 4096;
/// How long an acknowledgement of one segment is put off at most (Linux: TCP_DELACK_MIN), in s.
const DELAYED: f64 = 0.040;

/// Segments that went, by where they end.
#[derive(Debug)]
pub struct Left {
    records: VecDeque<SegmentRecord>,
    /// Bytes of packets that are not recorded, since the last record.
    carried: u32,
}

#[derive(Debug, Clone, Copy)]
struct SegmentRecord {
    flow: u32,
    /// The sequence number behind them.
    end: u32,
    /// When the first of them went, in s.
    at: f64,
    bytes: u32,
    segments: u32,
}

/// What the far end has, of which it had not told before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gone {
    /// When the segment that made the far end answer went, in s.
    pub at: f64,
    /// Its bytes, and those of all that went before it.
    pub bytes: u32,
    /// For how long the far end may have put the answer off, in s.
    pub delayed: f64,
}

/// Whether sequence number `a` is behind `b` (RFC 9293, 3.4).
fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

impl Default for Left {
    fn default() -> Self {
        Left {
            records: VecDeque::with_capacity(MOST),
            carried: 0,
        }
    }
}

impl Left {
    /// A packet without stamps went.
    pub fn passed(&mut self, bytes: u32) {
        self.carried = self.carried.saturating_add(bytes);
    }

    /// A segment went.
    pub fn went(&mut self, now: f64, stamps: Stamps, bytes: u32) {
        let own = |record: &&mut SegmentRecord| record.flow == stamps.flow;
        let last = self.records.iter_mut().rev().find(own);
        // What is sent again is acknowledged for either.
        if last.is_some_and(|last| !is_after(stamps.end, last.end)) {
            return self.passed(bytes);
        }
        let bytes = bytes.saturating_add(core::mem::take(&mut self.carried));
        if let Some(last) = self.records.back_mut()
            && last.flow == stamps.flow
            && now - last.at < TICK
        {
            last.end = stamps.end;
            last.bytes = last.bytes.saturating_add(bytes);
            last.segments += 1;
            return;
        }
        if self.records.len() == MOST {
            self.records.pop_front();
        }
        self.records.push_back(SegmentRecord {
            flow: stamps.flow,
            end: stamps.end,
            at: now,
            bytes,
            segments: 1,
        });
    }

    /// The far end of `flow` has what ends at `has`: the line kept the order, so all before it has passed
    /// as well.
    pub fn acknowledged(&mut self, flow: u32, has: u32) -> Option<Gone> {
        let own = |record: &&SegmentRecord| record.flow == flow;
        let news = |record: &&SegmentRecord| !is_after(record.end, has);
        let count = self.records.iter().filter(own).take_while(news).count();
        let place = self.records.iter().enumerate();
        let mut place = place.filter(|(_, record)| record.flow == flow);
        let (place, _) = place.nth(count.checked_sub(1)?)?;
        let mut gone = Gone {
            at: 0.0,
            bytes: 0,
            delayed: 0.0,
        };
        let mut segments = 0;
        for record in self.records.drain(..=place) {
            gone.bytes = gone.bytes.saturating_add(record.bytes);
            gone.at = record.at;
            segments += if record.flow == flow {
                record.segments
            } else {
                0
            };
        }
        // A second segment is answered at once (RFC 9293, 3.8.6.3), a single one may wait for it.
        if segments == 1 {
            let next = self.records.iter().find(own);
            let next = next.map_or(DELAYED, |record| record.at - gone.at);
            gone.delayed = next.min(DELAYED);
        }
        Some(gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(flow: u32, end: u32) -> Stamps {
        Stamps {
            flow,
            value: 0,
            echo: 0,
            end,
            has: 0,
        }
    }

    #[test]
    fn what_is_acknowledged_takes_what_went_before_it_along() {
        let mut left = Left::default();
        let start = u32::MAX - 1500;
        let end = |segments: u32| start.wrapping_add(segments * 1000);
        left.went(1.0, stamps(1, end(1)), 1000);
        left.went(1.0005, stamps(1, end(2)), 1000);
        left.passed(500);
        left.went(1.2, stamps(2, 70), 1000);
        left.went(1.3, stamps(1, end(3)), 1000);
        assert_eq!(left.acknowledged(1, start), None);
        let gone = |at, bytes, delayed| Some(Gone { at, bytes, delayed });
        assert_eq!(left.acknowledged(2, 70), gone(1.2, 3500, DELAYED));
        assert_eq!(left.acknowledged(1, end(2)), None, "went before it");
        left.went(1.31, stamps(1, end(4)), 1000);
        let single = left.acknowledged(1, end(3)).unwrap();
        assert!((single.delayed - 0.01).abs() < 1e-9, "{single:?}");
        left.went(1.4, stamps(1, end(5)), 1000);
        left.went(1.5, stamps(1, end(6)), 1000);
        assert_eq!(left.acknowledged(1, end(6)), gone(1.5, 3000, 0.0));
    }

    #[test]
    fn what_is_sent_again_only_counts_its_bytes() {
        let mut left = Left::default();
        left.went(1.0, stamps(1, 1000), 1000);
        left.went(1.1, stamps(1, 2000), 1000);
        left.went(1.2, stamps(1, 1000), 1000);
        left.went(1.3, stamps(1, 3000), 1000);
        let gone = left.acknowledged(1, 2000).unwrap();
        assert_eq!((gone.at, gone.bytes), (1.1, 2000));
        let gone = left.acknowledged(1, 3000).unwrap();
        assert_eq!((gone.at, gone.bytes), (1.3, 2000));
    }
}
