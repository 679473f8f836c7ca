//! `subflows_sent`, `subflows_received` and `subflows_wait`: what a flow's two subflows send, and
//! what a queue makes of it.

use super::declared::{Better, Metric, Range};
use super::meter::Meter;
use super::observed::Observed;
use crate::event::{Event, LinkId, PacketId, Sink};
use crate::result::MeasuredValue;
use scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};
use units::{Duration, FlowId, Instant};

/// Before the queue, for the registry.
pub const SENT: Metric = Metric {
    name: NAME,
    unit: "%",
    range: Range::PERCENT,
    summary: "share that the subflow ahead has of a flow's bytes before the first queue",
    about: "Covers flows that have sent in two subflows. Which subflow is ahead is found anew every 10 \
        ms; values are means over tenths of a second after the warm-up. `subflows_sent:82.4` is \
        that of the tenth which begins 82.4 s after the start. Of equal packets that arrive alternately \
        it is a little above 50. The metric follows every packet, so a scenario has to ask for it: \
        metrics = [\"subflows_sent\"].",
    source: "Bachl 2022, figures 1a and 2a",
    better: Better::Neither,
    column: None,
    meter: Some(|scenario| Box::new(Subflows::new(scenario))),
    take: |observed, of| taken(observed, SENDING, of),
};

/// Behind the queue.
pub const RECEIVED: Metric = Metric {
    name: "subflows_received",
    unit: "%",
    range: Range::PERCENT,
    summary: "share that the subflow ahead has of a flow's bytes behind the first queue",
    about: "In fair queues in which packets of both subflows wait, no subflow is ahead. A scenario has to \
        ask for `subflows_sent`.",
    source: "Bachl 2022, figures 1b and 2b",
    better: Better::Neither,
    column: None,
    meter: None,
    take: |observed, of| taken(observed, RECEIVING, of),
};

/// The cause of a difference between them.
pub const WAIT: Metric = Metric {
    name: "subflows_wait",
    unit: "ms",
    range: Range::Positive,
    summary: "mean time that packets of a flow in subflows waited in the first queue",
    about: "One value for each tenth of a second after the warm-up, as for `subflows_sent`, which a \
        scenario has to ask for.",
    source: "this project",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, of| taken(observed, WAITING, of),
};

const NAME: &str = "subflows_sent";
/// The names of the meter's curves.
const SENDING: &str = "sent";
const RECEIVING: &str = "received";
const WAITING: &str = "wait";
/// The first queue towards the home.
const QUEUE: LinkId = LinkId(0);
/// Time in which one subflow is ahead: a fifth of the shortest interval between swaps.
const WINDOW: Duration = Duration::from_millis(10);
/// Windows of a point of the curves.
const WINDOWS: u64 = 10;
/// Points in a second.
const POINTS: f64 = 10.0;

/// All values of a curve, or that of the point which begins at `of`, in seconds.
fn taken(observed: &Observed<'_>, curve: &str, of: &str) -> Vec<f64> {
    let point = |seconds: f64| libm::round(seconds * POINTS);
    let wanted = of.parse().ok().map(point);
    let values = observed.run.measured.get(NAME).into_iter().flatten();
    let here = values.filter(|value| value.of == curve);
    let here = here.filter(|value| of.is_empty() || value.at.map(point) == wanted);
    here.map(|value| value.value).collect()
}

/// Means, by the number of their point.
type Curve = BTreeMap<u64, (f64, u32)>;

fn add(curve: &mut Curve, point: u64, value: f64) {
    let (sum, count) = curve.entry(point).or_default();
    *sum += value;
    *count += 1;
}

/// Who is ahead, at one end of the queue.
#[derive(Default)]
struct Ahead {
    /// Bytes of both subflows of each flow in its last window.
    bytes: BTreeMap<FlowId, (u64, [u64; 2])>,
    curve: Curve,
}

impl Ahead {
    fn packet(&mut self, flow: FlowId, window: u64, packet: PacketId) {
        let (last, bytes) = self.bytes.entry(flow).or_insert((window, [0; 2]));
        if *last != window {
            let share = percent(*bytes);
            add(&mut self.curve, *last / WINDOWS, share);
            (*last, *bytes) = (window, [0; 2]);
        }
        bytes[usize::from(packet.subflow.min(1))] += u64::from(packet.bytes);
    }
}

/// The larger of two in percent of both, of which one is above zero.
fn percent([one, other]: [u64; 2]) -> f64 {
    100.0 * one.max(other) as f64 / (one + other) as f64
}

struct Subflows {
    from: Instant,
    /// Flows that have sent on their second subflow.
    flows: BTreeSet<FlowId>,
    sent: Ahead,
    received: Ahead,
    waits: Curve,
}

impl Subflows {
    fn new(scenario: &Scenario) -> Self {
        Subflows {
            from: Instant::ZERO + scenario.warmup,
            flows: BTreeSet::new(),
            sent: Ahead::default(),
            received: Ahead::default(),
            waits: Curve::new(),
        }
    }

    /// The flow of a packet in the measured time, if it has subflows.
    fn flow(&self, now: Instant, link: LinkId, packet: PacketId) -> Option<FlowId> {
        let flow = packet.flow.filter(|flow| self.flows.contains(flow));
        flow.filter(|_| link == QUEUE && now >= self.from)
    }
}

impl Sink for Subflows {
    fn event(&mut self, now: Instant, event: &Event) {
        let window = now.as_nanos() / WINDOW.as_nanos();
        match *event {
            Event::Enqueued { link, packet } => {
                if packet.subflow > 0 {
                    self.flows.extend(packet.flow);
                }
                if let Some(flow) = self.flow(now, link, packet) {
                    self.sent.packet(flow, window, packet);
                }
            }
            Event::Dequeued {
                link,
                packet,
                sojourn,
            } => {
                if let Some(flow) = self.flow(now, link, packet) {
                    self.received.packet(flow, window, packet);
                    add(&mut self.waits, window / WINDOWS, sojourn.as_millis_f64());
                }
            }
            _ => {}
        }
    }
}

impl Meter for Subflows {
    /// The window that is under way is left out.
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let curves = [
            (SENDING, &self.sent.curve),
            (RECEIVING, &self.received.curve),
            (WAITING, &self.waits),
        ];
        let values = |(of, curve): (&str, &Curve)| -> Vec<MeasuredValue> {
            let value = |(point, (sum, count)): (&u64, &(f64, u32))| MeasuredValue {
                of: of.to_owned(),
                at: Some(*point as f64 / POINTS),
                value: sum / f64::from(*count),
            };
            curve.iter().map(value).collect()
        };
        curves.into_iter().flat_map(values).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::RunResult;
    use units::Ecn;

    /// Of the flow of this number packets arrive: at a millisecond, on a subflow, to wait so many.
    fn pass(meter: &mut Subflows, flow: u32, packets: &[(u64, u8, u64)]) {
        let mut events = Vec::new();
        for (ms, subflow, waits) in packets {
            let packet = PacketId {
                number: 0,
                flow: Some(FlowId(flow)),
                subflow: *subflow,
                bytes: 1000,
                ecn: Ecn::NotCapable,
            };
            let sojourn = Duration::from_millis(*waits);
            let link = QUEUE;
            events.push((*ms, Event::Enqueued { link, packet }));
            let left = Event::Dequeued {
                link,
                packet,
                sojourn,
            };
            events.push((ms + waits, left));
        }
        events.sort_by_key(|(ms, _)| *ms);
        for (ms, event) in events {
            meter.event(Instant::ZERO + Duration::from_millis(ms), &event);
        }
    }

    fn of(meter: &mut Subflows, metric: &Metric, of: &str) -> Vec<f64> {
        let mut run = RunResult::default();
        run.measured.insert(NAME.to_owned(), meter.finish());
        let observed = Observed {
            run: &run,
            control: None,
        };
        (metric.take)(&observed, of)
    }

    fn meter(from_ms: u64) -> Subflows {
        Subflows {
            from: Instant::ZERO + Duration::from_millis(from_ms),
            flows: BTreeSet::new(),
            sent: Ahead::default(),
            received: Ahead::default(),
            waits: Curve::new(),
        }
    }

    #[test]
    fn whichever_is_ahead_in_a_window_counts() {
        let mut meter = meter(100);
        let at = |ms, subflow| (ms, subflow, 0);
        pass(&mut meter, 0, &[at(0, 1)]);
        // In the window from 100 ms on three of one and two of the other, then the other way round.
        pass(
            &mut meter,
            0,
            &[0, 0, 0, 1, 1].map(|subflow| at(100, subflow)),
        );
        pass(
            &mut meter,
            0,
            &[1, 1, 0, 0, 1].map(|subflow| at(110, subflow)),
        );
        // One of each: nobody is ahead. The last window is not over.
        pass(&mut meter, 0, &[at(200, 0), at(205, 1), at(300, 0)]);
        assert_eq!(of(&mut meter, &SENT, ""), [60.0, 50.0]);
        assert_eq!(of(&mut meter, &SENT, "0.1"), [60.0]);
        assert_eq!(of(&mut meter, &RECEIVED, "0.2"), [50.0]);
        assert!(of(&mut meter, &SENT, "0.3").is_empty());
        assert!(of(&mut meter, &SENT, "now").is_empty());
    }

    #[test]
    fn a_queue_may_even_them_out_by_letting_one_wait() {
        let mut meter = meter(0);
        let packets = [
            (0, 1, 0),
            (10, 0, 0),
            (10, 0, 0),
            (10, 0, 10),
            (10, 1, 0),
            (10, 1, 0),
            (20, 1, 0),
            (30, 1, 0),
        ];
        pass(&mut meter, 0, &packets);
        // Only one subflow sends in the first window and in the third; the last is not over.
        assert_eq!(of(&mut meter, &SENT, ""), [(100.0 + 60.0 + 100.0) / 3.0]);
        // The third packet of the first subflow leaves with one of the second.
        assert_eq!(of(&mut meter, &RECEIVED, ""), [(100.0 + 50.0 + 50.0) / 3.0]);
        assert_eq!(of(&mut meter, &WAIT, "0"), [10.0 / 8.0]);
    }

    #[test]
    fn flows_without_subflows_do_not_count() {
        let mut meter = meter(0);
        pass(&mut meter, 7, &[(0, 0, 1), (10, 0, 1), (20, 0, 1)]);
        assert!(meter.finish().is_empty());
    }
}
