//! Page loads, and their effect on calls.

use crate::result::PageResult;
use crate::video::Turn;
use scenario::Scenario;
use std::collections::BTreeMap;
use units::{Duration, Instant};
use workload::ideal::Ideal;
use workload::{Event, TrafficId};

/// A load's stalls are counted until this long after its end (design, "stall per page load").
const AFTERMATH: Duration = Duration::from_secs(2);

/// The loads of all pages.
#[derive(Debug, Default)]
pub struct Loads {
    /// Loads that began in the measured time and may still change.
    open: Vec<Load>,
    /// The results of the others, with their place in the order of starts.
    done: Vec<(usize, PageResult)>,
    begun: usize,
}

#[derive(Debug, Clone)]
struct Load {
    place: usize,
    /// It began in the measured time.
    measured: bool,
    traffic: TrafficId,
    number: u32,
    site: u32,
    ideal: Ideal,
    started: Instant,
    done: Option<Instant>,
    requests: u64,
    bytes: u64,
    connections: u64,
    /// By call.
    stalls: BTreeMap<usize, Duration>,
    worst: Option<Duration>,
}

impl Load {
    /// Until when frames that are handed over count.
    fn until(&self, end: Instant) -> Instant {
        self.done.map_or(end, |done| done + AFTERMATH)
    }

    fn result(&self, scenario: &Scenario) -> PageResult {
        let entry = &scenario.traffic[usize::from(self.traffic.0)];
        let pages = entry.kind.workload.pages();
        let site = pages.get(self.site as usize);
        let stalls = self.stalls.values();
        PageResult {
            name: entry.name.clone(),
            load: self.number,
            site: site.map_or_else(String::new, |page| page.name().to_owned()),
            start_s: self.started.as_secs_f64(),
            plt_ms: self
                .done
                .map(|done| done.since(self.started).as_millis_f64()),
            servers_ms: self.ideal.servers.as_millis_f64(),
            round_trips_ms: self.ideal.round_trips.as_millis_f64(),
            requests: self.requests,
            bytes: self.bytes,
            connections: self.connections,
            stall_s: stalls.fold(0.0, |sum, stall| sum + stall.as_secs_f64()),
            frame_max_ms: self.worst.map(Duration::as_millis_f64),
        }
    }
}

impl Loads {
    /// Handles a report of a page's client; `measured` if loads that begin now are measured.
    pub fn event(&mut self, now: Instant, measured: bool, event: &Event) {
        match *event {
            Event::PageStarted {
                page,
                load,
                site,
                ideal,
            } => {
                self.open.push(Load {
                    place: self.begun,
                    measured,
                    traffic: page,
                    number: load,
                    site,
                    ideal,
                    started: now,
                    done: None,
                    requests: 0,
                    bytes: 0,
                    connections: 0,
                    stalls: BTreeMap::new(),
                    worst: None,
                });
                self.begun += 1;
            }
            Event::ConnectionOpened { page } => {
                let mut latest = self.open.iter_mut().rev();
                if let Some(load) = latest.find(|load| load.traffic == page) {
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

    fn load(&mut self, traffic: TrafficId, number: u32) -> Option<&mut Load> {
        let this = |load: &&mut Load| load.traffic == traffic && load.number == number;
        self.open.iter_mut().rev().find(this)
    }

    /// A turn of the call `call` is over, in a run that ends at `end`.
    pub fn turn(&mut self, call: usize, turn: &Turn, end: Instant) {
        for load in &mut self.open {
            if (load.started..=load.until(end)).contains(&turn.sent) {
                *load.stalls.entry(call).or_default() += turn.stall;
                load.worst = load.worst.max(turn.delay);
            }
        }
    }

    /// Makes results of the loads that are final: their time is over, and every frame handed over
    /// by `settled` has had its turn.
    pub fn settle(&mut self, settled: Instant, scenario: &Scenario) {
        let over = |load: &mut Load| load.done.is_some_and(|done| done + AFTERMATH < settled);
        for load in self.open.extract_if(.., over) {
            if load.measured {
                self.done.push((load.place, load.result(scenario)));
            }
        }
    }

    /// Whether there are loads whose results are open.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// All results, in the order of starts. Loads that began so late that their aftermath would be
    /// cut off are left out.
    pub fn results(mut self, scenario: &Scenario) -> Vec<PageResult> {
        let end = Instant::ZERO + scenario.duration;
        let told = |load: &&Load| load.measured && load.started + AFTERMATH <= end;
        self.done.extend(
            self.open
                .iter()
                .filter(told)
                .map(|load| (load.place, load.result(scenario))),
        );
        self.done.sort_by_key(|(place, _)| *place);
        self.done.into_iter().map(|(_, result)| result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn turn(sent: u64, delay: Option<u64>, stall: u64) -> Turn {
        Turn {
            frame: 0,
            sent: at(sent),
            delay: delay.map(Duration::from_millis),
            stall: Duration::from_millis(stall),
            arrived: None,
        }
    }

    /// The worst frame and the stall of a load from 100 ms to 300 ms, and two seconds longer.
    #[test]
    fn a_load_has_the_frames_of_its_time() {
        let mut loads = Loads::default();
        let (page, load, site) = (TrafficId(0), 0, 0);
        let ideal = Ideal::default();
        let started = Event::PageStarted {
            page,
            load,
            site,
            ideal,
        };
        loads.event(at(100), true, &started);
        let end = at(9000);
        loads.turn(1, &turn(99, Some(900), 800), end);
        loads.turn(1, &turn(100, Some(70), 0), end);
        loads.turn(2, &turn(200, Some(250), 33), end);
        loads.event(at(300), true, &Event::PageDone { page, load });
        loads.turn(1, &turn(2300, Some(191), 40), end);
        loads.turn(1, &turn(2301, Some(999), 800), end);
        loads.turn(1, &turn(2000, None, 0), end);
        let load = &loads.open[0];
        assert_eq!(load.worst, Some(Duration::from_millis(250)));
        let stalls: Vec<f64> = load.stalls.values().map(|s| s.as_millis_f64()).collect();
        assert_eq!(stalls, [40.0, 33.0]);
    }
}
