//! Which class each flow is in over time, for disciplines with classes.

use super::frame::section as wrap;
use super::report::{Card, Report, Size};
use super::rows::{Bar, Part, Rows};
use crate::draw::palette::HUES;
use crate::draw::values::PlotKey;
use maud::{Markup, html};
use measure::Series;

/// Height of the row of a single flow, and the most that a row of many may have.
const ROW: f64 = 16.0;
const TALLEST: f64 = 72.0;
/// Ways in which bars are broken (`plot.css`).
const HATCHES: usize = 4;
/// Flows at the same time that are drawn below one another in a row.
const MOST_LANES: usize = 24;

/// A chart for each run of a discipline with classes, at each queue that mattered; at the first one with
/// classes if those have none.
pub fn section(report: &Report<'_>) -> Markup {
    let mut queues: Vec<usize> = report.queues();
    queues.retain(|queue| {
        report
            .drawn
            .iter()
            .any(|drawn| has_moved(drawn.series, *queue))
    });
    if queues.is_empty() {
        let first = report.drawn.iter().filter_map(|drawn| {
            (0..drawn.series.classes.len()).find(|queue| has_moved(drawn.series, *queue))
        });
        queues.extend(first.min());
    }
    let mut names: Vec<&str> = Vec::new();
    for drawn in &report.drawn {
        let of = queues
            .iter()
            .filter(|queue| has_moved(drawn.series, **queue));
        for class in of.flat_map(|queue| &drawn.series.classes[*queue]) {
            if !names.contains(&class.as_str()) {
                names.push(class);
            }
        }
    }
    let charts = queues.iter().map(|&queue| {
        let file = match queue {
            0 => "classes".to_owned(),
            _ => format!("classes-{}", report.queue_name(queue)),
        };
        let cards = report.cards("column", &file, |card| chart(report, &names, queue, &card));
        (report.queue_name(queue), cards)
    });
    let charts: Vec<(&str, Markup)> = charts.collect();
    let content = html! {
        @if !charts.is_empty() {
            p class="legend" {
                @for (number, name) in names.iter().enumerate() {
                    span { i class=(format!("patch {}", look(number))) {} (name) }
                }
            }
            @for (queue, cards) in &charts {
                @if queues != [0] { h3 { "Queue of " (queue) } }
                (cards)
            }
            p class="note" {
                "Flows that share a row are drawn below one another, each from its first packet in \
                 the queue to its last."
            }
        }
    };
    wrap("classes", "Class of each flow", &content)
}

/// Whether a queue has put a flow into a class.
fn has_moved(series: &Series, queue: usize) -> bool {
    let has_classes = series
        .classes
        .get(queue)
        .is_some_and(|classes| !classes.is_empty());
    has_classes && series.moves.iter().any(|(_, at, ..)| *at == queue)
}

/// The look of the class `number`: colours darker, or lighter, than those of disciplines, and bars
/// that are broken in ways that tell them apart without colour.
fn look(number: usize) -> String {
    format!("c{} h{}", HUES + number % HUES, number % HATCHES)
}

fn chart(
    report: &Report<'_>,
    names: &[&str],
    queue: usize,
    card: &Card<'_>,
) -> Option<(String, Markup)> {
    let (run, series) = (card.run, card.series);
    if !has_moved(series, queue) {
        return None;
    }
    let groups = report.subject.groups(series);
    let titles: Vec<String> = groups.iter().map(|group| group.title()).collect();
    let parts: Vec<Part> = names
        .iter()
        .enumerate()
        .map(|(number, name)| Part::new(name, &format!("bar {}", look(number))))
        .collect();
    let keys = names.iter().enumerate().map(|(number, name)| PlotKey {
        name: (*name).to_owned(),
        classes: look(number),
        shape: None,
    });
    let keys: Vec<PlotKey> = keys.collect();
    // A class by its name, so that it has the same colour in every chart.
    let place = |class: u8| {
        let name = series.classes[queue].get(usize::from(class))?;
        names.iter().position(|other| other == name)
    };
    let mut hidden = 0;
    let mut lanes_of = Vec::new();
    for group in &groups {
        let mut lanes: Vec<Vec<Bar>> = Vec::new();
        for &flow in &group.flows {
            let bars = bars(series, queue, flow, report.subject.duration_s, place);
            hidden += usize::from(!settle(&mut lanes, bars));
        }
        lanes_of.push(lanes);
    }
    let draw = |size: Size| {
        let of = titles.iter().map(String::as_str);
        let mut rows = Rows::new(size.width, report.time_axis(), of);
        for (title, lanes) in titles.iter().zip(&lanes_of) {
            let height = (ROW + lanes.len().saturating_sub(1) as f64 * 4.0).min(TALLEST);
            rows.row("", title, height, &parts, lanes);
        }
        let title = format!("class of each flow with {}", run.discipline);
        rows.finish(&title, keys.clone())
    };
    let mut facts: Vec<String> = Vec::new();
    if hidden > 0 {
        facts.push(format!(
            "{hidden} flows beyond {MOST_LANES} at a time are not drawn"
        ));
    }
    let plot = report.wide(card.file, draw, &html! {});
    Some((facts.join("; "), plot))
}

/// A flow's classes, from its first packet to its last.
fn bars(
    series: &Series,
    queue: usize,
    flow: usize,
    end_s: f64,
    place: impl Fn(u8) -> Option<usize>,
) -> Vec<Bar> {
    let moves: Vec<(f64, u8)> = series
        .moves
        .iter()
        .filter(|(_, at, of, _)| (*at, *of) == (queue, flow))
        .map(|(time, .., class)| (*time, *class))
        .collect();
    let last_bin = series
        .share
        .get(queue)
        .and_then(|flows| flows.get(flow))
        .and_then(|bins| bins.iter().rposition(|bytes| *bytes > 0));
    let last = last_bin
        .map_or(end_s, |bin| (bin + 1) as f64 * series.bin_s)
        .min(end_s);
    moves
        .iter()
        .enumerate()
        .filter_map(|(number, (from, class))| {
            let to = moves.get(number + 1).map_or(last.max(*from), |next| next.0);
            Some(Bar {
                from: *from,
                to,
                class: place(*class)?,
            })
        })
        .collect()
}

/// Puts a flow's bars on the first lane that is free by then. Whether there was one.
fn settle(lanes: &mut Vec<Vec<Bar>>, bars: Vec<Bar>) -> bool {
    let Some(from) = bars.first().map(|bar| bar.from) else {
        return true;
    };
    let free = |lane: &Vec<Bar>| lane.last().is_none_or(|last| last.to <= from);
    match lanes.iter().position(free) {
        Some(lane) => lanes[lane].extend(bars),
        None if lanes.len() < MOST_LANES => lanes.push(bars),
        None => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(from: f64, to: f64, class: usize) -> Bar {
        Bar { from, to, class }
    }

    #[test]
    fn a_flow_is_in_a_class_until_it_moves_or_ends() {
        let series = Series {
            bin_s: 0.5,
            // Flow 1 sends in bins 0 to 3, that is until 2 s.
            share: vec![vec![vec![], vec![9, 9, 9, 9, 0]]],
            moves: vec![
                (0.1, 0, 1, 0),
                (0.2, 1, 1, 2),
                (0.3, 0, 0, 1),
                (1.5, 0, 1, 2),
            ],
            ..Series::default()
        };
        let found = bars(&series, 0, 1, 10.0, |class| Some(usize::from(class)));
        assert_eq!(found, [bar(0.1, 1.5, 0), bar(1.5, 2.0, 2)]);
    }

    #[test]
    fn flows_after_one_another_share_a_lane() {
        let mut lanes = Vec::new();
        for (from, to) in [(0.0, 2.0), (1.0, 3.0), (2.0, 4.0)] {
            assert!(settle(&mut lanes, vec![bar(from, to, 0)]));
        }
        assert_eq!(
            lanes,
            [
                vec![bar(0.0, 2.0, 0), bar(2.0, 4.0, 0)],
                vec![bar(1.0, 3.0, 0)]
            ]
        );
        let mut full = vec![vec![bar(0.0, 9.0, 0)]; MOST_LANES];
        assert!(!settle(&mut full, vec![bar(1.0, 2.0, 0)]));
    }
}
