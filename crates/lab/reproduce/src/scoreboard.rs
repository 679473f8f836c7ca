//! A score as tables: against each rival, by the values of each axis, and the lost cells.

use crate::design::Axis;
use crate::figure::{number, text};
use crate::score::{Duel, Scored};
use measure::estimate::Estimate;

/// Largest number of lost cells that are listed.
const LISTED: usize = 20;

/// A table with its title: its head, then its rows.
#[derive(Debug, Clone)]
pub struct Board {
    /// A line.
    pub title: String,
    /// Head and rows.
    pub table: (Vec<String>, Vec<Vec<String>>),
}

/// The tables of `scored`, whose cells are of `axes`.
pub fn boards(scored: &Scored, axes: &[Axis]) -> Vec<Board> {
    let mut boards = vec![against(scored)];
    boards.extend(by_axis(scored, axes));
    boards.extend(lost(scored, axes));
    boards
}

/// A row for each rival.
fn against(scored: &Scored) -> Board {
    let (metric, unit) = &scored.metric;
    let head = [
        "against".to_owned(),
        "cells".to_owned(),
        "better".to_owned(),
        format!("worse by at most {}", scored.margin),
        "worse".to_owned(),
        "cannot be told".to_owned(),
        format!("mean of {}, {unit}", scored.of),
        "of the rival".to_owned(),
    ];
    let row = |rival: &str| {
        let counts = scored.counts(rival);
        let cells = counts.iter().sum::<usize>();
        let counts = [cells].into_iter().chain(counts).map(|n| n.to_string());
        let means = scored.means(rival).map(number);
        let name = [rival.to_owned()].into_iter();
        name.chain(counts).chain(means).collect()
    };
    Board {
        title: format!("{}: {metric} of {} in each cell", scored.title, scored.of),
        table: (
            head.to_vec(),
            scored.rivals().into_iter().map(row).collect(),
        ),
    }
}

/// A row for each value of an axis: how often the case is better and worse than each rival there.
fn by_axis(scored: &Scored, axes: &[Axis]) -> Option<Board> {
    let rivals = scored.rivals();
    let head = ["", ""].map(str::to_owned).into_iter();
    let head = head
        .chain(rivals.iter().map(|&rival| rival.to_owned()))
        .collect();
    let mut rows = Vec::new();
    for (place, axis) in axes.iter().enumerate() {
        for value in &axis.values {
            let here = |duel: &&Duel| duel.cell.get(place).is_some_and(|at| at == value.label());
            let duels: Vec<&Duel> = scored.duels.iter().filter(here).collect();
            if duels.is_empty() {
                continue;
            }
            let told = |rival: &&str| balance(&duels, rival);
            let names = [axis.name.clone(), value.label().to_owned()].into_iter();
            rows.push(names.chain(rivals.iter().map(told)).collect());
        }
    }
    (!rows.is_empty()).then(|| Board {
        title: format!(
            "{}: cells in which it is better and worse, and the mean",
            scored.title
        ),
        table: (head, rows),
    })
}

/// Better and worse against `rival`, and the means of both.
fn balance(duels: &[&Duel], rival: &str) -> String {
    use crate::score::ScoreStanding::{Better, Worse};
    let against: Vec<&&Duel> = duels.iter().filter(|duel| duel.rival == rival).collect();
    let count = |standing| {
        against
            .iter()
            .filter(|duel| duel.standing == standing)
            .count()
    };
    let mean = |side: usize| {
        let sum: f64 = against.iter().map(|duel| duel.means[side]).sum();
        number(sum / against.len() as f64)
    };
    if against.is_empty() {
        "–".to_owned()
    } else {
        format!(
            "+{} −{}, {} : {}",
            count(Better),
            count(Worse),
            mean(0),
            mean(1)
        )
    }
}

/// A row for each lost cell, the farthest first.
fn lost(scored: &Scored, axes: &[Axis]) -> Option<Board> {
    let lost = scored.lost();
    let head = axes.iter().map(|axis| axis.name.clone());
    let last = [
        "against".to_owned(),
        format!("worse by, {} (95 %)", scored.unit),
    ];
    let row = |duel: &&Duel| {
        let worse_by: &Estimate = &duel.worse_by;
        let last = [duel.rival.clone(), text(worse_by)];
        duel.cell.iter().cloned().chain(last).collect()
    };
    let shown = lost.len().min(LISTED);
    (shown > 0).then(|| Board {
        title: if lost.len() > shown {
            format!(
                "{}: the {shown} of {} lost that are farthest",
                scored.title,
                lost.len()
            )
        } else {
            format!("{}: lost", scored.title)
        },
        table: (
            head.chain(last).collect(),
            lost[..shown].iter().map(row).collect(),
        ),
    })
}
