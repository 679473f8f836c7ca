//! HTTP Archive files: recordings of page loads that every browser's developer tools export.
//!
//! HAR 1.2 (<http://www.softwareishard.com/blog/har-12-spec/>) leaves much to exporters; this reads
//! the dialects of browsers (Chrome, Edge, Firefox, Safari), of their drivers (WebPageTest,
//! Browsertime with chrome-har, Playwright) and of proxies (Charles, Fiddler, mitmproxy). Unknown
//! fields are skipped; an impossible value counts as missing; an entry that still has too little
//! data is left out and named in [`LeftOut`]. How a recording becomes a plan is written down in
//! `docs/decisions/0030-page-plans.md`.

mod answer;
mod entry;
mod groups;
mod left_out;
mod node;
mod plan;
mod protocol;
mod raw;
mod value;

pub use groups::PAUSE;
pub use left_out::{LeftOut, Omitted, Reason};

use crate::page::{MAX_REQUESTS, Page, Protocol};
use entry::HarEntry;
use node::{HarNode, Leaf, List};
use raw::{Log, RawCreator, RawPage, Root};
use serde_json::value::RawValue;
use units::Duration;

/// Largest file that is read: 256 MiB.
pub const MAX_FILE: usize = 256 << 20;

/// How to read a recording that leaves a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The protocol of origins over https if no entry has it. HTTP/2: Chrome wrote `unknown` for it
    /// for years, and named HTTP/1.1. Over http it is HTTP/1.1.
    pub unknown: Protocol,
    /// Load entries from the browser's cache as well, as a first visit would. Otherwise they take
    /// the time that they took, and no network.
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

/// The contents of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Har {
    /// Its pages, in the file's order; at least one.
    pub pages: Vec<Page>,
    /// The parts of the file that are not in them.
    pub left_out: LeftOut,
    /// The file names no pages, as a proxy's or an app's, and pauses of [`PAUSE`] divide it into several.
    pub by_pauses: bool,
}

/// Why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {place}: {problem}")]
pub struct HarError {
    /// The file, as given to [`read`].
    pub file: String,
    /// Where in it: `line 3 column 9`, or `entries` (within `log`).
    pub place: String,
    /// The text found and the text expected.
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
/// [`MAX_REQUESTS`]; if no requests over the network are left.
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
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        let problem = "found UTF-16, expected UTF-8";
        return Err(Fault::new("line 1 column 1", problem));
    }
    // Recorded content may hold broken characters; no text that matters here does.
    let text = String::from_utf8_lossy(text);
    // Windows programs put a byte order mark in front; zeros fill a file that was not closed.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let log = log(text.trim_end_matches('\0'))?;
    let raw = match log.entries {
        List::Is(raw) => raw,
        List::Not(found) => return Err(Fault::found("entries", &found, "a list")),
    };
    if raw.is_empty() {
        return Err(Fault::new("entries", "found none, expected at least one"));
    }
    let mut left_out = LeftOut {
        of: raw.len(),
        ..LeftOut::default()
    };
    let by_firefox = is_firefox(&log.creator);
    let mut entries = Vec::new();
    for (index, json) in raw.into_iter().enumerate() {
        match entry::read(index, json.get()) {
            Ok(entry) => entries.push(entry),
            Err(unplaced) => left_out.add(index, &unplaced.url, unplaced.reason),
        }
    }
    leave_cached(&mut entries, by_firefox);
    pages(page_names(log.pages), entries, left_out, options)
}

/// Whether Firefox, or a browser made of it, wrote the file.
fn is_firefox(creator: &HarNode<RawCreator>) -> bool {
    const NAMES: [&str; 6] = [
        "firefox",
        "firebug",
        "librewolf",
        "waterfox",
        "tor browser",
        "zen",
    ];
    let HarNode::Is(creator) = creator else {
        return false;
    };
    let name = creator.name.as_text().unwrap_or_default().to_lowercase();
    NAMES.iter().any(|known| name.contains(known))
}

/// Marks entries that went over no network and are marked by that alone. It means something in a file of
/// Firefox, and of an exporter that names servers or connections; there all time has to be none, since
/// some exporters write no parts of it.
fn leave_cached(entries: &mut [HarEntry], by_firefox: bool) {
    let told = entries.iter().any(|entry| entry.connected);
    for entry in entries {
        let says_so = by_firefox || (told && entry.instant && entry.duration == Duration::ZERO);
        if entry.is_unmoved() && says_so {
            entry.skipped = entry.skipped.or(Some(Reason::Cached));
        }
    }
}

fn log(text: &str) -> Result<Log<'_>, Fault> {
    let root: HarNode<Root<'_>> = serde_json::from_str(text).map_err(|error| json_fault(&error))?;
    let log = match root {
        HarNode::Is(root) => root.log,
        HarNode::Not(found) => return Err(Fault::found("top level", &found, "an object")),
    };
    match log {
        HarNode::Is(log) => Ok(log),
        HarNode::Not(found) => Err(Fault::found("log", &found, "an object")),
    }
}

/// serde_json's message ends with the place; here it is at the front.
fn json_fault(error: &serde_json::Error) -> Fault {
    let place = format!("line {} column {}", error.line(), error.column());
    let text = error.to_string();
    let problem = text.strip_suffix(&format!(" at {place}")).unwrap_or(&text);
    let problem: String = problem.chars().take(300).collect();
    Fault { place, problem }
}

/// The names of the pages that are declared. Charles writes no `pages`, Fiddler null.
fn page_names(pages: List<&RawValue, MAX_REQUESTS>) -> Vec<String> {
    let List::Is(pages) = pages else {
        return Vec::new();
    };
    let name = |page: &RawValue| match serde_json::from_str(page.get()) {
        Ok(HarNode::Is(RawPage { id })) => entry::name(id),
        _ => None,
    };
    pages.into_iter().filter_map(name).collect()
}

/// Sorts entries into pages. Those that name none belong to the first; a page that is named only by
/// entries follows the declared ones. If none is named, as in the recordings of proxies, a pause begins
/// a page.
fn pages(
    names: Vec<String>,
    entries: Vec<HarEntry>,
    mut left_out: LeftOut,
    options: &Options,
) -> Result<Har, Fault> {
    let named = || entries.iter().find_map(|entry| entry.pageref.clone());
    let first = names.first().cloned().or_else(named);
    let by_pauses = first.is_none();
    let groups = match first {
        Some(first) => groups::apart(groups::named(names, &first, entries)),
        None => groups::by_pauses(entries),
    };
    let mut pages = Vec::new();
    for (name, entries) in groups {
        match plan::page(&name, entries, options, &mut left_out)? {
            Some(page) => pages.push(page),
            None => left_out.add_page(&name),
        }
    }
    if pages.is_empty() {
        return Err(Fault::new("entries", nothing_left(&left_out)));
    }
    let by_pauses = by_pauses && pages.len() > 1;
    Ok(Har {
        pages,
        left_out,
        by_pauses,
    })
}

/// A description of a file with nothing to replay.
fn nothing_left(left_out: &LeftOut) -> String {
    let (of, counts) = (left_out::entries(left_out.of), left_out.counts());
    let faults = left_out.faults();
    let faults = faults.map_or(String::new(), |faults| format!(" ({faults})"));
    format!("found {of}, all left out: {counts}{faults}; expected one that went over the network")
}
