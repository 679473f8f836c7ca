//! `1/sqrt(count)` for counts that change by one, without a root: as Linux's `sch_cake.c` has it.

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

/// `1/sqrt(count)` as a fraction of 2^32, given the value `neighbour` for a count next to it.
pub(crate) fn of(count: u32, neighbour: u32) -> u32 {
    match INV_SQRT.get(count as usize) {
        Some(&known) => known,
        None => newton(count, neighbour),
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

    #[test]
    fn close_to_the_root() {
        let mut inv_sqrt = 0;
        for count in (1..20_000).chain((1..19_999).rev()) {
            inv_sqrt = of(count, inv_sqrt);
            let exact = 4_294_967_296.0 / f64::from(count).sqrt();
            let error = (f64::from(inv_sqrt) / exact - 1.0).abs();
            // A step from 15 to 16 is 2 % off; half of the square of that remains.
            assert!(error < 2e-3, "{count}: {error}");
        }
    }
}
