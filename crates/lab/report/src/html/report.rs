//! The data from which the sections are made.

use super::look::{Look, looks};
use super::subject::Subject;
use super::words::SHORT_NAME;
use crate::draw::svg::short;
use crate::draw::values::PlotKey;
use crate::draw::{Drawing, axis, plot};
use crate::export::ExportDocument;
use crate::summary::{Summary, summarize};
use crate::telling::telling;
use maud::{Markup, html};
use measure::metric::Registry;
use measure::{RunResult, Series};
use std::cell::RefCell;
use std::fmt::Write as _;

/// Largest number of runs with plots of their own over time; a page with more is neither readable nor
/// small.
const MOST_DRAWN: usize = 16;

/// A scenario and its results.
pub struct Report<'a> {
    pub subject: Subject<'a>,
    pub document: &'a ExportDocument<'a>,
    /// The metrics with a column.
    pub metrics: &'a Registry,
    /// A line for each discipline, in the order of their first result.
    pub summaries: Vec<Summary>,
    /// The runs that are drawn over time: of each discipline the typical one, and then the worst, as
    /// far as there are series of them.
    pub drawn: Vec<Drawn<'a>>,
    looks: Vec<Look>,
    /// The drawings made, with their names, for files next to the page.
    drawings: RefCell<Vec<(String, Drawing)>>,
}

/// A run that is drawn over time.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    /// The number of its discipline.
    pub n: usize,
    pub run: &'a RunResult,
    pub series: &'a Series,
    /// Whether it is the worst run of its discipline.
    pub worst: bool,
}

impl Drawn<'_> {
    /// Which run it is: `worst run, seed 7`.
    pub fn which(&self, runs: usize) -> String {
        let seed = format!("seed {}", self.run.seed);
        let mut text = match (runs, self.worst) {
            (1, _) => seed,
            (_, true) => format!("worst run, {seed}"),
            (_, false) => format!("typical run, {seed}"),
        };
        // What the command line set is the same in all runs.
        for (key, value) in self.run.variant.iter().filter(|of| of.0 == "trace") {
            // Writing to a string does not fail.
            _ = write!(text, ", {key} {}", short(value, 60));
        }
        text
    }
}

/// Width and height of a plot that has a line of the page to itself, on screens and on phones: a
/// plot scaled down to a phone cannot be read.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub width: f64,
    pub height: f64,
    /// Characters that a name in the plot may have.
    pub name: usize,
}

/// A cause of at least this share of a call's stall makes its queue matter.
const NAMED: f64 = 0.1;
/// A queue with a mean wait of this in some bin is drawn, ms.
const LONG_MS: f64 = 20.0;

/// Width of a plot that may stand next to another, and fits on a phone.
pub const CARD: f64 = 420.0;

const WIDE: Size = Size {
    width: 900.0,
    height: 340.0,
    name: SHORT_NAME,
};
const NARROW: Size = Size {
    width: 400.0,
    height: 300.0,
    name: 24,
};

impl<'a> Report<'a> {
    pub fn new(
        subject: Subject<'a>,
        document: &'a ExportDocument<'a>,
        metrics: &'a Registry,
    ) -> Self {
        let summaries = summarize(document.results, metrics);
        let kept: Vec<&RunResult> = document.results.iter().collect();
        let told = telling(document.results).into_iter().filter_map(|told| {
            let run = kept[told.place];
            let n = summaries
                .iter()
                .position(|s| s.discipline == run.discipline)?;
            Some(Drawn {
                n,
                run,
                series: run.series.as_ref()?,
                worst: told.worst,
            })
        });
        let all = 2 * summaries.len() <= MOST_DRAWN;
        let drawn = told.filter(|drawn| drawn.n < MOST_DRAWN && (all || !drawn.worst));
        let names: Vec<&str> = summaries.iter().map(|s| s.discipline.as_str()).collect();
        Report {
            looks: looks(&names),
            drawings: RefCell::default(),
            drawn: drawn.collect(),
            subject,
            document,
            metrics,
            summaries,
        }
    }

    /// Rules that hide the parts of a discipline without a tick.
    pub fn toggles(&self) -> String {
        (0..self.summaries.len()).fold(String::new(), |mut rules, n| {
            // Writing to a string does not fail.
            _ = writeln!(
                rules,
                "body:has(#t{n}:not(:checked)) .d{n}{{display:none}}\
                 body:has(#t{n}:not(:checked)) .l{n}{{opacity:.4}}"
            );
            rules
        })
    }

    /// A discipline's name, with its settings.
    pub fn name(&self, discipline: usize) -> &str {
        &self.summaries[discipline].discipline
    }

    /// The look of a discipline.
    pub fn look(&self, discipline: usize) -> Look {
        self.looks[discipline]
    }

    /// A discipline in a plot.
    pub fn plotted(&self, discipline: usize) -> PlotKey {
        self.look(discipline).key(self.name(discipline))
    }

    /// The contents of a figure with a plot as wide as the page: the plot in two sizes, one of
    /// which is shown, a caption, and values. It is called `name` among the files.
    pub fn wide(&self, name: &str, draw: impl Fn(Size) -> Drawing, caption: &Markup) -> Markup {
        let (wide, narrow) = (draw(WIDE), draw(NARROW));
        let plot = html! { (wide.element("big")) (narrow.element("small")) };
        self.kept(name, wide, &plot, caption)
    }

    /// The same of a plot in the size that it has.
    pub fn plot(&self, name: &str, drawing: Drawing, caption: &Markup) -> Markup {
        let plot = drawing.element("");
        self.kept(name, drawing, &plot, caption)
    }

    fn kept(&self, name: &str, drawing: Drawing, plot: &Markup, caption: &Markup) -> Markup {
        let about = html! { (caption) (drawing.remarks()) };
        let markup = html! {
            (plot)
            @if !about.0.is_empty() { figcaption { (about) } }
            (drawing.table())
        };
        self.drawings.borrow_mut().push((name.to_owned(), drawing));
        markup
    }

    /// All drawings made.
    pub fn into_drawings(self) -> Vec<(String, Drawing)> {
        self.drawings.into_inner()
    }

    /// The largest number of runs of a discipline.
    pub fn runs(&self) -> usize {
        let runs = self.summaries.iter().map(|summary| summary.runs);
        runs.max().unwrap_or(0)
    }

    /// The lines of `disciplines`. Nothing if there is only one.
    pub fn legend(&self, disciplines: impl Iterator<Item = usize>) -> Markup {
        html! {
            @if self.summaries.len() > 1 {
                p class="legend" { @for n in disciplines { (self.key(n)) } }
            }
        }
    }

    /// A discipline's name with its line, as a label of its tick.
    fn key(&self, n: usize) -> Markup {
        html! {
            label for=(format!("t{n}")) class=(format!("l{n}")) {
                (self.look(n).swatch()) (short(self.name(n), SHORT_NAME))
            }
        }
    }

    /// How many page loads of a result are shaded in plots over time.
    pub fn shade(&self, plot: &mut plot::Plot, result: &RunResult) {
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
    pub fn time_axis(&self) -> axis::Axis {
        axis::Axis::exact("time, s", 0.0, self.subject.duration_s, 8)
    }

    /// The meaning of the shades in plots over time, if there are any.
    pub fn shades(&self) -> &'static str {
        match (self.subject.has_pages(), self.subject.warmup_s > 0.0) {
            (true, true) => "Shaded: a page is loading; grey: warm-up, not measured.",
            (true, false) => "Shaded: a page is loading.",
            (false, true) => "Grey: warm-up, not measured.",
            (false, false) => "",
        }
    }

    /// A card for each drawn discipline, in a `column` or, if there is room, in a `grid`: the text
    /// of `card` next to the name, and its plot. `card` receives the place among those that are
    /// drawn, and the name of the file with the plot. Nothing if there is no card.
    pub fn cards(
        &self,
        arranged: &str,
        of: &str,
        card: impl Fn(Card<'_>) -> Option<(String, Markup)>,
    ) -> Markup {
        let runs = self.runs();
        let drawn = self.drawn.iter().enumerate();
        let cards: Vec<Markup> = drawn
            .filter_map(|(place, drawn)| {
                let name = self.name(drawn.n);
                let worst = if drawn.worst { "-worst" } else { "" };
                let card = card(Card {
                    place,
                    run: drawn.run,
                    series: drawn.series,
                    key: self.plotted(drawn.n),
                    file: &format!("{of}-{name}{worst}"),
                });
                let (fact, plot) = card?;
                let which = (runs > 1).then(|| drawn.which(runs));
                Some(html! {
                    figure class=(format!("d{}", drawn.n)) {
                        figcaption {
                            b { (self.look(drawn.n).swatch()) (name) } " "
                            @if let Some(which) = which { "(" (which) ") " }
                            (fact)
                        }
                        (plot)
                    }
                })
            })
            .collect();
        html! {
            @if !cards.is_empty() {
                div class=(arranged) { @for card in &cards { (card) } }
            }
        }
    }

    /// The queues that calls waited at, or that were long, in the runs that are drawn: by their places.
    /// The first one in any case.
    pub fn queues(&self) -> Vec<usize> {
        let count = self.drawn.iter().map(|drawn| drawn.run.links.len()).max();
        let mattered = |queue: &usize| {
            self.drawn.iter().any(|drawn| {
                let Some(link) = drawn.run.links.get(*queue) else {
                    return false;
                };
                let whys = drawn.run.calls.iter().filter_map(|call| call.why.as_ref());
                let mut causes = whys.flat_map(|why| &why.causes);
                let named = causes.any(|of| {
                    of.named_share() >= NAMED && of.cause.queue.as_ref() == Some(&link.name)
                });
                let bins = drawn
                    .series
                    .sojourn
                    .get(*queue)
                    .into_iter()
                    .flatten()
                    .flatten();
                named || bins.into_iter().any(|(mean, _)| *mean >= LONG_MS)
            })
        };
        let queues = 0..count.unwrap_or(0);
        queues
            .filter(|queue| *queue == 0 || mattered(queue))
            .collect()
    }

    /// A queue's name.
    pub fn queue_name(&self, queue: usize) -> &str {
        let mut links = self
            .drawn
            .iter()
            .filter_map(|drawn| drawn.run.links.get(queue));
        links.next().map_or("", |link| &link.name)
    }

    /// The content of a section with a part for each of the queues that mattered: `part` receives the
    /// queue and the beginning of names of files.
    pub fn by_queue(&self, of: &str, part: impl Fn(usize, &str) -> Markup) -> Markup {
        let queues = self.queues();
        html! {
            @for &queue in &queues {
                @let file = match queue {
                    0 => of.to_owned(),
                    _ => format!("{of}-{}", self.queue_name(queue)),
                };
                @let part = part(queue, &file);
                @if !part.0.is_empty() {
                    @if queues.len() > 1 { h3 { "Queue of " (self.queue_name(queue)) } }
                    (part)
                }
            }
        }
    }

    /// Which of the runs are drawn over time, if there are several.
    pub fn which(&self) -> Option<String> {
        if self.drawn.is_empty() {
            return None;
        }
        let disciplines = self.drawn.iter().filter(|drawn| !drawn.worst).count();
        let mut text = match self.runs() {
            1 => self.drawn[0].which(1),
            _ => "of each discipline the run in the middle by its calls’ stall, and the worst one"
                .to_owned(),
        };
        if self.summaries.len() > disciplines {
            // Writing to a string does not fail.
            _ = write!(
                text,
                "; {disciplines} of {} disciplines",
                self.summaries.len()
            );
        }
        Some(text)
    }
}

/// The data from which a card is made.
pub struct Card<'a> {
    /// The place among the disciplines that are drawn.
    pub place: usize,
    pub run: &'a RunResult,
    pub series: &'a Series,
    /// The discipline in a plot.
    pub key: PlotKey,
    /// The name of the file with the plot.
    pub file: &'a str,
}
