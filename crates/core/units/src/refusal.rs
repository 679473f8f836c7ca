//! Why a user's text was refused, and what to write instead.

use core::fmt;

/// Longest piece of the user's text that a message repeats, in characters.
pub(crate) const MOST: usize = 60;

/// An error in a user's text, and the help against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The finding, and its place.
    pub message: String,
    /// The text to write instead.
    pub help: Option<String>,
}

impl Refusal {
    /// A refusal with a message only.
    pub fn new(message: impl Into<String>) -> Self {
        Refusal {
            message: message.into(),
            help: None,
        }
    }

    /// The same, with the text to write instead.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Refusal {
            help: Some(help.into()),
            ..self
        }
    }

    /// The same about a part within `place`.
    #[must_use]
    pub fn within(self, place: &str) -> Self {
        Refusal {
            message: format!("{place}: {}", self.message),
            ..self
        }
    }

    /// The refusal of a `name` that is not among those of a `kind` that are `known`.
    pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let found: String = name.chars().take(MOST).collect();
        let known: Vec<&str> = known.into_iter().collect();
        let all = match known.join(", ") {
            none if none.is_empty() => "there are none".to_owned(),
            names => format!("there are: {names}"),
        };
        let help = match closest(&found, &known) {
            Some(meant) => format!("did you mean {meant}? {all}"),
            None => all,
        };
        Refusal::new(format!("there is no {kind} {found:?}")).with_help(help)
    }
}

/// The known name that differs from `name` in no more than a third of its letters: swapped,
/// missing, too many or other ones.
fn closest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |known: &&str| strsim::damerau_levenshtein(name, known);
    let best = known.iter().copied().min_by_key(distance)?;
    (distance(&best) * 3 <= name.chars().count()).then_some(best)
}

/// `the error; the text to write instead`.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for Refusal {}

/// The whole as a text, for callers that keep only that.
impl From<Refusal> for String {
    fn from(refusal: Refusal) -> String {
        refusal.to_string()
    }
}

/// A message only.
impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Refusal::new(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_told_the_closest_and_all() {
        let known = ["fq_codel", "codel", "pie"];
        let help = |name| Refusal::unknown("discipline", name, known).help.unwrap();
        assert_eq!(
            help("fq_codle"),
            "did you mean fq_codel? there are: fq_codel, codel, pie"
        );
        assert_eq!(
            help("pei"),
            "did you mean pie? there are: fq_codel, codel, pie"
        );
        assert_eq!(help("cake"), "there are: fq_codel, codel, pie");
        let none = Refusal::unknown("parameter", &"x".repeat(1000), []);
        assert_eq!(
            none.to_string(),
            format!("there is no parameter {:?}; there are none", "x".repeat(60))
        );
    }

    #[test]
    fn the_place_comes_first_and_the_help_stays() {
        let refusal = Refusal::new("too long")
            .with_help("write less")
            .within("a")
            .within("b");
        assert_eq!(refusal.to_string(), "b: a: too long; write less");
    }
}
