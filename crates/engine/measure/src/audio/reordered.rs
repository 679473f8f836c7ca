//! How long a player waits for frames that come with later ones (libwebrtc `ReorderOptimizer`, to which
//! a copy in a later packet is a reordered frame): as long as pays, at 20 ms for each percent of frames
//! that would be missed otherwise.

use super::histogram::{BUCKET, Histogram, bucket};
use units::Duration;

/// `reorder_forget_factor`.
const FORGET: f64 = 0.9993;
/// `ms_per_loss_percent`, for all frames.
const LOSS_COSTS: f64 = 100.0 * 20.0;

/// The delays of frames that came with later ones, among all frames.
#[derive(Debug, Default)]
pub struct Reordered {
    /// Frames before the first that was late: all in the first bucket.
    before: u32,
    histogram: Option<Histogram>,
}

impl Reordered {
    /// A frame came in its turn.
    pub fn in_order(&mut self) {
        match &mut self.histogram {
            Some(histogram) => histogram.add(0),
            None => self.before += 1,
        }
    }

    /// A frame came with a later one, so much later than the fastest.
    pub fn late(&mut self, delay: Duration) {
        if let Some(place) = bucket(delay) {
            let before = self.before;
            let histogram = self
                .histogram
                .get_or_insert_with(|| Histogram::of_first(FORGET, before));
            histogram.add(place);
        }
    }

    /// How long to wait where one waits for `usual` in any case.
    pub fn target(&self, usual: Duration) -> Duration {
        let Some(histogram) = &self.histogram else {
            return Duration::ZERO;
        };
        let mut missed = 1.0;
        let mut best = (f64::INFINITY, 0);
        for (place, share) in (0..).zip(histogram.shares()) {
            missed -= share;
            let longer = (BUCKET * place).saturating_sub(usual);
            let cost = longer.as_millis_f64() + LOSS_COSTS * missed;
            if cost < best.0 {
                best = (cost, place);
            }
            if missed <= 1e-9 {
                break;
            }
        }
        BUCKET * (best.1 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_millis(20);

    /// The wait where one in `every` of a thousand frames comes `late`.
    fn target(every: u32, late: u64) -> u64 {
        let mut reordered = Reordered::default();
        for frame in 0..1_000 {
            if frame % every == every - 1 {
                reordered.late(Duration::from_millis(late));
            } else {
                reordered.in_order();
            }
        }
        reordered.target(USUAL).as_millis()
    }

    #[test]
    fn nothing_is_added_where_frames_are_in_order() {
        let mut reordered = Reordered::default();
        reordered.in_order();
        assert_eq!(reordered.target(USUAL), Duration::ZERO);
    }

    #[test]
    fn the_wait_is_as_long_as_pays() {
        // 45 ms are in the bucket from 40 to 60: 20 ms beyond the usual 20. They pay for 2 % of the
        // frames, 40 ms, and not for half a percent, 10 ms.
        assert_eq!(target(50, 45), 60);
        assert_eq!(target(200, 45), 20);
        // Within the usual wait even that costs nothing.
        assert_eq!(target(200, 25), 40);
    }
}
