//! What a key of a scenario's table is: its declaration, and the type of its values.

use core::marker::PhantomData;
use units::Refusal;
use units::param::{Spec, Value};

/// A key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Declared {
    /// Its name, kind, range and meaning; the default, or an example where there is none.
    pub spec: Spec,
    /// What holds without it, if that is no constant.
    pub unsaid: Option<&'static str>,
    /// The key of the same table without which it says nothing.
    pub beside: Option<&'static str>,
    /// A value as results print it.
    pub(crate) shown: fn(&str) -> String,
}

impl Declared {
    /// The default as results print it; none if it is no constant.
    pub fn default(&self) -> Option<String> {
        let constant = self.unsaid.is_none();
        constant.then(|| (self.shown)(self.spec.default))
    }
}

/// A key whose value is a `T`.
pub struct Key<T> {
    pub(crate) declared: Declared,
    pub(crate) of: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// The default as it is written, or an example.
    pub(crate) fn default(&self) -> &'static str {
        self.declared.spec.default
    }

    /// What it means.
    pub fn help(&self) -> &'static str {
        self.declared.spec.help
    }
}

impl<T: Value> Key<T> {
    /// The value that `text` says.
    ///
    /// # Errors
    /// If it says none, or one outside the declared range.
    pub fn read(&self, text: &str) -> Result<T, Refusal> {
        let value = T::parse(text).map_err(|error| {
            let message = format!("{:?} is no {}", error.found, T::KIND);
            Refusal::new(message).with_help(format!("write {}", error.expected))
        })?;
        match self.declared.spec.range {
            Some((least, most)) if !self.allows(&value) => {
                let message = format!("{value} is outside {least} to {most}");
                Err(Refusal::new(message).with_help(self.instead()))
            }
            _ => Ok(value),
        }
    }

    /// Whether `value` is in the declared range.
    pub(crate) fn allows(&self, value: &T) -> bool {
        let end = |text| T::parse(text).ok();
        self.declared.spec.range.is_none_or(|(least, most)| {
            end(least).is_some_and(|least| *value >= least)
                && end(most).is_some_and(|most| *value <= most)
        })
    }

    /// What to write instead of a value outside the range.
    pub(crate) fn instead(&self) -> String {
        let Spec { kind, range, .. } = self.declared.spec;
        match range {
            Some((least, most)) => format!("write a {kind} from {least} to {most}"),
            None => format!("write a {kind}"),
        }
    }
}

/// The name of a key.
pub trait Named {
    /// The name.
    fn name(&self) -> &'static str;
}

impl Named for &'static str {
    fn name(&self) -> &'static str {
        self
    }
}

impl<T> Named for &Key<T> {
    fn name(&self) -> &'static str {
        self.declared.spec.name
    }
}

/// What values of a key are.
pub trait KeyKind {
    /// Their name in help texts.
    const KIND: &'static str;

    /// A value as results print it.
    fn shown(text: &str) -> String {
        text.to_owned()
    }
}

impl<T: Value> KeyKind for T {
    const KIND: &'static str = <T as Value>::KIND;

    fn shown(text: &str) -> String {
        T::parse(text).map_or_else(|_| text.to_owned(), |value| value.to_string())
    }
}

/// Values that are more than their own text: names of what there is, lists, tables.
macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident = $kind:literal;)*) => {$(
        $(#[$meta])*
        pub enum $name {}

        impl KeyKind for $name {
            const KIND: &'static str = $kind;
        }
    )*};
}

kinds! {
    /// One that can stand in tables, file names and paths of the command line.
    Name = "name";
    /// Any.
    Line = "text";
    /// A discipline, a control or a controller, with settings.
    Chosen = "choice";
    /// Several.
    Choices = "list of choices";
    /// Names of what is registered.
    Listed = "list of names";
    /// A registered name.
    Registered = "registered name";
    /// The name of a file.
    File = "file";
    /// Times and rates.
    Steps = "list of steps";
    /// Links.
    Passed = "path";
    /// Keys and values.
    Subtable = "table";
    /// One or more of them.
    Subtables = "table or list of tables";
}

/// The names of `keys`.
pub(crate) fn names(keys: &[Declared]) -> Vec<&'static str> {
    keys.iter().map(|key| key.spec.name).collect()
}
