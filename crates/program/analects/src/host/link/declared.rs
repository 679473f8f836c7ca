//! The link that a scenario, or a preset, and the options declare: one form for `link` and `browser`, and the reader
//! and the builder that the simulator has.

use crate::cli::LinkArgs;
use crate::compare::run;
use crate::own;
use crate::runs::traces;
use command::{Refused, renamed};
use link::{Capacity, Line, Link};
use live::Frame;
use measure::build::Direction;
use qdisc::{Choice, Env, Registry};
use scenario::{Document, Names, files, presets};
use std::path::Path;
use units::{Duration, Rate};

type Result<T> = core::result::Result<T, Refused>;

/// Where disciplines are listed.
pub const CHOICES: &str = "`analects list disciplines` lists the disciplines";
/// The discipline, if nothing names one.
const DEFAULT: &str = "pfifo";

/// A link for real packets.
pub struct DeclaredLink {
    /// Towards the command.
    pub down: Link<Frame>,
    /// Away from it.
    pub up: Link<Frame>,
    /// Both directions' delay.
    pub rtt: Duration,
}

impl DeclaredLink {
    /// That of the options.
    pub fn of(args: &LinkArgs) -> Result<DeclaredLink> {
        let document = document(args)?;
        traces::tell(&document, &[]);
        let (mut links, rtt) = document.resolve_links(own::simulator())?;
        let (Some(link), None) = (links.pop(), links.pop()) else {
            let message = format!("{} has several links in a row", document.file);
            let help =
                "put one into another: analects link A.toml -- analects link B.toml -- COMMAND";
            return Err(Refused::new(&message, help));
        };
        if link.follow.is_some() {
            let message = format!(
                "{}: link.autorate: a rate is followed in the simulator only",
                document.file
            );
            return Err(Refused::new(&message, "leave it out, or write the rate"));
        }
        let discipline = discipline(args, &document)?;
        DeclaredLink::built(link, (rtt, args.seed), &discipline)
    }

    fn built(
        mut link: scenario::Link,
        (rtt, seed): (Duration, u64),
        discipline: &Choice,
    ) -> Result<DeclaredLink> {
        // Where the simulator has the rest of the round trip at the far end, there is only the link here.
        link.wire.delay = Duration::from_nanos(rtt.as_nanos() / 2);
        let registry = Registry::<Frame>::builtin();
        let build = |direction: &Direction<'_>| {
            let built = direction.build(&registry, rtt, seed);
            built.map_err(|error| Refused::because(error.refusal.within(&error.entry), CHOICES))
        };
        let up = match Direction::up(&link, discipline) {
            Some(up) => build(&up)?,
            None => delayed(&registry, link.wire.delay)?,
        };
        Ok(DeclaredLink {
            down: build(&Direction::down(&link, discipline))?,
            up,
            rtt,
        })
    }
}

/// Refuses what is no rate, and no trace.
pub fn check_capacity(option: &str, text: &str) -> Result<()> {
    let mut document = Document::unlimited(option);
    set_capacity(&mut document, option, "link", text)?;
    document.resolve_links(own::simulator())?;
    Ok(())
}

/// The scenario that the options begin from, with what they say.
fn document(args: &LinkArgs) -> Result<Document> {
    let mut document = match (&args.scenario, &args.preset) {
        (Some(file), _) => run::parse(file)?,
        (None, Some(name)) => preset(name)?,
        (None, None) => Document::unlimited("link"),
    };
    if let Some(text) = &args.down {
        set_capacity(&mut document, "--down", "link", text)?;
    }
    if let Some(text) = &args.up {
        set_capacity(&mut document, "--up", "link.up", text)?;
    }
    let buffer = args.buffer.as_ref();
    let has_up = document.has("link.up");
    for (option, path, value) in [
        ("--rtt", "link.rtt", args.rtt.as_ref()),
        ("--loss", "link.loss", args.loss.as_ref()),
        ("--buffer", "link.buffer", buffer),
        ("--buffer", "link.up.buffer", buffer.filter(|_| has_up)),
    ] {
        if let Some(value) = value {
            document.set_by(option, path, value)?;
        }
    }
    if let Some(other) = args
        .set
        .iter()
        .find(|setting| !setting.starts_with("link."))
    {
        let message = format!("--set {other}: a link has only what stands in [link]");
        return Err(Refused::new(&message, "write --set link.KEY=VALUE"));
    }
    run::set(&mut document, &args.set)?;
    Ok(document)
}

/// A preset's link, as a document.
fn preset(name: &str) -> Result<Document> {
    let preset = presets::find(name).map_err(|refusal| {
        Refused::because(refusal, "`analects describe presets` describes them")
    })?;
    Ok(Document::parse(preset.name, preset.text)?)
}

/// A rate, or the name of a file with a trace.
fn set_capacity(document: &mut Document, option: &str, way: &str, text: &str) -> Result<()> {
    let key = match text.parse::<Rate>() {
        Ok(_) => "rate",
        Err(_) if text.starts_with(files::GENERATED) || Path::new(text).exists() => "trace",
        Err(_) => {
            let why = files::tilde(Path::new(text)).map_or(String::new(), |why| format!(": {why}"));
            let message = format!("{option}: {text:?} is no rate, and no file{why}");
            let help = "write a rate such as 20mbit, or the name of a trace";
            return Err(Refused::new(&message, help));
        }
    };
    Ok(document.set_by(option, &format!("{way}.{key}"), text)?)
}

/// The discipline of directions that name none: the option's, else the first that the scenario compares.
fn discipline(args: &LinkArgs, document: &Document) -> Result<Choice> {
    let judged = |place: &str, text: &str| {
        let choice = text.parse::<Choice>();
        let judged =
            choice.and_then(|choice| own::simulator().discipline(&choice).map(|()| choice));
        let choice = judged.map_err(|refusal| Refused::because(refusal.within(place), CHOICES))?;
        renamed(own::simulator().disciplines.renamed(&choice).1);
        Ok(choice)
    };
    if let Some(named) = &args.discipline {
        return judged("--discipline", named);
    }
    let first = document.first("disciplines");
    if let Some(first) = first {
        eprintln!(
            "the discipline is {first}, the first of {}; -d names another",
            document.file
        );
    }
    judged("disciplines", first.unwrap_or(DEFAULT))
}

/// The other direction of a link that declares one direction: a delay without a queue.
fn delayed(registry: &Registry<Frame>, delay: Duration) -> Result<Link<Frame>> {
    let choice = DEFAULT.parse::<Choice>();
    let queue = choice.and_then(|choice| registry.build(&choice, &Env::default()));
    let queue = queue.map_err(|refusal| Refused::because(refusal, CHOICES))?;
    let line = Line {
        delay,
        ..Line::new(Capacity::Unlimited)
    };
    Ok(Link::new(queue, line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use scenario::keys;

    fn arguments(words: &[&str]) -> LinkArgs {
        let words = ["analects", "link"].iter().chain(words);
        match Cli::try_parse_from(words).unwrap().command {
            Command::Link(args) => args,
            other => panic!("{other:?}"),
        }
    }

    fn declared(words: &[&str]) -> Document {
        document(&arguments(words)).unwrap()
    }

    /// Whatever says what the other direction carries.
    #[test]
    fn a_buffer_is_that_of_each_direction_there_is() {
        for words in [
            "--buffer 100p",
            "--up generated:w1:1 --buffer 100p",
            "--preset lte --buffer 100p",
        ] {
            let document = declared(&words.split(' ').collect::<Vec<_>>());
            for path in ["link.buffer", "link.up.buffer"] {
                assert_eq!(document.get(path), Some("100p"), "{words}: {path}");
            }
        }
        assert_eq!(declared(&["--down", "5mbit"]).get("link.up.buffer"), None);
    }

    /// A row of the guide's table: a key with a value that is no default, and what becomes of it.
    struct Row {
        key: String,
        setting: String,
        link: String,
        gateway: String,
    }

    fn guide() -> Vec<Row> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let page = std::fs::read_to_string(root.join("docs/guide-researcher.md")).unwrap();
        // Tests run in another folder than readers do.
        let page = page.replace("=scenarios/", &format!("={}/scenarios/", root.display()));
        let head = "| `link.` | `run` | `link` | `gateway` |\n| --- | --- | --- | --- |\n";
        let (_, rows) = page.split_once(head).unwrap();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let setting = cells[1].trim_matches('`');
            Row {
                key: setting.split(['=', '.']).next().unwrap().to_owned(),
                setting: format!("--set=link.{setting}"),
                link: cells[3].to_owned(),
                gateway: cells[4].to_owned(),
            }
        };
        let rows = rows.lines().take_while(|line| line.starts_with('|'));
        rows.map(row).collect()
    }

    #[test]
    fn the_guide_says_what_becomes_of_each_key() {
        let (table, keys) = (guide(), keys::link());
        let rows: Vec<&str> = table.iter().map(|row| row.key.as_str()).collect();
        let names: Vec<&str> = keys.iter().map(|key| key.spec.name).collect();
        assert_eq!(
            rows, names,
            "a row for each key, in the order of the reference"
        );
        for (row, declared_key) in table.iter().zip(&keys) {
            let Row { key, setting, .. } = row;
            let beside = |row: &&Row| declared_key.beside == Some(row.key.as_str());
            let before = table.iter().find(beside).map(|row| row.setting.as_str());
            let before: Vec<&str> = before.into_iter().collect();
            let after = [&before[..], &[setting]].concat();
            let links = |words: &[&str]| {
                declared(words)
                    .resolve_links(own::simulator())
                    .unwrap_or_else(|error| panic!("{key}: {error}"))
                    .0
            };
            assert!(links(&after) != links(&before), "{setting} changes nothing");
            let built = DeclaredLink::of(&arguments(&after));
            match (row.link.strip_prefix("no: "), built.err()) {
                (None, refused) => assert!(refused.is_none(), "{key}: {refused:?}"),
                (Some(why), refused) => {
                    let refused = refused.expect(key).to_string();
                    assert!(refused.contains(why), "{key}: {refused}");
                }
            }
            let mut options = row.gateway.split('`').filter(|text| is_option(text));
            let refuses = row.gateway.starts_with("no: ");
            assert_eq!(options.any(takes), !refuses, "{key}: {}", row.gateway);
            assert!(!refuses || !takes(&format!("--{key}")), "{key}");
        }
    }

    fn is_option(text: &str) -> bool {
        text.starts_with('-') && !text.contains(",")
    }

    /// Whether `analects gateway` has an option, which stands with or without its value.
    fn takes(option: &str) -> bool {
        let (option, value) = option.split_once(' ').unwrap_or((option, ""));
        let value = match value {
            "" if option.ends_with("-d") || option.ends_with("discipline") => "codel",
            "" => "5mbit",
            value => value,
        };
        let words = [
            "analects", "gateway", "--in", "a", "--out", "b", option, value,
        ];
        Cli::try_parse_from(words).is_ok()
    }

    /// Windows' editors begin a file with one.
    #[test]
    fn a_byte_order_mark_before_a_trace_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let capacity = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            let file = file.to_str().unwrap();
            let words = ["--down", file, "--up", file];
            assert!(DeclaredLink::of(&arguments(&words)).is_ok(), "{name}");
            check_capacity("--rate", file).unwrap();
            let (links, _) = declared(&words).resolve_links(own::simulator()).unwrap();
            (
                links[0].capacity.clone(),
                links[0].up.as_ref().unwrap().capacity.clone(),
            )
        };
        let marked = capacity("marked.txt", "\u{feff}0 4\r\n1 8\r\n");
        assert_eq!(marked, capacity("plain.txt", "0 4\n1 8\n"));
    }
}
