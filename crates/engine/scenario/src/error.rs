//! Why a scenario was refused.

use std::fmt;
use std::ops::Range;

/// A refused scenario: the place, the finding, and the correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file.
    pub file: String,
    /// Its text; empty if it is not text.
    pub text: String,
    /// The place in the text.
    pub span: Option<Range<usize>>,
    /// The option on the command line that is at fault, instead of a place in the text.
    pub set: Option<String>,
    /// The error.
    pub message: String,
    /// The text to write instead.
    pub help: String,
}

/// Longest message, and longest help: some lines of a terminal.
const MOST: usize = 500;

impl ScenarioError {
    /// An error about the whole of `file`.
    pub fn about(file: &str, message: &str, help: &str) -> Self {
        ScenarioError {
            file: file.to_owned(),
            text: String::new(),
            span: None,
            set: None,
            message: printable(message, MOST),
            help: printable(help, MOST),
        }
    }

    /// The error of the TOML reader on the text of `file`.
    pub fn of_toml(file: &str, text: &str, error: &toml::de::Error, help: &str) -> Self {
        let message = match error.message() {
            message if message.contains("recurs") => "nested too deeply",
            message => message,
        };
        ScenarioError {
            text: text.to_owned(),
            span: error.span(),
            ..ScenarioError::about(file, message, help)
        }
    }

    /// Line and column of the place, from 1.
    pub fn line(&self) -> Option<(usize, usize)> {
        let start = self.span.as_ref()?.start.min(self.text.len());
        let before = self.text.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        Some((line, before[line_start..].chars().count() + 1))
    }

    /// Where: `--set link.rate`, `file:line:column`, or the file.
    pub fn place(&self) -> String {
        let file = printable(&self.file, 200);
        match (&self.set, self.line()) {
            (Some(option), _) => printable(option, 200),
            (None, Some((line, column))) => format!("{file}:{line}:{column}"),
            (None, None) => file,
        }
    }
}

/// `place: the error; the text to write instead`.
impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place(), self.message, self.help)
    }
}

impl std::error::Error for ScenarioError {}

/// `text` for a terminal, in at most `most` characters: control characters and other invisible ones
/// are written as escapes, and omitted text is marked by three dots.
pub fn printable(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let mut length = 0;
    for c in text.chars() {
        let escaped = match c {
            '"' | '\'' | '\\' => c.to_string(),
            _ => c.escape_debug().to_string(),
        };
        length += escaped.chars().count();
        if length > most {
            shown += "...";
            break;
        }
        shown += &escaped;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_cannot_move_the_cursor_or_flood_the_screen() {
        assert_eq!(printable("a \"b\" \\ ü", 20), "a \"b\" \\ ü");
        assert_eq!(
            printable("\x1b[31mred\u{202e}\n", 30),
            "\\u{1b}[31mred\\u{202e}\\n"
        );
        assert_eq!(printable("abcdef", 3), "abc...");
    }

    #[test]
    fn the_place_is_counted_from_one_in_characters() {
        let mut error = ScenarioError::about("s.toml", "wrong", "right");
        assert_eq!(error.to_string(), "s.toml: wrong; right");
        error.text = "a = 1\nü = x\n".to_owned();
        // Bytes: line 2 begins at 6; ü has two; x stands at 6 + 2 + 3 = 11, in column 5.
        error.span = Some(11..12);
        assert_eq!(error.place(), "s.toml:2:5");
        error.set = Some("--set a".to_owned());
        assert_eq!(error.place(), "--set a");
    }
}
