//! How large transfers are.

use libm::{exp, log, pow};
use units::Refusal;

/// Classes that a distribution is cut into.
const CLASSES: usize = 400;
/// Largest size, bytes: a petabyte.
const MOST: f64 = 1e15;

/// Sizes of transfers as a histogram: in each class the mean size in bytes, and the share of transfers.
/// Classes rise, and none is empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes(Vec<(f64, f64)>);

impl Sizes {
    /// Bounded Pareto: P(X > x) falls with the power `shape` between `least` and `most` bytes.
    ///
    /// # Errors
    /// If the shape is not from 0.01 to 100, or sizes are not 1 byte to a petabyte and rising.
    pub fn pareto(shape: f64, least: f64, most: f64) -> Result<Self, Refusal> {
        if !(0.01..=100.0).contains(&shape) {
            let message = format!("the shape is {shape}; it can be 0.01 to 100");
            return Err(Refusal::new(message));
        }
        if !(least >= 1.0 && least < most && most <= MOST) {
            let message =
                format!("sizes from {least} to {most} bytes do not rise within 1B to 1000TB");
            return Err(Refusal::new(message));
        }
        let edge = |at: usize| least * exp(log(most / least) * at as f64 / CLASSES as f64);
        let above = |x: f64| (pow(least / x, shape) - pow(least / most, shape)).max(0.0);
        let class = |at: usize| {
            let (from, to) = (edge(at), edge(at + 1));
            let share = (above(from) - above(to)) / above(least);
            (mean_between(shape, from, to), share)
        };
        let classes = (0..CLASSES).map(class).filter(|(_, share)| *share > 0.0);
        Ok(Sizes(classes.collect()))
    }

    /// Of transfers that were seen, in bytes, in any order. Sizes within a fiftieth of each other are one
    /// class; those of no byte do not count.
    ///
    /// # Errors
    /// If no transfer has a byte, or one has more than a petabyte.
    pub fn seen(sizes: impl IntoIterator<Item = u64>) -> Result<Self, Refusal> {
        let mut sizes: Vec<f64> = sizes.into_iter().map(|size| size as f64).collect();
        sizes.retain(|size| *size > 0.0);
        sizes.sort_by(f64::total_cmp);
        if sizes.last().is_none_or(|most| *most > MOST) {
            let message = "there have to be transfers of 1B to 1000TB";
            return Err(Refusal::new(message));
        }
        let all = sizes.len() as f64;
        let mut classes = Vec::new();
        for class in sizes.chunk_by(|a, b| class_of(*a) == class_of(*b)) {
            let sum: f64 = class.iter().sum();
            classes.push((sum / class.len() as f64, class.len() as f64 / all));
        }
        Ok(Sizes(classes))
    }

    /// The classes: mean size in bytes, and share.
    pub fn classes(&self) -> &[(f64, f64)] {
        &self.0
    }

    /// The mean size, bytes.
    pub fn mean(&self) -> f64 {
        self.0.iter().map(|(size, share)| size * share).sum()
    }

    /// The least and the greatest class's size.
    pub fn bounds(&self) -> (f64, f64) {
        (self.0[0].0, self.0[self.0.len() - 1].0)
    }
}

fn class_of(size: f64) -> i64 {
    libm::floor(log(size) * 50.0) as i64
}

/// The mean of the part between `from` and `to` bytes.
fn mean_between(shape: f64, from: f64, to: f64) -> f64 {
    // The density falls with the power shape + 1; integrals over it and over x times it.
    let integral = |power: f64| {
        if power == 0.0 {
            log(to / from)
        } else {
            (pow(to / from, power) - 1.0) / power
        }
    };
    from * integral(1.0 - shape) / integral(-shape)
}
