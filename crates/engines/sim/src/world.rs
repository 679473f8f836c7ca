//! The loop: due events happen, and the parts concerned react until all is quiet.

use crate::agenda::{Due, DueKind};
use crate::follow;
use crate::sockets::Ends;
use scenario::Scenario;
use transport::endpoint::EndEvent;
use units::{Duration, Instant};
use workload::Driver;
use workload::driver::{FlowEnd, TimerId, TrafficEntry};

/// The state of a run.
pub struct World<'a> {
    driver: Driver,
    sockets: Ends<'a>,
    /// The links whose rate is followed, if there are some.
    followers: Option<follow::Shared>,
}

/// The traffic of `scenario`, as the driver of applications needs it.
fn entries(scenario: &Scenario) -> Vec<TrafficEntry> {
    let entry = |traffic: &scenario::Traffic| TrafficEntry {
        name: traffic.name.clone(),
        kind: traffic.kind.clone(),
        first: traffic.first,
        up: traffic.up,
        rtt: scenario.paths(traffic)[0].rtt,
        rate: scenario.first_rate(traffic),
    };
    scenario.traffic.iter().map(entry).collect()
}

impl<'a> World<'a> {
    /// A world before the first event.
    pub fn new(
        sockets: Ends<'a>,
        scenario: &Scenario,
        followers: Option<follow::Shared>,
        seed: u64,
    ) -> Self {
        World {
            driver: Driver::new(entries(scenario), seed),
            sockets,
            followers,
        }
    }

    /// The links, with their contents.
    pub fn links(&self) -> &[link::Link<u32>] {
        &self.sockets.network.links
    }

    /// Processes all events until `end`.
    pub fn run(&mut self, scenario: &Scenario, seed: u64, end: Instant) {
        for (index, entry) in (0..).zip(&scenario.traffic) {
            for start in entry.starts(seed) {
                let at = Instant::ZERO + start;
                self.sockets
                    .network
                    .agenda
                    .push(at, Due::new(DueKind::Start, index, 0));
            }
        }
        for (at, due) in self.sockets.moves() {
            self.sockets.network.agenda.push(at, due);
        }
        self.follow(Instant::ZERO);
        self.note_look(Instant::ZERO, scenario.senders);
        while let Some((now, due)) = self.sockets.network.agenda.pop_until(end) {
            if due.kind() == DueKind::Look {
                self.sockets.look(now);
                self.note_look(now, scenario.senders);
                continue;
            }
            let mut next = self.happen(now, due);
            // Ends with less on their own computer than before go first.
            while let Some(end) = self.sockets.network.take_relieved() {
                self.sockets.ready.extend(next.take());
                self.sockets.ready.push(end);
            }
            while let Some(number) = next.take().or_else(|| self.sockets.ready.pop()) {
                self.service(now, number);
            }
            while let Some(first) = self.sockets.network.pairs.take_gone() {
                self.driver.release(FlowEnd(first));
            }
        }
        self.sockets.tell_limits(end);
    }

    /// Notes when senders are looked at next, if they are.
    fn note_look(&mut self, now: Instant, every: Option<Duration>) {
        if let Some(every) = every {
            let look = Due::new(DueKind::Look, 0, 0);
            self.sockets.network.agenda.push(now + every, look);
        }
    }

    /// Lets an event happen; the end point that may have something to send for it.
    // Engines of WebAssembly give up on registers in a function as large as this with everything inlined: V8
    // runs a sixth faster so, and native code 3 % slower.
    #[cfg_attr(target_family = "wasm", inline(never))]
    fn happen(&mut self, now: Instant, due: Due) -> Option<u32> {
        let Ends { network, ends, .. } = &mut self.sockets;
        match due.kind() {
            DueKind::Arrive => network.forward(now, due.number()),
            DueKind::Sent => network.sent(now, due.small()),
            DueKind::Wake => network.wake(now, due.small()),
            DueKind::Deliver => {
                let packet = due.number();
                network.arrives(now, packet);
                let flight = network.flights.get(packet);
                let to = FlowEnd(flight.from).peer().0;
                ends[to as usize].kind.handle(now, flight.ecn, &flight.wire);
                network.delivered(packet);
                return Some(to);
            }
            DueKind::Timer => return self.timer(now, due.number(), due.small()),
            DueKind::App => {
                let timer = TimerId(due.number());
                let Ok(()) = self.driver.timer(now, timer, &mut self.sockets);
            }
            DueKind::Start => {
                let Ok(()) = self.driver.start(now, due.small(), &mut self.sockets);
            }
            DueKind::Move => self.sockets.take_path(due.small(), due.number() as u16),
            DueKind::Follow => self.follow(now),
            DueKind::Look | DueKind::Nothing => {}
        }
        None
    }

    /// Sets the rates of followed links, and notes when to do so again.
    #[cold]
    #[inline(never)]
    fn follow(&mut self, now: Instant) {
        let Some(followers) = &self.followers else {
            return;
        };
        let network = &mut self.sockets.network;
        let decided = followers.borrow_mut().decide(now);
        for (link, decision, moved) in decided {
            network.rate(now, link, decision, moved);
        }
        let next = Due::new(DueKind::Follow, 0, 0);
        network.agenda.push(now + follow::BEAT, next);
    }

    /// A timer of the end point with this number, unless it was its predecessor's.
    fn timer(&mut self, now: Instant, number: u32, generation: u16) -> Option<u32> {
        let end = &mut self.sockets.ends[number as usize];
        if end.generation != generation {
            return None;
        }
        if now >= end.scheduled {
            end.scheduled = Instant::NEVER;
        }
        if end.kind.next_timer() <= now {
            end.kind.on_timer(now);
        }
        Some(number)
    }

    /// Lets an end point send and speak until it is quiet.
    fn service(&mut self, now: Instant, number: u32) {
        loop {
            let held = self.transmit(now, number);
            // An end that speaks has nothing more to send unless an application did something.
            if !self.listen(now, number) {
                return self.set_timer(now, number, held);
            }
        }
    }

    /// Lets an end point send what it may; whether its own computer holds it back.
    #[cfg_attr(target_family = "wasm", inline(never))]
    fn transmit(&mut self, now: Instant, number: u32) -> bool {
        let Ends { network, ends, .. } = &mut self.sockets;
        let kind = &mut ends[number as usize].kind;
        loop {
            let waiting = network.waiting_below(number);
            if waiting > 0 && waiting > kind.may_wait() {
                return true;
            }
            let Some(transmit) = kind.transmit(now) else {
                return false;
            };
            network.send(now, number, transmit);
        }
    }

    /// Handles the events of an end point; whether an application did something to one meanwhile.
    #[cfg_attr(target_family = "wasm", inline(never))]
    fn listen(&mut self, now: Instant, number: u32) -> bool {
        self.sockets.touched = false;
        while let Some(event) = self.sockets.ends[number as usize].kind.event() {
            if let EndEvent::Connection(transport::Event::Noticed(notice)) = event {
                self.sockets.noticed(now, number, notice);
            }
            let (driver, end) = (&mut self.driver, FlowEnd(number));
            let Ok(()) = endpoints::tell(driver, now, end, event, &mut self.sockets);
        }
        self.sockets.touched
    }

    /// Notes the next of an end point's timers, unless an earlier one is noted. An end point that is
    /// `held` back and could send is asked again when it has room.
    fn set_timer(&mut self, now: Instant, number: u32, held: bool) {
        let end = &mut self.sockets.ends[number as usize];
        if held {
            end.kind.held_back(now);
        }
        let timer = end.kind.next_timer();
        if timer < end.scheduled && !(held && timer <= now) {
            end.scheduled = timer;
            let due = Due::new(DueKind::Timer, end.generation, number);
            self.sockets.network.agenda.push(timer.max(now), due);
        }
    }
}
