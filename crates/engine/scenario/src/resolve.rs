//! From a document to a scenario: every unit parsed, every file read, every default filled in.

use crate::capacity::capacity;
use crate::document::Document;
use crate::error::printable;
use crate::key::names as names_of;
use crate::keys::{self, LINK, OfWay, ROOT, Root, WAY};
use crate::model::{Follow, Link, Scenario, Uplink};
use crate::names::Names;
use crate::read::{Result, choice, judged, name};
use crate::reflectors::Reflectors;
use crate::section::Section;
use crate::told;
use crate::traffic;
use crate::wire::Wire;
use units::{Bytes, Choice, Duration};

/// The table of what was found of a measured line. It is for readers of the file: no run depends on it.
pub const MEASURED: &str = "measured";
/// Numbers of links are passed around in a byte, and figure 28 of the Confucius paper has three.
const MAX_LINKS: usize = 16;

impl Document {
    /// The scenario that this document describes.
    ///
    /// # Errors
    /// If any key is unknown, missing, of the wrong form or outside its range, or a file that it
    /// names cannot be read.
    pub fn resolve(&self, names: &dyn Names) -> Result<Scenario> {
        let mut root = Section::root(self);
        root.only(&names_of(Root::ALL))?;
        let name =
            name(&mut root)?.map_or_else(|| ROOT.name.default().to_owned(), |text| text.value);
        let summary = summary(&mut root)?;
        let duration = root.value(&ROOT.duration)?;
        let warmup = root.value(&ROOT.warmup)?;
        let stall_threshold = root.value(&ROOT.stall_threshold)?;
        let stack = root.value(&ROOT.stack)?;
        let ecn = root.value(&ROOT.ecn)?;
        let pacing = root.value(&ROOT.pacing)?;
        let small_queues = root.value(&ROOT.small_queues)?;
        let ack_every = root.said(&ROOT.ack_every)?;
        let ack_every = ack_every.unwrap_or(stack.config().ack_every);
        let receive_window = root.said(&ROOT.receive_window)?;
        let receive_window = receive_window.unwrap_or(Bytes::new(stack.config().receive_window));
        let senders = root.said(&ROOT.senders)?;
        let (links, rtt) = links(&mut root, names)?;
        let noise = root.value(&ROOT.noise)?.of(&links);
        let disciplines = disciplines(&mut root, names)?;
        let metrics = metrics(&mut root, names)?;
        let (traffic, incomplete) = traffic::traffic(&mut root, (&links, stall_threshold), names)?;
        if duration == Duration::ZERO || warmup >= duration {
            let message = format!("nothing is measured: warmup {warmup}, duration {duration}");
            let key = ["warmup", "duration"]
                .into_iter()
                .find(|key| self.get(key).is_some());
            let help = "write a duration above the warmup";
            return Err(self.error_at_path(key.unwrap_or("duration"), &message, help));
        }
        Ok(Scenario {
            name,
            summary,
            duration,
            warmup,
            stack,
            ecn,
            pacing,
            small_queues,
            ack_every,
            receive_window,
            senders,
            noise,
            stall_threshold,
            rtt,
            links,
            traffic,
            disciplines,
            metrics,
            incomplete,
        })
    }

    /// The links that this document describes, and their round trip together, whatever else it says.
    ///
    /// # Errors
    /// As those of [`Document::resolve`], of keys outside of all tables and of links.
    pub fn resolve_links(&self, names: &dyn Names) -> Result<(Vec<Link>, Duration)> {
        let mut root = Section::root(self);
        root.only(&names_of(Root::ALL))?;
        links(&mut root, names)
    }
}

/// The scenario's summary: one line, in any layout.
fn summary(root: &mut Section<'_>) -> Result<String> {
    let text = root.text(&ROOT.summary)?.map(|text| text.value);
    let words = text.unwrap_or_default();
    let words: Vec<&str> = words.split_whitespace().collect();
    Ok(printable(&words.join(" "), 300))
}

fn links(root: &mut Section<'_>, names: &dyn Names) -> Result<(Vec<Link>, Duration)> {
    let sections = root.tables(&ROOT.link)?;
    if sections.is_empty() {
        let help = "write [link] with rate = \"20mbit\" and rtt = \"40ms\"";
        return Err(root.error("there is no link", help));
    }
    if sections.len() > MAX_LINKS {
        let message = format!("{} links in a row", sections.len());
        return Err(sections[MAX_LINKS].error(&message, &format!("write at most {MAX_LINKS}")));
    }
    let many = sections.len() > 1;
    let mut rtt = Duration::ZERO;
    let mut links: Vec<Link> = Vec::new();
    for (number, mut section) in (1..).zip(sections) {
        section.only(&names_of(&keys::link()))?;
        let name = match name(&mut section)? {
            Some(text) if links.iter().any(|link| link.name == text.value) => {
                let message = format!("two links are called {:?}", text.value);
                return Err(text.error(&message, "give each its own name"));
            }
            Some(text) => text.value,
            None if many => format!("link-{number}"),
            None => "link".to_owned(),
        };
        let link = link(section, name, &links, names)?;
        rtt += link.wire.rtt + link.wire.delay * 2;
        links.push(link);
    }
    Ok((links, rtt))
}

fn link(
    mut section: Section<'_>,
    name: String,
    before: &[Link],
    names: &dyn Names,
) -> Result<Link> {
    let named = |name: &str| before.iter().find(|link| link.name == name);
    let up = match section.table(&LINK.up)? {
        None => None,
        Some(mut up) => {
            up.only(&names_of(OfWay::ALL))?;
            Some(Uplink {
                capacity: capacity(&mut up, &|name| Some(&named(name)?.up.as_ref()?.capacity))?,
                buffer: up.said(&WAY.buffer)?,
                discipline: choice(&mut up, &WAY.discipline, &|choice| names.discipline(choice))?,
            })
        }
    };
    Ok(Link {
        name,
        follow: follow(&mut section, before, names)?,
        capacity: capacity(&mut section, &|name| Some(&named(name)?.capacity))?,
        buffer: section.said(&WAY.buffer)?,
        discipline: choice(&mut section, &WAY.discipline, &|choice| {
            names.discipline(choice)
        })?,
        up,
        wire: section.declared(Wire::SPECS, Wire::parse)?,
    })
}

/// What follows the link's rate, and what answers its pings.
fn follow(section: &mut Section<'_>, before: &[Link], names: &dyn Names) -> Result<Option<Follow>> {
    let text = section.text(&LINK.autorate)?;
    let controller = text.map(|text| told::controller(&text, before, names));
    let controller = controller.transpose()?;
    let reflectors = section.table(&LINK.reflectors)?;
    let Some(controller) = controller else {
        return match reflectors {
            None => Ok(None),
            Some(table) => {
                let help = "write autorate = \"NAME\", or leave the table out";
                Err(table.error("nothing pings these reflectors", help))
            }
        };
    };
    let reflectors = reflectors.map_or_else(
        || Ok(Reflectors::default()),
        |table| table.declared(Reflectors::SPECS, Reflectors::parse),
    )?;
    Ok(Some(Follow {
        controller,
        reflectors,
    }))
}

fn disciplines(root: &mut Section<'_>, names: &dyn Names) -> Result<Vec<Choice>> {
    let texts = root.texts(&ROOT.disciplines)?;
    if texts.is_empty() {
        let help = "write disciplines = [\"fq_codel\", \"confucius\"]";
        return Err(root.error("there is no discipline to run", help));
    }
    let mut choices: Vec<Choice> = Vec::new();
    for text in &texts {
        let choice = judged(text, &|choice| names.discipline(choice))?;
        if choices.contains(&choice) {
            let message = format!("{}: {choice} stands here twice", text.key);
            return Err(text.error(&message, "write each once"));
        }
        choices.push(choice);
    }
    Ok(choices)
}

/// Metrics with a meter of their own that are asked for.
fn metrics(root: &mut Section<'_>, names: &dyn Names) -> Result<Vec<String>> {
    let texts = root.texts(&ROOT.metrics)?;
    let judged = texts.into_iter().map(|text| {
        names.metric(&text.value).map_err(|refusal| {
            let help = refusal
                .help
                .as_deref()
                .unwrap_or("see `analects list metrics`");
            text.error(&format!("{}: {}", text.key, refusal.message), help)
        })?;
        Ok(text.value)
    });
    judged.collect()
}
