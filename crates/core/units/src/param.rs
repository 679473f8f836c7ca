//! Parameters that are declared once.
//!
//! [`params!`](crate::params) turns one declaration into a struct with its defaults, a table for
//! help texts and documentation, and a parser whose errors name the parameter and its range.
//!
//! ```
//! units::params! {
//!     /// What CoDel can be told.
//!     pub struct CodelParams {
//!         /// Acceptable standing queue delay.
//!         target: units::Duration = "5ms", range "1us".."10s", source "RFC 8289, 4.2";
//!         /// Mark instead of dropping where the packet allows it.
//!         ecn: bool = "no", source "RFC 8290, 5.2";
//!     }
//! }
//! let params = CodelParams::parse(&[("target".into(), "10ms".into())]).unwrap();
//! assert_eq!(params.target, units::Duration::from_millis(10));
//! assert!(CodelParams::parse(&[("tarket".into(), "10ms".into())]).is_err());
//! ```

use crate::refusal::MOST;
use crate::{Bytes, Duration, ParseError, Rate, Refusal};
use core::fmt;

/// One declared parameter, as help texts and documentation show it.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The name users write.
    pub name: &'static str,
    /// The kind of its values, for example `duration`.
    pub kind: &'static str,
    /// The default, as a user would write it.
    pub default: &'static str,
    /// Smallest and largest accepted value, if there are limits.
    pub range: Option<(&'static str, &'static str)>,
    /// Its effect, in a sentence or two.
    pub help: &'static str,
    /// The source of the default: a section of a paper or RFC, a kernel file, a decision.
    pub source: &'static str,
}

/// Settings as a user writes them: names and values, in order.
pub type Settings = [(String, String)];

/// A type that parameters can have.
pub trait Value: Sized + PartialOrd + fmt::Display {
    /// The kind's name in help texts.
    const KIND: &'static str;

    /// Parses the user's text.
    ///
    /// # Errors
    /// If the text is not of this kind.
    fn parse(text: &str) -> Result<Self, ParseError>;
}

macro_rules! from_str_value {
    ($($type:ty = $kind:literal, $expected:literal;)*) => {$(
        impl Value for $type {
            const KIND: &'static str = $kind;
            fn parse(text: &str) -> Result<Self, ParseError> {
                text.trim().parse().map_err(|_| ParseError::new(text, $expected))
            }
        }
    )*};
}

from_str_value! {
    Duration = "duration", "a span of time such as 40ms, 1.5s or 250us";
    Bytes = "size", "a size such as 1514B, 15kB or 4MiB";
    u32 = "count", "a whole number";
    u64 = "count", "a whole number";
}

/// Its own errors say which units are unclear, and its range.
impl Value for Rate {
    const KIND: &'static str = "rate";
    fn parse(text: &str) -> Result<Self, ParseError> {
        text.parse()
    }
}

impl Value for bool {
    const KIND: &'static str = "yes or no";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "yes" | "true" | "on" | "1" => Ok(true),
            "no" | "false" | "off" | "0" => Ok(false),
            _ => Err(ParseError::new(text, "yes or no")),
        }
    }
}

/// A name, such as a file's.
impl Value for String {
    const KIND: &'static str = "name";
    fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(text.to_owned())
    }
}

impl Value for f64 {
    const KIND: &'static str = "number";
    fn parse(text: &str) -> Result<Self, ParseError> {
        text.trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| ParseError::new(text, "a number such as 0.1"))
    }
}

impl Spec {
    /// The refusal of a setting of this parameter.
    fn refusal(&self, what: &str) -> Refusal {
        let range = self.range.map(|(min, max)| format!(", {min} to {max}"));
        let range = range.unwrap_or_default();
        let (kind, default) = (self.kind, self.default);
        let help = format!("write a {kind}{range}, such as {default}: {}", self.help);
        Refusal::new(what)
            .within(&format!("parameter {}", self.name))
            .with_help(help)
    }
}

/// Checks a parsed value against its declared range; called by [`params!`](crate::params).
///
/// # Errors
/// If the text is of the wrong form or the value outside the range.
#[doc(hidden)]
pub fn checked<T: Value>(spec: &Spec, text: &str) -> Result<T, Refusal> {
    let parse = |text: &str| T::parse(text).map_err(|error| spec.refusal(&error.to_string()));
    let value = parse(text)?;
    if let Some((min, max)) = spec.range
        && (value < parse(min)? || value > parse(max)?)
    {
        let found: String = text.chars().take(MOST).collect();
        return Err(spec.refusal(&format!("{found} is outside {min} to {max}")));
    }
    Ok(value)
}

/// Declares a struct of parameters; see [`param`](crate::param).
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {$(
            $(#[doc = $help:literal])+
            $field:ident: $type:ty = $default:literal
                $(, range $min:literal..$max:literal)?, source $source:literal;
        )*}
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {$(
            $(#[doc = $help])+
            pub $field: $type,
        )*}

        impl $name {
            /// The declarations, in order.
            pub const SPECS: &'static [$crate::param::Spec] = &[$(
                $crate::param::Spec {
                    name: stringify!($field),
                    kind: <$type as $crate::param::Value>::KIND,
                    default: $default,
                    range: $crate::params!(@range $($min, $max)?),
                    help: concat!($($help),+).trim_ascii(),
                    source: $source,
                },
            )*];

            /// The defaults, with `settings` applied in order.
            ///
            /// # Errors
            /// If a name is unknown, a value of the wrong form or outside its range.
            pub fn parse(
                settings: &$crate::param::Settings,
            ) -> Result<Self, $crate::Refusal> {
                let mut params = Self::default();
                params.apply(settings)?;
                Ok(params)
            }

            /// Applies `settings` to the current values: all of them, or none.
            ///
            /// # Errors
            /// If a name is unknown, a value of the wrong form or outside its range.
            pub fn apply(
                &mut self,
                settings: &$crate::param::Settings,
            ) -> Result<(), $crate::Refusal> {
                #[allow(unused_mut)]
                let mut changed = self.clone();
                for (name, value) in settings {
                    $crate::params!(@apply changed, name.as_str(), value.as_str(), $($field)*);
                }
                *self = changed;
                Ok(())
            }

            /// Names and current values, as a user would write them.
            pub fn values(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($field), $crate::param::show(&self.$field))),*]
            }
        }

        impl Default for $name {
            fn default() -> Self {
                #[allow(unused_mut, unused_assignments)]
                let mut specs = Self::SPECS.iter();
                $(let $field = specs
                    .next()
                    .map(|spec| $crate::param::checked::<$type>(spec, spec.default))
                    .and_then(Result::ok)
                    .expect("a declared default parses, or the declaration's own test fails");)*
                $name { $($field),* }
            }
        }
    };
    (@range) => { None };
    (@range $min:literal, $max:literal) => { Some(($min, $max)) };
    (@apply $target:ident, $name:expr, $value:expr, $($field:ident)*) => {
        match Self::SPECS.iter().find(|spec| spec.name == $name) {
            $(Some(spec) if spec.name == stringify!($field) => {
                $target.$field = $crate::param::checked(spec, $value)?;
            })*
            _ => return Err($crate::param::unknown($name, Self::SPECS)),
        }
    };
}

/// The refusal of a setting that is not among `specs`; called by [`params!`](crate::params).
#[doc(hidden)]
pub fn unknown(name: &str, specs: &[Spec]) -> Refusal {
    Refusal::unknown("parameter", name, specs.iter().map(|spec| spec.name))
}

/// A value as a user would write it; called by [`params!`](crate::params).
#[doc(hidden)]
pub fn show<T: Value>(value: &T) -> String {
    match value.to_string().as_str() {
        "true" => "yes".to_owned(),
        "false" => "no".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    params! {
        /// For the tests.
        pub struct Sample {
            /// How long.
            wait: Duration = "5ms", range "1ms".."1s", source "none";
            /// Whether.
            ecn: bool = "yes", source "none";
        }
    }

    fn set(name: &str, value: &str) -> Result<Sample, Refusal> {
        Sample::parse(&[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn defaults_and_settings() {
        assert_eq!(Sample::default().wait, Duration::from_millis(5));
        assert!(!set("ecn", "off").unwrap().ecn);
        let values = Sample::default().values();
        assert_eq!(values, [("wait", "5ms".into()), ("ecn", "yes".into())]);
    }

    #[test]
    fn errors_name_the_parameter_and_what_is_accepted() {
        let text = |name, value| set(name, value).unwrap_err().to_string();
        assert_eq!(
            text("wait", "2s"),
            "parameter wait: 2s is outside 1ms to 1s; write a duration, 1ms to 1s, such as 5ms: How \
             long."
        );
        assert!(text("wait", "soon").contains("a span of time such as 40ms"));
        assert_eq!(
            text("weight", "1"),
            "there is no parameter \"weight\"; there are: wait, ecn"
        );
    }
}
