//! Cells of an experiment, judged together.

use super::Judged;
use crate::discovery::limit;

/// Opens again what would not be decided if all cells of an experiment were judged together, so that of
/// those that are decided at most one in twenty is wrong.
pub(crate) fn judged_together(sentences: &mut [Judged]) {
    let checks = sentences.iter().flat_map(|sentence| &sentence.checks);
    let p: Vec<f64> = (checks.flat_map(|check| &check.cells))
        .filter_map(|cell| cell.p)
        .collect();
    let (limit, count) = (limit(p.iter().copied()), p.len());
    let checks = sentences
        .iter_mut()
        .flat_map(|sentence| &mut sentence.checks);
    for cell in checks.flat_map(|check| &mut check.cells) {
        if cell.inside.is_none() || cell.p.is_none_or(|p| p <= limit) {
            continue;
        }
        cell.inside = None;
        let chance = format!("Alone it would be told; among {count} it may be chance");
        let notes = [chance, std::mem::take(&mut cell.note)];
        let notes: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        cell.note = notes.join(". ");
    }
}
