//! `analects doctor`: one look at this host for what the commands need of it.

mod findings;
mod firewall;
mod observed;
#[cfg(test)]
mod tests;

use crate::cli::{DoctorArgs, Examined};
use clap::ValueEnum;
use command::{Refused, print};
use findings::{Effect, Finding, findings};
use netcfg::Host;
pub use observed::Chromium;
use observed::ObservedHost;
use serde_json::json;

/// Looks, prints, and fails if something that one of the commands needs lacks. What is known of a browser comes from
/// a program that drives one.
///
/// # Errors
/// If something lacks, with the commands that need it.
pub fn run(args: &DoctorArgs, chromium: Option<Chromium>) -> Result<(), Refused> {
    let asked = match args.commands.as_slice() {
        [] => Examined::value_variants(),
        commands => commands,
    };
    let mut found = findings(&ObservedHost::here(&mut Host::default(), chromium));
    for finding in &mut found {
        finding.commands.retain(|command| asked.contains(command));
    }
    found.retain(|finding| !finding.commands.is_empty());
    print(&if args.json {
        as_json(&found, asked)
    } else {
        as_text(&found)
    })?;
    let unfit: Vec<&str> = unfit(&found, asked).map(Examined::word).collect();
    if unfit.is_empty() {
        return Ok(());
    }
    let message = format!("this host lacks what these need: {}", unfit.join(", "));
    Err(Refused::failed(
        &message,
        "each line that begins with LACKS has its remedy below it",
    ))
}

/// The chain of this host's firewall that drops new connections to it; none if there is none, or it cannot be read.
pub fn firewall() -> Option<String> {
    let [input, _] = observed::firewall(&mut Host::default());
    input
}

/// Those of `asked` that lack something.
fn unfit<'a>(found: &'a [Finding], asked: &'a [Examined]) -> impl Iterator<Item = Examined> + 'a {
    let lacks = |command: &Examined| {
        let mut found = found.iter();
        found.any(|finding| finding.state == Effect::Lacks && finding.commands.contains(command))
    };
    asked.iter().copied().filter(lacks)
}

fn as_text(found: &[Finding]) -> String {
    let mut text = String::new();
    for finding in found {
        let words: Vec<&str> = finding.commands.iter().map(|it| it.word()).collect();
        let state = finding.state.word();
        text += &format!("{state:<5}  {}  [{}]\n", finding.found, words.join(", "));
        if !finding.remedy.is_empty() {
            text += &format!("       {}\n", finding.remedy);
        }
    }
    text
}

fn as_json(found: &[Finding], asked: &[Examined]) -> String {
    let unfit: Vec<Examined> = unfit(found, asked).collect();
    let text = format!("{:#}", json!({ "findings": found, "unfit": unfit }));
    text + "\n"
}
