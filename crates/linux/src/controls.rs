//! Which congestion controls there are: ours for calls, Linux's for TCP.

use scenario::{Choice, Kind, Traffic};

/// Controls of Linux's TCP, by the names that we have for them, and the module of each.
const CONTROLS: &[(&str, Option<&str>)] = &[
    ("cubic", Some("tcp_cubic")),
    ("reno", None),
    ("bbr", Some("tcp_bbr")),
    ("vegas", Some("tcp_vegas")),
    ("illinois", Some("tcp_illinois")),
    ("yeah", Some("tcp_yeah")),
];

/// Calls run over UDP under controls of ours.
pub fn ours(choice: &Choice) -> Result<(), String> {
    let registry = cca::Registry::builtin();
    let entry = registry.get(&choice.name);
    let entry = entry.ok_or_else(|| format!("no control {:?}", choice.name))?;
    let built = (entry.build)(&choice.settings, &cca::Setup::default());
    built
        .map(|_| ())
        .map_err(|error| format!("{}: {error}", choice.name))
}

/// TCP runs under Linux's; why it does not, otherwise.
pub fn linux(choice: &Choice) -> Option<String> {
    let name = &choice.name;
    if !CONTROLS.iter().any(|(known, _)| known == name) {
        let names: Vec<&str> = CONTROLS.iter().map(|(known, _)| *known).collect();
        let names = names.join(", ");
        return Some(format!("Linux's TCP has no {name}; it has {names}"));
    }
    let set = !choice.settings.is_empty();
    set.then(|| format!("Linux's {name} takes no settings from a socket"))
}

/// The module of the control that `traffic` runs under, where Linux has it in one.
pub fn module(traffic: &Traffic) -> Option<&'static str> {
    if matches!(traffic.kind, Kind::Call(..)) {
        return None;
    }
    let mut known = CONTROLS.iter();
    let (_, module) = known.find(|(name, _)| *name == traffic.control.name)?;
    *module
}
