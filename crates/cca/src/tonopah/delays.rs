//! How much the delays of two subflows differ, quarter by quarter of an interval.
//!
//! In one queue both wait equally long at any moment; with a queue each, the dominant one's grows
//! and the other's shrinks, and after the swap the other way round. So the test is not on the
//! difference itself, which two paths may have permanently, but on how it varies from quarter to
//! quarter, beyond what chance within the quarters explains.

use crate::notice::Kind;
use units::Duration;

/// Parts of an interval whose delays are taken together.
pub(super) const QUARTERS: usize = 4;
/// Quarters in which both subflows have to have been seen.
const LEAST: u32 = 8;
/// The variation that chance explains has to be exceeded so many times, as a variance.
const BEYOND_CHANCE: f64 = 3.0;

/// Delays of one subflow in one quarter, milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bin {
    n: u32,
    sum: f64,
    squares: f64,
}

impl Bin {
    /// A delay more.
    pub(super) fn add(&mut self, delay: Duration) {
        let delay = delay.as_millis_f64();
        self.n += 1;
        self.sum += delay;
        self.squares += delay * delay;
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.n)
    }

    /// Sum of the squares of the deviations from the mean.
    fn scatter(&self) -> f64 {
        (self.squares - self.sum * self.mean()).max(0.0)
    }
}

/// Both subflows' delays over some intervals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delays {
    quarters: u32,
    /// Variance of the difference from quarter to quarter, ms².
    between: f64,
    /// How much of that chance explains.
    chance: f64,
    /// Of all delays, ms.
    mean: f64,
}

impl Delays {
    /// Those in `bins` of two subflows each.
    pub(super) fn of<'a>(bins: impl Iterator<Item = &'a [Bin; 2]>) -> Self {
        let mut quarters = 0;
        let (mut differences, mut squares) = (0.0, 0.0);
        let (mut scatter, mut freedom, mut inverse) = (0.0, 0, 0.0);
        let (mut sum, mut n) = (0.0, 0);
        for [a, b] in bins {
            n += a.n + b.n;
            sum += a.sum + b.sum;
            if a.n == 0 || b.n == 0 {
                continue;
            }
            quarters += 1;
            let difference = a.mean() - b.mean();
            differences += difference;
            squares += difference * difference;
            scatter += a.scatter() + b.scatter();
            freedom += a.n + b.n - 2;
            inverse += 1.0 / f64::from(a.n) + 1.0 / f64::from(b.n);
        }
        let count = f64::from(quarters).max(1.0);
        let mean = differences / count;
        let within = scatter / f64::from(freedom).max(1.0);
        Delays {
            quarters,
            between: (squares / count - mean * mean).max(0.0),
            chance: within * inverse / count,
            mean: sum / f64::from(n).max(1.0),
        }
    }

    /// The variation of the difference: its standard deviation, without the part explained by
    /// chance.
    pub(super) fn spread(&self) -> Duration {
        Duration::from_secs_f64((self.between - self.chance).max(0.0).sqrt() / 1e3)
    }

    /// A verdict, with the distance of the spread from another verdict; `base` is the least delay.
    pub(super) fn verdict(
        &self,
        base: Duration,
        fair_above: Duration,
        shared_above: Duration,
    ) -> (Kind, f64) {
        if self.quarters < LEAST {
            return (Kind::Unknown, 0.0);
        }
        let (spread, threshold) = (self.spread().as_millis_f64(), fair_above.as_millis_f64());
        if spread > threshold && self.between > BEYOND_CHANCE * self.chance {
            return (Kind::Fair, (spread / threshold - 1.0).min(1.0));
        }
        let waits = self.mean - base.as_millis_f64();
        if spread <= threshold && waits > shared_above.as_millis_f64() {
            return (Kind::Shared, 1.0 - spread / threshold);
        }
        (Kind::Unknown, 0.0)
    }
}
