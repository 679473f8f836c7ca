//! Reading of keys common to several tables: names, choices, words.

use crate::error::{ScenarioError, printable};
use crate::key::{Chosen, Key, Named};
use crate::section::{Section, Text};
use core::fmt;
use units::param::Value;
use units::{Choice, ParseError, Refusal};

pub type Result<T> = core::result::Result<T, ScenarioError>;

/// Checks a choice: `Err` has the error, and the choices that exist.
type Judge<'a> = &'a dyn Fn(&Choice) -> core::result::Result<(), Refusal>;

/// Longer names flood tables.
pub const MAX_NAME: usize = 40;

/// The section's `name`, one that can stand in tables, file names and paths of the command line; none without it.
///
/// # Errors
/// If it is none.
pub fn name<'a>(section: &mut Section<'a>) -> Result<Option<Text<'a>>> {
    name_at(section, "name")
}

pub fn name_at<'a>(section: &mut Section<'a>, key: impl Named) -> Result<Option<Text<'a>>> {
    let Some(text) = section.text(key)? else {
        return Ok(None);
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    let length = text.value.chars().count();
    if !(1..=MAX_NAME).contains(&length) || !text.value.chars().all(plain) {
        let shown = printable(&text.value, MAX_NAME);
        let message = format!("{}: \"{shown}\" cannot be a name", text.key);
        let help = format!("write 1 to {MAX_NAME} letters, digits, spaces, `-` and `_`");
        return Err(text.error(&message, &help));
    }
    Ok(Some(text))
}

pub fn choice(
    section: &mut Section<'_>,
    key: &Key<Chosen>,
    judge: Judge<'_>,
) -> Result<Option<Choice>> {
    section
        .text(key)?
        .map(|text| judged(&text, judge))
        .transpose()
}

pub fn judged(text: &Text<'_>, judge: Judge<'_>) -> Result<Choice> {
    let parsed = text.value.parse::<Choice>().and_then(|choice| {
        judge(&choice)?;
        Ok(choice)
    });
    parsed.map_err(|refusal| {
        let help = refusal.help.as_deref();
        let help = help.unwrap_or("`analects describe NAME` lists its parameters");
        text.error(&format!("{}: {}", text.key, refusal.message), help)
    })
}

/// Declares a value that is one of a few words.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $kind:literal, $expected:literal: $($(#[doc = $help:literal])+ $word:ident = $text:literal;)*) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
        pub enum $name {$(
            $(#[doc = $help])+
            $word,
        )*}

        impl Value for $name {
            const KIND: &'static str = $kind;

            fn parse(text: &str) -> core::result::Result<Self, ParseError> {
                match text {
                    $($text => Ok($name::$word),)*
                    _ => Err(ParseError::new(text, $expected)),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {$(
                    $name::$word => $text,
                )*})
            }
        }
    };
}
pub(crate) use words;

words! {
    /// From where most of an entry's data comes.
    Direction, "direction", "\"down\" or \"up\"":
    /// Towards the home.
    Down = "down";
    /// Away from it.
    Up = "up";
}

words! {
    /// How long a line of a trace holds.
    PlayedBy, "manner of playing", "\"time\" or \"line\"":
    /// Until the next one's time.
    Time = "time";
    /// For 200 ms.
    Line = "line";
}
