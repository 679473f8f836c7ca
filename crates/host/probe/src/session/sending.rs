//! The sending end: filler without a break, a call's frames between it, or two trains, and the reports.

use super::{Code, DATAGRAMS, EVERY, PATIENCE, Role, Session, State, protocol};
use crate::Problem;
use crate::control::DATAGRAM;
use crate::message::{ServerLine, line};
use crate::news::News;
use crate::report::{Report, Scope};
use crate::trains::{FILLED, RUN};
use bytes::Bytes;
use std::time::Instant;

/// The filler. It is sent encrypted, so that no link can compress it.
static FILLER: [u8; DATAGRAM as usize] = [0; DATAGRAM as usize];

impl Session {
    /// Begins to send.
    pub(super) fn start(&mut self, now: Instant, until: Instant, quick: bool) {
        self.state = if quick {
            State::Training { until }
        } else {
            State::Sending { until }
        };
        match quick {
            true => self.sender.get().send_trains(),
            false if self.calls => self.sender.get().begin_call(now),
            false => {}
        }
    }

    /// Sends one train after the other, as soon as both paths are there.
    pub(super) fn train(&mut self, now: Instant, until: Instant) -> Result<(), (Code, Problem)> {
        if self.both && self.sender.get().next_train(now, until) {
            return self.fill(2 * RUN, FILLED);
        }
        let is_over = self.sender.get().is_over();
        if is_over || now >= until {
            self.finish(now);
        }
        Ok(())
    }

    pub(super) fn send(&mut self, now: Instant, until: Instant) -> Result<(), (Code, Problem)> {
        let sent = self.sender.get().sent_in_all();
        let spent = matches!(self.role, Role::Serves { grant, .. } if sent >= grant.bytes);
        if now >= until || spent {
            self.finish(now);
            return Ok(());
        }
        self.make_ready()?;
        if now >= self.next_report {
            self.next_report = now + EVERY;
            let report = self.report(now, Scope::Moment);
            // A client that does not read its reports gets no more of them.
            match self.role {
                Role::Asks { .. } => self.news.push_back(News::Seen(report)),
                Role::Serves { .. } if self.unsent.is_empty() => {
                    self.unsent = line(&ServerLine::Seen(Box::new(report)));
                }
                Role::Serves { .. } => {}
            }
        }
        Ok(())
    }

    /// Makes the next datagram ready if one may leave now. One at a time: `noq` sends them in order, and the next
    /// may have to be the call's.
    pub(super) fn make_ready(&mut self) -> Result<(), (Code, Problem)> {
        let Some(bytes) = self.sender.get().due() else {
            return Ok(());
        };
        if self.connection.datagrams().send_buffer_space() + FILLED > DATAGRAMS {
            self.fill(1, bytes)
        } else {
            Ok(())
        }
    }

    /// Makes so many datagrams of so many bytes ready, or as many and as large as there is room for.
    fn fill(&mut self, count: usize, bytes: usize) -> Result<(), (Code, Problem)> {
        let mut datagrams = self.connection.datagrams();
        let most = datagrams.max_size().unwrap_or(0);
        if most < FILLER.len() / 2 {
            let text = "the peer takes no datagrams (RFC 9221)".to_owned();
            return Err(protocol(Problem::Peer(text)));
        }
        let bytes = bytes.min(most);
        for _ in 0..count {
            let filler = Bytes::from_static(&FILLER[..bytes]);
            if datagrams.send_buffer_space() < bytes || datagrams.send(filler, false).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn finish(&mut self, now: Instant) {
        let report = self.report(now, Scope::Whole);
        match self.role {
            Role::Asks { .. } => {
                self.news.push_back(News::Done(report));
                self.close(now, Code::Done, Bytes::new());
            }
            // The client closes; if it does not, it is closed.
            Role::Serves { .. } => {
                self.unsent
                    .extend(line(&ServerLine::Done(Box::new(report))));
                self.state = State::Receiving {
                    until: now + PATIENCE,
                };
            }
        }
    }

    fn report(&self, now: Instant, scope: Scope) -> Report {
        Report::of(&self.sender.get(), self.direction, self.begun, now, scope)
    }
}
