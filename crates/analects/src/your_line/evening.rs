//! An evening on a measured line, simulated: as it is, and behind a shaper.

use super::scenario::{buffer, discipline, rate, worst};
use crate::cli::{Parallel, Shape};
use crate::many::{self, counted, pool};
use crate::{engines, own, run};
use command::Refused;
use command::cells::cells;
use line::client::Way;
use line::measured::{Direction, Measured};
use measure::metric::calls::{RATE, STALL};
use measure::metric::pages::PLT;
use measure::metric::transfers::BULK_RATE;
use scenario::Document;
use serde::Serialize;

/// The part of a line that a shaper before its modem leaves it, down and up, where the line is steady
/// (docs/guide-router-owner.md).
const SHAPED: [f64; 2] = [0.9, 0.95];
/// Where the rate varies, a shaper's rate holds for a part of the time only.
const VARYING: f64 = 0.8;
const RUNS: u64 = 10;
/// What a shaper may have, and what `tc apply` sets of it for what is received.
const CANDIDATES: [[&str; 2]; 3] = [
    ["fq_codel", "fq_codel"],
    ["cake", "cake"],
    ["mencius", "mencius,target=5ms,hold=20ms,ingress=yes"],
];

/// What was simulated.
pub struct Evening {
    /// A row for each set-up.
    pub rows: Vec<Row>,
    /// The same for a reader, with what to do about it.
    pub text: String,
}

/// One set-up's figures: a value, and the ends of its interval.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The discipline, and whether a shaper is before the line.
    pub with: String,
    /// For how long a call stands still, in s of the whole.
    pub stall_s: Option<Figure>,
    /// A call's rate, in Mbit/s.
    pub call_mbit: Option<Figure>,
    /// How long a page takes, in ms.
    pub page_ms: Option<Figure>,
    /// What downloads and uploads carry, in Mbit/s.
    pub bulk_mbit: Option<Figure>,
}

/// A value, and its interval of 95 %.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Figure {
    value: f64,
    ci95: Option<(f64, f64)>,
}

/// Simulates the evening on the line as it is; with `all`, behind a shaper too.
///
/// # Errors
/// If a simulation is refused.
pub fn simulated(found: &Measured, line: &Document, all: bool) -> Result<Evening, Refused> {
    let mut rows = vec![row("as it is", line)?];
    if all {
        for [up, down] in CANDIDATES {
            rows.push(row(&format!("{up}, shaped"), &shaped(found, line, up, down)?)?);
        }
    }
    let mut text = grade(&rows[0]);
    if all {
        text += &table(&rows);
        text += &commands(found);
    }
    Ok(Evening { rows, text })
}

fn row(with: &str, document: &Document) -> Result<Row, Refused> {
    let chosen = engines::simulator();
    let shape = Shape {
        disciplines: Vec::new(),
        set: Vec::new(),
        strict: false,
        without: None,
        seed: 1,
        repeat: Some(RUNS),
    };
    let jobs = run::plan(&shape, &*chosen.engine, document)?;
    let results = counted(&pool(&Parallel { jobs: None })?, with, |bar| {
        campaign::run(&*chosen.engine, &jobs, None, bar)
    });
    let results = results.map_err(many::refused)?;
    let summaries = report::summarize(&results, &own::simulator().metrics);
    let figure = |metric| {
        let estimate = summaries.first()?.get(metric)?;
        Some(Figure {
            value: estimate.value,
            ci95: estimate.ci95,
        })
    };
    Ok(Row {
        with: with.to_owned(),
        stall_s: figure(&STALL),
        call_mbit: figure(&RATE),
        page_ms: figure(&PLT),
        bulk_mbit: figure(&BULK_RATE),
    })
}
