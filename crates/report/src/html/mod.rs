//! A report: one HTML file with everything in it, to be read, printed and passed on.
//!
//! No script and nothing from elsewhere. Colours are CSS variables, so that plots follow the
//! reader's light or dark scheme; each discipline has a colour (Okabe and Ito's, which the colour
//! blind can tell apart), a dash and a marker. Ticks in the comparison's first column choose which
//! disciplines are drawn, by style sheet alone.

mod about;
mod bounds;
mod classes;
mod flows;
mod frames;
mod headline;
mod loads;
mod rows;
mod sojourn;
mod subject;
#[cfg(test)]
mod tests;

use crate::draw::svg::{self, escape};
use crate::draw::{axis, plot};
use crate::export::Document;
use crate::summary::{Summary, summarize};
use measure::{RunResult, Series};
use scenario::Scenario;
use std::fmt::Write as _;
use subject::Subject;

const STYLE: &str = include_str!("style.css");
/// Okabe and Ito's palette has eight colours.
const COLOURS: usize = 8;
/// Dashes of lines.
const DASHES: usize = 4;
/// Disciplines that get plots of their own over time; a page with more is neither read nor small.
const MOST_DRAWN: usize = 16;
/// Longer names are cut where there is little room.
const SHORT_NAME: usize = 32;

/// The report on `document`, results of `scenario` and its variants.
///
/// Plots over time show the first result of each discipline that has a series.
pub fn html(scenario: &Scenario, document: &Document<'_>) -> String {
    Report::new(Subject::of(scenario), document).page()
}

/// What the sections are made from.
struct Report<'a> {
    subject: Subject<'a>,
    document: &'a Document<'a>,
    /// A line for each discipline, in the order of their first result.
    summaries: Vec<Summary>,
    /// What is drawn over time: the number of the discipline, a result of it, and its series.
    drawn: Vec<(usize, &'a RunResult, &'a Series)>,
}

impl<'a> Report<'a> {
    fn new(subject: Subject<'a>, document: &'a Document<'a>) -> Self {
        let summaries = summarize(document.results);
        let drawn = summaries
            .iter()
            .enumerate()
            .filter_map(|(number, summary)| {
                let mut of = document
                    .results
                    .iter()
                    .filter(|r| r.discipline == summary.discipline);
                of.find_map(|result| Some((number, result, result.series.as_ref()?)))
            });
        Report {
            drawn: drawn.take(MOST_DRAWN).collect(),
            subject,
            document,
            summaries,
        }
    }

    fn page(&self) -> String {
        let sections = [
            headline::section(self),
            frames::section(self),
            loads::section(self),
            flows::section(self),
            classes::section(self),
            sojourn::section(self),
            about::section(self),
        ];
        framed(self.subject.name, &self.toggles(), &sections.concat())
    }

    /// Rules that hide what belongs to a discipline without a tick.
    fn toggles(&self) -> String {
        (0..self.summaries.len()).fold(String::new(), |mut rules, n| {
            _ = writeln!(
                rules,
                "body:has(#t{n}:not(:checked)) .d{n}{{display:none}}\
                 body:has(#t{n}:not(:checked)) .l{n}{{opacity:.4}}"
            );
            rules
        })
    }

    /// A discipline's name, with its settings.
    fn name(&self, discipline: usize) -> &str {
        &self.summaries[discipline].discipline
    }

    /// Which line belongs to which of `disciplines`. Nothing where there is only one.
    fn legend(&self, disciplines: impl Iterator<Item = usize>) -> String {
        if self.summaries.len() < 2 {
            return String::new();
        }
        let entries: String = disciplines.map(|n| self.key(n)).collect();
        format!("<p class=\"legend\">{entries}</p>\n")
    }

    /// A discipline's name with its line, as a label of its tick.
    fn key(&self, n: usize) -> String {
        format!(
            "<label for=\"t{n}\" class=\"l{n} {}\">{}{}</label>\n",
            look(n),
            swatch(n),
            escape(&svg::short(self.name(n), SHORT_NAME))
        )
    }

    /// How many page loads of a result are shaded in plots over time.
    fn shade(&self, plot: &mut plot::Plot, result: &RunResult) {
        if self.subject.warmup_s > 0.0 {
            plot.span("warmup", 0.0, self.subject.warmup_s);
        }
        // More of them than this are a texture, not information.
        for page in result.pages.iter().take(200) {
            let end = page
                .plt_ms
                .map_or(self.subject.duration_s, |plt| page.start_s + plt / 1e3);
            plot.span("load", page.start_s, end);
        }
    }

    /// The time axis of a run.
    fn time_axis(&self) -> axis::Axis {
        axis::Axis::exact("time, s", 0.0, self.subject.duration_s, 8)
    }

    /// What the shades of plots over time mean, where there are any.
    fn shades(&self) -> &'static str {
        match (self.subject.has("page"), self.subject.warmup_s > 0.0) {
            (true, true) => "Shaded: a page is loading; grey: warm-up, not measured.",
            (true, false) => "Shaded: a page is loading.",
            (false, true) => "Grey: warm-up, not measured.",
            (false, false) => "",
        }
    }

    /// A card for each drawn discipline, in a `column` or, where there is room, in a `grid`: what
    /// `card` says beside the name, and its plot. It is told the place among those that are drawn.
    fn cards(
        &self,
        arranged: &str,
        card: impl Fn(usize, &RunResult, &Series) -> Option<(String, String)>,
    ) -> String {
        let cards: String = self
            .drawn
            .iter()
            .enumerate()
            .filter_map(|(place, (n, result, series))| {
                let (fact, plot) = card(place, result, series)?;
                Some(format!(
                    "<figure class=\"d{n}\"><figcaption><b class=\"{}\">{}{}</b> {}</figcaption>\n\
                     {plot}</figure>\n",
                    look(*n),
                    swatch(*n),
                    escape(self.name(*n)),
                    escape(&fact)
                ))
            })
            .collect();
        match cards.as_str() {
            "" => cards,
            _ => format!("<div class=\"{arranged}\">\n{cards}</div>\n"),
        }
    }

    /// What is drawn over time of all that was run.
    fn which(&self) -> String {
        let Some((_, first, _)) = self.drawn.first() else {
            return String::new();
        };
        let mut text = format!("seed {}", first.seed);
        for (key, value) in &first.variant {
            _ = write!(text, ", {key} {}", svg::short(value, 60));
        }
        if self.summaries.len() > self.drawn.len() {
            let (drawn, all) = (self.drawn.len(), self.summaries.len());
            _ = write!(text, "; {drawn} of {all} disciplines");
        }
        text
    }
}

/// A whole page around `content`, with `style` beside the common one.
pub fn framed(title: &str, style: &str, content: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <title>{title} – analects</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n\
         <main>\n{content}</main>\n</body>\n</html>\n"
    )
}

/// Classes that give a discipline its colour and dash. Neither repeats before both have.
pub fn look(discipline: usize) -> String {
    let dash = (discipline + discipline / COLOURS) % DASHES;
    format!("c{} s{dash}", discipline % COLOURS)
}

/// The number of a discipline's marker.
pub fn shape(discipline: usize) -> usize {
    discipline + discipline / COLOURS
}

/// A piece of a discipline's line with its marker.
pub fn swatch(discipline: usize) -> String {
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 34 14\" aria-hidden=\"true\">\
         <path class=\"line\" d=\"M1 7H33\"/>{}</svg>",
        plot::marker(shape(discipline), 17.0, 7.0, "").trim_end()
    )
}

/// A section with its heading, or nothing if it has no content.
fn section(id: &str, heading: &str, content: &str) -> String {
    match content {
        "" => String::new(),
        _ => format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{content}</section>\n"),
    }
}

/// Milliseconds as one says them.
fn time(ms: f64) -> String {
    match ms {
        ms if ms < 0.05 => "0".to_owned(),
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms if ms < 9_995.0 => format!("{:.2} s", ms / 1e3),
        ms => format!("{:.1} s", ms / 1e3),
    }
}
