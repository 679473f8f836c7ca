//! `analects run`.

use crate::cli::{Format, RunArgs};
use crate::{table, variants};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::export::{self, Document};
use lab::{Plan, Progress, Run};
use miette::{Context, IntoDiagnostic, LabeledSpan, NamedSource, miette};
use scenario::{Engine, Names, Scenario, ScenarioError};
use sim::Simulator;
use std::sync::Arc;

/// More runs than this are a mistake in a pattern.
const MAX_RUNS: usize = 1_000_000;

/// Runs a scenario and prints what came of it.
pub fn run(args: &RunArgs) -> miette::Result<()> {
    let simulator = engine(&args.engine)?;
    let document = read(args)?;
    let plan = plan(args, &simulator, &document)?;
    let results = execute(args, &simulator, &plan)?;
    let resolved = document.to_json();
    let document_out = Document {
        version: env!("CARGO_PKG_VERSION"),
        engine: simulator.name(),
        scenario: &resolved,
        results: &results,
    };
    if let Some(folder) = &args.out {
        let written = export::folder(folder, &document_out, &document.to_toml());
        written
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", folder.display()))?;
    }
    let scenario = &plan.runs[0].scenario;
    let in_folder = args.out.as_ref().map(|folder| folder.join("report.html"));
    for path in args.report.iter().chain(&in_folder) {
        let html = lab::report::html(scenario, &document_out);
        let written = std::fs::write(path, html);
        written
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", path.display()))?;
    }
    let text = match args.format {
        Format::Table => table::comparison(scenario, &results),
        Format::Json => export::json(&document_out).into_diagnostic()?,
        Format::Csv => export::csv(&results).into_diagnostic()?,
    };
    print(&text)
}

/// Prints; a reader that has gone away, such as `head`, is no error.
pub fn print(text: &str) -> miette::Result<()> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).into_diagnostic()
        }
        _ => Ok(()),
    }
}

fn engine(name: &str) -> miette::Result<Simulator> {
    match name {
        "sim" => Ok(Simulator::default()),
        other => Err(miette!(
            help = "there are: sim",
            "there is no engine {other:?}"
        )),
    }
}

fn read(args: &RunArgs) -> miette::Result<scenario::Document> {
    let file = args.scenario.display().to_string();
    let text = scenario::files::read(&args.scenario).map_err(|reason| {
        miette!(
            help = "name a scenario, such as scenarios/page-during-call.toml",
            "{file}: {reason}"
        )
    })?;
    let mut document = scenario::Document::parse(&file, &text).map_err(diagnostic)?;
    for setting in &args.set {
        let Some((path, value)) = setting.split_once('=') else {
            return Err(miette!(
                help = "write --set link.rate=20mbit",
                "--set {setting:?} sets nothing"
            ));
        };
        document
            .set(path.trim(), value.trim())
            .map_err(diagnostic)?;
    }
    if !args.disciplines.is_empty() {
        document.set_disciplines(&args.disciplines);
    }
    Ok(document)
}

fn plan(
    args: &RunArgs,
    simulator: &Simulator,
    document: &scenario::Document,
) -> miette::Result<Plan> {
    let names = Names {
        discipline: &|choice| simulator.judge_discipline(choice),
        control: &|choice| simulator.judge_control(choice),
    };
    let variants = variants::expand(document, &args.set).map_err(diagnostic)?;
    let drawn = args.out.is_some() || args.report.is_some();
    let mut plan = Plan::default();
    for (index, (variant, document)) in variants.into_iter().enumerate() {
        let scenario: Scenario = document.resolve(&names).map_err(diagnostic)?;
        if let Some(refused) = simulator.check(&scenario).first() {
            let help = "choose another engine, or change the entry";
            return Err(miette!(help = help, "engine sim cannot run {refused}"));
        }
        let scenario = Arc::new(scenario);
        for discipline in &scenario.disciplines {
            for number in 0..args.repeat {
                plan.runs.push(Run {
                    scenario: scenario.clone(),
                    discipline: discipline.clone(),
                    // Each variant has seeds of its own, so that traces do not all see the same pages.
                    seed: args.seed.wrapping_add(index as u64 * args.repeat + number),
                    variant: variant.clone(),
                    // One drawing of each discipline says it all; thousands would fill the disk.
                    series: drawn && index == 0 && number == 0,
                });
                if plan.runs.len() > MAX_RUNS {
                    return Err(miette!("more than {MAX_RUNS} runs"));
                }
            }
        }
    }
    Ok(plan)
}

fn execute(
    args: &RunArgs,
    simulator: &Simulator,
    plan: &Plan,
) -> miette::Result<Vec<scenario::RunResult>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.jobs.unwrap_or(0));
    let pool = pool.build().into_diagnostic()?;
    let bar =
        ProgressBar::with_draw_target(Some(plan.runs.len() as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left");
    bar.set_style(style.into_diagnostic()?);
    bar.tick();
    let results = pool.install(|| lab::run(simulator, plan, &Bar(&bar)));
    bar.finish_and_clear();
    results.map_err(|error| miette!("{error}"))
}

struct Bar<'a>(&'a ProgressBar);

impl Progress for Bar<'_> {
    fn done(&self) {
        self.0.inc(1);
    }
}

/// A scenario's error with the piece of text that it is about.
fn diagnostic(error: ScenarioError) -> miette::Report {
    let Some(span) = error.span.clone().filter(|_| error.set.is_none()) else {
        let place = error.set.clone().unwrap_or_else(|| error.file.clone());
        return miette!(help = error.help, "{place}: {}", error.message);
    };
    let label = LabeledSpan::at(shown(&error.text, span), "here");
    let (file, text) = (error.file.clone(), error.text.clone());
    miette!(
        labels = vec![label],
        help = error.help,
        "{}: {}",
        error.file,
        error.message
    )
    .with_source_code(NamedSource::new(file, text))
}

/// The part of a span that is shown: its first line.
fn shown(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let start = span.start.min(text.len());
    let rest = text.get(start..span.end.min(text.len())).unwrap_or("");
    let line = rest.lines().next().unwrap_or("");
    start..start + line.len()
}
