//! One load of a page: the dependencies of requests, and the data that has arrived.

use super::connections::Pool;
use super::{After, Page};
use crate::{ConnId, Input, Message, Output, Report};
use std::sync::Arc;
use units::{Duration, Instant};

/// A load in progress. It receives the arrivals on the home side from [`PageLoad::begin`] on, until
/// [`PageLoad::is_complete`].
#[derive(Debug)]
pub(super) struct PageLoad {
    number: u32,
    page: Arc<Page>,
    pool: Pool,
    /// The requests that wait for each request.
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

impl PageLoad {
    /// Load `number` of a client: `page`, with these round trips of origins in addition to the
    /// scenario's, and this factor for the plan's think times.
    pub(super) fn new(
        number: u32,
        page: Arc<Page>,
        extra_rtts: &[Duration],
        think_scale: f64,
    ) -> Self {
        let count = page.requests().len();
        let mut children = vec![Vec::new(); count];
        for (id, request) in page.requests().iter().enumerate() {
            if let Some(parent) = request.parent() {
                children[parent as usize].push(id as u32);
            }
        }
        PageLoad {
            number,
            pool: Pool::new(&page, extra_rtts, number, think_scale),
            page,
            children,
            progress: vec![Progress::Nothing; count],
            left: count,
        }
    }

    /// Its number.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Whether all answers have come.
    pub(super) fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// Navigation starts; `next` is the number of the next connection.
    pub(super) fn begin(&mut self, now: Instant, next: &mut u32, out: &mut Vec<Output>) {
        let roots = self.page.requests().iter().enumerate();
        let roots = roots
            .filter(|(_, request)| request.after == After::Navigation)
            .map(|(id, _)| id as u32)
            .collect();
        self.release(now, roots, next, out);
    }

    /// Handles an arrival at the home side. Invalid ones are ignored.
    pub(super) fn handle(
        &mut self,
        now: Instant,
        input: Input,
        next: &mut u32,
        out: &mut Vec<Output>,
    ) {
        match input {
            Input::Timer(timer) => self.timer(timer, next, out),
            Input::Opened(conn) => self.pool.opened(&self.page, conn, out),
            Input::Message { conn, message, .. } => match message {
                Message::ServerHello => self.pool.ready(&self.page, conn, out),
                Message::Response { id, last } if self.pool.contains(conn) => {
                    self.response(now, (conn, id, last), next, out);
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// Closes all its connections.
    pub(super) fn close(&mut self, out: &mut Vec<Output>) {
        self.pool.close_all(out);
    }

    fn timer(&mut self, timer: u64, next: &mut u32, out: &mut Vec<Output>) {
        let (number, id) = untoken(timer);
        if number == self.number && (id as usize) < self.children.len() {
            self.pool.want(&self.page, id, next, out);
        }
    }

    /// The events that these requests waited for have happened: they are sent after their delays.
    fn release(&mut self, now: Instant, ids: Vec<u32>, next: &mut u32, out: &mut Vec<Output>) {
        for id in ids {
            let delay = self.page.requests()[id as usize].delay;
            if delay == Duration::ZERO {
                self.pool.want(&self.page, id, next, out);
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
        let before = *progress;
        if before == Progress::Done {
            return;
        }
        *progress = if last {
            Progress::Done
        } else {
            Progress::FirstPart
        };
        if last {
            self.left -= 1;
            out.push(Output::Report(Report::RequestDone {
                load: self.number,
                id,
                bytes: self.page.requests()[id as usize].response.get(),
            }));
            self.pool.answered(&self.page, conn, out);
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

/// A timer's token: which load, and which of its requests.
pub(super) fn token(load: u32, id: u32) -> u64 {
    u64::from(load) << 32 | u64::from(id)
}

/// The load and the request of a timer's token.
pub(super) fn untoken(timer: u64) -> (u32, u32) {
    ((timer >> 32) as u32, timer as u32)
}
