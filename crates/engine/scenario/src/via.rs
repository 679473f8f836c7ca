//! The links that a traffic entry's packets pass, if not all of them.

use crate::error::printable;
use crate::keys::ENTRY;
use crate::model::{Link, Via};
use crate::read::Result;
use crate::section::{Section, Text};
use units::Duration;
use units::param::Value;

const EXPECTED: &str = "write via = \"dsl\", several links as \"dsl+core\", or a path for each time: \
    \"0s dsl; 30s lte\"";

/// Reads `via`: `LINK`, or `TIME LINK` and more of them behind semicolons or in a list. Links in a
/// row stand with `+` between them.
pub fn via(section: &mut Section<'_>, links: &[Link]) -> Result<Vec<Via>> {
    let texts = section.texts(&ENTRY.via)?;
    let mut paths: Vec<Via> = Vec::new();
    for text in &texts {
        for written in text.value.split(';').map(str::trim) {
            let refuse = |message: &str, help: &str| {
                let written = printable(written, 40);
                Err(text.error(&format!("{}: \"{written}\" {message}", text.key), help))
            };
            let (at, names) = timed(written);
            let path = Via {
                at,
                links: path(text, names, links)?,
            };
            match paths.last() {
                None if at > Duration::ZERO => {
                    return refuse("is the first path", "say which one there is from 0s on");
                }
                Some(last) if at <= last.at => {
                    let message = format!("does not come after {}", last.at);
                    return refuse(&message, "write paths in the order of their times");
                }
                _ => paths.push(path),
            }
        }
    }
    Ok(paths)
}

/// `TIME NAMES`, or names from the start.
fn timed(written: &str) -> (Duration, &str) {
    let split = written.split_once(char::is_whitespace);
    let timed = split.and_then(|(at, names)| Some((Duration::parse(at).ok()?, names.trim())));
    timed.unwrap_or((Duration::ZERO, written))
}

/// The links called `names`, in the order of the scenario's.
fn path(text: &Text<'_>, names: &str, links: &[Link]) -> Result<Vec<u16>> {
    let mut path: Vec<u16> = Vec::new();
    for name in names.split('+').map(str::trim) {
        let found = links.iter().position(|link| link.name == name);
        let Some(place) = found else {
            let known: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
            let message = format!("{}: no link \"{}\"", text.key, printable(name, 40));
            let help = format!("{EXPECTED}; there are: {}", known.join(", "));
            return Err(text.error(&message, &help));
        };
        let place = place as u16;
        if path.last().is_some_and(|last| *last >= place) {
            let message = format!(
                "{}: {name} does not come after the link before it",
                text.key
            );
            return Err(text.error(
                &message,
                "name links in the order of the scenario, each once",
            ));
        }
        path.push(place);
    }
    Ok(path)
}
