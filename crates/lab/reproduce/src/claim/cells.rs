//! The cells of a claim: what "each" and "up to" are about.

use super::{Claim, Names};
use crate::design::Design;
use campaign::Settings;
use units::Refusal;

/// How the cells of a claim make its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantifier {
    /// It has to be so in every one.
    Each,
    /// It has to be so in one.
    Best,
}

impl Quantifier {
    /// The verdict: none if it is open.
    pub(super) fn of(self, cells: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
        let decides = self == Quantifier::Best;
        let cells: Vec<Option<bool>> = cells.into_iter().collect();
        if cells.is_empty() {
            None
        } else if cells.contains(&Some(decides)) {
            Some(decides)
        } else if cells.contains(&None) {
            None
        } else {
            Some(!decides)
        }
    }
}

/// A claim about one cell.
pub(super) struct ClaimCell {
    /// The claim with one metric and, if the cells are over them, one case or rival.
    pub(super) claim: Claim,
    /// Values of axes that it is restricted to.
    pub(super) place: Settings,
    /// What sets the cell apart: `k 3, to codel`; empty if there is only one.
    pub(super) name: String,
}

impl Claim {
    /// How its cells make the verdict, and what they are over.
    pub(crate) fn quantified(&self) -> (Quantifier, &Names) {
        if self.best.0.is_empty() {
            (Quantifier::Each, &self.each)
        } else {
            (Quantifier::Best, &self.best)
        }
    }

    /// Checks what the cells are over.
    pub(super) fn check_cells(&self, design: Design<'_>) -> Result<(), Refusal> {
        if !self.each.0.is_empty() && !self.best.0.is_empty() {
            return Err(Refusal::new("each and best: a claim has one of them"));
        }
        let (_, over) = self.quantified();
        for name in &over.0 {
            match name.as_str() {
                "of" | "to" | "metric" => {}
                axis => _ = design.axis(axis)?,
            }
        }
        for (name, list) in [
            ("of", &self.of),
            ("to", &self.to),
            ("metric", &self.metrics),
        ] {
            if list.0.is_empty() && over.0.iter().any(|over| over == name) {
                let help = format!("name at least one, or leave {name} out of each and best");
                return Err(Refusal::new(format!("no {name} to take each of")).with_help(help));
            }
        }
        let several = self.metrics.0.len() > 1;
        if several && !over.0.iter().any(|name| name == "metric") {
            let help = "write each = \"metric\" or best = \"metric\"";
            return Err(Refusal::new("several metrics").with_help(help));
        }
        Ok(())
    }

    /// Every cell; `labels` has the values of an axis.
    pub(super) fn cells(&self, labels: impl Fn(&str) -> Vec<String>) -> Vec<ClaimCell> {
        let whole = ClaimCell {
            claim: self.clone(),
            place: self.place.clone(),
            name: String::new(),
        };
        let (_, over) = self.quantified();
        over.0.iter().fold(vec![whole], |cells, name| {
            let apart = |cell: ClaimCell| -> Vec<ClaimCell> {
                match name.as_str() {
                    "of" => cell.by(self.of.0.iter(), |claim| &mut claim.of, ""),
                    "to" => cell.by(self.to.0.iter(), |claim| &mut claim.to, "to "),
                    "metric" => cell.by(self.metrics.0.iter(), |claim| &mut claim.metrics, ""),
                    axis => cell.along(axis, labels(axis)),
                }
            };
            cells.into_iter().flat_map(apart).collect()
        })
    }
}

impl ClaimCell {
    /// A cell for each of the names in one of the claim's lists.
    fn by<'n>(
        &self,
        names: impl Iterator<Item = &'n String>,
        list: impl Fn(&mut Claim) -> &mut Names,
        word: &str,
    ) -> Vec<ClaimCell> {
        let one = |name: &String| {
            let mut claim = self.claim.clone();
            *list(&mut claim) = Names(vec![name.clone()]);
            ClaimCell {
                claim,
                place: self.place.clone(),
                name: self.named(&format!("{word}{name}")),
            }
        };
        names.map(one).collect()
    }

    /// A cell for each value of an axis.
    fn along(&self, axis: &str, labels: Vec<String>) -> Vec<ClaimCell> {
        let one = |label: String| {
            let name = self.named(&format!("{axis} {label}"));
            let mut place = self.place.clone();
            place.insert(axis.to_owned(), label);
            ClaimCell {
                claim: self.claim.clone(),
                place,
                name,
            }
        };
        labels.into_iter().map(one).collect()
    }

    fn named(&self, more: &str) -> String {
        if self.name.is_empty() {
            more.to_owned()
        } else {
            format!("{}, {more}", self.name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_enough_for_up_to_and_all_are_needed_for_each() {
        let (yes, no, open) = (Some(true), Some(false), None);
        let of = |cells: &[Option<bool>]| {
            [Quantifier::Each, Quantifier::Best].map(|one| one.of(cells.iter().copied()))
        };
        assert_eq!(of(&[yes, yes]), [yes, yes]);
        assert_eq!(of(&[yes, no, open]), [no, yes]);
        assert_eq!(of(&[yes, open]), [open, yes]);
        assert_eq!(of(&[no, open]), [no, open]);
        assert_eq!(of(&[no, no]), [no, no]);
        assert_eq!(of(&[]), [open, open]);
    }
}
