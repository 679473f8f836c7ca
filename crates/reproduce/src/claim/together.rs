//! Verdicts of an experiment, judged together.

use super::{Checked, Verdict};

/// The share of verdicts of an experiment that may be wrong.
const FALSE_DISCOVERIES: f64 = 0.05;

/// Takes back what would not be told if claims of an experiment were judged together, so that of its
/// verdicts at most one in twenty is wrong (Y. Benjamini and Y. Hochberg, JRSS B 57, 1995).
pub(crate) fn judged_together(claims: &mut [Checked]) {
    let mut all: Vec<f64> = claims.iter().filter_map(|claim| claim.p).collect();
    all.sort_by(f64::total_cmp);
    let count = all.len() as f64;
    let told = (1..)
        .zip(&all)
        .filter(|(place, p)| **p <= FALSE_DISCOVERIES * f64::from(*place) / count);
    let limit = told.map(|(_, p)| *p).last().unwrap_or(0.0);
    let late = |claim: &&mut Checked| {
        claim.verdict != Verdict::Untold && claim.p.is_some_and(|p| p > limit)
    };
    for claim in claims.iter_mut().filter(late) {
        claim.verdict = Verdict::Untold;
        claim.note = format!(
            "Alone it would be told; among {count} claims it may be chance. {}",
            claim.note
        )
        .trim()
        .to_owned();
    }
}
