//! The line at the foot of a plot, with its ticks.

use super::axis::Axis;
use super::labels::CHARACTER;
use super::svg::{SvgPath, coordinate as c, short};
use maud::{Markup, html};

/// Rows that the names of places may take.
const MOST_ROWS: usize = 3;
/// Height of a row.
const ROW: f64 = 14.0;
/// Air between two texts.
const AIR: f64 = 6.0;
/// How far a text may reach beyond the line's right end.
const BEYOND: f64 = 13.0;

/// The line at the foot of a plot, its ticks, and below them the name of the axis; and the room
/// that they take beyond one row of texts. Texts do not cover each other: names of places stand in
/// several rows if necessary, and names without room have a tick only.
pub fn abscissa(axis: &Axis, ends: (f64, f64), floor: f64, bottom: f64) -> (Markup, f64) {
    let (left, right) = ends;
    let at = |value: f64| left + axis.place(value) * (right - left);
    let mut path = SvgPath::default();
    path.start(left, floor);
    path.across(right);
    for (value, _) in axis.ticks() {
        path.start(at(*value), floor);
        path.upright(floor + 4.0);
    }
    let most = if axis.names().is_empty() {
        1
    } else {
        MOST_ROWS
    };
    let ticks = axis.ticks().iter();
    let spans: Vec<(f64, f64)> = ticks
        .map(|(value, text)| {
            let half = text.chars().count() as f64 * CHARACTER / 2.0;
            let middle = at(*value).min(right + BEYOND - half).max(half + 1.0);
            (middle - half, middle + half)
        })
        .collect();
    let rows = rows(&spans, most);
    let below = rows
        .iter()
        .flatten()
        .max()
        .map_or(0.0, |row| *row as f64 * ROW);
    let long = ((right - 4.0) / CHARACTER) as usize;
    let markup = html! {
        (path.element("frame"))
        @for ((span, (_, text)), row) in spans.iter().zip(axis.ticks()).zip(&rows) {
            @if let Some(row) = row {
                @let y = floor + 16.0 + *row as f64 * ROW;
                text x=(c((span.0 + span.1) / 2.0)) y=(c(y)) text-anchor="middle" { (text) }
            }
        }
        text class="axis" x=(c(right)) y=(c(bottom + below - 5.0)) text-anchor="end" {
            (short(&axis.label, long))
        }
    };
    (markup, below)
}

/// A row for each of these spans in which it covers no other; the fewest rows that will do.
fn rows(spans: &[(f64, f64)], most: usize) -> Vec<Option<usize>> {
    let settle = |rows: usize| -> Vec<Option<usize>> {
        let mut ends = vec![f64::NEG_INFINITY; rows];
        let place = |(from, to): &(f64, f64)| {
            let row = ends.iter().position(|end| *from >= end + AIR)?;
            ends[row] = *to;
            Some(row)
        };
        spans.iter().map(place).collect()
    };
    let all = (1..most)
        .map(settle)
        .find(|rows| rows.iter().all(Option::is_some));
    all.unwrap_or_else(|| settle(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("buffer={n}bdp")).collect()
    }

    #[test]
    fn names_that_would_touch_stand_in_rows() {
        // Names of 13 characters take 91 pixels; three have 100 each, six 50.
        let foot = |count| {
            let axis = Axis::places("b", &names(count));
            abscissa(&axis, (50.0, 350.0), 100.0, 138.0)
        };
        assert_eq!(foot(3).1, 0.0);
        let (markup, below) = foot(6);
        assert_eq!(below, ROW);
        for name in names(6) {
            assert!(
                markup.0.contains(&format!(">{name}</text>")),
                "{}",
                markup.0
            );
        }
    }

    #[test]
    fn numbers_that_would_touch_are_left_out() {
        let axis = Axis::exact("v", 0.0, 100_000.0, 10);
        let (markup, below) = abscissa(&axis, (50.0, 250.0), 100.0, 138.0);
        assert_eq!(below, 0.0);
        let texts = markup.0.matches("text-anchor=\"middle\"").count();
        assert!((3..8).contains(&texts), "{}", markup.0);
    }

    #[test]
    fn rows_are_as_few_as_will_do() {
        assert_eq!(rows(&[(0.0, 5.0), (20.0, 25.0)], 3), [Some(0), Some(0)]);
        assert_eq!(rows(&[(0.0, 25.0), (20.0, 45.0)], 3), [Some(0), Some(1)]);
        assert_eq!(rows(&[(0.0, 25.0), (20.0, 45.0)], 1), [Some(0), None]);
    }
}
