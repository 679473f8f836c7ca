//! From a document to a scenario: every unit parsed, every file read, every default filled in.

use crate::capacity::{buffer, capacity, rate_of};
use crate::document::Document;
use crate::dscp::Dscp;
use crate::error::{ScenarioError, printable};
use crate::files;
use crate::model::{Kind, Link, Scenario, Stack, Traffic, Uplink};
use crate::section::{Section, Text};
use std::collections::BTreeSet;
use transport::media::MediaParams;
use units::{Bytes, Choice, Duration, Refusal};
use workload::bulk::BulkParams;
use workload::call::CallParams;
use workload::page::PageParams;

type Result<T> = core::result::Result<T, ScenarioError>;

/// Judges a choice: `Err` says what is wrong with it, and what there is instead.
pub type Judge<'a> = &'a dyn Fn(&Choice) -> core::result::Result<(), Refusal>;

/// What names a scenario may use.
pub struct Names<'a> {
    /// Judges disciplines.
    pub discipline: Judge<'a>,
    /// Judges controls.
    pub control: Judge<'a>,
}

/// What a scenario may say outside of tables, and in `[link]` and `[link.up]`. A key that stands here
/// is read below.
const KEYS: &[&str] = &[
    "name",
    "summary",
    "duration",
    "warmup",
    "stall_threshold",
    "stack",
    "ecn",
    "pacing",
    "link",
    "disciplines",
    "traffic",
];
const LINK_KEYS: &[&str] = &[
    "name",
    "rate",
    "trace",
    "steps",
    "rtt",
    "buffer",
    "overhead",
    "device",
    "discipline",
    "up",
];
const UPLINK_KEYS: &[&str] = &["rate", "trace", "steps", "buffer", "discipline"];

/// Longer runs are mistakes.
const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 3600);
/// More of one entry is a mistake, and would be allocated.
const MAX_COUNT: u32 = 10_000;
/// Numbers of links are passed around in a byte, and figure 28 of the Confucius paper has three.
const MAX_LINKS: usize = 16;
/// Longer round trips are mistakes.
const MAX_RTT: Duration = Duration::from_secs(60);
/// More than this beside a packet is a mistake: PPPoE over ATM adds some 40 bytes.
const MAX_OVERHEAD: u32 = 1_000;
/// Longer rings than any driver's are mistakes.
const MAX_DEVICE: u32 = 10_000;
/// Longer names flood tables.
const MAX_NAME: usize = 40;

impl Document {
    /// The scenario that this document describes.
    ///
    /// # Errors
    /// If anything in it is unknown, missing, of the wrong form or outside its range, or a file
    /// that it names cannot be read.
    pub fn resolve(&self, names: &Names<'_>) -> Result<Scenario> {
        let mut root = Section::root(self);
        root.only(KEYS)?;
        let name = name(&mut root)?.map_or_else(|| "unnamed".to_owned(), |text| text.value);
        let summary = summary(&mut root)?;
        let duration = limited(&mut root, "duration", Duration::from_secs(60), MAX_DURATION)?;
        let warmup = limited(&mut root, "warmup", Duration::ZERO, MAX_DURATION)?;
        let stall_threshold = limited(
            &mut root,
            "stall_threshold",
            Duration::from_millis(190),
            MAX_DURATION,
        )?;
        let stack = stack(&mut root)?;
        let ecn = flag(&mut root, "ecn")?;
        let pacing = flag(&mut root, "pacing")?;
        let (links, rtt) = links(&mut root, names)?;
        let disciplines = disciplines(&mut root, names)?;
        let traffic = traffic(&mut root, names)?;
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
            stall_threshold,
            rtt,
            links,
            traffic,
            disciplines,
        })
    }
}

/// A name that can stand in tables, file names and paths of the command line.
fn name<'a>(section: &mut Section<'a>) -> Result<Option<Text<'a>>> {
    name_at(section, "name")
}

fn name_at<'a>(section: &mut Section<'a>, key: &'static str) -> Result<Option<Text<'a>>> {
    let Some(text) = section.text(key)? else {
        return Ok(None);
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    let length = text.value.chars().count();
    if !(1..=MAX_NAME).contains(&length) || !text.value.chars().all(plain) {
        let shown = printable(&text.value, MAX_NAME);
        let message = format!("{}: \"{shown}\" cannot be a name", text.key);
        let help = format!("write 1 to {MAX_NAME} letters, digits, spaces, `-` and `_`");
        return Err(text.error(&message, &help));
    }
    Ok(Some(text))
}

/// The scenario's summary: one line, whatever was written.
fn summary(root: &mut Section<'_>) -> Result<String> {
    let text = root.text("summary")?.map(|text| text.value);
    let words = text.unwrap_or_default();
    let words: Vec<&str> = words.split_whitespace().collect();
    Ok(printable(&words.join(" "), 300))
}

/// Yes or no; no where nothing is said.
fn flag(root: &mut Section<'_>, key: &'static str) -> Result<bool> {
    match root.text(key)? {
        Some(text) => text.parse_value(),
        None => Ok(false),
    }
}

fn stack(root: &mut Section<'_>) -> Result<Stack> {
    let Some(text) = root.text("stack")? else {
        return Ok(Stack::Linux);
    };
    match text.value.as_str() {
        "linux" => Ok(Stack::Linux),
        "ns3" => Ok(Stack::Ns3),
        other => {
            let message = format!("{}: {:?} is no stack", text.key, printable(other, MAX_NAME));
            Err(text.error(&message, "write \"linux\" or \"ns3\""))
        }
    }
}

fn limited(
    section: &mut Section<'_>,
    key: &'static str,
    default: Duration,
    max: Duration,
) -> Result<Duration> {
    let Some(text) = section.text(key)? else {
        return Ok(default);
    };
    let value: Duration = text.parse_value()?;
    if value > max {
        let message = format!("{}: {value} is too long", text.key);
        return Err(text.error(&message, &format!("write at most {max}")));
    }
    Ok(value)
}

fn links(root: &mut Section<'_>, names: &Names<'_>) -> Result<(Vec<Link>, Duration)> {
    let sections = root.tables("link")?;
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
        section.only(LINK_KEYS)?;
        let name = match name(&mut section)? {
            Some(text) if links.iter().any(|link| link.name == text.value) => {
                let message = format!("two links are called {:?}", text.value);
                return Err(text.error(&message, "give each its own name"));
            }
            Some(text) => text.value,
            None if many => format!("link-{number}"),
            None => "link".to_owned(),
        };
        rtt += limited(&mut section, "rtt", Duration::ZERO, MAX_RTT)?;
        links.push(link(section, name, names)?);
    }
    Ok((links, rtt))
}

fn link(mut section: Section<'_>, name: String, names: &Names<'_>) -> Result<Link> {
    let up = match section.table("up")? {
        None => None,
        Some(mut up) => {
            up.only(UPLINK_KEYS)?;
            Some(Uplink {
                capacity: capacity(&mut up)?,
                buffer: buffer(&mut up)?,
                discipline: choice(&mut up, "discipline", names.discipline)?,
            })
        }
    };
    Ok(Link {
        name,
        capacity: capacity(&mut section)?,
        buffer: buffer(&mut section)?,
        overhead: overhead(&mut section)?,
        device: device(&mut section)?,
        discipline: choice(&mut section, "discipline", names.discipline)?,
        up,
    })
}

/// Bytes on the wire beside each IP packet.
fn overhead(section: &mut Section<'_>) -> Result<u32> {
    let Some(text) = section.text("overhead")? else {
        return Ok(0);
    };
    let bytes = text.parse_value::<Bytes>()?.get();
    match u32::try_from(bytes) {
        Ok(bytes) if bytes <= MAX_OVERHEAD => Ok(bytes),
        _ => {
            let message = format!("{}: {bytes} bytes beside each packet", text.key);
            Err(text.error(&message, &format!("write at most {MAX_OVERHEAD}B")))
        }
    }
}

/// Packets that the device takes behind the one that it sends.
fn device(section: &mut Section<'_>) -> Result<u32> {
    let Some(text) = section.text("device")? else {
        return Ok(0);
    };
    let packets = text.parse_value::<u32>()?;
    if packets > MAX_DEVICE {
        let message = format!("{}: {packets} packets in the device", text.key);
        return Err(text.error(&message, &format!("write at most {MAX_DEVICE}")));
    }
    Ok(packets)
}

fn choice(
    section: &mut Section<'_>,
    key: &'static str,
    judge: Judge<'_>,
) -> Result<Option<Choice>> {
    section
        .text(key)?
        .map(|text| judged(&text, judge))
        .transpose()
}

fn judged(text: &Text<'_>, judge: Judge<'_>) -> Result<Choice> {
    let parsed = text.value.parse::<Choice>().and_then(|choice| {
        judge(&choice)?;
        Ok(choice)
    });
    parsed.map_err(|refusal| {
        let help = refusal.help.as_deref();
        let help = help.unwrap_or("`analects describe NAME` says what it can be told");
        text.error(&format!("{}: {}", text.key, refusal.message), help)
    })
}

fn disciplines(root: &mut Section<'_>, names: &Names<'_>) -> Result<Vec<Choice>> {
    let texts = root.texts("disciplines")?;
    if texts.is_empty() {
        let help = "write disciplines = [\"fq_codel\", \"confucius\"]";
        return Err(root.error("there is no discipline to run", help));
    }
    let mut choices: Vec<Choice> = Vec::new();
    for text in &texts {
        let choice = judged(text, names.discipline)?;
        if choices.contains(&choice) {
            let message = format!("{}: {choice} stands here twice", text.key);
            return Err(text.error(&message, "write each once"));
        }
        choices.push(choice);
    }
    Ok(choices)
}

fn traffic(root: &mut Section<'_>, names: &Names<'_>) -> Result<Vec<Traffic>> {
    let sections = root.tables("traffic")?;
    // Names in results: where there are several of an entry, they are numbered.
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut entries: Vec<Traffic> = Vec::new();
    for mut section in sections {
        let Some(name) = name(&mut section)? else {
            return Err(section.error("traffic without a name", "write name = \"call\""));
        };
        let added = entry(section, name.value.clone(), names)?;
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
        if all > MAX_COUNT {
            let message = format!("{}: {all} flows in all", name.key);
            return Err(root.error(&message, &format!("write at most {MAX_COUNT}")));
        }
    }
    if entries.is_empty() {
        let help = "write [[traffic]] with name = \"call\" and kind = \"call\"";
        return Err(root.error("there is no traffic", help));
    }
    Ok(entries)
}

/// One entry; several for calls and pages, whose frames and loads are told apart by the entry.
fn entry(mut section: Section<'_>, name: String, names: &Names<'_>) -> Result<Vec<Traffic>> {
    let Some(kind) = section.text("kind")? else {
        let help = "write kind = \"call\", \"page\" or \"bulk\"";
        return Err(section.error(&format!("traffic {name} has no kind"), help));
    };
    let rtt = match section.has("rtt") {
        true => Some(limited(&mut section, "rtt", Duration::ZERO, MAX_RTT)?),
        false => None,
    };
    let default_control = match kind.value.as_str() {
        "call" => "gcc",
        _ => "cubic",
    };
    let control = choice(&mut section, "control", names.control)?;
    let access = section.text("access")?;
    let host = name_at(&mut section, "host")?;
    let dscp = section.text("dscp")?;
    let traffic = Traffic {
        host: host.map_or_else(|| name.clone(), |text| text.value),
        dscp: dscp.map_or(Ok(Dscp::default()), |text| text.parse_value())?,
        start: limited(&mut section, "start", Duration::ZERO, MAX_DURATION)?,
        count: count(&mut section)?,
        stagger: limited(&mut section, "stagger", Duration::ZERO, MAX_DURATION)?,
        jitter: limited(&mut section, "jitter", Duration::ZERO, MAX_DURATION)?,
        rtt,
        access: access.map(|text| rate_of(&text)).transpose()?,
        control: control.unwrap_or_else(|| Choice::plain(default_control)),
        up: up(&mut section)?,
        kind: kind_of(&kind, section)?,
        name,
    };
    if traffic.count == 1 || matches!(traffic.kind, Kind::Bulk(_)) {
        return Ok(vec![traffic]);
    }
    let expanded = (0..traffic.count).map(|number| Traffic {
        name: format!("{}-{}", traffic.name, number + 1),
        start: traffic.start + traffic.stagger * u64::from(number),
        count: 1,
        ..traffic.clone()
    });
    Ok(expanded.collect())
}

/// What is particular to each kind of traffic.
fn kind_of(kind: &Text<'_>, mut section: Section<'_>) -> Result<Kind> {
    match kind.value.as_str() {
        "call" => {
            let media = match section.table("session")? {
                None => MediaParams::default(),
                Some(table) => table.settings(MediaParams::SPECS, MediaParams::parse)?,
            };
            let call = section.settings(CallParams::SPECS, CallParams::parse)?;
            if call.min_rate > call.max_rate {
                let (min, max) = (call.min_rate, call.max_rate);
                let message = format!("{}: min_rate {min} is above max_rate {max}", kind.key);
                return Err(kind.error(&message, "lower min_rate or raise max_rate"));
            }
            Ok(Kind::Call(call, media))
        }
        "bulk" => Ok(Kind::Bulk(
            section.settings(BulkParams::SPECS, BulkParams::parse)?,
        )),
        "page" => {
            let pages = files::pages_of(section.text("source")?)?;
            let params = section.settings(PageParams::SPECS, PageParams::parse)?;
            Ok(Kind::Page { params, pages })
        }
        other => {
            let other = printable(other, MAX_NAME);
            let message = format!("{}: \"{other}\" is no kind of traffic", kind.key);
            Err(kind.error(&message, "write \"call\", \"page\" or \"bulk\""))
        }
    }
}

fn count(section: &mut Section<'_>) -> Result<u32> {
    let Some(text) = section.text("count")? else {
        return Ok(1);
    };
    let value: u32 = text.parse_value()?;
    if !(1..=MAX_COUNT).contains(&value) {
        let message = format!("{}: {value} of a kind", text.key);
        return Err(text.error(&message, &format!("write a number from 1 to {MAX_COUNT}")));
    }
    Ok(value)
}

fn up(section: &mut Section<'_>) -> Result<bool> {
    let Some(text) = section.text("direction")? else {
        return Ok(false);
    };
    match text.value.as_str() {
        "down" => Ok(false),
        "up" => Ok(true),
        other => Err(text.error(
            &format!(
                "{}: {:?} is no direction",
                text.key,
                printable(other, MAX_NAME)
            ),
            "write \"down\" or \"up\"",
        )),
    }
}
