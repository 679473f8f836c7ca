//! `loss_by_index` and metrics derived from it: how often the first packets of a flow are dropped,
//! and the later ones.

use super::declared::{Better, Metric, Range};
use super::meter::Meter;
use super::observed::Observed;
use crate::event::{Event, LinkId, PacketId, Sink};
use crate::flows::Flows;
use crate::result::MeasuredValue;
use hashbrown::HashTable;
use scenario::Scenario;
use units::Instant;
use workload::Carrier;

/// The curve, for the registry.
pub const LOSS_BY_INDEX: Metric = Metric {
    name: NAME,
    unit: "%",
    range: Range::PERCENT,
    summary: "packets dropped at the first queue, by their number within their flow",
    about: "Covers flows that react to loss: those over TCP, QUIC or a media session. The first \
        packet of a flow has number 1; packets from number 100 on count together. Retransmissions \
        count like other packets. `loss_by_index:7` is the value of the seventh packet. The metric \
        follows every packet, so a scenario has to ask for it: metrics = [\"loss_by_index\"].",
    source: "FLOQ, IV.A: an establishment phase of ten packets",
    better: Better::Less,
    column: None,
    meter: Some(|scenario| Box::new(LossByIndex::new(scenario))),
    take: |observed, of| {
        let wanted = of.parse().ok();
        let curve = all(observed).filter_map(|value| Some((value.at?, value.value)));
        let here = curve.filter(|(at, _)| of.is_empty() || wanted == Some(*at));
        here.map(|(_, value)| value).collect()
    },
};

/// The first ten packets.
pub const LOSS_FIRST: Metric = Metric {
    name: "loss_first",
    unit: "%",
    range: Range::PERCENT,
    summary: "packets dropped at the first queue among the first ten of each flow",
    about: "Covers the flows of `loss_by_index`, which a scenario has to ask for: metrics = \
        [\"loss_by_index\"].",
    source: "FLOQ, IV.A: an establishment phase of ten packets",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, _| part(observed, FIRST).into_iter().collect(),
};

/// All others.
pub const LOSS_LATER: Metric = Metric {
    name: "loss_later",
    unit: "%",
    range: Range::PERCENT,
    summary: "packets dropped at the first queue after the first ten of each flow",
    about: "Covers the flows of `loss_by_index`, which a scenario has to ask for: metrics = \
        [\"loss_by_index\"].",
    source: "FLOQ, IV.A: an establishment phase of ten packets",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, _| part(observed, LATER).into_iter().collect(),
};

/// The first ten compared with the others.
pub const LOSS_RATIO: Metric = Metric {
    name: "loss_ratio",
    unit: "",
    range: Range::Positive,
    summary: "`loss_first` over `loss_later`: below 1 where the first packets of a flow are spared",
    about: "One value for each run; none where no later packet was dropped. A scenario has to ask for \
        `loss_by_index`.",
    source: "this project",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, _| {
        let later = part(observed, LATER).filter(|later| *later > 0.0);
        let ratio = |later: f64| Some(part(observed, FIRST)? / later);
        later.and_then(ratio).into_iter().collect()
    },
};

const NAME: &str = "loss_by_index";
/// The names of the meter's two sums.
const FIRST: &str = "first";
const LATER: &str = "later";
/// The first packets are so many.
const ESTABLISHMENT: usize = 10;
/// Packets from this number on count together.
const LAST: u32 = 100;
/// The first queue towards the home.
const QUEUE: LinkId = LinkId(0);

fn all<'a>(observed: &Observed<'a>) -> impl Iterator<Item = &'a MeasuredValue> {
    observed.run.measured.get(NAME).into_iter().flatten()
}

fn part(observed: &Observed<'_>, of: &str) -> Option<f64> {
    let mut found = all(observed).filter(|value| value.of == of);
    found.next().map(|value| value.value)
}

/// Packets that arrived and packets that were dropped.
type Count = (u64, u64);

/// Numbers within their flow by packet. Nothing depends on the order in a table.
#[derive(Default)]
struct NumberedWaiting(HashTable<(u64, u32)>);

/// Packets' numbers are nearly consecutive: a multiplication spreads them.
const fn hash(packet: u64) -> u64 {
    packet.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl NumberedWaiting {
    fn insert(&mut self, packet: u64, number: u32) {
        let of = |(packet, _): &(u64, u32)| hash(*packet);
        self.0.insert_unique(hash(packet), (packet, number), of);
    }

    fn remove(&mut self, packet: u64) -> Option<u32> {
        let found = self
            .0
            .find_entry(hash(packet), |(other, _)| *other == packet);
        found.ok().map(|found| found.remove().0.1)
    }
}

struct LossByIndex {
    from: Instant,
    /// Packets of each flow so far.
    flows: Flows<u32>,
    /// The numbers within their flow of packets that wait.
    waiting: NumberedWaiting,
    /// By number.
    counts: Vec<Count>,
}

impl LossByIndex {
    fn new(scenario: &Scenario) -> Self {
        LossByIndex {
            from: Instant::ZERO + scenario.warmup,
            flows: Flows::default(),
            waiting: NumberedWaiting::default(),
            counts: vec![(0, 0); LAST as usize],
        }
    }

    fn came(&mut self, now: Instant, packet: PacketId) {
        let count = packet.flow.and_then(|flow| self.flows.get_mut(flow));
        let Some(count) = count else {
            return;
        };
        *count = (*count + 1).min(LAST);
        if now >= self.from {
            self.waiting.insert(packet.number, *count);
            self.counts[*count as usize - 1].0 += 1;
        }
    }
}

impl Sink for LossByIndex {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Traffic(workload::Event::FlowStarted { flow, carrier, .. })
                if carrier != Carrier::Udp =>
            {
                self.flows.insert(flow, 0);
            }
            Event::Traffic(workload::Event::FlowEnded { flow }) => {
                self.flows.remove(flow);
            }
            Event::Enqueued { link, packet } if link == QUEUE => self.came(now, packet),
            Event::Dequeued { link, packet, .. } if link == QUEUE => {
                self.waiting.remove(packet.number);
            }
            Event::Dropped { link, packet, .. } if link == QUEUE => {
                if let Some(number) = self.waiting.remove(packet.number) {
                    self.counts[number as usize - 1].1 += 1;
                }
            }
            _ => {}
        }
    }
}

/// The percentage dropped; none if there were no packets.
fn percent((came, dropped): Count) -> Option<f64> {
    (came > 0).then(|| 100.0 * dropped as f64 / came as f64)
}

impl Meter for LossByIndex {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let (first, later) = self.counts.split_at(ESTABLISHMENT);
        let sum = |of: &[Count]| {
            of.iter().fold((0, 0), |(came, dropped), one| {
                (came + one.0, dropped + one.1)
            })
        };
        let sums = [(FIRST, sum(first)), (LATER, sum(later))];
        let sums = sums.map(|(of, count)| (of, None, count));
        let numbered = (1..).zip(&self.counts);
        let curve = numbered.map(|(number, count)| ("", Some(f64::from(number)), *count));
        let value = |(of, at, count): (&str, Option<f64>, Count)| {
            Some(MeasuredValue {
                of: of.to_owned(),
                at,
                value: percent(count)?,
            })
        };
        curve.chain(sums).filter_map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::RunResult;
    use qdisc::DropReason;
    use units::{Duration, Ecn, FlowId};
    use workload::TrafficId;

    /// Of two flows of TCP and one of datagrams: packets 1 to 20 of each come, and these are dropped.
    fn run(dropped: &[(u32, u32)]) -> RunResult {
        let mut meter = LossByIndex {
            from: Instant::ZERO,
            flows: Flows::default(),
            waiting: NumberedWaiting::default(),
            counts: vec![(0, 0); LAST as usize],
        };
        for (flow, carrier) in [Carrier::Tcp, Carrier::Quic, Carrier::Udp]
            .into_iter()
            .enumerate()
        {
            let flow = FlowId(flow as u32);
            let started = workload::Event::FlowStarted {
                flow,
                traffic: TrafficId(0),
                carrier,
                server: 0,
            };
            meter.event(Instant::ZERO, &Event::Traffic(started));
            for number in 1..=20 {
                let packet = PacketId {
                    number: u64::from(flow.0 * 100 + number),
                    flow: Some(flow),
                    subflow: 0,
                    bytes: 1500,
                    ecn: Ecn::NotCapable,
                };
                let link = QUEUE;
                meter.event(Instant::ZERO, &Event::Enqueued { link, packet });
                let event = if dropped.contains(&(flow.0, number)) {
                    Event::Dropped {
                        link,
                        packet,
                        reason: DropReason::Tail,
                    }
                } else {
                    Event::Dequeued {
                        link,
                        packet,
                        sojourn: Duration::ZERO,
                    }
                };
                meter.event(Instant::ZERO, &event);
            }
        }
        let mut run = RunResult::default();
        run.measured.insert(NAME.to_owned(), meter.finish());
        run
    }

    #[test]
    fn the_first_ten_and_the_later_packets_of_flows_that_answer_to_loss() {
        // Flow 2 is one of datagrams.
        let run = run(&[(0, 1), (0, 10), (1, 11), (0, 20), (1, 20), (1, 15), (2, 5)]);
        let observed = Observed {
            run: &run,
            control: None,
        };
        let of = |metric: &Metric, of: &str| (metric.take)(&observed, of);
        assert_eq!(of(&LOSS_FIRST, ""), [10.0]);
        assert_eq!(of(&LOSS_LATER, ""), [20.0]);
        assert_eq!(of(&LOSS_RATIO, ""), [0.5]);
        assert_eq!(of(&LOSS_BY_INDEX, "1"), [50.0]);
        assert_eq!(of(&LOSS_BY_INDEX, "5"), [0.0]);
        assert_eq!(of(&LOSS_BY_INDEX, "20"), [100.0]);
        assert_eq!(of(&LOSS_BY_INDEX, "").len(), 20);
        assert!(of(&LOSS_BY_INDEX, "21").is_empty());
        assert!(of(&LOSS_BY_INDEX, "one").is_empty());
    }

    #[test]
    fn without_later_drops_there_is_no_ratio() {
        let run = run(&[(0, 1)]);
        let observed = Observed {
            run: &run,
            control: None,
        };
        assert!((LOSS_RATIO.take)(&observed, "").is_empty());
    }
}
