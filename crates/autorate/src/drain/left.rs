//! What went onto the line and was not acknowledged yet, in the order in which it went.

use crate::Stamps;
use std::collections::VecDeque;

/// Records of one TSval each: 4 s of a flow whose clock ticks in ms. The oldest go first.
const MOST: usize = 4096;

/// Segments that went, by their stamps.
#[derive(Debug)]
pub struct Left {
    records: VecDeque<Record>,
    /// Bytes of packets without stamps, since the last record.
    carried: u32,
}

#[derive(Debug, Clone, Copy)]
struct Record {
    flow: u32,
    value: u32,
    gone: Gone,
}

/// What the far end has, of which it had not told before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gone {
    /// When the segment that is acknowledged went, in s.
    pub at: f64,
    /// Its bytes, and those of all that went before it.
    pub bytes: u32,
    /// How much later the connection's next segment went, in s; 0 if there is none yet.
    pub next: f64,
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
        let bytes = bytes + core::mem::take(&mut self.carried);
        if let Some(last) = self.records.back_mut()
            && (last.flow, last.value) == (stamps.flow, stamps.value)
        {
            last.gone.bytes += bytes;
            return;
        }
        if self.records.len() == MOST {
            self.records.pop_front();
        }
        self.records.push_back(Record {
            flow: stamps.flow,
            value: stamps.value,
            gone: Gone {
                at: now,
                bytes,
                next: 0.0,
            },
        });
    }

    /// The far end of `flow` echoes `echo`: the line kept the order, so all before it has passed as well.
    pub fn acknowledged(&mut self, flow: u32, echo: u32) -> Option<Gone> {
        let this = |record: &Record| (record.flow, record.value) == (flow, echo);
        let place = self.records.iter().position(this)?;
        let mut bytes = 0u32;
        let mut at = 0.0;
        for record in self.records.drain(..=place) {
            bytes = bytes.saturating_add(record.gone.bytes);
            at = record.gone.at;
        }
        let next = self.records.iter().find(|record| record.flow == flow);
        let next = next.map_or(0.0, |record| record.gone.at - at);
        Some(Gone { at, bytes, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_acknowledged_takes_what_went_before_it_along() {
        let mut left = Left::default();
        let stamps = |flow, value| Stamps {
            flow,
            value,
            echo: 0,
        };
        left.went(1.0, stamps(1, 10), 1000);
        left.went(1.1, stamps(1, 10), 1000);
        left.passed(500);
        left.went(1.2, stamps(2, 70), 1000);
        left.went(1.3, stamps(1, 11), 1000);
        let gone = left.acknowledged(2, 70).unwrap();
        assert_eq!(
            gone,
            Gone {
                at: 1.2,
                bytes: 3500,
                next: 0.0
            }
        );
        assert_eq!(left.acknowledged(1, 10), None);
        left.went(1.5, stamps(1, 12), 1000);
        let gone = left.acknowledged(1, 11).unwrap();
        assert_eq!(gone.bytes, 1000);
        assert!((gone.next - 0.2).abs() < 1e-9);
    }
}
