//! `analects evaluate`.

use crate::cli::EvaluateArgs;
use crate::own;
use crate::papers::reproduce::one;
use crate::runs::{engines, many, plans};
use campaign::Keeping;
use command::Refused;
use command::files::unwritable;
use command::print;
use measure::{BuiltLink, Engine, EngineError, Sink, Unsupported, metric};
use reproduce::evaluation::{self, Agreement, Compared, Pages};
use reproduce::experiment::Wants;
use reproduce::{Experiment, Wanted, registry};
use scenario::{Choice, Scenario};
use serde::Serialize;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use units::Refusal;

type Result<T> = std::result::Result<T, Refused>;

/// Seeds of an experiment at first: all of its seeds follow if there is time.
const FIRST: u64 = 10;
/// No turn is shorter.
const LEAST: Duration = Duration::from_secs(5);

/// Makes a tenth of all claims again, and compares them with the pages.
pub fn run(args: &EvaluateArgs) -> Result<()> {
    let pages = Pages::read(&args.pages).map_err(|error| {
        let message = format!("{} cannot be read: {error}", args.pages.display());
        Refused::new(&message, "name the folder of the pages with --pages")
    })?;
    if !(args.minutes > 0.0 && args.minutes < 1e6) {
        let message = format!("--minutes {}: that is no length of time", args.minutes);
        return Err(Refused::new(&message, "write a number above zero"));
    }
    let (sentences, parts) = evaluation::drawn(experiments(&args.experiments)?, args.seed);
    let (compared, left_out) = made(args, &pages, parts)?;
    let data = plans::data();
    let report = Report {
        version: own::version_of_results(),
        data: data.described(),
        seed: args.seed,
        minutes: args.minutes,
        sentences,
        compared,
        left_out,
    };
    report.write(args)?;
    print(&report.text())?;
    let other = report.counted(Agreement::OtherWay);
    if other > 0 {
        let message = format!("{other} verdicts came out the other way");
        let help =
            "the report has them; more seeds of one: analects reproduce --only CLAIM --seed N";
        return Err(Refused::failed(&message, help));
    }
    Ok(())
}

/// The experiments that are drawn from.
fn experiments(names: &[String]) -> Result<Vec<Experiment>> {
    let all = registry::names().map(str::to_owned);
    let names: Vec<String> = if names.is_empty() {
        all.collect()
    } else {
        names.to_vec()
    };
    let mut found = Vec::new();
    for name in names {
        found.extend(plans::experiments(&name)?);
    }
    Ok(found)
}

/// What was drawn of an experiment, and with how many seeds it is made next.
struct Turn {
    part: Experiment,
    /// The seeds of its file.
    all: u64,
    done: Vec<Compared>,
}

/// What could not be made of the draw.
#[derive(Debug, Serialize)]
struct LeftOut {
    experiment: String,
    claims: Vec<String>,
    why: String,
}

impl LeftOut {
    fn of(part: &Experiment, why: &str) -> LeftOut {
        let claims = part.written.claim.iter();
        LeftOut {
            experiment: part.id.clone(),
            claims: claims.map(|claim| claim.id.clone()).collect(),
            why: why.to_owned(),
        }
    }
}

/// Makes the parts in turns, until all are made or the time is over. What a turn made is kept for the next one.
#[expect(clippy::disallowed_methods, reason = "when to stop, not a result")]
fn made(
    args: &EvaluateArgs,
    pages: &Pages,
    parts: Vec<Experiment>,
) -> Result<(Vec<Compared>, Vec<LeftOut>)> {
    let end = Instant::now() + Duration::from_secs_f64(args.minutes * 60.0);
    let store = many::store(&args.out.join("store"))?;
    let pool = many::pool(&args.parallel)?;
    let data = plans::data();
    let wanted = Wanted {
        quick: false,
        data: &data,
    };
    let chosen = engines::chosen(&engines::virtually("sim", None))?;
    let basis = chosen.basis()?;
    let keeping = Keeping {
        store: &store,
        basis: &basis,
    };
    let (mut compared, mut left_out) = (Vec::new(), Vec::new());
    let mut turns = VecDeque::new();
    for mut part in parts {
        if part.written.engine == Wants::Kernel {
            left_out.push(LeftOut::of(&part, "it needs Linux in a virtual machine"));
            continue;
        }
        let all = part.written.seeds;
        part.written.seeds = all.min(FIRST);
        let done = Vec::new();
        turns.push_back(Turn { part, all, done });
    }
    while let Some(mut turn) = turns.pop_front() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            if turn.done.is_empty() {
                left_out.push(LeftOut::of(&turn.part, "there was no time"));
            }
            compared.append(&mut turn.done);
            continue;
        }
        let share = (left / (turns.len() as u32 + 1)).max(LEAST).min(left);
        let until = Until {
            engine: &*chosen.engine,
            end: Instant::now() + share,
        };
        match one(&until, &turn.part, wanted, keeping, &pool) {
            Ok(outcome) => turn.done = evaluation::compared(&outcome, pages, turn.all),
            Err(_) if until.is_over() => {
                turns.push_back(turn);
                continue;
            }
            Err(refused) => {
                left_out.push(LeftOut::of(&turn.part, &refused.to_string()));
                continue;
            }
        }
        let is_open = |of: &Compared| !matches!(of.agreement, Agreement::Same | Agreement::NoPage);
        if turn.part.written.seeds < turn.all && turn.done.iter().any(is_open) {
            turn.part.written.seeds = turn.all;
            turns.push_back(turn);
        } else {
            compared.append(&mut turn.done);
        }
    }
    compared.sort_by(|a, b| (a.agreement, &a.id).cmp(&(b.agreement, &b.id)));
    Ok((compared, left_out))
}

/// An engine that begins no run after a moment.
struct Until<'a> {
    engine: &'a dyn Engine,
    end: Instant,
}

impl Until<'_> {
    #[expect(clippy::disallowed_methods, reason = "when to stop, not a result")]
    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

impl Engine for Until<'_> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn metrics(&self) -> metric::Registry {
        self.engine.metrics()
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        self.engine.check(scenario)
    }

    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> std::result::Result<Vec<BuiltLink>, EngineError> {
        if self.is_over() {
            let refusal = Refusal::new("the time for it is over");
            let entry = "duration".to_owned();
            return Err(EngineError { entry, refusal });
        }
        self.engine.run(scenario, discipline, seed, sink)
    }
}

/// What came of an evaluation.
#[derive(Debug, Serialize)]
struct Report<'a> {
    version: &'a str,
    data: &'a str,
    seed: u64,
    minutes: f64,
    /// Sentences with a verdict, of which a tenth was drawn.
    sentences: usize,
    compared: Vec<Compared>,
    left_out: Vec<LeftOut>,
}

impl Report<'_> {
    fn counted(&self, agreement: Agreement) -> usize {
        let compared = self.compared.iter();
        compared.filter(|of| of.agreement == agreement).count()
    }

    fn write(&self, args: &EvaluateArgs) -> Result<()> {
        let json = serde_json::to_string_pretty(self);
        let json = json.map_err(|error| Refused::new(&error.to_string(), "report this"))?;
        for (name, text) in [("report.json", json + "\n"), ("report.txt", self.text())] {
            let path = args.out.join(name);
            std::fs::write(&path, text).map_err(|error| unwritable(&path, &error))?;
        }
        Ok(())
    }

    /// The report to read.
    fn text(&self) -> String {
        let left_out: usize = self.left_out.iter().map(|of| of.claims.len()).sum();
        let mut text = format!(
            "Of {} sentences with a verdict, {} of a drawn tenth were made again (seed {}, at most {} min), with {}, \
             by analects {}.\n",
            self.sentences,
            self.compared.len(),
            self.seed,
            self.minutes,
            self.data,
            self.version
        );
        for agreement in Agreement::ALL {
            _ = writeln!(text, "{:>5} {}", self.counted(agreement), agreement.name());
        }
        let overlaps = self.compared.iter().flat_map(|of| &of.values);
        let overlaps: Vec<bool> = overlaps.filter_map(|value| value.overlap).collect();
        let apart = overlaps.iter().filter(|overlap| !**overlap).count();
        _ = writeln!(
            text,
            "Of {} values with two intervals, {apart} have intervals that do not meet.",
            overlaps.len()
        );
        _ = writeln!(text, "{left_out} checks could not be made.");
        for compared in &self.compared {
            told(&mut text, compared);
        }
        for left in &self.left_out {
            let claims = left.claims.join(", ");
            _ = write!(
                text,
                "\nnot made: {} ({claims}): {}\n",
                left.experiment, left.why
            );
        }
        text
    }
}

/// A sentence with its verdicts and values.
fn told(text: &mut String, of: &Compared) {
    let name =
        |verdict: Option<reproduce::claim::ClaimVerdict>| verdict.map_or("–", |one| one.name());
    let (seeds, all) = of.seeds;
    let page = of.page.as_deref().unwrap_or("no page");
    _ = write!(
        text,
        "\n{}: {}\n  {}\n  {page}: {}; now: {} ({seeds} of {all} seeds)\n",
        of.agreement.name(),
        of.id,
        of.sentence,
        name(of.published),
        name(of.now)
    );
    for value in &of.values {
        let apart = match value.overlap {
            Some(false) => "; the intervals do not meet",
            _ => "",
        };
        _ = writeln!(
            text,
            "    {}: {}; now {}{apart}",
            value.of, value.published, value.now
        );
    }
}
