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
use reproduce::evaluation::{self, Agreement, EvaluatedSentence, PublishedPages};
use reproduce::experiment::Wants;
use reproduce::{Experiment, Wanted, registry};
use scenario::{Choice, Scenario};
use serde::Serialize;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use units::Refusal;

type Result<T> = std::result::Result<T, Refused>;

/// Seeds of an experiment at first: all of its seeds follow if there is time.
const FIRST: u64 = 10;
/// No turn is shorter.
const LEAST: Duration = Duration::from_secs(5);

/// Makes a tenth of all claims again, and compares them with the pages.
pub fn run(args: &EvaluateArgs) -> Result<()> {
    let pages = PublishedPages::read(&args.pages).map_err(|error| {
        let message = format!("{} cannot be read: {error}", args.pages.display());
        Refused::new(&message, "name the folder of the pages with --pages")
    })?;
    if !(args.minutes > 0.0 && args.minutes < 1e6) {
        let message = format!("--minutes {}: that is no length of time", args.minutes);
        return Err(Refused::new(&message, "write a number above zero"));
    }
    let experiments = experiments(&args.experiments)?.into_iter();
    let experiments = experiments.map(|one| Ok(evaluation::as_published(one, &pages)?));
    let experiments = experiments.collect::<Result<Vec<Experiment>>>()?;
    let (sentences, parts) = evaluation::drawn(experiments, args.seed);
    let drawn = parts.iter().map(|part| evaluation::sentences(part).len());
    let drawn = drawn.sum();
    let DrawMade { compared, left_out } = made(args, &pages, parts)?;
    let data = plans::data();
    let report = Report {
        version: own::version_of_results(),
        data: data.described(),
        seed: args.seed,
        minutes: args.minutes,
        sentences,
        drawn,
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
    match report.nothing() {
        Some(message) => {
            let help = "the pages of the present experiments are made by `analects reproduce`";
            Err(Refused::failed(&message, help))
        }
        None => Ok(()),
    }
}

/// The experiments that are drawn from, each once.
fn experiments(names: &[String]) -> Result<Vec<Experiment>> {
    let all = registry::names().map(str::to_owned);
    let names: Vec<String> = if names.is_empty() {
        all.collect()
    } else {
        names.to_vec()
    };
    let mut found: Vec<Experiment> = Vec::new();
    for name in names {
        for one in plans::experiments(&name)? {
            let same = |other: &Experiment| (&other.id, &other.text) == (&one.id, &one.text);
            if !found.iter().any(same) {
                found.push(one);
            }
        }
    }
    Ok(found)
}

/// What was drawn of an experiment, and with how many seeds it is made next.
struct EvaluationTurn {
    part: Experiment,
    /// The seeds of its file.
    all: u64,
    done: Vec<EvaluatedSentence>,
}

/// What could not be made of the draw.
#[derive(Debug, Serialize)]
struct NotMade {
    experiment: String,
    sentences: Vec<String>,
    why: String,
}

impl NotMade {
    fn of(part: &Experiment, why: &str) -> NotMade {
        NotMade {
            experiment: part.id.clone(),
            sentences: evaluation::sentences(part),
            why: why.to_owned(),
        }
    }
}

/// What came of the parts.
#[derive(Debug, Default)]
struct DrawMade {
    compared: Vec<EvaluatedSentence>,
    left_out: Vec<NotMade>,
}

impl DrawMade {
    /// What a turn has is all that there is of its part.
    fn close(&mut self, mut turn: EvaluationTurn) {
        if turn.done.is_empty() {
            let left = NotMade::of(&turn.part, "there was no time");
            self.left_out.push(left);
        }
        self.compared.append(&mut turn.done);
    }

    /// A turn failed: what was compared with fewer seeds stays.
    fn failed(&mut self, mut turn: EvaluationTurn, why: &str) {
        let seeds = if turn.done.is_empty() {
            ""
        } else {
            "with all seeds: "
        };
        let left = NotMade::of(&turn.part, &format!("{seeds}{why}"));
        self.left_out.push(left);
        self.compared.append(&mut turn.done);
    }
}

/// Makes the parts in turns, until all are made or the time is over. What a turn made is kept for the next one.
#[expect(clippy::disallowed_methods, reason = "when to stop, not a result")]
fn made(args: &EvaluateArgs, pages: &PublishedPages, parts: Vec<Experiment>) -> Result<DrawMade> {
    let end = Instant::now() + Duration::from_secs_f64(args.minutes * 60.0);
    let store = many::store(&args.out.join("store"))?;
    let pool = many::pool(&args.parallel)?;
    let data = plans::data();
    let wanted = Wanted {
        quick: false,
        data: &data,
    };
    let chosen = engines::chosen(&engines::named("sim", None))?;
    let basis = chosen.basis()?;
    let keeping = Keeping {
        store: &store,
        basis: &basis,
    };
    let mut made = DrawMade::default();
    let mut turns = VecDeque::new();
    for mut part in parts {
        if part.written.engine == Wants::Kernel {
            let left = NotMade::of(&part, "it needs Linux in a virtual machine");
            made.left_out.push(left);
            continue;
        }
        let all = part.written.seeds;
        part.written.seeds = all.min(FIRST);
        let done = Vec::new();
        turns.push_back(EvaluationTurn { part, all, done });
    }
    while let Some(mut turn) = turns.pop_front() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            made.close(turn);
            continue;
        }
        let share = (left / (turns.len() as u32 + 1)).max(LEAST).min(left);
        let until = Until::new(&*chosen.engine, Instant::now() + share);
        match one(&until, &turn.part, wanted, keeping, &pool) {
            Ok(outcome) => turn.done = evaluation::compared(&outcome, pages, turn.all),
            Err(_) if until.has_refused() => {
                turns.push_back(turn);
                continue;
            }
            Err(refused) => {
                made.failed(turn, &refused.to_string());
                continue;
            }
        }
        let is_open =
            |of: &EvaluatedSentence| !matches!(of.agreement, Agreement::Same | Agreement::NoPage);
        if turn.part.written.seeds < turn.all && turn.done.iter().any(is_open) {
            turn.part.written.seeds = turn.all;
            turns.push_back(turn);
        } else {
            made.close(turn);
        }
    }
    made.compared
        .sort_by(|a, b| (a.agreement, &a.id).cmp(&(b.agreement, &b.id)));
    Ok(made)
}

/// An engine that begins no run after a moment.
struct Until<'a> {
    engine: &'a dyn Engine,
    end: Instant,
    /// Whether a run was refused for that: other errors of a turn are its own.
    refused: AtomicBool,
}

impl<'a> Until<'a> {
    fn new(engine: &'a dyn Engine, end: Instant) -> Until<'a> {
        let refused = AtomicBool::new(false);
        Until {
            engine,
            end,
            refused,
        }
    }

    fn has_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

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
            self.refused.store(true, Ordering::Relaxed);
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
    /// Sentences with a verdict.
    sentences: usize,
    /// Those of them that were drawn.
    drawn: usize,
    compared: Vec<EvaluatedSentence>,
    left_out: Vec<NotMade>,
}

impl Report<'_> {
    fn counted(&self, agreement: Agreement) -> usize {
        let compared = self.compared.iter();
        compared.filter(|of| of.agreement == agreement).count()
    }

    /// What there is instead of a comparison, if there is none.
    fn nothing(&self) -> Option<String> {
        let [untested, no_page] =
            [Agreement::Untested, Agreement::NoPage].map(|one| self.counted(one));
        (untested + no_page == self.compared.len()).then(|| {
            format!(
                "nothing of the draw could be compared: of {} sentences {no_page} have no page of the present \
                 experiment, {untested} are not tested here, {} were not made",
                self.drawn,
                self.not_made()
            )
        })
    }

    /// How many of what was drawn were not made.
    fn not_made(&self) -> usize {
        self.drawn.saturating_sub(self.compared.len())
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
        let mut text = format!(
            "Of {} sentences with a verdict, {} were drawn (seed {}), and {} of these made again (at most {} min), \
             with {}, by analects {}.\n",
            self.sentences,
            self.drawn,
            self.seed,
            self.compared.len(),
            self.minutes,
            self.data,
            self.version
        );
        for agreement in Agreement::ALL {
            _ = writeln!(text, "{:>5} {}", self.counted(agreement), agreement.name());
        }
        let unseeded = self.compared.iter().filter(|of| of.seeds.0 == 0).count();
        _ = writeln!(
            text,
            "{unseeded} of them have no runs, which no seed changes: theory, pages, traces."
        );
        let overlaps = self.compared.iter().flat_map(|of| &of.values);
        let overlaps: Vec<bool> = overlaps.filter_map(|value| value.overlap).collect();
        let apart = overlaps.iter().filter(|overlap| !**overlap).count();
        _ = writeln!(
            text,
            "Of {} values with two intervals, {apart} have intervals that do not meet.",
            overlaps.len()
        );
        _ = writeln!(
            text,
            "{} of the sentences drawn were not made.",
            self.not_made()
        );
        for compared in &self.compared {
            told(&mut text, compared);
        }
        for left in &self.left_out {
            let sentences = left.sentences.join(", ");
            _ = write!(
                text,
                "\nnot made: {} ({sentences}): {}\n",
                left.experiment, left.why
            );
        }
        text
    }
}

/// A sentence with its verdicts and values.
fn told(text: &mut String, of: &EvaluatedSentence) {
    let name =
        |verdict: Option<reproduce::claim::ClaimVerdict>| verdict.map_or("–", |one| one.name());
    let seeds = match of.seeds {
        (0, _) => "no runs".to_owned(),
        (seeds, all) => format!("{seeds} of {all} seeds"),
    };
    let page = of.page.as_deref().unwrap_or("no page");
    _ = write!(
        text,
        "\n{}: {}\n  {}\n  {page}: {}; now: {} ({seeds})\n",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::engines::with_names;

    /// Fails whatever it is asked to run.
    struct Failing;

    impl Engine for Failing {
        fn name(&self) -> &'static str {
            "failing"
        }

        fn check(&self, _: &Scenario) -> Vec<Unsupported> {
            Vec::new()
        }

        fn run(
            &self,
            _: &Scenario,
            _: &Choice,
            _: u64,
            _: &mut dyn Sink,
        ) -> std::result::Result<Vec<BuiltLink>, EngineError> {
            Err(EngineError {
                entry: "link".to_owned(),
                refusal: Refusal::new("it fails"),
            })
        }
    }

    struct NoSink;

    impl Sink for NoSink {
        fn event(&mut self, _: units::Instant, _: &measure::Event) {}
    }

    fn part() -> Experiment {
        let found = registry::find("confucius/fig14").unwrap();
        found.into_iter().next().unwrap()
    }

    fn compared() -> EvaluatedSentence {
        EvaluatedSentence {
            id: "e/c".to_owned(),
            sentence: String::new(),
            page: None,
            published: None,
            now: None,
            agreement: Agreement::Open,
            seeds: (10, 30),
            values: Vec::new(),
        }
    }

    /// The time may be over when a run has failed of itself.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "when to stop, not a result")]
    fn only_what_the_time_refused_is_a_matter_of_time() {
        let text = r#"
            duration = "5s"
            disciplines = ["pfifo"]
            link = { rate = "10mbit", rtt = "20ms" }
            traffic = [{ name = "bulk", kind = "bulk" }]
        "#;
        let document = scenario::Document::parse("e.toml", text).unwrap();
        let scenario = with_names(|names| document.resolve(names)).unwrap();
        let choice: Choice = "pfifo".parse().unwrap();
        let run = |until: &Until<'_>| until.run(&scenario, &choice, 1, &mut NoSink);
        let mut until = Until::new(&Failing, Instant::now() + Duration::from_secs(3600));
        assert!(run(&until).is_err());
        until.end = Instant::now();
        assert!(until.is_over() && !until.has_refused());
        assert!(run(&until).is_err());
        assert!(until.has_refused());
    }

    #[test]
    fn what_was_compared_before_a_failure_stays() {
        let turn = |done| EvaluationTurn {
            part: part(),
            all: 30,
            done,
        };
        let mut made = DrawMade::default();
        made.failed(turn(vec![compared()]), "it fails");
        assert_eq!((made.compared.len(), made.left_out.len()), (1, 1));
        assert_eq!(made.left_out[0].why, "with all seeds: it fails");
        made.failed(turn(Vec::new()), "it fails");
        assert_eq!(made.left_out[1].why, "it fails");
    }
}
