//! The kernel's records of packets, as events of queues.
//!
//! A record is a line of the trace (Documentation/trace/ftrace.rst), made by the guest's probes:
//!
//! ```text
//! guest-71 [000] 12.345678: come: (net.net_dev_queue) skb=0x..a0 len=1514 dev="r1" tos=2 ports=0x4000400
//! guest-71 [000] 12.345690: leave: (qdisc.qdisc_dequeue) skb=0x..a0 handle=0x10000 tos=3
//! guest-71 [000] 12.345699: free: (skb.kfree_skb) skb=0x..b0
//! ```
//!
//! A packet arrives, waits under its address, and leaves or is freed.

use measure::{Event, LinkId, PacketId};
use qdisc::DropReason;
use std::collections::BTreeMap;
use units::{Duration, Ecn, Instant};

/// Why records cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("records of packets, line {line}: found {found:?}, expected {expected}")]
pub struct RecordError {
    /// The line, from 1.
    pub line: usize,
    /// The text found.
    pub found: String,
    /// The text expected.
    pub expected: &'static str,
}

/// A queue as the records call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedQueue {
    /// The device.
    pub device: String,
    /// The handle of its root qdisc.
    pub handle: u32,
}

/// A packet that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    link: LinkId,
    packet: PacketId,
    came: Instant,
}

/// Ethernet's header, which is not counted.
const ETHERNET: u32 = 14;

/// Reads records; `queues` in the order of links, `origin` the moment at which traffic started, in
/// nanoseconds on the records' clock. Events come in their order, none before the start.
///
/// # Errors
/// If a line of the probes is not of their form.
pub fn read(
    text: &str,
    queues: &[RecordedQueue],
    origin: u64,
) -> Result<Vec<(Instant, Event)>, RecordError> {
    let mut reader = Reader {
        queues,
        waiting: BTreeMap::new(),
        came: 0,
        events: Vec::new(),
    };
    for (line, text) in (1..).zip(text.lines()) {
        let Some((before, name, record)) = probed(text) else {
            continue;
        };
        let refuse = |expected| RecordError {
            line,
            found: text.trim().chars().take(120).collect(),
            expected,
        };
        let at = moment(before).ok_or_else(|| refuse("a time such as 12.345678"))?;
        let now = Instant::from_nanos(at.saturating_sub(origin));
        match name {
            "come" => reader.come(now, record),
            "leave" => reader.leave(now, record),
            _ => reader.free(now, record),
        }
        .ok_or_else(|| refuse("the fields of a probe"))?;
    }
    Ok(reader.events)
}

/// A probe's line: the part before its name, the name, its fields.
fn probed(text: &str) -> Option<(&str, &str, &str)> {
    ["come", "leave", "free"].into_iter().find_map(|name| {
        let (before, rest) = text.split_once(name)?;
        let before = before.strip_suffix(": ")?;
        Some((before, name, rest.strip_prefix(": (")?))
    })
}

/// Seconds with six digits behind the point, in nanoseconds.
fn moment(before: &str) -> Option<u64> {
    let word = before.rsplit(' ').next()?;
    let (seconds, micros) = word.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if micros.len() != 6 || !digits(micros) || !digits(seconds) {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    let micros: u64 = micros.parse().ok()?;
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(micros * 1000)
}

/// The field `name=` of a record.
fn field<'a>(record: &'a str, name: &str) -> Option<&'a str> {
    let mut words = record.split(' ');
    words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn number(record: &str, name: &str) -> Option<u64> {
    let text = field(record, name)?;
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

struct Reader<'a> {
    queues: &'a [RecordedQueue],
    /// By address.
    waiting: BTreeMap<u64, Waiting>,
    came: u64,
    events: Vec<(Instant, Event)>,
}

impl Reader<'_> {
    fn come(&mut self, now: Instant, record: &str) -> Option<()> {
        let device = field(record, "dev")?.trim_matches('"');
        let place = self.queues.iter().position(|q| q.device == device)?;
        let link = LinkId(place as u16);
        // The ports as in the packet: source and destination, most significant first.
        let ports = u32::try_from(number(record, "ports")?).ok()?.to_le_bytes();
        let source = u16::from_be_bytes([ports[0], ports[1]]);
        let destination = u16::from_be_bytes([ports[2], ports[3]]);
        let ours = scenario::addresses::flow_of((source, destination));
        let (flow, subflow) = ours.unzip();
        let length = u32::try_from(number(record, "len")?).ok()?;
        self.came += 1;
        let packet = PacketId {
            number: self.came,
            // Other packets belong to no flow, such as the kernel's own answers.
            flow,
            subflow: subflow.unwrap_or_default(),
            bytes: length.saturating_sub(ETHERNET),
            ecn: Ecn::of_tos(number(record, "tos")? as u8),
        };
        let waiting = Waiting {
            link,
            packet,
            came: now,
        };
        self.events.push((now, Event::Enqueued { link, packet }));
        let address = number(record, "skb")?;
        if let Some(gone) = self.waiting.insert(address, waiting) {
            // Its memory is used again, so it was given up without a record.
            self.drop(now, gone, DropReason::Congestion);
        }
        Some(())
    }

    fn leave(&mut self, now: Instant, record: &str) -> Option<()> {
        let handle = number(record, "handle")?;
        let place = self
            .queues
            .iter()
            .position(|q| u64::from(q.handle) == handle)?;
        let address = number(record, "skb")?;
        let ecn = Ecn::of_tos(number(record, "tos")? as u8);
        let Some(waiting) = self.waiting.remove(&address) else {
            // It arrived before there were records.
            return Some(());
        };
        let link = LinkId(place as u16);
        let packet = PacketId {
            ecn,
            ..waiting.packet
        };
        if ecn == Ecn::Ce && waiting.packet.ecn != Ecn::Ce {
            self.events.push((now, Event::Marked { link, packet }));
        }
        let sojourn: Duration = now.since(waiting.came);
        let event = Event::Dequeued {
            link,
            packet,
            sojourn,
        };
        self.events.push((now, event));
        Some(())
    }

    fn free(&mut self, now: Instant, record: &str) -> Option<()> {
        let address = number(record, "skb")?;
        if let Some(packet) = self.waiting.remove(&address) {
            // The kernel does not report the decision: the last arrival was refused, others were
            // chosen.
            let reason = if packet.packet.number == self.came {
                DropReason::Tail
            } else {
                DropReason::Congestion
            };
            self.drop(now, packet, reason);
        }
        Some(())
    }

    fn drop(&mut self, now: Instant, packet: Waiting, reason: DropReason) {
        let Waiting { link, packet, .. } = packet;
        let event = Event::Dropped {
            link,
            packet,
            reason,
        };
        self.events.push((now, event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEAD: &str = "# tracer: nop\n#\n#   TASK-PID  CPU#  TIMESTAMP  FUNCTION\n";

    fn queues() -> [RecordedQueue; 2] {
        [("r1", 0x10000), ("r0", 0x20000)].map(|(device, handle)| RecordedQueue {
            device: device.to_owned(),
            handle,
        })
    }

    fn come(micros: u64, skb: u64, len: u32, device: &str, tos: u8) -> String {
        // Flow 3 has port 1027, 0x0403, whose bytes the probe reads in the order of this machine.
        format!(
            " analects-guest-71 [000] 5.{micros:06}: come: (net.net_dev_queue) skb={skb:#x} \
             len={len} dev=\"{device}\" tos={tos} ports=0x3040304\n"
        )
    }

    fn leave(micros: u64, skb: u64, handle: u32, tos: u8) -> String {
        format!(
            " <idle>-0 [000] 5.{micros:06}: leave: (qdisc.qdisc_dequeue) skb={skb:#x} \
             handle={handle:#x} tos={tos}\n"
        )
    }

    fn free(micros: u64, skb: u64) -> String {
        format!(" <idle>-0 [000] 5.{micros:06}: free: (skb.kfree_skb) skb={skb:#x}\n")
    }

    #[test]
    fn a_packet_waits_is_marked_and_leaves_another_is_refused() {
        let text = HEAD.to_owned()
            + &come(100, 0xffff_8880_0000_00a0, 1514, "r1", 2)
            + &come(110, 0xb0, 54, "r0", 0)
            + &come(150, 0xc0, 1514, "r1", 0)
            + &free(151, 0xc0)
            + &free(152, 0xdead)
            + &leave(700, 0xffff_8880_0000_00a0, 0x10000, 3)
            + &leave(800, 0xb0, 0x20000, 0);
        let events = read(&text, &queues(), 5_000_000_000).unwrap();
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        let (down, up) = (LinkId(0), LinkId(1));
        let packet = |number, bytes, ecn| PacketId {
            number,
            flow: Some(qdisc::FlowId(3)),
            subflow: 0,
            bytes,
            ecn,
        };
        let plain = Ecn::NotCapable;
        let (first, second) = (packet(1, 1500, Ecn::Ect0), packet(2, 40, plain));
        let (changed, third) = (packet(1, 1500, Ecn::Ce), packet(3, 1500, plain));
        let queued = |link, packet| Event::Enqueued { link, packet };
        let left = |link, packet, micros| Event::Dequeued {
            link,
            packet,
            sojourn: Duration::from_micros(micros),
        };
        let dropped = Event::Dropped {
            link: down,
            packet: third,
            reason: DropReason::Tail,
        };
        let marked = Event::Marked {
            link: down,
            packet: changed,
        };
        let expected = [
            (at(100), queued(down, first)),
            (at(110), queued(up, second)),
            (at(150), queued(down, third)),
            (at(151), dropped),
            (at(700), marked),
            (at(700), left(down, changed, 600)),
            (at(800), left(up, second, 690)),
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn memory_that_is_used_again_held_a_packet_that_was_given_up() {
        let text = come(1, 0xa0, 1514, "r1", 0) + &come(2, 0xa0, 114, "r1", 0);
        let events = read(&text, &queues(), 5_000_000_000).unwrap();
        let Event::Dropped { packet, .. } = events[2].1 else {
            panic!("{events:?}")
        };
        assert_eq!((packet.number, packet.bytes), (1, 1500));
    }

    #[test]
    fn a_packet_of_nobody_has_no_flow() {
        let text = come(1, 0xa0, 98, "r1", 0).replace("0x3040304", "0x0");
        let events = read(&text, &queues(), 5_000_000_000).unwrap();
        let Event::Enqueued { packet, .. } = events[0].1 else {
            panic!("{events:?}")
        };
        assert_eq!(packet.flow, None);
    }

    #[test]
    fn a_line_that_is_no_record_is_named() {
        for bad in [
            " x-1 [000] 5.1: leave: (q) skb=0xa0 handle=0x10000 tos=3\n",
            " x-1 [000] 5.000001: leave: (q) skb=0xa0 handle=0x30000 tos=3\n",
            " x-1 [000] 5.000001: come: (q) skb=0xa0 len=9 dev=\"eth0\" tos=0 ports=0x1\n",
            " x-1 [000] 5.000001: come: (q) skb=(fault) len=9 dev=\"r1\" tos=0 ports=0x1\n",
            " x-1 [000] 99999999999999999999.000001: free: (q) skb=0xa0\n",
        ] {
            let text = HEAD.to_owned() + bad;
            let error = read(&text, &queues(), 0).unwrap_err();
            assert_eq!(error.line, 4, "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(
            cut in 0usize..300,
            place in 0usize..300,
            new in "[ -~]",
        ) {
            let mut text = come(1, 0xa0, 1514, "r1", 0) + &leave(2, 0xa0, 0x10000, 0) + &free(3, 1);
            let place = place.min(text.len() - 1);
            text.replace_range(place..=place, &new);
            text.truncate(cut.min(text.len()));
            _ = read(&text, &queues(), 0);
        }
    }
}
