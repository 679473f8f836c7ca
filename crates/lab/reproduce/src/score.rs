//! One case against all others, cell by cell: where it is better, where it is worse, and where that
//! cannot be told.
//!
//! Each cell and rival is a comparison of its own, paired by run. It is *worse* if the interval of
//! the difference lies above the margin, *no worse* if it lies below, and *better* if it lies below
//! zero. Of all these verdicts on one metric at most one in twenty is wrong (`discovery.rs`).

use crate::claim::{Names, negated};
use crate::design::Design;
use crate::discovery::{least_p, limit};
use crate::records::Records;
use campaign::Settings;
use measure::estimate::{Against, Bounds, Estimate, LEVEL, Statistic, compare};
use measure::metric::{Better, Selection};
use serde::Deserialize;
use std::collections::BTreeMap;
use units::Refusal;

/// A score as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// A line.
    pub title: String,
    /// The case that is judged.
    pub of: String,
    /// The cases it is compared with; all other cases by default.
    #[serde(default)]
    pub to: Names,
    /// The metric, which defines whether less or more of it is better.
    pub metric: String,
    /// The statistic of its values; the mean by default.
    #[serde(default)]
    pub statistic: Option<String>,
    /// By how much it may be worse: in the metric's unit, or with `percent` in percent of the rival's.
    pub margin: f64,
    /// Other margins where an axis has certain values: by the axis, then by its value. The largest
    /// counts.
    #[serde(default)]
    pub margins: BTreeMap<String, BTreeMap<String, f64>>,
    /// Whether margins are in percent.
    #[serde(default)]
    pub percent: bool,
    /// Claimed: against no rival it is worse in more cells than this.
    #[serde(default)]
    pub worse_in_at_most: Option<usize>,
    /// It is enough to be no worse than this case instead.
    #[serde(default)]
    pub or: Option<String>,
    /// Titles of other scores of the experiment. A rival counts only in cells in which it would not
    /// lose any of them in the case's place.
    #[serde(default)]
    pub fit: Names,
    /// Values of axes that it is restricted to: one or several of each.
    #[serde(default, rename = "where")]
    pub place: BTreeMap<String, Names>,
}

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScoreStanding {
    /// The case is better than its rival.
    Better,
    /// It is worse by no more than the margin.
    NoWorse,
    /// It is worse by more.
    Worse,
    /// The runs do not decide it.
    Untold,
}

/// One cell and one rival.
#[derive(Debug, Clone)]
pub struct Duel {
    /// The cell's values of the axes, in their order.
    pub cell: Vec<String>,
    /// The rival.
    pub rival: String,
    /// The means of the case and of its rival.
    pub means: [f64; 2],
    /// By how much the case is worse.
    pub worse_by: Estimate,
    /// The resulting standing.
    pub standing: ScoreStanding,
}

/// The result of a score.
#[derive(Debug, Clone)]
pub struct Scored {
    /// A line.
    pub title: String,
    /// The case that is judged.
    pub of: String,
    /// The metric's name and unit.
    pub metric: (String, &'static str),
    /// By how much it may be worse, as it is printed.
    pub margin: String,
    /// The unit of `worse_by`.
    pub unit: &'static str,
    /// In how many cells it is claimed to be worse, at most, than each rival.
    pub worse_in_at_most: Option<usize>,
    /// All comparisons; cells in which one side has no value are left out.
    pub duels: Vec<Duel>,
}

impl Score {
    /// Checks that all that it names exists.
    ///
    /// # Errors
    /// A sentence with the name that does not exist.
    pub(crate) fn check(&self, design: Design<'_>, all: &[Score]) -> Result<(), Refusal> {
        self.fitting(all)?;
        design.case(&self.of)?;
        for rival in self.to.0.iter().chain(&self.or) {
            design.case(rival)?;
        }
        for (axis, labels) in &self.place {
            for label in &labels.0 {
                design.check_selection(&Settings::from([(axis.clone(), label.clone())]))?;
            }
        }
        for (axis, margins) in &self.margins {
            for label in margins.keys() {
                design.check_selection(&Settings::from([(axis.clone(), label.clone())]))?;
            }
        }
        let all = self.margins.values().flat_map(BTreeMap::values);
        for margin in all.chain([&self.margin]) {
            if !margin.is_finite() || *margin < 0.0 {
                let help =
                    "write margin = 5, in the metric's unit, or in percent with percent = true";
                return Err(Refusal::new(format!("margin {margin}")).with_help(help));
            }
        }
        self.selected(design).map(|_| ())
    }

    /// By how much it may be worse in `cell`.
    fn margin_in(&self, cell: &Settings) -> f64 {
        let of_axis = |(axis, margins): (&String, &BTreeMap<String, f64>)| {
            margins.get(cell.get(axis)?).copied()
        };
        let other = self.margins.iter().filter_map(of_axis).reduce(f64::max);
        other.unwrap_or(self.margin)
    }

    /// The margin as it is printed: `5 ms`, or `5 ms (36 at link 1, 18 at link 2)`.
    fn margin_text(&self, unit: &str) -> String {
        let of_axis = |(axis, margins): (&String, &BTreeMap<String, f64>)| -> Vec<String> {
            let of_value = |(label, margin)| format!("{margin} at {axis} {label}");
            margins.iter().map(of_value).collect()
        };
        let others: Vec<String> = self.margins.iter().flat_map(of_axis).collect();
        let text = format!("{} {unit}", self.margin);
        if others.is_empty() {
            text.trim().to_owned()
        } else {
            format!("{} ({})", text.trim(), others.join(", "))
        }
    }

    /// The scores that [`fit`](Score::fit) names.
    fn fitting<'a>(&self, all: &'a [Score]) -> Result<Vec<&'a Score>, Refusal> {
        let named = |title: &String| {
            let found = all
                .iter()
                .find(|score| score.title == *title && score.title != self.title);
            found.ok_or_else(|| {
                let titles: Vec<_> = all.iter().map(|score| &score.title[..]).collect();
                Refusal::new(format!("there is no other score {title:?}"))
                    .with_help(format!("the scores are {}", titles.join(", ")))
            })
        };
        self.fit.0.iter().map(named).collect()
    }

    /// Whether `case` would lose this score in a cell if it were the case that is judged.
    fn loses(&self, case: &str, records: &Records<'_>, cell: &Settings) -> Result<bool, Refusal> {
        let design = records.design();
        let (metric, statistic) = self.selected(design)?;
        let comparison = Comparison {
            score: &Score {
                of: case.to_owned(),
                ..self.clone()
            },
            metric: &metric,
            statistic,
            bounds: records.bounds(&metric),
        };
        let names = design.cases.iter().map(|case| &case.name);
        let rivals = names.filter(|name| comparison.score.meets(name));
        let duels = comparison.duels(records, cell, rivals);
        Ok(duels
            .iter()
            .any(|(duel, _)| duel.standing == ScoreStanding::Worse))
    }

    fn selected(&self, design: Design<'_>) -> Result<(Selection, Statistic), Refusal> {
        let metric = design.metrics.select(&self.metric)?;
        if metric.metric.better == Better::Neither {
            let message = format!("neither more nor less of {} is better", metric.metric.name);
            return Err(Refusal::new(message));
        }
        let statistic = self
            .statistic
            .as_deref()
            .map_or(Ok(Statistic::Mean), str::parse)?;
        Ok((metric, statistic))
    }

    /// Compares in every cell.
    ///
    /// # Errors
    /// As [`check`](Score::check).
    pub(crate) fn scored(&self, records: &Records<'_>, all: &[Score]) -> Result<Scored, Refusal> {
        let design = records.design();
        let fitting = self.fitting(all)?;
        let (metric, statistic) = self.selected(design)?;
        let of = Comparison {
            score: self,
            metric: &metric,
            statistic,
            bounds: records.bounds(&metric),
        };
        let mut judged = Vec::new();
        for (cell, records) in records.cells() {
            let here = |(axis, labels): (&String, &Names)| {
                cell.get(axis).is_some_and(|label| labels.0.contains(label))
            };
            if !self.place.iter().all(here) {
                continue;
            }
            let mut rivals = Vec::new();
            for case in design.cases.iter().filter(|case| self.meets(&case.name)) {
                let loses = |score: &&Score| score.loses(&case.name, &records, &cell);
                let lost: Result<Vec<bool>, Refusal> = fitting.iter().map(loses).collect();
                if !lost?.contains(&true) {
                    rivals.push(&case.name);
                }
            }
            judged.extend(of.duels(&records, &cell, rivals));
        }
        let limit = limit(judged.iter().map(|(_, p)| *p));
        let told = |(mut duel, p): (Duel, f64)| {
            if p > limit {
                duel.standing = ScoreStanding::Untold;
            }
            duel
        };
        let unit = if self.percent {
            "%"
        } else {
            metric.metric.unit
        };
        Ok(Scored {
            title: self.title.clone(),
            of: self.of.clone(),
            metric: (metric.to_string(), metric.metric.unit),
            margin: self.margin_text(unit),
            unit,
            worse_in_at_most: self.worse_in_at_most,
            duels: judged.into_iter().map(told).collect(),
        })
    }

    fn meets(&self, rival: &String) -> bool {
        *rival != self.of && (self.to.0.is_empty() || self.to.0.contains(rival))
    }
}

/// The common parameters of all comparisons.
struct Comparison<'a> {
    score: &'a Score,
    metric: &'a Selection,
    statistic: Statistic,
    bounds: Bounds,
}

impl Comparison<'_> {
    /// The case against each of `rivals` in a cell, as far as they have values.
    fn duels<'a>(
        &self,
        records: &Records<'_>,
        cell: &Settings,
        rivals: impl IntoIterator<Item = &'a String>,
    ) -> Vec<(Duel, f64)> {
        let enough = self.score.or.as_ref();
        let enough = enough.and_then(|case| self.judged(records, cell, case));
        let enough = enough.filter(|(duel, _)| duel.standing <= ScoreStanding::NoWorse);
        let judged = rivals
            .into_iter()
            .filter_map(|rival| self.judged(records, cell, rival));
        judged
            .map(|judged| relieved(judged, enough.as_ref()))
            .collect()
    }

    /// The case against `rival` in a cell, and the confidence; none if one has no value.
    fn judged(&self, records: &Records<'_>, cell: &Settings, rival: &str) -> Option<(Duel, f64)> {
        let nowhere = Settings::new();
        let side = |case: &str| records.values(self.metric, case, &nowhere);
        let sides = [side(&self.score.of), side(rival)];
        let worse_by = self.worse_by(&sides, LEVEL)?;
        let means = sides.each_ref().map(|side| {
            let all = side.concat();
            all.iter().sum::<f64>() / all.len() as f64
        });
        let margin = self.score.margin_in(cell);
        let standing = standing(&worse_by, margin);
        let decided = |p: f64| {
            let estimate = self.worse_by(&sides, 1.0 - p);
            estimate.is_some_and(|estimate| self::standing(&estimate, margin) == standing)
        };
        let p = match standing {
            ScoreStanding::Untold => 1.0,
            _ => least_p(decided),
        };
        let axes = records.design().axes.iter();
        let labels = axes.map(|axis| cell.get(&axis.name).cloned().unwrap_or_default());
        let duel = Duel {
            cell: labels.collect(),
            rival: rival.to_owned(),
            means,
            worse_by,
            standing,
        };
        Some((duel, p))
    }

    fn worse_by(&self, sides: &[Vec<Vec<f64>>; 2], level: f64) -> Option<Estimate> {
        let against = if self.score.percent {
            Against::Percent
        } else {
            Against::Difference
        };
        let [ours, theirs] = sides;
        let estimate = compare(self.statistic, [ours, theirs], self.bounds, against, level)?;
        Some(match self.metric.metric.better {
            Better::More => negated(estimate),
            Better::Less | Better::Neither => estimate,
        })
    }
}

/// A lost or undecided comparison counts as neither if the case is no worse than one that is
/// `enough`.
fn relieved((mut duel, p): (Duel, f64), enough: Option<&(Duel, f64)>) -> (Duel, f64) {
    match enough {
        Some((_, sure)) if duel.standing > ScoreStanding::NoWorse => {
            duel.standing = ScoreStanding::NoWorse;
            (duel, *sure)
        }
        _ => (duel, p),
    }
}

/// The standing that follows from `worse_by`.
fn standing(worse_by: &Estimate, margin: f64) -> ScoreStanding {
    match worse_by.ci95 {
        Some((_, high)) if high < 0.0 => ScoreStanding::Better,
        Some((_, high)) if high <= margin => ScoreStanding::NoWorse,
        Some((low, _)) if low > margin => ScoreStanding::Worse,
        // The same in every run.
        None if worse_by.value == 0.0 && worse_by.units > 1 => ScoreStanding::NoWorse,
        _ => ScoreStanding::Untold,
    }
}

impl Scored {
    /// Number of comparisons of the case against `rival` by standing: better, no worse, worse,
    /// undecided.
    pub fn counts(&self, rival: &str) -> [usize; 4] {
        let mut counts = [0; 4];
        for duel in self.against(rival) {
            counts[duel.standing as usize] += 1;
        }
        counts
    }

    /// The mean over all cells, of the case and of `rival`.
    pub fn means(&self, rival: &str) -> [f64; 2] {
        let mut sums = [0.0; 2];
        let mut count = 0.0;
        for duel in self.against(rival) {
            sums = [0, 1].map(|side| sums[side] + duel.means[side]);
            count += 1.0;
        }
        sums.map(|sum| sum / count)
    }

    /// The rivals, in the order of the cases.
    pub fn rivals(&self) -> Vec<&str> {
        let mut rivals: Vec<&str> = Vec::new();
        for duel in &self.duels {
            if !rivals.contains(&duel.rival.as_str()) {
                rivals.push(&duel.rival);
            }
        }
        rivals
    }

    fn against(&self, rival: &str) -> impl Iterator<Item = &Duel> {
        self.duels.iter().filter(move |duel| duel.rival == rival)
    }

    /// The cells in which the case is worse, the farthest first.
    pub fn lost(&self) -> Vec<&Duel> {
        let lost = self.duels.iter();
        let mut lost: Vec<&Duel> = lost
            .filter(|duel| duel.standing == ScoreStanding::Worse)
            .collect();
        lost.sort_by(|one, other| other.worse_by.value.total_cmp(&one.worse_by.value));
        lost
    }
}

mod claimed;

#[cfg(test)]
#[path = "score/tests.rs"]
mod tests;
