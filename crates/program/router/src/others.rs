//! Other programs of this host that shape a device, or set its shaper's rates: SQM, cake-autorate and its kin.

mod cake_autorate;

use cake_autorate::Configuration;
use command::{Refused, print};
use netcfg::Device;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Most bytes of a configuration.
const MOST: u64 = 64 << 10;
/// How the names of programs begin that set the rates of a shaper.
const KIN: [&str; 2] = ["cake-autorate", "sqm-autorate"];

/// What runs scripts.
const INTERPRETERS: [&str; 6] = ["bash", "sh", "ash", "busybox", "lua", "python3"];

/// Another program, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub struct Other {
    /// What it is, and what it does.
    pub what: String,
    /// How to end it.
    pub end: String,
}

/// Names those of `devices`, and refuses to go on beside them, unless `beside`.
///
/// # Errors
/// If there are some.
pub fn look(devices: &[&Device], beside: bool) -> Result<(), Refused> {
    let others = of(Path::new("/"), devices);
    let Some(first) = others.first() else {
        return Ok(());
    };
    if !beside {
        let all: Vec<&str> = others.iter().map(|other| other.what.as_str()).collect();
        return Err(Refused::new(&all.join("; "), &first.end));
    }
    for Other { what, end } in &others {
        eprintln!("{what}: {end}");
    }
    Ok(())
}

/// Those that are known below `root` to shape one of `devices`.
fn of(root: &Path, devices: &[&Device]) -> Vec<Other> {
    let names: Vec<String> = devices.iter().map(ToString::to_string).collect();
    let mut others = sqm(root, &names);
    let processes = std::fs::read_dir(root.join("proc")).into_iter().flatten();
    for process in processes.flatten() {
        let number = process.file_name().to_string_lossy().into_owned();
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let words: Vec<String> = line
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        others.extend(follower(root, &words, &number, &names));
    }
    // Each of them is several processes of one command line.
    others.dedup_by(|a, b| a.end == b.end);
    others
}

/// A process that sets the rates of one of the devices, or may.
fn follower(root: &Path, words: &[String], number: &str, names: &[String]) -> Option<Other> {
    let base = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    // A script behind its interpreter, or a program.
    let program = words.iter().map(base).find(|word| {
        let interpreter = word.starts_with('-') || INTERPRETERS.contains(&word.as_str());
        !interpreter
    })?;
    let kin = KIN.iter().find(|kin| program.starts_with(**kin))?;
    let config = words
        .iter()
        .find(|word| base(word).starts_with("config.") && word.ends_with(".sh"));
    let mut what = format!("{kin} (process {number}");
    if let Some(config) = config {
        let path = Path::new(config);
        what += &format!(", {}", scenario::printable(config, 200));
        let text = small(&root.join(path.strip_prefix("/").unwrap_or(path)));
        // One that cannot be read may be about this device.
        let about = text
            .ok()
            .and_then(|text| Configuration::parse(path, &text).ok());
        if about.is_some_and(|it| {
            !it.devices()
                .iter()
                .any(|own| names.iter().any(|name| name == own))
        }) {
            return None;
        }
    }
    let devices = names.join(" and ");
    Some(Other {
        what: format!("{what}) sets rates, perhaps those of {devices}"),
        end: format!(
            "end it (`service {kin} stop; service {kin} disable`, or kill it); `analects autorate --from-cake-autorate {}` prints what corresponds",
            config.map_or("FILE", |config| config.as_str())
        ),
    })
}

/// SQM's sections in UCI that are enabled for one of the devices.
fn sqm(root: &Path, names: &[String]) -> Vec<Other> {
    let file = "/etc/config/sqm";
    let text = small(&root.join("etc/config/sqm")).unwrap_or_default();
    let mut others = Vec::new();
    let (mut section, mut enabled, mut interface) = (None, false, None);
    let mut place = 0;
    for (number, line) in (1..).zip(text.lines().chain(["config end"])) {
        let mut words = line.split_whitespace();
        let (first, second) = (words.next(), words.next());
        let value = words.next().unwrap_or_default();
        let value = value.trim_matches(['\'', '"']);
        match (first, second) {
            (Some("config"), _) => {
                let own = interface
                    .take()
                    .filter(|name| enabled && names.contains(name));
                if let (Some(name), Some(section)) = (own, section) {
                    others.push(Other {
                        what: format!("SQM shapes {name} ({file}:{place})"),
                        end: format!(
                            "switch it off: `uci set sqm.{section}.enabled=0; uci commit sqm; service sqm reload`"
                        ),
                    });
                }
                let named = scenario::printable(value, 60);
                let number_of = text
                    .lines()
                    .take(number - 1)
                    .filter(|line| line.trim_start().starts_with("config "));
                let unnamed = format!("@queue[{}]", number_of.count());
                section = Some(if named.is_empty() { unnamed } else { named });
                (enabled, place) = (false, number);
            }
            (Some("option"), Some("enabled")) => enabled = value == "1",
            (Some("option"), Some("interface")) => interface = Some(value.to_owned()),
            _ => (),
        }
    }
    others
}

/// Prints our command for a configuration of cake-autorate, and says what it does not have.
///
/// # Errors
/// If it cannot be read, or a value that is used is none.
pub fn migrate(file: &Path) -> Result<(), Refused> {
    let text = small(file).map_err(|why| {
        let help = "name its configuration, such as /root/cake-autorate/config.primary.sh";
        Refused::new(
            &format!("--from-cake-autorate: {}: {why}", file.display()),
            help,
        )
    })?;
    let found = Configuration::parse(file, &text)?;
    let command = found.command(file)?;
    for note in found.notes(file) {
        eprintln!("{note}");
    }
    print(&format!("{command}\n"))
}

/// The text of a small file.
fn small(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    let read = file.take(MOST + 1).read_to_string(&mut text);
    if read.map_err(|error| error.to_string())? as u64 > MOST {
        Err(format!(
            "found more than {MOST} bytes, expected a configuration"
        ))
    } else {
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found for wan below a root with these files.
    fn found(files: &[(&str, &str)]) -> Vec<Other> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let wan: Device = "wan".parse().unwrap();
        of(root.path(), &[&wan, &wan.shaped_ingress()])
    }

    const SQM: &str = "config queue 'eth1'\n\toption enabled '0'\n\toption interface 'wan'\n\n\
        config queue\n\toption interface 'wan'\n\toption enabled '1'\n";

    #[test]
    fn sqm_is_named_where_it_is_enabled() {
        let others = found(&[("etc/config/sqm", SQM)]);
        assert_eq!(others.len(), 1, "{others:?}");
        assert_eq!(others[0].what, "SQM shapes wan (/etc/config/sqm:5)");
        assert!(
            others[0].end.contains("uci set sqm.@queue[1].enabled=0"),
            "{others:?}"
        );
        assert_eq!(found(&[("etc/config/sqm", &SQM.replace("'1'", "'0'"))]), []);
        assert_eq!(
            found(&[("etc/config/sqm", &SQM.replace("wan", "eth7"))]),
            []
        );
    }

    #[test]
    fn cake_autorate_is_named_with_its_configuration() {
        let line =
            "bash\0/root/cake-autorate/cake-autorate.sh\0/root/cake-autorate/config.primary.sh\0";
        let config = "root/cake-autorate/config.primary.sh";
        let of = |text: &str| {
            found(&[
                ("proc/77/cmdline", line),
                ("proc/78/cmdline", line),
                ("proc/9/cmdline", "vi\0/root/cake-autorate.sh\0"),
                ("proc/self/cmdline", line),
                (config, text),
            ])
        };
        let others = of("ul_if=wan\n");
        assert!(
            others.iter().any(|other| {
                other.what.starts_with(
                    "cake-autorate (process 77, /root/cake-autorate/config.primary.sh) sets rates",
                )
            }),
            "{others:?}"
        );
        assert!(
            others[0]
                .end
                .contains("--from-cake-autorate /root/cake-autorate/config.primary.sh")
        );
        // It follows another line, or nobody knows which.
        assert_eq!(of("ul_if=eth7\ndl_if=ifb-eth7\n"), []);
        assert!(!of("ul_if=$(x)\n").is_empty());
        let kin = found(&[(
            "proc/5/cmdline",
            "lua\0/usr/lib/sqm-autorate/sqm-autorate.lua\0",
        )]);
        assert!(
            kin[0]
                .what
                .starts_with("sqm-autorate (process 5) sets rates"),
            "{kin:?}"
        );
        assert_eq!(
            found(&[("proc/5/cmdline", "less\0README\0cake-autorate\0")]),
            []
        );
    }
}
