//! `analects reproduce`.

use crate::cli::{EngineArgs, Printed, ReproduceArgs};
use crate::engines;
use crate::progress::Bar;
use crate::refused::Refused;
use crate::run::{pool, print, unwritable};
use crate::table::plain;
use measure::Engine;
use reproduce::page::{self, Document};
use reproduce::{Data, Experiment, Options, Outcome, Wants, outcome, registry};
use scenario::Names;
use sim::Simulator;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

type Result<T> = std::result::Result<T, Refused>;

/// Where recorded traces and pages are.
const DATA: &str = "ANALECTS_DATA";

/// Runs experiments and prints what became of their claims.
pub fn run(args: &ReproduceArgs) -> Result<()> {
    let experiments = chosen(&args.experiments)?;
    let folder = std::env::var_os(DATA);
    let data = Data::new(folder.as_deref().map(Path::new));
    let pool = pool(args.jobs)?;
    let mut outcomes = Vec::new();
    for experiment in &experiments {
        let wanted = wanted(&args.engine, experiment);
        let engine = match engines::chosen(&wanted) {
            // Among many, one that cannot be run here is passed over, loudly.
            Err(refused) if experiments.len() > 1 => {
                eprintln!("{} is left out:\n{}", experiment.id, refused.rendered());
                continue;
            }
            engine => engine?,
        };
        let build = build(&wanted)?;
        // A quick run and a whole one share what they have in common.
        let options = Options {
            quick: args.quick,
            data: &data,
            folder: &args.out,
            build: &build,
        };
        let outcome = pool.install(|| one(&*engine, experiment, options))?;
        write_report(&args.out, &outcome)?;
        if args.format == Printed::Table {
            print(&table(&outcome))?;
        }
        outcomes.push(outcome);
    }
    let version = env!("CARGO_PKG_VERSION");
    match args.format {
        Printed::Table => print(&totals(&outcomes)),
        Printed::Markdown => print(&markdown(args, &data, &outcomes)),
        Printed::Json => {
            let document = Document {
                version,
                data: data.described(),
                quick: args.quick,
                claims: outcomes
                    .iter()
                    .flat_map(|outcome| &outcome.claims)
                    .collect(),
            };
            let text = serde_json::to_string_pretty(&document);
            let text = text.map_err(|error| Refused::new(&error.to_string(), "report this"))?;
            print(&(text + "\n"))
        }
    }
}

fn chosen(names: &[String]) -> Result<Vec<Experiment>> {
    let mut experiments = Vec::new();
    for name in names {
        let help = "`analects list experiments` has them all; a file of your own ends in .toml";
        let refused = |error: String| Refused::new(&error, help);
        if name.ends_with(".toml") {
            let path = Path::new(name);
            let text = scenario::files::read(path, scenario::files::MAX_SCENARIO)
                .map_err(|reason| refused(format!("{name}: {reason}")))?;
            let id = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            let id = format!("own/{}", id.unwrap_or_default());
            experiments.push(Experiment::parse(&id, name, &text).map_err(refused)?);
        } else {
            experiments.extend(registry::find(name).map_err(refused)?);
        }
    }
    Ok(experiments)
}

/// The engine that was asked for, unless the experiment wants Linux.
fn wanted(asked: &EngineArgs, experiment: &Experiment) -> EngineArgs {
    let mut wanted = asked.clone();
    if experiment.written.engine == Wants::Kernel {
        "kernel".clone_into(&mut wanted.name);
    }
    wanted
}

/// What distinguishes this program from others: results of another one are not taken for its own.
pub fn build(engine: &EngineArgs) -> Result<String> {
    let unreadable = |error: std::io::Error| {
        let message = format!("what results depend on cannot be read: {error}");
        Refused::new(&message, "start it by its path")
    };
    let path = std::env::current_exe().map_err(unreadable)?;
    let mut hash = DefaultHasher::new();
    let basis = engines::basis(engine)?;
    for file in [path].into_iter().chain(basis.files) {
        hash.write(&std::fs::read(file).map_err(unreadable)?);
    }
    hash.write(basis.name.as_bytes());
    Ok(format!("{:016x}", hash.finish()))
}

fn one<'a>(
    engine: &dyn Engine,
    experiment: &'a Experiment,
    options: Options<'_>,
) -> Result<Outcome<'a>> {
    let simulator = Simulator::default();
    let names: &dyn Names = &simulator;
    let bar = Bar::new(0, &format!("runs of {}", experiment.id));
    let start = |all: usize, missing: usize| {
        if missing < all {
            eprintln!(
                "{}: {} of {all} runs are kept from before",
                experiment.id,
                all - missing
            );
        }
        bar.expect(missing);
    };
    let outcome = outcome(engine, names, experiment, options, start, &bar);
    bar.clear();
    outcome.map_err(|error| {
        Refused::new(
            &format!("{}: {error}", experiment.id),
            "change the experiment",
        )
    })
}

fn write_report(folder: &Path, outcome: &Outcome<'_>) -> Result<()> {
    let folder = folder.join(&outcome.experiment.id);
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| unwritable(&path, &error))
    };
    if let Some(mechanism) = &outcome.mechanism {
        write("mechanism.html", mechanism)?;
    }
    write("report.html", &page::html(outcome))
}

/// The claims and figures of an experiment, for a terminal.
fn table(outcome: &Outcome<'_>) -> String {
    let written = &outcome.experiment.written;
    let mut text = format!(
        "{}: {} ({})\n",
        outcome.experiment.id, written.title, written.paper
    );
    let claims = outcome.claims.iter().map(|claim| {
        let mut statement = claim.statement.clone();
        if !claim.note.is_empty() {
            _ = write!(statement, "\n  {}", claim.note);
        }
        vec![
            claim.verdict.name().to_owned(),
            statement,
            claim.published.clone(),
            page::ours(claim),
        ]
    });
    let head = ["verdict", "claim", "published", "ours (95 %)"].map(str::to_owned);
    _ = writeln!(text, "\n{}", plain(&head, claims.collect()));
    for shown in &outcome.figures {
        let (head, rows) = shown.table();
        _ = writeln!(
            text,
            "\n{} ({})\n{}",
            shown.title,
            shown.axes[1],
            plain(&head, rows)
        );
    }
    text + "\n"
}

fn totals(outcomes: &[Outcome<'_>]) -> String {
    let claims = outcomes.iter().flat_map(|outcome| &outcome.claims);
    let [holds, fails, untested] = page::counts(claims);
    format!("{holds} claims hold, {fails} do not, {untested} cannot be tested\n")
}

fn markdown(args: &ReproduceArgs, data: &Data, outcomes: &[Outcome<'_>]) -> String {
    let names = args.experiments.join(" ");
    let quick = if args.quick { " --quick" } else { "" };
    let mut text = format!(
        "# What holds\nMade by `analects reproduce {names}{quick} --format markdown`, with {}. A claim \
         holds if the 95 % interval of our value (a bootstrap over runs) lies in the range that the \
         claim gives, does not hold if it lies outside, and cannot be tested if it reaches over the \
         range's end.\n\n| experiment | hold | do not | cannot be tested |\n| --- | --- | --- | --- |\n",
        data.described()
    );
    for outcome in outcomes {
        let [holds, fails, untested] = page::counts(outcome.claims.iter());
        let (id, title) = (&outcome.experiment.id, &outcome.experiment.written.title);
        _ = writeln!(text, "| {id}: {title} | {holds} | {fails} | {untested} |");
    }
    for outcome in outcomes {
        text += "\n";
        text += &page::markdown(outcome);
    }
    text.trim_end().to_owned() + "\n"
}
