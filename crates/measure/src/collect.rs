//! From events to results.

use crate::engine::BuiltLink;
use crate::event::{Event, LinkId, Sink, TrafficId};
use crate::link_meter::{BIN, LinkMeter};
use crate::notes::notes;
use crate::result::{CallResult, FlowResult, Note, PageResult, RunResult, Series};
use crate::video::{Measured, Video};
use crate::waits::Waits;
use qdisc::FlowId;
use scenario::{Choice, Kind, Scenario};
use units::{Duration, Instant, Rate};

/// A load's stalls are counted until this long after its end (design, "stall per page load").
const AFTERMATH: Duration = Duration::from_secs(2);

/// Listens to an engine and measures.
#[derive(Debug)]
pub struct Collector {
    scenario: Scenario,
    from: Instant,
    end: Instant,
    keep_series: bool,
    links: Vec<LinkMeter>,
    flows: Vec<Flow>,
    videos: Vec<Video>,
    loads: Vec<Load>,
    moves: Vec<(f64, usize, usize, u8)>,
}

#[derive(Debug, Clone)]
struct Flow {
    traffic: TrafficId,
    /// The first queue in the direction in which most of its data goes.
    queue: LinkId,
    /// What its packets waited there in the measured time, if it goes on until the run ends.
    waits: Option<Box<Waits>>,
    started: Instant,
    done: Option<Instant>,
    /// Delivered in the measured time.
    delivered: u64,
    /// Bytes that came to the first queue, by bin.
    offered: Vec<u64>,
    /// Bytes that left it.
    share: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Load {
    traffic: TrafficId,
    number: u32,
    site: u32,
    started: Instant,
    done: Option<Instant>,
    requests: u64,
    bytes: u64,
    connections: u64,
}

impl Collector {
    /// Listens to a run of `scenario`. With `series`, what a plot needs is kept.
    pub fn new(scenario: &Scenario, series: bool) -> Self {
        Collector {
            from: Instant::ZERO + scenario.warmup,
            end: Instant::ZERO + scenario.duration,
            keep_series: series,
            links: Vec::new(),
            flows: Vec::new(),
            videos: scenario.traffic.iter().map(|_| Video::default()).collect(),
            loads: Vec::new(),
            moves: Vec::new(),
            scenario: scenario.clone(),
        }
    }

    fn link(&mut self, link: LinkId) -> &mut LinkMeter {
        let index = usize::from(link.0);
        while self.links.len() <= index {
            self.links.push(LinkMeter::new(self.from, self.keep_series));
        }
        &mut self.links[index]
    }

    fn load(&mut self, traffic: TrafficId, number: u32) -> Option<&mut Load> {
        let this = |load: &&mut Load| load.traffic == traffic && load.number == number;
        self.loads.iter_mut().rev().find(this)
    }

    fn dequeued(
        &mut self,
        now: Instant,
        link: LinkId,
        flow: FlowId,
        bytes: u32,
        sojourn: Duration,
    ) {
        let measured = now >= self.from;
        self.link(link).dequeued(now, measured, bytes, sojourn);
        let Some(flow) = self.flows.get_mut(flow.0 as usize) else {
            return;
        };
        if let Some(waits) = &mut flow.waits
            && measured
            && link == flow.queue
        {
            waits.record(sojourn);
        }
        if self.keep_series && link.0 == 0 {
            count(&mut flow.share, now, bytes);
        }
    }

    fn page_event(&mut self, now: Instant, event: Event) {
        match event {
            Event::PageStarted { page, load, site } => self.loads.push(Load {
                traffic: page,
                site,
                number: load,
                started: now,
                done: None,
                requests: 0,
                bytes: 0,
                connections: 0,
            }),
            Event::ConnectionOpened { page } => {
                let this = |load: &&mut Load| load.traffic == page;
                if let Some(load) = self.loads.iter_mut().rev().find(this) {
                    load.connections += 1;
                }
            }
            Event::RequestDone {
                page, load, bytes, ..
            } => {
                if let Some(load) = self.load(page, load) {
                    load.requests += 1;
                    load.bytes += bytes;
                }
            }
            Event::PageDone { page, load } => {
                if let Some(load) = self.load(page, load) {
                    load.done = Some(now);
                }
            }
            _ => {}
        }
    }

    /// The results, once the engine is done. `links` are the queues as it built them.
    pub fn finish(mut self, discipline: &Choice, seed: u64, links: &[BuiltLink]) -> RunResult {
        while self.links.len() < links.len() {
            self.links.push(LinkMeter::new(self.from, self.keep_series));
        }
        let threshold = self.scenario.stall_threshold;
        let measured: Vec<Measured> = self
            .videos
            .iter()
            .map(|video| video.measure(self.from, self.end, threshold))
            .collect();
        let (end, names) = (self.end, self.flow_names());
        let queues = self.links.iter_mut().zip(links);
        let queues = queues
            .map(|(meter, link)| meter.result(end, link, &names))
            .collect();
        let mut result = RunResult {
            discipline: discipline.to_string(),
            seed,
            variant: Default::default(),
            calls: self.calls(&measured),
            pages: self.pages(&measured),
            flows: self.transfers(),
            links: queues,
            jfi: self.fairness(),
            notes: Vec::new(),
            series: self.keep_series.then(|| self.series(links, names)),
        };
        result.notes = notes(&result);
        for link in links {
            for (field, text) in &link.remarks {
                let about = format!("links.{}.{field}", link.name);
                result.notes.retain(|note| note.about != about);
                let text = text.clone();
                result.notes.push(Note { about, text });
            }
        }
        result
    }

    /// Traffic entries of a kind, with their numbers.
    fn entries(&self, kind: &str) -> impl Iterator<Item = (usize, &scenario::Traffic)> {
        let kind = kind.to_owned();
        let entries = self.scenario.traffic.iter().enumerate();
        entries.filter(move |(_, entry)| entry.kind.name() == kind)
    }

    fn calls(&self, measured: &[Measured]) -> Vec<CallResult> {
        self.entries("call")
            .map(|(index, entry)| {
                let video = &measured[index];
                let rate = |flow: &Flow| self.goodput(flow).as_mbit_f64();
                let mut waits = self
                    .flows_of(index)
                    .filter_map(|flow| flow.waits.as_deref());
                CallResult {
                    name: entry.name.clone(),
                    control: entry.control.to_string(),
                    stall_s: video.stall_s(),
                    frames: video.frames,
                    frames_late: video.late,
                    frames_lost: video.lost,
                    frame_delay_ms: video.frame_delay(),
                    low_fps_events: video.low_fps,
                    freezes: video.freezes,
                    goodput_mbps: self.flows_of(index).map(rate).sum(),
                    sojourn_ms: waits.next().map(Waits::delay).unwrap_or_default(),
                }
            })
            .collect()
    }

    fn pages(&self, measured: &[Measured]) -> Vec<PageResult> {
        self.loads
            .iter()
            .filter(|load| load.started >= self.from)
            .map(|load| {
                let until = load.done.map_or(self.end, |done| done + AFTERMATH);
                let (window, limit) = (load.started..=until, self.scenario.stall_threshold);
                let worst = |video: &Video| video.worst_of(&window, self.end, limit);
                let worst = self.videos.iter().filter_map(worst);
                let stall = |video: &Measured| video.stall_within_s(load.started, until);
                PageResult {
                    name: self.scenario.traffic[usize::from(load.traffic.0)]
                        .name
                        .clone(),
                    load: load.number,
                    site: self.site(load),
                    start_s: load.started.as_secs_f64(),
                    plt_ms: load
                        .done
                        .map(|done| done.since(load.started).as_millis_f64()),
                    requests: load.requests,
                    bytes: load.bytes,
                    connections: load.connections,
                    stall_s: measured.iter().map(stall).sum(),
                    frame_max_ms: worst.max().map(Duration::as_millis_f64),
                }
            })
            .collect()
    }

    fn site(&self, load: &Load) -> String {
        match &self.scenario.traffic[usize::from(load.traffic.0)].kind {
            Kind::Page { pages, .. } => pages[load.site as usize].name().to_owned(),
            Kind::Call(..) | Kind::Bulk(_) => String::new(),
        }
    }

    fn transfers(&self) -> Vec<FlowResult> {
        self.entries("bulk")
            .flat_map(|(index, entry)| {
                (1..)
                    .zip(self.flows_of(index))
                    .map(move |(number, flow)| FlowResult {
                        name: numbered(&entry.name, entry.count, number),
                        control: entry.control.to_string(),
                        goodput_mbps: self.goodput(flow).as_mbit_f64(),
                        fct_ms: flow
                            .done
                            .map(|done| done.since(flow.started).as_millis_f64()),
                        bytes: flow.delivered,
                        sojourn_ms: flow.waits.as_deref().map(Waits::sojourn),
                    })
            })
            .collect()
    }

    fn flows_of(&self, traffic: usize) -> impl Iterator<Item = &Flow> {
        let this = move |flow: &&Flow| usize::from(flow.traffic.0) == traffic;
        self.flows.iter().filter(this)
    }

    fn goodput(&self, flow: &Flow) -> Rate {
        let from = flow.started.max(self.from);
        let until = flow.done.unwrap_or(self.end);
        match until.since(from) {
            Duration::ZERO => Rate::default(),
            span => Rate::from_bytes_over(flow.delivered, span),
        }
    }

    /// Jain's index over calls and transfers that last as long as the run.
    fn fairness(&self) -> Option<f64> {
        let lasting = |flow: &&Flow| {
            let kind = &self.scenario.traffic[usize::from(flow.traffic.0)].kind;
            !matches!(kind, Kind::Page { .. }) && flow.done.is_none()
        };
        let rates: Vec<f64> = self
            .flows
            .iter()
            .filter(lasting)
            .map(|flow| self.goodput(flow).as_mbit_f64())
            .collect();
        let sum: f64 = rates.iter().sum();
        let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
        // One flow alone shares with nobody.
        (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
    }

    /// Names of all flows, by their numbers.
    fn flow_names(&self) -> Vec<String> {
        let mut numbers = vec![0; self.scenario.traffic.len()];
        let name = |flow: &Flow| {
            let entry = usize::from(flow.traffic.0);
            numbers[entry] += 1;
            let traffic = &self.scenario.traffic[entry];
            let many = matches!(traffic.kind, Kind::Page { .. }) || traffic.count > 1;
            numbered(&traffic.name, if many { 2 } else { 1 }, numbers[entry])
        };
        self.flows.iter().map(name).collect()
    }

    fn series(&self, links: &[BuiltLink], flows: Vec<String>) -> Series {
        let calls: Vec<(usize, String)> = self
            .entries("call")
            .map(|(index, entry)| (index, entry.name.clone()))
            .collect();
        let frames = (0..).zip(&calls).flat_map(|(call, (index, _))| {
            self.videos[*index]
                .delays()
                .map(move |(at, delay)| (call, at, delay))
        });
        Series {
            flows,
            frames: frames.collect(),
            bin_s: BIN.as_secs_f64(),
            offered: self.flows.iter().map(|flow| flow.offered.clone()).collect(),
            share: self.flows.iter().map(|flow| flow.share.clone()).collect(),
            sojourn: self.links.iter().map(LinkMeter::series).collect(),
            moves: self.moves.clone(),
            classes: links.iter().map(|link| link.classes.clone()).collect(),
            calls: calls.iter().map(|(_, name)| name.clone()).collect(),
        }
    }
}

/// Counts bytes into the bin of `now`.
fn count(bins: &mut Vec<u64>, now: Instant, bytes: u32) {
    let index = (now.as_nanos() / BIN.as_nanos()) as usize;
    if bins.len() <= index {
        bins.resize(index + 1, 0);
    }
    bins[index] += u64::from(bytes);
}

/// A name, with its number where there are several of the kind.
fn numbered(name: &str, count: u32, number: usize) -> String {
    if count > 1 {
        format!("{name}-{number}")
    } else {
        name.to_owned()
    }
}

impl Sink for Collector {
    fn event(&mut self, now: Instant, event: Event) {
        match event {
            Event::Enqueued { link, flow, bytes } => {
                self.link(link).enqueued(now, bytes);
                if self.keep_series
                    && link.0 == 0
                    && let Some(flow) = self.flows.get_mut(flow.0 as usize)
                {
                    count(&mut flow.offered, now, bytes);
                }
            }
            Event::RequestStarted { .. } => {}
            Event::Dequeued {
                link,
                flow,
                bytes,
                sojourn,
            } => {
                self.dequeued(now, link, flow, bytes, sojourn);
            }
            Event::Dropped { link, bytes, .. } => {
                let measured = now >= self.from;
                self.link(link).dropped(now, measured, bytes);
            }
            Event::Marked { link, .. } => {
                if now >= self.from {
                    self.link(link).marked();
                }
            }
            Event::Moved {
                link,
                flow,
                from,
                to,
            } => {
                let lasts = self.flows[flow.0 as usize].waits.is_some();
                let classes = &mut self.link(link).classes;
                classes.moved(now, flow, from, to, lasts);
                if self.keep_series {
                    let (link, flow) = (usize::from(link.0), flow.0 as usize);
                    self.moves.push((now.as_secs_f64(), link, flow, to.0));
                }
            }
            Event::FlowStarted { flow, traffic } => {
                debug_assert_eq!(flow.0 as usize, self.flows.len(), "flows start in order");
                let entry = &self.scenario.traffic[usize::from(traffic.0)];
                let first_up = self.scenario.links.len() as u16;
                self.flows.push(Flow {
                    traffic,
                    queue: LinkId(if entry.up { first_up } else { 0 }),
                    waits: entry.kind.lasts().then(Box::default),
                    started: now,
                    done: None,
                    delivered: 0,
                    offered: Vec::new(),
                    share: Vec::new(),
                });
            }
            Event::Delivered { flow, bytes } => {
                if now >= self.from {
                    self.flows[flow.0 as usize].delivered += bytes;
                }
            }
            Event::FlowDone { flow } => self.flows[flow.0 as usize].done = Some(now),
            Event::FrameSent { call, frame } => self.videos[usize::from(call.0)].sent(now, frame),
            Event::FrameArrived { call, frame } => {
                self.videos[usize::from(call.0)].arrived(now, frame);
            }
            Event::FrameShown { call, .. } => self.videos[usize::from(call.0)].shown(now),
            Event::FrameLost { call, frame } => self.videos[usize::from(call.0)].lost(now, frame),
            Event::PageStarted { .. }
            | Event::ConnectionOpened { .. }
            | Event::RequestDone { .. }
            | Event::PageDone { .. } => self.page_event(now, event),
        }
    }
}
