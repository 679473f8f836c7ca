//! A scenario's `[[traffic]]`.

use crate::error::printable;
use crate::files::{self, Incomplete, Pages};
use crate::key::names as names_of;
use crate::keys::{ENTRY, OfEntry, ROOT};
use crate::model::{Link, Traffic};
use crate::names::Names;
use crate::read::{Direction, MAX_NAME, Result, choice, name, name_at};
use crate::section::{Section, Text};
use crate::via;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use transport::media::MediaParams;
use units::{Choice, Duration, Refusal};
use workload::page::Page;
use workload::{BuildError, Carrier, Entry, Kind, Library, LibraryError, Rows};

/// The names to which an entry may refer.
struct KnownNames<'a> {
    links: &'a [Link],
    stall_threshold: Duration,
    names: &'a dyn Names,
    shelf: &'a Shelf,
}

/// The traffic of a scenario with these links, where frames are late after this long unless their entry
/// says otherwise; and the files of pages that are not replayed as a whole.
pub fn traffic(
    root: &mut Section<'_>,
    (links, stall_threshold): (&[Link], Duration),
    names: &dyn Names,
) -> Result<(Vec<Traffic>, Vec<Incomplete>)> {
    let shelf = Shelf::default();
    let known = KnownNames {
        links,
        stall_threshold,
        names,
        shelf: &shelf,
    };
    let sections = root.tables(&ROOT.traffic)?;
    // Names in results: if there are several of an entry, they are numbered.
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut entries: Vec<Traffic> = Vec::new();
    for mut section in sections {
        let Some(name) = name(&mut section)? else {
            return Err(section.error("traffic without a name", "write name = \"call\""));
        };
        let added = entry(section, name.value.clone(), &known)?;
        let several: u32 = added.iter().map(|entry| entry.count).sum();
        let numbered = (1..=several).map(|number| format!("{}-{number}", name.value));
        let numbered = numbered.filter(|_| several > 1);
        for result in core::iter::once(name.value.clone()).chain(numbered) {
            if taken.contains(&result) {
                let message = format!("two entries are called {result:?}");
                return Err(name.error(&message, "give each its own name"));
            }
            taken.insert(result);
        }
        entries.extend(added);
        let all: u32 = entries.iter().map(|entry| entry.count).sum();
        if !ENTRY.count.allows(&all) {
            let message = format!("{}: {all} flows in all", name.key);
            return Err(root.error(&message, &ENTRY.count.instead()));
        }
    }
    if entries.is_empty() {
        let help = "write [[traffic]] with name = \"call\" and kind = \"call\"";
        return Err(root.error("there is no traffic", help));
    }
    Ok((entries, shelf.0.into_inner()))
}

/// One entry; several for calls and pages, whose frames and loads are told apart by the entry, and
/// for instances on different computers.
fn entry(mut section: Section<'_>, name: String, known: &KnownNames<'_>) -> Result<Vec<Traffic>> {
    let (entry, kind) = workload(&mut section, &name, known.names)?;
    section.only(
        &[
            names_of(OfEntry::ALL),
            entry.params.iter().map(|spec| spec.name).collect(),
        ]
        .concat(),
    )?;
    let preset = preset(&mut section, &entry)?;
    let rtt = section.said(&ENTRY.rtt)?;
    let access = section.said(&ENTRY.access)?;
    let host = name_at(&mut section, &ENTRY.host)?;
    let stall_threshold = stall_threshold(&mut section, &entry, known.stall_threshold)?;
    let own_hosts = section.value(&ENTRY.own_hosts)?;
    let traffic = Traffic {
        host: host.map_or_else(|| name.clone(), |text| text.value),
        dscp: section.value(&ENTRY.dscp)?,
        start: section.value(&ENTRY.start)?,
        count: section.value(&ENTRY.count)?,
        first: 0,
        stagger: section.value(&ENTRY.stagger)?,
        jitter: section.value(&ENTRY.jitter)?,
        rtt,
        via: via::via(&mut section, known.links)?,
        access,
        control: control(&mut section, &entry, known.names)?,
        session: session(&mut section, &entry)?,
        up: section.value(&ENTRY.direction)? == Direction::Up,
        stall_threshold,
        preset,
        kind: built(entry, &kind, section, known.shelf)?,
        name,
    };
    if traffic.session != MediaParams::default() && !traffic.kind.has_session() {
        let message = format!("{}: over TCP there is no session", kind.key);
        return Err(kind.error(&message, "leave its session out"));
    }
    let rows = traffic.kind.entry.rows;
    let in_one = matches!(rows, Rows::Flows | Rows::Figures) && !own_hosts;
    Ok(if traffic.count == 1 || in_one {
        vec![traffic]
    } else {
        each(&traffic, own_hosts)
    })
}

/// An entry for each instance of one, on the same computer or on its own.
fn each(of: &Traffic, own_hosts: bool) -> Vec<Traffic> {
    let one = |number: u32| Traffic {
        name: format!("{}-{number}", of.name),
        host: if own_hosts {
            format!("{}-{number}", of.host)
        } else {
            of.host.clone()
        },
        start: of.start + of.stagger * u64::from(number - 1),
        count: 1,
        first: number - 1,
        ..of.clone()
    };
    (1..=of.count).map(one).collect()
}

/// The workload that `kind` names.
fn workload<'a>(
    section: &mut Section<'a>,
    name: &str,
    names: &dyn Names,
) -> Result<(Entry, Text<'a>)> {
    let listed = || {
        let names: Vec<&str> = names.workloads().iter().map(|entry| entry.name).collect();
        format!("write kind = one of {}", names.join(", "))
    };
    let Some(kind) = section.text(&ENTRY.kind)? else {
        return Err(section.error(&format!("traffic {name} has no kind"), &listed()));
    };
    let entry = names.workloads().get(&kind.value).copied().ok_or_else(|| {
        let other = printable(&kind.value, MAX_NAME);
        let message = format!("{}: \"{other}\" is no kind of traffic", kind.key);
        kind.error(&message, &listed())
    })?;
    Ok((entry, kind))
}

/// The preset that is named, or the workload's first; its values are treated as if they were
/// written.
fn preset(section: &mut Section<'_>, known: &Entry) -> Result<Option<&'static str>> {
    let chosen = match section.text(&ENTRY.preset)? {
        None => known.presets.first(),
        Some(text) => {
            let found = known
                .presets
                .iter()
                .find(|preset| preset.name == text.value);
            let names = known.presets.iter().map(|preset| preset.name);
            let refused = || {
                let refusal = Refusal::unknown("preset", &printable(&text.value, MAX_NAME), names);
                let message = format!("{}: {}", text.key, refusal.message);
                text.error(&message, refusal.help.as_deref().unwrap_or("leave it out"))
            };
            Some(found.ok_or_else(refused)?)
        }
    };
    let Some(preset) = chosen else {
        return Ok(None);
    };
    let control = section.peek(&ENTRY.control);
    let control = control.and_then(|text| text.parse::<Choice>().ok());
    let named = |names: &[&str]| control.as_ref().is_some_and(|c| names.contains(&&*c.name));
    let own = preset.by_control.iter().filter(|(names, _)| named(names));
    let own = own.flat_map(|(_, settings)| *settings);
    for (path, value) in own.chain(preset.settings) {
        section.unsaid(path, value);
    }
    Ok(Some(preset.name))
}

/// The congestion control, if the workload has one.
fn control(section: &mut Section<'_>, known: &Entry, names: &dyn Names) -> Result<Option<Choice>> {
    let Some(default) = known.control else {
        return match section.text(&ENTRY.control)? {
            None => Ok(None),
            Some(text) => {
                let message = format!("{}: {} has no congestion control", text.key, known.name);
                Err(text.error(&message, "leave it out"))
            }
        };
    };
    let chosen = choice(section, &ENTRY.control, &|choice| names.control(choice))?;
    Ok(Some(chosen.unwrap_or_else(|| Choice::plain(default))))
}

/// From when on its frames are late: `scenario` where neither it nor its preset says so.
fn stall_threshold(section: &mut Section<'_>, of: &Entry, scenario: Duration) -> Result<Duration> {
    if of.rows != Rows::Call
        && let Some(text) = section.text(&ENTRY.stall_threshold)?
    {
        let message = format!("{}: {} has no frames", text.key, of.name);
        return Err(text.error(&message, "leave it out"));
    }
    Ok(section.said(&ENTRY.stall_threshold)?.unwrap_or(scenario))
}

/// The media session, if one carries the workload.
fn session(section: &mut Section<'_>, known: &Entry) -> Result<MediaParams> {
    if !known.carriers.contains(&Carrier::Media) {
        return match section.table(&ENTRY.session)? {
            None => Ok(MediaParams::default()),
            Some(table) => {
                let message = format!("{}: {} has no media session", table.path(), known.name);
                Err(table.error(&message, "leave it out"))
            }
        };
    }
    match section.table(&ENTRY.session)? {
        None => Ok(MediaParams::default()),
        Some(table) => table.declared(MediaParams::SPECS, MediaParams::parse),
    }
}

/// The workload with the settings that are left in the section.
fn built(entry: Entry, kind: &Text<'_>, section: Section<'_>, shelf: &Shelf) -> Result<Kind> {
    let (settings, items) = section.checked(entry.params, entry.check)?;
    let workload = (entry.build)(&settings, shelf).map_err(|error| match error {
        BuildError::Param(refusal) => {
            let help = refusal.help.as_deref().unwrap_or("change one of them");
            kind.error(&format!("{}: {}", kind.key, refusal.message), help)
        }
        BuildError::Library { key, error } => items.error(key, &error),
    })?;
    Ok(Kind { entry, workload })
}

/// Loads files named by workloads, and keeps the list of those that are not replayed as a whole.
#[derive(Default)]
struct Shelf(RefCell<Vec<Incomplete>>);

impl Library for Shelf {
    fn pages(&self, source: &str) -> core::result::Result<Vec<Arc<Page>>, LibraryError> {
        let Pages { pages, incomplete } = files::named_pages(source)?;
        self.0.borrow_mut().extend(incomplete);
        Ok(pages)
    }
}
