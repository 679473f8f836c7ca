//! The report's view of a scenario.

use link::Capacity;
use measure::Series;
use scenario::{Scenario, Traffic};
use units::Instant;
use workload::Rows;

/// Pieces into which a trace's capacity is cut.
const PIECES: u32 = 300;
/// Number of traffic entries that are distinguished by colour.
pub const COLOURS: usize = 8;

/// A scenario, as far as reports speak of it.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    pub name: &'a str,
    pub summary: &'a str,
    pub duration_s: f64,
    pub warmup_s: f64,
    /// The delay from which on frames are late, by the names of calls, ms.
    pub thresholds: Vec<(&'a str, f64)>,
    /// Traffic entries: name, and their results.
    pub entries: Vec<(&'a str, Rows)>,
    /// When bulk transfers start, s.
    pub transfers: Vec<f64>,
    /// The capacity of each queue: from when on, s, and how much, Mbit/s.
    pub capacities: Vec<Vec<(f64, f64)>>,
}

impl<'a> Subject<'a> {
    /// The subject of `scenario`.
    pub fn of(scenario: &'a Scenario) -> Self {
        let entries = scenario.traffic.iter();
        let duration_s = scenario.duration.as_secs_f64();
        let calls = scenario.traffic.iter();
        let calls = calls.filter(|entry| entry.kind.entry.rows == Rows::Call);
        let down = scenario.links.iter().map(|link| &link.capacity);
        let up = scenario.links.iter().rev();
        let up = up.filter_map(|link| Some(&link.up.as_ref()?.capacity));
        Subject {
            name: &scenario.name,
            summary: &scenario.summary,
            duration_s,
            warmup_s: scenario.warmup.as_secs_f64(),
            thresholds: calls
                .map(|entry| (entry.name.as_str(), entry.stall_threshold.as_millis_f64()))
                .collect(),
            entries: entries
                .map(|entry| (entry.name.as_str(), entry.kind.entry.rows))
                .collect(),
            transfers: scenario.traffic.iter().filter_map(transfer_start).collect(),
            capacities: down.chain(up).map(|of| capacity(of, duration_s)).collect(),
        }
    }

    /// The delay from which on a call's frames are late, ms.
    pub fn threshold_ms(&self, call: &str) -> f64 {
        let found = self.thresholds.iter().find(|(name, _)| *name == call);
        found.map_or(f64::INFINITY, |(_, threshold)| *threshold)
    }

    /// Whether pages are loaded.
    pub fn has_pages(&self) -> bool {
        self.entries.iter().any(|entry| entry.1 == Rows::Loads)
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

    /// Flows as they are drawn: calls first, then in the scenario's order. Connections of pages are
    /// one with their traffic entry, and so are all flows of an entry if there are not enough
    /// colours for each; flows of no entry, or without a colour left, come last.
    pub fn groups(&self, series: &Series) -> Vec<Group> {
        let entries: Vec<Option<usize>> = series
            .flows
            .iter()
            .map(|flow| self.entry_of(flow))
            .collect();
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by_key(|&entry| (self.entries[entry].1 != Rows::Call, entry));
        let flows_of = |entry: usize| -> Vec<usize> {
            let flows = entries.iter().enumerate();
            flows
                .filter(|of| *of.1 == Some(entry))
                .map(|of| of.0)
                .collect()
        };
        let mut groups: Vec<Group> = Vec::new();
        let is_page = |entry: usize| self.entries[entry].1 == Rows::Loads;
        let alone = |entry: usize| {
            if is_page(entry) {
                1
            } else {
                flows_of(entry).len()
            }
        };
        let each = order.iter().map(|&entry| alone(entry)).sum::<usize>() < COLOURS;
        for &entry in &order {
            let (name, rows) = self.entries[entry];
            let is_call = rows == Rows::Call;
            let flows = flows_of(entry);
            if each && !is_page(entry) {
                let group = |flow: usize| Group::new(&series.flows[flow], is_call, vec![flow]);
                groups.extend(flows.into_iter().map(group));
            } else if !flows.is_empty() {
                groups.push(Group::new(name, is_call, flows));
            }
        }
        let strangers = (0..entries.len()).filter(|&flow| entries[flow].is_none());
        let beyond = groups
            .drain(groups.len().min(COLOURS - 1)..)
            .flat_map(|group| group.flows);
        let other: Vec<usize> = beyond.chain(strangers).collect();
        if !other.is_empty() {
            groups.push(Group::new("other", false, other));
        }
        for (colour, group) in groups.iter_mut().enumerate() {
            group.colour = colour;
        }
        groups
    }
}

/// Flows that are drawn as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The traffic entry.
    pub name: String,
    /// Whether its flows carry a call.
    pub is_call: bool,
    /// Its colour.
    pub colour: usize,
    /// The flows, by their place in the series.
    pub flows: Vec<usize>,
}

impl Group {
    fn new(name: &str, is_call: bool, flows: Vec<usize>) -> Self {
        Group {
            name: name.to_owned(),
            is_call,
            colour: 0,
            flows,
        }
    }

    /// Its name, and the number of its flows if there are several.
    pub fn title(&self) -> String {
        match self.flows.len() {
            1 => self.name.clone(),
            n => format!("{} ({n})", self.name),
        }
    }
}

/// When a bulk transfer starts, s; of several in one entry, the first.
fn transfer_start(entry: &Traffic) -> Option<f64> {
    (entry.kind.entry.rows == Rows::Flows).then(|| entry.start.as_secs_f64())
}

fn capacity(capacity: &Capacity, duration_s: f64) -> Vec<(f64, f64)> {
    match capacity {
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
        steady => vec![(0.0, steady.nominal().as_mbit_f64())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(entries: &[(&'static str, Rows)]) -> Subject<'static> {
        Subject {
            name: "n",
            summary: "s",
            duration_s: 1.0,
            warmup_s: 0.0,
            thresholds: Vec::new(),
            entries: entries.to_vec(),
            transfers: Vec::new(),
            capacities: Vec::new(),
        }
    }

    fn groups(entries: &[(&'static str, Rows)], flows: &[&str]) -> Vec<(String, Vec<usize>)> {
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

    fn named(expected: &[(&str, &[usize])]) -> Vec<(String, Vec<usize>)> {
        expected
            .iter()
            .map(|(name, flows)| ((*name).to_owned(), flows.to_vec()))
            .collect()
    }

    #[test]
    fn connections_belong_to_their_entry_and_calls_come_first() {
        let entries = [
            ("page", Rows::Loads),
            ("call", Rows::Call),
            ("call-2", Rows::Flows),
        ];
        let found = groups(&entries, &["call", "page-1", "call-2", "page-2"]);
        assert_eq!(
            found,
            named(&[("call", &[0]), ("page", &[1, 3]), ("call-2", &[2])])
        );
    }

    #[test]
    fn transfers_are_drawn_one_by_one_while_there_are_colours() {
        let entries = [("a", Rows::Flows), ("b", Rows::Flows)];
        let found = groups(&entries, &["a-1", "b", "a-2"]);
        assert_eq!(found, named(&[("a-1", &[0]), ("a-2", &[2]), ("b", &[1])]));
        let many = ["a-1", "a-2", "a-3", "a-4", "a-5", "a-6", "a-7", "b"];
        let found = groups(&entries, &many);
        assert_eq!(found, named(&[("a", &[0, 1, 2, 3, 4, 5, 6]), ("b", &[7])]));
    }

    #[test]
    fn what_has_no_colour_left_and_what_is_unknown_is_other() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let entries = names.map(|name| (name, Rows::Flows));
        let flows: Vec<&str> = names.iter().copied().chain(["z-1"]).collect();
        let found = groups(&entries, &flows);
        assert_eq!(found.len(), 8);
        assert_eq!(found[7], ("other".to_owned(), vec![7, 8, 9]));
    }
}
