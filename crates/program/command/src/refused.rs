//! The output when input is refused: the place, the finding, and the correction.
//!
//! For any input, it fits on a screen and contains no control characters.

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteHandler, MietteHandlerOpts, MietteSpanContents,
    ReportHandler, SourceCode, SpanContents,
};
use scenario::{ScenarioError, printable};
use std::fmt;
use std::io::IsTerminal;
use std::ops::Range;
use units::Refusal;

/// Largest number of characters of a message, and of the help.
const MOST: usize = 500;
/// Columns of a message that is not printed to a terminal.
const WIDTH: usize = 120;
/// Columns of a line of the file that are shown.
const COLUMNS: usize = 80;
/// Number of these before the wrong place, if the line is longer.
const BEFORE: usize = 30;

/// Refused input.
#[derive(Debug)]
pub struct Refused {
    message: String,
    help: String,
    excerpt: Option<Excerpt>,
    tried: bool,
}

impl Refused {
    /// The finding, and the correction.
    pub fn new(message: &str, help: &str) -> Self {
        Refused {
            message: printable(message, MOST),
            help: printable(help, MOST),
            excerpt: None,
            tried: false,
        }
    }

    /// A refusal; `help` if it has one.
    pub fn because(refusal: Refusal, help: &str) -> Self {
        Refused::new(&refusal.message, refusal.help.as_deref().unwrap_or(help))
    }

    /// The same for an operation that failed instead of being refused.
    pub fn failed(message: &str, help: &str) -> Self {
        Refused {
            tried: true,
            ..Refused::new(message, help)
        }
    }

    /// Whether an operation was tried.
    pub fn tried(&self) -> bool {
        self.tried
    }

    /// The refusal as it is printed to standard error: with colours and box-drawing characters
    /// only on a terminal that has them.
    pub fn rendered(self) -> String {
        let options = MietteHandlerOpts::new();
        let options = if std::io::stderr().is_terminal() {
            options
        } else {
            options.unicode(false).width(WIDTH)
        };
        let handler = options.build();
        struct Rendered<'a>(&'a Refused, &'a MietteHandler);
        impl fmt::Display for Rendered<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.1.debug(self.0, f)
            }
        }
        Rendered(&self, &handler).to_string()
    }
}

/// A scenario's error, with the lines that it is about.
impl From<ScenarioError> for Refused {
    fn from(error: ScenarioError) -> Self {
        let message = format!("{}: {}", error.place(), error.message);
        let span = error.span.as_ref().filter(|_| error.set.is_none());
        Refused {
            excerpt: span.and_then(|span| Excerpt::new(&error.file, &error.text, span)),
            ..Refused::new(&message, &error.help)
        }
    }
}

/// The refusals and failures of an engine.
impl From<measure::EngineError> for Refused {
    fn from(error: measure::EngineError) -> Self {
        let refusal = error.refusal.within(&error.entry);
        Refused::because(refusal, "change this entry")
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

impl Diagnostic for Refused {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let excerpt = self.excerpt.as_ref()?;
        Some(excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.excerpt.as_ref()?;
        let place = LabeledSpan::new_with_span(None, excerpt.mark.clone());
        Some(Box::new(std::iter::once(place)))
    }
}

/// A line of a file and its neighbours, made printable and cut to the part that matters.
#[derive(Debug)]
struct Excerpt {
    file: String,
    text: String,
    /// The wrong part, within `text`.
    mark: Range<usize>,
    /// Line of the file at which `text` starts, and the place's column in the file, from 0.
    first_line: usize,
    column: usize,
}

impl Excerpt {
    fn new(file: &str, text: &str, span: &Range<usize>) -> Option<Self> {
        let head = text.get(..span.start.min(text.len()))?;
        let start = head.rfind('\n').map_or(0, |newline| newline + 1);
        let (before, number) = (&head[start..], head.matches('\n').count());
        let rest = &text[head.len()..];
        let after = rest.lines().next().unwrap_or("");
        let wrong = after.get(..span.len().min(after.len())).unwrap_or(after);
        // If the line is long, only the text just before the place is shown.
        let column = before.chars().count();
        let before = printable(&before.replace('\t', " "), usize::MAX);
        let skipped = before.chars().count().saturating_sub(BEFORE);
        let near: String = before.chars().skip(skipped).collect();
        let above = text[..start].lines().next_back().map(shown);
        let below = text[start..].lines().nth(1).map(shown);
        let mark = above.as_ref().map_or(0, |line| line.len() + 1) + near.len();
        let line = near + &shown(after);
        let lines: Vec<String> = above.into_iter().chain([line]).chain(below).collect();
        Some(Excerpt {
            file: printable(file, COLUMNS),
            first_line: number - usize::from(number > 0),
            mark: mark..mark + shown(wrong).len(),
            text: lines.join("\n"),
            column,
        })
    }
}

/// A piece of a line, made printable.
fn shown(line: &str) -> String {
    printable(&line.replace('\t', " "), COLUMNS)
}

/// Lines and columns are those of the file.
impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.text.read_span(span, before, after)?;
        // Without context, it is the place itself that is asked for.
        let of_place = before + after == 0;
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.clone(),
            inner.data(),
            *inner.span(),
            inner.line() + self.first_line,
            if of_place {
                self.column
            } else {
                inner.column()
            },
            inner.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, place: &str) -> Excerpt {
        let start = text.find(place).unwrap();
        Excerpt::new("s.toml", text, &(start..start + place.len())).unwrap()
    }

    #[test]
    fn the_line_stands_between_its_neighbours() {
        let it = excerpt("a = 1\n\tb = fast\nc = 3\nd = 4\n", "fast");
        assert_eq!(it.text, "a = 1\n b = fast\nc = 3");
        assert_eq!(&it.text[it.mark.clone()], "fast");
        assert_eq!((it.first_line, it.column), (0, 5));
    }

    #[test]
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let text = format!("x\n{}fast{}", "\u{1b}".repeat(500), "y".repeat(500));
        let it = excerpt(&text, "fast");
        assert_eq!(&it.text[it.mark.clone()], "fast");
        assert_eq!((it.first_line, it.column), (0, 500));
        // x and a newline; five escapes of six characters; the part that fits, and three dots.
        assert_eq!(it.text.chars().count(), 2 + 5 * 6 + COLUMNS + 3);
        assert!(!it.text.contains('\u{1b}'));
    }

    #[test]
    fn a_place_at_the_end_or_outside_does_no_harm() {
        let it = Excerpt::new("s.toml", "a\n", &(2..2)).unwrap();
        assert_eq!((it.text.as_str(), it.mark, it.first_line), ("a\n", 2..2, 0));
        let it = Excerpt::new("s.toml", "a", &(7..9)).unwrap();
        assert_eq!(it.text, "a");
    }
}
