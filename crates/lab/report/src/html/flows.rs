//! The rate of each flow out of a queue over time.

use super::frame::section as wrap;
use super::report::{CARD, Report};
use super::subject::Group;
use crate::draw::axis::Axis;
use crate::draw::plot::Plot;
use crate::draw::values::PlotKey;
use maud::{Markup, html};
use measure::{RunResult, Series};
use std::ops::Range;

/// Steps in a plot; bins are put together until there are no more.
const MOST_STEPS: usize = 300;

/// A stack for each run that is drawn, at each queue that mattered.
pub fn section(report: &Report<'_>) -> Markup {
    let content = report.by_queue("flows", |queue, file| at(report, queue, file));
    wrap("flows", "Share of each flow", &content)
}

/// The stacks at one queue.
fn at(report: &Report<'_>, queue: usize, file: &str) -> Markup {
    let duration = report.subject.duration_s;
    let stacks: Vec<Vec<Layer>> = report
        .drawn
        .iter()
        .map(|drawn| layers(report, drawn.series, queue))
        .collect();
    let tops = stacks
        .iter()
        .filter_map(|stack| stack.last())
        .flat_map(|layer| &layer.steps);
    let top = tops.map(|step| step.1).fold(0.0, f64::max);
    if top <= 0.0 {
        return html! {};
    }
    let capacity = report.subject.capacities.get(queue);
    let capacity = capacity.map_or(&[][..], Vec::as_slice);
    // A trace may rise far above the rates in use; it is then cut.
    let ceiling = capacity.iter().map(|step| step.1).fold(0.0, f64::max);
    let y = Axis::from_zero("Mbit/s", top.max(ceiling.min(top * 1.5)), 5);
    let cards = report.cards("grid", file, |card| {
        let stack = stacks.get(card.place)?;
        let mut plot = Plot::new(CARD, 230.0, report.time_axis(), y.clone());
        // From the top of the stack down, each layer over the one above it.
        for layer in stack.iter().rev() {
            plot.series(&layer.key(), "", |plot| {
                plot.area("", &layer.steps, duration);
            });
        }
        report.shade(&mut plot, card.run);
        if !capacity.is_empty() {
            plot.series(&link(), "", |plot| {
                plot.steps("capacity", capacity, duration)
            });
        }
        let drawing = plot.finish(&format!("share of flows with {}", card.run.discipline));
        let plot = report.plot(card.file, drawing, &html! {});
        Some((fact(card.run, queue), plot))
    });
    let step = step_bins(report) as f64 * bin(report);
    html! {
        (legend(&stacks))
        (cards)
        p class="note" {
            "What left the queue, stacked from the bottom in the order of the names above, means over " (format!("{step:.2}"))
            " s. Dashed: what the link can carry. " (report.shades())
        }
    }
}

fn fact(run: &RunResult, queue: usize) -> String {
    let used = run.links.get(queue).and_then(|link| link.utilization);
    used.map(|used| format!("{:.0} % used", used * 100.0))
        .unwrap_or_default()
}

/// A group of flows, and how high the stack reaches with it.
struct Layer {
    group: Group,
    /// From when on, s, and how high, Mbit/s.
    steps: Vec<(f64, f64)>,
}

impl Layer {
    fn key(&self) -> PlotKey {
        PlotKey {
            name: self.group.title(),
            classes: look(&self.group),
            shape: None,
        }
    }
}

/// Dashes of the edges of layers (`plot.css`).
const DASHES: usize = 4;

/// The look of a layer: its colour, and an upper edge that tells it apart without.
fn look(group: &Group) -> String {
    format!("f{} s{} stacked", group.colour, group.colour % DASHES)
}

/// The key of the link's capacity in a plot.
fn link() -> PlotKey {
    PlotKey {
        name: "link".to_owned(),
        classes: String::new(),
        shape: None,
    }
}

fn bin(report: &Report<'_>) -> f64 {
    report.drawn.first().map_or(0.1, |drawn| drawn.series.bin_s)
}

/// How many bins make a step.
fn step_bins(report: &Report<'_>) -> usize {
    let bins = (report.subject.duration_s / bin(report)).ceil() as usize;
    bins.div_ceil(MOST_STEPS).max(1)
}

/// The stack of a run at a queue, from its lowest layer on. Flows that do not pass it make no layer.
fn layers(report: &Report<'_>, series: &Series, queue: usize) -> Vec<Layer> {
    let width = step_bins(report);
    let bins = (report.subject.duration_s / series.bin_s).ceil() as usize;
    let mut heights = vec![0.0; bins.div_ceil(width)];
    let shares = series.share.get(queue).map_or(&[][..], Vec::as_slice);
    let passes = |flow: &usize| shares.get(*flow).is_some_and(|bins| !bins.is_empty());
    let groups = report.subject.groups(series).into_iter();
    groups
        .filter(|group| group.flows.iter().any(passes))
        .map(|group| {
            for (step, height) in heights.iter_mut().enumerate() {
                let (from, to) = (step * width, ((step + 1) * width).min(bins));
                *height += mbps(shares, series.bin_s, &group.flows, from..to);
            }
            let starts = (0..).map(|step| (step * width) as f64 * series.bin_s);
            Layer {
                group,
                steps: starts.zip(heights.iter().copied()).collect(),
            }
        })
        .collect()
}

/// Rate of `flows` between two bins, Mbit/s.
fn mbps(shares: &[Vec<u64>], bin_s: f64, flows: &[usize], bins: Range<usize>) -> f64 {
    let of = flows.iter().filter_map(|flow| shares.get(*flow));
    let bytes: u64 = of
        .map(|list| list.iter().take(bins.end).skip(bins.start).sum::<u64>())
        .sum();
    bytes as f64 * 8e-6 / (bins.len().max(1) as f64 * bin_s)
}

/// Which colour and edge is which entry of the traffic.
fn legend(stacks: &[Vec<Layer>]) -> Markup {
    let mut groups: Vec<&Group> = Vec::new();
    for layer in stacks.iter().flatten() {
        if !groups.iter().any(|group| group.name == layer.group.name) {
            groups.push(&layer.group);
        }
    }
    html! {
        p class="legend" {
            @for group in groups {
                span { i class=(format!("patch {}", look(group))) {} (group.title()) }
            }
        }
    }
}
