//! The scenario as it was run, for `--out`: a file that can be run again.

use crate::own;
use campaign::Job;
use scenario::{Choice, Document, Scenario};
use std::fmt::Write as _;
use units::choice::{self, Slot};
use units::param::Spec;

/// `completed` as TOML, with remarks: version, seeds, and the defaults that disciplines and
/// controls used. These stay remarks because a default may follow from the link: a buffer is the
/// default of a limit.
pub fn toml(completed: &Document, scenario: &Scenario, engine: &str, jobs: &[Job]) -> String {
    let simulator = own::simulator();
    let seeds = jobs.iter().map(|job| job.seed);
    let (first, last) = (seeds.clone().min(), seeds.max());
    let mut text = format!(
        "# analects {}, engine {engine}, seeds {} to {}\n\n{}",
        own::version_of_results(),
        first.unwrap_or_default(),
        last.unwrap_or_default(),
        completed.to_toml()
    );
    text += "\n# Settings of disciplines and controls, and their defaults. Where a link has a\n\
             # buffer, that is the default of its discipline's limit.\n";
    let links = scenario.links.iter();
    let own = links.flat_map(|link| {
        let up = link.up.as_ref().and_then(|up| up.discipline.as_ref());
        link.discipline.iter().chain(up)
    });
    let disciplines = scenario.disciplines.iter().chain(own);
    let slots = |name: &str| {
        simulator
            .disciplines
            .get(name)
            .map(|d| (d.params, d.children))
    };
    remarks(&mut text, "Discipline", disciplines, &slots);
    let controls = scenario.traffic.iter();
    let controls = controls.filter_map(|traffic| traffic.control.as_ref());
    let slots = |name: &str| simulator.controls.get(name).map(|c| (c.params, c.children));
    remarks(&mut text, "Control", controls, &slots);
    text
}

/// The declaration of the item with this name: parameters, and children.
type Declared<'a> = &'a dyn Fn(&str) -> Option<(&'static [Spec], &'static [Slot])>;

/// Remarks on each of `choices` and on their children, once.
fn remarks<'a>(
    text: &mut String,
    what: &str,
    choices: impl Iterator<Item = &'a Choice>,
    declared: Declared<'_>,
) {
    let mut seen: Vec<Choice> = Vec::new();
    for choice in choices.flat_map(|choice| with_inside(choice, declared, 1)) {
        if let Some((specs, _)) = declared(&choice.name)
            && !seen.contains(&choice)
        {
            remark(text, what, &choice, specs);
            seen.push(choice);
        }
    }
}

/// `choice`, and its children by choice or by default. It was built before, so that none is too
/// deep.
fn with_inside(choice: &Choice, declared: Declared<'_>, level: usize) -> Vec<Choice> {
    let slots = declared(&choice.name).map_or(&[][..], |(_, slots)| slots);
    let inside = choice::filled(choice, slots, level).unwrap_or_default();
    let mut all = vec![choice.clone()];
    all.extend(
        inside
            .iter()
            .flat_map(|child| with_inside(child, declared, level + 1)),
    );
    all
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
