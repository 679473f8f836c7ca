//! `analects run`.

use crate::cli::{Format, RunArgs, ScenarioArgs, Shape};
use crate::compare::{variants, why};
use crate::own;
use crate::runs::engines::{self, with_names};
use crate::runs::many::{self, counted, pool};
use crate::runs::so_far::SoFar;
use crate::runs::{left_out, recording, resolved, table, traces, validity};
use campaign::{Case, Cell, Grid, Job, Keeping, Trace};
use command::Refused;
use command::files::{distinct, unwritable, writable, writable_folder};
use command::{print, renamed};
use measure::{Engine, RunResult};
use report::export::{self, ExportDocument};
use scenario::{CAPACITIES, Names, Scenario};
use std::path::{Path, PathBuf};

/// More runs than this are a mistake in a pattern.
const MAX_RUNS: u64 = 1_000_000;

type Result<T> = std::result::Result<T, Refused>;

/// Runs a scenario and prints the results.
pub fn run(args: &RunArgs) -> Result<()> {
    let (what, printing) = (&args.what, &args.printing);
    let chosen = engines::chosen(&what.engine)?;
    let engine = &*chosen.engine;
    let metrics = &own::simulator().metrics;
    let document = read(&what.scenario, &what.shape)?;
    let drawn = args.out.is_some() || printing.report.is_some();
    let looked_at = drawn || args.why;
    let once = args.recording.is_asked_for().then_some(1);
    let shape = Shape {
        repeat: what.shape.repeat.or(once),
        ..what.shape.clone()
    };
    let mut jobs = plan(&shape, engine, &document)?;
    // With one run of each discipline it is known before which ones are looked at.
    let once_each = jobs.len() == whole(&jobs).disciplines.len();
    if looked_at && (once_each || !chosen.does_the_same_again) {
        jobs.iter_mut().for_each(|job| job.series = true);
    }
    let columns = table::wanted(&args.columns, metrics, whole(&jobs))
        .map_err(|refusal| Refused::because(refusal, "see `analects list metrics`"))?;
    let (out, page_to) = (args.out.as_deref(), printing.report.as_deref());
    prepare(&what.scenario, out, page_to)?;
    let recorders = recording::attach(&args.recording, &mut jobs, &others(args))?;
    let scenario = whole(&jobs);
    let kept = many::kept(store(what, out).as_deref(), &chosen)?;
    let keeping = kept.as_ref().map(|(store, basis)| Keeping { store, basis });
    let pool = pool(&what.parallel)?;
    let table = |results: &[RunResult]| {
        table::comparison(scenario, results, metrics, &columns, args.by_entry)
    };
    let results = counted(&pool, &scenario.name, |bar| {
        if !args.watch {
            return campaign::run(engine, &jobs, keeping, bar);
        }
        let so_far = SoFar::new(bar, &jobs, &table);
        let results = campaign::run(engine, &jobs, keeping, &so_far);
        so_far.clear();
        results
    });
    let mut results = results.map_err(many::refused)?;
    let mut tried = None;
    if looked_at {
        why::look_closer(engine, &jobs, keeping, &pool, &mut results)?;
        why::forget_others(&mut results);
    }
    if args.why && chosen.is_quick {
        tried = Some(why::try_causes(engine, &jobs, &pool, &mut results)?);
    }
    let completed = document.completed(scenario);
    let resolved = completed.to_json();
    let document_out = ExportDocument {
        version: own::version_of_results(),
        engine: engine.name(),
        scenario: &resolved,
        results: &results,
    };
    if let Some(folder) = &args.out {
        let text = resolved::toml(&completed, scenario, engine.name(), &jobs);
        let written = export::folder(folder, &document_out, &text);
        written.map_err(|error| unwritable(folder, &error))?;
    }
    if drawn {
        draw(args, scenario, &document_out)?;
    }
    let unprintable = |error: std::io::Error| {
        Refused::new(
            &format!("the results cannot be printed: {error}"),
            "report this",
        )
    };
    let text = match printing.format {
        Format::Table => {
            let why = args.why.then(|| why::text(&results, tried));
            table(&results) + &why.unwrap_or_default()
        }
        Format::Json => export::json(&document_out).map_err(unprintable)?,
        Format::Csv => export::csv(&results).map_err(unprintable)?,
    };
    print(&text)?;
    recording::complete(&recorders)?;
    validity::checked(&results, what.shape.strict)
}

/// Writes the report, and its plots if there is a folder.
fn draw(args: &RunArgs, scenario: &Scenario, results: &ExportDocument<'_>) -> Result<()> {
    let page = report::html(scenario, results, &own::simulator().metrics);
    let in_folder = args.out.as_ref().map(|folder| folder.join("report.html"));
    for path in args.printing.report.iter().chain(&in_folder) {
        std::fs::write(path, &page.html).map_err(|error| unwritable(path, &error))?;
    }
    if let Some(folder) = args.out.as_ref().map(|folder| folder.join(export::PLOTS)) {
        let written = report::plots::write(&folder, &page.drawings);
        written.map_err(|error| unwritable(&folder, &error))?;
    }
    Ok(())
}

/// Files that the command line names in addition to those of runs.
fn others(args: &RunArgs) -> Vec<&Path> {
    let report = args.printing.report.as_deref();
    [Some(&*args.what.scenario), report]
        .into_iter()
        .flatten()
        .collect()
}

/// Checks before any run whether the results can be written to these places.
pub fn prepare(scenario: &Path, out: Option<&Path>, report: Option<&Path>) -> Result<()> {
    let in_folder =
        out.map(|folder| ["scenario.toml", "report.html"].map(|name| folder.join(name)));
    let report_to = report.map(Path::to_owned);
    let written: Vec<PathBuf> = in_folder.into_iter().flatten().chain(report_to).collect();
    distinct(Some(scenario), &written)?;
    out.map_or(Ok(()), writable_folder)?;
    report.map_or(Ok(()), writable)
}

/// Where results are kept as they come: in the store that was named, or within the output folder,
/// so that an interrupted command can continue.
pub fn store(what: &ScenarioArgs, out: Option<&Path>) -> Option<PathBuf> {
    let within = || Some(out?.join("store"));
    what.store.clone().or_else(within)
}

/// Reads a scenario, with the settings of the command line.
pub fn read(path: &Path, shape: &Shape) -> Result<scenario::Document> {
    let mut document = parse(path)?;
    set(&mut document, &shape.set)?;
    if !shape.disciplines.is_empty() {
        document.set_disciplines(&shape.disciplines);
    }
    Ok(document)
}

/// Sets what `--set` says, each `KEY=VALUE`.
pub fn set(document: &mut scenario::Document, settings: &[String]) -> Result<()> {
    check_capacities(settings)?;
    for setting in settings {
        let Some((path, value)) = setting.split_once('=') else {
            let message = format!("--set {setting}: there is no value");
            return Err(Refused::new(&message, "write --set link.rate=20mbit"));
        };
        document.set(path.trim(), value.trim())?;
    }
    Ok(())
}

/// Refuses two settings if the second would override the first.
fn check_capacities(set: &[String]) -> Result<()> {
    let link = |setting: &str| {
        let (path, _) = setting.split_once('=')?;
        let (link, key) = path.trim().rsplit_once('.')?;
        CAPACITIES
            .contains(&key)
            .then(|| (link.to_owned(), key.to_owned()))
    };
    let mut known: Vec<(String, String)> = Vec::new();
    for (link, key) in set.iter().filter_map(|setting| link(setting)) {
        if let Some((_, other)) = known.iter().find(|of| of.0 == link && of.1 != key) {
            let message =
                format!("--set {link}.{key}: --set {link}.{other} says what it can carry");
            return Err(Refused::new(&message, "set one of them"));
        }
        known.push((link, key));
    }
    Ok(())
}

/// Reads a scenario as it is written.
pub fn parse(path: &Path) -> Result<scenario::Document> {
    let file = path.display().to_string();
    let read = scenario::files::read(path, scenario::files::MAX_SCENARIO);
    let text = read.map_err(|reason| {
        let help = "name a scenario, such as scenarios/page-during-call.toml";
        Refused::new(&format!("{file}: {reason}"), help)
    })?;
    Ok(scenario::Document::parse(&file, &text)?)
}

/// Refuses a `--without` that is not in the scenario.
pub fn check_without(shape: &Shape, scenario: &Scenario) -> Result<()> {
    let mut names = scenario.traffic.iter().map(|entry| entry.name.as_str());
    match &shape.without {
        Some(name) if !names.clone().any(|other| other == name) => {
            let message = format!("--without {name}: there is no such traffic");
            let names: Vec<&str> = names.by_ref().collect();
            Err(Refused::new(
                &message,
                &format!("there are: {}", names.join(", ")),
            ))
        }
        _ => Ok(()),
    }
}

/// Refuses more runs than can be intended.
pub fn check_count(runs: u64) -> Result<()> {
    if runs <= MAX_RUNS {
        return Ok(());
    }
    let message = format!("{runs} runs are more than {MAX_RUNS}");
    let help = "give fewer values or traces, or repeat less";
    Err(Refused::new(&message, help))
}

/// The whole scenario: a control run's lacks the traffic that it leaves out.
fn whole(jobs: &[Job]) -> &Scenario {
    let whole = jobs.iter().find(|job| job.without().is_none());
    &whole.unwrap_or(&jobs[0]).scenario
}

/// Says which settings of its disciplines were called by a former name.
pub fn tell_renamed(scenario: &Scenario) {
    let known = &own::simulator().disciplines;
    let choices = scenario.every_discipline();
    renamed(choices.flat_map(|choice| known.renamed(choice).1));
}

/// The jobs of a scenario that is run with `shape`.
pub fn plan(shape: &Shape, engine: &dyn Engine, document: &scenario::Document) -> Result<Vec<Job>> {
    with_names(|names| {
        let grid = grid(shape, engine, document, names)?;
        check_count(grid.jobs())?;
        Ok(grid.plan(engine, names)?)
    })
}

fn grid(
    shape: &Shape,
    engine: &dyn Engine,
    document: &scenario::Document,
    names: &dyn Names,
) -> Result<Grid> {
    let mut base = document.clone();
    let traces = traces::readable(Trace::all(&mut base)?, shape.strict)?;
    let mut first = base.clone();
    if let Some(Some(trace)) = traces.first() {
        trace.set_in(&mut first)?;
    }
    let scenario = first.resolve(names)?;
    tell_renamed(&scenario);
    left_out::tell(&scenario.incomplete, shape.strict)?;
    traces::tell(&first, &traces);
    check_without(shape, &scenario)?;
    let cases = scenario.disciplines.iter();
    Ok(Grid {
        base,
        cases: cases
            .map(|choice| Case::plain(&choice.to_string()))
            .collect(),
        cells: vec![Cell::default()],
        traces,
        seeds: (shape.seed, shape.repeats(engine.name())),
        without: shape.without.clone(),
        common: variants::set(&shape.set),
    })
}
