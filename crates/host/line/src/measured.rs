//! The result, as numbers and in words.

use crate::apart::Apart;
use crate::course::{slowest, varies};
use crate::direction::{Loaded, TimeKind, Way};
use crate::losses::{Drops, WireLoss};
use crate::one_way::OneWay;
pub use crate::queue::Queue;
use crate::queue::{Found, Known, found};
use crate::rpm::Responsiveness;
pub use crate::waits::Waits;
use crate::waits::{passed, sorted, times};
use probe::report::Management;
use serde::Serialize;
use std::net::SocketAddr;

/// A packet of 1500 bytes, and what of it is a segment's payload with time stamps, by family.
const PACKET: f64 = 1500.0;
const PAYLOAD: [f64; 2] = [1448.0, 1428.0];
/// A host whose looks come later than this, in ms, is not to be believed.
const BUSY: f64 = 15.0;
/// A wait of the way that is not loaded that is worth a word, in ms.
const APPRECIABLE: f64 = 10.0;
/// The part of what a server grants from which on its limit is what was measured.
const AT_LIMIT: f64 = 0.9;

/// The line without load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Idle {
    /// The least round trip, of TCP's handshake, in ms.
    pub rtt_ms: f64,
    /// The least time of a request on a connection that stood, in ms.
    pub request_ms: f64,
    /// The least times of each way; none where the server tells no clock.
    #[serde(skip)]
    pub(crate) apart: Option<Apart>,
}

/// How far a value may be believed, as the draft has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Too few intervals to tell.
    Low,
    /// It did not become stable.
    Medium,
    /// It became stable.
    High,
}

/// One way of the line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredDirection {
    /// The rate of IP packets while the line was full, in Mbit/s.
    pub rate_mbit: f64,
    /// The same in each 100 ms since the load began, in Mbit/s.
    pub course_mbit: Vec<f64>,
    /// Whether the rate varies; none where it took too short to tell.
    pub varies: Option<bool>,
    /// The rate of IP packets in the slowest second of the second half, in Mbit/s.
    pub slowest_mbit: Option<f64>,
    /// How long a first packet waits beside the load; none without one that passed.
    pub beside_ms: Option<Waits>,
    /// The share of first packets beside the load that were lost, on their way or their answers'.
    pub lost: Option<f64>,
    /// How long a request waits on a connection that carries load. A server's own buffers are part of it.
    pub loaded_ms: Option<Waits>,
    /// Waits on the way there and back, of requests beside the load, those whose packet was lost and came again with them;
    /// none where the server tells no clock.
    pub one_way_ms: Option<OneWay>,
    /// What of the buffer was filled, in bytes of IP packets: what came during the longest wait but one.
    pub buffer_bytes: Option<u64>,
    /// What a policer let pass at once, in bytes of IP packets; none where there is a queue.
    pub burst_bytes: Option<u64>,
    /// Whether a queue dropped load: otherwise the buffer was not full, and may be larger.
    pub overflowed: bool,
    /// When the queue drops; none where losses do not tell, or each flow has its own.
    pub drops: Option<Drops>,
    /// What the wire loses by itself; none where that cannot be told from what the queue drops.
    pub wire_loss: Option<WireLoss>,
    /// Whether packets of others wait little while the line is full; none where the waits do not tell.
    pub isolated: Option<bool>,
    /// What trains of packets showed of the queue, as `analects probe --quick` sends them; none without a server of
    /// the user's own.
    pub probed: Option<Management>,
    /// What follows of the queue from both.
    pub queue: Queue,
    /// Round trips a minute, by draft-ietf-ippm-responsiveness.
    pub responsiveness: Option<Responsiveness>,
    /// How far the responsiveness may be believed.
    pub confidence: Confidence,
    /// Connections that carried load.
    pub connections: usize,
    /// Whether the server's own limit is what was measured.
    pub server_limit: bool,
    /// What makes its figures doubtful.
    pub doubts: Vec<String>,
}

/// A line, as it was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// The server's name.
    pub server: String,
    /// Its address.
    pub address: SocketAddr,
    /// Without load.
    pub idle: Idle,
    /// Towards this host.
    pub down: Option<MeasuredDirection>,
    /// From this host.
    pub up: Option<MeasuredDirection>,
    /// Bytes that load took, both ways.
    pub bytes: u64,
    /// How long it took, in seconds of load.
    pub seconds: f64,
    /// What was left out, or judged by less.
    pub notes: Vec<String>,
    /// What the server grants, in bits a second, if it says so.
    #[serde(skip)]
    granted: Option<f64>,
    /// What trains of packets showed of the queues, down and up.
    #[serde(skip)]
    pub(crate) kinds: [Option<Management>; 2],
}

impl Measured {
    pub(crate) fn new(server: &str, address: SocketAddr, idle: Idle, granted: Option<f64>) -> Self {
        Measured {
            server: server.to_owned(),
            address,
            idle,
            down: None,
            up: None,
            bytes: 0,
            seconds: 0.0,
            notes: Vec::new(),
            granted,
            kinds: [None; 2],
        }
    }

    pub(crate) fn place(&mut self, way: Way) -> &mut Option<MeasuredDirection> {
        match way {
            Way::Down => &mut self.down,
            Way::Up => &mut self.up,
        }
    }

    /// What was found of a way; none if it was not measured.
    pub fn way(&self, way: Way) -> Option<&MeasuredDirection> {
        match way {
            Way::Down => self.down.as_ref(),
            Way::Up => self.up.as_ref(),
        }
    }

    /// Both ways that were measured.
    pub fn ways(&self) -> impl Iterator<Item = (Way, &MeasuredDirection)> {
        let ways = [Way::Down, Way::Up].into_iter();
        ways.filter_map(|way| Some((way, self.way(way)?)))
    }

    /// What makes a part of it doubtful, or was left out.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let of = |(way, direction): (Way, &MeasuredDirection)| {
            let doubts = direction.doubts.clone().into_iter();
            doubts.map(move |doubt| format!("{}: {doubt}", way.name()))
        };
        self.ways().flat_map(of).chain(self.notes.iter().cloned())
    }

    /// The result in lines for a reader.
    pub fn text(&self) -> String {
        let mut lines = vec![format!(
            "idle: a round trip to {} takes {} ms",
            self.server,
            figure(self.idle.rtt_ms)
        )];
        for (way, direction) in self.ways() {
            lines.push(direction.line(way));
        }
        lines.extend(self.remarks().map(|remark| format!("note: {remark}")));
        lines.push(format!(
            "{} MB in {} s of load",
            figure(self.bytes as f64 / 1e6),
            figure(self.seconds)
        ));
        lines.join("\n") + "\n"
    }
}

impl MeasuredDirection {
    fn line(&self, way: Way) -> String {
        let mut text = format!(
            "{:5} {} Mbit/s",
            format!("{}:", way.name()),
            figure(self.rate_mbit)
        );
        if self.server_limit {
            text += " (the server's limit, not the line's)";
        }
        if self.varies == Some(true) {
            text += ", and it varies";
        }
        if let Some(waits) = self.beside_ms {
            text += &format!(
                "; full, a packet of others waits {} ms, one in twenty {} or more",
                figure(waits.median),
                figure(waits.p95)
            );
        }
        if let Some(back) = self.one_way_ms.map(|ways| ways.way(way.other()))
            && back.p95 >= APPRECIABLE
        {
            text += &format!(
                "; the other way meanwhile {} ms, one in twenty {}",
                figure(back.median),
                figure(back.p95)
            );
        }
        if let Some(lost) = self.lost.filter(|lost| *lost > 0.0) {
            text += &format!(", one in {:.0} is lost", 1.0 / lost);
        }
        if let (Queue::Long, Some(bytes)) = (self.queue, self.buffer_bytes) {
            let least = if self.overflowed { "" } else { "at least " };
            text += &format!(", behind {least}{} kB", figure(bytes as f64 / 1e3));
        }
        if let Some(wire) = self.wire_loss.filter(|wire| wire.share > 0.0) {
            text += &format!(
                "; the wire itself loses one packet in {:.0} (in {:.0} to {:.0})",
                1.0 / wire.share,
                1.0 / wire.most,
                1.0 / wire.least
            );
        }
        text += match (self.queue, self.drops) {
            (Queue::Fair, _) => "; flows do not wait for each other",
            (Queue::Long, _) => "; all flows wait in one queue",
            (Queue::Policed, _) => "; what is above the rate is dropped, without a queue",
            (Queue::Short, Some(Drops::Early)) => {
                "; the queue drops before it is full, to stay short"
            }
            (Queue::Short, Some(_)) => "; the queue is small",
            (Queue::Short, None) => "; the queue is short",
        };
        if let Some(found) = self.responsiveness {
            text += &format!(
                "; {:.0} round trips a minute ({} confidence)",
                found.rpm,
                match self.confidence {
                    Confidence::Low => "low",
                    Confidence::Medium => "medium",
                    Confidence::High => "high",
                }
            );
        }
        text
    }
}

/// A number in three digits.
fn figure(value: f64) -> String {
    match value.abs() {
        large if large >= 99.95 => format!("{value:.0}"),
        middle if middle >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// What makes a way's figures doubtful.
fn doubts(loaded: &Loaded, found: &Found) -> Vec<String> {
    let cut = loaded.cut.iter().map(|why| format!("ended early: {why}"));
    let busy = busy(&loaded.late).map(|late| {
        format!(
            "this computer was busy, one look in ten came {late:.0} ms late: the line may carry more, and packets may \
             wait less"
        )
    });
    let unclear = found.unclear().then(|| {
        "packets were lost too seldom to tell a buffer that fills from a queue that is kept short".to_owned()
    });
    cut.chain(busy).chain(unclear).collect()
}

/// How late one look in ten came, in ms, where that is late enough to matter.
fn busy(late: &[f64]) -> Option<f64> {
    let sorted = sorted(late);
    let late = *sorted.get(sorted.len() * 9 / 10)?;
    (late > BUSY).then_some(late)
}

/// What follows from what was seen of a way. The rate and the waits are of its second half, when the line was full.
pub(crate) fn direction(loaded: &Loaded, line: &Measured, way: Way) -> MeasuredDirection {
    let end = loaded.course.end();
    let half = end / 2.0;
    let handshakes = loaded.of(TimeKind::Tcp, half).count();
    let passed = times(&passed(loaded, half));
    let packets = PACKET / PAYLOAD[usize::from(line.address.is_ipv6())];
    let rate = loaded.course.rate([half, end]).unwrap_or(0.0) * packets / 1e6;
    let steps: Vec<f64> = loaded
        .course
        .steps()
        .iter()
        .map(|step| step * packets)
        .collect();
    let apart = loaded.apart.iter().filter(|(at, _)| *at >= half);
    let apart: Vec<Apart> = apart.map(|(_, apart)| *apart).collect();
    let second_half = &steps[steps.len() / 2..];
    let known = Known {
        idle: line.idle.rtt_ms,
        mbit: rate,
        beside: Waits::of(&passed, line.idle.rtt_ms),
        on: Waits::of(&loaded.times(TimeKind::Loaded, half), line.idle.request_ms),
        probed: line.kinds[way as usize],
    };
    let found = found(loaded, &known);
    MeasuredDirection {
        rate_mbit: rate,
        varies: varies(second_half),
        slowest_mbit: slowest(second_half),
        course_mbit: steps,
        beside_ms: known.beside,
        lost: (handshakes > 0).then(|| 1.0 - passed.len() as f64 / handshakes as f64),
        loaded_ms: known.on,
        one_way_ms: OneWay::of(&apart, line.idle.apart),
        buffer_bytes: found.longest.map(|bytes| (bytes * packets) as u64),
        burst_bytes: (found.queue == Queue::Policed)
            .then(|| (loaded.course.burst(rate * 1e6 / packets) as f64 * packets) as u64),
        overflowed: loaded.overflowed && (found.queue == Queue::Fair || found.told.drops.is_some()),
        drops: found.told.drops,
        wire_loss: found.told.wire,
        isolated: found.isolated,
        probed: known.probed,
        queue: found.queue,
        responsiveness: loaded.rpm,
        confidence: match (loaded.enough, loaded.settled) {
            (_, true) => Confidence::High,
            (true, false) => Confidence::Medium,
            (false, false) => Confidence::Low,
        },
        connections: loaded.connections,
        server_limit: line
            .granted
            .is_some_and(|granted| rate * 1e6 >= AT_LIMIT * granted),
        doubts: doubts(loaded, &found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::Course;
    use crate::direction::Sample;

    fn line() -> Measured {
        let idle = Idle {
            rtt_ms: 20.0,
            request_ms: 20.0,
            apart: None,
        };
        Measured::new("h", "192.0.2.1:443".parse().unwrap(), idle, Some(30e6))
    }

    fn full(bytes_a_step: u64, beside: f64, on: f64) -> Loaded {
        let mut loaded = Loaded::default();
        for step in 1..=80_u64 {
            let at = step as f64 * 100.0;
            loaded.course.push(at, step * bytes_a_step);
            for (kind, ms) in [(TimeKind::Tcp, beside), (TimeKind::Loaded, on)] {
                loaded.samples.push(Sample { kind, at, ms });
            }
        }
        loaded
    }

    #[test]
    fn a_rate_is_of_packets_and_a_wait_beyond_the_idle_line() {
        let found = direction(&full(125_000, 220.0, 240.0), &line(), Way::Down);
        assert!((found.rate_mbit - 10.0 * 1500.0 / 1448.0).abs() < 1e-6);
        let waits = found.beside_ms.unwrap();
        assert_eq!((waits.median, waits.p95), (200.0, 200.0));
        assert_eq!((found.isolated, found.queue), (Some(false), Queue::Long));
        let buffer = found.buffer_bytes.unwrap() as f64;
        assert!((buffer / (0.2 * found.rate_mbit * 125e3) - 1.0).abs() < 1e-3);
        assert!(!found.server_limit);
    }

    #[test]
    fn flows_that_do_not_wait_for_each_other_are_seen() {
        let found = direction(&full(125_000, 21.0, 90.0), &line(), Way::Down);
        assert_eq!((found.isolated, found.queue), (Some(true), Queue::Fair));
        let short = direction(&full(125_000, 30.0, 40.0), &line(), Way::Down);
        assert_eq!((short.isolated, short.queue), (Some(false), Queue::Short));
        // A packet takes 12 ms, and two are before it.
        let slow = direction(&full(12_500, 35.0, 900.0), &line(), Way::Down);
        assert_eq!((slow.isolated, slow.queue), (Some(true), Queue::Fair));
        let nothing = direction(&full(125_000, 21.0, 30.0), &line(), Way::Down);
        assert_eq!((nothing.isolated, nothing.queue), (None, Queue::Short));
    }

    #[test]
    fn a_servers_limit_is_not_the_lines() {
        let found = direction(&full(350_000, 21.0, 25.0), &line(), Way::Down);
        assert!(found.server_limit);
        let mut measured = line();
        measured.down = Some(found);
        assert!(
            measured.text().contains("the server's limit"),
            "{}",
            measured.text()
        );
    }

    #[test]
    fn a_lost_handshake_is_no_wait() {
        let mut loaded = full(125_000, 700.0, 900.0);
        for step in (0..80).step_by(3) {
            let at = f64::from(step) * 100.0;
            let kind = TimeKind::Tcp;
            loaded.samples.push(Sample {
                kind,
                at,
                ms: 1700.0,
            });
        }
        let found = direction(&loaded, &line(), Way::Down);
        assert_eq!(found.beside_ms.unwrap().p95, 680.0);
        assert!(
            (found.lost.unwrap() - 0.25).abs() < 0.02,
            "{:?}",
            found.lost
        );
        let deep = direction(&full(125_000, 1800.0, 1900.0), &line(), Way::Down);
        assert_eq!(deep.beside_ms.unwrap().median, 1780.0);
    }

    #[test]
    fn a_busy_host_is_named() {
        let mut late = vec![0.5; 90];
        assert_eq!(busy(&late), None);
        late.extend([40.0; 20]);
        assert_eq!((busy(&late), busy(&[])), (Some(40.0), None));
    }

    #[test]
    fn nothing_that_passed_is_no_wait() {
        let mut loaded = Loaded {
            course: Course::default(),
            ..Loaded::default()
        };
        loaded.course.push(100.0, 10);
        let found = direction(&loaded, &line(), Way::Up);
        assert_eq!(
            (found.beside_ms, found.buffer_bytes, found.isolated),
            (None, None, None)
        );
        assert_eq!(found.confidence, Confidence::Low);
    }
}
