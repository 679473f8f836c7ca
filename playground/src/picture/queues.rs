//! What waits in each queue and what leaves it, by flow.

use measure::{Event, LinkId, PacketId};
use scenario::Scenario;
use serde::Serialize;
use std::collections::BTreeMap;
use units::{Duration, FlowId, Instant};
use workload::TrafficId;

/// Flows of an entry beyond so many share lanes: a page has dozens, of which few are active at a time.
const SHADES: u32 = 8;

/// The lanes of one bin, each followed by its bytes; lanes without any are left out.
type Column = Vec<u64>;

/// What happened to the queues since the last piece.
#[derive(Default, Serialize)]
pub struct Piece {
    /// New lanes: the traffic entry by its place, and the flow's number among the entry's, less one,
    /// modulo [`SHADES`].
    lanes: Vec<(u16, u32)>,
    /// For each queue, what waits at the end of each bin.
    waiting: Vec<Vec<Column>>,
    /// For each queue, what left it in each bin.
    left: Vec<Vec<Column>>,
}

/// Follows all queues.
pub struct Queues {
    width: Duration,
    /// When the bin ends that is being filled.
    ends: Instant,
    /// The lane of each flow, by its number; numbers are given in order.
    flows: Vec<Option<u32>>,
    /// Flows so far, by entry.
    started: Vec<u32>,
    lanes: BTreeMap<(u16, u32), u32>,
    queues: Vec<Queue>,
    piece: Piece,
}

/// Bytes of a queue, by lane.
#[derive(Default, Clone)]
struct Queue {
    waiting: Vec<u64>,
    left: Vec<u64>,
}

impl Queues {
    /// Queues without packets.
    pub fn new(scenario: &Scenario, width: Duration) -> Self {
        let up = scenario.links.iter().filter(|link| link.up.is_some());
        let queues = scenario.links.len() + up.count();
        let mut of = Queues {
            width,
            ends: Instant::ZERO + width,
            flows: Vec::new(),
            started: vec![0; scenario.traffic.len()],
            lanes: BTreeMap::new(),
            queues: vec![Queue::default(); queues],
            piece: Piece::default(),
        };
        of.take();
        of
    }

    /// Handles an event.
    pub fn event(&mut self, now: Instant, event: &Event) {
        self.pass(now);
        match *event {
            Event::Enqueued { link, packet } => {
                self.count(link, packet, |queue, lane, bytes| {
                    queue.waiting[lane] += bytes
                });
            }
            Event::Dequeued { link, packet, .. } => {
                self.count(link, packet, |queue, lane, bytes| {
                    queue.waiting[lane] -= bytes;
                    queue.left[lane] += bytes;
                });
            }
            Event::Dropped { link, packet, .. } => {
                self.count(link, packet, |queue, lane, bytes| {
                    queue.waiting[lane] -= bytes
                });
            }
            Event::Traffic(workload::Event::FlowStarted { flow, traffic, .. }) => {
                self.started(flow, traffic);
            }
            _ => {}
        }
    }

    fn count(&mut self, link: LinkId, packet: PacketId, what: impl Fn(&mut Queue, usize, u64)) {
        let flow = packet.flow.map(|flow| flow.0 as usize);
        let lane = flow.and_then(|flow| *self.flows.get(flow)?);
        let queue = self.queues.get_mut(usize::from(link.0));
        if let (Some(lane), Some(queue)) = (lane, queue) {
            what(queue, lane as usize, u64::from(packet.bytes));
        }
    }

    /// A flow gets a lane. It keeps it when it has ended: its last packets may still wait.
    fn started(&mut self, flow: FlowId, TrafficId(entry): TrafficId) {
        let Some(number) = self.started.get_mut(usize::from(entry)) else {
            return;
        };
        let key = (entry, *number % SHADES);
        *number += 1;
        // At most eight lanes for each of ten thousand entries.
        let next = self.lanes.len() as u32;
        let lane = *self.lanes.entry(key).or_insert(next);
        if lane == next {
            self.piece.lanes.push(key);
            for queue in &mut self.queues {
                queue.waiting.push(0);
                queue.left.push(0);
            }
        }
        let place = flow.0 as usize;
        if self.flows.len() <= place {
            self.flows.resize(place + 1, None);
        }
        self.flows[place] = Some(lane);
    }

    /// Closes the bins that are over.
    pub fn pass(&mut self, now: Instant) {
        while now >= self.ends {
            self.ends += self.width;
            for (place, queue) in self.queues.iter_mut().enumerate() {
                self.piece.waiting[place].push(column(&queue.waiting));
                self.piece.left[place].push(column(&queue.left));
                queue.left.fill(0);
            }
        }
    }

    /// What happened since the last call.
    pub fn take(&mut self) -> Piece {
        let empty = vec![Vec::new(); self.queues.len()];
        let next = Piece {
            lanes: Vec::new(),
            waiting: empty.clone(),
            left: empty,
        };
        core::mem::replace(&mut self.piece, next)
    }
}

fn column(bytes: &[u64]) -> Column {
    let lanes = (0..).zip(bytes).filter(|(_, bytes)| **bytes > 0);
    lanes.flat_map(|(lane, bytes)| [lane, *bytes]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Event::{Dequeued, Dropped, Enqueued};
    use qdisc::DropReason;
    use scenario::{AnyNames, Document};
    use units::Ecn;
    use workload::Carrier;

    const TEXT: &str = "disciplines = [\"pfifo\"]\n[link]\nrate = \"1mbit\"\nrtt = \"1ms\"\n\
        [[traffic]]\nname = \"a\"\nkind = \"bulk\"\ncount = 10\n";

    fn packet(flow: u32, bytes: u32) -> PacketId {
        PacketId {
            number: 0,
            flow: Some(FlowId(flow)),
            subflow: 0,
            bytes,
            ecn: Ecn::default(),
        }
    }

    #[test]
    fn bytes_wait_in_the_lane_of_their_flow() {
        let document = Document::parse("a.toml", TEXT).unwrap();
        let scenario = document.resolve(&AnyNames::default()).unwrap();
        let mut queues = Queues::new(&scenario, Duration::from_millis(50));
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let link = LinkId(0);
        for flow in 0..9 {
            let traffic = TrafficId(0);
            let carrier = Carrier::Tcp;
            let event = workload::Event::FlowStarted {
                flow: FlowId(flow),
                traffic,
                carrier,
                server: 0,
            };
            queues.event(at(0), &Event::Traffic(event));
        }
        // The ninth flow has the lane of the first.
        for (flow, bytes) in [(0, 100), (8, 10), (1, 500)] {
            queues.event(
                at(1),
                &Enqueued {
                    link,
                    packet: packet(flow, bytes),
                },
            );
        }
        let sojourn = Duration::ZERO;
        queues.event(
            at(60),
            &Dequeued {
                link,
                packet: packet(0, 100),
                sojourn,
            },
        );
        let reason = DropReason::Overlimit;
        queues.event(
            at(60),
            &Dropped {
                link,
                packet: packet(1, 500),
                reason,
            },
        );
        queues.pass(at(100));
        let piece = queues.take();
        assert_eq!(piece.lanes.len(), 8);
        assert_eq!(piece.waiting, [[vec![0, 110, 1, 500], vec![0, 10]]]);
        assert_eq!(piece.left, [[vec![], vec![0, 100]]]);
    }
}
