//! What a measurement found, in figures: kept in the line's file, and shown beside those of a later one.

use super::evening::{Evening, ValueWithInterval};
use comfy_table::Cell;
use command::Refused;
use command::cells::{empty, right};
use line::measured::{Confidence, Measured, MeasuredDirection, Waits};
use scenario::ScenarioError;
use scenario::files::{MAX_SCENARIO, read};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A line's file beside what makes it a scenario. Its key is [`scenario::MEASURED`].
#[derive(Debug, Serialize, Deserialize)]
struct LineFile {
    measured: Figures,
}

/// The figures of one measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The idle line's round trip, in ms.
    rtt_ms: f64,
    /// For how long a simulated call stands still, in s of 110.
    stall_s: Option<ValueWithInterval>,
    /// Its rate, in Mbit/s.
    call_mbit: Option<ValueWithInterval>,
    down: Option<Full>,
    up: Option<Full>,
}

/// One way while it was full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Full {
    rate_mbit: f64,
    /// Round trips of packets of others: the median and the 95th percentile, in ms.
    others_ms: Option<[f64; 2]>,
    /// The same on the connections that filled it.
    loaded_ms: Option<[f64; 2]>,
    /// Round trips a minute; none of low confidence.
    rpm: Option<f64>,
    /// Why its figures are not to be believed.
    #[serde(default)]
    doubts: Vec<String>,
}

impl Figures {
    /// Those of a measurement, and of evenings on its line, the first of which is the line as it is.
    pub fn of(found: &Measured, evenings: &[Evening]) -> Self {
        let now = evenings.first();
        let full = |direction: &MeasuredDirection| Full::of(direction, found);
        Figures {
            rtt_ms: found.idle.rtt_ms,
            stall_s: now.and_then(|now| now.stall_s),
            call_mbit: now.and_then(|now| now.call_mbit),
            down: found.down.as_ref().map(full),
            up: found.up.as_ref().map(full),
        }
    }

    /// Those in the file of an earlier measurement.
    ///
    /// # Errors
    /// If it has none: where, what was found, and what was expected.
    pub fn read(path: &Path) -> Result<Self, Refused> {
        let help = "name the file that an earlier `analects measure SERVER -o FILE` wrote";
        let file = path.display().to_string();
        let text = read(path, MAX_SCENARIO)
            .map_err(|why| Refused::new(&format!("--before: {file}: {why}"), help))?;
        let parsed: Result<LineFile, _> = toml::from_str(&text);
        Ok(parsed
            .map_err(|error| ScenarioError::of_toml(&file, &text, &error, help))?
            .measured)
    }

    /// The figures as the last table of a line's file.
    ///
    /// # Errors
    /// If TOML has no word for one of them.
    pub fn text(&self) -> Result<String, Refused> {
        let file = LineFile {
            measured: self.clone(),
        };
        let text = toml::to_string(&file);
        text.map_err(|error| Refused::failed(&format!("the figures: {error}"), "report this"))
    }

    /// The figures beside those of an `earlier` measurement, and what makes some doubtful.
    pub fn beside(&self, earlier: &Figures) -> String {
        let mut table = empty();
        let headings = ["before", "after"].map(right);
        table.set_header([Cell::new("")].into_iter().chain(headings));
        for ((what, before), (_, after)) in earlier.rows().into_iter().zip(self.rows()) {
            table.add_row([Cell::new(what), right(&before), right(&after)]);
        }
        let mut text = format!("\n{}\n", table.trim_fmt());
        for (when, figures) in [("before", earlier), ("after", self)] {
            for (way, full) in figures.ways() {
                for doubt in full.iter().flat_map(|full| &full.doubts) {
                    text += &format!("* {when}, {way}: {doubt}\n");
                }
            }
        }
        text
    }

    fn ways(&self) -> [(&'static str, Option<&Full>); 2] {
        [("down", self.down.as_ref()), ("up", self.up.as_ref())]
    }

    /// What each figure is, and its text.
    fn rows(&self) -> Vec<(String, String)> {
        let mut rows = vec![(
            "idle: a round trip, ms".to_owned(),
            format!("{:.1}", self.rtt_ms),
        )];
        let mut doubtful = false;
        for (way, full) in self.ways() {
            let doubt = full.is_some_and(|full| !full.doubts.is_empty());
            doubtful |= doubt;
            let mut row = |what: &str, text: Option<String>| {
                rows.push((format!("{way}{what}"), marked(text, doubt)));
            };
            let times = |of: Option<[f64; 2]>| Some(of?.map(|ms| format!("{ms:.0}")).join(", "));
            row(
                ": Mbit/s",
                full.map(|full| format!("{:.2}", full.rate_mbit)),
            );
            row(
                ", full: others' round trip, ms, and of one in twenty",
                full.and_then(|full| times(full.others_ms)),
            );
            row(
                ", full: its own connections', ms",
                full.and_then(|full| times(full.loaded_ms)),
            );
            row(
                ", full: round trips a minute",
                full.and_then(|full| Some(format!("{:.0}", full.rpm?))),
            );
        }
        let figure = |of: Option<ValueWithInterval>, digits| Some(of?.text(digits, ""));
        let mut row = |what: &str, text| rows.push((what.to_owned(), marked(text, doubtful)));
        row("a call stands still, s of 110", figure(self.stall_s, 1));
        row("a call's rate, Mbit/s", figure(self.call_mbit, 2));
        rows
    }
}

/// A figure; a doubtful one has a star.
fn marked(text: Option<String>, doubtful: bool) -> String {
    match (text, doubtful) {
        (Some(text), true) => text + " *",
        (Some(text), false) => text,
        (None, _) => "-".to_owned(),
    }
}

impl Full {
    fn of(direction: &MeasuredDirection, found: &Measured) -> Self {
        let trips = |waits: Option<Waits>, idle: f64| {
            let waits = waits?;
            Some([waits.median, waits.p95].map(|wait| idle + wait))
        };
        let mut doubts = direction.doubts.clone();
        if direction.server_limit {
            doubts.push("the rate is the server's limit, not the line's".to_owned());
        }
        Full {
            rate_mbit: direction.rate_mbit,
            others_ms: trips(direction.beside_ms, found.idle.rtt_ms),
            loaded_ms: trips(direction.loaded_ms, found.idle.request_ms),
            rpm: (direction.confidence != Confidence::Low)
                .then_some(direction.responsiveness)
                .flatten()
                .map(|found| found.rpm),
            doubts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(rate_mbit: f64, others: f64, doubts: &[&str]) -> Figures {
        let full = Full {
            rate_mbit,
            others_ms: Some([others, 2.0 * others]),
            loaded_ms: None,
            rpm: Some(120.0),
            doubts: doubts.iter().map(|&doubt| doubt.to_owned()).collect(),
        };
        Figures {
            rtt_ms: 20.0,
            stall_s: Some(ValueWithInterval {
                value: 13.5,
                ci95: Some((12.0, 15.3)),
            }),
            call_mbit: None,
            down: Some(full),
            up: None,
        }
    }

    #[test]
    fn figures_stand_in_a_file_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my-line.toml");
        let there = figures(9.5, 200.0, &["it was interrupted"]);
        let text = format!("name = \"my-line\"\n{}", there.text().unwrap());
        std::fs::write(&path, text).unwrap();
        assert_eq!(Figures::read(&path).unwrap(), there);
        let named = there.text().unwrap();
        assert!(
            named.starts_with(&format!("[{}]", scenario::MEASURED)),
            "{named}"
        );
    }

    #[test]
    fn a_file_without_figures_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.toml");
        for (text, says) in [
            ("name = \"other\"\n", "missing field `measured`"),
            (
                "[measured]\nrtt_ms = \"long\"\n",
                "other.toml:2:10: invalid type: string",
            ),
            ("rates: 5", "other.toml:1:"),
        ] {
            std::fs::write(&path, text).unwrap();
            let said = Figures::read(&path).unwrap_err().to_string();
            assert!(said.contains(says), "{text}: {said}");
        }
    }

    #[test]
    fn what_is_doubtful_has_a_star_and_a_reason() {
        let text = figures(9.5, 25.0, &[]).beside(&figures(10.0, 200.0, &["it was interrupted"]));
        let row = |what: &str| {
            let line = text.lines().find(|line| line.trim().starts_with(what));
            let words = line.unwrap_or_else(|| panic!("{what}: {text}"));
            words.trim()[what.len()..]
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(row("idle: a round trip, ms"), "20.0 20.0");
        assert_eq!(row("down: Mbit/s"), "10.00 * 9.50");
        assert_eq!(
            row("down, full: others' round trip, ms, and of one in twenty"),
            "200, 400 * 25, 50"
        );
        assert_eq!(row("up: Mbit/s"), "- -");
        assert_eq!(
            row("a call stands still, s of 110"),
            "13.5 (12.0 to 15.3) * 13.5 (12.0 to 15.3)"
        );
        assert!(
            text.ends_with("\n* before, down: it was interrupted\n"),
            "{text}"
        );
    }
}
