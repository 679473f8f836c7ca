//! Two-level processor sharing: M/G/1 with a threshold.
//!
//! With load ρ_a and mean work W_a of the first level, which never sees the second, a transfer of x ≤ a
//! takes x/(1 − ρ_a). The second level is processor sharing among those that the first one's busy
//! periods hand over, several at a time, in the time that is left: a transfer of a + x takes
//! (W_a + a + α(x))/(1 − ρ_a), where (L. Kleinrock, Queueing Systems II, section 4.7)
//!
//! α'(x) = 1 + b·B(x) + Λ·∫₀^∞ α'(y)·B(x + y) dy + Λ·∫₀^x α'(y)·B(x − y) dy,
//!
//! B(x) being the share of those beyond a that are beyond a + x, Λ = λ·F(a)/(1 − ρ_a) their rate in the
//! time that is left, F(a) the share beyond a, and b = 2Λ(W_a + a) how many others come with one. With
//! B a sum of exponentials, Σ qᵢ·exp(−μᵢx), the mean over all sizes needs of α' only its Laplace
//! transform at each μᵢ, for which the equation is linear:
//!
//! Aᵢ·(1 − Λ·Σⱼ qⱼ/(μᵢ + μⱼ)) − Λ·Σⱼ qⱼAⱼ/(μᵢ + μⱼ) = 1/μᵢ + b·Σⱼ qⱼ/(μᵢ + μⱼ).
//!
//! K. Avrachenkov, P. Brown, N. Osipova, "Optimal choice of threshold in two level processor sharing",
//! 2009, solve the same model for hyperexponential sizes.

use super::phases::{Phase, Phases};
use super::solve::solve;
use libm::{exp, log};
use units::Refusal;

/// The model: sizes and load.
#[derive(Debug, Clone)]
pub struct TwoLevels<'a> {
    sizes: &'a Phases,
    load: f64,
}

/// The best threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// Bytes.
    pub threshold: f64,
    /// Mean time of a transfer there, in parts of that with one level.
    pub response: f64,
}

/// Thresholds that are tried before the best of them is refined.
const STEPS: usize = 200;
/// Rounds of refining: each makes the span in which it lies a third smaller.
const ROUNDS: usize = 40;

/// Refuses a load that is not from 0.01 to 0.99.
pub(super) fn check_load(load: f64) -> Result<(), Refusal> {
    if (0.01..=0.99).contains(&load) {
        return Ok(());
    }
    let message = format!("the load is {load}; it can be 0.01 to 0.99");
    Err(Refusal::new(message))
}

impl<'a> TwoLevels<'a> {
    /// A link on which transfers of these sizes make `load`.
    ///
    /// # Errors
    /// If the load is not from 0.01 to 0.99.
    pub fn new(sizes: &'a Phases, load: f64) -> Result<Self, Refusal> {
        check_load(load)?;
        Ok(TwoLevels { sizes, load })
    }

    /// Mean time of a transfer with one level: that of sending it alone, times this.
    pub fn one_level(&self) -> f64 {
        1.0 / (1.0 - self.load)
    }

    /// Mean time of a transfer with a threshold of so many bytes, in parts of that with one level.
    pub fn response(&self, threshold: f64) -> f64 {
        // Times are those of sending so many bytes alone.
        let mean = self.sizes.mean();
        let rate = self.load / mean;
        let (first, squares) = self.first_level(threshold);
        let spare = 1.0 - rate * first;
        let work = rate * squares / (2.0 * spare);
        let beyond = self.sizes.beyond(threshold);
        // If no transfer is beyond the threshold, there is one level.
        if beyond < 1e-12 {
            return first / spare * (1.0 - self.load) / mean;
        }
        let arrivals = rate * beyond / spare;
        let others = 2.0 * arrivals * (work + threshold);
        let second = self.second_level(threshold, arrivals, others);
        let time = (first + beyond * (work + second)) / spare;
        time * (1.0 - self.load) / mean
    }

    /// Mean, and mean square, of the parts of transfers in the first level.
    fn first_level(&self, threshold: f64) -> (f64, f64) {
        let part = |phase: &Phase| {
            let (mean, span) = (phase.mean, threshold / phase.mean);
            let first = phase.share * mean * (1.0 - exp(-span));
            let squares = 2.0 * phase.share * mean * mean * (1.0 - exp(-span) * (1.0 + span));
            (first, squares)
        };
        let parts = self.sizes.0.iter().map(part);
        parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// Mean of α over those beyond the threshold: Σ qᵢAᵢ.
    fn second_level(&self, threshold: f64, arrivals: f64, others: f64) -> f64 {
        let phases = &self.sizes.0;
        let beyond = self.sizes.beyond(threshold);
        let left = |phase: &Phase| phase.share * exp(-threshold / phase.mean) / beyond;
        let shares: Vec<f64> = phases.iter().map(left).collect();
        // qⱼ/(μᵢ + μⱼ).
        let joint = |i: &Phase, j: usize| {
            let (i, other) = (i.mean, phases[j].mean);
            shares[j] * i * other / (i + other)
        };
        let row = |(at, phase): (usize, &Phase)| {
            let all: f64 = (0..phases.len()).map(|j| joint(phase, j)).sum();
            let mut row: Vec<f64> = (0..phases.len())
                .map(|j| -arrivals * joint(phase, j))
                .collect();
            row[at] += 1.0 - arrivals * all;
            row.push(phase.mean + others * all);
            row
        };
        let transforms = solve(phases.iter().enumerate().map(row).collect());
        let parts = shares.iter().zip(&transforms);
        parts.map(|(share, value)| share * value).sum()
    }
}

/// The threshold, between `least` and `most` bytes, with the least mean time of transfers, as in
/// `tc apply 2lps --threshold auto`.
///
/// # Errors
/// If the load is out of range, or the sizes do not rise.
pub fn optimum(sizes: &Phases, load: f64, (least, most): (f64, f64)) -> Result<Optimum, Refusal> {
    let model = TwoLevels::new(sizes, load)?;
    if !(least > 0.0 && least < most) {
        let message = format!("there is no threshold between {least} and {most} bytes");
        return Err(Refusal::new(message));
    }
    let step = log(most / least) / STEPS as f64;
    let response = |place: f64| model.response(least * exp(step * place));
    let places = (0..=STEPS).map(|place| place as f64);
    let best = places.min_by(|a, b| response(*a).total_cmp(&response(*b)));
    let best = best.unwrap_or_default();
    let (mut from, mut to) = ((best - 1.0).max(0.0), (best + 1.0).min(STEPS as f64));
    for _ in 0..ROUNDS {
        let third = (to - from) / 3.0;
        if response(from + third) < response(to - third) {
            to -= third;
        } else {
            from += third;
        }
    }
    let place = (from + to) / 2.0;
    Ok(Optimum {
        threshold: least * exp(step * place),
        response: response(place),
    })
}
