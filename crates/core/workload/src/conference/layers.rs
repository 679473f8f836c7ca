//! Which layers of a camera fit.

use units::Rate;

/// Chooses a layer for each picture, by its number in `rates`. Every picture has the least; the
/// rest of the `estimate` goes to the first picture as far as it reaches the next layers, up to its
/// `most`, then to the second, and so on. A layer above the one `chosen` before has to fit
/// `hysteresis` times (libwebrtc, `svc_rate_allocator.cc`).
pub fn choose(
    estimate: Rate,
    rates: &[Rate],
    most: &[usize],
    hysteresis: f64,
    chosen: &mut [usize],
) {
    let bits: Vec<u64> = rates.iter().map(|rate| rate.as_bits()).collect();
    let estimate = estimate.as_bits() as f64;
    let mut sum = bits[0] * chosen.len() as u64;
    for (chosen, &most) in chosen.iter_mut().zip(most) {
        let before = *chosen;
        let fits = |&layer: &usize| {
            let margin = if layer > before { hysteresis } else { 1.0 };
            (sum - bits[0] + bits[layer]) as f64 * margin <= estimate
        };
        *chosen = (1..=most).rev().find(fits).unwrap_or(0);
        sum = sum - bits[0] + bits[*chosen];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kbit(kbit: u64) -> Rate {
        Rate::from_bits(kbit * 1_000)
    }

    fn default() -> Vec<Rate> {
        [150, 500, 2_500].map(kbit).to_vec()
    }

    /// The choice of one that may have all layers and two that may have two, after `before`.
    fn chosen(estimate: u64, before: [usize; 3]) -> [usize; 3] {
        let mut chosen = before;
        choose(kbit(estimate), &default(), &[2, 1, 1], 1.2, &mut chosen);
        chosen
    }

    #[test]
    fn the_large_picture_comes_first() {
        let most = [2, 1, 1];
        // With all at most: 2500 + 500 + 500 = 3500. One thumbnail less: 3150; two: 2800.
        assert_eq!(chosen(3_500, most), [2, 1, 1]);
        assert_eq!(chosen(3_499, most), [2, 1, 0]);
        assert_eq!(chosen(3_150, most), [2, 1, 0]);
        assert_eq!(chosen(3_149, most), [2, 0, 0]);
        assert_eq!(chosen(2_800, most), [2, 0, 0]);
        // Below, the large one goes down, and leaves room: 500 + 500 + 500.
        assert_eq!(chosen(2_799, most), [1, 1, 1]);
        assert_eq!(chosen(1_499, most), [1, 1, 0]);
        assert_eq!(chosen(1_149, most), [1, 0, 0]);
        // 500 + 150 + 150 is the least that is more than the least layers.
        assert_eq!(chosen(800, most), [1, 0, 0]);
        assert_eq!(chosen(799, most), [0, 0, 0]);
        assert_eq!(chosen(0, most), [0, 0, 0], "which are sent in any case");
    }

    #[test]
    fn a_layer_more_has_to_fit_with_a_margin() {
        let least = [0, 0, 0];
        // 500 + 150 + 150 = 800, times 1.2 = 960.
        assert_eq!(chosen(959, least), [0, 0, 0]);
        assert_eq!(chosen(960, least), [1, 0, 0]);
        // From there 2500 + 150 + 150 = 2800, times 1.2 = 3360; by then the thumbnails have had theirs.
        assert_eq!(chosen(3_359, [1, 1, 1]), [1, 1, 1]);
        // The large one takes the second thumbnail's part: 2500 + 500 + 150 = 3150 fits, 3500 does
        // not.
        assert_eq!(chosen(3_360, [1, 1, 1]), [2, 1, 0]);
        // Once it is there it stays down to 2800.
        assert_eq!(chosen(2_800, [2, 0, 0]), [2, 0, 0]);
    }

    proptest! {
        #[test]
        fn the_sum_is_within_the_estimate_or_the_least(
            estimate in 0_u64..20_000,
            before in proptest::collection::vec(0_usize..3, 1..10),
        ) {
            let most = vec![2; before.len()];
            let mut chosen = before.clone();
            choose(kbit(estimate), &default(), &most, 1.2, &mut chosen);
            let sum: u64 = chosen.iter().map(|&layer| default()[layer].as_bits()).sum();
            let least = chosen.iter().all(|&layer| layer == 0);
            prop_assert!(least || sum <= estimate * 1_000, "{chosen:?} at {estimate}");
            // With the same estimate there are no further changes.
            let again = chosen.clone();
            choose(kbit(estimate), &default(), &most, 1.2, &mut chosen);
            prop_assert_eq!(again, chosen);
        }
    }
}
