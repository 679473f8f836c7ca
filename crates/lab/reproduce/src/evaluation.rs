//! Whether pages say what runs of today say: a part of all claims, drawn and made again, beside the pages.

mod pages;

pub use pages::{PublishedPages, PublishedRow};

use crate::claim::{ClaimVerdict, Judged, Speaker};
use crate::page::{ClaimLine, lines};
use crate::{Experiment, Outcome};
use pages::cell;
use scenario::ScenarioError;
use serde::Serialize;
use units::random::Stream;

/// One in so many sentences is drawn.
pub const ONE_IN: usize = 10;
/// Seeds from here on: no page has them.
const FRESH: u64 = 1000;
/// The largest seed of a draw: seeds of its runs stay far below the largest number.
pub const MOST: u64 = 1_000_000_000_000;

/// The experiment with the calls that its page is of, if it has one.
///
/// # Errors
/// If it cannot have the page's calls.
pub fn as_published(
    experiment: Experiment,
    pages: &PublishedPages,
) -> Result<Experiment, ScenarioError> {
    let section = pages.section(&experiment);
    match section.and_then(pages::Section::calls) {
        Some(calls) => experiment.with_calls(calls),
        None => Ok(experiment),
    }
}

/// The names of an experiment's sentences that have a verdict.
pub fn sentences(experiment: &Experiment) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for claim in &experiment.written.claim {
        // What a paper says of its recordings has none.
        let judged = claim.kind() != Speaker::Data;
        let sentence = claim.sentence().to_owned();
        if judged && !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

/// How many sentences have a verdict, and those experiments that have one in [`ONE_IN`] of them, drawn by `seed` (at
/// most [`MOST`]), each with nothing else and with seeds that no page has.
pub fn drawn(experiments: Vec<Experiment>, seed: u64) -> (usize, Vec<Experiment>) {
    let seed = seed.min(MOST);
    let mut sentences: Vec<(usize, String)> = Vec::new();
    for (place, experiment) in experiments.iter().enumerate() {
        let here = self::sentences(experiment).into_iter();
        sentences.extend(here.map(|sentence| (place, sentence)));
    }
    let all = sentences.len();
    let mut chance = Stream::new(seed, "evaluation");
    for place in (1..sentences.len()).rev() {
        let other = chance.below(place as u64 + 1) as usize;
        sentences.swap(place, other);
    }
    sentences.truncate(all.div_ceil(ONE_IN));
    let first = FRESH * (seed + 1) + 1;
    let part = |(place, experiment): (usize, Experiment)| {
        let mut here = sentences.iter().filter(|(of, _)| *of == place).peekable();
        here.peek()?;
        let names: Vec<String> = here
            .map(|(_, sentence)| format!("{}/{sentence}", experiment.id))
            .collect();
        let mut part = experiment.only(&names)?;
        part.written.first_seed = first;
        Some(part)
    };
    let parts = experiments.into_iter().enumerate().filter_map(part);
    (all, parts.collect())
}

/// What the page and the new runs say of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// One says that it holds, the other that it does not.
    OtherWay,
    /// The same verdict.
    Same,
    /// Only one of them decides it.
    Open,
    /// Neither of them decides it, for two reasons.
    Neither,
    /// Runs here could not test it, and the page's did: the recordings are not here.
    Untested,
    /// No page has the sentence, or it was made of another text of the experiment.
    NoPage,
}

impl Agreement {
    /// All, in the order in which they are told.
    pub const ALL: [Agreement; 6] = [
        Agreement::OtherWay,
        Agreement::Same,
        Agreement::Open,
        Agreement::Neither,
        Agreement::Untested,
        Agreement::NoPage,
    ];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::OtherWay => "the other way",
            Agreement::Same => "the same verdict",
            Agreement::Open => "decided by one of both only",
            Agreement::Neither => "decided by neither",
            Agreement::Untested => "not tested here, without the page's recordings",
            Agreement::NoPage => "no page of the present experiment has it",
        }
    }
}

/// A sentence that was made again.
#[derive(Debug, Clone, Serialize)]
pub struct EvaluatedSentence {
    /// Its name: experiment and claim.
    pub id: String,
    /// What it says.
    pub sentence: String,
    /// The file of its page.
    pub page: Option<String>,
    /// The page's verdict.
    pub published: Option<ClaimVerdict>,
    /// The verdict of the new runs.
    pub now: Option<ClaimVerdict>,
    /// What they say of each other.
    pub agreement: Agreement,
    /// Seeds of the new runs, and of the experiment; none if it has no runs, whose verdict no seed can change.
    pub seeds: (u64, u64),
    /// The values of its checks and their cells.
    pub values: Vec<EvaluatedValue>,
}

/// A value of a check or of one of its cells.
#[derive(Debug, Clone, Serialize)]
pub struct EvaluatedValue {
    /// The check, or the cell; if there are several checks, the name of the cell's before it.
    pub of: String,
    /// As the page has it, with its interval.
    pub published: String,
    /// As the new runs have it.
    pub now: String,
    /// Whether the intervals have something in common; null if one has none.
    pub overlap: Option<bool>,
}

/// The sentences of an experiment's outcome beside its page; `all` are the seeds of the experiment.
pub fn compared(outcome: &Outcome<'_>, pages: &PublishedPages, all: u64) -> Vec<EvaluatedSentence> {
    let judged = outcome.claims.iter().filter(|of| of.kind != Speaker::Data);
    judged.map(|of| one(of, outcome, pages, all)).collect()
}

fn one(
    judged: &Judged,
    outcome: &Outcome<'_>,
    pages: &PublishedPages,
    all: u64,
) -> EvaluatedSentence {
    let experiment = outcome.experiment;
    // A page of other calls says nothing of these.
    let section = pages
        .section(experiment)
        .filter(|section| section.calls() == experiment.calls.as_deref());
    let now = lines(judged, outcome);
    let said = now.first().map_or("", |line| line.cells[0].as_str());
    let rows = section
        .map(|section| section.rows(said))
        .unwrap_or_default();
    let published = rows.first().and_then(|row| row.verdict());
    EvaluatedSentence {
        id: judged.id.clone(),
        sentence: judged.sentence.clone(),
        page: section
            .filter(|_| !rows.is_empty())
            .map(|of| of.file.clone()),
        published,
        now: judged.verdict,
        agreement: agreement(published, judged.verdict),
        seeds: if outcome.runs == 0 {
            (0, 0)
        } else {
            (outcome.seeds, all)
        },
        values: values(&now, &rows),
    }
}

/// The values of the lines of a sentence beside those in its rows on a page.
fn values(now: &[ClaimLine], rows: &[&PublishedRow]) -> Vec<EvaluatedValue> {
    let rows = named(now, rows);
    let several = now.first().is_some_and(|line| line.of == [None, None]);
    let value = |line: &ClaimLine| {
        let name = line.of.each_ref().map(Option::as_deref);
        let (_, row) = rows.iter().find(|(of, _)| *of == name)?;
        let (published, now) = (row.ours.clone(), line.cells[2].clone());
        let overlap = match [interval(&published), interval(&now)] {
            [Some((a, b)), Some((c, d))] => Some(a <= d && c <= b),
            _ => None,
        };
        let of = match name {
            [Some(check), Some(cell)] if several => format!("{check}, {cell}"),
            _ => line.cells[1].clone(),
        };
        (!now.is_empty()).then_some(EvaluatedValue {
            of,
            published,
            now,
            overlap,
        })
    };
    now.iter().filter_map(value).collect()
}

/// The rows of a sentence on a page, each with the check and the cell that it is of: two checks over one axis have
/// cells of the same label. Checks stand there in the order of `now`, each above its cells.
fn named<'r>(
    now: &'r [ClaimLine],
    rows: &[&'r PublishedRow],
) -> Vec<([Option<&'r str>; 2], &'r PublishedRow)> {
    let heads = now.iter().filter(|line| line.of[1].is_none());
    let mut heads = heads.peekable();
    let mut check = None;
    let name = |row: &&'r PublishedRow| {
        let head = heads.next_if(|head| cell(&head.cells[1]) == row.check);
        if let Some(head) = head {
            check = head.of[0].as_deref();
        }
        let of = head.is_none().then_some(row.check.as_str());
        ([check, of], *row)
    };
    rows.iter().map(name).collect()
}

fn agreement(published: Option<ClaimVerdict>, now: Option<ClaimVerdict>) -> Agreement {
    use ClaimVerdict::{Fails, Holds, Untested};
    match (published, now) {
        (None, _) => Agreement::NoPage,
        (Some(Holds), Some(Fails)) | (Some(Fails), Some(Holds)) => Agreement::OtherWay,
        (Some(page), Some(now)) if page == now => Agreement::Same,
        (Some(Holds | Fails), Some(Untested)) => Agreement::Untested,
        (Some(Holds | Fails), _) | (_, Some(Holds | Fails)) => Agreement::Open,
        _ => Agreement::Neither,
    }
}

/// The ends of an interval in a cell such as `1.43 (0.84 to 2.22) %` or `1.2 (0.1 or more)`: no page has one that is
/// open below.
fn interval(cell: &str) -> Option<(f64, f64)> {
    let (_, inner) = cell.split_once('(')?;
    let (inner, _) = inner.split_once(')')?;
    if let Some(low) = inner.strip_suffix(" or more") {
        return Some((low.trim().parse().ok()?, f64::INFINITY));
    }
    let (low, high) = inner.split_once(" to ")?;
    Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_contrary_verdicts_are_the_other_way() {
        use ClaimVerdict::{Fails, Holds, Untested, Untold};
        for (published, now, expected) in [
            (Some(Holds), Holds, Agreement::Same),
            (Some(Untold), Untold, Agreement::Same),
            (Some(Holds), Fails, Agreement::OtherWay),
            (Some(Fails), Holds, Agreement::OtherWay),
            (Some(Fails), Untold, Agreement::Open),
            (Some(Untold), Holds, Agreement::Open),
            (Some(Untested), Fails, Agreement::Open),
            (Some(Untested), Untold, Agreement::Neither),
            (Some(Untold), Untested, Agreement::Neither),
            (Some(Holds), Untested, Agreement::Untested),
            (None, Holds, Agreement::NoPage),
        ] {
            assert_eq!(
                agreement(published, Some(now)),
                expected,
                "{published:?} {now:?}"
            );
        }
    }

    #[test]
    fn intervals_are_read_from_cells() {
        assert_eq!(interval("1.43 (0.84 to 2.22) %"), Some((0.84, 2.22)));
        assert_eq!(interval("-100 (-100 to -90) ms (!)"), Some((-100.0, -90.0)));
        let open = |low| Some((low, f64::INFINITY));
        assert_eq!(interval("0.3 (0 or more) s"), open(0.0));
        assert_eq!(interval("120 (96.9 or more) %"), open(96.9));
        assert_eq!(interval("–"), None);
        assert_eq!(interval("12 s"), None);
    }

    /// Two checks over one axis have cells of the same label.
    #[test]
    fn values_are_beside_those_of_their_check() {
        let line = |check: Option<&str>, label: &str, is_cell: bool, value: &str| {
            let of = [check, is_cell.then_some(label)].map(|of| of.map(str::to_owned));
            let cells = ["", label, value, "", ""].map(str::to_owned);
            ClaimLine { cells, of }
        };
        let now = [
            line(None, "all of these", false, ""),
            line(Some("e/a"), "stall: at most 5", false, ""),
            line(Some("e/a"), "rate=1", true, "1 (0 to 2) s"),
            line(Some("e/b"), "rate: at least 1", false, ""),
            line(Some("e/b"), "rate=1", true, "9 (8 to 10)"),
        ];
        let row = |line: &ClaimLine| PublishedRow {
            check: line.cells[1].clone(),
            ours: line.cells[2].clone(),
            ..PublishedRow::default()
        };
        let rows: Vec<PublishedRow> = now.iter().map(row).collect();
        let rows: Vec<&PublishedRow> = rows.iter().collect();
        let values = values(&now, &rows);
        let told: Vec<_> = values
            .iter()
            .map(|value| (value.of.as_str(), value.published.as_str(), value.overlap))
            .collect();
        let expected = [
            ("e/a, rate=1", "1 (0 to 2) s", Some(true)),
            ("e/b, rate=1", "9 (8 to 10)", Some(true)),
        ];
        assert_eq!(told, expected);
    }

    fn experiment(claims: usize) -> Experiment {
        let mut text = r#"
            title = "t"
            paper = "p"
            about = "a"
            cases = ["pfifo"]
            seeds = 6
            [scenario]
            duration = "5s"
            disciplines = ["pfifo"]
            link = { rate = "10mbit", rtt = "20ms" }
            traffic = [{ name = "bulk", kind = "bulk" }]
        "#
        .to_owned();
        for n in 0..claims {
            text += &format!(
                "[[claim]]\nid = \"c{n}\"\nquestion = \"q{n}\"\nmetric = \"bulk_rate\"\nof = \"pfifo\"\nexpect = \"at least 0\"\n"
            );
        }
        Experiment::parse("own/e", "e.toml", &text).unwrap()
    }

    #[test]
    fn a_tenth_is_drawn_by_the_seed_and_has_fresh_seeds() {
        let ids = |seed: u64| -> Vec<String> {
            let (all, parts) = drawn(vec![experiment(30)], seed);
            assert_eq!((all, parts.len()), (30, 1));
            assert!(parts[0].written.first_seed > 1000 * seed);
            let claims = parts[0].written.claim.iter();
            claims.map(|claim| claim.id.clone()).collect()
        };
        assert_eq!(ids(1).len(), 3);
        assert_eq!(ids(1), ids(1));
        assert!((2..6).any(|seed| ids(seed) != ids(1)));
        // The pages' own seeds do not come back.
        assert_eq!(ids(MOST).len(), 3);
    }
}
