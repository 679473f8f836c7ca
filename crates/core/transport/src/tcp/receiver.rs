//! The receiving half: putting bytes in order, and when to acknowledge (RFC 5681, 4.2).

use super::ecn::Echo;
use crate::Config;
use crate::ranges::Ranges;
use crate::wire::segment::{MAX_SACKS, Segment};
use units::{Duration, Ecn, Instant};

/// The receiving half of a connection.
#[derive(Debug)]
pub struct Receiver {
    next: u64,
    /// Data that arrived above `next`.
    early: Ranges,
    /// An offset within the range that grew last.
    recent: u64,
    /// Bytes in order that were not yet reported to the application.
    fresh: u64,
    /// Bytes in order since the last acknowledgement.
    unacknowledged: u64,
    /// More of them than this are acknowledged at once (Linux `__tcp_ack_snd_check`).
    tolerated: u64,
    /// The contents of the last acknowledgement, and the time stamp that the next one echoes.
    acknowledged: u64,
    stamp: Instant,
    window: u64,
    /// An acknowledgement is to leave at once.
    urgent: bool,
    /// When a held-back acknowledgement leaves at the latest.
    deadline: Instant,
    duplicate: bool,
    quick: u32,
    delay: Duration,
    echo: Echo,
    /// Congestion Experienced is echoed until the sender confirms that it has reduced.
    classic: bool,
    accurate: Counted,
}

/// The counters of an accurate echo.
#[derive(Debug, Default)]
struct Counted {
    /// Payload with Congestion Experienced, bytes.
    bytes: u32,
    /// Segments of it since the last acknowledgement.
    untold: u32,
    /// The last segment was one.
    last: bool,
}

impl Counted {
    /// A segment of `len` bytes arrived, `marked` or not; whether the sender should hear of it
    /// at once: the first after one without a mark, and every second (RFC 9768, 3.2.2.5.1).
    fn count(&mut self, marked: bool, len: u32) -> bool {
        let first = marked && !self.last;
        self.last = marked;
        if !marked {
            return false;
        }
        self.bytes = self.bytes.wrapping_add(len);
        self.untold += 1;
        first || self.untold >= 2
    }
}

impl Receiver {
    /// No data has arrived.
    pub fn new(config: &Config) -> Self {
        Receiver {
            next: 0,
            early: Ranges::default(),
            recent: 0,
            fresh: 0,
            unacknowledged: 0,
            tolerated: u64::from(config.ack_every.saturating_sub(1)) * u64::from(config.mss),
            acknowledged: 0,
            stamp: Instant::ZERO,
            window: config.receive_window,
            urgent: false,
            deadline: Instant::NEVER,
            duplicate: false,
            quick: config.quick_acks,
            delay: config.ack_delay,
            echo: Echo::None,
            classic: false,
            accurate: Counted::default(),
        }
    }

    /// A segment with payload arrived.
    #[inline(always)]
    pub fn data(&mut self, now: Instant, ecn: Ecn, segment: &Segment) {
        self.note_mark(ecn == Ecn::Ce, segment);
        // The oldest segment that is not acknowledged is echoed (RFC 7323, 4.3).
        if segment.seq <= self.acknowledged {
            self.stamp = segment.sent;
        }
        let end = segment.seq.saturating_add(u64::from(segment.len));
        if end > self.next.saturating_add(self.window) {
            self.urgent = true;
            return;
        }
        if end <= self.next
            || self
                .early
                .containing(segment.seq)
                .is_some_and(|r| r.1 >= end)
        {
            self.duplicate = true;
            self.urgent = true;
            return;
        }
        if segment.seq > self.next {
            self.early.insert(segment.seq, end, |_, _| {});
            self.recent = segment.seq;
            self.urgent = true;
            return;
        }
        // A filled gap is acknowledged at once (RFC 5681, 4.2).
        self.urgent |= !self.early.is_empty();
        let reached = self.early.advance(end).unwrap_or(end);
        let before = self.next;
        self.fresh += reached - before;
        self.next = reached;
        self.unacknowledged += reached - before;
        if self.unacknowledged > self.tolerated || self.quick > 0 {
            self.urgent = true;
        } else if self.deadline == Instant::NEVER {
            self.deadline = now + self.delay;
        }
    }

    fn note_mark(&mut self, marked: bool, segment: &Segment) {
        match self.echo {
            Echo::None => {}
            Echo::Classic => {
                if segment.cwr {
                    self.classic = false;
                }
                if marked {
                    // The sender should know soon (RFC 8257 does so at every change).
                    self.urgent |= !self.classic;
                    self.classic = true;
                }
            }
            Echo::Accurate => self.urgent |= self.accurate.count(marked, segment.len),
        }
    }

    /// The peer's handshake packet arrived, and marks are to be echoed by `echo`.
    pub fn greeted(&mut self, segment: &Segment, echo: Echo) {
        self.stamp = segment.sent;
        self.echo = echo;
    }

    /// Data is missing: an acknowledgement has to report it, and leaves no room for data.
    pub fn has_gap(&self) -> bool {
        !self.early.is_empty()
    }

    /// Asks for an acknowledgement at once.
    pub fn acknowledge(&mut self) {
        self.urgent = true;
    }

    /// Time has passed.
    pub fn on_timer(&mut self, now: Instant) {
        if now >= self.deadline {
            self.urgent = true;
        }
    }

    /// When a held-back acknowledgement is due.
    pub const fn next_timer(&self) -> Instant {
        self.deadline
    }

    /// An acknowledgement is to leave at once.
    pub const fn urgent(&self) -> bool {
        self.urgent
    }

    /// A segment that leaves now, with the state of arrivals and nothing else.
    #[inline]
    pub fn stamp(&mut self, now: Instant) -> Segment {
        self.accurate.untold = 0;
        self.quick = self
            .quick
            .saturating_sub(u32::from(self.unacknowledged > 0));
        self.unacknowledged = 0;
        self.acknowledged = self.next;
        self.urgent = false;
        self.deadline = Instant::NEVER;
        Segment {
            ack: self.next,
            sent: now,
            echo: self.stamp,
            ece: self.classic,
            ce: self.accurate.bytes,
            duplicate: core::mem::take(&mut self.duplicate),
            ..Segment::default()
        }
    }

    /// The ranges that arrived above a gap, the one that grew last first; unused ones are empty.
    pub fn sacks(&self) -> [(u64, u64); MAX_SACKS] {
        let mut sacks = [(0, 0); MAX_SACKS];
        if !self.early.is_empty() {
            let recent = self.early.containing(self.recent);
            let others = self
                .early
                .descending()
                .filter(|range| Some(*range) != recent);
            let blocks = recent.into_iter().chain(others);
            sacks
                .iter_mut()
                .zip(blocks)
                .for_each(|(slot, block)| *slot = block);
        }
        sacks
    }

    /// Bytes that arrived in order since the last call.
    pub fn take_fresh(&mut self) -> u64 {
        core::mem::take(&mut self.fresh)
    }
}
