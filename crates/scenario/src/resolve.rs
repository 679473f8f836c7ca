//! From a document to a scenario: every unit parsed, every file read, every default filled in.

use crate::document::Document;
use crate::error::ScenarioError;
use crate::files;
use crate::model::{Buffer, Capacity, Choice, Kind, Link, Scenario, Stack, Traffic, Uplink};
use crate::section::{Section, Text};
use std::sync::Arc;
use transport::media::MediaParams;
use units::param::Value;
use units::{Bytes, Duration, ParseError, Rate};
use workload::bulk::BulkParams;
use workload::call::CallParams;
use workload::page::PageParams;

type Result<T> = core::result::Result<T, ScenarioError>;

/// Judges a choice: `Err` says what is wrong with it, and what there is instead.
pub type Judge<'a> = &'a dyn Fn(&Choice) -> core::result::Result<(), String>;

/// What names a scenario may use.
pub struct Names<'a> {
    /// Judges disciplines.
    pub discipline: Judge<'a>,
    /// Judges controls.
    pub control: Judge<'a>,
}

/// Longer runs are mistakes.
const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 3600);
/// More of one entry is a mistake, and would be allocated.
const MAX_COUNT: u32 = 10_000;
/// Slower or faster links are mistakes.
const RATES: (Rate, Rate) = (Rate::from_bits(1_000), Rate::from_bits(1_000_000_000_000));

impl Document {
    /// The scenario that this document describes.
    ///
    /// # Errors
    /// If anything in it is unknown, missing, of the wrong form or outside its range, or a file
    /// that it names cannot be read.
    pub fn resolve(&self, names: &Names<'_>) -> Result<Scenario> {
        let mut root = Section::root(self);
        let name = root
            .text("name")?
            .map_or_else(|| "unnamed".to_owned(), |text| text.value);
        let summary = root
            .text("summary")?
            .map(|text| text.value)
            .unwrap_or_default();
        let duration = limited(&mut root, "duration", Duration::from_secs(60), MAX_DURATION)?;
        let warmup = limited(&mut root, "warmup", Duration::ZERO, MAX_DURATION)?;
        let stall_threshold = limited(
            &mut root,
            "stall_threshold",
            Duration::from_millis(190),
            MAX_DURATION,
        )?;
        let stack = match root.text("stack")? {
            None => Stack::Linux,
            Some(text) => match text.value.as_str() {
                "linux" => Stack::Linux,
                "ns3" => Stack::Ns3,
                other => {
                    let message = format!("{other:?} is no stack");
                    return Err(text.error(&message, "write \"linux\" or \"ns3\""));
                }
            },
        };
        let (links, rtt) = links(&mut root, names)?;
        let disciplines = disciplines(&mut root, names)?;
        let traffic = traffic(&mut root, names)?;
        root.finish()?;
        if duration == Duration::ZERO || warmup >= duration {
            let message = format!("nothing is measured: warmup {warmup}, duration {duration}");
            return Err(self.error(None, &message, "write a duration above the warmup"));
        }
        Ok(Scenario {
            name,
            summary,
            duration,
            warmup,
            stack,
            stall_threshold,
            rtt,
            links,
            traffic,
            disciplines,
        })
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
    let many = sections.len() > 1;
    let mut rtt = Duration::ZERO;
    let mut links = Vec::new();
    for (number, mut section) in (1..).zip(sections) {
        let default_name = if many {
            format!("link-{number}")
        } else {
            "link".to_owned()
        };
        rtt += limited(&mut section, "rtt", Duration::ZERO, Duration::from_secs(60))?;
        let up = match section.table("up")? {
            None => None,
            Some(mut up) => {
                let uplink = Uplink {
                    capacity: capacity(&mut up)?,
                    buffer: buffer(&mut up)?,
                    discipline: choice(&mut up, "discipline", names.discipline)?,
                };
                up.finish()?;
                Some(uplink)
            }
        };
        links.push(Link {
            name: section
                .text("name")?
                .map_or(default_name, |text| text.value),
            capacity: capacity(&mut section)?,
            buffer: buffer(&mut section)?,
            overhead: section
                .value_or("overhead", Bytes::new(0))?
                .get()
                .min(10_000) as u32,
            discipline: choice(&mut section, "discipline", names.discipline)?,
            up,
        });
        section.finish()?;
    }
    Ok((links, rtt))
}

fn capacity(section: &mut Section<'_>) -> Result<Capacity> {
    let rate = section.text("rate")?;
    match (rate, section.text("trace")?) {
        // A trace wins, so that `--set link.trace=FILE` works on a scenario with a rate.
        (_, Some(text)) => files::trace(&text).map(|trace| Capacity::Trace(Arc::new(trace))),
        (Some(text), None) => {
            let rate: Rate = text.parse_value()?;
            if rate < RATES.0 || rate > RATES.1 {
                let message = format!("{}: {rate} carries nothing, or too much", text.key);
                let help = format!("write a rate from {} to {}", RATES.0, RATES.1);
                return Err(text.error(&message, &help));
            }
            Ok(Capacity::Constant(rate))
        }
        (None, None) => {
            let help = "write rate = \"20mbit\", or trace = \"FILE\"";
            Err(section.error("the link has no capacity", help))
        }
    }
}

fn buffer(section: &mut Section<'_>) -> Result<Option<Buffer>> {
    section
        .text("buffer")?
        .map(|text| parse_buffer(&text))
        .transpose()
}

fn parse_buffer(text: &Text<'_>) -> Result<Buffer> {
    const EXPECTED: &str = "packets such as \"250p\", a size such as \"375kB\", or \"1.5bdp\"";
    let lower = text.value.trim().to_ascii_lowercase();
    let parsed = if let Some(number) = lower.strip_suffix("bdp") {
        let number: Option<f64> = number.trim().parse().ok();
        let number = number.filter(|number| (0.01..=1000.0).contains(number));
        number.map(|number| Buffer::MilliBdp((number * 1000.0) as u64))
    } else if let Some(number) = lower.strip_suffix("packets").or(lower.strip_suffix('p')) {
        let number: Option<u32> = number.trim().parse().ok();
        number
            .filter(|number| (1..=1_000_000).contains(number))
            .map(Buffer::Packets)
    } else {
        let bytes = Bytes::parse(&lower).ok().map(Bytes::get);
        bytes
            .filter(|bytes| (1500..=10_000_000_000).contains(bytes))
            .map(Buffer::Bytes)
    };
    parsed.ok_or_else(|| {
        let error = ParseError::new(&text.value, EXPECTED);
        text.error(
            &format!("{}: {error}", text.key),
            &format!("write {EXPECTED}"),
        )
    })
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
    parsed.map_err(|error| {
        let (message, help) = error.split_once("; ").unwrap_or((&error, "correct it"));
        text.error(&format!("{}: {message}", text.key), help)
    })
}

fn disciplines(root: &mut Section<'_>, names: &Names<'_>) -> Result<Vec<Choice>> {
    let texts = root.texts("disciplines")?;
    if texts.is_empty() {
        let help = "write disciplines = [\"fq_codel\", \"confucius\"]";
        return Err(root.error("there is no discipline to run", help));
    }
    texts
        .iter()
        .map(|text| judged(text, names.discipline))
        .collect()
}

fn traffic(root: &mut Section<'_>, names: &Names<'_>) -> Result<Vec<Traffic>> {
    let sections = root.tables("traffic")?;
    let mut entries: Vec<Traffic> = Vec::new();
    for mut section in sections {
        let Some(name) = section.text("name")? else {
            return Err(section.error("traffic without a name", "write name = \"call\""));
        };
        if entries.iter().any(|entry| entry.name == name.value) {
            let message = format!("two entries are called {:?}", name.value);
            return Err(name.error(&message, "give each its own name"));
        }
        entries.extend(entry(section, name.value, names)?);
    }
    if entries.is_empty() {
        let help = "write [[traffic]] with name = \"call\" and kind = \"call\"";
        return Err(root.error("there is no traffic", help));
    }
    Ok(entries)
}

/// One entry; several for calls, whose frames are told apart by the entry.
fn entry(mut section: Section<'_>, name: String, names: &Names<'_>) -> Result<Vec<Traffic>> {
    let kind = section.text("kind")?;
    let Some(kind) = kind else {
        let help = "write kind = \"call\", \"page\" or \"bulk\"";
        return Err(section.error(&format!("traffic {name} has no kind"), help));
    };
    let control = choice(&mut section, "control", names.control)?;
    let rtt = section.text("rtt")?;
    let mut traffic = Traffic {
        name: name.clone(),
        start: limited(&mut section, "start", Duration::ZERO, MAX_DURATION)?,
        count: count(&mut section)?,
        stagger: limited(&mut section, "stagger", Duration::ZERO, MAX_DURATION)?,
        rtt: rtt.map(|text| text.parse_value()).transpose()?,
        access: section.value("access")?,
        control: Choice::plain("cubic"),
        up: up(&mut section)?,
        kind: Kind::Bulk(BulkParams::default()),
    };
    let default_control = match kind.value.as_str() {
        "call" => "gcc",
        _ => "cubic",
    };
    traffic.control = control.unwrap_or_else(|| Choice::plain(default_control));
    traffic.kind = match kind.value.as_str() {
        "call" => {
            let media = match section.table("session")? {
                None => MediaParams::default(),
                Some(table) => table.settings(MediaParams::SPECS, MediaParams::parse)?,
            };
            Kind::Call(
                section.settings(CallParams::SPECS, CallParams::parse)?,
                media,
            )
        }
        "bulk" => Kind::Bulk(section.settings(BulkParams::SPECS, BulkParams::parse)?),
        "page" => {
            let pages = files::pages(section.text("source")?)?;
            let params = section.settings(PageParams::SPECS, PageParams::parse)?;
            Kind::Page { params, pages }
        }
        other => {
            let message = format!("traffic {name}: {other:?} is no kind of traffic");
            return Err(kind.error(&message, "write \"call\", \"page\" or \"bulk\""));
        }
    };
    if traffic.count == 1 || !matches!(traffic.kind, Kind::Call(..)) {
        return Ok(vec![traffic]);
    }
    let expanded = (0..traffic.count).map(|number| Traffic {
        name: format!("{name}-{}", number + 1),
        start: traffic.start + traffic.stagger * u64::from(number),
        count: 1,
        ..traffic.clone()
    });
    Ok(expanded.collect())
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
            &format!("{other:?} is no direction"),
            "write \"down\" or \"up\"",
        )),
    }
}
