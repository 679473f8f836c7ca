//! Running a scenario and keeping every event.

#![allow(dead_code, reason = "each test file uses its own part")]

use measure::{BuiltLink, Engine, Event, LinkId, Sink};
use qdisc::FlowId;
use scenario::{Choice, Document, Names, Scenario};
use sim::Simulator;
use units::{Duration, Instant};
use workload::Event as Application;

/// All events, in order.
#[derive(Default)]
pub struct Record(pub Vec<(Instant, Event)>);

impl Sink for Record {
    fn event(&mut self, now: Instant, event: &Event) {
        if let Some((last, _)) = self.0.last() {
            assert!(*last <= now, "time runs backwards");
        }
        self.0.push((now, *event));
    }
}

/// The scenario that `text` describes, without noise unless it is set; an error as it would be
/// printed.
pub fn resolve(text: &str) -> Result<Scenario, String> {
    let simulator = Simulator::default();
    let names: &dyn Names = &simulator;
    let mut document = Document::parse("test.toml", text).map_err(|error| error.to_string())?;
    if document.get("noise").is_none() {
        document
            .set("noise", "0s")
            .map_err(|error| error.to_string())?;
    }
    document.resolve(names).map_err(|error| error.to_string())
}

/// Runs the first discipline of the scenario that `text` describes.
pub fn run(text: &str, seed: u64) -> (Record, Vec<BuiltLink>) {
    let scenario = resolve(text).unwrap();
    let discipline: Choice = scenario.disciplines[0].clone();
    let mut record = Record::default();
    let engine = Simulator::default();
    let links = engine
        .run(&scenario, &discipline, seed, &mut record)
        .unwrap();
    (record, links)
}

/// Microseconds since the start of the run.
pub fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

impl Record {
    /// When packets left `link`, and how long they are.
    pub fn dequeued(&self, link: u16) -> Vec<(Instant, u32)> {
        let event = |&(now, event): &(Instant, Event)| match event {
            Event::Dequeued {
                link: LinkId(number),
                packet,
                ..
            } if number == link => Some((now, packet.bytes)),
            _ => None,
        };
        self.0.iter().filter_map(event).collect()
    }

    /// The longest wait at `link` of packets that left it.
    pub fn longest_wait(&self, link: u16) -> Duration {
        let event = |(_, event): &(Instant, Event)| match event {
            Event::Dequeued {
                link: LinkId(number),
                sojourn,
                ..
            } if *number == link => Some(*sojourn),
            _ => None,
        };
        self.0.iter().filter_map(event).max().unwrap_or_default()
    }

    /// Bytes of `flow` that reached their receiver, and when.
    pub fn delivered(&self, flow: u32) -> Vec<(Instant, u64)> {
        let event = |&(now, event): &(Instant, Event)| match event {
            Event::Traffic(Application::Delivered {
                flow: FlowId(number),
                bytes,
            }) if number == flow => Some((now, bytes)),
            _ => None,
        };
        self.0.iter().filter_map(event).collect()
    }

    /// Packets that `link` took in, gave out, dropped.
    pub fn counts(&self, link: u16) -> (usize, usize, usize) {
        let link = LinkId(link);
        let count = |is: fn(&Event, LinkId) -> bool| {
            self.0.iter().filter(|(_, event)| is(event, link)).count()
        };
        (
            count(|event, this| matches!(event, Event::Enqueued { link, .. } if *link == this)),
            count(|event, this| matches!(event, Event::Dequeued { link, .. } if *link == this)),
            count(|event, this| matches!(event, Event::Dropped { link, .. } if *link == this)),
        )
    }
}
