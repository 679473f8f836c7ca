//! Verdicts of an experiment, judged together.

use super::{Checked, Verdict};
use crate::discovery::limit;

/// Withdraws verdicts that would not be given if all claims of an experiment were judged together,
/// so that of its verdicts at most one in twenty is wrong.
pub(crate) fn judged_together(claims: &mut [Checked]) {
    let all = || claims.iter().filter_map(|claim| claim.p);
    let (limit, count) = (limit(all()), all().count());
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
