//! The claim that a case is worse than each rival in few cells only.

use super::{Duel, Scored, Standing};
use crate::claim::{Checked, Place, Verdict};
use std::collections::BTreeSet;

impl Scored {
    /// The claim and its verdict, if there is one. It is about the cells in which the case is told to
    /// be worse: it can be told from any runs that have intervals. It is
    /// `invalid` if one of those is.
    pub(crate) fn claimed(&self, of: Place<'_>, invalid: bool) -> Option<Checked> {
        let most = self.worse_in_at_most?;
        let worse = self.most_lost();
        Some(Checked {
            id: format!("{}/{}", of.experiment, self.title),
            calls: of.calls.map(str::to_owned),
            paper: of.paper.to_owned(),
            statement: format!(
                "{}: {} is worse by more than {} than any one of {} in at most {most} of {} combinations",
                self.title,
                self.of,
                self.margin,
                self.rivals().join(", "),
                self.cells().len()
            ),
            published: "not evaluated".to_owned(),
            ours: Some(worse as f64),
            ci95: None,
            p: None,
            needed: None,
            unit: "combinations".to_owned(),
            verdict: self.verdict(worse, most),
            invalid,
            note: self.by_rival(),
        })
    }

    fn verdict(&self, worse: usize, most: usize) -> Verdict {
        let without_interval =
            |duel: &&Duel| duel.standing == Standing::Untold && duel.worse_by.ci95.is_none();
        let open = self.duels.iter().filter(without_interval).count();
        match worse {
            _ if self.duels.is_empty() => Verdict::Untold,
            worse if worse > most => Verdict::Fails,
            worse if worse + open > most => Verdict::Untold,
            _ => Verdict::Holds,
        }
    }

    /// In how many cells it is worse than the rival that it is worse than most often.
    fn most_lost(&self) -> usize {
        let lost = |rival: &str| {
            let [_, _, worse, _] = self.counts(rival);
            worse
        };
        self.rivals().into_iter().map(lost).max().unwrap_or(0)
    }

    fn cells(&self) -> BTreeSet<&[String]> {
        self.duels.iter().map(|duel| &duel.cell[..]).collect()
    }

    /// In how many cells it is worse than each rival and than any, and in how many that is open.
    fn by_rival(&self) -> String {
        let of = |rival: &str| {
            let [_, _, worse, untold] = self.counts(rival);
            format!("{rival} {worse} ({untold} cannot be told)")
        };
        let each: Vec<String> = self.rivals().into_iter().map(of).collect();
        let lost: BTreeSet<&[String]> = self.lost().iter().map(|duel| &duel.cell[..]).collect();
        format!(
            "Worse than {}; than at least one of them in {}",
            each.join(", "),
            lost.len()
        )
    }
}
