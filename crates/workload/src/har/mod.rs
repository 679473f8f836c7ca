//! HTTP Archive files: recordings of page loads that every browser's developer tools export.
//!
//! HAR 1.2 (<http://www.softwareishard.com/blog/har-12-spec/>) leaves much to exporters; this
//! reads Chrome's, Firefox's, WebPageTest's and chrome-har's (Browsertime's) dialects. What is
//! unknown is skipped; what matters and is wrong is an error that names its place. How a recording
//! becomes a plan is written down in `docs/decisions/0030-page-plans.md`.

mod date;
mod entry;
mod node;
mod plan;
mod url;

use crate::page::{MAX_REQUESTS, Page, Protocol};
use entry::{Entry, Root};
use node::{Leaf, List, Node};

/// Largest file that is read: 256 MiB.
pub const MAX_FILE: usize = 256 << 20;

/// How to read a recording where it leaves a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What origins speak over https of which no entry tells it. HTTP/2: Chrome wrote `unknown` for
    /// it for years, and named HTTP/1.1. Over http it is HTTP/1.1.
    pub unknown: Protocol,
    /// Load what came from the browser's cache as well, as a first visit would. Otherwise it takes
    /// the time that it took, and no network.
    pub fetch_cached: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            unknown: Protocol::H2,
            fetch_cached: false,
        }
    }
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Har {
    /// Its pages, in the file's order; at least one.
    pub pages: Vec<Page>,
    /// Pages without a request that goes over the network.
    pub left_out: Vec<String>,
}

/// Why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {place}: {problem}")]
pub struct HarError {
    /// The file, as [`read`] was told.
    pub file: String,
    /// Where in it: `line 3 column 9`, or `entries[17].response.bodySize` (within `log`).
    pub place: String,
    /// What was found and what was expected.
    pub problem: String,
}

/// A [`HarError`] before the file's name is known.
#[derive(Debug)]
struct Fault {
    place: String,
    problem: String,
}

impl Fault {
    fn new(place: &str, problem: impl Into<String>) -> Self {
        Fault {
            place: place.to_owned(),
            problem: problem.into(),
        }
    }

    fn found(place: &str, found: &Leaf, expected: &str) -> Self {
        Fault::new(place, format!("found {found}, expected {expected}"))
    }
}

/// Reads the text of a HAR file, called `file` in errors.
///
/// # Errors
/// If the text is no JSON or no HAR; if it is larger than [`MAX_FILE`] or has more entries than
/// [`MAX_REQUESTS`]; if a field that matters is missing, of the wrong type or out of range; if no
/// entry goes over the network.
pub fn read(file: &str, text: &[u8], options: &Options) -> Result<Har, HarError> {
    parse(text, options).map_err(|fault| HarError {
        file: file.chars().take(200).collect(),
        place: fault.place,
        problem: fault.problem,
    })
}

fn parse(text: &[u8], options: &Options) -> Result<Har, Fault> {
    if text.len() > MAX_FILE {
        let problem = format!("found {} bytes, expected at most {MAX_FILE}", text.len());
        return Err(Fault::new("size", problem));
    }
    // Windows programs put a byte order mark in front.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let root: Node<Root> = serde_json::from_slice(text).map_err(|error| json_fault(&error))?;
    let log = match root {
        Node::Is(root) => root.log,
        Node::Not(found) => return Err(Fault::found("top level", &found, "an object")),
    };
    let log = match log {
        Node::Is(log) => log,
        Node::Not(found) => return Err(Fault::found("log", &found, "an object")),
    };
    let raw = match log.entries {
        List::Is(raw) => raw,
        List::Not(found) => return Err(Fault::found("entries", &found, "a list")),
    };
    if raw.is_empty() {
        return Err(Fault::new("entries", "found none, expected at least one"));
    }
    let names = page_names(log.pages)?;
    let entries = raw.into_iter().enumerate();
    let entries = entries.map(|(index, raw)| entry::read(index, raw));
    let entries: Vec<Entry> = entries.collect::<Result<_, _>>()?;
    pages(names, entries, options)
}

/// serde_json's message ends with the place; here it comes first.
fn json_fault(error: &serde_json::Error) -> Fault {
    let place = format!("line {} column {}", error.line(), error.column());
    let text = error.to_string();
    let problem = text.strip_suffix(&format!(" at {place}")).unwrap_or(&text);
    let problem: String = problem.chars().take(300).collect();
    Fault { place, problem }
}

fn page_names(pages: List<Node<entry::RawPage>, MAX_REQUESTS>) -> Result<Vec<String>, Fault> {
    let pages = match pages {
        List::Is(pages) => pages,
        List::Not(Leaf::Missing | Leaf::Null) => return Ok(Vec::new()),
        List::Not(found) => return Err(Fault::found("pages", &found, "a list")),
    };
    let name = |(index, page)| {
        let found = match page {
            Node::Is(entry::RawPage { id }) => match id {
                Leaf::Text(id) => return Ok(id),
                found => found,
            },
            Node::Not(found) => found,
        };
        let place = format!("pages[{index}].id");
        Err(Fault::found(&place, &found, "a text"))
    };
    pages.into_iter().enumerate().map(name).collect()
}

/// Sorts entries into pages. Those that name none belong to the first; a page that is named only
/// by entries follows the declared ones.
fn pages(names: Vec<String>, entries: Vec<Entry>, options: &Options) -> Result<Har, Fault> {
    let mut groups: Vec<(String, Vec<Entry>)> = Vec::new();
    let mut index_of = std::collections::BTreeMap::new();
    for name in names {
        index_of.entry(name.clone()).or_insert(groups.len());
        groups.push((name, Vec::new()));
    }
    for entry in entries {
        let first = groups.first().map_or("page", |(name, _)| name);
        let name = entry.pageref.clone().unwrap_or_else(|| first.to_owned());
        let index = *index_of.entry(name.clone()).or_insert(groups.len());
        if index == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[index].1.push(entry);
    }
    let mut har = Har {
        pages: Vec::new(),
        left_out: Vec::new(),
    };
    for (name, entries) in groups {
        match plan::page(&name, entries, options)? {
            Some(page) => har.pages.push(page),
            None => har.left_out.push(name.chars().take(60).collect()),
        }
    }
    if har.pages.is_empty() {
        let problem = "found none that went over the network, expected at least one";
        return Err(Fault::new("entries", problem));
    }
    Ok(har)
}
