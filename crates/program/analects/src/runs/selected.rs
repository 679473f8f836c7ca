//! Metrics of one traffic entry or link, as they are asked for: `stall:call`.

use measure::metric::Selection;
use scenario::Scenario;
use units::Refusal;

/// Whether the scenario has the subject of a metric.
///
/// # Errors
/// If not, with those that exist.
pub fn known(metric: &Selection, scenario: &Scenario) -> Result<(), Refusal> {
    let entry = metric.entry.split('/').next().unwrap_or_default();
    let traffic = scenario.traffic.iter().map(|entry| entry.name.as_str());
    let links = scenario.links.iter().map(|link| link.name.as_str());
    let names: Vec<&str> = traffic.chain(links).collect();
    // NAME-2 is one of several of an entry with a `count`.
    let stem = match entry.rsplit_once('-') {
        Some((stem, number)) if number.parse::<u64>().is_ok() => stem,
        _ => entry,
    };
    if entry.is_empty() || names.contains(&entry) || names.contains(&stem) {
        return Ok(());
    }
    Err(Refusal::unknown("traffic or link", entry, names))
}
