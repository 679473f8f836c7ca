//! Reading a table of a document key by key, so that no key is passed over.

use crate::document::{Document, Item, Node, Origin, Table};
use crate::error::{ScenarioError, printable};
use crate::key::{Key, Named};
use units::Refusal;
use units::param::{Settings, Spec, Value};
use workload::LibraryError;

/// A table that is being read. Keys left at the end are unknown, and refused.
pub struct Section<'a> {
    document: &'a Document,
    /// Its place, for messages: `link`, `traffic.call`.
    path: String,
    left: Table,
    /// Keys that were asked for, for messages.
    known: Vec<&'static str>,
    /// All keys that the table can have, if that is known.
    declared: Option<Vec<&'static str>>,
    origin: Option<Origin>,
}

type Result<T> = core::result::Result<T, ScenarioError>;

impl<'a> Section<'a> {
    /// The document's outermost table.
    pub fn root(document: &'a Document) -> Self {
        Section {
            document,
            path: String::new(),
            left: document.root.clone(),
            known: Vec::new(),
            declared: None,
            origin: None,
        }
    }

    fn key(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    /// Its place.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether a link in the document that says no capacity has no limit.
    pub fn may_be_unlimited(&self) -> bool {
        self.document.unlimited
    }

    /// Whether there is a value at `key` that was not read yet.
    pub fn has(&self, key: impl Named) -> bool {
        self.left.iter().any(|(name, _)| name == key.name())
    }

    /// An error about this whole table.
    pub fn error(&self, message: &str, help: &str) -> ScenarioError {
        self.document.error(self.origin.as_ref(), message, help)
    }

    fn error_at(&self, item: &Item, message: &str, help: &str) -> ScenarioError {
        self.document.error(Some(&item.origin), message, help)
    }

    fn take(&mut self, key: &'static str) -> Option<Item> {
        let declared = self.declared.as_ref();
        debug_assert!(
            declared.is_none_or(|keys| keys.contains(&key)),
            "{} is read, but not declared",
            self.key(key)
        );
        self.known.push(key);
        let place = self.left.iter().position(|(name, _)| name == key)?;
        Some(self.left.remove(place).1)
    }

    /// The value at `key`, which stays there.
    pub fn peek(&self, key: impl Named) -> Option<&str> {
        let (_, item) = self.left.iter().find(|(name, _)| name == key.name())?;
        match &item.node {
            Node::Leaf(text) => Some(text),
            _ => None,
        }
    }

    /// Puts `value` at `path`, a key or one of a table within, if there is no value yet.
    pub fn unsaid(&mut self, path: &str, value: &str) {
        let (table, key) = match path.split_once('.') {
            Some((table, key)) => (self.inner(table), key),
            None => (Some(&mut self.left), path),
        };
        let Some(table) = table.filter(|table| !table.iter().any(|(name, _)| name == key)) else {
            return;
        };
        let item = Item {
            node: Node::Leaf(value.to_owned()),
            origin: Origin::Set("preset".to_owned()),
        };
        table.push((key.to_owned(), item));
    }

    /// The table at `key`, which is created if necessary; none if there is another value.
    fn inner(&mut self, key: &str) -> Option<&mut Table> {
        if !self.left.iter().any(|(name, _)| name == key) {
            let item = Item {
                node: Node::Table(Table::new()),
                origin: Origin::Set("preset".to_owned()),
            };
            self.left.push((key.to_owned(), item));
        }
        let item = self.left.iter_mut().find(|(name, _)| name == key);
        match &mut item?.1.node {
            Node::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The text at `key`, and how to complain about it.
    pub fn text(&mut self, key: impl Named) -> Result<Option<Text<'a>>> {
        let key = key.name();
        let Some(item) = self.take(key) else {
            return Ok(None);
        };
        match item.node {
            Node::Leaf(ref text) => Ok(Some(Text {
                key: self.key(key),
                value: text.clone(),
                origin: item.origin,
                document: self.document,
            })),
            _ => {
                let message = format!("{} is not a value", self.key(key));
                Err(self.error_at(&item, &message, "write one value here"))
            }
        }
    }

    /// The value at `key`, if there is one.
    pub fn said<T: Value>(&mut self, key: &Key<T>) -> Result<Option<T>> {
        let text = self.text(key)?;
        text.map(|text| text.of(key)).transpose()
    }

    /// The value at `key`, or else its default.
    pub fn value<T: Value>(&mut self, key: &Key<T>) -> Result<T> {
        match self.said(key)? {
            Some(value) => Ok(value),
            None => T::parse(key.default()).map_err(|error| {
                let message = format!("{}: the default is wrong: {error}", self.key(key.name()));
                self.error(&message, "report this")
            }),
        }
    }

    /// The table at `key`.
    pub fn table(&mut self, key: impl Named) -> Result<Option<Section<'a>>> {
        let key = key.name();
        let mut tables = self.tables(key)?;
        match tables.len() {
            0 | 1 => Ok(tables.pop()),
            _ => {
                let message = format!("{} stands here more than once", self.key(key));
                Err(tables[1].error(&message, "write it once"))
            }
        }
    }

    /// What stands at `key`, as a document with nothing else; errors still name places of this one's text.
    pub fn alone(&mut self, key: &'static str) -> Document {
        let item = self.take(key);
        Document {
            root: item
                .map(|item| (key.to_owned(), item))
                .into_iter()
                .collect(),
            ..self.document.clone()
        }
    }

    /// The table or tables at `key`.
    pub fn tables(&mut self, key: impl Named) -> Result<Vec<Section<'a>>> {
        let key = key.name();
        let Some(item) = self.take(key) else {
            return Ok(Vec::new());
        };
        let path = self.key(key);
        let items = match item.node {
            Node::List(items) => items,
            Node::Table(_) => vec![item],
            Node::Leaf(_) => {
                let help = format!("write [{path}] and its keys below");
                return Err(self.error_at(&item, &format!("{path} is not a table"), &help));
            }
        };
        let section = |item: Item| match item.node {
            Node::Table(left) => Ok(Section {
                document: self.document,
                path: match crate::document::name_of(&left) {
                    Some(name) => format!("{path}.{}", printable(name, 40)),
                    None => path.clone(),
                },
                left,
                known: Vec::new(),
                declared: None,
                origin: Some(item.origin),
            }),
            _ => Err(self.error_at(&item, &format!("{path} is not a table"), "write keys")),
        };
        items.into_iter().map(section).collect()
    }

    /// The texts at `key`: one, or a list.
    pub fn texts(&mut self, key: impl Named) -> Result<Vec<Text<'a>>> {
        let key = key.name();
        let Some(item) = self.take(key) else {
            return Ok(Vec::new());
        };
        let (path, document) = (self.key(key), self.document);
        let items = match item.node {
            Node::List(items) => items,
            _ => vec![item],
        };
        let text = |item: Item| match item.node {
            Node::Leaf(value) => Ok(Text {
                key: path.clone(),
                value,
                origin: item.origin,
                document,
            }),
            _ => Err(self.error_at(
                &item,
                &format!("{path} holds names"),
                "write a list of them",
            )),
        };
        items.into_iter().map(text).collect()
    }

    /// The parameters `specs` that the keys left say, each checked by itself, then all together.
    pub fn declared<T>(
        self,
        specs: &'static [Spec],
        parse: impl Fn(&Settings) -> core::result::Result<T, Refusal>,
    ) -> Result<T> {
        let whole = self.error("its settings do not go together", "change one of them");
        let (settings, _) = self.checked(specs, |settings| parse(settings).map(drop))?;
        parse(&settings).map_err(|_| whole)
    }

    /// All keys that are left, which have to be among the parameters `specs` and pass `check` each
    /// by itself; and their place.
    pub fn checked(
        mut self,
        specs: &'static [Spec],
        check: impl Fn(&Settings) -> core::result::Result<(), Refusal>,
    ) -> Result<(Vec<(String, String)>, SettingPlaces<'a>)> {
        let mut settings = Vec::new();
        let mut places = SettingPlaces {
            document: self.document,
            keys: Vec::new(),
        };
        for (name, item) in core::mem::take(&mut self.left) {
            let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
                self.known.extend(specs.iter().map(|spec| spec.name));
                return Err(self.unknown(&name, &item));
            };
            let Node::Leaf(value) = &item.node else {
                return Err(self.error_at(&item, &format!("{name} is not a value"), spec.help));
            };
            let setting = (name.clone(), value.clone());
            if let Err(error) = check(core::slice::from_ref(&setting)) {
                let message = format!("{}: {}", self.key(&name), error.message);
                let help = error.help.as_deref().unwrap_or(spec.help);
                return Err(self.error_at(&item, &message, help));
            }
            places
                .keys
                .push((name.clone(), self.key(&name), item.origin));
            settings.push(setting);
        }
        Ok((settings, places))
    }

    /// Refuses a table with other keys than these. A misspelt key is reported before the key that
    /// is then missing.
    pub fn only(&mut self, keys: &[&'static str]) -> Result<()> {
        self.declared = Some(keys.to_vec());
        self.known.extend(keys);
        let unknown = self
            .left
            .iter()
            .find(|(name, _)| !keys.contains(&name.as_str()));
        match unknown {
            None => Ok(()),
            Some((name, item)) => Err(self.unknown(name, item)),
        }
    }

    fn unknown(&self, name: &str, item: &Item) -> ScenarioError {
        let mut known = self.known.clone();
        known.sort_unstable();
        known.dedup();
        let help = Refusal::unknown("key", name, known).help;
        let help = help.unwrap_or_default();
        if let Some((_, instead)) = NOT_MODELLED.iter().find(|(key, _)| *key == name) {
            let message = format!("{} is not modelled: {instead}", self.key(name));
            return self.error_at(item, &message, &help);
        }
        let name: String = name.chars().take(60).collect();
        let message = format!("unknown key {:?}", self.key(&name));
        self.error_at(item, &message, &help)
    }
}

const ONE_STREAM: &str = "a call has one stream of one quality, and kind = \"conference\" several of a \
    few layers each";

/// Names that users look for in vain, and the alternatives.
const NOT_MODELLED: [(&str, &str); 9] = [
    ("data_channel", "a call has video and audio"),
    ("fec", "lost packets are asked for again"),
    ("layers", ONE_STREAM),
    ("mcs", "a wireless link is a trace of its capacity"),
    ("playout", "a frame is shown when it is complete"),
    ("simulcast", ONE_STREAM),
    ("ssid", "a wireless link is a trace of its capacity"),
    ("svc", ONE_STREAM),
    ("wifi", "a wireless link is a trace of its capacity"),
];

/// The place of settings.
pub struct SettingPlaces<'a> {
    document: &'a Document,
    /// Name, path and place of each.
    keys: Vec<(String, String, Origin)>,
}

impl SettingPlaces<'_> {
    /// The error for a file named by the setting called `key` that could not be loaded.
    pub fn error(&self, key: &str, error: &LibraryError) -> ScenarioError {
        if let Some(file) = &error.file {
            return ScenarioError::about(file, &error.message, &error.help);
        }
        let place = self.keys.iter().find(|(name, ..)| name == key);
        let path = place.map_or(key, |(_, path, _)| path);
        let message = format!("{path}: {}", error.message);
        let origin = place.map(|(.., origin)| origin);
        self.document.error(origin, &message, &error.help)
    }
}

/// A text of the document to parse.
pub struct Text<'a> {
    /// Its path.
    pub key: String,
    /// The text.
    pub value: String,
    origin: Origin,
    document: &'a Document,
}

impl Text<'_> {
    /// An error about this text.
    pub fn error(&self, message: &str, help: &str) -> ScenarioError {
        self.document.error(Some(&self.origin), message, help)
    }

    /// Parses it.
    pub fn parse_value<T: Value>(&self) -> Result<T> {
        T::parse(&self.value).map_err(|error| {
            let message = format!("{}: {:?} is no {}", self.key, error.found, T::KIND);
            self.error(&message, &format!("write {}", error.expected))
        })
    }

    /// Parses it as the value of `key`, in its range.
    pub fn of<T: Value>(&self, key: &Key<T>) -> Result<T> {
        key.read(&self.value).map_err(|refusal| {
            let message = format!("{}: {}", self.key, refusal.message);
            self.error(&message, refusal.help.as_deref().unwrap_or_default())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever reads a scenario finds out.
    #[test]
    #[should_panic(expected = "link.trial is read, but not declared")]
    fn a_key_that_is_read_is_declared() {
        let document = Document::parse("s.toml", "[link]\nrate = \"1mbit\"").unwrap();
        let mut link = Section::root(&document).table("link").unwrap().unwrap();
        link.only(&["rate"]).unwrap();
        _ = link.text("trial");
    }
}
