//! The results of experiments, for readers: Markdown, HTML, JSON.

use crate::Outcome;
use crate::claim::{Checked, Verdict};
use crate::drawn::{Looks, figure};
use crate::figure::{Form, Shown, text};
use crate::scoreboard::{Board, boards};
use maud::{Markup, html};
use measure::estimate::Estimate;
use report::doubts::MARK;
use serde::Serialize;
use std::fmt::Write as _;

/// The JSON document of `analects reproduce`.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// The program's version.
    pub version: &'a str,
    /// Where traces and pages come from.
    pub data: &'a str,
    /// Whether it was a quick run.
    pub quick: bool,
    /// All claims of all experiments that were run.
    pub claims: Vec<&'a Checked>,
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

/// A section of Markdown for an experiment.
pub fn markdown(outcome: &Outcome<'_>) -> String {
    let written = &outcome.experiment.written;
    let mut text = format!("## {}: {}\n", outcome.experiment.id, written.title);
    _ = writeln!(text, "{}. {}\n", written.paper, written.about.trim());
    if outcome.runs > 0 {
        _ = writeln!(text, "{}\n", made_by(outcome));
    }
    text += &doubts(outcome);
    if !outcome.claims.is_empty() {
        text += "| claim | published | ours (95 %) | verdict | note |\n| --- | --- | --- | --- | --- |\n";
        for claim in &outcome.claims {
            let cells = [
                &claim.statement,
                &claim.published,
                &ours(claim),
                &verdict(claim),
                &claim.note,
            ];
            text += &row(cells.map(|cell| cell.as_str()));
        }
        text.push('\n');
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

/// The command, the number of its runs, the text that it read, and what the runs are a sample of.
fn made_by(outcome: &Outcome<'_>) -> String {
    let experiment = outcome.experiment;
    let draw = experiment.written.draw.as_ref();
    let mut option = draw.map_or(String::new(), |text| format!(" --draw {text}"));
    if experiment.written.first_seed != 1 {
        option += &format!(" --seed {}", experiment.written.first_seed);
    }
    let of = experiment.text.as_ref();
    let of = of.map_or(String::new(), |text| format!(", experiment {text}"));
    let mut text = format!(
        "`analects reproduce {}{option}`: {} runs{of}.",
        experiment.id, outcome.runs
    );
    if let Some(sentence) = experiment.said() {
        text += &format!(" {sentence}");
    }
    text
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

fn verdict(claim: &Checked) -> String {
    match claim.verdict {
        Verdict::Fails => format!("**{}**", claim.verdict.name()),
        _ => claim.verdict.name().to_owned(),
    }
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

/// A table of how many claims of each experiment hold.
pub fn summary(outcomes: &[Outcome<'_>]) -> String {
    let several = groups(outcomes).any(|group| group.len() > 1);
    let mut text = if several {
        "| experiment | calls | hold | do not | cannot be told |\n| --- | --- | --- | --- | --- |\n"
    } else {
        "| experiment | hold | do not | cannot be told |\n| --- | --- | --- | --- |\n"
    }
    .to_owned();
    for outcome in outcomes {
        let [holds, fails, untold] = counts(outcome.claims.iter());
        let (id, title) = (&outcome.experiment.id, &outcome.experiment.written.title);
        let calls = if several {
            format!(" {} |", outcome.experiment.calls())
        } else {
            String::new()
        };
        _ = writeln!(
            text,
            "| {id}: {title} |{calls} {holds} | {fails} | {untold} |"
        );
    }
    text
}

/// A section of Markdown for an experiment with different calls: the verdicts on its claims, side by
/// side.
pub fn beside(outcomes: &[Outcome<'_>]) -> String {
    let first = &outcomes[0];
    let written = &first.experiment.written;
    let mut text = format!(
        "## {}: {}\n{}.\n\n",
        first.experiment.id, written.title, written.paper
    );
    let runs = outcomes.iter().filter(|outcome| outcome.runs > 0);
    let runs: Vec<String> = runs
        .map(|outcome| {
            let seeds = outcome.experiment.written.seeds;
            let s = if seeds == 1 { "" } else { "s" };
            format!(
                "{} with calls {} ({seeds} seed{s})",
                outcome.runs,
                outcome.experiment.calls()
            )
        })
        .collect();
    if !runs.is_empty() {
        _ = writeln!(text, "Runs: {}.\n", runs.join(", "));
    }
    for outcome in outcomes {
        text += &doubts(outcome);
    }
    let head = ["claim".to_owned(), "published".to_owned()];
    let each = outcomes
        .iter()
        .flat_map(|outcome| [outcome.experiment.calls().to_owned(), "verdict".to_owned()]);
    let head: Vec<String> = head.into_iter().chain(each).collect();
    text += &row(head.iter().map(String::as_str));
    text += &row(head.iter().map(|_| "---"));
    let most = outcomes.iter().max_by_key(|outcome| outcome.claims.len());
    for claim in most.into_iter().flat_map(|outcome| &outcome.claims) {
        let mut cells = vec![claim.statement.clone(), claim.published.clone()];
        for outcome in outcomes {
            let same = |other: &&Checked| other.id == claim.id;
            let checked = outcome.claims.iter().find(same);
            let known = checked.map(|checked| {
                let note = match (&checked.verdict, checked.needed) {
                    (Verdict::Untold, Some(needed)) => format!(": {needed} needed"),
                    _ => String::new(),
                };
                [ours(checked), verdict(checked) + &note]
            });
            cells.extend(known.unwrap_or_else(|| ["–", "not run"].map(str::to_owned)));
        }
        text += &row(cells.iter().map(String::as_str));
    }
    text.push('\n');
    text
}

/// Numbers of claims that hold, that do not, and that are undecided.
pub fn counts<'a>(claims: impl Iterator<Item = &'a Checked>) -> [usize; 3] {
    let mut counts = [0; 3];
    for claim in claims {
        counts[match claim.verdict {
            Verdict::Holds => 0,
            Verdict::Fails => 1,
            Verdict::Untold => 2,
        }] += 1;
    }
    counts
}

/// A page of HTML for an experiment: a sentence, figures in the paper's form, and claims.
pub fn html(outcome: &Outcome<'_>) -> String {
    let written = &outcome.experiment.written;
    let looks = Looks::of(outcome);
    let body = html! {
        header {
            h1 { (written.title) }
            p { (written.paper) ". " (written.about) }
            @if let Some(sentence) = outcome.experiment.said() { p { (sentence) } }
            @if !outcome.claims.is_empty() { p class="verdict" { (verdicts(&outcome.claims)) } }
        }
        @for doubt in outcome.invalid.lines() { p { strong { (doubt) } } }
        @for shown in &outcome.figures { (drawn(&looks, shown)) }
        @if outcome.mechanism.is_some() {
            p {
                a href="mechanism.html" { "One run of each, over time" } ": who waits, and why."
            }
        }
        @if !outcome.claims.is_empty() { (claims(&outcome.claims)) }
        @for board in &all_boards(outcome) {
            section { h2 { (board.title) } (listed(&board.table)) }
        }
    };
    report::framed(&written.title, "", &body)
}

/// How many of the claims hold, in a sentence.
fn verdicts(claims: &[Checked]) -> String {
    let [holds, fails, untold] = counts(claims.iter());
    format!(
        "Of {} claims hold: {holds}; do not: {fails}; cannot be told: {untold}.",
        claims.len()
    )
}

fn claims(claims: &[Checked]) -> Markup {
    let head = ["claim", "published", "ours (95 %)", "verdict", "note"];
    html! {
        section {
            h2 { "Claims" }
            div class="wide" {
                table class="claims" {
                    thead { tr { @for cell in head { th { (cell) } } } }
                    tbody {
                        @for claim in claims {
                            tr {
                                th { (claim.statement) }
                                td { (claim.published) }
                                td { (ours(claim)) }
                                td { (claim.verdict.name()) }
                                td { (claim.note) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn drawn(looks: &Looks<'_>, shown: &Shown) -> Markup {
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
