//! Texts and paths of drawings.

use maud::{Markup, html};
use std::fmt::Write as _;

/// At most `most` characters of `text`, with an ellipsis if there were more.
pub fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text
            .chars()
            .take(most.saturating_sub(1))
            .chain(['…'])
            .collect(),
        None => text.to_owned(),
    }
}

/// A coordinate to a tenth of a pixel, as short as it can be written.
pub fn coordinate(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// A path's data, command by command.
#[derive(Debug, Default)]
pub struct SvgPath(String);

impl SvgPath {
    /// Starts a new piece at a point.
    pub fn start(&mut self, x: f64, y: f64) {
        _ = write!(self.0, "M{} {}", coordinate(x), coordinate(y));
    }

    /// Draws to a point.
    pub fn to(&mut self, x: f64, y: f64) {
        _ = write!(self.0, "L{} {}", coordinate(x), coordinate(y));
    }

    /// Draws across to `x`.
    pub fn across(&mut self, x: f64) {
        _ = write!(self.0, "H{}", coordinate(x));
    }

    /// Draws up or down to `y`.
    pub fn upright(&mut self, y: f64) {
        _ = write!(self.0, "V{}", coordinate(y));
    }

    /// The path as an element of these classes, or nothing if it is empty.
    pub fn element(&self, classes: &str) -> Markup {
        html! {
            @if !self.0.is_empty() { path class=(classes) d=(self.0) {} }
        }
    }

    /// The same, with lines of so many pixels in width.
    pub fn wide(&self, classes: &str, width: f64) -> Markup {
        html! {
            @if !self.0.is_empty() {
                path class=(classes) stroke-width=(coordinate(width)) d=(self.0) {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(short("fifo", 4), "fifo");
        assert_eq!(short("füüfo", 4), "füü…");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(coordinate(12.04), "12");
        assert_eq!(coordinate(12.06), "12.1");
        assert_eq!(coordinate(-0.01), "0");
    }

    #[test]
    fn paths_name_their_commands() {
        let mut path = SvgPath::default();
        assert_eq!(path.element("line").into_string(), "");
        path.start(1.0, 2.5);
        path.to(3.0, 4.0);
        path.across(5.0);
        path.upright(0.0);
        assert_eq!(
            path.element("line").into_string(),
            "<path class=\"line\" d=\"M1 2.5L3 4H5V0\"></path>"
        );
    }
}
