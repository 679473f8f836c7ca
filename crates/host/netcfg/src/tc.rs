//! How tc writes disciplines, their settings, and quantities.
//!
//! Names, forms and ranges of settings come from the disciplines' own declarations in `qdisc`; this
//! module has their spelling in tc, and the few settings that only a kernel has. Each command or
//! engine decides which of them it takes.

use qdisc::confucius::params::ConfuciusParams;
use qdisc::floq::params::FloqParams;
use qdisc::mencius::params::MenciusParams;
use qdisc::{Choice, Env, Home, Limit, Registry};
use units::param::{Settings, Spec, Value};
use units::{Bytes, Duration, ParseError, Rate, Refusal};

/// How tc writes a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TcForm {
    /// Its name and a whole number.
    Count,
    /// Its name and a number that may have a sign or a fraction.
    Number,
    /// Its name and a word.
    Text,
    /// Its name and a number of bytes.
    Size,
    /// Its name and a time.
    Time,
    /// Its name and a rate.
    Rate,
    /// Only a word: cake's `diffserv4`.
    Word,
    /// One word for yes and one for no; an empty one is omitted.
    Flag(&'static str, &'static str),
    /// Its name for yes, and its [`opposite`] for no.
    Switch,
    /// No, yes or more than that, each with a word.
    Degree([&'static str; 3]),
}

use TcForm::{Count, Degree, Flag, Number, Rate as AsRate, Size, Switch, Text, Time, Word};

/// A setting that tc has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    key: &'static str,
    form: TcForm,
    unsaid: Option<&'static str>,
}

const fn set(key: &'static str, form: TcForm) -> Setting {
    let unsaid = None;
    Setting { key, form, unsaid }
}

/// A setting whose value `unsaid` has no words in tc: it is the default when tc is given none.
const fn or(unsaid: &'static str, key: &'static str, form: TcForm) -> Setting {
    let unsaid = Some(unsaid);
    Setting { key, form, unsaid }
}

/// The opposite of a setting that is on or off in tc's words, if tc has a rule for it.
fn opposite(key: &str) -> String {
    match key {
        "ingress" => "egress".to_owned(),
        "split_gso" => "no-split-gso".to_owned(),
        _ => format!("no{key}"),
    }
}

const ECN: Setting = set("ecn", Switch);
const BYTEMODE: Setting = set("bytemode", Switch);
const DQ_RATE: Setting = set(
    "dq_rate_estimator",
    Flag("dq_rate_estimator", "no_dq_rate_estimator"),
);
const CE_THRESHOLD: Setting = or("off", "ce_threshold", Time);
const NAT: Setting = set("nat", Switch);
const SPLIT_GSO: Setting = set("split_gso", Switch);

/// The value of a [`Degree`] that is more than yes, and all of them in an error.
const AGGRESSIVE: &str = "aggressive";
const DEGREES: &str = "no, yes or aggressive";

/// A discipline that tc has.
#[derive(Debug)]
pub struct Spelling {
    /// Its name, in tc and here.
    pub name: &'static str,
    /// Settings that our discipline of this name declares too.
    declared: Declared,
    /// Settings of the kernel's alone.
    kernel: &'static [Setting],
}

/// Settings of a discipline in the simulator that tc has too.
#[derive(Debug)]
enum Declared {
    /// As its manual page has them.
    Listed(&'static [Setting]),
    /// All of them: our own plugins spell each by its kind.
    Ours(&'static [Spec]),
}

/// There is one of each name.
impl PartialEq for Spelling {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Spelling {}

const fn plain(name: &'static str, declared: &'static [Setting]) -> Spelling {
    Spelling {
        name,
        declared: Declared::Listed(declared),
        kernel: &[],
    }
}

const fn ours(
    name: &'static str,
    declared: &'static [Spec],
    kernel: &'static [Setting],
) -> Spelling {
    Spelling {
        name,
        declared: Declared::Ours(declared),
        kernel,
    }
}

/// From tc-pfifo(8), tc-codel(8), tc-fq_codel(8), tc-cake(8), tc-red(8), tc-pie(8), tc-fq_pie(8),
/// tc-fq(8), tc-hhf(8), tc-prio(8), tc-confucius(8), tc-mencius(8) and tc-floq(8).
pub const DISCIPLINES: &[Spelling] = &[
    plain("pfifo", &[set("limit", Count)]),
    plain("bfifo", &[set("limit", Size)]),
    plain(
        "codel",
        &[
            set("limit", Count),
            set("target", Time),
            set("interval", Time),
            ECN,
            CE_THRESHOLD,
        ],
    ),
    plain(
        "fq_codel",
        &[
            set("limit", Count),
            set("flows", Count),
            set("quantum", Size),
            set("target", Time),
            set("interval", Time),
            ECN,
            CE_THRESHOLD,
            set("memory_limit", Size),
            set("drop_batch", Count),
        ],
    ),
    Spelling {
        name: "cake",
        declared: Declared::Listed(&[
            or("unlimited", "bandwidth", AsRate),
            set("diffserv", Word),
            set("flowmode", Word),
            set("rtt", Time),
            set("ingress", Switch),
            set("overhead", Number),
            set("mpu", Count),
            set("atm", Word),
            or("auto", "memlimit", Size),
        ]),
        kernel: &[
            NAT,
            set("wash", Switch),
            set("split_gso", Flag("split-gso", "no-split-gso")),
            set(
                "ack_filter",
                Degree(["no-ack-filter", "ack-filter", "ack-filter-aggressive"]),
            ),
            set("fwmark", Count),
        ],
    },
    plain(
        "red",
        &[
            set("limit", Size),
            set("min", Size),
            set("max", Size),
            set("probability", Number),
            set("avpkt", Size),
            set("burst", Count),
            set("bandwidth", AsRate),
            set("ecn", Flag("ecn", "")),
            set("harddrop", Flag("harddrop", "")),
            set("nodrop", Flag("nodrop", "")),
            set("adaptive", Flag("adaptive", "")),
        ],
    ),
    plain(
        "pie",
        &[
            set("limit", Count),
            set("target", Time),
            set("tupdate", Time),
            set("alpha", Count),
            set("beta", Count),
            ECN,
            BYTEMODE,
            DQ_RATE,
        ],
    ),
    plain(
        "fq_pie",
        &[
            set("limit", Count),
            set("flows", Count),
            set("target", Time),
            set("tupdate", Time),
            set("alpha", Count),
            set("beta", Count),
            set("quantum", Size),
            set("memory_limit", Size),
            set("ecn_prob", Count),
            ECN,
            BYTEMODE,
            DQ_RATE,
        ],
    ),
    plain(
        "fq",
        &[
            set("limit", Count),
            set("flow_limit", Count),
            set("quantum", Size),
            set("initial_quantum", Size),
            set("refill_delay", Time),
            set("pacing", Switch),
            or("off", "maxrate", AsRate),
            set("low_rate_threshold", AsRate),
            CE_THRESHOLD,
            set("orphan_mask", Count),
        ],
    ),
    plain(
        "hhf",
        &[
            set("limit", Count),
            set("quantum", Size),
            set("non_hh_weight", Count),
            set("hh_limit", Count),
            set("admit_bytes", Size),
            set("reset_timeout", Time),
            set("evict_timeout", Time),
        ],
    ),
    plain("prio", &[]),
    ours("confucius", ConfuciusParams::SPECS, &[NAT, SPLIT_GSO]),
    ours(
        "mencius",
        MenciusParams::SPECS,
        &[NAT, SPLIT_GSO, set("shared", Flag("shared", "alone"))],
    ),
    ours("floq", FloqParams::SPECS, &[NAT, SPLIT_GSO]),
];

/// A value that tc cannot express.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadValue {
    /// It is of another kind.
    #[error(transparent)]
    Kind(#[from] ParseError),
    /// tc has no unit of nanoseconds.
    #[error("{0} is not a whole number of microseconds")]
    Nanoseconds(Duration),
    /// tc keeps microseconds in 32 bits.
    #[error("{0} is longer than tc can express, 4294 s")]
    TooLong(Duration),
    /// It is not one word of harmless characters.
    #[error("{0:?} is not a number or a word")]
    NotAWord(String),
}

impl Spelling {
    /// A discipline for which tc is given its name alone.
    pub(crate) const fn bare(name: &'static str) -> Self {
        plain(name, &[])
    }

    /// The discipline called `name`.
    pub fn of(name: &str) -> Option<&'static Spelling> {
        DISCIPLINES.iter().find(|known| known.name == name)
    }

    /// Settings that our discipline of this name declares too.
    pub fn declared(&self) -> impl Iterator<Item = Setting> + use<> {
        let (listed, specs): (&[Setting], &[Spec]) = match self.declared {
            Declared::Listed(settings) => (settings, &[]),
            Declared::Ours(specs) => (&[], specs),
        };
        listed.iter().copied().chain(specs.iter().map(Setting::of))
    }

    /// Every setting that our discipline of this name declares, with its value: that of `settings`, or
    /// else the simulator's for a link with `limit` that has the home's computers on this side. The
    /// kernel's own default may be another, by its version or by the device: a `pfifo` has 1000 packets
    /// on Ethernet, 32 on an ifb, and 3 on a ppp.
    ///
    /// # Errors
    /// If our discipline refuses a setting.
    pub fn stated(
        &self,
        settings: &Settings,
        limit: Option<Limit>,
        home: Option<Home>,
    ) -> Result<Vec<(Setting, String)>, Refusal> {
        let is_declared = |key: &str| self.declared().any(|setting| setting.key == key);
        let ours = settings.iter().filter(|(key, _)| is_declared(key));
        let choice = Choice {
            settings: ours.cloned().collect(),
            ..Choice::plain(self.name)
        };
        let env = Env {
            limit,
            home,
            ..Env::default()
        };
        let params = Registry::<()>::builtin().build(&choice, &env)?.params();
        let value = |setting: Setting| {
            let found = params.iter().find(|(name, _)| *name == setting.key);
            found.map(|(_, value)| (setting, value.clone()))
        };
        Ok(self.declared().filter_map(value).collect())
    }

    /// Settings of the kernel's alone.
    pub fn kernel(&self) -> impl Iterator<Item = Setting> + use<> {
        self.kernel.iter().copied()
    }

    /// All settings, those of the kernel's alone among them.
    pub fn settings(&self) -> impl Iterator<Item = Setting> + use<> {
        self.declared().chain(self.kernel())
    }
}

impl Setting {
    /// How our plugins of tc spell a parameter.
    fn of(spec: &'static Spec) -> Self {
        let form = match spec.kind {
            "count" => Count,
            "signed count" => Number,
            "size" => Size,
            "duration" => Time,
            "yes or no" => Switch,
            "rate or unlimited" => return or("unlimited", spec.name, AsRate),
            _ => Text,
        };
        set(spec.name, form)
    }

    /// Its name, as users write it.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Whether it is a number of bytes.
    pub fn is_size(&self) -> bool {
        self.form == Size
    }

    /// Whether `value` is the default when tc is given none, and has no words.
    pub fn is_unsaid(&self, value: &str) -> bool {
        self.unsaid == Some(value.trim())
    }

    /// The words for `value`, as a user writes it.
    ///
    /// # Errors
    /// If it is of another kind, or tc has no words for it.
    pub fn words(&self, value: &str) -> Result<String, BadValue> {
        let value = match self.form {
            Count => u64::parse(value)?.to_string(),
            Number => f64::parse(value)?.to_string(),
            Text => word(value)?.to_owned(),
            Size => size(Bytes::parse(value)?),
            Time => time(Duration::parse(value)?)?,
            AsRate => rate(Rate::parse(value)?),
            Word => return Ok(word(value)?.to_owned()),
            Flag(yes, no) => {
                let on = bool::parse(value)?;
                return Ok((if on { yes } else { no }).to_owned());
            }
            Switch if bool::parse(value)? => return Ok(self.key.to_owned()),
            Switch => return Ok(opposite(self.key)),
            Degree([.., most]) if value.trim() == AGGRESSIVE => return Ok(most.to_owned()),
            Degree([no, yes, _]) => {
                let on = bool::parse(value).map_err(|_| ParseError::new(value, DEGREES))?;
                return Ok((if on { yes } else { no }).to_owned());
            }
        };
        Ok(format!("{} {value}", self.key))
    }
}

/// A number of bytes without a unit: tc's units differ from ours (its `kb` is 1024).
pub fn size(size: Bytes) -> String {
    size.get().to_string()
}

/// A rate as a whole number of a unit: tc computes in floating point, and a fraction may lose the
/// last bit/s.
pub fn rate(rate: Rate) -> String {
    let bits = rate.as_bits();
    let units = [("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1000)];
    let whole = |(_, factor): &(&str, u64)| bits >= *factor && bits.is_multiple_of(*factor);
    let (unit, factor) = units.into_iter().find(whole).unwrap_or(("bit", 1));
    format!("{}{unit}", bits / factor)
}

/// A time in whole milliseconds or microseconds.
///
/// # Errors
/// If it is neither, or too long.
pub fn time(time: Duration) -> Result<String, BadValue> {
    let ns = time.as_nanos();
    if !ns.is_multiple_of(1000) {
        return Err(BadValue::Nanoseconds(time));
    }
    let us = ns / 1000;
    if us > u64::from(u32::MAX) {
        return Err(BadValue::TooLong(time));
    }
    Ok(if us.is_multiple_of(1000) {
        format!("{}ms", us / 1000)
    } else {
        format!("{us}us")
    })
}

fn word(value: &str) -> Result<&str, BadValue> {
    let value = value.trim();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    if value.is_empty() || !value.chars().all(allowed) || value.starts_with('-') {
        return Err(BadValue::NotAWord(value.chars().take(60).collect()));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use qdisc::registry::Registry;

    fn words(name: &str, key: &str, value: &str) -> Result<String, BadValue> {
        let spelling = Spelling::of(name).unwrap();
        let setting = spelling.settings().find(|setting| setting.key == key);
        setting.unwrap().words(value)
    }

    #[test]
    fn values_in_tcs_words() {
        for (name, key, value, expected) in [
            ("pfifo", "limit", " 010", "limit 10"),
            ("bfifo", "limit", "15kB", "limit 15000"),
            ("cake", "overhead", "-20", "overhead -20"),
            ("cake", "flowmode", "dual-srchost ", "dual-srchost"),
            ("cake", "ingress", "no", "egress"),
            ("cake", "rtt", "1s", "rtt 1000ms"),
            ("cake", "ack_filter", "yes", "ack-filter"),
            ("cake", "ack_filter", "no", "no-ack-filter"),
            ("cake", "ack_filter", "aggressive", "ack-filter-aggressive"),
            ("cake", "memlimit", "4MB", "memlimit 4000000"),
            ("cake", "fwmark", "255", "fwmark 255"),
            ("fq", "maxrate", "20mbit", "maxrate 20mbit"),
            ("fq", "maxrate", "20.5mbit", "maxrate 20500kbit"),
            ("fq", "maxrate", "20000001bit", "maxrate 20000001bit"),
            (
                "fq",
                "low_rate_threshold",
                "0bit",
                "low_rate_threshold 0bit",
            ),
            ("red", "probability", "0.020", "probability 0.02"),
            ("red", "ecn", "no", ""),
            ("pie", "dq_rate_estimator", "no", "no_dq_rate_estimator"),
            ("confucius", "scale", "1.5ms", "scale 1500us"),
            ("confucius", "targets", "10/50", "targets 10/50"),
            ("confucius", "quantum", "3kB", "quantum 3000"),
            ("mencius", "quantum", "3000", "quantum 3000"),
            ("mencius", "overhead", "-4", "overhead -4"),
            ("mencius", "framing", "ptm", "framing ptm"),
            ("mencius", "ingress", "no", "egress"),
            ("mencius", "shared", "no", "alone"),
            ("floq", "ecn", "no", "noecn"),
            ("floq", "split_gso", "no", "no-split-gso"),
        ] {
            assert_eq!(words(name, key, value).unwrap(), expected);
        }
    }

    #[test]
    fn what_tc_cannot_be_told() {
        for (name, key, value, part) in [
            ("pfifo", "limit", "-1", "whole number"),
            ("codel", "target", "1500ns", "whole number of microseconds"),
            ("cake", "rtt", "2h", "longer than tc can express"),
            (
                "cake",
                "diffserv",
                "besteffort root",
                "not a number or a word",
            ),
            ("confucius", "targets", "-1", "not a number or a word"),
            ("confucius", "nat", "perhaps", "yes or no"),
            ("cake", "ack_filter", "much", "yes or aggressive"),
        ] {
            let error = words(name, key, value).unwrap_err().to_string();
            assert!(error.contains(part), "{name} {key}: {error}");
        }
    }

    #[test]
    fn every_setting_is_declared_and_its_default_has_words() {
        let registry = Registry::<()>::builtin();
        for spelling in DISCIPLINES {
            let declared = registry.get(spelling.name).unwrap().params;
            for setting in spelling.declared() {
                let found = declared.iter().find(|spec| spec.name == setting.key);
                let spec = found.unwrap_or_else(|| panic!("{} {}", spelling.name, setting.key));
                let words = setting.words(spec.default);
                assert!(
                    words.is_ok() || setting.is_unsaid(spec.default),
                    "{words:?}"
                );
            }
            for setting in spelling.kernel() {
                assert!(declared.iter().all(|spec| spec.name != setting.key));
            }
        }
    }
}
