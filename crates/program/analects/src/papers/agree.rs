//! `analects agree`.

mod evidence;
mod reader;

use crate::cli::{AgreeArgs, Printed, Witness};
use crate::runs::engines::{self, with_names};
use crate::runs::many::{self, counted, pool};
use crate::runs::plans;
use crate::runs::table::plain;
use crate::runs::validity;
use campaign::{Error, Keeping};
use command::Refused;
use command::print;
use report::doubts::MARK;
use reproduce::agreement::{AgreementVerdict, Compared, Row, compare, judged_together};
use reproduce::{Experiment, Wanted};
use std::collections::BTreeSet;

type Result<T> = std::result::Result<T, Refused>;

/// Runs scenarios through the simulator and through Linux, and reports their differences.
pub fn run(args: &AgreeArgs) -> Result<()> {
    let mut experiments = Vec::new();
    for name in &args.scenarios {
        experiments.extend(plans::for_engines(name)?);
    }
    let sim = engines::chosen(&engines::named("sim", None))?;
    let linux = engines::chosen(&engines::named(
        args.engine.name(),
        args.linux.kernel.clone(),
    ))?;
    let bases = [sim.basis()?, linux.basis()?];
    let data = plans::data();
    let wanted = Wanted {
        quick: args.how.quick,
        data: &data,
    };
    // All of them, before an hour is spent on the first.
    for experiment in &experiments {
        let planned = experiment
            .grid(wanted)
            .and_then(|grid| with_names(|names| grid.plan(&*linux.engine, names)));
        planned.map_err(|error| refused(experiment, &error.into()))?;
    }
    let pool = pool(&args.how.parallel)?;
    let store = many::store(&args.how.store())?;
    let with = |place: usize| Keeping {
        store: &store,
        basis: &bases[place],
    };
    let pair = [(&*sim.engine, with(0)), (&*linux.engine, with(1))];
    let mut all = Compared::default();
    for experiment in &experiments {
        let compared = counted(&pool, &experiment.id, |bar| {
            with_names(|names| compare(pair, names, experiment, wanted, bar))
        });
        let compared = compared.map_err(|error| refused(experiment, &error))?;
        all.figures.extend(compared.figures);
        all.pooled.extend(compared.pooled);
        all.invalid.extend(compared.invalid);
    }
    judged_together(&mut all);
    let rows = &all.figures;
    match args.how.format {
        Printed::Table => print(&format!(
            "{}{}\n\n{}\n\n{}\n\n{}\n",
            all.invalid
                .iter()
                .map(|line| format!("{line}\n"))
                .collect::<String>(),
            table(args, &experiments, rows),
            reader::table(args.engine, &all.pooled),
            totals(rows),
            reader::statement(rows)
        )),
        Printed::Markdown => print(&markdown(args, &experiments, &all)),
        Printed::Json => {
            let text = serde_json::to_string_pretty(&all);
            let text = text.map_err(|error| Refused::new(&error.to_string(), "report this"))?;
            print(&(text + "\n"))
        }
    }?;
    validity::refused(&all.invalid.join("\n"), args.how.strict)
}

fn refused(experiment: &Experiment, error: &Error) -> Refused {
    let message = format!("{}: {error}", experiment.id);
    Refused::new(&message, "change the scenario, or the engine")
}

fn totals(rows: &[Row]) -> String {
    let count = |wanted| rows.iter().filter(|row| row.verdict == wanted).count();
    let [agree, differ, open] = [
        AgreementVerdict::Agrees,
        AgreementVerdict::Differs,
        AgreementVerdict::Untold,
    ]
    .map(count);
    let all = rows.len();
    format!("{agree} of {all} figures agree, {differ} differ, {open} cannot be told")
}

/// The columns.
fn head(args: &AgreeArgs) -> [String; 9] {
    let (ours, theirs) = ("sim", args.engine.title());
    [
        "",
        "scenario",
        "discipline",
        "metric",
        ours,
        theirs,
        "difference (95 %)",
        "allowed",
        "evidence of",
    ]
    .map(str::to_owned)
}

/// The places of columns in [`head`] that a table of one scenario has.
const WITHOUT_SCENARIO: [usize; 8] = [0, 2, 3, 4, 5, 6, 7, 8];

/// More seeds than this are not counted: the figure is on the border.
const MANY: u64 = 1000;

fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// `value`, and its interval if there is one.
fn with_interval(value: f64, ci95: Option<(f64, f64)>) -> String {
    let interval = ci95.map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", number(low), number(high))
    });
    number(value) + &interval
}

/// A line of a page's table.
fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The cells of a row; its experiment has `seeds` and traffic of these `kinds`.
fn cells(row: &Row, seeds: u64, kinds: &BTreeSet<&'static str>, witness: Witness) -> [String; 9] {
    let told = match (row.verdict, row.needed) {
        (AgreementVerdict::Agrees, _) => "agrees".to_owned(),
        (AgreementVerdict::Differs, _) => "DIFFERS".to_owned(),
        (AgreementVerdict::Untold, Some(needed)) if needed > MANY => {
            format!("cannot be told; more than {MANY} seeds might")
        }
        (AgreementVerdict::Untold, Some(needed)) => format!("cannot be told; {needed} seeds might"),
        (AgreementVerdict::Untold, None) if row.ci95.is_some() => {
            "may be chance among so many".to_owned()
        }
        (AgreementVerdict::Untold, None) => "cannot be told".to_owned(),
    };
    let fewer = if row.pairs as u64 == seeds {
        String::new()
    } else {
        format!(", of {} seeds", row.pairs)
    };
    let unit = row.unit;
    let mark = if row.invalid { MARK } else { "" };
    [
        told + mark,
        row.scenario.clone(),
        row.case.clone(),
        format!("{} of {}", row.metric, row.of),
        format!("{} {unit}", number(row.ours)),
        format!("{} {unit}", number(row.witness)),
        format!("{}{fewer}", with_interval(row.difference, row.ci95)),
        number(row.allowed),
        evidence::of(row, kinds, witness),
    ]
}

/// The rows of each experiment, with its seeds and kinds of traffic, as cells.
fn by_experiment<'a>(
    args: &'a AgreeArgs,
    experiments: &'a [Experiment],
    rows: &'a [Row],
) -> impl Iterator<Item = (&'a Experiment, Vec<Row>, Vec<[String; 9]>)> {
    experiments.iter().map(|experiment| {
        let own = rows.iter().filter(|row| row.scenario == experiment.id);
        let own: Vec<Row> = own.cloned().collect();
        let kinds = evidence::kinds(&own);
        let seeds = experiment.seeds(args.how.quick);
        let cells = |row| cells(row, seeds, &kinds, args.engine);
        let cells = own.iter().map(cells).collect();
        (experiment, own, cells)
    })
}

fn table(args: &AgreeArgs, experiments: &[Experiment], rows: &[Row]) -> comfy_table::Table {
    let cells = by_experiment(args, experiments, rows).flat_map(|(_, _, cells)| cells);
    plain(&head(args), cells.map(|cells| cells.to_vec()).collect())
}

/// The text above the tables of a page.
const ABOUT: &str = "\
The same scenarios, seeds and disciplines go through both engines, and each figure is that of one \
flow, or of the link. Flows of one entry that differ in nothing but chance are compared by rank, from \
the smallest value of a run up. A difference is the simulator's figure less the other's. Runs are paired by \
seed: a seed gives both engines the same pages, frames and starts, but not the same losses, so pairing \
narrows an interval where pages decide, and does little elsewhere. A figure agrees if the 95 % interval \
of its difference lies within what is allowed, differs if it lies outside, and cannot be told if it \
reaches over a border. Allowed are 3 % of the other's utilization, 10 % of a flow's rate, 15 % of waiting \
times and page load times, and 15 % or 0.1 s of stall. What could be chance among all figures of this \
page cannot be told either (Benjamini and Hochberg), so that of those that are at most one in twenty is \
wrong. A load that the run's end cuts off counts with the time it had. What is zero in all runs of both \
is left out. The last column says what each engine has code of its own for, and so what a row is \
evidence of: encoders, media sessions with their congestion control, browsers and QUIC are the same \
code in both.";

/// A page: each scenario with its findings and figures.
fn markdown(args: &AgreeArgs, experiments: &[Experiment], all: &Compared) -> String {
    let rows = &all.figures;
    let names = args.scenarios.join(" ");
    let quick = if args.how.quick { " --quick" } else { "" };
    let found = totals(rows);
    let (title, engine) = match args.engine {
        Witness::Kernel => ("The simulator beside Linux", ""),
        Witness::Live => ("The simulator beside real sockets", " --engine live"),
    };
    let mut text = format!(
        "# {title}\nMade by `analects agree {names}{engine}{quick} --format markdown`. {found}.\n\n{ABOUT}\n"
    );
    for line in &all.invalid {
        text += &format!("\n**{line}**\n");
    }
    text += &reader::markdown(args.engine, all);
    let line = |cells: &[String]| line(&WITHOUT_SCENARIO.map(|place| cells[place].clone()));
    for (experiment, own, cells) in by_experiment(args, experiments, rows) {
        let (written, seeds) = (&experiment.written, experiment.seeds(args.how.quick));
        let shared = evidence::shared(&evidence::kinds(&own), args.engine);
        text += &format!(
            "\n## {}: {}\n{} {shared} {seeds} seeds: {}.\n\n",
            experiment.id,
            written.title,
            written.about,
            totals(&own)
        );
        text += &line(&head(args));
        text += &line(&head(args).map(|_| "---".to_owned()));
        for row in cells {
            text += &line(&row);
        }
    }
    text
}
