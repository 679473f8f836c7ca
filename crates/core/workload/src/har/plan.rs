//! From a browser's recording to a client's plan.
//!
//! Dependencies are taken, in this order, from redirects, from initiators, and from start times. If
//! the child started while its parent was still arriving, it waits for the parent's first part;
//! otherwise for all of it. The gap in between, the browser's own work, is kept.

use super::entry::HarEntry;
use super::left_out::{LeftOut, Reason};
use super::{Fault, Options};
use crate::page::{After, MAX_WAIT, Origin, Page, Protocol, Request};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Duration};

/// An entry on the page's own clock.
struct Timed {
    entry: HarEntry,
    start: Duration,
    first_byte: Duration,
    end: Duration,
}

/// The plan of a page, or none if it has no requests over the network. Entries that are not
/// replayed are added to `left_out`.
pub(super) fn page(
    name: &str,
    entries: Vec<HarEntry>,
    options: &Options,
    left_out: &mut LeftOut,
) -> Result<Option<Page>, Fault> {
    let timed = on_page_clock(entries, left_out);
    let mut kept = Vec::with_capacity(timed.len());
    for Timed { entry, .. } in &timed {
        let skipped = entry
            .skipped
            .filter(|&reason| reason != Reason::Cached || !options.fetch_cached);
        if let Some(reason) = skipped {
            left_out.add(entry.index, entry.url.as_str(), reason);
        }
        kept.push(skipped.is_none());
    }
    if !kept.contains(&true) {
        return Ok(None);
    }
    let waits = without_skipped(&timed, &kept, waits(&timed));
    let (origins, origin_of) = origins(&timed, &kept, options);
    let rtts = round_trips(&timed, &origin_of, origins.len());
    let addresses = addresses(&timed, &origin_of, origins.len());
    // Requests are numbered without the skipped ones.
    let number: Vec<u32> = kept
        .iter()
        .scan(0, |next, &kept| {
            let number = *next;
            *next += u32::from(kept);
            Some(number)
        })
        .collect();
    let renumber = |after| match after {
        After::Navigation => After::Navigation,
        After::FirstPart(parent) => After::FirstPart(number[parent as usize]),
        After::Done(parent) => After::Done(number[parent as usize]),
    };
    let mut requests = Vec::new();
    for (index, timed) in timed.iter().enumerate() {
        let Some(origin) = origin_of[index] else {
            continue;
        };
        let (after, delay) = waits[index];
        let rtt = rtts[origin].unwrap_or_default();
        requests.push(Request {
            origin: origin as u32,
            request: Bytes::new(timed.entry.request),
            response: Bytes::new(timed.entry.response),
            think: timed.entry.wait.saturating_sub(rtt),
            after: renumber(after),
            delay: delay.min(MAX_WAIT),
        });
    }
    Page::new(name, origins, requests)
        .map(|page| Some(page.with_addresses(addresses)))
        .map_err(|error| Fault::new("entries", error.to_string()))
}

/// Entries in the order of their starts, counted from the first one's. A clock that was wrong once
/// must not move the others: those more than a day from the middle one of those that are replayed have no place.
fn on_page_clock(mut entries: Vec<HarEntry>, left_out: &mut LeftOut) -> Vec<Timed> {
    entries.sort_by_key(|entry| (entry.start, entry.index));
    let replayed = |entry: &&HarEntry| entry.skipped.is_none();
    let starts: Vec<i128> = if entries.iter().any(|entry| replayed(&entry)) {
        entries.iter().filter(replayed).map(|e| e.start).collect()
    } else {
        entries.iter().map(|e| e.start).collect()
    };
    let middle = starts.get(starts.len() / 2).copied().unwrap_or(0);
    entries.retain(|entry| {
        let near = (entry.start - middle).unsigned_abs() <= u128::from(MAX_WAIT.as_nanos());
        if !near {
            left_out.add(entry.index, entry.url.as_str(), Reason::FarStart);
        }
        near
    });
    let zero = entries.first().map_or(0, |entry| entry.start);
    let timed = entries.into_iter().map(|entry| {
        let nanos = u64::try_from(entry.start - zero).unwrap_or(u64::MAX);
        let start = Duration::from_nanos(nanos);
        Timed {
            start,
            first_byte: start + entry.first_byte,
            end: start + entry.duration,
            entry,
        }
    });
    timed.collect()
}

/// The dependency of each entry, skipped entries included: an earlier one, or the page's start.
fn waits(timed: &[Timed]) -> Vec<(After, Duration)> {
    let ends = order_by(timed, |t| t.end);
    let first_bytes = order_by(timed, |t| t.first_byte);
    let mut ended = LastBefore::new(&ends);
    let mut heard = LastBefore::new(&first_bytes);
    // The latest entry so far with this URL, and that redirected to this URL.
    let mut urls: BTreeMap<&str, usize> = BTreeMap::new();
    let mut redirects: BTreeMap<&str, usize> = BTreeMap::new();
    let mut waits = Vec::with_capacity(timed.len());
    for (index, child) in timed.iter().enumerate() {
        let own = child.entry.url.as_str();
        let initiator = child.entry.initiator.as_ref();
        let initiator = initiator.and_then(|url| urls.get(url.as_str()));
        let (by_end, by_first) = (ended.of(child.start, index), heard.of(child.start, index));
        // A redirect leads to one request; a later one with that URL has another cause.
        let parent = redirects.remove(own).or(initiator.copied());
        waits.push(match parent.or(by_end).or(by_first) {
            Some(parent) => wait_for(timed, parent, child),
            None => (After::Navigation, child.start),
        });
        urls.insert(own, index);
        if let Some(target) = &child.entry.redirect {
            redirects.insert(target.as_str(), index);
        }
    }
    waits
}

fn wait_for(timed: &[Timed], parent: usize, child: &Timed) -> (After, Duration) {
    let (id, parent) = (parent as u32, &timed[parent]);
    if child.start >= parent.end {
        (After::Done(id), child.start.saturating_sub(parent.end))
    } else {
        let gap = child.start.saturating_sub(parent.first_byte);
        (After::FirstPart(id), gap)
    }
}

/// Moments with the indices of their entries, sorted.
fn order_by(timed: &[Timed], moment: fn(&Timed) -> Duration) -> Vec<(Duration, usize)> {
    let mut order: Vec<_> = timed.iter().map(moment).zip(0..).collect();
    order.sort_unstable();
    order
}

/// Walks through sorted moments in parallel with entries in the order of their starts.
struct LastBefore<'a> {
    order: &'a [(Duration, usize)],
    passed: usize,
}

impl<'a> LastBefore<'a> {
    fn new(order: &'a [(Duration, usize)]) -> Self {
        LastBefore { order, passed: 0 }
    }

    /// The entry before `index` whose moment is the last one until `start`. An entry's moment is
    /// never before its start, so that those until `start` are of earlier entries, except for
    /// entries that take no time: the index decides among them.
    fn of(&mut self, start: Duration, index: usize) -> Option<usize> {
        let rest = &self.order[self.passed..];
        self.passed += rest.partition_point(|&moment| moment < (start, index));
        self.passed.checked_sub(1).map(|last| self.order[last].1)
    }
}

/// Replaces parents that are not replayed by their own parents, and adds the time they took.
fn without_skipped(
    timed: &[Timed],
    kept: &[bool],
    mut waits: Vec<(After, Duration)>,
) -> Vec<(After, Duration)> {
    for index in 0..waits.len() {
        let (after, delay) = waits[index];
        let (parent, took) = match after {
            After::Navigation => continue,
            After::FirstPart(parent) => (parent as usize, timed[parent as usize].first_byte),
            After::Done(parent) => (parent as usize, timed[parent as usize].end),
        };
        if !kept[parent] {
            // The parent is earlier: the entry it waits for is replayed already.
            let (after, before) = waits[parent];
            let took = took.saturating_sub(timed[parent].start);
            waits[index] = (after, before + took + delay);
        }
    }
    waits
}

/// The origins in the order of their first requests, and each entry's; none if it is skipped. An
/// origin's protocol is that of most of its entries, the newer in a tie.
fn origins(timed: &[Timed], kept: &[bool], options: &Options) -> (Vec<Origin>, Vec<Option<usize>>) {
    let mut origins: Vec<Origin> = Vec::new();
    let mut votes: Vec<BTreeMap<Protocol, usize>> = Vec::new();
    let mut index_of: BTreeMap<Origin, usize> = BTreeMap::new();
    let origin_of = timed.iter().zip(kept).map(|(timed, &kept)| {
        // The protocol is not known yet: all are entered with the same.
        let origin = timed.entry.origin(Protocol::H1).filter(|_| kept)?;
        let index = *index_of.entry(origin.clone()).or_insert(origins.len());
        if index == origins.len() {
            origins.push(origin);
            votes.push(BTreeMap::new());
        }
        if let Some(protocol) = timed.entry.protocol {
            *votes[index].entry(protocol).or_default() += 1;
        }
        Some(index)
    });
    let origin_of = origin_of.collect();
    for (origin, votes) in origins.iter_mut().zip(votes) {
        let most = votes.into_iter().max_by_key(|&(_, count)| count);
        origin.protocol = match most {
            Some((protocol, _)) => protocol,
            None if origin.secure => options.unknown,
            None => Protocol::H1,
        };
    }
    (origins, origin_of)
}

/// Number of addresses of the origins together, or none if that of an origin is unknown.
fn addresses(timed: &[Timed], origin_of: &[Option<usize>], origins: usize) -> Option<u32> {
    let known = timed.iter().zip(origin_of);
    let known = known.filter_map(|(timed, &origin)| Some((origin?, timed.entry.address?)));
    let known: BTreeSet<_> = known.collect();
    let told: BTreeSet<_> = known.iter().map(|&(origin, _)| origin).collect();
    let all: BTreeSet<_> = known.iter().map(|&(_, address)| address).collect();
    (told.len() == origins).then_some(all.len() as u32)
}

/// Each origin's round trip in the recording: the least that opening a connection took, or else the
/// least wait. Waits beyond that are the server's think time.
fn round_trips(
    timed: &[Timed],
    origin_of: &[Option<usize>],
    origins: usize,
) -> Vec<Option<Duration>> {
    let mut connects: Vec<Option<Duration>> = vec![None; origins];
    let mut waits = connects.clone();
    let least = |slot: &mut Option<Duration>, span: Duration| {
        *slot = Some(slot.map_or(span, |least| least.min(span)));
    };
    for (timed, origin) in timed.iter().zip(origin_of) {
        let Some(origin) = *origin else { continue };
        if let Some(rtt) = timed.entry.rtt {
            least(&mut connects[origin], rtt);
        }
        // Some exporters write 0 for unknown values.
        if timed.entry.wait > Duration::ZERO {
            least(&mut waits[origin], timed.entry.wait);
        }
    }
    let both = connects.into_iter().zip(waits);
    both.map(|(connect, wait)| connect.or(wait)).collect()
}
