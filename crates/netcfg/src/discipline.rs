//! A discipline and its settings, in the words of tc.
//!
//! Names, forms and ranges of settings come from the disciplines' own declarations in `qdisc`; what
//! stands here is how tc spells them, and the few settings that only a kernel has.

use qdisc::registry::{Discipline as Declared, Env, Registry};
use serde::{Deserialize, Serialize};
use units::param::Value;
use units::{Bytes, Choice, Duration, Rate, Refusal};

/// How tc writes a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Its name and its text as they are: counts and words.
    Plain,
    /// Its name and a number of bytes: tc's own units differ from ours (its `kb` is 1024).
    Size,
    /// Its name and a time in whole microseconds or milliseconds.
    Time,
    /// Its name and a rate.
    Rate,
    /// Only its text: cake's `diffserv4`.
    Word,
    /// One word for yes and one for no.
    Flag(&'static str, &'static str),
}

use Form::{Flag, Plain, Rate as AsRate, Size, Time, Word};

const ECN: (&str, Form) = ("ecn", Flag("ecn", "noecn"));
const NAT: (&str, Form) = ("nat", Flag("nat", "nonat"));

/// A discipline that tc knows.
#[derive(Debug, PartialEq, Eq)]
struct Known {
    name: &'static str,
    /// The settings that can be given, with how tc writes them.
    keys: &'static [(&'static str, Form)],
    /// Settings of the kernel's that the simulator's discipline has not.
    kernel: &'static [(&'static str, Form)],
}

/// From tc-confucius(8), tc-cake(8), tc-fq_codel(8), tc-codel(8), tc-fq(8), tc-pie(8), tc-fq_pie(8)
/// and tc-pfifo(8).
const KNOWN: &[Known] = &[
    Known {
        name: "confucius",
        keys: &[
            ("limit", Plain),
            ("memory_limit", Size),
            ("flows", Plain),
            ("quantum", Size),
            ("targets", Plain),
            ("occupancy", Plain),
            ("scale", Time),
            ("doubling", Time),
            ("head_start", Plain),
            ("alpha", Plain),
            ("interval", Time),
            ("idle", Time),
        ],
        kernel: &[ECN, NAT, ("split_gso", Flag("split_gso", "no-split-gso"))],
    },
    Known {
        name: "cake",
        keys: &[("diffserv", Word), ("flowmode", Word), ("rtt", Time)],
        kernel: &[
            NAT,
            ("wash", Flag("wash", "nowash")),
            ("split_gso", Flag("split-gso", "no-split-gso")),
        ],
    },
    Known {
        name: "fq_codel",
        keys: &[
            ("limit", Plain),
            ("flows", Plain),
            ("quantum", Size),
            ("target", Time),
            ("interval", Time),
            ECN,
            ("ce_threshold", Time),
            ("memory_limit", Size),
            ("drop_batch", Plain),
        ],
        kernel: &[],
    },
    Known {
        name: "codel",
        keys: &[
            ("limit", Plain),
            ("target", Time),
            ("interval", Time),
            ECN,
            ("ce_threshold", Time),
        ],
        kernel: &[],
    },
    Known {
        name: "fq",
        keys: &[
            ("limit", Plain),
            ("flow_limit", Plain),
            ("quantum", Size),
            ("initial_quantum", Size),
            ("refill_delay", Time),
            ("pacing", Flag("pacing", "nopacing")),
            ("maxrate", AsRate),
            ("low_rate_threshold", AsRate),
            ("ce_threshold", Time),
            ("orphan_mask", Plain),
        ],
        kernel: &[],
    },
    Known {
        name: "pie",
        keys: &[
            ("limit", Plain),
            ("target", Time),
            ("tupdate", Time),
            ("alpha", Plain),
            ("beta", Plain),
            ECN,
            ("bytemode", Flag("bytemode", "nobytemode")),
        ],
        kernel: &[],
    },
    Known {
        name: "fq_pie",
        keys: &[
            ("limit", Plain),
            ("flows", Plain),
            ("target", Time),
            ("tupdate", Time),
            ("alpha", Plain),
            ("beta", Plain),
            ("quantum", Size),
            ("memory_limit", Size),
            ("ecn_prob", Plain),
            ECN,
            ("bytemode", Flag("bytemode", "nobytemode")),
        ],
        kernel: &[],
    },
    Known {
        name: "pfifo",
        keys: &[("limit", Plain)],
        kernel: &[],
    },
    Known {
        name: "bfifo",
        keys: &[("limit", Size)],
        kernel: &[],
    },
];

/// Settings that come from elsewhere, and from where.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("cake", "bandwidth", "it is what --rate and --ingress say"),
    (
        "cake",
        "overhead",
        "--overhead says it, for both directions",
    ),
    ("cake", "mpu", "--overhead says it, for both directions"),
    ("cake", "atm", "--overhead says it, for both directions"),
    ("cake", "ingress", "it is set for what is received"),
    ("cake", "memlimit", "cake chooses it by the rate"),
];

/// Most settings of a discipline.
const MOST_SETTINGS: usize = 32;

/// A discipline with its settings, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Discipline {
    known: &'static Known,
    /// As the user wrote them, in that order.
    settings: Vec<(String, String)>,
}

/// As it stands in a file.
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
            name: it.known.name.to_owned(),
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
        let known = KNOWN.iter().find(|known| known.name == name);
        let (Some(known), Some(declared)) = (known, registry.get(name)) else {
            return Err(unknown(name, registry.get(name)));
        };
        if settings.len() > MOST_SETTINGS {
            let count = settings.len();
            return Err(
                Refusal::new(format!("{name}: {count} settings")).with_help("it has not so many")
            );
        }
        let it = Discipline {
            known,
            settings: settings.clone(),
        };
        let declares = |key: &str| declared.params.iter().any(|spec| spec.name == key);
        let (ours, kernel): (Vec<_>, Vec<_>) =
            settings.iter().cloned().partition(|(key, _)| declares(key));
        for (position, (key, value)) in settings.iter().enumerate() {
            if let Some((.., why)) = elsewhere(name, key) {
                let message = format!("{name}: {key} cannot be set here");
                return Err(Refusal::new(message).with_help(*why));
            }
            if settings[..position].iter().any(|(other, _)| other == key) {
                let message = format!("{name}: {key} is set twice");
                return Err(Refusal::new(message).with_help("write it once"));
            }
            let word = known.word(key, value);
            word.map_err(|refusal| refusal.within(name))?;
        }
        let ours = Choice {
            settings: ours,
            ..choice.clone()
        };
        registry.build(&ours, &Env::default())?;
        debug_assert!(kernel.iter().all(|(key, _)| known.form(key).is_some()));
        Ok(it)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.known.name
    }

    /// Its name and settings, as tc is told them.
    pub fn words(&self) -> String {
        format!("{} {}", self.known.name, self.settings_words())
            .trim_end()
            .to_owned()
    }

    /// Its settings alone, as tc is told them.
    pub fn settings_words(&self) -> String {
        // Each was tried when this was made.
        let word = |(key, value): &(String, String)| self.known.word(key, value).ok();
        let words: Vec<_> = self.settings.iter().filter_map(word).collect();
        words.join(" ")
    }

    /// Whether a queue with `old` can be given these settings as it stands, and back: tc leaves alone
    /// what it is not told, and the number of flows is fixed.
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
        self.known == old.known
            && has_all(self, old)
            && has_all(old, self)
            && fixed(self) == fixed(old)
    }
}

/// `name,key=value,...`
impl core::fmt::Display for Discipline {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.known.name)?;
        for (key, value) in &self.settings {
            write!(f, ",{key}={value}")?;
        }
        Ok(())
    }
}

fn elsewhere(name: &str, key: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let mut rows = ELSEWHERE.iter();
    rows.find(|(of, called, _)| *of == name && *called == key)
}

fn unknown(name: &str, declared: Option<&Declared<()>>) -> Refusal {
    let unknown = Refusal::unknown("discipline", name, KNOWN.iter().map(|known| known.name));
    match declared {
        None => unknown,
        Some(_) => Refusal {
            message: format!("{name} is simulated only, or is not set up by this command"),
            ..unknown
        },
    }
}

impl Known {
    fn form(&self, key: &str) -> Option<Form> {
        let mut keys = self.keys.iter().chain(self.kernel);
        keys.find(|(name, _)| *name == key).map(|&(_, form)| form)
    }

    /// A setting as tc writes it.
    fn word(&self, key: &str, value: &str) -> Result<String, Refusal> {
        let Some(form) = self.form(key) else {
            let rows = self.keys.iter().chain(self.kernel);
            return Err(Refusal::unknown("parameter", key, rows.map(|row| row.0)));
        };
        let bad = |error: &dyn core::fmt::Display| format!("parameter {key}: {error}");
        Ok(match form {
            Plain => format!("{key} {}", single(value).map_err(|error| bad(&error))?),
            Word => single(value).map_err(|error| bad(&error))?.to_owned(),
            Size => {
                let size = Bytes::parse(value).map_err(|error| bad(&error))?;
                format!("{key} {}", size.get())
            }
            AsRate => {
                let rate = Rate::parse(value).map_err(|error| bad(&error))?;
                format!("{key} {rate}")
            }
            Time => format!("{key} {}", time(value).map_err(|error| bad(&error))?),
            Flag(yes, no) => {
                let on = bool::parse(value).map_err(|error| bad(&error))?;
                (if on { yes } else { no }).to_owned()
            }
        })
    }
}

/// A value that is one word of harmless characters.
fn single(value: &str) -> Result<&str, String> {
    let value = value.trim();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    if value.is_empty() || !value.chars().all(allowed) || value.starts_with('-') {
        let value: String = value.chars().take(60).collect();
        return Err(format!("{value:?} is not a number or a word"));
    }
    Ok(value)
}

/// A time as tc takes it: it knows no nanoseconds.
fn time(value: &str) -> Result<String, String> {
    let time = Duration::parse(value).map_err(|error| error.to_string())?;
    let ns = time.as_nanos();
    if !ns.is_multiple_of(1000) {
        return Err(format!("{time} is not a whole number of microseconds"));
    }
    let us = ns / 1000;
    if us > u64::from(u32::MAX) {
        return Err(format!("{time} is longer than tc can say, 4294 s"));
    }
    Ok(if us.is_multiple_of(1000) {
        format!("{}ms", us / 1000)
    } else {
        format!("{us}us")
    })
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
    fn every_setting_of_the_table_is_one_of_the_disciplines() {
        let registry = Registry::<()>::builtin();
        for known in KNOWN {
            let declared = registry.get(known.name).unwrap();
            for (key, _) in known.keys {
                let found = declared.params.iter().find(|spec| spec.name == *key);
                let spec = found.unwrap_or_else(|| panic!("{}: {key}", known.name));
                let word = known.word(key, spec.default);
                assert!(word.is_ok() || spec.default == "off", "{key}: {word:?}");
            }
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, part) in [
            ("red", "simulated only, or"),
            ("nothing", "no discipline \"nothing\""),
            ("confucius,limit=0", "limit: 0 is outside 1 to 1000000"),
            ("confucius,targets=50/10", "increasing"),
            ("confucius,tarkets=50", "no parameter \"tarkets\""),
            ("confucius,nat=perhaps", "yes or no"),
            ("confucius,idle=10000001ns", "microseconds"),
            ("confucius,limit=1,limit=2", "set twice"),
            ("confucius,occupancy=delay root", "not a number or a word"),
            ("cake,bandwidth=1mbit", "--rate"),
            ("fq_codel(pfifo)", "contains no other"),
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
