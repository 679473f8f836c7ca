//! How values are spread: quartiles and whiskers.

/// Whiskers reach to the last value that is no more than this many times the box's length away from it
/// (J. W. Tukey, Exploratory Data Analysis, 1977).
const WHISKER: f64 = 1.5;
/// Of fewer values there are no quartiles to speak of.
pub const LEAST: usize = 5;

/// The figures of a box: the ends of its whiskers, quartiles, and the median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The smallest value that is not far below the others.
    pub low: f64,
    /// A quarter of the values is below it.
    pub lower: f64,
    /// Half of them are.
    pub median: f64,
    /// Three quarters are.
    pub upper: f64,
    /// The largest value that is not far above the others.
    pub high: f64,
}

impl Spread {
    /// Of `values`; none if they are fewer than [`LEAST`].
    pub fn of(values: &[f64]) -> Option<Spread> {
        if values.len() < LEAST {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let [lower, median, upper] = [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        let reach = WHISKER * (upper - lower);
        let near = |value: &&f64| (lower - reach..=upper + reach).contains(*value);
        Some(Spread {
            low: sorted.iter().find(near).copied()?.min(lower),
            lower,
            median,
            upper,
            high: sorted.iter().rev().find(near).copied()?.max(upper),
        })
    }
}

/// Between neighbours in proportion (type 7 of R. J. Hyndman and Y. Fan, The American Statistician 50,
/// 1996).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, part) = (place as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_values_and_whiskers_on_them() {
        // As R's quantile() and boxplot() have it: 2.25, 4.5, 6.75 of 0 to 9; 30 is far away.
        let values: Vec<f64> = (0..10).map(f64::from).collect();
        let expected = Spread {
            low: 0.0,
            lower: 2.25,
            median: 4.5,
            upper: 6.75,
            high: 9.0,
        };
        assert_eq!(Spread::of(&values), Some(expected));
        let far: Vec<f64> = values.iter().copied().chain([30.0]).collect();
        let spread = Spread::of(&far).unwrap();
        assert_eq!((spread.median, spread.high), (5.0, 9.0));
        assert_eq!(Spread::of(&values[..4]), None);
    }
}
