//! A line for each packet and queue.

use super::parties::{Parties, ecn_name};
use super::{TapOutput, WritingTap};
use measure::{Event, LinkId, PacketId, Sink};
use qdisc::DropReason;
use scenario::Scenario;
use std::collections::BTreeMap;
use std::io::{self, Write};
use units::{Ecn, Instant};

/// The columns.
const HEAD: [&str; 13] = [
    "in_s",
    "out_s",
    "sojourn_ms",
    "link",
    "packet",
    "flow",
    "carrier",
    "source",
    "destination",
    "size_bytes",
    "ecn",
    "decision",
    "reason",
];

/// Writes CSV with a line for each packet that leaves a queue or is dropped by it, in the order in
/// which that happens; a packet that passes several queues has a line for each. Packets still
/// waiting when the run ends have none. Warm-up is part of it.
///
/// - `in_s`, `out_s`: when the packet was handed to the queue, and when it left for the wire or was
///   dropped: seconds since the start of the run, to the nanosecond.
/// - `sojourn_ms`: the time between them, milliseconds.
/// - `link`: the queue, by the name that results have for it.
/// - `packet`: its number. In the simulator no other packet of the run has it, and it keeps it from
///   queue to queue; the kernel's records count those that come to any queue.
/// - `flow`, `carrier`: the flow's name in results, and its carrier; empty for packets of no flow,
///   such as a kernel's own messages.
/// - `source`, `destination`: addresses and ports ([`scenario::addresses`]).
/// - `size_bytes`: IP length.
/// - `ecn`: the ECN field as the packet left: `not-ect`, `ect0`, `ect1` or `ce`.
/// - `decision`: `sent`; `marked`, if this queue did that and sent it; `dropped`; or `lost`, on the wire
///   behind the queue.
/// - `reason`: of a drop: `tail`, `overlimit`, `congestion`, `change` or `rate` ([`DropReason`]).
pub struct PacketLog<'a, W: Write> {
    parties: Parties<'a>,
    waiting: BTreeMap<u64, Waiting>,
    /// The last one to leave: if the wire loses it, that event is next.
    left: Option<LogLine>,
    lines: PacketLines<W>,
}

/// The file of a [`PacketLog`], for whoever else has such packets.
pub struct PacketLines<W: Write>(TapOutput<csv::Writer<W>>);

/// One of its lines.
#[derive(Debug, Clone, Copy)]
pub struct PacketLine<'a> {
    /// When the packet was handed to the queue.
    pub came: Instant,
    /// When it left.
    pub left: Instant,
    /// The queue.
    pub link: &'a str,
    /// Its number.
    pub packet: u64,
    /// The flow.
    pub flow: &'a str,
    /// The flow's carrier.
    pub carrier: &'a str,
    /// Addresses and ports of source and destination.
    pub ends: [&'a str; 2],
    /// IP length.
    pub bytes: u32,
    /// The ECN field as it left.
    pub ecn: Ecn,
    /// `sent`, `marked`, `dropped` or `lost`.
    pub decision: &'a str,
    /// Of a drop.
    pub reason: &'a str,
}

impl<W: Write> PacketLines<W> {
    /// An empty one, written to `writer`.
    pub fn new(writer: W) -> Self {
        let out = csv::WriterBuilder::new()
            .buffer_capacity(super::BUFFER)
            .from_writer(writer);
        let mut output = TapOutput::new(out);
        output.write(|out| Ok(out.write_record(HEAD)?));
        PacketLines(output)
    }

    /// Adds a line.
    pub fn add(&mut self, line: &PacketLine<'_>) {
        let [came, left] = [line.came, line.left].map(seconds);
        let record = [
            came.as_str(),
            &left,
            &milliseconds(line.left.since(line.came).as_nanos()),
            line.link,
            &line.packet.to_string(),
            line.flow,
            line.carrier,
            line.ends[0],
            line.ends[1],
            &line.bytes.to_string(),
            ecn_name(line.ecn),
            line.decision,
            line.reason,
        ];
        self.0.write(|out| Ok(out.write_record(record)?));
    }

    /// Writes the data that is still held back.
    ///
    /// # Errors
    /// The first error since it began.
    pub fn finish(&mut self) -> io::Result<()> {
        self.0.finish(csv::Writer::flush)
    }
}

struct Waiting {
    came: Instant,
    marked: bool,
}

struct LogLine {
    came: Instant,
    left: Instant,
    link: LinkId,
    packet: PacketId,
    decision: &'static str,
    reason: &'static str,
}

impl<'a, W: Write> PacketLog<'a, W> {
    /// A log of a run of `scenario`, written to `writer`.
    pub fn new(scenario: &'a Scenario, writer: W) -> Self {
        PacketLog {
            parties: Parties::new(scenario),
            waiting: BTreeMap::new(),
            left: None,
            lines: PacketLines::new(writer),
        }
    }

    /// A packet left its queue for the wire, or was dropped.
    fn leave(&mut self, left: Instant, link: LinkId, packet: PacketId, drop: Option<DropReason>) {
        self.write_left();
        let waiting = self.waiting.remove(&packet.number);
        let waiting = waiting.unwrap_or(Waiting {
            came: left,
            marked: false,
        });
        let (decision, reason) = match drop {
            Some(reason) => ("dropped", reason.name()),
            None if waiting.marked => ("marked", ""),
            None => ("sent", ""),
        };
        self.left = Some(LogLine {
            came: waiting.came,
            left,
            link,
            packet,
            decision,
            reason,
        });
    }

    /// Writes the line of the last packet to leave.
    fn write_left(&mut self) {
        let Some(line) = self.left.take() else {
            return;
        };
        let party = self.parties.flow(line.packet.flow);
        let ends = party.map(|party| self.parties.ends(line.link, party));
        let end = |place: usize| ends.map_or_else(String::new, |ends| ends[place].to_string());
        self.lines.add(&PacketLine {
            came: line.came,
            left: line.left,
            link: self.parties.link(line.link),
            packet: line.packet.number,
            flow: &party.map_or_else(String::new, |party| party.name()),
            carrier: party.map_or("", |party| party.carrier.name()),
            ends: [&end(0), &end(1)],
            bytes: line.packet.bytes,
            ecn: line.packet.ecn,
            decision: line.decision,
            reason: line.reason,
        });
    }
}

impl<W: Write> Sink for PacketLog<'_, W> {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Enqueued { packet, .. } => {
                let marked = false;
                let waiting = Waiting { came: now, marked };
                self.waiting.insert(packet.number, waiting);
            }
            Event::Marked { packet, .. } => {
                if let Some(waiting) = self.waiting.get_mut(&packet.number) {
                    waiting.marked = true;
                }
            }
            Event::Dequeued { link, packet, .. } => self.leave(now, link, packet, None),
            Event::Dropped {
                link,
                packet,
                reason,
            } => self.leave(now, link, packet, Some(reason)),
            Event::Lost { packet, .. } => {
                let left = self.left.as_mut();
                if let Some(left) = left.filter(|left| left.packet.number == packet.number) {
                    left.decision = "lost";
                }
            }
            Event::Moved { .. }
            | Event::Noticed { .. }
            | Event::Sender { .. }
            | Event::Limited { .. }
            | Event::Rated { .. }
            | Event::Sent { .. }
            | Event::Arrived { .. }
            | Event::Media { .. } => {}
            Event::Traffic(event) => self.parties.start(&event),
        }
    }
}

impl<W: Write> WritingTap for PacketLog<'_, W> {
    fn finish(&mut self) -> io::Result<()> {
        self.write_left();
        self.lines.finish()
    }
}

/// Seconds since the start of the run, with all digits.
fn seconds(at: Instant) -> String {
    let nanos = at.as_nanos();
    format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// Nanoseconds as milliseconds, with all digits.
fn milliseconds(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000)
}
