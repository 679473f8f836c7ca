//! Figures as plots.

use crate::Outcome;
use crate::figure::{Form, Panel, Series, ShownFigure, number};
use maud::{Markup, html};
use measure::estimate::Estimate;
use report::draw::Drawing;
use report::draw::axis::{Axis, Ends};
use report::draw::plot::Plot;
use report::{Look, looks};

/// Width and height of a panel in pixels: two of them side by side on a screen, one on a phone.
const PANEL: (f64, f64) = (420.0, 290.0);
/// The same of one that is alone, on a screen.
const ALONE: (f64, f64) = (900.0, 380.0);
/// Height of a case's row if each has one.
const ROW: f64 = 42.0;
const TICKS: usize = 5;

/// The look of an outcome's cases.
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
    pub fn legend(&self, shown: &ShownFigure) -> Markup {
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
    let named = |(shown, panel): (&ShownFigure, &Panel)| {
        let name = format!("{} {}", shown.title, panel.title);
        let size = if shown.panels.len() == 1 {
            ALONE
        } else {
            PANEL
        };
        (name.trim().to_lowercase(), plot(&looks, shown, panel, size))
    };
    panels.map(named).collect()
}

/// The plots of a figure.
pub fn figure(looks: &Looks<'_>, shown: &ShownFigure) -> Markup {
    let noted = |drawing: &Drawing| html! { p class="note" { (drawing.remarks().trim()) } };
    if let [panel] = &shown.panels[..] {
        let [wide, narrow] = [ALONE, PANEL].map(|size| plot(looks, shown, panel, size));
        return html! {
            figure { (wide.element("big")) (narrow.element("small")) (noted(&wide)) }
        };
    }
    html! {
        div class="grid" {
            @for panel in &shown.panels {
                @let plot = plot(looks, shown, panel, PANEL);
                figure {
                    figcaption { b { (panel.title) } }
                    (plot.element(""))
                    (noted(&plot))
                }
            }
        }
    }
}

/// A panel as a plot of so many pixels.
fn plot(looks: &Looks<'_>, shown: &ShownFigure, panel: &Panel, size: (f64, f64)) -> Drawing {
    let mut plot = empty(shown, panel, size);
    if let (Some(limit), true) = (shown.limit, shown.kind != Form::Bars) {
        plot.level(limit, &number(limit));
    }
    let cases = panel.series.len();
    for (place, series) in panel.series.iter().enumerate() {
        let place = match shown.kind {
            Form::Lines => beside(place, cases),
            _ => place as f64,
        };
        let look = looks.get(&series.look);
        let key = look.key(&series.case);
        plot.series(&key, "", |plot| {
            draw(plot, (shown.kind, shown.sampled), place, series, look);
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

/// Offset from its place on the axis at which a case of so many is drawn, so that intervals do not
/// cover each other.
fn beside(case: usize, cases: usize) -> f64 {
    let step = (0.5 / cases.max(1) as f64).min(0.07);
    (case as f64 - (cases.saturating_sub(1)) as f64 / 2.0) * step
}

/// The axes of a panel.
fn empty(shown: &ShownFigure, panel: &Panel, size: (f64, f64)) -> Plot {
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
            // A limit is drawn next to the values, and so it is one more.
            let limit = shown.limit.map(|limit| (limit, None));
            let values: Vec<(f64, Option<Ends>)> = all(None).into_iter().chain(limit).collect();
            let y = Axis::of_cases(&label[1], &values, true, TICKS);
            Plot::new(size.0, size.1, places, y)
        }
        Form::Bars => {
            let names: Vec<String> = panel.series.iter().map(|s| s.case.clone()).collect();
            let x = Axis::of_cases(&label[1], &all(None), true, TICKS);
            Plot::rows(size.0, ROW, x, &names)
        }
        Form::Scatter => {
            let [x, y] =
                [0, 1].map(|place| Axis::of_cases(&label[place], &all(Some(place)), true, TICKS));
            Plot::new(size.0, size.1, x, y)
        }
        Form::Distribution => {
            let values = panel.series.iter().flat_map(|series| &series.all);
            let x = Axis::from_zero(&label[0], values.copied().fold(0.0, f64::max), TICKS);
            Plot::new(size.0, size.1, x, Axis::percent("share of them"))
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
                .map(|(at, value)| (f64::from(at) + place, value.map(|e| e.value)))
                .collect();
            plot.line("", &points);
            for (at, value) in (0..).zip(&series.values) {
                if let Some(of) = value {
                    marker(
                        plot,
                        (f64::from(at) + place, of.value),
                        [None, of.ci95],
                        sure(of),
                    );
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

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, ci95: Option<Ends>) -> Option<Estimate> {
        Some(Estimate {
            value,
            ci95,
            units: 5,
        })
    }

    fn shown(kind: Form, values: [Vec<Option<Estimate>>; 2]) -> ShownFigure {
        let series = ["confucius", "a case with a long name"]
            .into_iter()
            .zip(values);
        let series = series.map(|(case, values)| Series {
            case: case.to_owned(),
            look: case.to_owned(),
            values,
            all: Vec::new(),
        });
        ShownFigure {
            title: "t".to_owned(),
            kind,
            axes: ["x".to_owned(), "y, ms".to_owned()],
            limit: None,
            sampled: true,
            panels: vec![Panel {
                title: String::new(),
                columns: vec!["1bdp".to_owned(), "2bdp".to_owned()],
                series: series.collect(),
            }],
        }
    }

    fn drawn(shown: &ShownFigure) -> Drawing {
        plot(&Looks(Vec::new()), shown, &shown.panels[0], PANEL)
    }

    #[test]
    fn intervals_lie_on_the_axis_and_beside_one_another() {
        let of = |value: f64, high: f64| estimate(value, Some((0.5, high)));
        let lines = [vec![of(1.0, 2.9), of(2.0, 2.5)], vec![of(1.0, 5.5), None]];
        let shown = shown(Form::Lines, lines);
        let drawing = drawn(&shown);
        assert!(drawing.y.holds(5.5) && !drawing.cut && !drawing.hollow);
        let csv = drawing.csv().unwrap();
        assert!(csv.contains("confucius,point,,1bdp,,,1,0.5,2.9\n"), "{csv}");
        let at = |place: usize| {
            drawing
                .values
                .iter()
                .filter(move |v| v.y_ends.is_some())
                .nth(place)
        };
        assert_ne!(at(0).unwrap().x, at(2).unwrap().x);
    }

    #[test]
    fn what_has_no_interval_is_hollow_unless_it_is_no_sample() {
        let bars = || {
            [
                vec![estimate(1.0, None)],
                vec![estimate(2.0, Some((1.0, 60.0)))],
            ]
        };
        let mut shown = shown(Form::Bars, bars());
        let drawing = drawn(&shown);
        assert!(drawing.hollow, "one of them has none");
        assert!(drawing.cut, "60 is more than three times the largest value");
        assert!(
            drawing
                .content
                .0
                .contains(">a case with a long name</text>")
        );
        shown.sampled = false;
        assert!(!drawn(&shown).hollow);
    }

    #[test]
    fn a_figure_of_one_panel_is_drawn_for_screens_and_for_phones() {
        let mut shown = shown(Form::Lines, [vec![], vec![]]);
        let page = |shown: &ShownFigure| figure(&Looks(Vec::new()), shown).0;
        let alone = page(&shown);
        assert!(
            alone.contains("<svg class=\"big\" viewBox=\"0 0 900 "),
            "{alone}"
        );
        assert!(
            alone.contains("<svg class=\"small\" viewBox=\"0 0 420 "),
            "{alone}"
        );
        shown.panels.push(shown.panels[0].clone());
        let two = page(&shown);
        assert_eq!(two.matches("<svg viewBox=\"0 0 420 ").count(), 2, "{two}");
    }

    #[test]
    fn one_case_that_flattens_the_rest_makes_a_logarithmic_axis() {
        let lines = [
            vec![estimate(1.0, None); 2],
            vec![estimate(1.0, None), estimate(90.0, None)],
        ];
        let drawing = drawn(&shown(Form::Lines, lines));
        assert!(drawing.y.is_log());
        assert_eq!(drawing.y.label, "y, ms (log scale)");
    }
}
