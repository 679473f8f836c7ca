//! Without a real WebRTC stack.

use guest::Stage;
use guest::log::Log;
use scenario::{Scenario, Stack};
use units::Refusal;

/// Why the scenario's stack cannot be had.
pub fn refused(scenario: &Scenario) -> Vec<(String, Refusal)> {
    let refusal = || {
        let refusal = Refusal::new("this program was built without a WebRTC stack");
        let help =
            "build it with one: cargo install --path crates/program/analects --features webrtc";
        ("stack".to_owned(), refusal.with_help(help))
    };
    let wanted = scenario.stack == Stack::WebRtc;
    wanted.then(refusal).into_iter().collect()
}

/// Runs the applications.
///
/// # Errors
/// If a socket behaves as it should not.
pub fn play(scenario: &Scenario, seed: u64, stage: Stage) -> Result<Log, String> {
    guest::play(scenario, seed, stage, None).map_err(|failure| failure.to_string())
}
