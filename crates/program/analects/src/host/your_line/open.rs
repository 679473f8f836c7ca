//! What a measurement leaves open of a line: each simulated evening has one of the lines that it may be.

use crate::cli::FAIR;
use line::client::Way;
use line::losses::{Drops, WireLoss};
use line::measured::{MeasuredDirection, Queue};
use units::random::Stream;

/// A buffer that was filled, in parts of the longest wait but one: packets of others come to it seldom, and not all of
/// them when it is just full (docs/decisions/0076-your-own-line.md).
const FILLED: [f64; 2] = [0.95, 1.15];
/// One that was not filled: nothing is known but its least, and longer ones change little.
const UNFILLED: [f64; 2] = [1.0, 4.0];

/// One of the lines that a measured one may be.
#[derive(Debug, Clone, Copy)]
pub enum Draw {
    /// The likely one, which is written down.
    Likely,
    /// That of an evening, by its number from 1.
    Evening(u64),
}

/// The queue of a way.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// Its discipline.
    pub discipline: &'static str,
    /// Its limit in bytes, where the discipline has none by itself.
    pub buffer: Option<u64>,
}

impl Draw {
    fn stream(self, of: &str) -> Option<Stream> {
        match self {
            Draw::Likely => None,
            Draw::Evening(number) => Some(Stream::new(number, of)),
        }
    }

    /// The queue of a `direction`, where the owner has `said` what it is.
    pub fn lane(self, direction: &MeasuredDirection, way: Way, said: Option<&'static str>) -> Lane {
        let alone = |discipline| Lane {
            discipline,
            buffer: None,
        };
        let fifo = Lane {
            discipline: "pfifo",
            buffer: self.buffer(direction, way),
        };
        match (direction.queue, direction.drops) {
            (Queue::Fair, _) | (Queue::Short, Some(Drops::Early) | None) if said.is_some() => {
                alone(said.unwrap_or(FAIR[0]))
            }
            (Queue::Fair, _) => alone(self.one_of(FAIR)),
            (Queue::Long, _) | (Queue::Short, Some(Drops::Full)) => fifo,
            (Queue::Short, Some(Drops::Early)) => alone("codel"),
            // Kept short, or small: either.
            (Queue::Short, _) => match self.one_of(["codel", "pfifo"]) {
                "pfifo" => fifo,
                other => alone(other),
            },
            // A bucket of so many bytes drops what a buffer of as many drops.
            (Queue::Policed, _) => Lane {
                discipline: "policer",
                buffer: direction.burst_bytes,
            },
        }
    }

    /// One after the other, the first where only one is asked for: both ways have the same.
    fn one_of<const N: usize>(self, of: [&'static str; N]) -> &'static str {
        match self {
            Draw::Likely => of[0],
            Draw::Evening(number) => of[(number % N as u64) as usize],
        }
    }

    fn buffer(self, direction: &MeasuredDirection, way: Way) -> Option<u64> {
        let seen = direction.buffer_bytes?;
        let [least, most] = if direction.overflowed {
            FILLED
        } else {
            UNFILLED
        };
        let part = self
            .stream(way.name())
            .map(|mut stream| least + (most - least) * stream.unit());
        Some((seen as f64 * part.unwrap_or(1.0)) as u64)
    }

    /// What the wire loses, as a share, both ways together; none where no way tells.
    pub fn loss(self, ways: impl Iterator<Item = Option<WireLoss>>) -> Option<f64> {
        let wire = ways.flatten().reduce(WireLoss::and)?;
        // Where nothing was lost there is most likely nothing that loses.
        if wire.share == 0.0 {
            return Some(0.0);
        }
        let deviations = self.stream("loss").map(|mut stream| stream.normal());
        Some(deviations.map_or(wire.share, |deviations| wire.at(deviations)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use line::measured::Confidence;

    fn direction(queue: Queue, drops: Option<Drops>, overflowed: bool) -> MeasuredDirection {
        MeasuredDirection {
            rate_mbit: 10.0,
            course_mbit: Vec::new(),
            varies: None,
            slowest_mbit: None,
            beside_ms: None,
            one_way_ms: None,
            lost: None,
            loaded_ms: None,
            buffer_bytes: Some(100_000),
            burst_bytes: (queue == Queue::Policed).then_some(20_000),
            overflowed,
            drops,
            wire_loss: None,
            isolated: None,
            probed: None,
            queue,
            responsiveness: None,
            confidence: Confidence::Low,
            connections: 4,
            server_limit: false,
            doubts: Vec::new(),
        }
    }

    fn evenings(direction: &MeasuredDirection, said: Option<&'static str>) -> Vec<Lane> {
        let of = |evening| Draw::Evening(evening).lane(direction, Way::Down, said);
        (1..=20).map(of).collect()
    }

    #[test]
    fn what_keeps_waits_short_is_each_of_three_unless_it_is_said() {
        let fair = direction(Queue::Fair, None, true);
        for name in FAIR {
            let of = evenings(&fair, None).into_iter();
            assert!(of.filter(|lane| lane.discipline == name).count() >= 6);
            let said = evenings(&fair, Some(name));
            assert!(said.iter().all(|lane| lane.discipline == name));
            // What was found to be one queue for all is none of them.
            let long = direction(Queue::Long, Some(Drops::Full), true);
            assert_eq!(evenings(&long, Some(name))[0].discipline, "pfifo");
        }
    }

    #[test]
    fn buffers_lie_about_what_was_seen_and_above_what_was_not_filled() {
        let within = |overflowed: bool, [least, most]: [u64; 2]| {
            let long = direction(Queue::Long, Some(Drops::Full), overflowed);
            let likely = Draw::Likely.lane(&long, Way::Down, None);
            assert_eq!(likely.buffer, Some(100_000));
            let mut buffers: Vec<u64> = evenings(&long, None)
                .iter()
                .filter_map(|lane| lane.buffer)
                .collect();
            buffers.sort_unstable();
            assert!(buffers[0] >= least && buffers[19] <= most, "{buffers:?}");
            // They spread over half of that at least.
            assert!(buffers[19] - buffers[0] > (most - least) / 2, "{buffers:?}");
        };
        within(true, [95_000, 115_000]);
        within(false, [100_000, 400_000]);
    }

    #[test]
    fn queues_are_what_their_losses_say() {
        let of = |queue, drops| Draw::Likely.lane(&direction(queue, drops, true), Way::Up, None);
        let short = |drops| of(Queue::Short, drops);
        assert_eq!(short(Some(Drops::Early)).discipline, "codel");
        assert_eq!(short(Some(Drops::Full)).buffer, Some(100_000));
        let policed = of(Queue::Policed, Some(Drops::Policed));
        assert_eq!(
            (policed.discipline, policed.buffer),
            ("policer", Some(20_000))
        );
        let unclear = evenings(&direction(Queue::Short, None, false), None);
        for name in ["codel", "pfifo"] {
            assert!(unclear.iter().any(|lane| lane.discipline == name));
        }
    }

    #[test]
    fn a_wires_loss_is_what_both_ways_tell() {
        let wires = [
            Some(WireLoss::seen(0.004, 2000)),
            Some(WireLoss::seen(0.006, 2000)),
        ];
        let loss = |draw: Draw| draw.loss(wires.into_iter()).unwrap();
        assert!((loss(Draw::Likely) - 0.005).abs() < 1e-9);
        let drawn: Vec<f64> = (1..=20).map(|one| loss(Draw::Evening(one))).collect();
        assert!(drawn.iter().any(|loss| *loss < 0.0045) && drawn.iter().any(|loss| *loss > 0.0055));
        assert!(
            drawn.iter().all(|loss| (0.002..0.012).contains(loss)),
            "{drawn:?}"
        );
        let none = [Some(WireLoss::seen(0.0, 2000)), None];
        assert_eq!(Draw::Evening(3).loss(none.into_iter()), Some(0.0));
        assert_eq!(Draw::Likely.loss([None, None].into_iter()), None);
    }
}
