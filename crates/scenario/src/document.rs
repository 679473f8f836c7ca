//! A scenario's text as a tree that remembers where everything stood.

use crate::error::ScenarioError;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A scenario as written: a table with the places of its keys and values.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file's name, for errors.
    pub file: String,
    /// Its text.
    pub text: String,
    pub(crate) root: Table,
}

/// Keys and values in the order of the text.
pub(crate) type Table = Vec<(String, Item)>;

/// A value and where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub node: Node,
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// Bytes of the text.
    Text(Range<usize>),
    /// The command line: the option, as it was written.
    Set(String),
}

/// A value. Strings, numbers, truth values: each as a user would write it in a string.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Leaf(String),
    Table(Table),
    List(Vec<Item>),
}

/// A scenario has no use for deeper tables; a hostile file might.
const MAX_DEPTH: usize = 8;

impl Document {
    /// Reads the text of `file` as TOML.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn parse(file: &str, text: &str) -> Result<Document, ScenarioError> {
        let mut document = Document {
            file: file.to_owned(),
            text: text.to_owned(),
            root: Table::new(),
        };
        let parsed = DeTable::parse(text).map_err(|error| {
            let origin = error.span().map(Origin::Text);
            document.error(origin.as_ref(), error.message(), "write it as TOML")
        })?;
        let Some(root) = table(parsed.get_ref(), MAX_DEPTH) else {
            return Err(document.error(None, "nested too deeply", "eight levels suffice"));
        };
        document.root = root;
        Ok(document)
    }

    /// Sets the value at `path`, such as `link.rate`, or `traffic.NAME.control`: entries of a list
    /// are found by their `name`. Without a name, a list's path means all its entries.
    ///
    /// # Errors
    /// If the path leads nowhere.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), ScenarioError> {
        let keys: Vec<&str> = path.split('.').collect();
        let item = Item {
            node: Node::Leaf(value.to_owned()),
            origin: Origin::Set(format!("--set {path}")),
        };
        let known = set(&mut self.root, &keys, &item);
        known.map_err(|help| {
            let origin = Origin::Set(format!("--set {path}"));
            let message = format!("the path {path:?} leads nowhere");
            self.error(Some(&origin), &message, &help)
        })
    }

    /// Replaces the disciplines to compare, as the command line's `--discipline` does.
    pub fn set_disciplines(&mut self, choices: &[String]) {
        let origin = Origin::Set("--discipline".to_owned());
        let item = |text: &String| Item {
            node: Node::Leaf(text.clone()),
            origin: origin.clone(),
        };
        let node = Node::List(choices.iter().map(item).collect());
        self.root.retain(|(key, _)| key != "disciplines");
        self.root
            .push(("disciplines".to_owned(), Item { node, origin }));
    }

    /// The value at `path`, if there is one.
    pub fn get(&self, path: &str) -> Option<&str> {
        match &find(&self.root, path)?.node {
            Node::Leaf(text) => Some(text),
            _ => None,
        }
    }

    /// The document as JSON, with everything that was set.
    pub fn to_json(&self) -> serde_json::Value {
        json(&Node::Table(self.root.clone()))
    }

    /// The document as TOML, with everything that was set.
    pub fn to_toml(&self) -> String {
        // What was read as TOML can be written as TOML.
        toml::to_string_pretty(&self.to_json()).unwrap_or_default()
    }

    /// An error about the value at `path`.
    pub fn error_at_path(&self, path: &str, message: &str, help: &str) -> ScenarioError {
        let origin = find(&self.root, path).map(|item| &item.origin);
        self.error(origin, &format!("{path}: {message}"), help)
    }

    /// An error about a place of this document.
    pub(crate) fn error(
        &self,
        origin: Option<&Origin>,
        message: &str,
        help: &str,
    ) -> ScenarioError {
        let (span, set) = match origin {
            Some(Origin::Text(span)) => (Some(span.clone()), None),
            Some(Origin::Set(path)) => (None, Some(path.clone())),
            None => (None, None),
        };
        ScenarioError {
            file: self.file.clone(),
            text: self.text.clone(),
            span,
            set,
            message: message.to_owned(),
            help: help.to_owned(),
        }
    }
}

/// The item at `path`; a list stands for its entry of the next name, or for its first entry.
fn find<'a>(table: &'a Table, path: &str) -> Option<&'a Item> {
    let (key, rest) = match path.split_once('.') {
        Some((key, rest)) => (key, Some(rest)),
        None => (path, None),
    };
    let (_, item) = table.iter().find(|(name, _)| name == key)?;
    let Some(rest) = rest else {
        return Some(item);
    };
    match &item.node {
        Node::Leaf(_) => None,
        Node::Table(inner) => find(inner, rest),
        Node::List(items) => {
            let (name, below) = rest.split_once('.').unwrap_or((rest, ""));
            match items.iter().find_map(|item| named(item, name)) {
                Some(table) => find(table, below),
                None => match &items.first()?.node {
                    Node::Table(table) => find(table, rest),
                    _ => None,
                },
            }
        }
    }
}

fn named<'a>(item: &'a Item, name: &str) -> Option<&'a Table> {
    match &item.node {
        Node::Table(table) if name_of(table) == Some(name) => Some(table),
        _ => None,
    }
}

/// The `name` of an entry of a list.
pub(crate) fn name_of(table: &Table) -> Option<&str> {
    match &table.iter().find(|(key, _)| key == "name")?.1.node {
        Node::Leaf(name) => Some(name),
        _ => None,
    }
}

fn set(table: &mut Table, keys: &[&str], item: &Item) -> Result<(), String> {
    let (key, rest) = match keys {
        [] | [""] => return Err("write a path such as link.rate".to_owned()),
        [key, rest @ ..] => (*key, rest),
    };
    let found = table.iter_mut().find(|(name, _)| name == key);
    if rest.is_empty() {
        match found {
            Some((_, old)) => *old = item.clone(),
            None => table.push((key.to_owned(), item.clone())),
        }
        return Ok(());
    }
    let names: Vec<String> = table.iter().map(|(name, _)| name.clone()).collect();
    let found = table.iter_mut().find(|(name, _)| name == key);
    match found.map(|(_, item)| &mut item.node) {
        Some(Node::Table(inner)) => set(inner, rest, item),
        Some(Node::List(items)) => set_in_list(items, rest, item),
        Some(Node::Leaf(_)) => Err(format!("{key} is a value, not a table")),
        None if key == "up" => {
            let mut inner = Table::new();
            set(&mut inner, rest, item)?;
            let origin = item.origin.clone();
            let node = Node::Table(inner);
            table.push((key.to_owned(), Item { node, origin }));
            Ok(())
        }
        None => Err(format!("there are: {}", names.join(", "))),
    }
}

fn set_in_list(items: &mut [Item], keys: &[&str], item: &Item) -> Result<(), String> {
    let mut tables: Vec<&mut Table> = items
        .iter_mut()
        .filter_map(|item| match &mut item.node {
            Node::Table(table) => Some(table),
            _ => None,
        })
        .collect();
    let names: Vec<String> = tables
        .iter()
        .filter_map(|table| name_of(table))
        .map(str::to_owned)
        .collect();
    if let Some(place) = tables
        .iter()
        .position(|table| name_of(table) == Some(keys[0]))
        && keys.len() > 1
    {
        return set(tables[place], &keys[1..], item);
    }
    if keys.len() > 1
        && tables
            .iter()
            .all(|table| !table.iter().any(|(key, _)| key == keys[0]))
    {
        return Err(format!(
            "no entry is called {:?}; there are: {}",
            keys[0],
            names.join(", ")
        ));
    }
    tables
        .iter_mut()
        .try_for_each(|table| set(table, keys, item))
}

fn table(from: &DeTable<'_>, depth: usize) -> Option<Table> {
    let entries = from.iter();
    entries
        .map(|(key, value)| {
            Some((
                key.get_ref().to_string(),
                item(value, depth.checked_sub(1)?)?,
            ))
        })
        .collect()
}

fn item(from: &Spanned<DeValue<'_>>, depth: usize) -> Option<Item> {
    let node = match from.get_ref() {
        DeValue::String(text) => Node::Leaf(text.to_string()),
        DeValue::Integer(number) => Node::Leaf(number.as_str().to_owned()),
        DeValue::Float(number) => Node::Leaf(number.as_str().to_owned()),
        DeValue::Boolean(value) => Node::Leaf(value.to_string()),
        DeValue::Datetime(date) => Node::Leaf(date.to_string()),
        DeValue::Array(items) => {
            let depth = depth.checked_sub(1)?;
            Node::List(
                items
                    .iter()
                    .map(|value| item(value, depth))
                    .collect::<Option<_>>()?,
            )
        }
        DeValue::Table(inner) => Node::Table(table(inner, depth)?),
    };
    Some(Item {
        node,
        origin: Origin::Text(from.span()),
    })
}

fn json(node: &Node) -> serde_json::Value {
    match node {
        Node::Leaf(text) => text.clone().into(),
        Node::List(items) => items.iter().map(|item| json(&item.node)).collect(),
        Node::Table(table) => serde_json::Value::Object(
            table
                .iter()
                .map(|(key, item)| (key.clone(), json(&item.node)))
                .collect(),
        ),
    }
}
