//! From events to results.

use crate::audio::Audios;
use crate::engine::BuiltLink;
use crate::event::{Event, LinkId, PacketId, Sink};
use crate::figures::Figures;
use crate::flows::{Flows, flow_name};
use crate::link_meter::LinkMeter;
use crate::loads::Loads;
use crate::notes::notes;
use crate::rates::FollowedRates;
use crate::result::{CallResult, FlowResult, Note, RunResult, Series};
use crate::senders::{MOST, Senders};
use crate::series::{Lines, Width};
use crate::video::{Measured, Turn, Video};
use crate::waits::Waits;
use scenario::{Choice, Scenario, Traffic};
use units::{Duration, FlowId, Instant, Rate};
use workload::{Event as Application, Rows, TrafficId};

/// Listens to an engine and measures. Holds active items: flows that are open, frames that are
/// under way, loads that run; the rest is counted and forgotten.
#[derive(Debug)]
pub struct Collector {
    scenario: Scenario,
    from: Instant,
    end: Instant,
    width: Width,
    links: Vec<LinkMeter>,
    flows: Flows<CollectedFlow>,
    /// Flows that have a row in results and have ended, with their numbers.
    ended: Vec<(FlowId, CollectedFlow)>,
    /// Flows so far, by traffic entry.
    started: Vec<u32>,
    /// The first queue in the direction in which most of an entry's data goes.
    queues: Vec<Option<LinkId>>,
    /// The calls among the traffic entries, and their audio.
    videos: Vec<Option<Video>>,
    audios: Audios,
    loads: Loads,
    figures: Figures,
    rates: FollowedRates,
    senders: Senders,
    /// The data for plots of the run, if kept.
    lines: Option<Lines>,
    /// The line of traffic entries with too many flows to tell apart.
    shared: Vec<Option<usize>>,
}

#[derive(Debug, Clone)]
struct CollectedFlow {
    traffic: TrafficId,
    /// Its number among the entry's, from 1.
    number: u32,
    /// The first queue in the direction in which most of its data goes.
    queue: Option<LinkId>,
    /// It goes on until the run ends.
    lasts: bool,
    /// The waits of its packets there in the measured time, if it goes on until the run ends.
    waits: Option<Box<Waits>>,
    started: Instant,
    done: Option<Instant>,
    /// Delivered in the measured time.
    delivered: u64,
    /// Its line in plots.
    line: Option<usize>,
}

impl Collector {
    /// Listens to a run of `scenario`. With `series`, the data for a plot is kept.
    pub fn new(scenario: &Scenario, series: bool) -> Self {
        let from = Instant::ZERO + scenario.warmup;
        let video = |entry: &Traffic| {
            let is_call = entry.kind.entry.rows == Rows::Call;
            is_call.then(|| Video::new(from, entry.stall_threshold, entry.session.buffers()))
        };
        let buffered = scenario.traffic.iter();
        let buffered = buffered.map(|entry| entry.session.buffers());
        let queue = |entry: &Traffic| {
            let path = &scenario.paths(entry)[0];
            let queues = scenario.queues(&path.links, entry.up);
            queues.first().copied().map(LinkId)
        };
        Collector {
            queues: scenario.traffic.iter().map(queue).collect(),
            from,
            end: Instant::ZERO + scenario.duration,
            width: Width::default(),
            links: Vec::new(),
            flows: Flows::default(),
            ended: Vec::new(),
            started: vec![0; scenario.traffic.len()],
            videos: scenario.traffic.iter().map(video).collect(),
            audios: Audios::new(from, buffered.collect()),
            loads: Loads::default(),
            figures: Figures::new(scenario),
            rates: FollowedRates::default(),
            senders: Senders::default(),
            lines: series.then(Lines::default),
            shared: vec![None; scenario.traffic.len()],
            scenario: scenario.clone(),
        }
    }

    #[inline]
    fn link(&mut self, link: LinkId) -> &mut LinkMeter {
        let index = usize::from(link.0);
        if self.links.len() <= index {
            self.add_links(index + 1);
        }
        &mut self.links[index]
    }

    #[cold]
    fn add_links(&mut self, links: usize) {
        while self.links.len() < links {
            let bins = self.lines.is_some();
            self.links.push(LinkMeter::new(self.from, bins));
        }
    }

    /// The bin of `now` if the run is drawn.
    #[inline]
    fn bin(&mut self, now: Instant) -> Option<usize> {
        self.lines.as_ref()?;
        loop {
            if let Some(place) = self.width.place(now) {
                return Some(place);
            }
            self.widen();
        }
    }

    #[cold]
    fn widen(&mut self) {
        self.width.double();
        self.lines.iter_mut().for_each(Lines::halve);
        self.links.iter_mut().for_each(LinkMeter::halve);
    }

    fn enqueued(&mut self, now: Instant, link: LinkId, packet: PacketId) {
        self.link(link).enqueued(now, packet.bytes);
    }

    fn line_of(&mut self, packet: PacketId) -> Option<&mut crate::series::Line> {
        let line = self.flows.get_mut(packet.flow?)?.line?;
        self.lines.as_mut()?.lines.get_mut(line)
    }

    fn dequeued(&mut self, now: Instant, link: LinkId, packet: PacketId, sojourn: Duration) {
        let measured = now >= self.from;
        let place = self.bin(now);
        self.link(link)
            .dequeued(now, measured, packet.bytes, sojourn, place);
        let Some(flow) = packet.flow.and_then(|flow| self.flows.get_mut(flow)) else {
            return;
        };
        if let Some(waits) = &mut flow.waits
            && measured
            && Some(link) == flow.queue
        {
            waits.record(sojourn);
        }
        if let Some(place) = place
            && let Some(line) = self.line_of(packet)
        {
            line.left(link, place, packet.bytes);
        }
    }

    #[cold]
    #[inline(never)]
    fn rated(&mut self, now: Instant, link: LinkId, decision: autorate::Decision) {
        let keep = self.lines.is_some();
        self.rates.rated(now, self.from, link, decision, keep);
    }

    /// What a sender is at, or what limited it.
    #[cold]
    #[inline(never)]
    fn sender(&mut self, now: Instant, flow: FlowId, event: &Event) {
        let Some(&mut CollectedFlow {
            traffic, number, ..
        }) = self.flows.get_mut(flow)
        else {
            return;
        };
        let entry = &self.scenario.traffic[usize::from(traffic.0)];
        match event {
            Event::Sender { state, .. } => {
                let name = || (flow_name(entry, number), control(entry));
                self.senders.at(now, flow, state, name);
            }
            Event::Limited { limit, share, .. } => {
                self.senders.limited(flow, entry, number, *limit, *share);
            }
            _ => {}
        }
    }

    fn moved(&mut self, now: Instant, link: LinkId, flow: FlowId, event: &Event) {
        let Event::Moved { from, to, .. } = *event else {
            return;
        };
        let found = self.flows.get_mut(flow);
        let (lasts, line) = found.map_or((false, None), |flow| (flow.lasts, flow.line));
        self.link(link).classes.moved(now, flow, from, to, lasts);
        if let (Some(lines), Some(line)) = (&mut self.lines, line) {
            lines.moved(now, link, line, to.0);
        }
    }

    fn flow_started(&mut self, now: Instant, flow: FlowId, traffic: TrafficId) {
        let place = usize::from(traffic.0);
        let Some(entry) = self.scenario.traffic.get(place) else {
            return;
        };
        self.started[place] += 1;
        let (number, rows) = (self.started[place], entry.kind.entry.rows);
        let lasts = entry.kind.workload.lasts();
        let line = self.lines.as_mut().map(|lines| {
            let name = || flow_name(entry, number);
            match rows {
                Rows::Figures => {
                    *self.shared[place].get_or_insert_with(|| lines.add(entry.name.clone()))
                }
                Rows::Call | Rows::Loads | Rows::Flows => lines.add(name()),
            }
        });
        let started = CollectedFlow {
            traffic,
            number,
            queue: self.queues[place],
            lasts,
            waits: (lasts && has_row(rows)).then(Box::default),
            started: now,
            done: None,
            delivered: 0,
            line,
        };
        self.flows.insert(flow, started);
    }

    /// Nearly every packet is one, so that it goes past all other events.
    #[inline]
    fn delivered(&mut self, now: Instant, flow: FlowId, bytes: u64) {
        if now >= self.from
            && let Some(flow) = self.flows.get_mut(flow)
        {
            flow.delivered += bytes;
        }
    }

    #[inline(never)]
    fn application(&mut self, now: Instant, event: Application) {
        let measured = now >= self.from;
        match event {
            Application::FlowStarted { flow, traffic, .. } => {
                self.flow_started(now, flow, traffic);
            }
            Application::Delivered { flow, bytes } => self.delivered(now, flow, bytes),
            Application::FlowDone { flow } => {
                if let Some(flow) = self.flows.get_mut(flow) {
                    flow.done = Some(now);
                }
            }
            Application::FlowEnded { flow } => {
                let ended = self.flows.remove(flow);
                let kept = ended.filter(|ended| has_row(self.rows(ended.traffic)));
                self.ended.extend(kept.map(|ended| (flow, ended)));
            }
            Application::FrameSent { call, frame } => {
                self.frame(call, |video| video.sent(now, frame));
            }
            Application::FrameArrived { call, frame } => {
                self.frame(call, |video| video.arrived(now, frame));
            }
            Application::FrameShown { call, frame, held } => {
                self.frame(call, |video| video.shown(now, frame, held));
            }
            Application::FrameLost { call, frame } => {
                self.frame(call, |video| video.lost(now, frame));
            }
            Application::PartRestored { .. } => {}
            Application::AudioSent { .. }
            | Application::AudioArrived { .. }
            | Application::AudioRestored { .. } => {
                self.audios.event(now, &event);
            }
            Application::PageStarted { .. } => {
                self.settle_loads(now);
                self.loads.event(now, measured, &event);
            }
            Application::ConnectionOpened { .. }
            | Application::RequestStarted { .. }
            | Application::RequestDone { .. }
            | Application::PageDone { .. } => self.loads.event(now, measured, &event),
            Application::Observed {
                traffic,
                figure,
                value,
                began,
            } => {
                if began >= self.from {
                    self.figures.observed(traffic, figure, value);
                }
            }
        }
    }

    fn rows(&self, traffic: TrafficId) -> Rows {
        self.scenario.traffic[usize::from(traffic.0)]
            .kind
            .entry
            .rows
    }

    /// Handles the fate of a call's frame; turns that end with it are counted.
    fn frame(&mut self, call: TrafficId, what: impl FnOnce(&mut Video)) {
        let place = usize::from(call.0);
        let Some(Some(video)) = self.videos.get_mut(place) else {
            return;
        };
        what(video);
        while let Some(Some(turn)) = self.videos[place].as_mut().map(Video::turn) {
            self.turn(place, &turn);
        }
    }

    fn turn(&mut self, place: usize, turn: &Turn) {
        self.loads.turn(place, turn, self.end);
        if let Some(lines) = &mut self.lines {
            let calls = self.videos[..place].iter().flatten().count();
            let delay = turn.arrived.map(|at| at.since(turn.sent).as_millis_f64());
            lines.frames.push((calls, turn.sent.as_secs_f64(), delay));
        }
    }

    /// Loads whose time is over, as far as frames are concerned as well, become results.
    fn settle_loads(&mut self, now: Instant) {
        if self.loads.is_open() {
            let oldest = self.videos.iter().flatten().filter_map(Video::oldest);
            let settled = oldest.min().unwrap_or(now);
            self.loads.settle(settled, &self.scenario);
        }
    }

    /// The results, once the engine is done. `links` are the queues as it built them.
    pub fn finish(mut self, discipline: &Choice, seed: u64, links: &[BuiltLink]) -> RunResult {
        self.add_links(links.len());
        for place in 0..self.videos.len() {
            let end = self.end;
            while let Some(Some(turn)) = self.videos[place].as_mut().map(|v| v.last_turn(end)) {
                self.turn(place, &turn);
            }
        }
        self.audios.finish(self.end);
        let open = core::mem::take(&mut self.flows);
        let mut flows = core::mem::take(&mut self.ended);
        let open = open.iter().map(|(number, flow)| (number, flow.clone()));
        flows.extend(open);
        flows.sort_by_key(|(number, _)| *number);
        let (end, scenario) = (self.end, &self.scenario);
        let queues = self.links.iter_mut().zip(links);
        let queues = queues
            .map(|(meter, link)| meter.result(end, link, &|flow| name_of(scenario, &flows, flow)))
            .collect();
        let (senders, all_senders) = self.senders.results();
        let mut result = RunResult {
            discipline: discipline.to_string(),
            seed,
            variant: Default::default(),
            calls: self.calls(&flows),
            pages: core::mem::take(&mut self.loads).results(&self.scenario),
            flows: self.transfers(&flows),
            links: queues,
            rates: self.rates.results(self.end, links),
            jfi: self.fairness(&flows),
            figures: self.figures.results(&self.scenario),
            measured: Default::default(),
            senders,
            limits: self.senders.limits(),
            invalid: doubts(links),
            notes: Vec::new(),
            series: self.lines.take().map(|lines| self.series(lines, links)),
        };
        result.notes = notes(&result);
        if !all_senders {
            let text = format!("the first {MOST} moments are kept; a longer `senders` covers more");
            let about = "senders".to_owned();
            result.notes.push(Note { about, text });
        }
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

    /// Traffic entries with these rows, with their numbers.
    fn entries(&self, rows: Rows) -> impl Iterator<Item = (usize, &Traffic)> {
        let entries = self.scenario.traffic.iter().enumerate();
        entries.filter(move |(_, entry)| entry.kind.entry.rows == rows)
    }

    fn calls(&self, flows: &[(FlowId, CollectedFlow)]) -> Vec<CallResult> {
        self.entries(Rows::Call)
            .map(|(index, entry)| {
                let video = self.videos[index].as_ref();
                let video = video.map_or_else(Measured::default, |v| v.measured(self.end));
                let rate = |flow: &CollectedFlow| self.goodput(flow).as_mbit_f64();
                let mut waits = of(flows, index).filter_map(|flow| flow.waits.as_deref());
                CallResult {
                    name: entry.name.clone(),
                    control: control(entry),
                    stall_s: video.stall_s,
                    frames: video.frames,
                    frames_late: video.late,
                    frames_lost: video.lost,
                    frame_delay_ms: video.delay,
                    low_fps_events: video.low_fps,
                    freezes: video.freezes,
                    playout: video.playout,
                    audio: self.audios.measured(index),
                    goodput_mbps: of(flows, index).map(rate).fold(0.0, |sum, rate| sum + rate),
                    sojourn_ms: waits.next().map(Waits::delay).unwrap_or_default(),
                    why: None,
                }
            })
            .collect()
    }

    fn transfers(&self, flows: &[(FlowId, CollectedFlow)]) -> Vec<FlowResult> {
        self.entries(Rows::Flows)
            .flat_map(|(index, entry)| {
                of(flows, index).map(move |flow| FlowResult {
                    name: flow_name(entry, flow.number),
                    control: control(entry),
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

    fn goodput(&self, flow: &CollectedFlow) -> Rate {
        let from = flow.started.max(self.from);
        let until = flow.done.unwrap_or(self.end);
        match until.since(from) {
            Duration::ZERO => Rate::default(),
            span => Rate::from_bytes_over(flow.delivered, span),
        }
    }

    /// Jain's index over calls and transfers that last as long as the run.
    fn fairness(&self, flows: &[(FlowId, CollectedFlow)]) -> Option<f64> {
        let lasting =
            |flow: &&CollectedFlow| has_row(self.rows(flow.traffic)) && flow.done.is_none();
        let rates: Vec<f64> = flows
            .iter()
            .map(|(_, flow)| flow)
            .filter(lasting)
            .map(|flow| self.goodput(flow).as_mbit_f64())
            .collect();
        let sum: f64 = rates.iter().sum();
        let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
        // A single flow shares with no other.
        (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
    }

    fn series(&self, mut lines: Lines, links: &[BuiltLink]) -> Series {
        lines.frames.sort_by_key(|frame| frame.0);
        let calls = self.entries(Rows::Call);
        let mut series = Series {
            frames: lines.frames,
            bin_s: self.width.as_secs_f64(),
            sojourn: self.links.iter().map(LinkMeter::series).collect(),
            moves: lines.moves,
            rates: self.rates.line.clone(),
            classes: links.iter().map(|link| link.classes.clone()).collect(),
            calls: calls.map(|(_, entry)| entry.name.clone()).collect(),
            share: vec![Vec::new(); links.len()],
            ..Series::default()
        };
        for line in lines.lines {
            series.flows.push(line.name);
            let all = line
                .shares
                .into_iter()
                .chain(core::iter::repeat(Vec::new()));
            for (queue, share) in series.share.iter_mut().zip(all) {
                queue.push(share);
            }
        }
        series
    }
}

/// Whether results have a row for each call or transfer of an entry.
const fn has_row(rows: Rows) -> bool {
    matches!(rows, Rows::Call | Rows::Flows)
}

/// A flow's name.
fn name_of(scenario: &Scenario, flows: &[(FlowId, CollectedFlow)], flow: FlowId) -> String {
    let place = flows.binary_search_by_key(&flow, |(number, _)| *number);
    let found = place.ok().map(|place| &flows[place].1);
    found.map_or_else(String::new, |flow| {
        let entry = &scenario.traffic[usize::from(flow.traffic.0)];
        flow_name(entry, flow.number)
    })
}

fn control(entry: &Traffic) -> String {
    let control = entry.control.as_ref();
    control.map(ToString::to_string).unwrap_or_default()
}

/// The flows of a traffic entry.
fn of(flows: &[(FlowId, CollectedFlow)], traffic: usize) -> impl Iterator<Item = &CollectedFlow> {
    let this = move |flow: &&CollectedFlow| usize::from(flow.traffic.0) == traffic;
    flows.iter().map(|(_, flow)| flow).filter(this)
}

impl Sink for Collector {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Enqueued { link, packet } => self.enqueued(now, link, packet),
            Event::Dequeued {
                link,
                packet,
                sojourn,
            } => self.dequeued(now, link, packet, sojourn),
            Event::Dropped { link, packet, .. } => {
                let measured = now >= self.from;
                self.link(link).dropped(now, measured, packet.bytes);
            }
            Event::Marked { link, .. } => {
                if now >= self.from {
                    self.link(link).marked();
                }
            }
            Event::Lost { link, .. } => {
                if now >= self.from {
                    self.link(link).lost();
                }
            }
            Event::Moved { link, flow, .. } => self.moved(now, link, flow, event),
            Event::Rated { link, decision } => self.rated(now, link, decision),
            Event::Sender { flow, .. } | Event::Limited { flow, .. } => {
                self.sender(now, flow, event);
            }
            // For meters, and for the question why calls stall.
            Event::Noticed { .. }
            | Event::Sent { .. }
            | Event::Arrived { .. }
            | Event::Media { .. } => {}
            Event::Traffic(Application::Delivered { flow, bytes }) => {
                self.delivered(now, flow, bytes);
            }
            Event::Traffic(event) => self.application(now, event),
        }
    }
}

/// What engines doubt of a run, each once.
fn doubts(links: &[BuiltLink]) -> Vec<String> {
    let mut doubts: Vec<String> = links.iter().filter_map(|link| link.doubt.clone()).collect();
    doubts.dedup();
    doubts
}
