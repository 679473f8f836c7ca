//! Reading of keys common to several tables: names, spans of time, choices.

use crate::error::{ScenarioError, printable};
use crate::section::{Section, Text};
use units::{Choice, Duration, Refusal};

pub type Result<T> = core::result::Result<T, ScenarioError>;

/// Checks a choice: `Err` has the error, and the choices that exist.
type Judge<'a> = &'a dyn Fn(&Choice) -> core::result::Result<(), Refusal>;

/// Longer runs are mistakes.
pub const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 3600);
/// Longer round trips are mistakes.
pub const MAX_RTT: Duration = Duration::from_secs(60);
/// Longer names flood tables.
pub const MAX_NAME: usize = 40;

/// A name that can stand in tables, file names and paths of the command line.
pub fn name<'a>(section: &mut Section<'a>) -> Result<Option<Text<'a>>> {
    name_at(section, "name")
}

pub fn name_at<'a>(section: &mut Section<'a>, key: &'static str) -> Result<Option<Text<'a>>> {
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

pub fn limited(
    section: &mut Section<'_>,
    key: &'static str,
    default: Duration,
    max: Duration,
) -> Result<Duration> {
    let Some(text) = section.text(key)? else {
        return Ok(default);
    };
    let value: Duration = text.parse_value()?;
    if value > max {
        let message = format!("{}: {value} is too long", text.key);
        return Err(text.error(&message, &format!("write at most {max}")));
    }
    Ok(value)
}

pub fn choice(
    section: &mut Section<'_>,
    key: &'static str,
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
