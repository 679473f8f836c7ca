//! Least attained service: the transfer that has had least goes first, as under `las`. Levels without
//! end come to this.
//!
//! No order that does not know sizes has a lower mean if a transfer's chance to end falls with its age
//! from the start. Pareto sizes begin above 0, so that there one in order of arrival up to some age would
//! be better still (S. Aalto, U. Ayesta, "Optimal scheduling of jobs with a DHR tail in the M/G/1
//! queue", 2008).

use super::sizes::Sizes;
use units::Refusal;

/// Mean time of a transfer under least attained service, in parts of that under processor sharing.
///
/// Of others, a transfer of x sees at most their first x bytes, so that it takes
/// (W(x) + x)/(1 − ρ(x)), with ρ(x) = λ·E[min(X, x)] and W(x) = λ·E[min(X, x)²]/(2·(1 − ρ(x)))
/// (L. Kleinrock, Queueing Systems II, section 4.6).
///
/// # Errors
/// If the load is not from 0.01 to 0.99.
pub fn least_attained(sizes: &Sizes, load: f64) -> Result<f64, Refusal> {
    super::levels::check_load(load)?;
    let mean = sizes.mean();
    let rate = load / mean;
    // Of the classes so far, which rise: E[X; X ≤ x] and E[X²; X ≤ x], and the share beyond.
    let (mut part, mut squares, mut beyond) = (0.0, 0.0, 1.0);
    let mut time = 0.0;
    for (size, share) in sizes.classes() {
        let within = part + beyond * size;
        let within_squared = squares + beyond * size * size;
        let spare = 1.0 - rate * within;
        let waiting = rate * within_squared / (2.0 * spare);
        time += share * (waiting + size) / spare;
        part += share * size;
        squares += share * size * size;
        beyond -= share;
    }
    Ok(time * (1.0 - load) / mean)
}
