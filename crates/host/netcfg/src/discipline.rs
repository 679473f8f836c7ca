//! A discipline that `analects tc` sets up, with its settings, checked.

use crate::tc::{Setting, Spelling};
use qdisc::registry::{Discipline as Declared, Env, Home, Registry};
use serde::{Deserialize, Serialize};
use units::{Bytes, Choice, Duration, Rate, Refusal};

/// The disciplines that are set up, as errors list them.
const SET_UP: &[&str] = &[
    "mencius",
    "confucius",
    "floq",
    "cake",
    "fq_codel",
    "codel",
    "fq",
    "pie",
    "fq_pie",
    "pfifo",
    "bfifo",
    "pfifo_fast",
];

/// The kernel's default, which has no settings and is not simulated.
const PFIFO_FAST: Spelling = Spelling::bare("pfifo_fast");

/// Settings that come from elsewhere, and from where.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("cake", "bandwidth", "--up and --down set it"),
    (
        "cake",
        "overhead",
        "--overhead sets it, for both directions",
    ),
    ("cake", "mpu", "--overhead sets it, for both directions"),
    ("cake", "atm", "--overhead sets it, for both directions"),
    ("cake", "ingress", "it is set for what is received"),
    ("mencius", "bandwidth", "--up and --down set it"),
    (
        "mencius",
        "overhead",
        "--overhead sets it, for both directions",
    ),
    ("mencius", "mpu", "--overhead sets it, for both directions"),
    (
        "mencius",
        "framing",
        "--overhead sets it, for both directions",
    ),
    ("mencius", "shared", "each direction has one queue"),
];

/// What SQM's users have in addition (`EGRESS_CAKE_OPTS` of sqm-scripts' defaults.sh, since 2024):
/// behind NAT all computers would be one.
const AS_USED: &[(&str, &str, &str)] = &[("cake", "nat", "yes")];

/// What is received is shaped behind the modem's queue (decision 0015, "Behind the bottleneck").
const BEHIND: &[(&str, &str, &str)] = &[
    ("mencius", "ingress", "yes"),
    ("mencius", "target", "5ms"),
    ("mencius", "hold", "20ms"),
];

/// Most settings of a discipline.
const MOST_SETTINGS: usize = 32;

/// A discipline with its settings, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Discipline {
    spelling: &'static Spelling,
    /// As the user wrote them, in that order.
    settings: Vec<(String, String)>,
}

/// As it is written in a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    name: String,
    settings: Vec<(String, String)>,
}

impl TryFrom<Unchecked> for Discipline {
    type Error = Refusal;
    fn try_from(it: Unchecked) -> Result<Self, Refusal> {
        Discipline::new(&Choice {
            settings: it.settings,
            ..Choice::plain(&it.name)
        })
    }
}

impl From<Discipline> for Unchecked {
    fn from(it: Discipline) -> Self {
        Unchecked {
            name: it.name().to_owned(),
            settings: it.settings,
        }
    }
}

impl Discipline {
    /// The discipline that is chosen.
    ///
    /// # Errors
    /// If tc knows no such discipline or setting, a setting is there twice, or a value is outside its
    /// range.
    pub fn new(choice: &Choice) -> Result<Self, Refusal> {
        let (name, settings) = (choice.name.as_str(), &choice.settings);
        let registry = Registry::<()>::builtin();
        let spelling = spelling(name).filter(|known| SET_UP.contains(&known.name));
        let spelling = spelling.ok_or_else(|| unknown(name, registry.get(name)))?;
        if settings.len() > MOST_SETTINGS {
            let message = format!("{name}: {} settings", settings.len());
            return Err(Refusal::new(message).with_help("it has fewer"));
        }
        // As tc writes them, with hyphens, or as they are declared.
        let settings = &underscored(settings);
        for (position, (key, value)) in settings.iter().enumerate() {
            if let Some((.., why)) = elsewhere(name, key) {
                let message = format!("{name}: {key} cannot be set here");
                return Err(Refusal::new(message).with_help(*why));
            }
            if settings[..position].iter().any(|(other, _)| other == key) {
                let message = format!("{name}: {key} is set twice");
                return Err(Refusal::new(message).with_help("write it once"));
            }
            let setting = find(spelling, key);
            let setting = setting.ok_or_else(|| no_parameter(spelling, key).within(name))?;
            let words = setting.words(value);
            words.map_err(|error| Refusal::new(format!("{name}: parameter {key}: {error}")))?;
        }
        let Some(declared) = registry.get(name) else {
            return Ok(Discipline {
                spelling,
                settings: settings.clone(),
            });
        };
        let declares = |key: &str| declared.params.iter().any(|spec| spec.name == key);
        let ours = settings.iter().filter(|(key, _)| declares(key));
        let ours = Choice {
            settings: ours.cloned().collect(),
            ..choice.clone()
        };
        registry.build(&ours, &Env::default())?;
        Ok(Discipline {
            spelling,
            settings: settings.clone(),
        })
    }

    /// The discipline of each of two levels. Those of cake are two of the tins of its `diffserv3`.
    ///
    /// # Errors
    /// As [`Discipline::new`], or if the tins of cake are to be others.
    pub fn of_levels(choice: &Choice) -> Result<Self, Refusal> {
        let mut discipline = Discipline::new(choice)?;
        if discipline.name() != "cake" {
            return Ok(discipline);
        }
        let mut settings = discipline.settings.iter();
        match settings.find(|(key, _)| key == "diffserv") {
            None => {
                let tins = ("diffserv".to_owned(), "diffserv3".to_owned());
                discipline.settings.push(tins);
            }
            Some((_, tins)) if tins.trim() == "diffserv3" => (),
            Some((_, other)) => {
                let message = format!("cake: parameter diffserv is {other:?}");
                let help = "the two levels are tins of diffserv3: leave it out";
                return Err(Refusal::new(message).with_help(help));
            }
        }
        Ok(discipline)
    }

    /// The same for packets that the home's computers send or receive, at a rate if it is shaped, where
    /// nothing else is set.
    #[must_use]
    pub fn facing(&self, home: Home, rate: Option<Rate>) -> Self {
        let stated = self.spelling.stated(&self.settings, None, Some(home));
        let stated = stated.unwrap_or_default();
        let of_side = stated
            .iter()
            .filter(|(setting, _)| matches!(setting.key(), "hosts" | "flowmode"))
            .map(|(setting, value)| (setting.key(), value.clone()));
        let rate = rate.filter(|_| self.name() == "mencius");
        let memory = rate.map(|rate| ("memory_limit", memory_at(rate).to_string()));
        let behind = BEHIND.iter().filter(|_| home == Home::Receivers);
        let used = AS_USED.iter().chain(behind);
        let used = used.filter(|(of, ..)| *of == self.name());
        let used = used.map(|(_, key, value)| (*key, (*value).to_owned()));
        let mut facing = self.clone();
        for (key, value) in memory.into_iter().chain(of_side).chain(used) {
            if self.settings.iter().all(|(other, _)| other != key) {
                facing.settings.insert(0, (key.to_owned(), value));
            }
        }
        facing
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.spelling.name
    }

    /// Its name and settings, as words of tc. All that the simulator's has are stated, whatever the
    /// kernel's defaults are; of a queue that stands already, not those that are fixed.
    pub fn words(&self, stands: bool) -> String {
        let fixed = if stands { FIXED } else { &[] };
        format!("{} {}", self.name(), self.settings_words(fixed))
            .trim_end()
            .to_owned()
    }

    /// Its settings alone, as words of tc, without those of the names `but`.
    pub fn settings_words(&self, but: &[&str]) -> String {
        // Each was tried when this was made.
        let stated = self.spelling.stated(&self.settings, None, None);
        let stated = stated.unwrap_or_default();
        let set =
            |(key, value): &(String, String)| Some((find(self.spelling, key)?, value.clone()));
        let of_the_kernel = |(setting, _): &(Setting, _)| {
            stated.iter().all(|(other, _)| other.key() != setting.key())
        };
        let alone = self.settings.iter().filter_map(set).filter(of_the_kernel);
        let words: Vec<String> = stated
            .iter()
            .cloned()
            .chain(alone)
            .filter(|(setting, value)| !but.contains(&setting.key()) && !setting.is_unsaid(value))
            .filter_map(|(setting, value)| setting.words(&value).ok())
            .collect();
        words.join(" ")
    }

    /// Whether a queue with `old` can be given these settings as it stands, and back: tc does not
    /// change settings that are not given, and the number of flows is fixed.
    pub fn changes_in_place(&self, old: &Discipline) -> bool {
        let has_all = |a: &Discipline, b: &Discipline| {
            let in_b = |key: &String| b.settings.iter().any(|(other, _)| other == key);
            a.settings.iter().all(|(key, _)| in_b(key))
        };
        let fixed = |it: &Discipline| {
            let fixed = |key: &String| FIXED.contains(&key.as_str());
            let mut fixed: Vec<_> = it.settings.iter().filter(|(key, _)| fixed(key)).collect();
            fixed.sort();
            fixed.into_iter().cloned().collect::<Vec<_>>()
        };
        self.name() == old.name()
            && has_all(self, old)
            && has_all(old, self)
            && fixed(self) == fixed(old)
    }
}

/// `name,key=value,...`
impl core::fmt::Display for Discipline {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())?;
        for (key, value) in &self.settings {
            write!(f, ",{key}={value}")?;
        }
        Ok(())
    }
}

/// Settings that a queue keeps from its beginning: some kernels' disciplines refuse even the value that
/// they have (`fq_codel_change` of net/sched/sch_fq_codel.c).
const FIXED: &[&str] = &["flows", "orphan_mask"];

/// `settings` with names as they are declared.
fn underscored(settings: &[(String, String)]) -> Vec<(String, String)> {
    let declared = |(key, value): &(String, String)| (key.replace('-', "_"), value.clone());
    settings.iter().map(declared).collect()
}

/// As mencius has it by default with a `bandwidth`: the bytes of two seconds, since a packet takes up to
/// twice its length in memory.
fn memory_at(rate: Rate) -> Bytes {
    let two_seconds = rate.bytes_in(Duration::from_secs(2));
    Bytes::new(two_seconds.clamp(4 << 20, 32 << 20))
}

fn elsewhere(name: &str, key: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let mut rows = ELSEWHERE.iter();
    rows.find(|(of, called, _)| *of == name && *called == key)
}

fn unknown(name: &str, declared: Option<&Declared<()>>) -> Refusal {
    let unknown = Refusal::unknown("discipline", name, SET_UP.iter().copied());
    match declared {
        None => unknown,
        Some(_) => Refusal {
            message: format!("{name} is simulated only, or is not set up by this command"),
            ..unknown
        },
    }
}

fn spelling(name: &str) -> Option<&'static Spelling> {
    match name {
        "pfifo_fast" => Some(&PFIFO_FAST),
        _ => Spelling::of(name),
    }
}

fn find(spelling: &Spelling, key: &str) -> Option<Setting> {
    spelling.settings().find(|setting| setting.key() == key)
}

fn no_parameter(spelling: &Spelling, key: &str) -> Refusal {
    let keys = spelling.settings().map(|setting| setting.key());
    let here = keys.filter(|key| elsewhere(spelling.name, key).is_none());
    Refusal::unknown("parameter", key, here)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discipline(text: &str) -> Result<Discipline, Refusal> {
        text.parse().and_then(|choice| Discipline::new(&choice))
    }

    #[test]
    fn in_the_words_of_tc() {
        for (text, words) in [
            ("pfifo", "pfifo limit 1000"),
            ("bfifo,limit=15kB", "bfifo limit 15000"),
            (
                "codel,ecn=yes",
                "codel limit 1000 target 5ms interval 100ms ecn",
            ),
            (
                "cake,diffserv=diffserv4,ack-filter=yes,memlimit=4MB,nat=yes",
                "cake diffserv4 triple-isolate rtt 100ms egress overhead 0 mpu 0 noatm memlimit 4000000 \
                 ack-filter nat",
            ),
            (
                "fq_codel,ecn=no,quantum=300B",
                "fq_codel limit 10240 flows 1024 quantum 300 target 5ms interval 100ms noecn \
                 memory_limit 33554432 drop_batch 64",
            ),
            (
                "fq,maxrate=20mbit",
                "fq limit 10000 flow_limit 100 quantum 3028 initial_quantum 15140 refill_delay 40ms pacing \
                 maxrate 20mbit low_rate_threshold 550kbit orphan_mask 1023",
            ),
        ] {
            assert_eq!(discipline(text).unwrap().words(false), words);
        }
        for (text, part) in [
            (
                "confucius,targets=10/50/90,doubling=250ms,nat=yes,split_gso=no",
                " targets 10/50/90 ",
            ),
            ("confucius,nat=yes,split_gso=no", " nat no-split-gso"),
            ("confucius,scale=1.5ms", " scale 1500us"),
            (
                "floq,variant=algorithm-drop,f_r=4",
                " variant algorithm-drop ",
            ),
            ("mencius,hosts=source,low=15ms,nat=yes", " low 15ms "),
            ("mencius,hosts=source", " hosts source "),
        ] {
            let words = discipline(text).unwrap().words(false);
            assert!(format!("{words} ").contains(part), "{words}");
        }
    }

    #[test]
    fn a_queue_that_stands_is_not_told_what_it_has_from_its_beginning() {
        for name in SET_UP {
            let words = discipline(name).unwrap().words(true);
            let fixed = |word: &str| FIXED.contains(&word);
            assert!(!words.split(' ').any(fixed), "{words}");
        }
    }

    #[test]
    fn each_side_of_the_home_has_its_own_hosts() {
        for (text, home, part) in [
            ("cake", Home::Senders, "diffserv3 dual-srchost rtt"),
            ("cake", Home::Receivers, "diffserv3 dual-dsthost rtt"),
            (
                "cake,flowmode=hosts",
                Home::Receivers,
                "diffserv3 hosts rtt",
            ),
            ("cake", Home::Receivers, " noatm nat"),
            ("cake,nat=no", Home::Receivers, " noatm nonat"),
            ("mencius", Home::Senders, " hosts source "),
            ("mencius", Home::Senders, " target 20ms "),
            ("mencius", Home::Senders, " egress"),
            ("mencius", Home::Receivers, " target 5ms "),
            ("mencius", Home::Receivers, " ingress"),
            ("mencius", Home::Receivers, " hold 20ms "),
            ("mencius,target=9ms", Home::Receivers, " target 9ms "),
        ] {
            let facing = discipline(text).unwrap().facing(home, None);
            let words = facing.words(false);
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn what_can_be_set_up_is_built_by_its_defaults_and_comes_from_one_place() {
        for name in SET_UP {
            let words = discipline(name).unwrap().words(false);
            assert_eq!(words.split(' ').next(), Some(*name));
        }
        for (name, key, _) in ELSEWHERE {
            assert!(SET_UP.contains(name) && find(Spelling::of(name).unwrap(), key).is_some());
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, part) in [
            ("red", "simulated only, or"),
            ("nothing", "no discipline \"nothing\""),
            ("floq,fall=100", "fall: 100 is outside 1 to 99"),
            ("floq,variant=paper", "reading, equation"),
            ("confucius,limit=0", "limit: 0 is outside 1 to 1000000"),
            ("confucius,targets=50/10", "increasing"),
            ("confucius,tarkets=50", "no parameter \"tarkets\""),
            ("confucius,nat=perhaps", "yes or no"),
            ("confucius,idle=10000001ns", "microseconds"),
            ("confucius,limit=1,limit=2", "set twice"),
            ("confucius,occupancy=delay root", "not a number or a word"),
            ("cake,bandwidth=1mbit", "--up"),
            ("fq,refill_delay=1h,ce_threshold=off", "off"),
            ("pie,tupdate=1us", "outside"),
        ] {
            let error = discipline(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn in_place_only_where_it_is_exact() {
        let in_place = |a: &str, b: &str| {
            discipline(a)
                .unwrap()
                .changes_in_place(&discipline(b).unwrap())
        };
        assert!(in_place("confucius,limit=5", "confucius,limit=9"));
        assert!(!in_place("confucius", "confucius,limit=9"));
        assert!(!in_place("confucius,limit=9", "confucius"));
        assert!(!in_place("confucius,flows=64", "confucius,flows=128"));
        assert!(!in_place("pfifo,limit=5", "fq_codel,limit=5"));
    }
}
