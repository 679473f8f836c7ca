//! Text and paths for HTML and SVG.

use std::fmt::Write as _;

/// `text` for an element's content or an attribute's value. Names come from files that anyone may
/// have written: markup is escaped, and characters that steer a terminal or the direction of
/// writing are replaced.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push('\u{fffd}');
            }
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// At most `most` characters of `text`, with an ellipsis where there were more.
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
pub struct Path(String);

impl Path {
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

    /// The path as an element, or nothing if it is empty.
    pub fn element(&self, attributes: &str) -> String {
        match self.0.as_str() {
            "" => String::new(),
            data => format!("<path {attributes} d=\"{data}\"/>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_become_harmless_text() {
        assert_eq!(
            escape("<script>'a'&\"b\"</script>"),
            "&lt;script&gt;&#39;a&#39;&amp;&quot;b&quot;&lt;/script&gt;"
        );
        assert_eq!(
            escape("a\0b\u{1b}[31m\u{202e}c"),
            "a\u{fffd}b\u{fffd}[31m\u{fffd}c"
        );
        assert_eq!(escape("Käse → 190 ms"), "Käse → 190 ms");
    }

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
        let mut path = Path::default();
        assert_eq!(path.element(""), "");
        path.start(1.0, 2.5);
        path.to(3.0, 4.0);
        path.across(5.0);
        path.upright(0.0);
        assert_eq!(
            path.element("class=\"line\""),
            "<path class=\"line\" d=\"M1 2.5L3 4H5V0\"/>"
        );
    }
}
