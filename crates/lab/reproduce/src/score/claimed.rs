//! The claim that a case is worse than each rival in few cells only.

use super::{Duel, ScoreStanding, Scored};
use crate::claim::{Check, Checked, ClaimsPlace, Judged, Speaker};
use std::collections::BTreeSet;

impl Scored {
    /// The claim, a question of our own, if there is one. It is about the cells in which the case is told
    /// to be worse: it can be told from any runs that have intervals. It is `invalid` if one of those is.
    pub(crate) fn claimed(&self, of: ClaimsPlace<'_>, invalid: bool) -> Option<Judged> {
        let most = self.worse_in_at_most?;
        let worse = self.most_lost();
        let id = format!("{}/{}", of.experiment, self.title);
        let cell = Checked {
            ours: Some(worse as f64),
            unit: "combinations".to_owned(),
            inside: self.inside(worse, most),
            invalid,
            note: self.by_rival(),
            ..Checked::default()
        };
        Some(Judged {
            id: id.clone(),
            calls: of.calls.map(str::to_owned),
            kind: Speaker::Own,
            place: of.paper.to_owned(),
            sentence: format!(
                "{}: {} is worse by more than {} than any one of {} in at most {most} of {} combinations",
                self.title,
                self.of,
                self.margin,
                self.rivals().join(", "),
                self.cells().len()
            ),
            verdict: None,
            limits: of.departures.shortened.iter().cloned().collect(),
            checks: vec![Check::of_one(
                id,
                format!("at most {most} combinations"),
                cell,
            )],
        })
    }

    fn inside(&self, worse: usize, most: usize) -> Option<bool> {
        let without_interval =
            |duel: &&Duel| duel.standing == ScoreStanding::Untold && duel.worse_by.ci95.is_none();
        let open = self.duels.iter().filter(without_interval).count();
        match worse {
            _ if self.duels.is_empty() => None,
            worse if worse > most => Some(false),
            worse if worse + open > most => None,
            _ => Some(true),
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
