//! When to signal a flow whose packets wait for too long: CoDel's law with a memory.
//!
//! The reference CoDel (RFC 8289) forgets how often it had to signal when the queue is short for a
//! moment. Here, as in cake's Cobalt, the memory of signals fades as slowly as it grew: `next` is when
//! the next signal is due, and, while there is no reason for one, when the memory of one fades. So a
//! flow that comes back with as much meets the rate of signals that kept it down.
//!
//! Unlike in Cobalt a signal needs packets that are late for all of the time before it: a call
//! whose pictures come in bursts has late packets now and then, and is not signalled for that.

use crate::inv_sqrt;
use units::{Duration, Instant};

/// The schedule of one flow.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkSchedule {
    /// How often it signals: so many times in the square root of that many intervals.
    count: u32,
    /// `1/sqrt(count)` as a fraction of 2^32.
    inv_sqrt: u32,
    /// When the next signal is due, or the memory of one fades.
    next: Instant,
    /// Packets wait for too long.
    late: bool,
}

impl MarkSchedule {
    /// No signals are remembered.
    pub(super) const fn new() -> Self {
        MarkSchedule {
            count: 0,
            inv_sqrt: u32::MAX,
            next: Instant::ZERO,
            late: false,
        }
    }

    /// A packet was taken out of the queue to be sent, `late` or not. Returns whether to mark or
    /// drop it. At most `fades` signals are forgotten for it, and more with the next ones.
    #[inline]
    pub(super) fn judge(
        &mut self,
        now: Instant,
        interval: Duration,
        late: bool,
        fades: u32,
    ) -> bool {
        if late && !self.late {
            self.next = self.after(now, interval);
            self.count = self.count.max(1);
        }
        self.late = late;
        if !late {
            self.fade(now, interval, fades);
        }
        let signal = late && now >= self.next;
        if signal {
            self.set_count(self.count.saturating_add(1));
            self.next = self.after(self.next, interval);
        }
        signal
    }

    /// One mark is enough: further due ones are not made up for, as drops are.
    pub(super) fn marked(&mut self, now: Instant) {
        self.next = self.next.max(now);
    }

    fn fade(&mut self, now: Instant, interval: Duration, most: u32) {
        for _ in 0..most {
            if self.count == 0 || now < self.next {
                return;
            }
            self.set_count(self.count - 1);
            self.next = self.after(self.next, interval);
        }
    }

    /// `from` and `interval / sqrt(count)`; an interval if no signals are remembered.
    fn after(&self, from: Instant, interval: Duration) -> Instant {
        from + interval.scale(self.inv_sqrt.into(), 1 << 32)
    }

    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.inv_sqrt = inv_sqrt::of(count, self.inv_sqrt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    const INTERVAL: Duration = Duration::from_millis(100);

    /// The times of signals among packets every millisecond.
    fn told(signals: &mut MarkSchedule, from: u64, to: u64, late: bool) -> Vec<u64> {
        (from..to)
            .filter(|&at| signals.judge(ms(at), INTERVAL, late, 32))
            .collect()
    }

    /// 100 ms after the first late packet, and then after 70.7, 57.7 and 50 ms.
    #[test]
    fn a_new_queue_has_an_interval() {
        let mut signals = MarkSchedule::new();
        assert_eq!(told(&mut signals, 10, 300, true), [110, 181, 239, 289]);
    }

    /// After 289 ms the fifth would be due after 44.7; 20 ms in time forget none of them, and the late
    /// packet at 320 ms waits for 44.7 ms, not for an interval.
    #[test]
    fn what_was_needed_is_remembered() {
        let mut signals = MarkSchedule::new();
        told(&mut signals, 10, 300, true);
        assert!(told(&mut signals, 300, 320, false).is_empty());
        assert_eq!(told(&mut signals, 320, 370, true), [365]);
    }

    /// Ten ms late in each 100: never for an interval.
    #[test]
    fn bursts_are_no_queue() {
        let mut signals = MarkSchedule::new();
        for at in (0..5000).step_by(100) {
            assert!(told(&mut signals, at, at + 10, true).is_empty());
            assert!(told(&mut signals, at + 10, at + 100, false).is_empty());
        }
        // Nor is a burst after silence, though the time of the next signal is long past. A burst's last
        // packet is never late.
        for at in [9000, 9500] {
            assert!(told(&mut signals, at, at + 50, true).is_empty());
            assert!(told(&mut signals, at + 50, at + 51, false).is_empty());
        }
    }

    /// A hundred signals are forgotten by four packets after a pause, 32 at a time.
    #[test]
    fn a_packet_forgets_no_more_than_it_may() {
        let mut signals = MarkSchedule::new();
        let mut at = 0;
        while signals.count < 100 {
            told(&mut signals, at, at + 1, true);
            at += 1;
        }
        let later = at + 1_000_000;
        for left in [68, 36, 4, 0] {
            told(&mut signals, later, later + 1, false);
            assert_eq!(signals.count, left);
        }
    }

    /// A second without packets makes drops of up to a second due at once, but marks only of now.
    #[test]
    fn marks_are_not_made_up_for() {
        let mut signals = MarkSchedule::new();
        told(&mut signals, 0, 300, true);
        let mut marked = signals;
        let due = |signals: &mut MarkSchedule| signals.judge(ms(1300), INTERVAL, true, 32);
        assert!(due(&mut signals) && due(&mut signals) && due(&mut signals));
        assert!(due(&mut marked));
        marked.marked(ms(1300));
        assert!(due(&mut marked), "it is due now");
        marked.marked(ms(1300));
        let next = (1301..2000).find(|&at| marked.judge(ms(at), INTERVAL, true, 32));
        assert!(next.is_some_and(|at| at > 1320), "{next:?}");
    }
}
