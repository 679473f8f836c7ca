//! `analects agree`.

use crate::cli::{AgreeArgs, Clock, EngineArgs, Printed};
use crate::engines;
use crate::progress::Bar;
use crate::refused::Refused;
use crate::reproduce::build;
use crate::run::{pool, print};
use crate::table::plain;
use measure::Engine;
use reproduce::agreement::{Row, Verdict, check, compare};
use reproduce::{Data, Error, Experiment, Options, registry};
use sim::Simulator;
use std::path::Path;

type Result<T> = std::result::Result<T, Refused>;

/// Runs scenarios through the simulator and through Linux, and says where they differ.
pub fn run(args: &AgreeArgs) -> Result<()> {
    let mut experiments = Vec::new();
    for name in &args.scenarios {
        let help = "name scenarios of that list, or a folder's with /all";
        let found = registry::find_for_engines(name).map_err(|e| Refused::new(&e, help))?;
        experiments.extend(found);
    }
    let simulator = Simulator::default();
    let [sim, linux] = ["sim", "kernel"].map(|name| EngineArgs {
        name: name.to_owned(),
        kernel: args.kernel.clone(),
        clock: Clock::Virtual,
    });
    let kernel = engines::chosen(&linux)?;
    let data = Data::new(std::env::var_os("ANALECTS_DATA").as_deref().map(Path::new));
    let (sim, linux) = (build(&sim)?, build(&linux)?);
    let options = Options {
        quick: args.quick,
        data: &data,
        folder: &args.out,
        build: &sim,
    };
    // All of them, before an hour is spent on the first.
    for experiment in &experiments {
        let possible = check(&*kernel, &simulator, experiment, options);
        possible.map_err(|error| refused(experiment, &error))?;
    }
    let pool = pool(args.jobs)?;
    let mut rows = Vec::new();
    for experiment in &experiments {
        let compared = pool.install(|| one(&simulator, (&*kernel, &linux), experiment, options))?;
        eprintln!("{}: {}", experiment.id, totals(&compared));
        rows.extend(compared);
    }
    match args.format {
        Printed::Table => print(&format!("{}\n\n{}\n", table(&rows), totals(&rows))),
        Printed::Markdown => print(&markdown(args, &experiments, &rows)),
        Printed::Json => {
            let text = serde_json::to_string_pretty(&rows);
            let text = text.map_err(|error| Refused::new(&error.to_string(), "report this"))?;
            print(&(text + "\n"))
        }
    }
}

fn refused(experiment: &Experiment, error: &Error) -> Refused {
    let message = format!("{}: {error}", experiment.id);
    Refused::new(&message, "change the scenario, or the engine")
}

fn one(
    simulator: &Simulator,
    linux: (&dyn Engine, &str),
    experiment: &Experiment,
    options: Options<'_>,
) -> Result<Vec<Row>> {
    let bar = Bar::new(0, &format!("runs of {}", experiment.id));
    let start = |_: usize, missing: usize| bar.expect(missing);
    let engines: [(&dyn Engine, &str); 2] = [(simulator, options.build), linux];
    let compared = compare(engines, simulator, experiment, options, start, &bar);
    bar.clear();
    compared.map_err(|error| refused(experiment, &error))
}

fn totals(rows: &[Row]) -> String {
    let count = |wanted| rows.iter().filter(|row| row.verdict == wanted).count();
    let (agree, open) = (count(Verdict::Agrees), count(Verdict::Undecided));
    let all = rows.len();
    match open {
        0 => format!("{agree} of {all} figures agree"),
        _ => format!("{agree} of {all} figures agree, and {open} are inside Linux's own interval"),
    }
}

const HEAD: [&str; 7] = [
    "",
    "scenario",
    "discipline",
    "metric",
    "sim",
    "Linux (95 %)",
    "within",
];

fn cells(row: &Row) -> [String; 7] {
    let number = |value: f64| match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    let interval = row.witness_ci95.map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", number(low), number(high))
    });
    let unit = row.unit;
    [
        match row.verdict {
            Verdict::Agrees => "agrees",
            Verdict::Undecided => "in its interval",
            Verdict::Differs => "DIFFERS",
        }
        .to_owned(),
        row.scenario.clone(),
        row.case.clone(),
        row.metric.to_owned(),
        format!("{} {unit}", number(row.ours)),
        format!("{} {unit}{interval}", number(row.witness)),
        row.near.clone(),
    ]
}

fn table(rows: &[Row]) -> comfy_table::Table {
    let rows = rows.iter().map(|row| cells(row).to_vec());
    plain(&HEAD.map(str::to_owned), rows.collect())
}

/// A page: what each scenario is and what was found, with its figures.
fn markdown(args: &AgreeArgs, experiments: &[Experiment], rows: &[Row]) -> String {
    let names = args.scenarios.join(" ");
    let quick = if args.quick { " --quick" } else { "" };
    let all = totals(rows);
    let mut text = format!(
        "# The simulator beside Linux\nMade by `analects agree {names}{quick} --format markdown`: \
         the same scenarios, seeds and disciplines through both engines. Means over seeds; in \
         brackets Linux's own 95 % interval (a bootstrap over runs). {all}.\n"
    );
    let line = |cells: &[String]| format!("| {} |\n", cells[..].join(" | "));
    let head = [&HEAD[..1], &HEAD[2..]].concat();
    for experiment in experiments {
        let own = rows.iter().filter(|row| row.scenario == experiment.id);
        let own: Vec<Row> = own.cloned().collect();
        let (written, seeds) = (&experiment.written, experiment.seeds(args.quick));
        text += &format!(
            "\n## {}: {}\n{}",
            experiment.id, written.title, written.about
        );
        text += &format!(" {seeds} seeds: {}.\n\n", totals(&own));
        text += &line(&head.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>());
        text += &line(&head.iter().map(|_| "---".to_owned()).collect::<Vec<_>>());
        for row in &own {
            let cells = cells(row);
            text += &line(&[&cells[..1], &cells[2..]].concat());
        }
    }
    text
}
