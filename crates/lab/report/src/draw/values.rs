//! The drawn data as numbers: for the table under a plot, and for other programs.

use super::axis::{Axis, Ends};
use measure::interval;

/// A named item of a plot, and how it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlotKey {
    /// Its name.
    pub name: String,
    /// Classes that give it its colour and dash.
    pub classes: String,
    /// Its marker's shape; none if it has no markers.
    pub shape: Option<usize>,
}

/// How a value is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A marker, with its interval.
    Point,
    /// A point of a line; without y, a gap.
    Line,
    /// A point of a line that holds each value until the next.
    Steps,
    /// The same, with the area below it.
    Area,
    /// A step of a distribution: the share of values up to this one.
    Share,
    /// A bar from one time to another.
    Span,
    /// A median with its quartiles.
    Box,
    /// The whiskers of a box.
    Whiskers,
}

impl Mark {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Point => "point",
            Mark::Line => "line",
            Mark::Steps => "steps",
            Mark::Area => "area",
            Mark::Share => "share",
            Mark::Span => "span",
            Mark::Box => "box",
            Mark::Whiskers => "whiskers",
        }
    }
}

/// A value that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnValue {
    /// Its series.
    pub series: String,
    /// How it is drawn.
    pub mark: Mark,
    /// The part of the series, if there are several.
    pub part: String,
    /// Its place across, and the ends of its interval there.
    pub x: Option<f64>,
    /// The ends of its interval in x.
    pub x_ends: Option<Ends>,
    /// Its place upright.
    pub y: Option<f64>,
    /// The ends of its interval in y.
    pub y_ends: Option<Ends>,
}

/// A table: its head, and its rows.
pub type Table = (Vec<String>, Vec<Vec<String>>);

/// The head of files with values.
pub const HEAD: [&str; 9] = [
    "series", "mark", "part", "x", "x_low", "x_high", "y", "y_low", "y_high",
];

/// A value as a row of such a file.
pub fn row(value: &DrawnValue, x: &Axis, y: &Axis) -> [String; 9] {
    let text = |axis: &Axis, number: Option<f64>| number.map_or(String::new(), |n| axis.written(n));
    let ends = |axis: &Axis, ends: Option<Ends>| {
        [ends.map(|ends| ends.0), ends.map(|ends| ends.1)].map(|end| text(axis, end))
    };
    let ([x_low, x_high], [y_low, y_high]) = (ends(x, value.x_ends), ends(y, value.y_ends));
    [
        value.series.clone(),
        value.mark.name().to_owned(),
        value.part.clone(),
        text(x, value.x),
        x_low,
        x_high,
        text(y, value.y),
        y_low,
        y_high,
    ]
}

/// The text version of a plot: its markers one by one, boxes by their five numbers, bars by their
/// number and sum, and lines by their range.
pub fn digest(values: &[DrawnValue], x: &Axis, y: &Axis) -> Table {
    let Some(first) = values.first() else {
        return (Vec::new(), Vec::new());
    };
    let has = |mark: Mark| values.iter().any(|value| value.mark == mark);
    if has(Mark::Box) {
        boxes(values, x)
    } else if has(Mark::Point) {
        points(values, x, y)
    } else {
        match first.mark {
            Mark::Span => spans(values),
            Mark::Share => shares(values),
            _ => lines(values, y),
        }
    }
}

fn head(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

fn points(values: &[DrawnValue], x: &Axis, y: &Axis) -> Table {
    let points = || values.iter().filter(|value| value.mark == Mark::Point);
    let text = |axis: &Axis, value: Option<f64>, ends: Option<Ends>| match (value, ends) {
        (None, _) => "–".to_owned(),
        (Some(value), _) if !axis.names().is_empty() => axis.written(value),
        (Some(value), Some(ends)) => {
            format!(
                "{} ({})",
                number(value),
                interval::written(value, ends, number)
            )
        }
        (Some(value), None) => number(value),
    };
    let row = |value: &DrawnValue| {
        let mut row = vec![value.series.clone(), text(x, value.x, value.x_ends)];
        row.extend((!y.label.is_empty()).then(|| text(y, value.y, value.y_ends)));
        row
    };
    let mut titles = vec!["of", &*x.label];
    titles.extend((!y.label.is_empty()).then_some(&*y.label));
    (head(&titles), points().map(row).collect())
}

fn boxes(values: &[DrawnValue], x: &Axis) -> Table {
    let row = |of: &DrawnValue| {
        let of_it = || values.iter().filter(|value| value.series == of.series);
        let points: Vec<f64> = of_it()
            .filter(|value| value.mark == Mark::Point)
            .filter_map(|value| value.x)
            .collect();
        let quartiles = of_it().find(|value| value.mark == Mark::Box);
        let least = points.iter().copied().reduce(f64::min);
        let most = points.iter().copied().reduce(f64::max);
        let ends = quartiles.and_then(|value| value.x_ends);
        let text = |value: Option<f64>| value.map_or("–".to_owned(), number);
        let mut row = vec![of.series.clone(), points.len().to_string()];
        row.extend([
            text(least),
            text(ends.map(|ends| ends.0)),
            text(quartiles.and_then(|value| value.x)),
            text(ends.map(|ends| ends.1)),
            text(most),
        ]);
        row
    };
    let titles = [&*x.label, "runs", "least", "25 %", "median", "75 %", "most"];
    (head(&titles), firsts(values).map(row).collect())
}

fn spans(values: &[DrawnValue]) -> Table {
    let row = |of: &DrawnValue| {
        let lengths = alike(values, of).filter_map(|value| value.x_ends);
        let (count, sum) = lengths.fold((0, 0.0), |(count, sum), (from, to)| {
            (count + 1, sum + (to - from))
        });
        vec![
            of.series.clone(),
            of.part.clone(),
            count.to_string(),
            number(sum),
        ]
    };
    let titles = ["of", "what", "how often", "together, s"];
    (head(&titles), firsts(values).map(row).collect())
}

fn shares(values: &[DrawnValue]) -> Table {
    let row = |of: &DrawnValue| {
        let at = |share: f64| {
            let reached = |value: &&DrawnValue| value.y.is_some_and(|y| y >= share - 1e-9);
            let value = alike(values, of).find(reached).and_then(|value| value.x);
            value.map_or("–".to_owned(), number)
        };
        let shares = [0.25, 0.5, 0.75, 0.95, 1.0].map(at);
        [of.series.clone()].into_iter().chain(shares).collect()
    };
    let titles = ["of", "25 %", "50 %", "75 %", "95 %", "100 %"];
    (head(&titles), firsts(values).map(row).collect())
}

fn lines(values: &[DrawnValue], y: &Axis) -> Table {
    let row = |of: &DrawnValue| {
        let mut all: Vec<f64> = alike(values, of).filter_map(|value| value.y).collect();
        all.sort_by(f64::total_cmp);
        let at = |place: usize| {
            all.get(place)
                .map_or("–".to_owned(), |value| number(*value))
        };
        let last = all.len().saturating_sub(1);
        let name = [of.series.as_str(), of.part.as_str()];
        let name: Vec<&str> = name.into_iter().filter(|part| !part.is_empty()).collect();
        vec![name.join(", "), at(0), at(last / 2), at(last)]
    };
    let median = format!("median {}", y.label);
    (
        head(&["of", "least", &median, "most"]),
        firsts(values).map(row).collect(),
    )
}

fn alike<'a>(
    values: &'a [DrawnValue],
    of: &DrawnValue,
) -> impl Iterator<Item = &'a DrawnValue> + use<'a> {
    let (series, part) = (of.series.clone(), of.part.clone());
    values
        .iter()
        .filter(move |value| value.series == series && value.part == part)
}

/// The first value of each series and part.
fn firsts(values: &[DrawnValue]) -> impl Iterator<Item = &DrawnValue> {
    let mut known: Vec<(&str, &str)> = Vec::new();
    values.iter().filter(move |value| {
        let of = (value.series.as_str(), value.part.as_str());
        let new = !known.contains(&of);
        known.extend(new.then_some(of));
        new
    })
}

/// A number with at least three digits that count.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if !(1e-9..99.95).contains(&size) => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.095 => 2,
        _ => 4,
    };
    rounded(value, decimals)
}

/// With so many decimals, and no minus before a zero.
pub fn rounded(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() {
        "0".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(series: &str, mark: Mark, x: f64, y: f64) -> DrawnValue {
        DrawnValue {
            series: series.to_owned(),
            mark,
            part: String::new(),
            x: Some(x),
            x_ends: None,
            y: Some(y),
            y_ends: None,
        }
    }

    fn axes() -> (Axis, Axis) {
        (
            Axis::exact("t, s", 0.0, 9.0, 4),
            Axis::exact("ms", 0.0, 9.0, 4),
        )
    }

    #[test]
    fn rows_hold_a_value_and_the_ends_of_its_intervals() {
        let (x, y) = axes();
        let point = DrawnValue {
            y_ends: Some((0.5, 4.0)),
            ..value("a,b", Mark::Point, 1.0, 2.0)
        };
        let row = row(&point, &x, &y);
        assert_eq!(row, ["a,b", "point", "", "1", "", "", "2", "0.5", "4"]);
    }

    #[test]
    fn points_are_read_one_by_one_and_lines_by_where_they_lie() {
        let (x, y) = axes();
        let point = DrawnValue {
            y_ends: Some((0.5, 4.0)),
            ..value("a", Mark::Point, 1.0, 2.0)
        };
        let (head, rows) = digest(&[point], &x, &y);
        assert_eq!(head, ["of", "t, s", "ms"]);
        assert_eq!(rows, [["a", "1.00", "2.00 (0.50 to 4.00)"]]);
        let line = [3.0, 1.0, 8.0].map(|y| value("a", Mark::Line, 0.0, y));
        let (_, rows) = digest(&line, &x, &y);
        assert_eq!(rows, [["a", "1.00", "3.00", "8.00"]]);
        let steps = [(2.0, 0.5), (6.0, 0.75)].map(|(x, y)| value("a", Mark::Share, x, y));
        let (_, rows) = digest(&steps, &x, &y);
        assert_eq!(rows, [["a", "2.00", "2.00", "6.00", "–", "–"]]);
    }
}
