//! What senders were at over time.

use super::frame::section as wrap;
use super::look::looks;
use super::report::{CARD, Report};
use crate::draw::Point;
use crate::draw::axis::Axis;
use crate::draw::plot::Plot;
use maud::{Markup, html};
use measure::SenderResult;

/// Flows that are drawn of a run: more lines cannot be told apart.
const MOST: usize = 8;

/// Something that is drawn of senders: its title and unit, its file, and a value for each moment.
type Drawn = (
    &'static str,
    &'static str,
    fn(&SenderResult) -> Vec<Option<f64>>,
);

const DRAWN: [Drawn; 3] = [
    ("window, kB", "window", |of| {
        let kilo = |bytes: &Option<u64>| bytes.map(|bytes| bytes as f64 / 1e3);
        of.window_bytes.iter().map(kilo).collect()
    }),
    ("acknowledged, Mbit/s", "delivered", |of| {
        of.delivered_mbps.clone()
    }),
    ("round trip, ms", "srtt", |of| of.srtt_ms.clone()),
];

/// Windows, rates and round trips in each run that is drawn, if its scenario asks for them.
pub fn section(report: &Report<'_>) -> Markup {
    let content = html! { @for of in &DRAWN { (plots(report, of)) } };
    wrap("senders", "Senders", &content)
}

/// The plots of one thing, on the same axis.
fn plots(report: &Report<'_>, &(label, file, value): &Drawn) -> Markup {
    let senders = report
        .drawn
        .iter()
        .flat_map(|drawn| drawn.run.senders.iter().take(MOST));
    let values = senders.flat_map(value).flatten();
    let most = values.fold(0.0, f64::max);
    if most <= 0.0 {
        return html! {};
    }
    let axis = Axis::from_zero(label, most, 5);
    let names = names(report);
    let looks = looks(&names);
    let cards = report.cards("grid", &format!("senders-{file}"), |card| {
        let senders = card.run.senders.get(..MOST).unwrap_or(&card.run.senders);
        if senders.is_empty() {
            return None;
        }
        let mut plot = Plot::new(CARD, 210.0, report.time_axis(), axis.clone());
        report.shade(&mut plot, card.run);
        for sender in senders {
            let moments = sender.time_s.iter().copied();
            let points: Vec<Point> = moments.zip(value(sender)).collect();
            let place = names.iter().position(|name| *name == sender.name)?;
            let look = looks.get(place)?;
            plot.series(&look.key(&sender.name), "", |plot| plot.line("", &points));
        }
        let drawing = plot.finish(&format!("{label} with {}", card.run.discipline));
        let more = match card.run.senders.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" ({more} more flows are not drawn)"),
        };
        let fact = format!("{label}{more}");
        Some((fact, report.plot(card.file, drawing, &html! {})))
    });
    html! {
        p class="legend" {
            @for (name, look) in names.iter().zip(&looks) {
                span { (look.swatch()) (name) }
            }
        }
        (cards)
    }
}

/// The names of all flows that are drawn, once each.
fn names<'a>(report: &Report<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for drawn in &report.drawn {
        for sender in drawn.run.senders.iter().take(MOST) {
            if !names.contains(&sender.name.as_str()) {
                names.push(&sender.name);
            }
        }
    }
    names
}
