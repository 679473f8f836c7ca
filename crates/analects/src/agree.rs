//! `analects agree`.

use crate::campaign::{self, counted, pool};
use crate::cli::{AgreeArgs, Clock, EngineArgs, LinuxArgs, Printed};
use crate::engines::{self, with_names};
use crate::plans;
use crate::refused::Refused;
use crate::run::print;
use crate::table::plain;
use reproduce::agreement::{Row, Verdict, compare};
use reproduce::{Error, Experiment, Keeping, Wanted};

type Result<T> = std::result::Result<T, Refused>;

/// Runs scenarios through the simulator and through Linux, and says where they differ.
pub fn run(args: &AgreeArgs) -> Result<()> {
    let mut experiments = Vec::new();
    for name in &args.scenarios {
        experiments.extend(plans::for_engines(name)?);
    }
    let sim = engines::chosen(&virtually("sim", None))?;
    let linux = engines::chosen(&virtually("kernel", args.linux.kernel.clone()))?;
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
    let store = campaign::store(&args.how.store())?;
    let with = |place: usize| Keeping {
        store: &store,
        basis: &bases[place],
    };
    let pair = [(&*sim.engine, with(0)), (&*linux.engine, with(1))];
    let mut rows = Vec::new();
    for experiment in &experiments {
        let compared = counted(&pool, &experiment.id, |bar| {
            with_names(|names| compare(pair, names, experiment, wanted, bar))
        });
        let compared = compared.map_err(|error| refused(experiment, &error))?;
        eprintln!("{}: {}", experiment.id, totals(&compared));
        rows.extend(compared);
    }
    match args.how.format {
        Printed::Table => print(&format!("{}\n\n{}\n", table(&rows), totals(&rows))),
        Printed::Markdown => print(&markdown(args, &experiments, &rows)),
        Printed::Json => {
            let text = serde_json::to_string_pretty(&rows);
            let text = text.map_err(|error| Refused::new(&error.to_string(), "report this"))?;
            print(&(text + "\n"))
        }
    }
}

/// The engine of this name, and its kernel, in virtual time.
pub fn virtually(name: &str, kernel: Option<String>) -> EngineArgs {
    EngineArgs {
        name: name.to_owned(),
        linux: LinuxArgs { kernel },
        clock: Clock::Virtual,
    }
}

fn refused(experiment: &Experiment, error: &Error) -> Refused {
    let message = format!("{}: {error}", experiment.id);
    Refused::new(&message, "change the scenario, or the engine")
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
    let quick = if args.how.quick { " --quick" } else { "" };
    let all = totals(rows);
    let mut text = format!(
        "# The simulator beside Linux\nMade by `analects agree {names}{quick} --format markdown`: \
         the same scenarios, seeds and disciplines through both engines. Means over seeds; in \
         brackets Linux's own 95 % interval. {all}.\n"
    );
    let line = |cells: &[String]| format!("| {} |\n", cells[..].join(" | "));
    let head = [&HEAD[..1], &HEAD[2..]].concat();
    for experiment in experiments {
        let own = rows.iter().filter(|row| row.scenario == experiment.id);
        let own: Vec<Row> = own.cloned().collect();
        let (written, seeds) = (&experiment.written, experiment.seeds(args.how.quick));
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
