//! The scenario as it was run, for `--out`: a file that can be run again.

use reproduce::Job;
use scenario::{Choice, Document, Scenario};
use sim::Simulator;
use std::fmt::Write as _;
use units::param::Spec;

/// `completed` as TOML, with remarks: version, seeds, and what disciplines and controls used of what
/// nobody set. These stay remarks because a default may follow from the link: a buffer is the
/// default of a limit.
pub fn toml(completed: &Document, scenario: &Scenario, engine: &str, jobs: &[Job]) -> String {
    let simulator = Simulator::default();
    let version = env!("CARGO_PKG_VERSION");
    let seeds = jobs.iter().map(|job| job.seed);
    let (first, last) = (seeds.clone().min(), seeds.max());
    let mut text = format!(
        "# analects {version}, engine {engine}, seeds {} to {}\n\n{}",
        first.unwrap_or_default(),
        last.unwrap_or_default(),
        completed.to_toml()
    );
    text += "\n# What disciplines and controls were told, and their defaults. Where a link has a\n\
             # buffer, that is the default of its discipline's limit.\n";
    let links = scenario.links.iter();
    let own = links.flat_map(|link| {
        let up = link.up.as_ref().and_then(|up| up.discipline.as_ref());
        link.discipline.iter().chain(up)
    });
    let mut seen: Vec<&Choice> = Vec::new();
    for choice in scenario.disciplines.iter().chain(own) {
        if let Some(entry) = simulator.disciplines.get(&choice.name)
            && !seen.contains(&choice)
        {
            seen.push(choice);
            remark(&mut text, "Discipline", choice, entry.params);
        }
    }
    for traffic in &scenario.traffic {
        let choice = &traffic.control;
        if let Some(entry) = simulator.controls.get(&choice.name)
            && !seen.contains(&choice)
        {
            seen.push(choice);
            remark(&mut text, "Control", choice, entry.params);
        }
    }
    text
}

fn remark(text: &mut String, what: &str, choice: &Choice, specs: &[Spec]) {
    // Writing to a string does not fail.
    _ = writeln!(text, "\n# {what} {choice}:");
    for spec in specs {
        let set = choice.settings.iter().find(|(key, _)| key == spec.name);
        let (value, origin) = match set {
            Some((_, value)) => (value.as_str(), "set"),
            None => (spec.default, "default"),
        };
        _ = writeln!(text, "#   {} = {value}  ({origin})", spec.name);
    }
}
