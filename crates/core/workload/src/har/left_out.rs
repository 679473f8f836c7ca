//! The parts of a recording that are not replayed, and why.

use core::fmt;
use std::collections::BTreeMap;

/// Why an entry was left out. In the order of their weight: first errors in a file, then entries
/// that never went over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It is a text, a number or a list.
    NoObject,
    /// Its JSON cannot be read: a field twice, for example.
    Unreadable,
    /// It has no request.
    NoRequest,
    /// Its request has no URL, or one that is none.
    NoUrl,
    /// It has no start time.
    NoStart,
    /// It started more than a day before or after most of its page.
    FarStart,
    /// It has no response.
    NoResponse,
    /// Its answer has a size that no answer can have.
    NoSize,
    /// It has no answer: it was blocked, cancelled, or failed.
    Unanswered,
    /// The browser answered itself: from its cache, by a service worker, or with a redirect to https.
    Cached,
    /// A proxy's tunnel, whose content has entries of its own.
    Tunnel,
    /// A `data:` URL holds the content itself.
    Data,
    /// A `blob:` URL names something in the browser's memory.
    Blob,
    /// A WebSocket: what goes over it is no answer to a request.
    Socket,
    /// The URL has another scheme behind which there is no network: `about:`, an extension's.
    Scheme,
}

impl Reason {
    /// Whether the file is at fault. The others are usual in recordings, and do not affect the
    /// network traffic of a replay.
    pub fn is_fault(self) -> bool {
        self <= Reason::NoSize
    }

    /// The predicate for one entry, and for several.
    const fn predicates(self) -> (&'static str, &'static str) {
        match self {
            Reason::NoObject => ("is no JSON object", "are no JSON objects"),
            Reason::Unreadable => ("cannot be read", "cannot be read"),
            Reason::NoRequest => ("has no request", "have no request"),
            Reason::NoUrl => ("has no absolute URL", "have no absolute URL"),
            Reason::NoStart => (
                "has no startedDateTime that can be read",
                "have no startedDateTime that can be read",
            ),
            Reason::FarStart => (
                "starts more than a day before or after its page",
                "start more than a day before or after their page",
            ),
            Reason::NoResponse => ("has no response", "have no response"),
            Reason::NoSize => (
                "has a size that no answer can have",
                "have sizes that no answer can have",
            ),
            Reason::Unanswered => ("was not answered", "were not answered"),
            Reason::Cached => (
                "was answered by the browser",
                "were answered by the browser",
            ),
            Reason::Tunnel => ("opens a tunnel", "open tunnels"),
            Reason::Data => ("is a data: URL", "are data: URLs"),
            Reason::Blob => ("is a blob: URL", "are blob: URLs"),
            Reason::Socket => ("is a WebSocket", "are WebSockets"),
            Reason::Scheme => ("leads to no server", "lead to no server"),
        }
    }
}

/// The predicate for an entry: `has no response`.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.predicates().0)
    }
}

/// An entry that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omitted {
    /// Its index in the file, from 0.
    pub index: usize,
    /// The beginning of its URL, with escapes for invisible characters; empty if there is none.
    pub url: String,
    /// Why.
    pub reason: Reason,
}

/// `entries[3] https://a.example/ has no response`.
impl fmt::Display for Omitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.url.is_empty() { "" } else { " " };
        let (index, url, reason) = (self.index, &self.url, self.reason);
        write!(f, "entries[{index}]{space}{url} {reason}")
    }
}

/// The parts of a file that are not replayed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many entries the file has.
    pub of: usize,
    /// How many of them were left out for each reason.
    pub reasons: BTreeMap<Reason, usize>,
    /// The first [`LeftOut::NAMED`] of these, the weightiest reasons first.
    pub entries: Vec<Omitted>,
    /// Number of pages that were left out because they have no requests over the network.
    pub pages: usize,
    /// The names of the first [`LeftOut::NAMED`] of these, cut and escaped as URLs are.
    pub page_names: Vec<String>,
}

impl LeftOut {
    /// How many entries and pages are named; the others are counted.
    pub const NAMED: usize = 20;
    /// How many faults, and how many pages, a message names.
    const SHOWN: usize = 3;

    /// How many entries were left out.
    pub fn count(&self) -> usize {
        self.reasons.values().sum()
    }

    /// Whether all entries are replayed.
    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty() && self.pages == 0
    }

    /// The first faulty entries: `entries[3] https://a.example/ has no response`. None if there are
    /// none.
    pub fn faults(&self) -> Option<String> {
        let faults = self.entries.iter().filter(|entry| entry.reason.is_fault());
        let shown: Vec<String> = faults.take(Self::SHOWN).map(ToString::to_string).collect();
        (!shown.is_empty()).then(|| shown.join("; "))
    }

    /// How many there are of each reason: `2 have no response, 1 is a data: URL`.
    pub(super) fn counts(&self) -> String {
        let count = |(reason, &count): (&Reason, &usize)| {
            let (one, several) = reason.predicates();
            format!("{count} {}", if count == 1 { one } else { several })
        };
        let counts: Vec<String> = self.reasons.iter().map(count).collect();
        counts.join(", ")
    }

    pub(super) fn add(&mut self, index: usize, url: &str, reason: Reason) {
        *self.reasons.entry(reason).or_default() += 1;
        let url = shown(url);
        let omitted = Omitted { index, url, reason };
        let place = self
            .entries
            .partition_point(|other| (other.reason, other.index) < (reason, index));
        self.entries.insert(place, omitted);
        self.entries.truncate(Self::NAMED);
    }

    pub(super) fn add_page(&mut self, name: &str) {
        self.pages += 1;
        if self.page_names.len() < Self::NAMED {
            self.page_names.push(shown(name));
        }
    }
}

/// `3 of 12 entries are left out: 2 have no response, 1 is a data: URL; nothing to load in page_2`.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count();
        if count > 0 {
            let are = if count == 1 { "is" } else { "are" };
            let (of, counts) = (entries(self.of), self.counts());
            write!(f, "{count} of {of} {are} left out: {counts}")?;
        }
        if self.pages > 0 {
            let between = if count > 0 { "; " } else { "" };
            let names = &self.page_names[..self.page_names.len().min(Self::SHOWN)];
            write!(f, "{between}nothing to load in {}", names.join(", "))?;
            match self.pages - names.len() {
                0 => {}
                more => write!(f, " and {more} more")?,
            }
        }
        Ok(())
    }
}

/// `1 entry`, `2 entries`.
pub(super) fn entries(count: usize) -> String {
    match count {
        1 => "1 entry".to_owned(),
        _ => format!("{count} entries"),
    }
}

/// The beginning of `text` in 60 characters, those that cannot be seen as escapes.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut shown = String::new();
    for c in text.chars() {
        let escaped = c.escape_debug();
        if shown.len() + escaped.len() > MOST {
            return shown + "...";
        }
        shown.extend(escaped);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_short_and_can_be_seen() {
        assert_eq!(
            shown("https://a.example/\u{1b}"),
            "https://a.example/\\u{1b}"
        );
        assert_eq!(shown(&"x".repeat(60)), "x".repeat(60));
        assert_eq!(shown(&"x".repeat(61)), "x".repeat(60) + "...");
        assert_eq!(shown(&"\u{202e}".repeat(61)), "\\u{202e}".repeat(7) + "...");
    }

    #[test]
    fn a_few_lines_say_it_all() {
        let mut left_out = LeftOut {
            of: 7,
            ..LeftOut::default()
        };
        assert!(left_out.is_empty());
        assert_eq!(left_out.to_string(), "");
        left_out.add_page("page_2");
        assert_eq!(left_out.to_string(), "nothing to load in page_2");
        left_out.add(4, "data:,x", Reason::Data);
        left_out.add(1, "https://a.example/", Reason::NoResponse);
        left_out.add(5, "data:,y", Reason::Data);
        left_out.add(3, "", Reason::NoRequest);
        assert_eq!(
            left_out.to_string(),
            "4 of 7 entries are left out: 1 has no request, 1 has no response, 2 are data: URLs; \
             nothing to load in page_2"
        );
        assert_eq!(
            left_out.faults().as_deref(),
            Some("entries[3] has no request; entries[1] https://a.example/ has no response")
        );
        let indices: Vec<usize> = left_out.entries.iter().map(|entry| entry.index).collect();
        assert_eq!(indices, [3, 1, 4, 5], "faults come first");
    }
}
