//! `analects run`.

use crate::cli::{Format, RunArgs};
use crate::progress::Bar;
use crate::refused::Refused;
use crate::{engines, resolved, table, variants};
use measure::Engine;
use measure::metric::Registry;
use report::export::{self, Document};
use reproduce::{Plan, Run};
use scenario::{Names, Scenario};
use sim::Simulator;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// More runs than this are a mistake in a pattern.
pub const MAX_RUNS: usize = 1_000_000;

type Result<T> = std::result::Result<T, Refused>;

/// Runs a scenario and prints what came of it.
pub fn run(args: &RunArgs) -> Result<()> {
    // The simulator also knows the names, parameters and defaults that scenarios may use.
    let simulator = Simulator::default();
    let engine = engines::chosen(&args.engine)?;
    let document = read(&args.scenario, &args.set, &args.disciplines)?;
    let plan = plan(args, (&simulator, &*engine), &document)?;
    prepare(args)?;
    let results = execute(args, &*engine, &plan)?;
    let scenario = &plan.runs[0].scenario;
    let completed = document.completed(scenario);
    let resolved = completed.to_json();
    let document_out = Document {
        version: env!("CARGO_PKG_VERSION"),
        engine: engine.name(),
        scenario: &resolved,
        results: &results,
    };
    if let Some(folder) = &args.out {
        let text = resolved::toml(&completed, (&simulator, engine.name()), &plan);
        let written = export::folder(folder, &document_out, &text);
        written.map_err(|error| unwritable(folder, &error))?;
    }
    let metrics = Registry::builtin();
    let in_folder = args.out.as_ref().map(|folder| folder.join("report.html"));
    for path in args.report.iter().chain(&in_folder) {
        let html = report::html(scenario, &document_out, &metrics);
        std::fs::write(path, html).map_err(|error| unwritable(path, &error))?;
    }
    let unprintable = |error: std::io::Error| {
        Refused::new(
            &format!("the results cannot be printed: {error}"),
            "report this",
        )
    };
    let text = match args.format {
        Format::Table => table::comparison(scenario, &results, &metrics),
        Format::Json => export::json(&document_out).map_err(unprintable)?,
        Format::Csv => export::csv(&results).map_err(unprintable)?,
    };
    print(&text)
}

/// Prints; a reader that has gone away, such as `head`, is no error.
pub fn print(text: &str) -> Result<()> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            let message = format!("nothing can be printed: {error}");
            Err(Refused::new(&message, "look at where the output goes"))
        }
        _ => Ok(()),
    }
}

/// The error for something that cannot be written.
pub fn unwritable(path: &Path, error: &dyn Display) -> Refused {
    let message = format!("{} cannot be written: {error}", path.display());
    Refused::new(&message, "name another place, or make room there")
}

/// Finds out before anything runs whether the results can be written.
fn prepare(args: &RunArgs) -> Result<()> {
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    args.report.as_deref().map_or(Ok(()), writable)
}

/// Finds out whether the file can be written.
pub fn writable(report: &Path) -> Result<()> {
    let mut open = std::fs::OpenOptions::new();
    let opened = open.create(true).append(true).open(report);
    opened
        .map(|_| ())
        .map_err(|error| unwritable(report, &error))
}

/// Reads a scenario, with what the command line sets.
pub fn read(path: &Path, set: &[String], disciplines: &[String]) -> Result<scenario::Document> {
    let file = path.display().to_string();
    let read = scenario::files::read(path, scenario::files::MAX_SCENARIO);
    let text = read.map_err(|reason| {
        let help = "name a scenario, such as scenarios/page-during-call.toml";
        Refused::new(&format!("{file}: {reason}"), help)
    })?;
    let mut document = scenario::Document::parse(&file, &text)?;
    for setting in set {
        let Some((path, value)) = setting.split_once('=') else {
            let message = format!("--set {setting}: there is no value");
            return Err(Refused::new(&message, "write --set link.rate=20mbit"));
        };
        document.set(path.trim(), value.trim())?;
    }
    if !disciplines.is_empty() {
        document.set_disciplines(disciplines);
    }
    Ok(document)
}

/// The refusal of a `--without` that is not in the scenario.
pub fn no_traffic(scenario: &Scenario, name: &str) -> Refused {
    let names: Vec<&str> = scenario.traffic.iter().map(|e| e.name.as_str()).collect();
    let message = format!("--without {name}: there is no such traffic");
    Refused::new(&message, &format!("there are: {}", names.join(", ")))
}

fn plan(
    args: &RunArgs,
    (simulator, engine): (&Simulator, &dyn Engine),
    document: &scenario::Document,
) -> Result<Plan> {
    let names = Names {
        discipline: &|choice| simulator.judge_discipline(choice),
        control: &|choice| simulator.judge_control(choice),
    };
    let variants = variants::expand(document, &args.set)?;
    let drawn = args.out.is_some() || args.report.is_some();
    let mut plan = Plan::default();
    for (index, (variant, document)) in variants.into_iter().enumerate() {
        let scenario: Scenario = document.resolve(&names)?;
        if let Some(refused) = engine.check(&scenario).first() {
            let message = format!(
                "engine {} cannot run this: {}",
                engine.name(),
                refused.reason
            );
            let help = "choose another engine, or change the entry";
            return Err(document
                .error_at_path(&refused.entry, &message, help)
                .into());
        }
        if let Some(name) = &args.without
            && !scenario.traffic.iter().any(|entry| entry.name == *name)
        {
            return Err(no_traffic(&scenario, name));
        }
        let scenario = Arc::new(scenario);
        for discipline in &scenario.disciplines {
            for number in 0..args.repeat {
                let run = Run {
                    scenario: scenario.clone(),
                    discipline: discipline.clone(),
                    // Each variant has seeds of its own, so that traces do not all see the same pages.
                    seed: args.seed.wrapping_add(index as u64 * args.repeat + number),
                    variant: variant.clone(),
                    // One drawing of each discipline says it all; thousands would fill the disk.
                    series: drawn && index == 0 && number == 0,
                };
                if let Some(name) = &args.without {
                    plan.runs.push(run.without(name));
                }
                plan.runs.push(run);
                if plan.runs.len() > MAX_RUNS {
                    let message = format!("more than {MAX_RUNS} runs");
                    return Err(Refused::new(&message, "repeat less often"));
                }
            }
        }
    }
    Ok(plan)
}

/// Threads for so many runs at a time.
pub fn pool(jobs: Option<u16>) -> Result<rayon::ThreadPool> {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0) as usize);
    let pool = threads.build();
    pool.map_err(|error| Refused::new(&error.to_string(), "use --jobs 1"))
}

fn execute(args: &RunArgs, engine: &dyn Engine, plan: &Plan) -> Result<Vec<measure::RunResult>> {
    let pool = pool(args.jobs)?;
    let bar = Bar::new(plan.runs.len(), "runs");
    let results = pool.install(|| reproduce::run(engine, plan, &bar));
    bar.clear();
    results.map_err(|error| Refused::new(&error.to_string(), "change this entry"))
}
