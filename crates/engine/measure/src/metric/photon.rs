//! `photon_p99`: from a player's input to the frame that shows it.

use super::declared::{Better, Column, Metric, Range};
use super::meter::{Meter, found};
use crate::event::{Event, Sink};
use crate::result::MeasuredValue;
use crate::samples::Samples;
use scenario::{Scenario, Traffic};
use std::collections::VecDeque;
use units::Instant;
use workload::{Event as Application, TrafficId};

/// `photon_p99` for the registry.
pub const PHOTON_P99: Metric = Metric {
    name: NAME,
    unit: "ms",
    range: Range::Positive,
    summary: "99th percentile of the time from a player's input to the frame that shows it",
    about: "Covers each call with frames and each `udp` entry of the same `host` in the other direction: a game \
            and its inputs. The first frame that the game hands over after an input has arrived is drawn with \
            it; the time ends when that frame, or a later one if it is lost, is shown. The time to draw a frame \
            and the screen's own are not in it; inputs that are lost do not count. `photon_p99:NAME` is that of \
            one call. A scenario has to ask for it: metrics = [\"photon_p99\"].",
    source: "Claypool and Claypool, CACM 49, 2006: players of fast games notice 100 ms",
    better: Better::Less,
    column: Some(Column::mean("photon p99", 0).asked()),
    meter: Some(|scenario| Box::new(Photon::new(scenario))),
    take: |observed, entry| found(observed, NAME, entry),
};

const NAME: &str = "photon_p99";
/// The figure of a `udp` entry that is an input's way to the game.
const WAY: &str = "delay";
/// The share of inputs that are shown within the value.
const SHARE: f64 = 0.99;

/// The games of a run.
struct Photon {
    from: Instant,
    games: Vec<Game>,
}

/// A call, and what its player did.
struct Game {
    name: String,
    call: TrafficId,
    /// The inputs' entries, and the place of the figure among theirs.
    inputs: Vec<(TrafficId, u8)>,
    /// When inputs were made that have arrived, and that no frame has yet.
    arrived: Vec<Instant>,
    /// Frames that are on their way, and the inputs that are drawn in each.
    frames: VecDeque<(u64, Vec<Instant>)>,
    times: Samples,
}

impl Photon {
    fn new(scenario: &Scenario) -> Self {
        let entries = || (0u16..).map(TrafficId).zip(&scenario.traffic);
        let inputs = |game: &Traffic| {
            let of = |(id, entry): (TrafficId, &Traffic)| {
                let beside = entry.host == game.host && entry.up != game.up;
                let mut figures = entry.kind.entry.figures.iter();
                let way = figures.position(|figure| figure.name == WAY)?;
                (beside && entry.kind.entry.name == "udp").then_some((id, way as u8))
            };
            entries().filter_map(of).collect::<Vec<_>>()
        };
        let games = entries().filter(|(_, entry)| entry.kind.entry.rows == workload::Rows::Call);
        let games = games.map(|(call, entry)| Game {
            name: entry.name.clone(),
            call,
            inputs: inputs(entry),
            arrived: Vec::new(),
            frames: VecDeque::new(),
            times: Samples::default(),
        });
        Photon {
            from: Instant::ZERO + scenario.warmup,
            games: games.filter(|game| !game.inputs.is_empty()).collect(),
        }
    }
}

impl Game {
    fn event(&mut self, now: Instant, from: Instant, event: &Application) {
        match *event {
            Application::Observed {
                traffic,
                figure,
                began,
                ..
            } if self.inputs.contains(&(traffic, figure)) && began >= from => {
                self.arrived.push(began)
            }
            Application::FrameSent { call, frame }
                if call == self.call && !self.arrived.is_empty() =>
            {
                let inputs = std::mem::take(&mut self.arrived);
                self.frames.push_back((frame, inputs));
            }
            Application::FrameShown { call, frame, .. } if call == self.call => {
                while self
                    .frames
                    .front()
                    .is_some_and(|(first, _)| *first <= frame)
                {
                    let (_, inputs) = self.frames.pop_front().unwrap_or_default();
                    for input in inputs {
                        self.times.record(now.since(input).as_millis_f64());
                    }
                }
            }
            _ => {}
        }
    }
}

impl Sink for Photon {
    fn event(&mut self, now: Instant, event: &Event) {
        if let Event::Traffic(event) = *event {
            for game in &mut self.games {
                game.event(now, self.from, &event);
            }
        }
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

impl Meter for Photon {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let games = self.games.iter();
        let values = games.filter_map(|game| {
            Some(MeasuredValue {
                of: game.name.clone(),
                at: None,
                value: game.times.quantile(SHARE)?,
            })
        });
        values.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{AnyNames, Document};
    use units::Duration;

    const GAME: TrafficId = TrafficId(0);
    const PAD: TrafficId = TrafficId(1);

    fn photon(traffic: &str) -> Photon {
        let text = format!(
            "duration = \"9s\"\nwarmup = \"0s\"\ndisciplines = [\"pfifo\"]\nlink = {{ rate = \"8mbit\" }}\ntraffic = [{traffic}]"
        );
        let document = Document::parse("hand", &text).unwrap();
        Photon::new(&document.resolve(&AnyNames::default()).unwrap())
    }

    const BOTH: &str = r#"
        { name = "game", kind = "call", host = "tv" },
        { name = "pad", kind = "udp", host = "tv", direction = "up" },
        { name = "other", kind = "udp", host = "desk", direction = "up" },
        { name = "down", kind = "udp", host = "tv" },
    "#;

    fn input(photon: &mut Photon, of: TrafficId, made: u64, arrives: u64) {
        let [made, arrives] = [made, arrives].map(|ms| Instant::ZERO + Duration::from_millis(ms));
        let observed = Application::Observed {
            traffic: of,
            figure: 0,
            value: arrives.since(made).as_millis_f64(),
            began: made,
        };
        photon.event(arrives, &Event::Traffic(observed));
    }

    fn frame(photon: &mut Photon, at: u64, shown: bool, frame: u64) {
        let event = if shown {
            Application::FrameShown {
                call: GAME,
                frame,
                held: Duration::ZERO,
            }
        } else {
            Application::FrameSent { call: GAME, frame }
        };
        photon.event(
            Instant::ZERO + Duration::from_millis(at),
            &Event::Traffic(event),
        );
    }

    #[test]
    fn an_input_is_shown_by_the_first_frame_after_its_arrival() {
        let mut photon = photon(BOTH);
        input(&mut photon, PAD, 100, 120);
        frame(&mut photon, 133, false, 4);
        frame(&mut photon, 160, true, 4);
        let values = photon.finish();
        assert_eq!((values.len(), values[0].of.as_str()), (1, "game"));
        assert!((values[0].value - 60.0).abs() < 0.1, "{values:?}");
    }

    #[test]
    fn a_frame_on_its_way_does_not_show_it_and_a_lost_one_leaves_it_to_the_next() {
        let mut photon = photon(BOTH);
        frame(&mut photon, 100, false, 4);
        input(&mut photon, PAD, 100, 120);
        frame(&mut photon, 130, true, 4);
        assert!(photon.finish().is_empty());
        frame(&mut photon, 133, false, 5);
        frame(&mut photon, 166, false, 6);
        frame(&mut photon, 200, true, 6);
        let values = photon.finish();
        assert!((values[0].value - 100.0).abs() < 0.1, "{values:?}");
    }

    #[test]
    fn only_inputs_of_the_player_s_own_computer_count() {
        let mut photon = photon(BOTH);
        for other in [TrafficId(2), TrafficId(3), TrafficId(9)] {
            input(&mut photon, other, 100, 120);
        }
        frame(&mut photon, 133, false, 4);
        frame(&mut photon, 160, true, 4);
        assert!(photon.finish().is_empty());
    }

    #[test]
    fn a_call_without_inputs_has_no_value() {
        assert!(
            photon(r#"{ name = "call", kind = "call" }"#)
                .games
                .is_empty()
        );
    }
}
