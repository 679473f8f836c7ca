//! Markers of values.

use super::svg::coordinate as c;
use maud::{Markup, html};

/// How many shapes there are.
pub const SHAPES: usize = 8;

/// A marker, hollow if the uncertainty of its value is unknown. A pointer over it shows `about`.
pub fn marker(shape: usize, (x, y): (f64, f64), filled: bool, about: &str) -> Markup {
    let title = html! { @if !about.is_empty() { title { (about) } } };
    let class = if filled { "marker" } else { "marker hollow" };
    let corners: &[(f64, f64)] = match shape % SHAPES {
        0 => return html! { circle class=(class) cx=(c(x)) cy=(c(y)) r="5" { (title) } },
        1 => &[(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)],
        2 => &[(0.0, -5.5), (5.5, 4.5), (-5.5, 4.5)],
        3 => &[(0.0, -6.0), (6.0, 0.0), (0.0, 6.0), (-6.0, 0.0)],
        4 => &[(0.0, 5.5), (5.5, -4.5), (-5.5, -4.5)],
        5 => &[(-6.0, -2.5), (6.0, -2.5), (6.0, 2.5), (-6.0, 2.5)],
        6 => &[
            (-2.0, -6.0),
            (2.0, -6.0),
            (2.0, -2.0),
            (6.0, -2.0),
            (6.0, 2.0),
            (2.0, 2.0),
            (2.0, 6.0),
            (-2.0, 6.0),
            (-2.0, 2.0),
            (-6.0, 2.0),
            (-6.0, -2.0),
            (-2.0, -2.0),
        ],
        _ => &[(-5.5, -5.0), (5.5, -5.0), (-5.5, 5.0), (5.5, 5.0)],
    };
    let points: Vec<String> = corners
        .iter()
        .map(|(dx, dy)| format!("{},{}", c(x + dx), c(y + dy)))
        .collect();
    html! { polygon class=(class) points=(points.join(" ")) { (title) } }
}
