//! The target of an AQM: the throughput of one Reno flow, and its power, over the delay that it is
//! allowed.
//!
//! With at most `f` round trips' worth of queue, Reno's window swings between half of 1 + f round
//! trips' worth and all of it, evenly in time, and the link idles while it is below 1 (RFC 8289,
//! section 3.2; the thesis' equations (1) and (2), figure 1). Valid for f from 0 to 1: from 1 on
//! the link never idles.

/// The share of the link that the flow uses: 0.75 with no queue at all, 1 from f = 1 on.
pub fn goodput(f: f64) -> f64 {
    let f = f.clamp(0.0, 1.0);
    (3.0 + 6.0 * f - f * f) / (4.0 * (1.0 + f))
}

/// Throughput over delay, in parts of its value with no queue at all. The delay is the round trip
/// with the queue, 1 + f.
pub fn power(f: f64) -> f64 {
    let f = f.clamp(0.0, 1.0);
    (1.0 + 2.0 * f - f * f / 3.0) / ((1.0 + f) * (1.0 + f))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sawtooth, added up: the window grows evenly, and no more than 1 is sent at a time.
    fn sawtooth(f: f64) -> f64 {
        let steps = 100_000;
        let window = |step| (1.0 + f) * (0.5 + (f64::from(step) + 0.5) / f64::from(2 * steps));
        let sent: f64 = (0..steps).map(|step| window(step).min(1.0)).sum();
        sent / f64::from(steps)
    }

    #[test]
    fn goodput_is_what_the_sawtooth_sends() {
        for f in [0.0, 0.05, 0.1, 0.3, 0.5, 1.0] {
            let (formula, sent) = (goodput(f), sawtooth(f));
            assert!((formula - sent).abs() < 1e-6, "{f}: {formula} {sent}");
        }
    }

    #[test]
    fn power_is_flat_at_first_and_falls() {
        assert_eq!(power(0.0), 1.0);
        assert!(power(0.1) > 0.98 && power(1.0) < 0.67);
        assert!((power(0.5) - goodput(0.5) / 1.5 / goodput(0.0)).abs() < 1e-12);
    }
}
