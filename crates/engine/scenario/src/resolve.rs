//! From a document to a scenario: every unit parsed, every file read, every default filled in.

use crate::capacity::{buffer, capacity};
use crate::document::Document;
use crate::error::printable;
use crate::model::{Follow, Link, Scenario, Stack, Uplink};
use crate::names::Names;
use crate::noise;
use crate::read::{MAX_DURATION, MAX_NAME, Result, choice, judged, limited, name};
use crate::reflectors::Reflectors;
use crate::section::Section;
use crate::told;
use crate::traffic;
use crate::wire::Wire;
use units::{Choice, Duration};

/// The table of what was found of a measured line. It is for readers of the file: no run depends on it.
pub const MEASURED: &str = "measured";
/// The keys of a scenario outside of tables, and in `[link]` and `[link.up]`. They are read below.
const KEYS: &[&str] = &[
    "name",
    "summary",
    "duration",
    "warmup",
    "stall_threshold",
    "stack",
    "ecn",
    "pacing",
    "small_queues",
    "ack_every",
    "noise",
    "link",
    "disciplines",
    "metrics",
    "traffic",
    MEASURED,
];
/// What `[link.up]` may say, and `[link]` as well.
const WAY_KEYS: &[&str] = &[
    "rate",
    "trace",
    "trace_by",
    "trace_scale",
    "trace_late",
    "steps",
    "buffer",
    "discipline",
];
/// What `[link]` may say beside those, and beside the keys of its [`Wire`].
const LINK_KEYS: &[&str] = &["name", "up", "autorate", "reflectors"];

/// Numbers of links are passed around in a byte, and figure 28 of the Confucius paper has three.
const MAX_LINKS: usize = 16;

/// Acknowledgements of more packets at a time are no transport's; a media session has the same bound.
const MAX_ACK_EVERY: u32 = 64;
impl Document {
    /// The scenario that this document describes.
    ///
    /// # Errors
    /// If any key is unknown, missing, of the wrong form or outside its range, or a file that it
    /// names cannot be read.
    pub fn resolve(&self, names: &dyn Names) -> Result<Scenario> {
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
        let small_queues = flag(&mut root, "small_queues")?;
        let ack_every = ack_every(&mut root, stack)?;
        let (links, rtt) = links(&mut root, names)?;
        let noise = noise::noise(&mut root, &links)?;
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
        root.only(KEYS)?;
        links(&mut root, names)
    }
}

/// The scenario's summary: one line, in any layout.
fn summary(root: &mut Section<'_>) -> Result<String> {
    let text = root.text("summary")?.map(|text| text.value);
    let words = text.unwrap_or_default();
    let words: Vec<&str> = words.split_whitespace().collect();
    Ok(printable(&words.join(" "), 300))
}

/// Yes or no; no by default.
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
        "webrtc" => Ok(Stack::WebRtc),
        other => {
            let message = format!("{}: {:?} is no stack", text.key, printable(other, MAX_NAME));
            Err(text.error(&message, "write \"linux\", \"ns3\" or \"webrtc\""))
        }
    }
}

/// How many packets an acknowledgement may wait for; the stack's own number by default.
fn ack_every(root: &mut Section<'_>, stack: Stack) -> Result<u32> {
    let Some(text) = root.text("ack_every")? else {
        return Ok(stack.config().ack_every);
    };
    let value: u32 = text.parse_value()?;
    if (1..=MAX_ACK_EVERY).contains(&value) {
        Ok(value)
    } else {
        let message = format!("{}: {value} packets", text.key);
        Err(text.error(
            &message,
            &format!("write a number from 1 to {MAX_ACK_EVERY}"),
        ))
    }
}

fn links(root: &mut Section<'_>, names: &dyn Names) -> Result<(Vec<Link>, Duration)> {
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
        let wire = Wire::SPECS.iter().map(|spec| spec.name);
        let keys = [LINK_KEYS, WAY_KEYS].concat().into_iter().chain(wire);
        section.only(&keys.collect::<Vec<_>>())?;
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
    let up = match section.table("up")? {
        None => None,
        Some(mut up) => {
            up.only(WAY_KEYS)?;
            Some(Uplink {
                capacity: capacity(&mut up, &|name| Some(&named(name)?.up.as_ref()?.capacity))?,
                buffer: buffer(&mut up)?,
                discipline: choice(&mut up, "discipline", &|choice| names.discipline(choice))?,
            })
        }
    };
    Ok(Link {
        name,
        follow: follow(&mut section, before, names)?,
        capacity: capacity(&mut section, &|name| Some(&named(name)?.capacity))?,
        buffer: buffer(&mut section)?,
        discipline: choice(&mut section, "discipline", &|choice| {
            names.discipline(choice)
        })?,
        up,
        wire: section.declared(Wire::SPECS, Wire::parse)?,
    })
}

/// What follows the link's rate, and what answers its pings.
fn follow(section: &mut Section<'_>, before: &[Link], names: &dyn Names) -> Result<Option<Follow>> {
    let text = section.text("autorate")?;
    let controller = text.map(|text| told::controller(&text, before, names));
    let controller = controller.transpose()?;
    let reflectors = section.table("reflectors")?;
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
    let texts = root.texts("disciplines")?;
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
    let texts = root.texts("metrics")?;
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
