//! tc's arguments for a scenario's discipline, and the parts of it that Linux does not have.

use machine::OURS;
use netcfg::Threshold;
use netcfg::tc::{self, Setting, Spelling};
use qdisc::{Home, Limit, Registry};
use scenario::Choice;
use units::param::Value;
use units::{Bytes, Refusal};

/// Settings of `red` that tc requires.
const INSISTED: [&str; 5] = ["min", "max", "probability", "avpkt", "burst"];

/// tc's arguments for a discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Its name and its parameters; for [`2lps`](TWO_LEVELS), those of the discipline of each
    /// level.
    pub words: Vec<String>,
    /// Bytes up to which a flow is young, if it has two levels.
    pub threshold: Option<Threshold>,
    /// The kernel's module to load; none if the discipline is always there, or is [ours](OURS).
    pub module: Option<String>,
    /// The device's `txqueuelen`, if the discipline uses it.
    pub device_queue: Option<u32>,
}

/// The discipline that is not one of Linux's, but of queues and a table of nftables.
pub const TWO_LEVELS: &str = "2lps";

/// Bytes of a full packet, and of the buffer that Linux has one in: 2 KiB with its data, 256 bytes for
/// the `sk_buff` (`SKB_TRUESIZE`).
const FULL: u64 = 1500;
const BUFFER: u64 = 2304;

/// tc's arguments for `choice`, on a link whose owner gave it `limit` and that has the home's computers
/// on this side.
///
/// # Errors
/// If Linux has no such discipline or setting, which the error names.
pub fn told(choice: &Choice, limit: Option<Limit>, home: Home) -> Result<Told, Refusal> {
    let name = &choice.name;
    if name == TWO_LEVELS {
        return two_levels(choice, limit, home);
    }
    let spelling = Spelling::of(name).ok_or_else(|| unknown(name))?;
    if !choice.children.is_empty() {
        let message = format!("Linux's {name} is set up without others inside");
        return Err(Refusal::new(message));
    }
    let mut told = Told {
        words: vec![spelling.name.to_owned()],
        threshold: None,
        module: module(spelling.name),
        device_queue: None,
    };
    let is_set = |key: &str| choice.settings.iter().any(|(other, _)| other == key);
    if let Some(limit) = limit.filter(|_| !is_set("limit") && !is_set("memlimit")) {
        match room(spelling) {
            Some(setting) => told.words.extend(limited(setting, limit)),
            None => told.device_queue = Some(limit.packets()),
        }
    }
    if let Some((key, side)) = spelling.facing(home).filter(|(key, _)| !is_set(key)) {
        told.words.extend([key.to_owned(), side]);
    }
    for (key, value) in settings_of(choice) {
        match (spelling.name, key.as_str()) {
            ("prio", "band_limit") => told.device_queue = Some(parsed(&key, &value)?),
            ("red", "gentle") if parsed(&key, &value)? => {
                return Err(Refusal::new("Linux's red is not gentle"));
            }
            ("red", "gentle") => {}
            _ => told.words.extend(words(spelling, &key, &value)?),
        }
    }
    Ok(told)
}

/// Two levels, each with the room that the base alone would have.
fn two_levels(choice: &Choice, limit: Option<Limit>, home: Home) -> Result<Told, Refusal> {
    let registry = Registry::<u32>::builtin();
    let declared = registry.get(TWO_LEVELS);
    let slot = declared.and_then(|entry| entry.children.first());
    let default = Choice::plain(slot.map_or("", |slot| slot.default));
    let base = choice.children.first().unwrap_or(&default);
    if base.name == "prio" {
        return Err(Refusal::new(
            "the levels are bands of a prio, and a prio cannot hold another",
        ));
    }
    if base.name == TWO_LEVELS {
        let message = "Linux has no qdisc 2lps to make two levels of";
        return Err(Refusal::new(message));
    }
    let mut told = told(base, limit, home).map_err(|refusal| refusal.within(TWO_LEVELS))?;
    if base.name == "cake" {
        let tins = base.settings.iter().find(|(key, _)| key == "diffserv");
        match tins.map(|(_, value)| value.trim()) {
            None => told.words.push("diffserv3".to_owned()),
            Some("diffserv3") => (),
            Some(_) => {
                return Err(Refusal::new(
                    "the two levels of cake are tins of its diffserv3",
                ));
            }
        }
    }
    let specs = declared.map_or(&[][..], |entry| entry.params);
    let spec = specs.iter().find(|spec| spec.name == "threshold");
    let mut threshold = spec.map_or("", |spec| spec.default);
    for (key, value) in &choice.settings {
        if key != "threshold" {
            let message =
                format!("conntrack tells flows apart and forgets them: it has no {key:?}");
            return Err(Refusal::new(message));
        }
        threshold = value;
    }
    let bytes: Bytes = parsed("threshold", threshold)?;
    let threshold = Threshold::try_from(bytes);
    told.threshold = Some(threshold.map_err(|error| Refusal::new(format!("threshold: {error}")))?);
    Ok(told)
}

/// The setting of a discipline's limit; none if each band's `pfifo` takes the device's
/// `txqueuelen`.
fn room(spelling: &Spelling) -> Option<Setting> {
    let mut settings = spelling.declared();
    settings.find(|setting| matches!(setting.key(), "limit" | "memlimit"))
}

fn limited(setting: Setting, limit: Limit) -> [String; 2] {
    let amount = match setting.key() {
        // `cake` counts its packets' buffers, not their bytes.
        "memlimit" => tc::size(Bytes::new(limit.bytes() * BUFFER / FULL)),
        _ if setting.is_size() => tc::size(Bytes::new(limit.bytes())),
        _ => limit.packets().to_string(),
    };
    [setting.key().to_owned(), amount]
}

/// One setting in tc's words; none if it is the default. Scenarios set what our discipline
/// declares, not what only the kernel's has.
fn words(spelling: &Spelling, key: &str, value: &str) -> Result<Vec<String>, Refusal> {
    let setting = spelling.declared().find(|it| it.key() == key);
    let missing = || Refusal::new(format!("{} has no {key:?}", spelling.name));
    let setting = setting.ok_or_else(missing)?;
    if setting.is_unsaid(value) {
        return Ok(Vec::new());
    }
    let words = setting.words(value);
    let words = words.map_err(|error| Refusal::new(format!("{key}: {error}")))?;
    Ok(words.split_whitespace().map(str::to_owned).collect())
}

fn module(name: &str) -> Option<String> {
    match name {
        "pfifo" | "bfifo" => None,
        ours if OURS.contains(&ours) => None,
        _ => Some(format!("sch_{name}")),
    }
}

fn unknown(name: &str) -> Refusal {
    if name == "dualpi2" {
        return Refusal::new("the tc of the machines does not know dualpi2");
    }
    let names: Vec<&str> = tc::DISCIPLINES.iter().map(|known| known.name).collect();
    let refusal = Refusal::new(format!("Linux has no qdisc {name}"));
    refusal.with_help(format!("it has {}", names.join(", ")))
}

/// The settings to pass: those of the user, and for `red` those that tc requires.
fn settings_of(choice: &Choice) -> Vec<(String, String)> {
    let mut settings = choice.settings.clone();
    if choice.name == "red" {
        let registry = Registry::<u32>::builtin();
        let specs = registry.get("red").map_or(&[][..], |entry| entry.params);
        for spec in specs.iter().filter(|spec| INSISTED.contains(&spec.name)) {
            if !settings.iter().any(|(key, _)| key == spec.name) {
                settings.push((spec.name.to_owned(), spec.default.to_owned()));
            }
        }
    }
    settings
}

fn parsed<T: Value>(key: &str, text: &str) -> Result<T, Refusal> {
    T::parse(text).map_err(|error| Refusal::new(format!("{key}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(choice: &str, limit: Option<Limit>) -> Result<String, String> {
        let choice: Choice = choice.parse().unwrap();
        let told = told(&choice, limit, Home::Receivers);
        told.map(|told| told.words.join(" "))
            .map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn settings_in_tcs_words() {
        let packets = Some(Limit::Packets(250));
        for (choice, limit, expected) in [
            ("pfifo", packets, "pfifo limit 250"),
            ("pfifo,limit=7", packets, "pfifo limit 7"),
            ("bfifo", packets, "bfifo limit 375000"),
            ("cake", packets, "cake memlimit 576000"),
            (
                "cake,diffserv=besteffort,rtt=50ms,flowmode=flows,bandwidth=20mbit",
                None,
                "cake besteffort rtt 50ms flows bandwidth 20mbit",
            ),
            (
                "fq_codel,target=5ms,ecn=no,memory_limit=4MiB,ce_threshold=off",
                None,
                "fq_codel target 5ms noecn memory_limit 4194304",
            ),
            (
                "pie,dq_rate_estimator=no,bytemode=yes,alpha=3",
                None,
                "pie no_dq_rate_estimator bytemode alpha 3",
            ),
            (
                "confucius,targets=10/40,occupancy=buffer,doubling=1s,alpha=20,quantum=300B",
                None,
                "confucius targets 10/40 occupancy buffer doubling 1000ms alpha 20 quantum 300",
            ),
            (
                "mencius,low=5ms",
                packets,
                "mencius limit 250 hosts destination low 5ms",
            ),
            ("mencius,hosts=none", None, "mencius hosts none"),
            (
                "red",
                packets,
                "red limit 375000 min 7500 max 22500 probability 0.02 avpkt 1500 burst 55",
            ),
        ] {
            assert_eq!(words(choice, limit).unwrap(), expected);
        }
    }

    #[test]
    fn two_levels_are_told_of_the_base() {
        let told = |choice: &str| {
            told(
                &choice.parse().unwrap(),
                Some(Limit::Packets(250)),
                Home::Receivers,
            )
        };
        for (choice, words, threshold) in [
            ("2lps", "pfifo limit 250", 6_331_208),
            (
                "2lps(codel,target=2ms),threshold=1MB",
                "codel limit 250 target 2ms",
                1_000_000,
            ),
            (
                "2lps(cake,rtt=10ms)",
                "cake memlimit 576000 rtt 10ms diffserv3",
                6_331_208,
            ),
        ] {
            let told = told(choice).unwrap();
            assert_eq!(told.words.join(" "), words);
            assert_eq!(told.threshold.unwrap().get(), threshold);
        }
        for (choice, reason) in [
            ("2lps(prio)", "bands of a prio"),
            ("2lps(las)", "2lps: Linux has no qdisc las"),
            ("2lps(2lps)", "Linux has no qdisc 2lps"),
            ("2lps(cake,diffserv=besteffort)", "tins of its diffserv3"),
            ("2lps(pie),idle=5s", "it has no \"idle\""),
            ("2lps(pie),threshold=0B", "outside 1 to 1000000000000"),
        ] {
            let error = told(choice).unwrap_err().to_string();
            assert!(error.contains(reason), "{choice}: {error}");
        }
    }

    #[test]
    fn prio_goes_by_the_device() {
        let choice = Choice::plain("prio");
        let told = told(&choice, Some(Limit::Bytes(30_000)), Home::Receivers).unwrap();
        assert_eq!(
            (told.words, told.device_queue),
            (vec!["prio".to_owned()], Some(20))
        );
    }

    #[test]
    fn what_linux_has_not_is_refused() {
        for (choice, reason) in [
            ("fq_fifo", "Linux has no qdisc fq_fifo"),
            ("pias", "Linux has no qdisc pias"),
            ("red,gentle=yes", "not gentle"),
            ("codel,target=1500ns", "not a whole number of microseconds"),
            ("codel,tarket=1ms", "has no \"tarket\""),
            ("dualpi2", "the tc of the machines does not know dualpi2"),
        ] {
            let error = words(choice, None).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
