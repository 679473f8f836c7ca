//! What a shaper before a line has: from the line's scenario, such as `analects measure -o` writes it.
//!
//! Packets wait in a shaper only if it sends a little more slowly than the line always does.

use crate::document::Document;
use crate::error::ScenarioError;
use crate::keys::{LINK, ROOT, WAY};
use crate::names::AnyNames;
use crate::section::Section;
use link::Capacity;
use units::{Bytes, Duration, Rate};

type Result<T> = core::result::Result<T, ScenarioError>;

/// Parts of a hundred of a steady line that a shaper before its modem leaves it, down and up
/// (docs/guide-router-owner.md).
const STEADY: [u64; 2] = [90, 95];
/// The same of the slowest second of a line whose rate varies.
const VARYING: u64 = 85;
/// Slower ones are stuck: a part of an outage is none.
const SLOWEST: Rate = Rate::from_bits(8_000);
/// For how long a varying line's slowest rate is looked for.
const SECOND: Duration = Duration::from_secs(1);

/// A shaper before a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shaper {
    /// Towards the home.
    pub down: Part,
    /// Away from it; none where the document has no such direction.
    pub up: Option<Part>,
    /// Bytes that the line adds to each IP packet, if it says so.
    pub overhead: Option<Bytes>,
    /// The last of the disciplines that the document compares: the line's own comes first.
    pub discipline: Option<String>,
}

/// One direction of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The shaper's rate.
    pub rate: Rate,
    /// The line's: always, or in its slowest second.
    pub of: Rate,
    /// How much of that it is, in parts of a hundred.
    pub percent: u64,
    /// Whether the line's rate varies.
    pub varies: bool,
}

impl Document {
    /// What a shaper before this document's line has.
    ///
    /// # Errors
    /// If it does not describe one link by rates or steps. Its traffic is not read.
    pub fn shaper(&self) -> Result<Shaper> {
        let expected = "expected one link with rate = \"20mbit\" or steps each way, as `analects measure -o FILE` writes it";
        let links = self.links();
        if links.len() > 1 {
            let message = format!("found {} of them", links.len());
            return Err(self.error_at_path("link", &message, expected));
        }
        let mut root = Section::root(self);
        let mut disciplines = root.texts(&ROOT.disciplines)?;
        for mut link in root.tables(&ROOT.link)? {
            for mut way in link.table(&LINK.up)?.into_iter().chain([link]) {
                let Some(text) = way.text(&WAY.trace)? else {
                    continue;
                };
                let message = format!(
                    "{}: found a trace, whose rates were not measured as a line's",
                    text.key
                );
                return Err(text.error(&message, expected));
            }
        }
        let (links, _) = self.resolve_links(&AnyNames::default())?;
        let Some(link) = links.first() else {
            return Err(ScenarioError::about(&self.file, "found no link", expected));
        };
        Ok(Shaper {
            down: Part::of(&link.capacity, STEADY[0]),
            up: link.up.as_ref().map(|up| Part::of(&up.capacity, STEADY[1])),
            overhead: Some(link.wire.overhead).filter(|overhead| *overhead > Bytes::new(0)),
            discipline: disciplines.pop().map(|text| text.value),
        })
    }
}

impl Part {
    fn of(capacity: &Capacity, steady: u64) -> Self {
        let (of, percent, varies) = match capacity {
            Capacity::Trace(_) => (slowest(capacity), VARYING, true),
            steady_rate => (steady_rate.nominal(), steady, false),
        };
        Part {
            rate: whole(of.scale(percent, 100)).max(SLOWEST),
            of,
            percent,
            varies,
        }
    }
}

/// A rate without parts of a kbit/s.
fn whole(rate: Rate) -> Rate {
    Rate::from_bits(rate.as_bits() / 1000 * 1000)
}

/// The rate of the slowest second of those that begin with a step.
fn slowest(capacity: &Capacity) -> Rate {
    let Capacity::Trace(trace) = capacity else {
        return capacity.nominal();
    };
    let mut start = Duration::ZERO;
    let mut seconds = Vec::new();
    for (_, holds) in trace.pieces() {
        let bytes = capacity.bytes_between(start, start + SECOND);
        seconds.push(Rate::from_bits((bytes * 8.0) as u64));
        start += holds;
    }
    seconds.into_iter().min().unwrap_or_else(|| trace.nominal())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Shaper> {
        Document::parse("my-line.toml", text)?.shaper()
    }

    fn bits(rate: &str) -> Rate {
        rate.parse().unwrap()
    }

    #[test]
    fn a_steady_line_and_one_that_varies() {
        let shaper = of("disciplines = [\"pfifo\", \"cake\"]\n[link]\nrate = \"50mbit\"\noverhead = \"18B\"\n\
                         [link.up]\nsteps = [\"0s 10mbit\", \"0.5s 2mbit\", \"1s 6mbit\", \"1.5s 10mbit\"]")
        .unwrap();
        let down = Part {
            rate: bits("45mbit"),
            of: bits("50mbit"),
            percent: 90,
            varies: false,
        };
        assert_eq!(shaper.down, down);
        // Half a second of 2 and half a second of 6.
        let up = Part {
            rate: bits("3400kbit"),
            of: bits("4mbit"),
            percent: 85,
            varies: true,
        };
        assert_eq!(shaper.up, Some(up));
        assert_eq!(shaper.overhead, Some(Bytes::new(18)));
        assert_eq!(shaper.discipline.as_deref(), Some("cake"));
    }

    #[test]
    fn an_outage_leaves_a_rate() {
        let shaper = of("[link]\nsteps = \"0s 10mbit; 5s 0mbit; 7s 10mbit\"").unwrap();
        assert_eq!(
            (shaper.down.of, shaper.down.rate),
            (Rate::default(), SLOWEST)
        );
        assert_eq!(
            (shaper.up, shaper.overhead, shaper.discipline),
            (None, None, None)
        );
    }

    #[test]
    fn what_is_no_line_is_refused() {
        for (text, place, message) in [
            (
                "[link]\nrate = \"5mbit\"\n[link.up]\ntrace = \"t\"",
                "my-line.toml:4:9",
                "found a trace",
            ),
            (
                "[[link]]\nrate = \"5mbit\"\n[[link]]\nrate = \"5mbit\"",
                "my-line.toml",
                "found 2 of them",
            ),
            ("[link]\nrtt = \"5ms\"", "my-line.toml:1", "no capacity"),
            ("[link]\nrate = \"fast\"", "my-line.toml:2:8", "fast"),
            ("name = \"x\"", "my-line.toml", "there is no link"),
            ("[packages]\n", "my-line.toml:1", "unknown key"),
            ("rates: 5", "my-line.toml:1", ""),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.place().starts_with(place), "{text}: {error}");
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert!(!error.help.is_empty(), "{error}");
        }
    }
}
