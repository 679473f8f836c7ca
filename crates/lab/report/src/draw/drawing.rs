//! A drawing that is complete: an element of a page, a file of its own, and its values.

use super::axis::Axis;
use super::labels::CHARACTER;
use super::marker::marker;
use super::palette;
use super::svg::coordinate as c;
use super::values::{DrawnValue, HEAD, PlotKey, Table, digest, row};
use crate::tables;
use maud::{Markup, PreEscaped, html};
use std::io;

/// Variables of the style sheet: colours of light ground and dark.
pub const GROUND: &str = include_str!("ground.css");
/// Style rules of drawings.
pub const STYLE: &str = include_str!("plot.css");

/// Rows of a table under a drawing; longer ones are read in files.
const MOST_ROWS: usize = 200;

/// A complete drawing.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// Its title.
    pub title: String,
    /// The abscissa.
    pub x: Axis,
    /// The ordinate.
    pub y: Axis,
    /// Keys of the named items.
    pub keys: Vec<PlotKey>,
    /// The values drawn.
    pub values: Vec<DrawnValue>,
    /// Whether some marker is hollow: the uncertainty of its value is unknown.
    pub hollow: bool,
    /// Whether some interval goes beyond an axis.
    pub cut: bool,
    /// Its width and height in pixels.
    pub size: (f64, f64),
    /// Its contents.
    pub content: Markup,
}

impl Drawing {
    /// It as an element of a page, of these classes.
    pub fn element(&self, classes: &str) -> Markup {
        let view = format!("0 0 {} {}", c(self.size.0), c(self.size.1));
        let class = (!classes.is_empty()).then_some(classes);
        html! {
            svg class=[class] viewBox=(view) role="img" {
                title { (self.title) }
                desc { (self.about()) }
                (self.content)
            }
        }
    }

    /// The axes in words, for those who cannot see them.
    fn about(&self) -> String {
        let of = |name: &str, axis: &Axis| match (axis.names(), axis.ends()) {
            ([], (from, to)) if !axis.label.is_empty() => {
                format!("{name}: {}, from {from} to {to}. ", axis.label)
            }
            _ => String::new(),
        };
        let (x, y) = (of("Across", &self.x), of("Upright", &self.y));
        let values = if self.values.is_empty() {
            "There is nothing in it."
        } else {
            "Its values follow as a table."
        };
        format!("{x}{y}{values}")
    }

    /// Remarks on its marks.
    pub fn remarks(&self) -> &'static str {
        match (self.hollow, self.cut) {
            (true, true) => {
                " Hollow: there is no interval. An arrow: the interval goes on beyond the axis."
            }
            (true, false) => " Hollow: there is no interval.",
            (false, true) => " An arrow: the interval goes on beyond the axis.",
            (false, false) => "",
        }
    }

    /// Its values to read, folded away.
    pub fn table(&self) -> Markup {
        let (head, rows) = digest(&self.values, &self.x, &self.y);
        html! {
            @if !rows.is_empty() {
                details class="values" {
                    summary { "Values" }
                    div class="wide" tabindex="0" { (table(&self.title, &(head, rows))) }
                }
            }
        }
    }

    /// The drawing as a file of its own, with the meaning of its marks. Its ground is light, or dark where the viewer
    /// asks for that.
    pub fn svg(&self) -> String {
        let (width, height) = self.size;
        let (legend, below) = self.legend();
        let size = (c(width), c(height + below));
        let view = format!("0 0 {} {}", size.0, size.1);
        let style = style();
        let svg = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(view) width=(size.0) height=(size.1) role="img" {
                title { (self.title) }
                style { (PreEscaped(style)) }
                rect class="ground" width="100%" height="100%" {}
                (self.content)
                (legend)
            }
        };
        svg.into_string() + "\n"
    }

    /// Its keys below the drawing, and the room that they take.
    fn legend(&self) -> (Markup, f64) {
        const ROW: f64 = 20.0;
        let (mut x, mut y) = (14.0, self.size.1 + 14.0);
        let mut places = Vec::new();
        for key in &self.keys {
            let width = 46.0 + key.name.chars().count() as f64 * CHARACTER;
            if x > 14.0 && x + width > self.size.0 {
                (x, y) = (14.0, y + ROW);
            }
            places.push((key, x, y));
            x += width;
        }
        let below = if places.is_empty() {
            0.0
        } else {
            y - self.size.1 + 10.0
        };
        let legend = html! {
            @for (key, x, y) in places {
                g class=(key.classes) {
                    @match key.shape {
                        Some(shape) => {
                            path class="line" d=(format!("M{} {}h30", c(x), c(y))) {}
                            (marker(shape, (x + 15.0, y), true, ""))
                        }
                        None => {
                            path class="bar" stroke-width="12" d=(format!("M{} {}h26", c(x + 3.0), c(y))) {}
                            path class="line edge" d=(format!("M{} {}h26", c(x + 3.0), c(y - 6.0))) {}
                        }
                    }
                    text x=(c(x + 36.0)) y=(c(y + 4.0)) { (key.name) }
                }
            }
        };
        (legend, below)
    }

    /// The values drawn, as CSV.
    ///
    /// # Errors
    /// None in practice: all values can be written.
    pub fn csv(&self) -> io::Result<String> {
        let rows = self.values.iter().map(|value| row(value, &self.x, &self.y));
        tables::rows(&HEAD, rows)
    }
}

/// A table with a caption for screen readers.
fn table(caption: &str, (head, rows): &Table) -> Markup {
    html! {
        table {
            caption { (caption) }
            thead { tr { @for cell in head { th scope="col" { (cell) } } } }
            tbody {
                @for row in rows.iter().take(MOST_ROWS) {
                    tr {
                        @for (place, cell) in row.iter().enumerate() {
                            @if place == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

/// The style of a file: that on light ground, and for viewers that ask for it what differs on dark.
fn style() -> String {
    let mut grounds = GROUND.split(['{', '}']);
    let light = grounds.nth(1).unwrap_or_default();
    let dark = grounds.nth(2).unwrap_or_default();
    let coloured = STYLE.lines().filter(|rule| rule.contains("var("));
    let coloured: String = coloured.map(|rule| rule.to_owned() + "\n").collect();
    format!(
        "{}{}@media (prefers-color-scheme:dark){{{}{}}}",
        resolved(STYLE, light),
        palette::rules(false),
        resolved(&coloured, dark),
        palette::rules(true)
    )
}

/// Rules with the values of a ground's variables in their place: many programs that read SVG do not support
/// variables.
fn resolved(rules: &str, ground: &str) -> String {
    let set = ground.split(';').filter_map(|pair| pair.split_once(':'));
    set.fold(rules.to_owned(), |rules, (name, value)| {
        rules.replace(&format!("var({})", name.trim()), value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_its_own_has_no_variables() {
        let style = style();
        assert!(!style.contains("var("), "{style}");
        let (light, dark) = style.split_once("@media").unwrap();
        assert!(light.contains(".ground{fill:#fff}"), "{light}");
        assert!(light.contains(".c0{color:#0072b2}"), "{light}");
        assert!(dark.contains(".ground{fill:#15181c}"), "{dark}");
        assert!(dark.contains(".c0{color:#3d9be0}"), "{dark}");
    }
}
