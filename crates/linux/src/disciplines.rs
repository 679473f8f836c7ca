//! Our names of disciplines and settings, as `tc` has them.

use qdisc::{Limit, Registry};
use scenario::Choice;
use units::param::{Spec, Value};
use units::{Bytes, Duration, Rate, Refusal};

/// How a limit is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// `limit` in packets.
    Packets,
    /// `limit` in bytes.
    Bytes,
    /// cake's `memlimit` in bytes.
    Memory,
    /// Not by the discipline: each band's `pfifo` takes the device's `txqueuelen`.
    Device,
}

/// A discipline that Linux has.
struct Known {
    name: &'static str,
    room: Room,
    /// The module; none if it is always there.
    module: Option<&'static str>,
}

const fn known(name: &'static str, room: Room, module: Option<&'static str>) -> Known {
    Known { name, room, module }
}

const KNOWN: &[Known] = &[
    known("pfifo", Room::Packets, None),
    known("bfifo", Room::Bytes, None),
    known("codel", Room::Packets, Some("sch_codel")),
    known("fq_codel", Room::Packets, Some("sch_fq_codel")),
    known("cake", Room::Memory, Some("sch_cake")),
    known("red", Room::Bytes, Some("sch_red")),
    known("pie", Room::Packets, Some("sch_pie")),
    known("fq_pie", Room::Packets, Some("sch_fq_pie")),
    known("fq", Room::Packets, Some("sch_fq")),
    known("hhf", Room::Packets, Some("sch_hhf")),
    known("prio", Room::Device, Some("sch_prio")),
    known("confucius", Room::Packets, Some(CONFUCIUS)),
];

/// The module of this project.
pub const CONFUCIUS: &str = "sch_confucius";

/// What `tc` is told of a discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Its name and its parameters.
    pub words: Vec<String>,
    /// The module to load.
    pub module: Option<&'static str>,
    /// The device's `txqueuelen`, where the discipline goes by that.
    pub device_queue: Option<u32>,
}

/// What `tc` is told for `choice`, on a link whose owner gave it `limit`.
///
/// # Errors
/// If Linux has no such discipline or setting; the error says so.
pub fn told(choice: &Choice, limit: Option<Limit>) -> Result<Told, Refusal> {
    let name = choice.name.as_str();
    let known = KNOWN.iter().find(|known| known.name == name);
    let known = known.ok_or_else(|| unknown(name))?;
    if !choice.children.is_empty() {
        return Err(Refusal::new(format!(
            "Linux's {name} is set up without others inside"
        )));
    }
    let mut told = Told {
        words: vec![name.to_owned()],
        module: known.module,
        device_queue: None,
    };
    let is_set = |key: &str| choice.settings.iter().any(|(other, _)| other == key);
    if let Some(limit) = limit.filter(|_| !is_set("limit") && !is_set("memlimit")) {
        let words = match known.room {
            Room::Packets => vec!["limit".to_owned(), limit.packets().to_string()],
            Room::Bytes => vec!["limit".to_owned(), format!("{}b", limit.bytes())],
            Room::Memory => vec!["memlimit".to_owned(), format!("{}b", limit.bytes())],
            Room::Device => {
                told.device_queue = Some(limit.packets());
                Vec::new()
            }
        };
        told.words.extend(words);
    }
    let registry = Registry::<u32>::builtin();
    let specs = registry.get(name).map_or(&[][..], |entry| entry.params);
    for (key, value) in settings_of(choice) {
        if name == "prio" && key == "band_limit" {
            told.device_queue = Some(parsed(&key, &value)?);
            continue;
        }
        let spec = specs.iter().find(|spec| spec.name == key);
        let spec = spec.ok_or_else(|| format!("{name} has no {key:?}"))?;
        told.words.extend(setting(name, spec, &value)?);
    }
    Ok(told)
}

fn unknown(name: &str) -> Refusal {
    if name == "dualpi2" {
        return Refusal::new("the tc of the machines does not know dualpi2");
    }
    let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    let refusal = Refusal::new(format!("Linux has no qdisc {name}"));
    refusal.with_help(format!("it has {}", names.join(", ")))
}

/// What has to be said: what the user set, and for `red` what `tc` insists on.
fn settings_of(choice: &Choice) -> Vec<(String, String)> {
    let mut settings = choice.settings.clone();
    if choice.name == "red" {
        let registry = Registry::<u32>::builtin();
        let specs = registry.get("red").map_or(&[][..], |entry| entry.params);
        for spec in specs {
            let insisted = ["min", "max", "probability", "avpkt", "burst"].contains(&spec.name);
            if insisted && !settings.iter().any(|(key, _)| key == spec.name) {
                settings.push((spec.name.to_owned(), spec.default.to_owned()));
            }
        }
    }
    settings
}

fn parsed<T: Value>(key: &str, text: &str) -> Result<T, String> {
    T::parse(text).map_err(|error| format!("{key}: {error}"))
}

/// One setting in `tc`'s words. What our disciplines have beyond Linux's is refused.
fn setting(name: &str, spec: &Spec, value: &str) -> Result<Vec<String>, String> {
    let key = spec.name;
    let one = |value: String| Ok(vec![key.to_owned(), value]);
    let bare = |value: &str| Ok(vec![value.to_owned()]);
    let off = value.trim() == "off";
    match (name, key) {
        ("cake", "diffserv" | "flowmode" | "atm") => return bare(value.trim()),
        ("cake", "bandwidth") if value.trim() == "unlimited" => return bare("unlimited"),
        ("cake", "bandwidth") => return one(rate(key, value)?),
        ("cake", "overhead") => return one(value.trim().to_owned()),
        ("cake", "memlimit") if value.trim() == "auto" => return Ok(Vec::new()),
        ("cake", "memlimit") => return one(size(key, value)?),
        ("cake", "ingress") => {
            let ingress = parsed::<bool>(key, value)?;
            return bare(if ingress { "ingress" } else { "egress" });
        }
        ("red", "gentle") => {
            return match parsed::<bool>(key, value)? {
                true => Err("Linux's red is not gentle".to_owned()),
                false => Ok(Vec::new()),
            };
        }
        ("confucius", "targets" | "occupancy") => return one(value.trim().to_owned()),
        ("confucius", "memory_limit" | "quantum") => return one(size(key, value)?),
        ("fq", "maxrate") if off => return Ok(Vec::new()),
        ("fq", "maxrate") => return one(rate(key, value)?),
        (_, "ce_threshold") if off => return Ok(Vec::new()),
        (_, "ce_threshold") => return one(time(key, value)?),
        ("red", "ecn" | "harddrop" | "nodrop" | "adaptive") => {
            return match parsed::<bool>(key, value)? {
                true => bare(key),
                false => Ok(Vec::new()),
            };
        }
        _ => {}
    }
    match spec.kind {
        "duration" => one(time(key, value)?),
        "size" => one(size(key, value)?),
        "rate" => one(rate(key, value)?),
        "count" => one(parsed::<u64>(key, value)?.to_string()),
        "number" => one(parsed::<f64>(key, value)?.to_string()),
        "yes or no" => bare(&match (parsed::<bool>(key, value)?, key) {
            (true, _) => key.to_owned(),
            (false, "dq_rate_estimator") => "no_dq_rate_estimator".to_owned(),
            (false, _) => format!("no{key}"),
        }),
        other => Err(format!(
            "{name}'s {key} is a {other}, which has no words in tc"
        )),
    }
}

/// `tc` knows microseconds.
fn time(key: &str, text: &str) -> Result<String, String> {
    let time: Duration = parsed(key, text)?;
    if !time.as_nanos().is_multiple_of(1000) {
        return Err(format!("{key}: {time} is no whole number of microseconds"));
    }
    Ok(format!("{}us", time.as_micros()))
}

fn size(key: &str, text: &str) -> Result<String, String> {
    parsed::<Bytes>(key, text).map(|bytes| format!("{}b", bytes.get()))
}

fn rate(key: &str, text: &str) -> Result<String, String> {
    parsed::<Rate>(key, text).map(|rate| format!("{}bit", rate.as_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(choice: &str, limit: Option<Limit>) -> Result<String, Refusal> {
        let choice: Choice = choice.parse().unwrap();
        told(&choice, limit).map(|told| told.words.join(" "))
    }

    #[test]
    fn settings_in_tcs_words() {
        let packets = Some(Limit::Packets(250));
        for (choice, limit, expected) in [
            ("pfifo", packets, "pfifo limit 250"),
            ("pfifo,limit=7", packets, "pfifo limit 7"),
            ("bfifo", packets, "bfifo limit 375000b"),
            ("cake", packets, "cake memlimit 375000b"),
            (
                "cake,diffserv=besteffort,rtt=50ms,flowmode=flows,bandwidth=20mbit",
                None,
                "cake besteffort rtt 50000us flows bandwidth 20000000bit",
            ),
            (
                "fq_codel,target=5ms,ecn=no,memory_limit=4MiB,ce_threshold=off",
                None,
                "fq_codel target 5000us noecn memory_limit 4194304b",
            ),
            (
                "pie,dq_rate_estimator=no,bytemode=yes,alpha=3",
                None,
                "pie no_dq_rate_estimator bytemode alpha 3",
            ),
            (
                "confucius,targets=10/40,occupancy=buffer,doubling=1s,alpha=20,quantum=300B",
                None,
                "confucius targets 10/40 occupancy buffer doubling 1000000us alpha 20 quantum 300b",
            ),
            (
                "red",
                packets,
                "red limit 375000b min 7500b max 22500b probability 0.02 avpkt 1500b burst 55",
            ),
        ] {
            assert_eq!(words(choice, limit).unwrap(), expected);
        }
    }

    #[test]
    fn prio_goes_by_the_device() {
        let choice = Choice::plain("prio");
        let told = told(&choice, Some(Limit::Bytes(30_000))).unwrap();
        assert_eq!(
            (told.words, told.device_queue),
            (vec!["prio".to_owned()], Some(20))
        );
    }

    #[test]
    fn what_linux_has_not_is_refused() {
        for (choice, reason) in [
            ("fq_codel(pfifo)", "without others inside"),
            ("fq_fifo", "Linux has no qdisc fq_fifo"),
            ("pias", "Linux has no qdisc pias"),
            ("red,gentle=yes", "not gentle"),
            ("codel,target=1500ns", "no whole number of microseconds"),
            ("codel,tarket=1ms", "has no \"tarket\""),
            ("dualpi2", "the tc of the machines does not know dualpi2"),
        ] {
            let error = words(choice, None).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn every_discipline_of_both_is_named_the_same() {
        let ours: Vec<&str> = Registry::<u32>::builtin()
            .iter()
            .map(|entry| entry.name)
            .collect();
        for known in KNOWN {
            assert!(ours.contains(&known.name), "{} is not ours", known.name);
        }
    }
}
