//! Which congestion controls there are: ours for calls and QUIC, Linux's for TCP.

use scenario::{Choice, Traffic};
use units::Refusal;

/// Controls of Linux's TCP, by the names that we have for them, and the module of each.
const CONTROLS: &[(&str, Option<&str>)] = &[
    ("cubic", Some("tcp_cubic")),
    ("reno", None),
    ("bbr", Some("tcp_bbr")),
    ("vegas", Some("tcp_vegas")),
    ("illinois", Some("tcp_illinois")),
    ("yeah", Some("tcp_yeah")),
];

/// Calls and QUIC run over UDP under controls of ours; why this one does not, otherwise.
pub fn ours(traffic: &Traffic, choice: &Choice) -> Option<Refusal> {
    let built = cca::Registry::builtin().build(choice, &cca::Setup::default());
    let suits = built.and_then(|control| endpoints::suits(traffic, &*control));
    suits.err()
}

/// TCP runs under Linux's; why it does not, otherwise.
pub fn linux(choice: &Choice) -> Option<Refusal> {
    let name = &choice.name;
    if !CONTROLS.iter().any(|(known, _)| known == name) {
        let names: Vec<&str> = CONTROLS.iter().map(|(known, _)| *known).collect();
        let refusal = Refusal::new(format!("Linux's TCP has no {name}"));
        return Some(refusal.with_help(format!("it has {}", names.join(", "))));
    }
    let bare = choice.settings.is_empty() && choice.children.is_empty();
    let message = || format!("Linux's {name} takes no settings from a socket");
    (!bare).then(|| Refusal::new(message()))
}

/// The module of the control that `traffic` runs under, if Linux has it in one.
pub fn module(traffic: &Traffic) -> Option<&'static str> {
    if traffic.kind.has_session() || traffic.kind.workload.only_quic() {
        return None;
    }
    let choice = traffic.control.as_ref()?;
    let (_, module) = CONTROLS.iter().find(|(name, _)| *name == choice.name)?;
    *module
}
