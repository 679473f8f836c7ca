//! When a discipline serves somebody worse than another one does.

/// What is left of a rate at least, and a wait is not longer than what is left of this part of it, and 5 ms.
const LEFT: f64 = 0.95;
const MS: f64 = 5.0;
/// What looks bad in one run is repeated with so many seeds.
pub const SEEDS: u64 = 10;

/// How far a wait of `ours` ms is from what is allowed beside `other`: below 0 it is worse.
pub fn of_waits(ours: f64, other: f64) -> f64 {
    (other + MS).max(other / LEFT) - ours
}

/// The same of rates, in any unit.
pub fn of_rates(ours: f64, other: f64) -> f64 {
    ours - other * LEFT
}

/// Whether it is worse in the mean of the runs with [`SEEDS`], by its interval of 95 %.
pub fn is_told(margins: &[f64]) -> bool {
    let count = margins.len() as f64;
    let mean = margins.iter().sum::<f64>() / count;
    let squares: f64 = margins
        .iter()
        .map(|margin| (margin - mean) * (margin - mean))
        .sum();
    // Student's t for nine degrees of freedom.
    mean + 2.262 * (squares / (count - 1.0) / count).sqrt() < 0.0
}
