//! A registered item that is chosen by name, with settings, and with its children.
//!
//! One grammar for the command line, scenarios, sweeps and results:
//!
//! ```text
//! choice   = NAME [ "(" choice { ";" choice } ")" ] { "," KEY "=" VALUE }
//! ```
//!
//! A comma inside of parentheses belongs to the choice there: in
//! `2lps(codel,target=5ms),threshold=6MB` the target is codel's. Children are separated by
//! semicolons, so that settings of the one before need no parentheses of their own:
//! `pair(codel,target=5ms;pfifo)`. Names, keys and values are anything without `,` `;` `(` `)`;
//! spaces around them do not count.

use crate::Refusal;
use crate::refusal::MOST;
use core::fmt;
use core::str::FromStr;

/// Levels of choices within each other.
pub const MOST_LEVELS: usize = 4;
/// Longest text of a choice, in bytes.
const MOST_BYTES: usize = 2000;

/// A discipline or control by name, with settings, and with those that it contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The registered name.
    pub name: String,
    /// Its children, in order.
    pub children: Vec<Choice>,
    /// The user's settings.
    pub settings: Vec<(String, String)>,
}

impl Choice {
    /// The choice of `name` without settings or children.
    pub fn plain(name: &str) -> Self {
        Choice {
            name: name.to_owned(),
            children: Vec::new(),
            settings: Vec::new(),
        }
    }

    /// Sets `key`, in place of its former value. `NAME.KEY` is that of the first child called
    /// `NAME`.
    ///
    /// # Errors
    /// If there is no such child.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        if let Some((name, rest)) = key.split_once('.') {
            let place = self.children.iter().position(|child| child.name == name);
            let Some(place) = place else {
                let names = self.children.iter().map(|child| child.name.as_str());
                return Err(Refusal::unknown("child", name, names).within(&self.name));
            };
            return self.children[place].set(rest, value);
        }
        self.settings.retain(|(other, _)| other != key);
        self.settings.push((key.to_owned(), value.to_owned()));
        Ok(())
    }

    /// The value of `key`; `NAME.KEY` as in [`set`](Self::set).
    pub fn get(&self, key: &str) -> Option<&str> {
        if let Some((name, rest)) = key.split_once('.') {
            let child = self.children.iter().find(|child| child.name == name);
            return child?.get(rest);
        }
        let mut settings = self.settings.iter();
        let found = settings.find(|(other, _)| other == key);
        found.map(|(_, value)| value.as_str())
    }
}

/// `NAME(CHILD;CHILD),key=value,key=value`.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (number, child) in self.children.iter().enumerate() {
            write!(f, "{}{child}", if number == 0 { "(" } else { ";" })?;
        }
        if !self.children.is_empty() {
            f.write_str(")")?;
        }
        for (key, value) in &self.settings {
            write!(f, ",{key}={value}")?;
        }
        Ok(())
    }
}

impl FromStr for Choice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        if text.len() > MOST_BYTES {
            let message = format!("{} bytes are too long for a name and settings", text.len());
            return Err(Refusal::new(message).with_help(format!("write at most {MOST_BYTES}")));
        }
        let mut reader = Reader { text, at: 0 };
        let choice = reader.choice(1)?;
        match reader.next() {
            None => Ok(choice),
            Some(found) => Err(reader.refusal(format!("{found:?} belongs to nothing"), FORM)),
        }
    }
}

/// The help for a wrong form.
const FORM: &str = "write NAME, NAME,key=value,key=value or NAME(CHILD;CHILD),key=value";

/// Pieces of `text` between commas outside of parentheses and double quotes.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let (mut open, mut quoted) = (0_usize, false);
    text.split(move |c| {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => open += 1,
            ')' if !quoted => open = open.saturating_sub(1),
            _ => {}
        }
        c == ',' && open == 0 && !quoted
    })
}

/// Reads a text from the left.
struct Reader<'a> {
    text: &'a str,
    /// The position of the next character: a place between two characters.
    at: usize,
}

impl<'a> Reader<'a> {
    fn choice(&mut self, level: usize) -> Result<Choice, Refusal> {
        let name = self.word();
        if name.is_empty() {
            return Err(self.refusal("a name is missing", FORM));
        }
        let mut choice = Choice::plain(name);
        if self.next() == Some('(') {
            self.children(&mut choice, level)?;
        }
        while self.next() == Some(',') {
            self.at += 1;
            self.setting(&mut choice)?;
        }
        Ok(choice)
    }

    /// The children in parentheses.
    fn children(&mut self, choice: &mut Choice, level: usize) -> Result<(), Refusal> {
        if level == MOST_LEVELS {
            let help = format!("write at most {MOST_LEVELS} levels");
            return Err(self.refusal("too many levels of parentheses", &help));
        }
        let opened = self.at;
        loop {
            self.at += 1;
            choice.children.push(self.choice(level + 1)?);
            match self.next() {
                Some(';') => {}
                Some(')') => break,
                _ => {
                    self.at = opened;
                    let help = "write ) after the last child, ; between two of them";
                    return Err(self.refusal("a parenthesis is not closed", help));
                }
            }
        }
        self.at += 1;
        let closed = self.at;
        let more: String = self.word().chars().take(MOST).collect();
        if more.is_empty() {
            return Ok(());
        }
        self.at = closed;
        let message = format!("{more:?} after a parenthesis");
        Err(self.refusal(message, "write a comma before a setting"))
    }

    fn setting(&mut self, choice: &mut Choice) -> Result<(), Refusal> {
        let start = self.at;
        let word = self.word();
        let refused = |reader: &mut Self, message: String, help: &str| {
            // The whole setting is wrong, not the text after it.
            reader.at = start;
            Err(reader.refusal(message, help))
        };
        let Some((key, value)) = word.split_once('=') else {
            let word: String = word.chars().take(MOST).collect();
            let message = format!("{word:?} is no setting");
            return refused(self, message, "write NAME,key=value,key=value");
        };
        let (key, value) = (key.trim(), value.trim());
        if choice.settings.iter().any(|(other, _)| other == key) {
            let key: String = key.chars().take(MOST).collect();
            return refused(self, format!("{key:?} is set twice"), "write it once");
        }
        choice.settings.push((key.to_owned(), value.to_owned()));
        Ok(())
    }

    /// The text before the next separator.
    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let word = rest.split([',', ';', '(', ')']).next().unwrap_or(rest);
        self.at += word.len();
        word.trim()
    }

    /// The separator at which the last word ended, if the text did not.
    fn next(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// A refusal at the current place.
    fn refusal(&self, message: impl Into<String>, help: &str) -> Refusal {
        let mut message = message.into();
        let before = self.text[..self.at].chars().count();
        if before > 0 {
            message += &format!(" (character {})", before + 1);
        }
        Refusal::new(message).with_help(help)
    }
}

/// The declaration of a child by an item that contains others.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Its name in usage and help, for example `BASE`.
    pub name: &'static str,
    /// The default if the user names none, as a user would write it.
    pub default: &'static str,
    /// Its purpose, in a sentence.
    pub help: &'static str,
}

/// The children of `choice`, one for each of `slots`; the default if the user wrote none. `level`
/// is its own depth, from 1: a default can contain others as well.
///
/// # Errors
/// If there are more than `slots`, or they are too deep, or a default is written wrongly.
pub fn filled(choice: &Choice, slots: &[Slot], level: usize) -> Result<Vec<Choice>, Refusal> {
    if level >= MOST_LEVELS && !slots.is_empty() {
        let message = format!("{} on level {level} would contain another", choice.name);
        return Err(Refusal::new(message).with_help(format!("use at most {MOST_LEVELS} levels")));
    }
    if choice.children.len() > slots.len() {
        let (name, found) = (&choice.name, choice.children.len());
        let message = match slots.len() {
            0 => format!("{name} contains no other"),
            most => format!("{name} contains {most}, not {found}"),
        };
        return Err(Refusal::new(message).with_help(format!("write {}", usage(name, slots))));
    }
    let written = choice.children.iter().cloned().map(Ok);
    let rest = slots.iter().skip(choice.children.len());
    written
        .chain(rest.map(|slot| slot.default.parse()))
        .collect()
}

/// The form of a choice called `name`: `NAME`, or `NAME(SLOT;SLOT)`.
pub fn usage(name: &str, slots: &[Slot]) -> String {
    let slots: Vec<&str> = slots.iter().map(|slot| slot.name).collect();
    match slots.join(";") {
        none if none.is_empty() => name.to_owned(),
        slots => format!("{name}({slots})"),
    }
}

#[cfg(test)]
mod tests;
