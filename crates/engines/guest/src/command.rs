//! The commands that build the network.

use crate::error::{Failure, Tried};
use crate::place::{Namespaces, Place};
use crate::plan::{Plan, Step};
use std::process::Command;

/// Takes every step of the plan; the first that fails ends it, with its message.
pub fn build(plan: &Plan) -> Result<(), Failure> {
    for step in &plan.commands {
        match step {
            Step::Run(words) => {
                execute(words)?;
            }
            Step::Set {
                namespace,
                path,
                value,
            } => set(plan, namespace, path, value)?,
        }
    }
    Ok(())
}

/// Runs a program to its end; returns its output.
pub fn execute(words: &[String]) -> Result<Vec<u8>, Failure> {
    let what = words.join(" ");
    let Some((program, arguments)) = words.split_first() else {
        return Err(Failure::new("a command", "it has no words"));
    };
    let output = Command::new(program)
        .args(arguments)
        .output()
        .tried(&what)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(
        what,
        format!("{}: {}", output.status, said.trim()),
    ))
}

/// Writes a file of `/proc/sys`, which shows the namespace of the process that opens it.
fn set(plan: &Plan, namespace: &str, path: &str, value: &str) -> Result<(), Failure> {
    let places = &plan.places;
    let place = [
        (&places.net, Place::Net),
        (&places.router, Place::Router),
        (&places.home, Place::Home),
    ];
    let place = place.into_iter().find(|(name, _)| *name == namespace);
    let (_, place) = place.ok_or_else(|| Failure::new(path, "no such namespace"))?;
    Namespaces::open(places)?.enter(place)?;
    let file = format!("/proc/sys/{path}");
    std::fs::write(&file, value).tried(&format!("{file} = {value}"))
}
