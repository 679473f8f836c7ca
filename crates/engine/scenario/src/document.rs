//! A scenario's text as a tree that keeps the position of each value.

use crate::error::ScenarioError;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::Refusal;

/// A scenario as written: a table with the places of its keys and values.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file's name, for errors.
    pub file: String,
    /// Its text.
    pub text: String,
    pub(crate) root: Table,
    /// Links that say no capacity have no limit.
    pub(crate) unlimited: bool,
}

/// Keys and values in the order of the text.
pub(crate) type Table = Vec<(String, Item)>;

/// A value and its source.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub node: Node,
    pub origin: Origin,
}

/// The source of a value.
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
            unlimited: false,
        };
        let parsed = DeTable::parse(text).map_err(|error| {
            let help = "write TOML: [table], key = \"text\", key = 3, # remark";
            ScenarioError::of_toml(file, text, &error, help)
        })?;
        document.root = table(parsed.get_ref(), MAX_DEPTH).map_err(|place| {
            let help = format!("{MAX_DEPTH} levels of tables suffice");
            document.error(Some(&Origin::Text(place)), "nested too deeply", &help)
        })?;
        Ok(document)
    }

    /// A link of both directions, for options to fill: a capacity that they do not set has no limit. Errors call it `file`.
    pub fn unlimited(file: &str) -> Document {
        let of = |root: Table| Item {
            node: Node::Table(root),
            origin: Origin::Set(file.to_owned()),
        };
        let up = ("up".to_owned(), of(Table::new()));
        Document {
            file: file.to_owned(),
            text: String::new(),
            root: vec![("link".to_owned(), of(vec![up]))],
            unlimited: true,
        }
    }

    /// The table called `key` as a document of its own; errors still name places of this one's text.
    pub fn part(&self, key: &str) -> Option<Document> {
        let (_, item) = self.root.iter().find(|(name, _)| name == key)?;
        let Node::Table(root) = &item.node else {
            return None;
        };
        Some(Document {
            file: self.file.clone(),
            text: self.text.clone(),
            root: root.clone(),
            unlimited: self.unlimited,
        })
    }

    /// Sets the value at `path`, such as `link.rate`, or `traffic.NAME.control`: entries of a list
    /// are found by their `name`; the second of `link`, if it has none, is called `link-2`. Without a
    /// name, a list's path means all its entries. Tables on the way are made if need be.
    ///
    /// # Errors
    /// If the path leads nowhere. Whether there is such a key turns out when the document is
    /// resolved.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), ScenarioError> {
        self.set_by(&format!("--set {path}"), path, value)
    }

    /// The same by another option of the command line, which errors then name.
    ///
    /// # Errors
    /// As those of [`Document::set`].
    pub fn set_by(&mut self, option: &str, path: &str, value: &str) -> Result<(), ScenarioError> {
        let keys: Vec<&str> = path.split('.').collect();
        let item = Item {
            node: Node::Leaf(value.to_owned()),
            origin: Origin::Set(option.to_owned()),
        };
        let done = if keys.len() > MAX_DEPTH || keys.contains(&"") {
            Err(Refusal::new("it is no path").with_help("write a path such as link.rate"))
        } else {
            set(&mut self.root, &keys, &item)
        };
        done.map_err(|refusal| {
            let refusal = refusal.within("the path leads nowhere");
            let help = refusal
                .help
                .as_deref()
                .unwrap_or("write the path of a value");
            self.error(Some(&item.origin), &refusal.message, help)
        })
    }

    /// Appends `entry` to the list `list`, such as `traffic`; `from` is its place in error
    /// messages.
    ///
    /// # Errors
    /// If `list` is something else, or the entry is nested too deeply.
    pub fn add(
        &mut self,
        list: &str,
        entry: &toml::Table,
        from: &str,
    ) -> Result<(), ScenarioError> {
        let origin = Origin::Set(from.to_owned());
        let Some(item) = plain(&toml::Value::Table(entry.clone()), &origin, MAX_DEPTH) else {
            let help = format!("{MAX_DEPTH} levels of tables suffice");
            return Err(self.error(Some(&origin), "nested too deeply", &help));
        };
        match self.root.iter_mut().find(|(key, _)| key == list) {
            Some((_, of)) => match &mut of.node {
                Node::List(items) => items.push(item),
                _ => {
                    let message = format!("{list} is no list");
                    return Err(self.error(Some(&origin), &message, "write [[traffic]]"));
                }
            },
            None => {
                let node = Node::List(vec![item]);
                self.root.push((list.to_owned(), Item { node, origin }));
            }
        }
        Ok(())
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

    /// Whether something stands at `path`: a value, a list or a table.
    pub fn has(&self, path: &str) -> bool {
        find(&self.root, path).is_some()
    }

    /// The first value of the list `list`, such as `disciplines`, or the value if there is one only.
    pub fn first(&self, list: &str) -> Option<&str> {
        let (_, item) = self.root.iter().find(|(key, _)| key == list)?;
        let item = match &item.node {
            Node::List(items) => items.first()?,
            _ => item,
        };
        match &item.node {
            Node::Leaf(text) => Some(text),
            _ => None,
        }
    }

    /// The names of the entries of the list `list`, such as `traffic`, that have one.
    pub fn names(&self, list: &str) -> Vec<String> {
        let items = match find(&self.root, list).map(|item| &item.node) {
            Some(Node::List(items)) => &items[..],
            _ => &[],
        };
        let tables = items.iter().filter_map(|item| match &item.node {
            Node::Table(table) => name_of(table),
            _ => None,
        });
        tables.map(str::to_owned).collect()
    }

    /// The path of each link, in order: `link`, or `link.NAME` if there are several.
    pub fn links(&self) -> Vec<String> {
        let items = match find(&self.root, "link").map(|item| &item.node) {
            Some(Node::List(items)) if items.len() > 1 => &items[..],
            Some(_) => return vec!["link".to_owned()],
            None => return Vec::new(),
        };
        let named = items.iter().enumerate().filter_map(|(place, item)| {
            let Node::Table(table) = &item.node else {
                return None;
            };
            Some(format!("link.{}", called(table, "link", place)))
        });
        named.collect()
    }

    /// The traces of links, in both directions: for each the path of its value, which means no other
    /// link's, and the value.
    pub fn traces(&self) -> Vec<(String, &str)> {
        let links = self.links().into_iter();
        let paths = links.flat_map(|link| ["trace", "up.trace"].map(|key| format!("{link}.{key}")));
        let traces = paths.filter_map(|path| {
            let value = self.get(&path)?;
            // Another link's names no file.
            (!value.starts_with(OF_LINK)).then_some((path, value))
        });
        traces.collect()
    }

    /// The document as JSON, with all settings.
    pub fn to_json(&self) -> serde_json::Value {
        json(&written(&self.root).into())
    }

    /// The document as TOML, with all settings.
    pub fn to_toml(&self) -> String {
        written(&self.root).to_string()
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
            text: self.text.clone(),
            span,
            set,
            ..ScenarioError::about(&self.file, message, help)
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
            match items
                .iter()
                .enumerate()
                .find_map(|(place, item)| named(item, key, place, name))
            {
                Some(table) => find(table, below),
                None => match &items.first()?.node {
                    Node::Table(table) => find(table, rest),
                    _ => None,
                },
            }
        }
    }
}

/// The table of an entry of `list`, the one at `place`, if it is called `name`.
fn named<'a>(item: &'a Item, list: &str, place: usize, name: &str) -> Option<&'a Table> {
    match &item.node {
        Node::Table(table) if called(table, list, place) == name => Some(table),
        _ => None,
    }
}

/// What the entry of `list` at `place` is called: its name, or else the list's with a number.
fn called<'a>(table: &'a Table, list: &str, place: usize) -> Cow<'a, str> {
    match name_of(table) {
        Some(name) => name.into(),
        None => format!("{list}-{}", place + 1).into(),
    }
}

/// The `name` of an entry of a list.
pub(crate) fn name_of(table: &Table) -> Option<&str> {
    match &table.iter().find(|(key, _)| key == "name")?.1.node {
        Node::Leaf(name) => Some(name),
        _ => None,
    }
}

/// How a trace begins that is that of another link.
pub const OF_LINK: &str = "link:";

/// Keys of a link, which has exactly one of them.
pub const CAPACITIES: [&str; 3] = ["rate", "trace", "steps"];

/// Sets the value at `keys`, at least one.
fn set(table: &mut Table, keys: &[&str], item: &Item) -> Result<(), Refusal> {
    let (&key, rest) = keys
        .split_first()
        .ok_or_else(|| Refusal::new("a key is missing"))?;
    if rest.is_empty() {
        // Setting one takes the others away.
        if CAPACITIES.contains(&key) {
            table.retain(|(name, _)| name == key || !CAPACITIES.contains(&name.as_str()));
        }
    }
    let place = table.iter().position(|(name, _)| name == key);
    let Some(place) = place else {
        let mut made = item.clone();
        if !rest.is_empty() {
            let mut inner = Table::new();
            set(&mut inner, rest, item)?;
            made.node = Node::Table(inner);
        }
        table.push((key.to_owned(), made));
        return Ok(());
    };
    let old = &mut table[place].1;
    match &mut old.node {
        _ if rest.is_empty() => *old = item.clone(),
        Node::Table(inner) => set(inner, rest, item)?,
        Node::List(items) => set_in_list(items, key, rest, item)?,
        Node::Leaf(_) => return Err(Refusal::new(format!("{key} is a value, not a table"))),
    }
    Ok(())
}

/// Sets the value at `keys` in the entry that the first of them names, or else in all entries.
fn set_in_list(items: &mut [Item], list: &str, keys: &[&str], item: &Item) -> Result<(), Refusal> {
    let mut tables: Vec<&mut Table> = items
        .iter_mut()
        .filter_map(|item| match &mut item.node {
            Node::Table(table) => Some(table),
            _ => None,
        })
        .collect();
    if tables.is_empty() {
        return Err(Refusal::new("it is a list of values").with_help("set it as a whole"));
    }
    let (first, rest) = (keys[0], &keys[1..]);
    if !rest.is_empty() {
        let mut names = tables.iter().enumerate();
        let found = names.find(|(place, table)| called(table, list, *place) == first);
        if let Some((place, _)) = found {
            return set(tables[place], rest, item);
        }
        let has_key = |table: &&mut Table| table.iter().any(|(key, _)| key == first);
        if !tables.iter().any(has_key) {
            let names: Vec<&str> = tables.iter().filter_map(|table| name_of(table)).collect();
            return Err(Refusal::unknown("entry", first, names));
        }
    }
    tables
        .iter_mut()
        .try_for_each(|table| set(table, keys, item))
}

/// Converts a table; an error is the place of a value that is nested too deeply.
fn table(from: &DeTable<'_>, depth: usize) -> Result<Table, Range<usize>> {
    let entry = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let depth = depth.checked_sub(1).ok_or(value.span())?;
        Ok((key.get_ref().to_string(), item(value, depth)?))
    };
    from.iter().map(entry).collect()
}

fn item(from: &Spanned<DeValue<'_>>, depth: usize) -> Result<Item, Range<usize>> {
    let node = match from.get_ref() {
        DeValue::String(text) => Node::Leaf(text.to_string()),
        DeValue::Integer(number) => {
            // As it was written if it is beyond all limits, for the error about it.
            let value = i128::from_str_radix(number.as_str(), number.radix());
            Node::Leaf(value.map_or_else(|_| number.to_string(), |value| value.to_string()))
        }
        DeValue::Float(number) => Node::Leaf(number.as_str().to_owned()),
        DeValue::Boolean(value) => Node::Leaf(value.to_string()),
        DeValue::Datetime(date) => Node::Leaf(date.to_string()),
        DeValue::Array(items) => {
            let depth = depth.checked_sub(1).ok_or(from.span())?;
            let items = items.iter().map(|value| item(value, depth));
            Node::List(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(inner) => Node::Table(table(inner, depth)?),
    };
    Ok(Item {
        node,
        origin: Origin::Text(from.span()),
    })
}

/// A value without a text of its own; none if it is nested more than `depth` times.
fn plain(value: &toml::Value, origin: &Origin, depth: usize) -> Option<Item> {
    let node = match value {
        toml::Value::String(text) => Node::Leaf(text.clone()),
        toml::Value::Array(items) => {
            let depth = depth.checked_sub(1)?;
            let items = items.iter().map(|item| plain(item, origin, depth));
            Node::List(items.collect::<Option<_>>()?)
        }
        toml::Value::Table(table) => {
            let depth = depth.checked_sub(1)?;
            let entry =
                |(key, value): (&String, _)| Some((key.clone(), plain(value, origin, depth)?));
            Node::Table(table.iter().map(entry).collect::<Option<_>>()?)
        }
        other => Node::Leaf(other.to_string()),
    };
    Some(Item {
        node,
        origin: origin.clone(),
    })
}

/// Keys whose values are texts, even if they look like numbers.
const TEXTS: [&str; 6] = ["name", "summary", "host", "trace", "source", "via"];

/// A table as TOML, numbers as numbers, and booleans as such.
fn written(table: &Table) -> toml::Table {
    let entry = |(key, item): &(String, Item)| {
        let value = match &item.node {
            Node::Leaf(text) if TEXTS.contains(&key.as_str()) => text.clone().into(),
            node => value(node),
        };
        (key.clone(), value)
    };
    table.iter().map(entry).collect()
}

fn value(node: &Node) -> toml::Value {
    match node {
        Node::List(items) => items
            .iter()
            .map(|item| value(&item.node))
            .collect::<Vec<_>>()
            .into(),
        Node::Table(table) => written(table).into(),
        Node::Leaf(text) if matches!(text.as_str(), "true" | "yes") => true.into(),
        Node::Leaf(text) if matches!(text.as_str(), "false" | "no") => false.into(),
        Node::Leaf(text) => {
            let integer = text.parse::<i64>().ok();
            let real = text.parse::<f64>().ok().filter(|real| real.is_finite());
            let same = |number: String| number == *text;
            match (integer, real) {
                (Some(integer), _) if same(integer.to_string()) => integer.into(),
                (_, Some(real)) if same(real.to_string()) => real.into(),
                _ => text.clone().into(),
            }
        }
    }
}

/// TOML's dates, which have no like in JSON, were read as texts.
fn json(value: &toml::Value) -> serde_json::Value {
    match value {
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(so) => (*so).into(),
        toml::Value::Array(items) => items.iter().map(json).collect(),
        toml::Value::Table(table) => serde_json::Value::Object(
            table
                .iter()
                .map(|(key, value)| (key.clone(), json(value)))
                .collect(),
        ),
        toml::Value::String(text) => text.clone().into(),
        other => other.to_string().into(),
    }
}
