//! `analects reproduce`.

use crate::cli::{Printed, ReproduceArgs};
use crate::own;
use crate::runs::engines::with_names;
use crate::runs::many::{self, counted, pool};
use crate::runs::plans::{self, Engines};
use crate::runs::table::plain;
use crate::runs::validity;
use campaign::Keeping;
use command::Refused;
use command::files::unwritable;
use command::print;
use measure::Engine;
use reproduce::budget::RunsBudget;
use reproduce::claim::ClaimVerdict;
use reproduce::experiment::Wants;
use reproduce::page::{self, PageCommand, PageDocument};
use reproduce::{Data, Experiment, Outcome, Wanted, outcome};
use std::fmt::Write as _;
use std::path::Path;
use units::Refusal;

type Result<T> = std::result::Result<T, Refused>;

/// Runs experiments and prints the outcomes of their claims.
pub fn run(args: &ReproduceArgs) -> Result<()> {
    let mut experiments = plans::with_calls(&args.experiments, &args.calls)?;
    if let Some(text) = &args.draw {
        experiments = drawn(experiments, text)?;
    }
    if let Some(file) = &args.runs {
        fix_runs(&mut experiments, file)?;
    }
    if !args.only.is_empty() {
        experiments = only(experiments, &args.only)?;
    }
    for experiment in &mut experiments {
        experiment.written.first_seed = args.seed;
    }
    if let Some(path) = &args.into {
        let takes = page::takes(&read_page(path)?, &experiments);
        takes.map_err(|refusal| no_room(path, refusal))?;
    }
    let data = plans::data();
    // A quick run and a whole one share their common runs.
    let wanted = Wanted {
        quick: args.how.quick,
        data: &data,
    };
    let pool = pool(&args.how.parallel)?;
    let store = many::store(&args.how.store())?;
    let mut engines = Engines::default();
    let mut outcomes = Vec::new();
    for experiment in &experiments {
        let several = experiments.len() > 1;
        let engine = plans::wanted(&args.engine, experiment);
        let Some((chosen, basis)) = engines.for_one_of(several, experiment, &engine)? else {
            continue;
        };
        let keeping = Keeping {
            store: &store,
            basis,
        };
        let outcome = one(&*chosen.engine, experiment, wanted, keeping, &pool)?;
        write_report(&args.how.out, &outcome)?;
        if args.how.format == Printed::Table {
            print(&table(&outcome))?;
        }
        outcomes.push(outcome);
    }
    if let Some(page) = &args.into {
        put_into(page, args, &data, &outcomes)?;
    }
    let invalid: String = outcomes.iter().map(|of| of.invalid.as_str()).collect();
    match args.how.format {
        Printed::Table => print(&(totals(&outcomes) + &what_decides(args, &outcomes))),
        Printed::Markdown => print(&markdown(args, &data, &outcomes)),
        Printed::Json => {
            let document = PageDocument {
                version: own::version_of_results(),
                data: data.described(),
                quick: args.how.quick,
                notes: notes(&outcomes),
                claims: outcomes
                    .iter()
                    .flat_map(|outcome| &outcome.claims)
                    .collect(),
                invalid: invalid.lines().collect(),
            };
            let text = serde_json::to_string_pretty(&document);
            let text = text.map_err(|error| Refused::new(&error.to_string(), "report this"))?;
            print(&(text + "\n"))
        }
    }?;
    validity::refused(&invalid, args.how.strict)
}

/// The experiments, those that draw a sample with one drawn by `text`.
fn drawn(experiments: Vec<Experiment>, text: &str) -> Result<Vec<Experiment>> {
    let help = "leave --draw out, or name an experiment that draws, such as matrix/unseen";
    let refused = |refusal: Refusal| Refused::because(refusal.within("--draw"), help);
    if experiments.iter().all(|one| one.written.draw.is_none()) {
        return Err(refused(Refusal::new(
            "none of the experiments draws its combinations",
        )));
    }
    let experiments = experiments.into_iter();
    let drawn = experiments.map(|one| one.with_draw(text).map_err(refused));
    drawn.collect()
}

/// The parts of the experiments that these names of claims and cases mean.
fn only(experiments: Vec<Experiment>, names: &[String]) -> Result<Vec<Experiment>> {
    let claims = experiments.iter().flat_map(|one| {
        let claims = one.written.claim.iter();
        claims.map(move |claim| format!("{}/{}", one.id, claim.id))
    });
    let claims: Vec<String> = claims.collect();
    for name in names {
        let meant = |one: &Experiment| one.clone().only(std::slice::from_ref(name)).is_some();
        if !experiments.iter().any(meant) {
            let refusal = Refusal::unknown("claim", name, claims.iter().map(String::as_str));
            let help = "name a claim, or a case, of the experiments";
            return Err(Refused::because(refusal.within("--only"), help));
        }
    }
    let parts = experiments.into_iter().filter_map(|one| one.only(names));
    Ok(parts.collect())
}

fn notes(outcomes: &[Outcome<'_>]) -> Vec<String> {
    let said = outcomes.iter().filter_map(|of| {
        let said = of.experiment.said()?;
        Some(format!("{}: {said}", of.experiment.id))
    });
    said.collect()
}

/// Gives each experiment as many seeds as `file` says. Those that need Linux keep theirs: a pilot
/// does not cover them.
fn fix_runs(experiments: &mut [Experiment], file: &Path) -> Result<()> {
    let name = file.display().to_string();
    let help = "make it with `analects pilot`, with the same experiments and --calls";
    let refused = |refusal: Refusal| Refused::because(refusal, help);
    let text = scenario::files::read(file, scenario::files::MAX_SCENARIO)
        .map_err(|reason| refused(Refusal::new(reason).within(&name)))?;
    let runs = RunsBudget::parse(&name, &text)?;
    let planned = |one: &&mut Experiment| one.has_runs() && one.written.engine == Wants::Sim;
    for experiment in experiments.iter_mut().filter(planned) {
        let calls = experiment.calls();
        let seeds = runs.of_experiment(calls, &experiment.id).ok_or_else(|| {
            let message = format!(
                "it does not say how often {} is run with calls {calls}",
                experiment.id
            );
            refused(Refusal::new(message).within(&name))
        })?;
        experiment.written.seeds = seeds;
        experiment.runs_file = Some(name.clone());
    }
    Ok(())
}

/// Runs one experiment with a progress bar, or takes its stored results.
pub fn one<'a>(
    engine: &dyn Engine,
    experiment: &'a Experiment,
    wanted: Wanted<'_>,
    keeping: Keeping<'_>,
    pool: &rayon::ThreadPool,
) -> Result<Outcome<'a>> {
    let outcome = counted(pool, &experiment.id, |bar| {
        with_names(|names| {
            outcome(
                engine,
                names,
                experiment,
                wanted,
                keeping,
                bar,
                own::version_of_results(),
            )
        })
    });
    outcome.map_err(|error| {
        Refused::new(
            &format!("{}: {error}", experiment.id),
            "change the experiment",
        )
    })
}

fn write_report(folder: &Path, outcome: &Outcome<'_>) -> Result<()> {
    let calls = outcome.experiment.calls.as_deref();
    let folder = calls.map_or(folder.to_owned(), |calls| folder.join(calls));
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
    if let Some(sentence) = outcome.experiment.said() {
        _ = writeln!(text, "{sentence}");
    }
    for told in outcome.departures.told() {
        _ = writeln!(text, "{told}.");
    }
    text += &outcome.invalid;
    let lines = outcome
        .claims
        .iter()
        .flat_map(|of| page::lines(of, outcome));
    let rows = lines.map(|line| {
        let [said, check, ours, verdict, note] = line.cells;
        let rest = [check, note].into_iter().filter(|part| !part.is_empty());
        let rest: Vec<String> = rest.map(|part| format!("  {part}")).collect();
        let said = Some(said).filter(|said| !said.is_empty());
        let said: Vec<String> = said.into_iter().chain(rest).collect();
        vec![verdict.replace("**", ""), said.join("\n"), ours]
    });
    let head = ["verdict", "sentence and check", "ours (95 %)"].map(str::to_owned);
    _ = writeln!(text, "\n{}", plain(&head, rows.collect()));
    for board in page::all_boards(outcome) {
        let (head, rows) = board.table;
        _ = writeln!(text, "\n{}\n{}", board.title, plain(&head, rows));
    }
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
    page::told(outcomes.iter().flat_map(|outcome| &outcome.claims)) + "\n"
}

/// The commands that decide what these runs could not; empty if there is nothing. A pilot does not cover
/// experiments that need Linux.
fn what_decides(args: &ReproduceArgs, outcomes: &[Outcome<'_>]) -> String {
    let open = |outcome: &&Outcome<'_>| {
        let mut claims = outcome.claims.iter();
        let untold = claims.any(|claim| claim.verdict == Some(ClaimVerdict::Untold));
        let experiment = outcome.experiment;
        untold && experiment.has_runs() && experiment.written.engine == Wants::Sim
    };
    let open = outcomes.iter().filter(open);
    let mut names: Vec<&str> = open.map(|of| of.experiment.id.as_str()).collect();
    names.dedup();
    if names.is_empty() {
        return String::new();
    }
    if args.experiments.iter().any(|name| plans::is_file(name)) {
        names = args.experiments.iter().map(String::as_str).collect();
    }
    let calls = args.calls.join(",");
    if !calls.is_empty() {
        names.extend(["--calls", &calls]);
    }
    let what = names.join(" ");
    if args.how.quick {
        format!("More runs may decide the last:\n  analects reproduce {what}\n")
    } else {
        format!(
            "More runs may decide the last; a pilot finds out how many of each, for the hours that you have:\n  \
             analects pilot {what} --hours 12 > runs.toml\n  \
             analects reproduce {what} --runs runs.toml\n"
        )
    }
}

/// How a verdict is come by.
const VERDICTS: &str = "A sentence holds if the 95 % intervals of our values lie where its check has them, in each cell \
    or, for \"up to\", in one; it does not hold if they lie outside, and, for a sentence of a paper, the set-up was the paper's. It is not tested \
    if the set-up was another one (or if it would not hold, and the paper does not state all of its set-up), and cannot \
    be told if an interval reaches over an end, if there are too few runs for one, or if among all cells of the \
    experiment it may be chance ([decision 0041](../decisions/0041-claims-and-intervals.md)).";

/// Puts the outcomes into a page, which is made if there is none.
fn put_into(
    path: &Path,
    args: &ReproduceArgs,
    data: &Data,
    outcomes: &[Outcome<'_>],
) -> Result<()> {
    let page = read_page(path)?;
    let top = format!(
        "# What holds\nMade one experiment at a time, with recorded traces and pages unless a part says otherwise; each \
         says by which command and program. What waits is by earlier rules, and has no totals. {VERDICTS}"
    );
    let page = page::with_parts(&page, &markdown(args, data, outcomes), &top);
    let page = page.map_err(|refusal| no_room(path, refusal))?;
    std::fs::write(path, page).map_err(|error| unwritable(path, &error))
}

/// A page as it is; empty if there is none.
fn read_page(path: &Path) -> Result<String> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| unwritable(path, &error)),
    }
}

fn no_room(path: &Path, refusal: Refusal) -> Refused {
    let place = path.display().to_string();
    Refused::because(refusal.within(&place), "make another page")
}

fn markdown(args: &ReproduceArgs, data: &Data, outcomes: &[Outcome<'_>]) -> String {
    let calls = (!args.calls.is_empty()).then(|| args.calls.join(","));
    let runs = args.runs.as_ref().map(|file| file.display().to_string());
    let command = PageCommand {
        experiments: &args.experiments.join(" "),
        draw: args.draw.as_deref(),
        seed: args.seed,
        calls: calls.as_deref(),
        runs: runs.as_deref(),
        only: &args.only,
        quick: args.how.quick,
    };
    let mut text = format!(
        "# What holds\nMade by `{command} --format markdown`, analects {}, with {}. {VERDICTS}\n\n",
        own::version_of_results(),
        data.described()
    );
    text += &page::summary(outcomes);
    for group in page::groups(outcomes) {
        text += "\n";
        text += &match group {
            [outcome] => page::markdown(outcome),
            several => page::beside(several),
        };
    }
    text.trim_end().to_owned() + "\n"
}
