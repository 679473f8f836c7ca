//! The configuration of cake-autorate, which is shell: assignments of plain values are read, and nothing is run.

use command::Refused;
use core::fmt::Write as _;
use std::path::Path;

/// The values that say what is shaped, and what cake-autorate takes without them (github.com/lynxthecat/cake-autorate,
/// defaults.sh at 0703979; `upload_only` of config.primary.sh).
const USED: [(&str, &str); 9] = [
    ("ul_if", "wan"),
    ("dl_if", "ifb-wan"),
    ("upload_only", "0"),
    ("adjust_ul_shaper_rate", "1"),
    ("adjust_dl_shaper_rate", "1"),
    ("min_ul_shaper_rate_kbps", "5000"),
    ("max_ul_shaper_rate_kbps", "35000"),
    ("min_dl_shaper_rate_kbps", "5000"),
    ("max_dl_shaper_rate_kbps", "80000"),
];
/// The rates of directions that it leaves alone; of others they have no counterpart.
const BASES: [(&str, &str); 2] = [
    ("base_ul_shaper_rate_kbps", "20000"),
    ("base_dl_shaper_rate_kbps", "20000"),
];
/// How the names of its other settings begin, and why they have no counterpart.
const WITHOUT: [(&[&str], &str); 4] = [
    (
        &["output_", "debug", "log_"],
        "each change is a line on standard output, with its reason",
    ),
    (
        &[
            "pinger_",
            "reflector",
            "randomize_",
            "retain_",
            "no_pingers",
            "ping_",
            "irtt_",
            "startup_",
            "global_ping_",
            "enable_sleep_",
            "connection_",
            "sustained_",
            "stall_",
            "if_up_",
        ],
        "no pings are sent, and nothing sleeps",
    ),
    (
        &[
            "dl_avg_owd_",
            "ul_avg_owd_",
            "dl_owd_",
            "ul_owd_",
            "bufferbloat_",
            "alpha_",
            "shaper_rate_",
            "high_load_",
            "decay_",
            "monitor_",
            "min_shaper_rates_",
        ],
        "how fast a rate changes follows from what is measured; --favour says what to spare",
    ),
    (
        &["base_"],
        "a rate that is hardly used stays, or returns to what the line usually carries",
    ),
];

/// A configuration: its lines, by their numbers.
#[derive(Debug, Default)]
pub struct Configuration {
    lines: Vec<ConfigLine>,
}

#[derive(Debug)]
struct ConfigLine {
    number: usize,
    /// What it sets; none if it is no assignment of a plain value.
    name: Option<String>,
    /// The value, or the line.
    text: String,
}

impl Configuration {
    /// Reads it.
    ///
    /// # Errors
    /// If a value that is used is no plain one.
    pub fn parse(file: &Path, text: &str) -> Result<Self, Refused> {
        let mut found = Configuration::default();
        let mut list = false;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if list {
                list = !line.contains(')');
                continue;
            }
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match assignment(line) {
                Assigned::Plain(name, value) => found.add(number, Some(name), value),
                Assigned::List(name, closed) => {
                    found.add(number, Some(name), "(...)");
                    list = !closed;
                }
                Assigned::Not => {
                    let name = line.split('=').next().unwrap_or_default();
                    if USED.iter().chain(&BASES).any(|(used, _)| *used == name) {
                        let line = scenario::printable(line, 80);
                        let message = format!(
                            "{}:{number}: found {line}, expected {name}= and a plain value",
                            file.display()
                        );
                        return Err(Refused::new(
                            &message,
                            "write the value itself: nothing is run",
                        ));
                    }
                    found.add(number, None, line);
                }
            }
        }
        if !USED
            .iter()
            .chain(&BASES)
            .any(|(name, _)| found.line(name).is_some())
        {
            let file = file.display();
            let message = format!(
                "{file}: found no setting of a rate or a device, expected a configuration of cake-autorate"
            );
            let help = "it is config.primary.sh or such in its folder, and not cake-autorate.sh";
            return Err(Refused::new(&message, help));
        }
        Ok(found)
    }

    fn add(&mut self, number: usize, name: Option<&str>, text: &str) {
        let (name, text) = (name.map(str::to_owned), text.to_owned());
        self.lines.push(ConfigLine { number, name, text });
    }

    /// The line that sets a name: the last one counts.
    fn line(&self, name: &str) -> Option<&ConfigLine> {
        let sets = |line: &&ConfigLine| line.name.as_deref() == Some(name);
        self.lines.iter().rev().find(sets)
    }

    /// The value of a name that is used.
    fn value(&self, name: &str) -> &str {
        let default = USED.iter().chain(&BASES).find(|(used, _)| *used == name);
        let own = self.line(name).map(|line| line.text.as_str());
        own.or(default.map(|(_, value)| *value)).unwrap_or_default()
    }

    /// The devices whose rates it sets.
    pub fn devices(&self) -> [&str; 2] {
        [self.value("ul_if"), self.value("dl_if")]
    }

    /// Our command for it.
    ///
    /// # Errors
    /// If a value is none.
    pub fn command(&self, file: &Path) -> Result<String, Refused> {
        let device = self.value("ul_if");
        let device = crate::on_host::device(&self.place(file, "ul_if"), device)?;
        let up = self.rate(file, "ul")?;
        let mut command = format!("analects tc apply --dev {device} --discipline cake --up {up}");
        if !self.is(file, "upload_only")? {
            _ = write!(command, " --down {}", self.rate(file, "dl")?);
        }
        Ok(command)
    }

    fn rate(&self, file: &Path, way: &str) -> Result<String, Refused> {
        let rate = |end: &str| {
            let name = format!("{end}_{way}_shaper_rate_kbps");
            let value = self.value(&name);
            let kbit: u64 = value.parse().unwrap_or(0);
            let rate = netcfg::ShapedRate::try_from(kbit.saturating_mul(1000));
            rate.map_err(|_| self.wrong(file, &name, "kbit/s, 64 to 100000000"))
        };
        if self.is(file, &format!("adjust_{way}_shaper_rate"))? {
            Ok(format!("{}..{}", rate("min")?, rate("max")?))
        } else {
            Ok(rate("base")?.to_string())
        }
    }

    fn is(&self, file: &Path, name: &str) -> Result<bool, Refused> {
        match self.value(name) {
            "1" => Ok(true),
            "0" => Ok(false),
            _ => Err(self.wrong(file, name, "0 or 1")),
        }
    }

    fn wrong(&self, file: &Path, name: &str, expected: &str) -> Refused {
        let found = scenario::printable(self.value(name), 80);
        let place = self.place(file, name);
        Refused::new(&format!("{place}: found {found}, expected {expected}"), "")
    }

    fn place(&self, file: &Path, name: &str) -> String {
        match self.line(name) {
            Some(line) => format!("{}:{}: {name}", file.display(), line.number),
            None => format!("{name}, which {} leaves out", file.display()),
        }
    }

    /// A line for each that the command does not say: what is not understood, what has no counterpart, and
    /// what is cake-autorate's own default.
    pub fn notes(&self, file: &Path) -> Vec<String> {
        let notes = self.lines.iter().filter_map(|line| self.note(file, line));
        let missing = USED.iter().filter(|(name, _)| self.line(name).is_none());
        let defaults = missing.map(|(name, value)| {
            format!("{}: no {name}: cake-autorate's own {value}", file.display())
        });
        notes.chain(defaults).collect()
    }

    /// What is said of a line, unless the command says it.
    fn note(&self, file: &Path, line: &ConfigLine) -> Option<String> {
        let (place, text) = (file.display(), scenario::printable(&line.text, 80));
        let number = line.number;
        let Some(name) = &line.name else {
            return Some(format!(
                "{place}:{number}: not understood, and not run: {text}"
            ));
        };
        let way = name.get(5..7).unwrap_or_default();
        let stays = BASES.iter().any(|(base, _)| base == name)
            && self.value(&format!("adjust_{way}_shaper_rate")) == "0";
        if stays || USED.iter().any(|(used, _)| used == name) {
            return None;
        }
        let begins = |parts: &&[&str]| parts.iter().any(|part| name.starts_with(part));
        Some(match WITHOUT.iter().find(|(parts, _)| begins(parts)) {
            Some((_, why)) => format!("{place}:{number}: {name}={text}: no counterpart: {why}"),
            None => format!(
                "{place}:{number}: {name}={text}: not a name of cake-autorate that is known here"
            ),
        })
    }
}

/// What a line assigns.
enum Assigned<'a> {
    Plain(&'a str, &'a str),
    /// A list, and whether it ends in its line.
    List(&'a str, bool),
    Not,
}

fn assignment(line: &str) -> Assigned<'_> {
    let Some((name, rest)) = line.split_once('=') else {
        return Assigned::Not;
    };
    let named = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty() || !name.chars().all(named) {
        return Assigned::Not;
    }
    if let Some(list) = rest.strip_prefix('(') {
        return if list.contains(['$', '`']) {
            Assigned::Not
        } else {
            Assigned::List(name, list.contains(')'))
        };
    }
    match plain(rest) {
        Some((value, behind)) if is_comment(behind) => Assigned::Plain(name, value),
        _ => Assigned::Not,
    }
}

/// A value without anything that a shell would replace, and what is behind it.
fn plain(text: &str) -> Option<(&str, &str)> {
    let quote = text
        .chars()
        .next()
        .filter(|letter| ['"', '\''].contains(letter));
    let (value, behind) = match quote {
        Some(quote) => text[1..].split_once(quote)?,
        None => text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())),
    };
    let bad: &[char] = match quote {
        Some('\'') => &[],
        Some(_) => &['$', '`', '\\'],
        None => &[
            '$', '`', '\\', '"', '\'', ';', '&', '|', '<', '>', '(', ')', '*', '?', '[', '~', '{',
            '#',
        ],
    };
    (!value.contains(bad)).then_some((value, behind))
}

fn is_comment(behind: &str) -> bool {
    let text = behind.trim_start();
    text.is_empty() || text.starts_with('#') && text.len() < behind.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Result<(String, Vec<String>), String> {
        let file = Path::new("config.primary.sh");
        let said = |refused: Refused| refused.to_string();
        let found = Configuration::parse(file, text).map_err(said)?;
        Ok((found.command(file).map_err(said)?, found.notes(file)))
    }

    #[test]
    fn the_command_that_corresponds() {
        let text = "#!/usr/bin/env bash\n\ndl_if=ifb4eth1 # download\nul_if='eth1'\n\
            min_dl_shaper_rate_kbps=10000  # minimum\nmax_dl_shaper_rate_kbps=\"90000\"\n\
            base_dl_shaper_rate_kbps=25000\nreflectors=(\n\"1.1.1.1\" \"8.8.8.8\"\n)\npinger_method=fping\n\
            no_such_thing=1\n. /root/more.sh\nmin_ul_shaper_rate_kbps=2000\n";
        let (command, notes) = of(text).unwrap();
        assert_eq!(
            command,
            "analects tc apply --dev eth1 --discipline cake --up 2mbit..35mbit --down 10mbit..90mbit"
        );
        for part in [
            "config.primary.sh:7: base_dl_shaper_rate_kbps=25000: no counterpart",
            "config.primary.sh:8: reflectors=(...): no counterpart: no pings",
            "config.primary.sh:12: no_such_thing=1: not a name",
            "config.primary.sh:13: not understood, and not run: . /root/more.sh",
            "config.primary.sh: no max_ul_shaper_rate_kbps: cake-autorate's own 35000",
        ] {
            assert!(
                notes.iter().any(|note| note.starts_with(part)),
                "{part}: {notes:#?}"
            );
        }
        assert!(
            !notes.iter().any(|note| note.contains(".sh:5:")),
            "{notes:#?}"
        );
    }

    #[test]
    fn directions_that_it_leaves_alone_stay() {
        let up_only = "upload_only=1\nadjust_ul_shaper_rate=0\nbase_ul_shaper_rate_kbps=9000\n";
        let (command, notes) = of(up_only).unwrap();
        assert_eq!(
            command,
            "analects tc apply --dev wan --discipline cake --up 9mbit"
        );
        assert!(
            !notes.iter().any(|note| note.contains("base_ul")),
            "{notes:#?}"
        );
    }

    #[test]
    fn what_a_shell_would_have_to_run_is_refused_where_it_counts() {
        for (line, part) in [
            ("min_dl_shaper_rate_kbps=$((5 * 1000))", ".sh:1: found"),
            ("ul_if=$(uci get network.wan.device)", ".sh:1: found"),
            ("ul_if=`id`", "nothing"),
            ("ul_if=\"wan$X\"", ".sh:1: found"),
            ("ul_if=wan; reboot", ".sh:1: found"),
            ("ul_if=wan reboot", ".sh:1: found"),
            ("ul_if=a/b", "ul_if"),
            ("max_dl_shaper_rate_kbps=fast", "expected kbit/s"),
            ("adjust_dl_shaper_rate=yes", "expected 0 or 1"),
        ] {
            let refused = of(line).unwrap_err();
            assert!(
                refused.contains(part) || part == "nothing",
                "{line}: {refused}"
            );
        }
        assert!(
            of("output_cpu_stats=1\n")
                .unwrap_err()
                .contains("found no setting")
        );
        // Where it does not count it is told.
        let (_, notes) =
            of("log_file_path_override=$HOME\nreflectors=($(cat list))\nul_if=wan\n").unwrap();
        assert!(
            notes[0].contains(":1: not understood, and not run: log_file"),
            "{notes:#?}"
        );
        assert!(notes[1].contains(":2: not understood"), "{notes:#?}");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z_=\"'$`()#; \n0-9é]{0,200}") {
            let _ = of(&text);
        }
    }
}
