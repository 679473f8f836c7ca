//! Figures as plots.

use crate::Outcome;
use crate::figure::{self, Form, Panel, Series, Shown};
use maud::{Markup, html};
use measure::estimate::Estimate;
use report::draw::Drawing;
use report::draw::axis::{Axis, Ends};
use report::draw::plot::Plot;
use report::{Look, looks};

/// Size of a panel in pixels: two of them beside one another on a screen, one on a phone.
const SIZE: (f64, f64) = (420.0, 290.0);
/// Height of a case's row where each has one.
const ROW: f64 = 42.0;
const TICKS: usize = 5;

/// What the cases of an outcome look like.
pub struct Looks<'a>(Vec<(&'a str, Look)>);

impl<'a> Looks<'a> {
    /// Of all figures together, so that a case looks the same in each.
    pub fn of(outcome: &'a Outcome<'_>) -> Self {
        let cases = outcome.experiment.written.cases.iter();
        let series = outcome.figures.iter().flat_map(|shown| &shown.panels);
        let shown = series.flat_map(|panel| panel.series.iter().map(|series| &*series.look));
        let mut names: Vec<&str> = Vec::new();
        for name in cases.map(|case| &*case.name).chain(shown) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let looks = looks(&names);
        Looks(names.into_iter().zip(looks).collect())
    }

    fn get(&self, name: &str) -> Look {
        let known = self.0.iter().find(|(known, _)| *known == name);
        known.map_or_else(|| looks(&[name])[0], |(_, look)| *look)
    }

    /// Which line, or marker, is which case.
    pub fn legend(&self, shown: &Shown) -> Markup {
        let mut names: Vec<&str> = Vec::new();
        for series in shown.panels.first().map_or(&[][..], |panel| &panel.series) {
            if !names.contains(&series.look.as_str()) {
                names.push(&series.look);
            }
        }
        html! {
            p class="legend" {
                @for name in names { span { (self.get(name).swatch()) (name) } }
            }
        }
    }
}

/// All plots of an outcome, each with the name of its file.
pub fn plots(outcome: &Outcome<'_>) -> Vec<(String, Drawing)> {
    let looks = Looks::of(outcome);
    let panels = outcome.figures.iter().flat_map(|shown| {
        let panels = shown.panels.iter();
        panels.map(move |panel| (shown, panel))
    });
    let named = |(shown, panel): (&Shown, &Panel)| {
        let name = format!("{} {}", shown.title, panel.title);
        (name.trim().to_lowercase(), plot(&looks, shown, panel))
    };
    panels.map(named).collect()
}

/// A panel as a plot.
pub fn plot(looks: &Looks<'_>, shown: &Shown, panel: &Panel) -> Drawing {
    let mut plot = empty(shown, panel);
    if let (Some(limit), true) = (shown.limit, shown.kind != Form::Bars) {
        plot.level(limit, &figure::number(limit));
    }
    for (place, series) in (0..).zip(&panel.series) {
        let look = looks.get(&series.look);
        let key = look.key(&series.case);
        plot.series(&key, "", |plot| {
            draw(
                plot,
                (shown.kind, shown.sampled),
                f64::from(place),
                series,
                look,
            );
        });
    }
    if shown.kind == Form::Scatter {
        for series in &panel.series {
            if let [Some(x), Some(y)] = series.values[..] {
                plot.label((x.value, y.value), &series.case);
            }
        }
    }
    plot.finish(format!("{} {}", shown.title, panel.title).trim())
}

/// The axes of a panel.
fn empty(shown: &Shown, panel: &Panel) -> Plot {
    let label = &shown.axes;
    let all = |place: Option<usize>| -> Vec<(f64, Option<Ends>)> {
        let of = panel.series.iter().flat_map(|series| match place {
            Some(place) => &series.values[place..=place],
            None => &series.values[..],
        });
        of.flatten().map(|of| (of.value, of.ci95)).collect()
    };
    match shown.kind {
        Form::Lines => {
            let places = Axis::places(&label[0], &panel.columns);
            // A limit is seen beside the values, and so it is one more.
            let limit = shown.limit.map(|limit| (limit, None));
            let values: Vec<(f64, Option<Ends>)> = all(None).into_iter().chain(limit).collect();
            let y = Axis::of_cases(&label[1], &values, true, TICKS);
            Plot::new(SIZE.0, SIZE.1, places, y)
        }
        Form::Bars => {
            let names: Vec<String> = panel.series.iter().map(|s| s.case.clone()).collect();
            let x = Axis::of_cases(&label[1], &all(None), true, TICKS);
            Plot::rows(SIZE.0, ROW, x, &names)
        }
        Form::Scatter => {
            let [x, y] =
                [0, 1].map(|place| Axis::of_cases(&label[place], &all(Some(place)), true, TICKS));
            Plot::new(SIZE.0, SIZE.1, x, y)
        }
        Form::Distribution => {
            let values = panel.series.iter().flat_map(|series| &series.all);
            let x = Axis::from_zero(&label[0], values.copied().fold(0.0, f64::max), TICKS);
            Plot::new(SIZE.0, SIZE.1, x, Axis::percent("share of them"))
        }
    }
}

fn draw(plot: &mut Plot, (kind, sampled): (Form, bool), place: f64, series: &Series, look: Look) {
    let marker = |plot: &mut Plot, at: (f64, f64), ends: [Option<Ends>; 2], sure: bool| {
        plot.marker(look.shape(), at, ends, sure || !sampled, &series.case);
    };
    let sure = |of: &Estimate| of.ci95.is_some();
    match kind {
        Form::Lines => {
            let points: Vec<(f64, Option<f64>)> = (0..)
                .zip(&series.values)
                .map(|(place, value)| (f64::from(place), value.map(|e| e.value)))
                .collect();
            plot.line("", &points);
            for (at, value) in (0..).zip(&series.values) {
                if let Some(of) = value {
                    marker(plot, (f64::from(at), of.value), [None, of.ci95], sure(of));
                }
            }
        }
        Form::Bars => {
            if let Some(Some(of)) = series.values.first() {
                marker(plot, (of.value, place), [of.ci95, None], sure(of));
            }
        }
        Form::Scatter => {
            if let [Some(x), Some(y)] = &series.values[..] {
                let both = sure(x) && sure(y);
                marker(plot, (x.value, y.value), [x.ci95, y.ci95], both);
            }
        }
        Form::Distribution => plot.distribution(&mut series.all.clone(), series.all.len()),
    }
}
