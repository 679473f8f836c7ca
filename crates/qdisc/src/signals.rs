//! When to signal to a flow whose packets wait for too long: CoDel's law with a memory.
//!
//! The reference CoDel (RFC 8289) forgets how often it had to signal when the queue is short for a
//! moment. Here there is one schedule for everything: `next` is when the next signal is due, and,
//! while there is no reason to signal, when the memory of earlier signals fades by one. So a flow
//! that comes back with as much meets the rate of signals that kept it down.
//!
//! The decisions are those of `cobalt_should_drop` and its neighbours in Linux's `sch_cake.c`.

use units::{Duration, Instant};

/// The schedule of one queue. The default is as Linux begins: the next event of a queue that was never
/// judged is past, and it therefore signals on the second packet that is late, not an interval after
/// the first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Signals {
    /// How often it signals: so many times in the square root of that many intervals.
    count: u32,
    /// `1/sqrt(count)` as a fraction of 2^32.
    inv_sqrt: u32,
    /// When the next signal is due, or the memory of one fades.
    next: Instant,
    /// Packets wait for too long.
    late: bool,
}

/// What is due when a packet leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    /// A signal: this packet is to be marked or dropped.
    pub(crate) signal: bool,
    /// The time of the next event is past already.
    past: bool,
}

/// `2^32/sqrt(n)`, which a Newton step from the neighbour's would miss by too much.
const INV_SQRT: [u32; 16] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

impl Signals {
    /// Signals an interval after the first packet that is late.
    pub(crate) const fn new() -> Self {
        Signals {
            count: 0,
            inv_sqrt: u32::MAX,
            next: Instant::NEVER,
            late: false,
        }
    }

    /// A packet was taken out of the queue to be sent, `late` or not. At most `fades` signals are
    /// forgotten for it, and what else is to be forgotten with the next ones.
    pub(crate) fn judge(
        &mut self,
        now: Instant,
        interval: Duration,
        late: bool,
        fades: u32,
    ) -> Due {
        let due = self.count > 0 && now >= self.next;
        // Seen before the time is moved for this packet's sake.
        let mut past = now > self.next;
        if late && !self.late {
            self.next = self.after(now, interval);
        }
        if late && self.count == 0 {
            self.count = 1;
        }
        self.late = late;
        let signal = due && late;
        if signal {
            self.set_count(self.count.saturating_add(1));
            self.next = self.after(self.next, interval);
            past = now > self.next;
        } else if due {
            past = self.fade(now, interval, fades);
        }
        Due { signal, past }
    }

    /// What is to be noted after each [`judge`](Self::judge): whether that packet was dropped.
    pub(crate) fn settle(&mut self, now: Instant, interval: Duration, due: Due, dropped: bool) {
        if self.count == 0 {
            // Nothing is remembered: from here on, the time until the queue counts as idle.
            self.next = now + interval;
        } else if due.past && !dropped {
            self.next = now;
        }
    }

    /// The next late packet is told at once.
    pub(crate) fn insist(&mut self, now: Instant) {
        self.late = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The queue was found empty.
    pub(crate) fn found_empty(&mut self, now: Instant, interval: Duration) {
        self.late = false;
        if self.count > 0 && now >= self.next {
            self.forget_one(interval);
        }
    }

    /// Nothing is left to forget.
    pub(crate) fn is_at_rest(&self, now: Instant) -> bool {
        self.count == 0 && now >= self.next
    }

    /// Forgets signals until the next one is not due; whether it is past due even so.
    fn fade(&mut self, now: Instant, interval: Duration, most: u32) -> bool {
        for _ in 0..most {
            if self.count == 0 || now < self.next {
                return now > self.next;
            }
            self.forget_one(interval);
        }
        false
    }

    fn forget_one(&mut self, interval: Duration) {
        self.set_count(self.count - 1);
        self.next = self.after(self.next, interval);
    }

    /// `from` and `interval / sqrt(count)`.
    fn after(&self, from: Instant, interval: Duration) -> Instant {
        from + interval.scale(self.inv_sqrt.into(), 1 << 32)
    }

    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.inv_sqrt = match INV_SQRT.get(count as usize) {
            Some(&known) => known,
            None => newton(count, self.inv_sqrt),
        };
    }
}

/// One step of Newton's method towards `1/sqrt(count)`: `x (3 − count x²) / 2`.
fn newton(count: u32, inv_sqrt: u32) -> u32 {
    let inv_sqrt = u64::from(inv_sqrt);
    let square = (inv_sqrt * inv_sqrt) >> 32;
    // Positive: count x² is close to 1 for a count next to the one that x belongs to.
    let factor = (3u64 << 32).saturating_sub(u64::from(count) * square);
    (((factor >> 2) * inv_sqrt) >> 31) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    const INTERVAL: Duration = Duration::from_millis(100);

    /// When, of packets every millisecond, one is to be told.
    fn told(signals: &mut Signals, from: u64, to: u64, late: bool, fades: u32) -> Vec<u64> {
        (from..to)
            .filter(|&at| {
                let due = signals.judge(ms(at), INTERVAL, late, fades);
                signals.settle(ms(at), INTERVAL, due, due.signal);
                due.signal
            })
            .collect()
    }

    /// 100 ms after the first late packet, and then after 70.7, 57.7 and 50 ms.
    #[test]
    fn a_new_queue_has_an_interval() {
        let mut signals = Signals::new();
        let expected = [110, 181, 239, 289];
        assert_eq!(told(&mut signals, 10, 300, true, 32), expected);
    }

    /// After 289 ms the fifth is due after 44.7; 20 ms in time forget none of them, and the late
    /// packet at 320 ms waits for 44.7 ms, not for an interval.
    #[test]
    fn what_was_needed_is_remembered() {
        let mut signals = Signals::new();
        told(&mut signals, 10, 300, true, 32);
        assert!(told(&mut signals, 300, 320, false, 32).is_empty());
        assert_eq!(told(&mut signals, 320, 370, true, 32), [365]);
    }

    /// A hundred signals are forgotten by four packets after a pause, 32 at a time; until then what
    /// is late is told at once.
    #[test]
    fn a_packet_forgets_no_more_than_it_may() {
        let mut signals = Signals::new();
        let mut at = 0;
        while signals.count < 100 {
            told(&mut signals, at, at + 1, true, 32);
            at += 1;
        }
        let later = at + 1_000_000;
        for left in [68, 36, 4, 0] {
            told(&mut signals, later, later + 1, false, 32);
            assert_eq!(signals.count, left);
        }
    }

    #[test]
    fn inverse_square_roots() {
        let mut signals = Signals::new();
        let error = |signals: &Signals| {
            let exact = 4_294_967_296.0 / f64::from(signals.count).sqrt();
            (f64::from(signals.inv_sqrt) / exact - 1.0).abs()
        };
        for count in (1..20_000).chain((1..19_999).rev()) {
            signals.set_count(count);
            // A step from 15 to 16 is 2 % off, half of the square of which remains.
            assert!(error(&signals) < 2e-3, "{count}: {}", error(&signals));
        }
    }
}
