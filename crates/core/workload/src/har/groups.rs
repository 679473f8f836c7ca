//! Which entries are a page together.

use super::entry::HarEntry;
use crate::page::MAX_WAIT;
use std::collections::BTreeMap;
use units::Duration;

/// A recording without pages has a new one after so long without a request that starts or goes on.
pub const PAUSE: Duration = Duration::from_secs(10);
/// A request that goes on for longer waits for something to happen, and holds no page together.
const LONG: Duration = Duration::from_secs(30);
/// Earlier moments, in nanoseconds since 1970, are of a wrong clock: the first page was loaded in 1990.
const FIRST_PAGE: i128 = 20 * 365 * 86_400 * 1_000_000_000;

/// A page's name, and its entries.
type Group = (String, Vec<HarEntry>);

/// By the names of pages; entries without one are of the page `first`.
pub(super) fn named(names: Vec<String>, first: &str, entries: Vec<HarEntry>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut index_of = BTreeMap::new();
    for name in names {
        index_of.entry(name.clone()).or_insert(groups.len());
        groups.push((name, Vec::new()));
    }
    for entry in entries {
        let name = entry.pageref.clone().unwrap_or_else(|| first.to_owned());
        let index = *index_of.entry(name.clone()).or_insert(groups.len());
        if index == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[index].1.push(entry);
    }
    groups
}

/// In the order of time, divided by pauses.
pub(super) fn by_pauses(mut entries: Vec<HarEntry>) -> Vec<Group> {
    entries.sort_by_key(|entry| (entry.start, entry.index));
    let of_wrong_clock = entries.partition_point(|entry| entry.start < FIRST_PAGE);
    let later = entries.split_off(of_wrong_clock);
    let mut groups: Vec<Vec<HarEntry>> = Vec::new();
    let mut busy_until = i128::MIN;
    for entry in later {
        if groups.is_empty() || entry.start > busy_until.saturating_add(nanos(PAUSE)) {
            groups.push(Vec::new());
        }
        busy_until = busy_until.max(entry.start + nanos(entry.duration.min(LONG)));
        if let Some(last) = groups.last_mut() {
            last.push(entry);
        }
    }
    match groups.first_mut() {
        Some(first) => first.extend(entries),
        None => groups.push(entries),
    }
    let groups = groups.into_iter();
    groups.map(|entries| ("page".to_owned(), entries)).collect()
}

/// The same, with visits more than a day apart under one name as pages of their own: a tab that stayed
/// open, a recording that went on. A single entry so far away is none, but for the page's first, its
/// document, at a time at which there were pages: a wrong clock is not to move the others.
pub(super) fn apart(groups: Vec<Group>) -> Vec<Group> {
    groups.into_iter().flat_map(divided).collect()
}

fn divided((name, mut entries): Group) -> Vec<Group> {
    let Some(document) = entries.iter().map(|entry| entry.index).min() else {
        return vec![(name, entries)];
    };
    entries.sort_by_key(|entry| (entry.start, entry.index));
    let mut visits: Vec<Vec<HarEntry>> = Vec::new();
    for entry in entries {
        let last = visits.last_mut();
        let near = |visit: &&mut Vec<HarEntry>| {
            let start = visit.first().map_or(entry.start, |first| first.start);
            entry.start - start <= nanos(MAX_WAIT)
        };
        match last.filter(near) {
            Some(visit) => visit.push(entry),
            None => visits.push(vec![entry]),
        }
    }
    let is_visit = |visit: &Vec<HarEntry>| {
        let own = visit.len() > 1 || visit[0].index == document;
        own && visit[0].start >= FIRST_PAGE
    };
    let most = visits.iter().map(Vec::len).max().unwrap_or(0);
    let (whole, alone): (Vec<_>, Vec<_>) = visits.into_iter().partition(is_visit);
    let mut groups: Vec<Group> = (1..)
        .zip(whole)
        .map(|(number, entries): (u32, _)| match number {
            1 => (name.clone(), entries),
            _ => (format!("{name}#{number}"), entries),
        })
        .collect();
    // Those that are no visit stay with the largest, beside which they are far.
    let alone = alone.into_iter().flatten();
    match groups.iter_mut().find(|(_, entries)| entries.len() == most) {
        Some((_, entries)) => entries.extend(alone),
        None => groups.push((name, alone.collect())),
    }
    groups
}

fn nanos(duration: Duration) -> i128 {
    i128::from(duration.as_nanos())
}
