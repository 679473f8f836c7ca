//! The results of experiments, for readers: Markdown, HTML, JSON.

mod lines;
mod parts;

pub use lines::{ClaimLine, lines};
pub use parts::{WAITS, waits, with_parts};

use crate::claim::{Checked, ClaimVerdict, Judged, Speaker};
use crate::drawn::{Looks, figure};
use crate::figure::{Form, ShownFigure, text};
use crate::fingerprint::statistics;
use crate::scoreboard::{Board, boards};
use crate::{Experiment, Outcome};
use maud::{Markup, html};
use measure::estimate::Estimate;
use report::doubts::MARK;
use serde::Serialize;
use std::fmt::{self, Write as _};
use units::Refusal;

/// The JSON document of `analects reproduce`.
#[derive(Debug, Serialize)]
pub struct PageDocument<'a> {
    /// The program's version.
    pub version: &'a str,
    /// Where traces and pages come from.
    pub data: &'a str,
    /// Whether it was a quick run.
    pub quick: bool,
    /// All claims of all experiments that were run, by sentence.
    pub claims: Vec<&'a Judged>,
    /// For each experiment what its runs are, if not those of its file.
    pub notes: Vec<String>,
    /// A line for each reason for which runs are not to be believed.
    pub invalid: Vec<&'a str>,
}

/// Our value with its interval and unit, as it is printed.
pub fn ours(claim: &Checked) -> String {
    let Some(value) = claim.ours else {
        return "–".to_owned();
    };
    let estimate = Estimate {
        ci95: claim.ci95,
        ..Estimate::exact(value)
    };
    let mark = if claim.invalid { MARK } else { "" };
    let text = format!("{} {}", text(&estimate), claim.unit);
    format!("{}{mark}", text.trim())
}

/// Sentences of one kind, and their place on a page.
struct PagePart {
    kind: Speaker,
    title: &'static str,
    /// The head of the table, as [`lines`] fills it.
    head: [&'static str; 5],
}

/// The parts of a page about an experiment, in order.
const PARTS: [PagePart; 3] = [
    PagePart {
        kind: Speaker::Paper,
        title: "What the paper says",
        head: ["sentence", "check", "ours (95 %)", "verdict", "note"],
    },
    PagePart {
        kind: Speaker::Own,
        title: "Questions of our own",
        head: ["question", "check", "ours (95 %)", "verdict", "note"],
    },
    PagePart {
        kind: Speaker::Data,
        title: "What the paper says of its recordings, beside ours: no verdict on either",
        head: ["sentence", "its figure", "ours", "as there", "note"],
    },
];

/// A section of Markdown for an experiment.
pub fn markdown(outcome: &Outcome<'_>) -> String {
    let written = &outcome.experiment.written;
    let mut text = format!("## {}: {}\n", outcome.experiment.id, written.title);
    _ = writeln!(text, "{}. {}\n", written.paper, written.about.trim());
    _ = writeln!(text, "{}\n", made_by(outcome));
    text += &departed(&[outcome]);
    text += &doubts(outcome);
    for (title, head, rows) in tables(outcome) {
        _ = writeln!(text, "{title}:\n");
        let head = head.map(str::to_owned).to_vec();
        let rows = rows.iter().map(|row| row.cells.to_vec());
        text += &table(&(head, rows.collect()));
    }
    for board in all_boards(outcome) {
        _ = writeln!(text, "{}:\n", board.title);
        text += &table(&board.table);
    }
    for shown in &outcome.figures {
        let of = if shown.kind == Form::Scatter {
            String::new()
        } else {
            format!(" ({})", shown.axes[1])
        };
        _ = writeln!(text, "{}{of}:\n", shown.title);
        text += &table(&shown.table());
    }
    text
}

/// The reasons for which runs are not to be believed, a paragraph each.
fn doubts(outcome: &Outcome<'_>) -> String {
    let lines = outcome.invalid.lines();
    lines.map(|doubt| format!("**{doubt}**\n\n")).collect()
}

/// How the runs of `outcomes` depart from what their experiment is about, in a paragraph.
fn departed(outcomes: &[&Outcome<'_>]) -> String {
    let mut told: Vec<String> = Vec::new();
    for one in outcomes.iter().flat_map(|of| of.departures.told()) {
        if !told.contains(&one) {
            told.push(one);
        }
    }
    if told.is_empty() {
        return String::new();
    }
    format!("Set-up: {}.\n\n", told.join(". "))
}

/// The command, its runs and their seeds, the text that it read, the statistics, the commit and the data, and
/// what the runs are a sample of: what a page is fresh or stale by.
fn made_by(outcome: &Outcome<'_>) -> String {
    let experiment = outcome.experiment;
    let first = experiment.written.first_seed;
    let runs = match (outcome.runs, outcome.seeds) {
        (0, _) => "no runs".to_owned(),
        (runs, 1) => format!("{runs} runs, seed {first}"),
        (runs, seeds) => format!("{runs} runs, seeds {first} to {}", first + seeds - 1),
    };
    let of = experiment.text.as_ref();
    let of = of.map_or(String::new(), |text| format!(", experiment {text}"));
    let mut text = format!(
        "`{}`: {runs}{of}, statistics {}, analects {}, with {}.",
        PageCommand::of(outcome),
        statistics(),
        outcome.version,
        outcome.data
    );
    if let Some(sentence) = experiment.said() {
        text += &format!(" {sentence}");
    }
    text
}

/// The command that makes a page, or an experiment's part of one.
#[derive(Debug)]
pub struct PageCommand<'a> {
    /// The experiments, as they are named.
    pub experiments: &'a str,
    /// What draws their combinations.
    pub draw: Option<&'a str>,
    /// The first seed.
    pub seed: u64,
    /// The presets of their calls, with commas between them.
    pub calls: Option<&'a str>,
    /// The file that says how often they are run.
    pub runs: Option<&'a str>,
    /// The claims and cases that are all that is run.
    pub only: &'a [String],
    /// Whether it is a quick run.
    pub quick: bool,
}

impl fmt::Display for PageCommand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "analects reproduce {}", self.experiments)?;
        let seed = (self.seed != 1).then(|| self.seed.to_string());
        let options = [
            ("--draw", self.draw),
            ("--seed", seed.as_deref()),
            ("--calls", self.calls),
            ("--runs", self.runs),
        ];
        let only = self.only.iter().map(|name| ("--only", Some(name.as_str())));
        for (option, value) in options.into_iter().chain(only) {
            if let Some(value) = value {
                write!(f, " {option} {value}")?;
            }
        }
        f.write_str(if self.quick { " --quick" } else { "" })
    }
}

impl<'a> PageCommand<'a> {
    /// Of an experiment's part.
    fn of(outcome: &Outcome<'a>) -> Self {
        let experiment = outcome.experiment;
        PageCommand {
            experiments: &experiment.id,
            draw: experiment.written.draw.as_deref(),
            seed: experiment.written.first_seed,
            calls: experiment.calls.as_deref(),
            runs: experiment.runs_file.as_deref(),
            only: &experiment.only,
            quick: outcome.quick,
        }
    }
}

/// The tables of claims: for each kind that there is a title, the head, and the lines.
fn tables<'o>(
    outcome: &'o Outcome<'_>,
) -> impl Iterator<Item = (&'static str, [&'static str; 5], Vec<ClaimLine>)> + 'o {
    PARTS.iter().filter_map(|part| {
        let of_kind = outcome.claims.iter().filter(|of| of.kind == part.kind);
        let lines: Vec<ClaimLine> = of_kind.flat_map(|judged| lines(judged, outcome)).collect();
        (!lines.is_empty()).then_some((part.title, part.head, lines))
    })
}

/// The tables of all scores.
pub fn all_boards(outcome: &Outcome<'_>) -> Vec<Board> {
    let axes = &outcome.experiment.written.vary;
    let scores = outcome.scores.iter();
    scores.flat_map(|scored| boards(scored, axes)).collect()
}

fn table((head, rows): &(Vec<String>, Vec<Vec<String>>)) -> String {
    let mut text = row(head.iter().map(String::as_str));
    text += &row(head.iter().map(|_| "---"));
    for cells in rows {
        text += &row(cells.iter().map(String::as_str));
    }
    text.push('\n');
    text
}

fn row<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells = cells
        .into_iter()
        .map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// Outcomes of the same experiment with different calls, one after another.
pub fn groups<'o, 'a>(outcomes: &'o [Outcome<'a>]) -> impl Iterator<Item = &'o [Outcome<'a>]> {
    outcomes.chunk_by(|one, next| one.experiment.id == next.experiment.id)
}

/// A table of how many claims of each experiment hold; questions of our own have columns of their own.
pub fn summary(outcomes: &[Outcome<'_>]) -> String {
    let several = groups(outcomes).any(|group| group.len() > 1);
    let counted = |outcome: &Outcome<'_>| {
        let title = format!(
            "{}: {}",
            outcome.experiment.id, outcome.experiment.written.title
        );
        let calls = several.then(|| outcome.experiment.calls().to_owned());
        let kinds = [Speaker::Paper, Speaker::Own];
        let counts = kinds.map(|kind| counts(&outcome.claims, kind));
        let counts = counts.iter().flatten().map(usize::to_string);
        [title].into_iter().chain(calls).chain(counts).collect()
    };
    let rows: Vec<Vec<String>> = outcomes.iter().map(counted).collect();
    let text = table(&(head_of_totals(several), rows));
    text[..text.len() - 1].to_owned()
}

/// The head of the table of totals, of several calls or of one.
fn head_of_totals(several: bool) -> Vec<String> {
    let verdicts = VERDICTS.map(|(_, head)| head.to_owned());
    let own = VERDICTS.map(|(_, head)| format!("own: {head}"));
    let calls = several.then(|| "calls".to_owned());
    let names = ["experiment".to_owned()].into_iter().chain(calls);
    names.chain(verdicts).chain(own).collect()
}

/// Whether a page can take the parts of these experiments, which [`with_parts`] asks again when they were run.
///
/// # Errors
/// If it has parts with totals of other columns.
pub fn takes(page: &str, experiments: &[Experiment]) -> Result<(), Refusal> {
    let mut same = experiments.chunk_by(|one, next| one.id == next.id);
    let head = row(head_of_totals(same.any(|group| group.len() > 1))
        .iter()
        .map(String::as_str));
    let ids: Vec<&str> = experiments.iter().map(|one| one.id.as_str()).collect();
    parts::columns_fit(page, &ids, head.trim_end())
}

/// A section of Markdown for an experiment with different calls: the verdicts on its claims, side by
/// side.
pub fn beside(outcomes: &[Outcome<'_>]) -> String {
    let first = &outcomes[0];
    let written = &first.experiment.written;
    let mut text = format!(
        "## {}: {}\n{}. {}\n\n",
        first.experiment.id,
        written.title,
        written.paper,
        written.about.trim()
    );
    for outcome in outcomes {
        _ = writeln!(text, "{}\n", made_by(outcome));
    }
    text += &departed(&outcomes.iter().collect::<Vec<_>>());
    for outcome in outcomes {
        text += &doubts(outcome);
    }
    for part in &PARTS {
        text += &part_beside(part, outcomes);
    }
    text
}

/// The sentences of one kind: the check and cells of whoever has most, the values and verdicts of all.
fn part_beside(part: &PagePart, outcomes: &[Outcome<'_>]) -> String {
    let of = |outcome: &Outcome<'_>| -> usize {
        let lines = outcome.claims.iter().map(|of| lines(of, outcome).len());
        lines.sum()
    };
    let Some(most) = outcomes.iter().max_by_key(|outcome| of(outcome)) else {
        return String::new();
    };
    let of_kind = most.claims.iter();
    let mut rows = Vec::new();
    for judged in of_kind.filter(|judged| judged.kind == part.kind) {
        let same = |outcome: &Outcome<'_>| {
            let found = outcome.claims.iter().find(|of| of.id == judged.id);
            found.map(|of| lines(of, outcome)).unwrap_or_default()
        };
        let sides: Vec<Vec<ClaimLine>> = outcomes.iter().map(same).collect();
        for line in lines(judged, most) {
            let [said, check, _, _, note] = line.cells;
            let mut row = vec![said, check];
            for side in &sides {
                // Cells that were not run have none.
                let at = side.iter().find(|other| other.of == line.of);
                let [value, verdict] = at.map_or(["–", "not run"], |other| {
                    [other.cells[2].as_str(), other.cells[3].as_str()]
                });
                row.extend([value, verdict].map(str::to_owned));
            }
            row.push(note);
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let [sentence, check, _, verdict, note] = part.head;
    let each = outcomes
        .iter()
        .flat_map(|outcome| [outcome.experiment.calls(), verdict]);
    let head = [sentence, check].into_iter().chain(each).chain([note]);
    let head = head.map(str::to_owned).collect();
    format!("{}:\n\n{}", part.title, table(&(head, rows)))
}

/// Verdicts in the order in which they are counted, and their names in tables.
const VERDICTS: [(ClaimVerdict, &str); 4] = [
    (ClaimVerdict::Holds, "hold"),
    (ClaimVerdict::Fails, "do not"),
    (ClaimVerdict::Untested, "not tested"),
    (ClaimVerdict::Untold, "cannot be told"),
];

/// How many sentences of a kind hold, do not, are not tested, and cannot be told.
pub fn counts<'a>(claims: impl IntoIterator<Item = &'a Judged>, kind: Speaker) -> [usize; 4] {
    let claims = claims.into_iter().filter(|judged| judged.kind == kind);
    let verdicts: Vec<Option<ClaimVerdict>> = claims.map(|judged| judged.verdict).collect();
    VERDICTS.map(|(one, _)| verdicts.iter().filter(|of| **of == Some(one)).count())
}

/// How many of what a paper says hold, and of questions of our own, in a sentence each.
pub fn told<'a>(claims: impl Iterator<Item = &'a Judged> + Clone) -> String {
    let of = |(kind, name): (Speaker, &str)| {
        let counts = counts(claims.clone(), kind);
        let all: usize = counts.iter().sum();
        let parts = VERDICTS.iter().zip(counts);
        let parts: Vec<String> = parts.map(|((_, head), n)| format!("{n} {head}")).collect();
        (all > 0).then(|| format!("Of {all} {name} {}.", parts.join(", ")))
    };
    let kinds = [
        (Speaker::Paper, "sentences of the paper"),
        (Speaker::Own, "questions of our own"),
    ];
    let sentences: Vec<String> = kinds.into_iter().filter_map(of).collect();
    sentences.join(" ")
}

/// A page of HTML for an experiment: a sentence, figures in the paper's form, and claims.
pub fn html(outcome: &Outcome<'_>) -> String {
    let written = &outcome.experiment.written;
    let looks = Looks::of(outcome);
    let body = html! {
        header {
            h1 { (written.title) }
            p { (written.paper) ". " (written.about) }
            @let departed = outcome.departures.told();
            @if !departed.is_empty() { p { "Set-up: " (departed.join(". ")) "." } }
            @if let Some(sentence) = outcome.experiment.said() { p { (sentence) } }
            @if !outcome.claims.is_empty() { p class="verdict" { (told(outcome.claims.iter())) } }
        }
        @for doubt in outcome.invalid.lines() { p { strong { (doubt) } } }
        @for limit in outcome.limited.lines() { p { (limit) } }
        @for shown in &outcome.figures { (drawn(&looks, shown)) }
        @if outcome.mechanism.is_some() {
            p {
                a href="mechanism.html" { "One run of each, over time" } ": who waits, and why."
            }
        }
        @for (title, head, lines) in tables(outcome) { (claims(title, head, &lines)) }
        @for board in &all_boards(outcome) {
            section { h2 { (board.title) } (listed(&board.table)) }
        }
    };
    report::framed(&written.title, "", &body)
}

fn claims(title: &str, head: [&str; 5], lines: &[ClaimLine]) -> Markup {
    html! {
        section {
            h2 { (title) }
            div class="wide" {
                table class="claims" {
                    thead { tr { @for cell in head { th { (cell) } } } }
                    tbody {
                        @for ClaimLine { cells: [said, rest @ ..], .. } in lines {
                            tr { th { (said) } @for cell in rest { td { (cell.replace("**", "")) } } }
                        }
                    }
                }
            }
        }
    }
}

fn drawn(looks: &Looks<'_>, shown: &ShownFigure) -> Markup {
    html! {
        section {
            h2 { (shown.title) }
            (looks.legend(shown))
            (figure(looks, shown))
            details class="values" { summary { "Values" } (listed(&shown.table())) }
        }
    }
}

fn listed((head, rows): &(Vec<String>, Vec<Vec<String>>)) -> Markup {
    html! {
        div class="wide" tabindex="0" {
            table {
                thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (place, cell) in row.iter().enumerate() {
                                @if place == 0 {
                                    th scope="row" { (cell) }
                                } @else {
                                    td { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
