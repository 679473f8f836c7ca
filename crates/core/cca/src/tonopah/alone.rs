//! The window of a flow that has its own queue: what keeps that short, and never empty.
//!
//! Nobody else can take the flow's share there, so the window follows the queue and not losses. A
//! short queue has to stay, since without one nothing is seen of the path.

use units::{Duration, Instant};

/// The queue aimed at, and in packets, while evidence for fair queuing is this young: acknowledgements
/// come for two packets at once, so less would run empty ...
const SHORT: (Duration, u64) = (Duration::from_millis(2), 3);
const YOUNG: Duration = Duration::from_secs(3);
/// ... and later: Linux's `fq` shows itself only with more than 8 packets in the queue.
const LONG: (Duration, u64) = (Duration::from_millis(4), 14);
/// The largest part of the window that one round trip takes, and that it adds.
const LESS: u64 = 8;
const MORE: u64 = 16;
/// The window never falls below so many packets by this.
const LEAST: u64 = 4;

/// The shortest round trips of both subflows, round by round.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Alone {
    least: [Option<Duration>; 2],
    next: Instant,
}

impl Alone {
    /// A packet of subflow `side` took `rtt`.
    pub(super) fn delayed(&mut self, side: usize, rtt: Duration) {
        let least = &mut self.least[side];
        *least = Some(least.map_or(rtt, |least| least.min(rtt)));
    }

    /// The longer queue of both, once per round trip: what the shortest round trip of the round is
    /// above the base of its subflow.
    pub(super) fn round(
        &mut self,
        now: Instant,
        srtt: Duration,
        bases: [Duration; 2],
    ) -> Option<Duration> {
        if now < self.next {
            return None;
        }
        self.next = now + srtt;
        let least = core::mem::take(&mut self.least);
        let queues = [0, 1].map(|side| least[side].map(|rtt| rtt.saturating_sub(bases[side])));
        queues.into_iter().flatten().max()
    }

    /// The queue to aim at, with evidence of that age.
    pub(super) fn aim(packet: Duration, age: Duration) -> Duration {
        let (least, packets) = if age < YOUNG { SHORT } else { LONG };
        least.max(packet * packets)
    }

    /// The next window after `window`, with segments of `mss`, for a `queue` and one aimed at.
    pub(super) fn window(
        (window, mss): (u64, u64),
        srtt: Duration,
        queue: Duration,
        aim: Duration,
    ) -> u64 {
        // The bytes that pass in a time.
        let pass = |time: Duration| {
            (window as f64 * time.as_secs_f64() / srtt.as_secs_f64().max(1e-9)) as u64
        };
        if queue > aim {
            let less = pass(queue.saturating_sub(aim / 2) / 2).min(window / LESS);
            return (window - less).max(LEAST * mss);
        }
        if queue < aim / 2 {
            let more = pass(aim.saturating_sub(queue).scale(3, 10));
            return window + more.clamp(mss, window / MORE + mss);
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_window_follows_the_queue() {
        let next = |queue, aim| Alone::window((100_000, 1000), ms(50), ms(queue), ms(aim));
        // 2000 bytes pass in a millisecond.
        assert_eq!(next(4, 2), 97_000, "half of 3 ms less");
        assert_eq!(next(40, 2), 87_500, "an eighth at most");
        assert_eq!(next(1, 2), 100_000);
        assert_eq!(next(0, 10), 106_000, "3 ms more");
        assert_eq!(next(0, 40), 107_250, "a sixteenth and a packet at most");
        assert_eq!(Alone::window((4000, 1000), ms(50), ms(50), ms(2)), 4000);
    }

    #[test]
    fn the_queue_is_the_longer_of_the_shortest() {
        let mut alone = Alone::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        alone.delayed(0, ms(45));
        alone.delayed(0, ms(43));
        alone.delayed(1, ms(60));
        let bases = [ms(40), ms(58)];
        assert_eq!(alone.round(at(100), ms(40), bases), Some(ms(3)));
        alone.delayed(0, ms(50));
        assert_eq!(alone.round(at(139), ms(40), bases), None, "the same round");
        assert_eq!(alone.round(at(140), ms(40), bases), Some(ms(10)));
        assert_eq!(
            alone.round(at(180), ms(40), bases),
            None,
            "nothing was seen"
        );
    }

    #[test]
    fn the_aim_is_longer_when_evidence_is_old() {
        assert_eq!(Alone::aim(Duration::from_micros(120), ms(2999)), ms(2));
        assert_eq!(Alone::aim(ms(2), ms(2999)), ms(6), "three packets");
        assert_eq!(Alone::aim(Duration::from_micros(120), ms(3000)), ms(4));
        assert_eq!(Alone::aim(ms(1), ms(3000)), ms(14), "fourteen packets");
    }
}
