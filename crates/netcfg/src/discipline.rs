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
    ("cake", "bandwidth", "--rate and --ingress set it"),
    (
        "cake",
        "overhead",
        "--overhead sets it, for both directions",
    ),
    ("cake", "mpu", "--overhead sets it, for both directions"),
    ("cake", "atm", "--overhead sets it, for both directions"),
    ("cake", "ingress", "it is set for what is received"),
    ("cake", "memlimit", "cake chooses it by the rate"),
    ("mencius", "bandwidth", "--rate and --ingress set it"),
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
    (
        "mencius",
        "ingress",
        "the shaper around it counts what it sends",
    ),
    ("mencius", "shared", "each direction has one queue"),
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
        let Some((hosts, side)) = self.spelling.facing(home) else {
            return self.clone();
        };
        let memory = rate.map(|rate| ("memory_limit", memory_at(rate).to_string()));
        let known = memory.into_iter().chain([(hosts, side)]);
        let mut facing = self.clone();
        for (key, value) in known {
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

    /// Its name and settings, as words of tc.
    pub fn words(&self) -> String {
        format!("{} {}", self.name(), self.settings_words())
            .trim_end()
            .to_owned()
    }

    /// Its settings alone, as words of tc.
    pub fn settings_words(&self) -> String {
        // Each was tried when this was made.
        let words = |(key, value): &(String, String)| find(self.spelling, key)?.words(value).ok();
        let words: Vec<_> = self.settings.iter().filter_map(words).collect();
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
            let fixed = |key: &str| matches!(key, "flows" | "orphan_mask");
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
            ("confucius", "confucius"),
            (
                "confucius,targets=10/50/90,doubling=250ms,memory_limit=4MiB,nat=yes,split_gso=no",
                "confucius targets 10/50/90 doubling 250ms memory_limit 4194304 nat no-split-gso",
            ),
            ("confucius,scale=1.5ms", "confucius scale 1500us"),
            (
                "floq,variant=algorithm-drop,f_r=4,window=20ms,ecn=yes,split_gso=no",
                "floq variant algorithm-drop f_r 4 window 20ms ecn no-split-gso",
            ),
            (
                "mencius,hosts=source,low=15ms,nat=yes",
                "mencius hosts source low 15ms nat",
            ),
            (
                "cake,diffserv=diffserv4,rtt=1s",
                "cake diffserv4 rtt 1000ms",
            ),
            (
                "fq_codel,ecn=no,quantum=1514B",
                "fq_codel noecn quantum 1514",
            ),
            ("fq,maxrate=20mbit", "fq maxrate 20mbit"),
            ("bfifo,limit=15kB", "bfifo limit 15000"),
        ] {
            assert_eq!(discipline(text).unwrap().words(), words);
        }
    }

    #[test]
    fn what_can_be_set_up_is_built_by_its_defaults_and_comes_from_one_place() {
        for name in SET_UP {
            assert_eq!(discipline(name).unwrap().words(), *name);
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
            ("cake,bandwidth=1mbit", "--rate"),
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
