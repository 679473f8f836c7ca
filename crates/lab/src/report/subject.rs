//! What a report needs to know of a scenario.

use scenario::{Capacity, Kind, Scenario, Series, Traffic};
use units::Instant;

/// Pieces into which a trace's capacity is cut.
const PIECES: u32 = 300;
/// Traffic entries that are told apart by colour.
pub const COLOURS: usize = 8;

/// A scenario, as far as reports speak of it.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    pub name: &'a str,
    pub summary: &'a str,
    pub duration_s: f64,
    pub warmup_s: f64,
    pub threshold_ms: f64,
    /// Traffic entries: name and kind.
    pub entries: Vec<(&'a str, &'static str)>,
    /// When bulk transfers start, s.
    pub transfers: Vec<f64>,
    /// What the first link can carry: from when on, s, and how much, Mbit/s.
    pub capacity: Vec<(f64, f64)>,
}

impl<'a> Subject<'a> {
    /// What there is to know of `scenario`.
    pub fn of(scenario: &'a Scenario) -> Self {
        let entries = scenario.traffic.iter();
        let duration_s = scenario.duration.as_secs_f64();
        let first = scenario.links.first();
        Subject {
            name: &scenario.name,
            summary: &scenario.summary,
            duration_s,
            warmup_s: scenario.warmup.as_secs_f64(),
            threshold_ms: scenario.stall_threshold.as_millis_f64(),
            entries: entries
                .map(|entry| (entry.name.as_str(), entry.kind.name()))
                .collect(),
            transfers: scenario.traffic.iter().filter_map(transfer_start).collect(),
            capacity: first
                .map(|link| capacity(&link.capacity, duration_s))
                .unwrap_or_default(),
        }
    }

    /// Whether there is traffic of `kind`.
    pub fn has(&self, kind: &str) -> bool {
        self.entries.iter().any(|entry| entry.1 == kind)
    }

    /// The traffic entry of a flow: that of its name, or of its name without a number.
    fn entry_of(&self, flow: &str) -> Option<usize> {
        let place = |name: &str| self.entries.iter().position(|entry| entry.0 == name);
        place(flow).or_else(|| {
            let (name, number) = flow.rsplit_once('-')?;
            number
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| place(name))?
        })
    }

    /// Flows by traffic entry, calls first, then in the scenario's order; what belongs to none, or
    /// to one beyond the colours there are, comes last.
    pub fn groups(&self, series: &Series) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let rank = |entry: usize| (self.entries[entry].1 != "call", entry);
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by_key(|&entry| rank(entry));
        let colours = if order.len() > COLOURS {
            COLOURS - 1
        } else {
            COLOURS
        };
        order.truncate(colours);
        for (colour, entry) in order.into_iter().enumerate() {
            groups.push(Group::new(
                self.entries[entry].0,
                self.entries[entry].1,
                colour,
            ));
        }
        groups.push(Group::new("other", "", COLOURS - 1));
        for (flow, name) in series.flows.iter().enumerate() {
            let entry = self.entry_of(name).map(|entry| self.entries[entry].0);
            let named = groups
                .iter()
                .position(|group| entry == Some(group.name.as_str()));
            let place = named.unwrap_or(groups.len() - 1);
            groups[place].flows.push(flow);
        }
        groups.retain(|group| !group.flows.is_empty());
        groups
    }
}

/// Flows that are drawn as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The traffic entry.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// Its colour.
    pub colour: usize,
    /// The flows, by their place in the series.
    pub flows: Vec<usize>,
}

impl Group {
    fn new(name: &str, kind: &'static str, colour: usize) -> Self {
        Group {
            name: name.to_owned(),
            kind,
            colour,
            flows: Vec::new(),
        }
    }

    /// Its name, and how many flows it has where there are several.
    pub fn title(&self) -> String {
        match self.flows.len() {
            1 => self.name.clone(),
            n => format!("{} ({n})", self.name),
        }
    }
}

/// When a bulk transfer starts, s.
fn transfer_start(entry: &Traffic) -> Option<f64> {
    match &entry.kind {
        Kind::Bulk(params) => Some((entry.start + params.start).as_secs_f64()),
        Kind::Call(..) | Kind::Page { .. } => None,
    }
}

fn capacity(capacity: &Capacity, duration_s: f64) -> Vec<(f64, f64)> {
    match capacity {
        Capacity::Constant(rate) => vec![(0.0, rate.as_mbit_f64())],
        Capacity::Trace(trace) => {
            let piece_s = duration_s / f64::from(PIECES);
            let bytes = |piece: u32| {
                let nanos = f64::from(piece) * piece_s * 1e9;
                trace.capacity_until(Instant::from_nanos(nanos as u64))
            };
            let mbps = |piece| (bytes(piece + 1) - bytes(piece)) * 8e-6 / piece_s;
            (0..PIECES)
                .map(|piece| (f64::from(piece) * piece_s, mbps(piece)))
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(entries: &[(&'static str, &'static str)]) -> Subject<'static> {
        Subject {
            name: "n",
            summary: "s",
            duration_s: 1.0,
            warmup_s: 0.0,
            threshold_ms: 190.0,
            entries: entries.to_vec(),
            transfers: Vec::new(),
            capacity: Vec::new(),
        }
    }

    fn groups(
        entries: &[(&'static str, &'static str)],
        flows: &[&str],
    ) -> Vec<(String, Vec<usize>)> {
        let series = Series {
            flows: flows.iter().map(|&flow| flow.to_owned()).collect(),
            ..Series::default()
        };
        let groups = subject(entries).groups(&series);
        groups
            .into_iter()
            .map(|group| (group.name, group.flows))
            .collect()
    }

    #[test]
    fn connections_belong_to_their_entry_and_calls_come_first() {
        let entries = [("page", "page"), ("call", "call"), ("call-2", "bulk")];
        let expected = [("call", vec![0]), ("page", vec![1, 3]), ("call-2", vec![2])];
        let found = groups(&entries, &["call", "page-1", "call-2", "page-2"]);
        assert_eq!(
            found,
            expected.map(|(name, flows)| (name.to_owned(), flows))
        );
    }

    #[test]
    fn what_has_no_colour_left_and_what_is_unknown_is_other() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let entries = names.map(|name| (name, "bulk"));
        let flows: Vec<&str> = names.iter().copied().chain(["z-1"]).collect();
        let found = groups(&entries, &flows);
        assert_eq!(found.len(), 8);
        assert_eq!(found[7], ("other".to_owned(), vec![7, 8, 9]));
    }
}
