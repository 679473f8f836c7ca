//! A metric's description of itself.

use super::meter::MakeMeter;
use super::observed::Observed;
use crate::estimate::{Bounds, Statistic};

/// Takes a metric from a run: all its values. The text is the name behind `NAME:`, of a traffic
/// entry or a link; it is empty for all.
pub type Take = fn(&Observed<'_>, &str) -> Vec<f64>;

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Less of it.
    Less,
    /// More of it.
    More,
    /// It is no merit either way.
    Neither,
}

/// What its values can be at all, and so its means, too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Any number: of differences.
    Any,
    /// None below zero.
    Positive,
    /// None outside of these two, in the metric's unit.
    Within(f64, f64),
    /// Seconds, at most as many as were measured.
    Time,
}

impl Range {
    /// A share, in percent.
    pub const PERCENT: Range = Range::Within(0.0, 100.0);

    /// The least and the greatest value in runs that were measured for so many seconds; infinite if that is not known.
    pub const fn bounds(self, measured: f64) -> Bounds {
        let (least, most) = match self {
            Range::Any => (f64::NEG_INFINITY, f64::INFINITY),
            Range::Positive => (0.0, f64::INFINITY),
            Range::Within(least, most) => (least, most),
            Range::Time => (0.0, measured),
        };
        Bounds { least, most }
    }
}

/// The place of a metric in the tables of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// The heading of the column, before the unit.
    pub heading: &'static str,
    /// Digits behind the point.
    pub decimals: usize,
    /// The statistic of the values of all runs.
    pub statistic: Statistic,
    /// Whether it is shown by default.
    pub by_default: bool,
}

impl Column {
    /// A column of means.
    pub const fn mean(heading: &'static str, decimals: usize) -> Self {
        Column {
            heading,
            decimals,
            statistic: Statistic::Mean,
            by_default: true,
        }
    }

    /// The same, for tables that ask for it.
    pub const fn asked(self) -> Self {
        Column {
            by_default: false,
            ..self
        }
    }
}

/// A metric's description of itself.
#[derive(Debug, Clone)]
pub struct Metric {
    /// The name users write.
    pub name: &'static str,
    /// Its unit, as it is printed behind a number; empty for a count.
    pub unit: &'static str,
    /// What its values can be.
    pub range: Range,
    /// Its meaning, in a line without a stop.
    pub summary: &'static str,
    /// How it is computed, and its limits: some sentences.
    pub about: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Which way it is better.
    pub better: Better,
    /// Its column in the tables of a comparison, if it has one.
    pub column: Option<Column>,
    /// Its own meter, if the result of a run does not have the figure. It follows the runs of
    /// scenarios that ask for the metric by name.
    pub meter: Option<MakeMeter>,
    /// Takes it from a run's result.
    pub take: Take,
}

/// Whether a result called `name` belongs to the traffic entry `entry`: it is it, or one of several.
pub(super) fn belongs(name: &str, entry: &str) -> bool {
    let rest = name.strip_prefix(entry);
    entry.is_empty()
        || rest.is_some_and(|rest| {
            let number = rest.strip_prefix('-');
            rest.is_empty()
                || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
}

#[cfg(test)]
mod tests {
    use super::belongs;

    #[test]
    fn one_of_several_belongs_to_its_entry() {
        for (name, entry, expected) in [
            ("call", "", true),
            ("call", "call", true),
            ("call-2", "call", true),
            ("call-in", "call", false),
            ("call-", "call", false),
            ("caller", "call", false),
        ] {
            assert_eq!(belongs(name, entry), expected, "{name} of {entry:?}");
        }
    }
}
