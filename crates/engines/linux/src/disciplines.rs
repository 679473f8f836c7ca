//! tc's arguments for a scenario's discipline, and the parts of it that Linux does not have.

use machine::OURS;
use netcfg::Threshold;
use netcfg::tc::{self, Setting, Spelling};
use qdisc::{Home, Limit, Registry};
use scenario::Choice;
use units::param::Value;
use units::{Bytes, Refusal};

/// tc's arguments for a discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcArguments {
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
pub fn told(choice: &Choice, limit: Option<Limit>, home: Home) -> Result<TcArguments, Refusal> {
    let (choice, _) = &Registry::<u32>::builtin().renamed(choice);
    let name = &choice.name;
    if name == TWO_LEVELS {
        return two_levels(choice, limit, home);
    }
    let spelling = Spelling::of(name).ok_or_else(|| unknown(name))?;
    if !choice.children.is_empty() {
        let message = format!("Linux's {name} is set up without others inside");
        return Err(Refusal::new(message));
    }
    let mut told = TcArguments {
        words: vec![spelling.name.to_owned()],
        threshold: None,
        module: module(spelling.name),
        device_queue: None,
    };
    if spelling
        .declared()
        .all(|setting| setting.key() != "limit" && setting.key() != "memlimit")
    {
        told.device_queue = limit.map(Limit::packets);
    }
    for (key, value) in &choice.settings {
        match (spelling.name, key.as_str()) {
            ("prio", "band_limit") => told.device_queue = Some(parsed(key, value)?),
            ("red", "gentle") if parsed(key, value)? => {
                return Err(Refusal::new("Linux's red is not gentle"));
            }
            ("red", "gentle") => {}
            // What it has no words for is refused by name.
            _ => words(spelling, key, value).map(drop)?,
        }
    }
    let is_set = |key: &str| choice.settings.iter().any(|(other, _)| other == key);
    for (setting, value) in spelling.stated(&choice.settings, limit, Some(home))? {
        let buffers = limit.filter(|_| setting.key() == "memlimit" && !is_set("memlimit"));
        match buffers {
            Some(limit) => told.words.extend(buffered(setting, limit)),
            None => told.words.extend(words(spelling, setting.key(), &value)?),
        }
    }
    Ok(told)
}

/// Two levels, each with the room that the base alone would have.
fn two_levels(choice: &Choice, limit: Option<Limit>, home: Home) -> Result<TcArguments, Refusal> {
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
    let tins = base.settings.iter().find(|(key, _)| key == "diffserv");
    if base.name == "cake" && tins.is_some_and(|(_, value)| value.trim() != "diffserv3") {
        let message = "the two levels of cake are tins of its diffserv3";
        return Err(Refusal::new(message));
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

/// `cake` counts its packets' buffers, not their bytes.
fn buffered(setting: Setting, limit: Limit) -> [String; 2] {
    let amount = tc::size(Bytes::new(limit.bytes() * BUFFER / FULL));
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
            (
                "cake",
                packets,
                "cake diffserv3 dual-dsthost rtt 100ms egress overhead 0 mpu 0 noatm memlimit 576000",
            ),
            (
                "cake,diffserv=besteffort,rtt=50ms,flowmode=flows,bandwidth=20mbit",
                None,
                "cake bandwidth 20mbit besteffort flows rtt 50ms egress overhead 0 mpu 0 noatm",
            ),
            (
                "fq_codel,target=5ms,ecn=no,memory_limit=4MiB,ce_threshold=off",
                None,
                "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms noecn \
                 memory_limit 4194304 drop_batch 64",
            ),
            (
                "pie,dq_rate_estimator=no,bytemode=yes,alpha=3",
                None,
                "pie limit 1000 target 15ms tupdate 15ms alpha 3 beta 20 noecn bytemode no_dq_rate_estimator",
            ),
            (
                "confucius,targets=10/40,occupancy=buffer,doubling=1s,alpha=20,quantum=300B",
                None,
                "confucius limit 1000 memory_limit 33554432 flows 1024 quantum 300 targets 10/40 \
                 occupancy buffer scale 100ms doubling 1000ms head_start 0 alpha 20 interval 100ms \
                 idle 1000ms noecn",
            ),
            (
                "mencius,min_wait=5ms",
                packets,
                "mencius limit 250 memory_limit 33554432 flows 4096 hosts destination quantum 1514 \
                 target 20ms interval 100ms ecn min_wait 5ms max_wait 80ms rise 400ms \
                 doubling 3000ms settled_share 128 overhead 0 mpu 0 framing noatm egress",
            ),
            (
                "red",
                packets,
                "red limit 375000 min 7500 max 22500 probability 0.02 avpkt 1500 burst 55 bandwidth 10mbit",
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
                "codel limit 250 target 2ms interval 100ms noecn",
                1_000_000,
            ),
            (
                "2lps(cake,rtt=10ms)",
                "cake diffserv3 dual-dsthost rtt 10ms egress overhead 0 mpu 0 noatm memlimit 576000",
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
