//! Products and quotients of 64-bit numbers without overflow in between.

/// `a × b / c`, rounded down, at most `u64::MAX`. Panics if `c` is 0.
pub(crate) const fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    // Packets take the short way: a 128-bit division costs more than the rest of an event.
    if let Some(product) = a.checked_mul(b) {
        return product / c;
    }
    let quotient = a as u128 * b as u128 / c as u128;
    if quotient > u64::MAX as u128 {
        u64::MAX
    } else {
        quotient as u64
    }
}

#[cfg(test)]
mod tests {
    use super::mul_div;

    #[test]
    fn both_ways_agree() {
        assert_eq!(mul_div(7, 3, 2), 10);
        assert_eq!(mul_div(1 << 40, 1 << 40, 1 << 41), 1 << 39);
        // The last product that fits, and the first that does not.
        assert_eq!(mul_div(u64::MAX, 1, 3), u64::MAX / 3);
        assert_eq!(mul_div(1 << 63, 2, 4), 1 << 62);
        assert_eq!(mul_div(u64::MAX, u64::MAX, 1), u64::MAX);
    }
}
