//! The file that declares a check.

use crate::figure::Told;
use crate::lane::Lane;
use crate::limit::Limit;
use crate::log::LoggedPacket;
use link::Capacity;
use scenario::{Document, Names, ScenarioError, Section, files, presets};
use std::path::Path;
use units::{Duration, Refusal};

type Result<T> = core::result::Result<T, ScenarioError>;

/// A shorter call tells nothing.
pub const LEAST_SECONDS: u64 = 3;
/// A longer one is a mistake.
const MOST: Duration = Duration::from_secs(3600);
const DURATION: Duration = Duration::from_secs(20);
const WARMUP: Duration = Duration::from_secs(3);
/// The part of a value by which it may get worse.
const TOLERANCE: f64 = 0.1;

/// A test of an application.
#[derive(Debug, Clone)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// What is tested.
    pub application: Application,
    /// Where, in order; at least one.
    pub conditions: Vec<Condition>,
    /// The part of a baseline's value that is no regression, 0 to 1.
    pub tolerance: f64,
}

/// Both ends of a call.
#[derive(Debug, Clone)]
pub struct Application {
    /// What calls.
    pub near: Near,
    /// A line of `sh` beyond it, run as long as the near end.
    pub far: Option<String>,
    /// The port at which the far end listens before the near end begins.
    pub far_ready: Option<u16>,
    /// Which packets are the call's.
    pub media: Media,
}

/// What calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Near {
    /// A line of `sh` behind the link, whose standard output has a line of JSON for each moment.
    Line(String),
    /// A page, opened in a browser behind the link and in another one beyond it. `sh` puts values for its variables.
    Page(String),
}

/// Which packets are the call's: those of a carrier, and of one port if it is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// None for any.
    carrier: Option<String>,
    port: Option<u16>,
}

/// A link, and what calls over it have to keep.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Its name, which no other has.
    pub name: String,
    /// The link, as a scenario without traffic.
    pub link: Document,
    /// Both directions of it: down, up.
    pub lanes: [Lane; 2],
    /// When that takes another step, in s.
    pub steps: Vec<f64>,
    /// How long a call lasts.
    pub duration: Duration,
    /// The part of it, from the beginning, that does not count.
    pub warmup: Duration,
    /// What it has to keep; at least one.
    pub limits: Vec<Limit>,
    /// What runs beside the call.
    pub beside: Option<Beside>,
}

/// Programs beside a call, at both ends of its link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// A line of `sh` beyond the link, begun before anything else.
    pub far: Option<String>,
    /// A line of `sh` behind it, begun with the call.
    pub near: Option<String>,
}

impl Media {
    /// All packets, where a call did not come about.
    pub const ANY: Media = Media {
        carrier: None,
        port: None,
    };

    /// Whether a packet is one.
    pub fn has(&self, packet: &LoggedPacket) -> bool {
        let is_at = |port: u16| {
            let of = |end: &String| {
                end.rsplit_once(':')
                    .is_some_and(|(_, at)| at.parse() == Ok(port))
            };
            packet.ends.iter().any(of)
        };
        self.carrier
            .as_ref()
            .is_none_or(|carrier| *carrier == packet.carrier)
            && self.port.is_none_or(is_at)
    }
}

impl core::str::FromStr for Media {
    type Err = Refusal;

    fn from_str(text: &str) -> core::result::Result<Self, Refusal> {
        let (carrier, port) = match text.split_once(':') {
            Some((carrier, port)) => (carrier, Some(port.parse().ok().filter(|port| *port > 0))),
            None => (text, None),
        };
        match (carrier, port) {
            ("udp" | "tcp", None | Some(Some(_))) => Ok(Media {
                carrier: Some(carrier.to_owned()),
                port: port.flatten(),
            }),
            _ => Err(Refusal::new(format!("{text:?} are no packets"))
                .with_help("write udp, tcp, or udp:5004 for a port")),
        }
    }
}

impl Check {
    /// Reads the text of `file`.
    ///
    /// # Errors
    /// At the first key that is unknown, missing, or not what it has to be.
    pub fn read(file: &str, text: &str, names: &dyn Names) -> Result<Check> {
        let document = Document::parse(file, text)?;
        let mut root = Section::root(&document);
        root.only(&[
            "name",
            "duration",
            "warmup",
            "tolerance",
            "limits",
            "application",
            "condition",
        ])?;
        let name = scenario::name(&mut root)?.map_or_else(|| stem(file), |text| text.value);
        let tolerance = tolerance(&mut root)?;
        let common = Common {
            duration: duration(&mut root, "duration", DURATION)?,
            warmup: duration(&mut root, "warmup", WARMUP)?,
            limits: limits(&mut root)?,
        };
        let Some(application) = root.table("application")? else {
            return Err(root.error(
                "there is no application",
                "write [application] with near = \"COMMAND\"",
            ));
        };
        let application = Application::read(application)?;
        let sections = root.tables("condition")?;
        if sections.is_empty() {
            return Err(root.error(
                "there is no condition",
                "write [[condition]] with name = \"lte\" and preset = \"lte\"",
            ));
        }
        let mut conditions: Vec<Condition> = Vec::new();
        for mut section in sections {
            let condition = Condition::read(&mut section, &common, names)?;
            if conditions.iter().any(|other| other.name == condition.name) {
                let message = format!("two conditions are called {:?}", condition.name);
                return Err(section.error(&message, "give each a name of its own"));
            }
            conditions.push(condition);
        }
        Ok(Check {
            name,
            application,
            conditions,
            tolerance,
        })
    }

    /// Limits of all conditions together.
    pub fn limits(&self) -> usize {
        self.conditions
            .iter()
            .map(|condition| condition.limits.len())
            .sum()
    }
}

/// What conditions have if they do not say otherwise.
struct Common {
    duration: Duration,
    warmup: Duration,
    limits: Vec<Limit>,
}

impl Application {
    fn read(mut section: Section<'_>) -> Result<Application> {
        section.only(&["near", "url", "far", "far_ready", "media"])?;
        let near = match (line(&mut section, "near")?, url(&mut section)?) {
            (Some(near), None) => Near::Line(near),
            (None, Some(url)) => Near::Page(url),
            (near, _) => {
                let message = match near {
                    None => "application.near is missing",
                    Some(_) => "application has near and url",
                };
                let help = "write near = \"COMMAND\", which runs behind the link, or url = \"http://$ANALECTS_FAR:8080/\"";
                return Err(section.error(message, help));
            }
        };
        let far = line(&mut section, "far")?;
        let far_ready = match section.text("far_ready")? {
            None => None,
            Some(text) if far.is_none() => {
                return Err(text.error(
                    "application.far_ready: nothing runs at the far end",
                    "write far = \"COMMAND\"",
                ));
            }
            Some(text) => match text.value.parse() {
                Ok(port) if port > 0 => Some(port),
                _ => {
                    let message = format!("application.far_ready: {:?} is no port", text.value);
                    return Err(text.error(&message, "write a number from 1 to 65535"));
                }
            },
        };
        let media = match section.text("media")? {
            Some(text) => text
                .value
                .parse()
                .map_err(|refusal| refused(&text, &refusal))?,
            None => Media {
                carrier: Some("udp".to_owned()),
                port: None,
            },
        };
        Ok(Application {
            near,
            far,
            far_ready,
            media,
        })
    }
}

impl Condition {
    fn read(section: &mut Section<'_>, common: &Common, names: &dyn Names) -> Result<Condition> {
        section.only(&[
            "name", "preset", "scenario", "link", "duration", "warmup", "limits", "beside",
        ])?;
        let Some(name) = scenario::name(section)? else {
            return Err(section.error("a condition has no name", "write name = \"narrow\""));
        };
        let link = link(section)?;
        let (mut links, _) = link.resolve_links(names)?;
        let (Some(line), None) = (links.pop(), links.pop()) else {
            return Err(section.error(
                "a condition has one link",
                "write a scenario with one [link]",
            ));
        };
        let warmup = duration(section, "warmup", common.warmup)?;
        let duration = duration(section, "duration", common.duration)?;
        if duration < warmup + Duration::from_secs(LEAST_SECONDS) {
            let message = format!("calls of {duration} have a warm-up of {warmup}");
            let help = format!("let duration be {LEAST_SECONDS} s longer than warmup, or more");
            return Err(section.error(&message, &help));
        }
        let seconds = duration.as_secs_f64();
        let up = line.up.as_ref();
        let up = up.map_or(&Capacity::Unlimited, |up| &up.capacity);
        let lanes = [&line.capacity, up].map(|capacity| Lane::new(capacity, seconds));
        let steps = lanes.iter().flat_map(Lane::steps);
        let steps: Vec<f64> = steps.filter(|at| *at < seconds).collect();
        let limits = limits_of(section, &common.limits, &steps, warmup)?;
        let beside = section.table("beside")?.map(Beside::read).transpose()?;
        Ok(Condition {
            name: name.value,
            link,
            lanes,
            steps,
            duration,
            warmup,
            limits,
            beside,
        })
    }
}

impl Beside {
    fn read(mut section: Section<'_>) -> Result<Beside> {
        section.only(&["far", "near"])?;
        let (far, near) = (line(&mut section, "far")?, line(&mut section, "near")?);
        match (&far, &near) {
            (None, None) => Err(section.error(
                "nothing runs beside the call",
                "write near = \"COMMAND\", far = \"COMMAND\", or both",
            )),
            _ => Ok(Beside { far, near }),
        }
    }
}

/// The link that a condition names.
fn link(section: &mut Section<'_>) -> Result<Document> {
    let named: Vec<&str> = ["preset", "scenario", "link"]
        .into_iter()
        .filter(|key| section.has(*key))
        .collect();
    let [key] = named[..] else {
        let message = match named[..] {
            [] => "a condition has no link".to_owned(),
            _ => format!("a condition has {}", named.join(" and ")),
        };
        return Err(section.error(
            &message,
            "write one of preset = \"lte\", scenario = \"FILE\" and link = { rate = \"5mbit\" }",
        ));
    };
    if key == "link" {
        return Ok(section.alone("link"));
    }
    if let Some(text) = section.text("preset")? {
        let preset = presets::find(&text.value).map_err(|refusal| refused(&text, &refusal))?;
        return Document::parse(preset.name, preset.text);
    }
    let Some(text) = section.text("scenario")? else {
        return Err(section.error("a condition has no link", "write preset = \"lte\""));
    };
    let file = Path::new(&text.value);
    let read = files::read(file, files::MAX_SCENARIO);
    let read = read.map_err(|reason| {
        text.error(
            &format!("{}: {}: {reason}", text.key, text.value),
            "name a scenario, from the folder that this is run in",
        )
    })?;
    Document::parse(&text.value, &read)
}

fn limits(section: &mut Section<'_>) -> Result<Vec<Limit>> {
    let mut limits: Vec<Limit> = Vec::new();
    for text in section.texts("limits")? {
        let limit: Limit = text
            .value
            .parse()
            .map_err(|refusal| refused(&text, &refusal))?;
        if limits.iter().any(|other| other.name == limit.name) {
            return Err(text.error(
                &format!("{}: {} has a limit already", text.key, limit.name),
                "leave one of them out",
            ));
        }
        limits.push(limit);
    }
    Ok(limits)
}

/// The limits of a condition whose line takes these steps, in s: its own, and those of all conditions that it has no
/// other one for.
fn limits_of(
    section: &mut Section<'_>,
    common: &[Limit],
    steps: &[f64],
    warmup: Duration,
) -> Result<Vec<Limit>> {
    let own = limits(section)?;
    let is_recovery = |limit: &&Limit| limit.figure.told == Told::Recovery;
    let inherited = common.iter().filter(|limit| {
        let has_other = own.iter().any(|other| other.name == limit.name);
        !(has_other || steps.is_empty() && is_recovery(limit))
    });
    let limits: Vec<Limit> = inherited.chain(&own).cloned().collect();
    let first = steps.iter().copied().reduce(f64::min);
    if let Some(limit) = limits.iter().find(is_recovery)
        && first.is_none_or(|first| first < warmup.as_secs_f64() + 1.0)
    {
        let message = match first {
            None => format!("{}: the line takes no step in a call", limit.text),
            Some(first) => format!(
                "{}: the line's first step, at {first} s, is in the warm-up of {warmup}",
                limit.text
            ),
        };
        let help = "write steps = \"0s 5mbit; 8s 0mbit; 10s 5mbit\" in its link, the second one a second after the warm-up";
        return Err(section.error(&message, help));
    }
    if limits.is_empty() {
        let help = "write limits = [\"freezes <= 1\"] here, or above all tables";
        Err(section.error("there is no limit", help))
    } else {
        Ok(limits)
    }
}

fn duration(section: &mut Section<'_>, key: &'static str, default: Duration) -> Result<Duration> {
    let Some(text) = section.text(key)? else {
        return Ok(default);
    };
    let value: Duration = text.parse_value()?;
    if value > MOST {
        let message = format!("{}: {value} is too long", text.key);
        return Err(text.error(&message, &format!("write at most {MOST}")));
    }
    Ok(value)
}

fn tolerance(root: &mut Section<'_>) -> Result<f64> {
    let Some(text) = root.text("tolerance")? else {
        return Ok(TOLERANCE);
    };
    let share: scenario::Share = text.parse_value()?;
    Ok(share.0)
}

/// A line of a shell, which has something in it.
fn line(section: &mut Section<'_>, key: &'static str) -> Result<Option<String>> {
    match section.text(key)? {
        Some(text) if text.value.trim().is_empty() => {
            Err(text.error(&format!("{} is empty", text.key), "write a command"))
        }
        text => Ok(text.map(|text| text.value)),
    }
}

/// A page's address, as a word of `sh` in double quotes can have it.
fn url(section: &mut Section<'_>) -> Result<Option<String>> {
    let Some(text) = section.text("url")? else {
        return Ok(None);
    };
    let is_page = ["http://", "https://"]
        .iter()
        .any(|scheme| text.value.starts_with(scheme));
    let plain = |c: char| c.is_ascii_graphic() && !"\"\\`()".contains(c);
    if is_page && text.value.chars().all(plain) {
        Ok(Some(text.value))
    } else {
        let message = format!(
            "{}: {:?} is no address of a page",
            text.key,
            scenario::printable(&text.value, 60)
        );
        Err(text.error(
            &message,
            "write one such as http://$ANALECTS_FAR:8080/, with other characters as %20",
        ))
    }
}

fn refused(text: &scenario::Text<'_>, refusal: &Refusal) -> ScenarioError {
    let help = refusal.help.as_deref().unwrap_or_default();
    text.error(&format!("{}: {}", text.key, refusal.message), help)
}

fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem();
    stem.map_or_else(
        || "check".to_owned(),
        |stem| scenario::printable(&stem.to_string_lossy(), 40),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::AnyNames;

    const FILE: &str = r#"
limits = ["freezes <= 1", "fps_p5 >= 20", "recover <= 3s"]
duration = "10s"
[application]
near = "python3 call.py $ANALECTS_FAR"
far = "python3 call.py"
far_ready = 5004
[[condition]]
name = "lte"
preset = "lte"
[[condition]]
name = "outage"
link = { rtt = "40ms", steps = "0s 5mbit; 5s 0mbit; 7s 5mbit" }
limits = ["freezes <= 3"]
[[condition]]
name = "download"
link = { rate = "5mbit", up = { rate = "1mbit" } }
warmup = "1s"
beside = { near = "get", far = "serve" }
"#;

    fn read(text: &str) -> Result<Check> {
        Check::read("calls.toml", text, &AnyNames::default())
    }

    #[test]
    fn a_file_is_read() {
        let check = read(FILE).unwrap();
        assert_eq!(
            (check.name.as_str(), check.limits(), check.tolerance),
            ("calls", 2 + 3 + 2, 0.1)
        );
        assert_eq!(check.application.far_ready, Some(5004));
        let texts = |number: usize| -> Vec<String> {
            check.conditions[number]
                .limits
                .iter()
                .map(|limit| limit.text.clone())
                .collect()
        };
        assert_eq!(texts(0), ["freezes <= 1", "fps_p5 >= 20"]);
        assert_eq!(texts(1), ["fps_p5 >= 20", "recover <= 3s", "freezes <= 3"]);
        let outage = &check.conditions[1];
        assert_eq!(
            (outage.steps.clone(), outage.lanes[0].still()),
            (vec![5.0, 7.0], &[(5.0, 7.0)][..])
        );
        assert!(
            outage.link.to_toml().contains("steps"),
            "{}",
            outage.link.to_toml()
        );
        assert_eq!(check.conditions[2].warmup, Duration::from_secs(1));
    }

    /// What is written instead of what, and where an error says what.
    const FAULTS: [[&str; 4]; 20] = [
        [
            "5s 0mbit; 7s",
            "2s 0mbit; 7s",
            ":11:",
            "at 2 s, is in the warm-up of 3s",
        ],
        [
            "near =",
            "naer =",
            ":5:",
            "unknown key \"application.naer\"",
        ],
        [
            "preset = \"lte\"",
            "preset = \"ltee\"",
            ":10:",
            "there is no preset \"ltee\"",
        ],
        ["fps_p5 >= 20", "fps_p5 > 20", ":2:", "neither <= nor >="],
        [
            "\"freezes <= 3\"",
            "\"freezes <= 3\", \"freezes <= 2\"",
            ":14:",
            "has a limit already",
        ],
        [
            "rate = \"5mbit\"",
            "rate = \"5furlong\"",
            ":17:",
            "5furlong",
        ],
        [
            "rate = \"5mbit\"",
            "raet = \"5mbit\"",
            ":17:",
            "unknown key \"link.raet\"",
        ],
        [
            "name = \"outage\"",
            "name = \"lte\"",
            ":11:",
            "two conditions are called \"lte\"",
        ],
        [
            "warmup = \"1s\"",
            "warmup = \"8s\"",
            ":15:",
            "warm-up of 8s",
        ],
        [
            "warmup = \"1s\"",
            "limits = [\"recover <= 2s\"]",
            ":15:",
            "takes no step",
        ],
        [
            "far_ready = 5004",
            "url = \"http://a\"",
            ":4:",
            "has near and url",
        ],
        [
            "far_ready = 5004",
            "url = \"http://$(a)\"",
            ":7:",
            "no address of a page",
        ],
        [
            "far_ready = 5004",
            "url = \"call.html\"",
            ":7:",
            "no address of a page",
        ],
        ["far_ready = 5004", "far_ready = 0", ":7:", "is no port"],
        [
            "far_ready = 5004",
            "media = \"quic\"",
            ":7:",
            "\"quic\" are no packets",
        ],
        [
            "preset = \"lte\"",
            "preset = \"lte\"\nlink = { rate = \"1mbit\" }",
            ":8:",
            "has preset and link",
        ],
        ["preset = \"lte\"", "", ":8:", "has no link"],
        [
            "preset = \"lte\"",
            "scenario = \"/no/such.toml\"",
            ":10:",
            "/no/such.toml",
        ],
        [
            "near = \"get\", far = \"serve\"",
            "",
            ":19:",
            "nothing runs beside",
        ],
        ["duration = \"10s\"", "duration = \"2h\"", ":3:", "too long"],
    ];

    #[test]
    fn faults_are_named_with_their_place() {
        for [from, to, place, message] in FAULTS {
            let text = FILE.replacen(from, to, 1);
            assert_ne!(text, FILE, "{from}");
            let error = read(&text).unwrap_err();
            assert!(error.message.contains(message), "{from}: {error}");
            assert!(error.place().contains(place), "{from}: {}", error.place());
            assert!(!error.help.is_empty(), "{from}");
        }
        assert!(read("").unwrap_err().message.contains("no application"));
        assert!(
            read("[application]\nnear = \"x\"\n")
                .unwrap_err()
                .message
                .contains("no condition")
        );
    }

    #[test]
    fn packets_of_a_call_are_told_by_carrier_and_port() {
        let packet = |carrier: &str, source: &str| LoggedPacket {
            came: 0.0,
            left: 0.0,
            way: 0,
            carrier: carrier.to_owned(),
            ends: [source.to_owned(), "[fd00::1]:9".to_owned()],
            bytes: 1.0,
            fate: crate::log::LoggedFate::Sent,
        };
        let media = |text: &str| text.parse::<Media>().unwrap();
        assert!(media("udp").has(&packet("udp", "1.2.3.4:5")));
        assert!(!media("udp").has(&packet("tcp", "1.2.3.4:5")));
        assert!(
            media("udp:5").has(&packet("udp", "1.2.3.4:5"))
                && media("udp:9").has(&packet("udp", "1.2.3.4:5"))
        );
        assert!(!media("udp:50").has(&packet("udp", "1.2.3.4:5")));
        for wrong in ["", "quic", "udp:", "udp:0", "udp:99999"] {
            assert!(wrong.parse::<Media>().is_err(), "{wrong}");
        }
    }
}
