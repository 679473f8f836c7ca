//! How sure a verdict is, and which of many verdicts could be chance.

/// The share of verdicts that may be wrong.
const FALSE_DISCOVERIES: f64 = 0.05;
/// Smallest p that is reported. Between the other one and 1 none is searched.
const LEAST_P: f64 = 1e-4;
const MOST_P: f64 = 0.5;

/// The complement of the least confidence that gives a verdict; `decided` takes the complement of a
/// confidence.
pub fn least_p(decided: impl Fn(f64) -> bool) -> f64 {
    if decided(LEAST_P) {
        return LEAST_P;
    }
    if !decided(MOST_P) {
        return 1.0;
    }
    let (mut sure, mut unsure) = (MOST_P, LEAST_P);
    for _ in 0..12 {
        let middle = (sure * unsure).sqrt();
        if decided(middle) {
            sure = middle
        } else {
            unsure = middle
        }
    }
    sure
}

/// The largest of these `p` that is no chance among so many: of the findings at or below it at most
/// one in twenty is wrong (Y. Benjamini and Y. Hochberg, JRSS B 57, 1995). 0 if all could be
/// chance.
pub fn limit(p: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = p.collect();
    all.sort_by(f64::total_cmp);
    let count = all.len() as f64;
    let told = (1..)
        .zip(&all)
        .filter(|(place, p)| **p <= FALSE_DISCOVERIES * f64::from(*place) / count);
    told.map(|(_, p)| *p).last().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decided_from_a_confidence_on_has_its_complement() {
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
        assert!(near(least_p(|p| p >= 0.02), 0.02));
        assert!(near(least_p(|_| true), LEAST_P));
        assert!(near(least_p(|p| p > 0.9), 1.0));
    }

    #[test]
    fn the_limit_is_stricter_for_one_of_many() {
        let among = |p: f64, others: usize| {
            let all = std::iter::once(p).chain(std::iter::repeat_n(0.9, others));
            limit(all)
        };
        assert_eq!(among(0.04, 0), 0.04);
        assert_eq!(among(0.04, 1), 0.0);
        assert_eq!(among(0.002, 19), 0.002);
        // Many that are sure carry one that alone would not be.
        let sure = std::iter::repeat_n(0.001, 19);
        assert_eq!(limit(sure.chain([0.04])), 0.04);
    }
}
