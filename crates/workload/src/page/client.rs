//! The home side of pages: loads one, waits, loads the next.
//!
//! Each load starts with no connections, as in a browser that has just been opened, and closes its
//! own when the last answer is complete. A load that is not complete when the next one is due goes
//! on, and the next one starts when it is: abandoning it would take the longest load times out of
//! the results.

use super::After;
use super::Page;
use super::connections::Pool;
use crate::{App, ConnId, Input, Message, Output, Report};
use std::sync::Arc;
use units::random::Stream;
use units::{Duration, Instant};

units::params! {
    /// What a `page` entry can be told.
    pub struct PageParams {
        /// Which pages: a HAR file, a folder of them, a pattern with `*`, or `generated:N` for the first
        /// N generated sites.
        source: String = "generated:1000", source "decision 0031";
        /// From one load's start to the next one's. A load that takes longer delays the next.
        interval: Duration = "53s", range "1ms".."24h", source "Confucius, section 7.2";
        /// How many loads; 0 for no end.
        loads: u32 = "0", range "0".."1000000", source "none";
        /// Choose each load's page at random, instead of taking the pages in turn.
        shuffle: bool = "yes", source "Confucius, section 7.2";
        /// Scales how long servers think: 0 for servers that answer at once.
        think_scale: f64 = "1", range "0".."1000", source "none";
        /// How far the round trips to a page's origins spread: the standard deviation of their
        /// logarithm. 0 for none.
        rtt_spread: f64 = "0", range "0".."3", source "Confucius, section 7.1: one RTT";
    }
}

/// What a client has to know of the scenario.
#[derive(Debug, Clone, Copy)]
pub struct PageSetup {
    /// The run's seed, or a number derived from it and the entry.
    pub seed: u64,
    /// The scenario's round trip, which [`PageParams::rtt_spread`] is relative to.
    pub rtt: Duration,
}

/// The lower half of the token that starts a load.
const NEXT: u32 = u32::MAX;

/// Loads pages.
#[derive(Debug)]
pub struct PageClient {
    pages: Vec<Arc<Page>>,
    params: PageParams,
    setup: PageSetup,
    choice: Stream,
    /// Loads begun.
    begun: u32,
    next_conn: u32,
    /// When the next load is due.
    due: Instant,
    load: Option<Load>,
}

/// A load that runs.
#[derive(Debug)]
struct Load {
    number: u32,
    page: Arc<Page>,
    pool: Pool,
    /// Who waits for each request.
    children: Vec<Vec<u32>>,
    progress: Vec<Progress>,
    /// Requests that are not done.
    left: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    FirstPart,
    Done,
}

impl PageClient {
    /// A client that loads `pages`; without any it loads none.
    pub fn new(pages: Vec<Arc<Page>>, params: PageParams, setup: PageSetup) -> Self {
        PageClient {
            pages,
            params,
            setup,
            choice: Stream::new(setup.seed, "page choice"),
            begun: 0,
            next_conn: 0,
            due: Instant::ZERO,
            load: None,
        }
    }

    fn schedule(&self, out: &mut Vec<Output>) {
        let more = self.params.loads == 0 || self.begun < self.params.loads;
        if more && !self.pages.is_empty() {
            out.push(Output::Timer(self.due, token(self.begun, NEXT)));
        }
    }

    fn begin(&mut self, now: Instant, out: &mut Vec<Output>) {
        let count = self.pages.len() as u64;
        let index = match self.params.shuffle {
            true => self.choice.below(count),
            false => u64::from(self.begun) % count,
        } as usize;
        let page = Arc::clone(&self.pages[index]);
        // An origin keeps its distance from load to load.
        let mut stream = Stream::new(self.setup.seed, &format!("page rtt {index}"));
        let extra = page.extra_rtts(&mut stream, self.setup.rtt, self.params.rtt_spread);
        let number = self.begun;
        self.begun += 1;
        self.due = now + self.params.interval;
        out.push(Output::Report(Report::PageStarted {
            load: number,
            page: index as u32,
        }));
        let pool = Pool::new(&page, &extra, number, self.params.think_scale);
        let mut load = Load::new(number, page, pool);
        let roots = load.page.requests().iter().enumerate();
        let roots: Vec<u32> = roots
            .filter(|(_, request)| request.after == After::Navigation)
            .map(|(id, _)| id as u32)
            .collect();
        load.release(now, roots, &mut self.next_conn, out);
        self.load = Some(load);
    }

    fn response(
        &mut self,
        now: Instant,
        (conn, id, last): (ConnId, u32, bool),
        out: &mut Vec<Output>,
    ) {
        let Some(load) = &mut self.load else { return };
        if !load.pool.contains(conn) {
            return;
        }
        load.response(now, (conn, id, last), &mut self.next_conn, out);
        if load.left == 0 {
            out.push(Output::Report(Report::PageDone { load: load.number }));
            load.pool.close_all(out);
            self.load = None;
            self.due = self.due.max(now);
            self.schedule(out);
        }
    }

    fn timer(&mut self, now: Instant, timer: u64, out: &mut Vec<Output>) {
        let (number, id) = ((timer >> 32) as u32, timer as u32);
        match &mut self.load {
            None if id == NEXT && number == self.begun => self.begin(now, out),
            Some(load) if number == load.number && (id as usize) < load.children.len() => {
                let page = Arc::clone(&load.page);
                load.pool.want(&page, id, &mut self.next_conn, out);
            }
            _ => {}
        }
    }
}

impl Load {
    fn new(number: u32, page: Arc<Page>, pool: Pool) -> Self {
        let count = page.requests().len();
        let mut children = vec![Vec::new(); count];
        for (id, request) in page.requests().iter().enumerate() {
            if let Some(parent) = request.parent() {
                children[parent as usize].push(id as u32);
            }
        }
        Load {
            number,
            page,
            pool,
            children,
            progress: vec![Progress::Nothing; count],
            left: count,
        }
    }

    /// What these requests waited for has happened: they are sent after their delays.
    fn release(&mut self, now: Instant, ids: Vec<u32>, next: &mut u32, out: &mut Vec<Output>) {
        let page = Arc::clone(&self.page);
        for id in ids {
            let delay = page.requests()[id as usize].delay;
            if delay == Duration::ZERO {
                self.pool.want(&page, id, next, out);
            } else {
                out.push(Output::Timer(now + delay, token(self.number, id)));
            }
        }
    }

    fn response(
        &mut self,
        now: Instant,
        (conn, id, last): (ConnId, u32, bool),
        next: &mut u32,
        out: &mut Vec<Output>,
    ) {
        let Some(progress) = self.progress.get_mut(id as usize) else {
            return;
        };
        let before = core::mem::replace(
            progress,
            match (last, *progress) {
                (true, _) | (_, Progress::Done) => Progress::Done,
                (false, _) => Progress::FirstPart,
            },
        );
        if before == Progress::Done {
            return;
        }
        if last {
            self.left -= 1;
            let bytes = self.page.requests()[id as usize].response.get();
            out.push(Output::Report(Report::RequestDone {
                load: self.number,
                id,
                bytes,
            }));
            let page = Arc::clone(&self.page);
            self.pool.answered(&page, conn, out);
        }
        let released = self.children[id as usize].iter().copied();
        let released = released
            .filter(|&child| match self.page.requests()[child as usize].after {
                After::Navigation => false,
                After::FirstPart(_) => before == Progress::Nothing,
                After::Done(_) => last,
            })
            .collect();
        self.release(now, released, next, out);
    }
}

impl App for PageClient {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => {
                self.due = now;
                self.schedule(out);
            }
            Input::Timer(token) => self.timer(now, token, out),
            Input::Opened(conn) => {
                if let Some(load) = &mut self.load {
                    load.pool.opened(&load.page, conn, out);
                }
            }
            Input::Message { conn, message, .. } => match message {
                Message::ServerHello => {
                    if let Some(load) = &mut self.load {
                        load.pool.ready(&load.page, conn, out);
                    }
                }
                Message::Response { id, last } => self.response(now, (conn, id, last), out),
                _ => {}
            },
            Input::Writable(_)
            | Input::Datagram { .. }
            | Input::Session { .. }
            | Input::Unsent { .. } => {}
        }
    }
}

/// A timer's token: which load, and which of its requests.
fn token(load: u32, id: u32) -> u64 {
    u64::from(load) << 32 | u64::from(id)
}
