//! The selection of combinations of many axes, if all would be too many.

use std::collections::BTreeSet;
use units::random::Stream;

/// All combinations of places on axes of these `lengths`, the last changing fastest.
pub(crate) fn all(lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &length in lengths {
        let longer = |places: &Vec<usize>| {
            let places = places.clone();
            (0..length).map(move |place| [&places[..], &[place]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// `size` of these combinations, or all if there are no more, that fill the space evenly: the sequence
/// of M. Roberts (2018), whose steps along the axes are powers of the generalised golden ratio. It is
/// the same each time, and a larger sample begins with a smaller one.
pub(crate) fn spread(lengths: &[usize], size: usize) -> Vec<Vec<usize>> {
    spread_from(lengths, size, &vec![0.5; lengths.len()])
}

/// The same from a place that is drawn by `text`: as even, and each combination is as probable as any
/// other, for somebody who does not know the text.
pub(crate) fn drawn(lengths: &[usize], size: usize, text: &str) -> Vec<Vec<usize>> {
    let mut chance = Stream::new(0, &format!("draw {text}"));
    let from: Vec<f64> = lengths.iter().map(|_| chance.unit()).collect();
    spread_from(lengths, size, &from)
}

/// The sequence that begins at `from`, a share of each axis.
fn spread_from(lengths: &[usize], size: usize, from: &[f64]) -> Vec<Vec<usize>> {
    let most = lengths
        .iter()
        .fold(1, |all: usize, &n| all.saturating_mul(n));
    if size >= most {
        return all(lengths);
    }
    let steps = steps(lengths.len());
    let (mut found, mut chosen) = (BTreeSet::new(), Vec::new());
    let mut number = 0_u32;
    while chosen.len() < size {
        let place = |((&length, step), from): ((&usize, &f64), &f64)| {
            let at = from + f64::from(number) * step;
            let place = (at - libm::floor(at)) * length as f64;
            (place as usize).min(length - 1)
        };
        let axes = lengths.iter().zip(&steps).zip(from);
        let places: Vec<usize> = axes.map(place).collect();
        if found.insert(places.clone()) {
            chosen.push(places);
        }
        number += 1;
    }
    chosen
}

/// `1/g`, `1/g²`, …, where `g` solves `g^(axes+1) = g + 1`.
fn steps(axes: usize) -> Vec<f64> {
    let mut ratio = 1.5;
    for _ in 0..64 {
        ratio = libm::pow(1.0 + ratio, 1.0 / (axes + 1) as f64);
    }
    (1..=axes)
        .map(|power| libm::pow(ratio, -(power as f64)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_combinations_in_order() {
        let expected = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]];
        assert_eq!(all(&[2, 3]), expected);
        assert_eq!(spread(&[2, 3], 6), expected);
        assert_eq!(all(&[]), [[0_usize; 0]]);
    }

    /// Sixty of 2520 combinations: each value of an axis of six is in ten of them, give or take
    /// two, and each pair of values of the first two axes is there, except for a few.
    #[test]
    fn a_sample_has_all_values_alike() {
        let lengths = [6, 7, 10, 3, 2];
        let sample = spread(&lengths, 60);
        assert_eq!(sample.len(), 60);
        assert_eq!(sample[..20], spread(&lengths, 20)[..]);
        for (axis, &length) in lengths.iter().enumerate() {
            for value in 0..length {
                let count = sample.iter().filter(|places| places[axis] == value).count();
                let fair = 60 / length;
                assert!(count.abs_diff(fair) <= 2, "{axis} {value}: {count}");
            }
        }
        let pairs: BTreeSet<_> = sample.iter().map(|places| (places[0], places[1])).collect();
        assert!(pairs.len() >= 32, "{}", pairs.len());
    }

    #[test]
    fn a_drawn_sample_is_another_for_each_text_and_as_even() {
        let lengths = [6, 7, 10, 3, 2];
        let of = |text| drawn(&lengths, 60, text);
        assert_eq!(of("2ce8cb7"), of("2ce8cb7"));
        assert_eq!(of("2ce8cb7")[..20], drawn(&lengths, 20, "2ce8cb7")[..]);
        let common = of("1062bf2");
        let common = common
            .iter()
            .filter(|places| of("2ce8cb7").contains(places));
        assert!(common.count() < 20);
        let count = |value| {
            of("2ce8cb7")
                .iter()
                .filter(|places| places[2] == value)
                .count()
        };
        assert!((0..10).all(|value| count(value).abs_diff(6) <= 2));
    }

    /// Over many texts, every combination is drawn about as often.
    #[test]
    fn no_combination_is_preferred() {
        let mut counts = [0_u32; 6];
        for text in 0..600 {
            for places in drawn(&[2, 3], 2, &text.to_string()) {
                counts[places[0] * 3 + places[1]] += 1;
            }
        }
        assert!(
            counts.iter().all(|count| count.abs_diff(200) < 50),
            "{counts:?}"
        );
    }

    #[test]
    fn the_golden_ratio_is_that_of_one_axis() {
        assert!((steps(1)[0] - 0.618_034).abs() < 1e-6);
    }
}
