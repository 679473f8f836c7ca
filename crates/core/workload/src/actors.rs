//! Actors: each thinks, requests a random number of bytes, waits until all of them have arrived,
//! and thinks again.
//!
//! Principles: a closed loop. How much is asked for depends on how fast the network answers, as
//! with people, so that no load stays above capacity. Thinking is exponential. Each transfer has a
//! connection of its own, which is closed when the last byte has arrived; an entry's `count` is the
//! number of actors. Not for: pages, whose requests depend on each other.

use crate::entry::{BuildError, Entry, Figure, Kept, Library, Rows, Start, Workload};
use crate::page::PageServer;
use crate::sizes::Sizes;
use crate::{App, Carrier, ConnId, Input, Message, Output, Report};
use std::sync::Arc;
use units::param::Settings;
use units::random::Stream;
use units::{Bytes, Duration, Instant};

units::params! {
    /// Parameters of an `actors` entry.
    pub struct ActorParams {
        /// Size of each transfer: a size, `exponential:MEAN`, or `pareto:INDEX:LEAST:GREATEST`.
        size: Sizes = "pareto:1.2:300KiB:1GiB", source "age-based scheduling thesis, table 2";
        /// Mean time from the end of a transfer to the next one's start.
        think: Duration = "1s", range "0ms".."24h", source "age-based scheduling thesis, table 2";
        /// Number of transfers of each actor; 0 for no end.
        transfers: u32 = "0", range "0".."1000000000", source "none";
        /// Length of a request.
        request: Bytes = "100B", range "1B".."1MB", source "common practice";
        /// Transport of the bytes.
        carrier: Carrier = "tcp", source "none";
    }
}

/// `actors` for the registry.
pub const ENTRY: Entry = Entry {
    name: "actors",
    summary: "people who think, fetch something, and think again",
    about: "Each of `count` actors thinks for an exponential time, asks for a transfer of a random \
        size over a connection of its own, waits for all of it, and thinks again: a closed loop, \
        in which a fast network gets more requests than a slow one.\n\nNot for pages, whose \
        requests depend on each other.",
    source: "the thesis on age-based scheduling with AQM, section on the workload",
    params: ActorParams::SPECS,
    check: |settings| ActorParams::parse(settings).map(drop),
    carriers: &[Carrier::Tcp, Carrier::Quic],
    control: Some("cubic"),
    rows: Rows::Figures,
    figures: &[
        Figure {
            name: "fct",
            unit: "ms",
            about: "time from a transfer's start, its handshake included, to its last byte",
            kept: Kept::Samples,
        },
        Figure {
            name: "bytes",
            unit: "bytes",
            about: "bytes of transfers that were complete",
            kept: Kept::Sum,
        },
    ],
    presets: &[],
    build,
};

/// Places in the list of figures.
const FCT: u8 = 0;
const BYTES: u8 = 1;

fn build(settings: &Settings, _: &dyn Library) -> Result<Arc<dyn Workload>, BuildError> {
    Ok(Arc::new(ActorParams::parse(settings)?))
}

impl Workload for ActorParams {
    fn values(&self) -> Vec<(&'static str, String)> {
        ActorParams::values(self)
    }

    fn client(&self, start: &Start<'_>) -> Box<dyn App> {
        Box::new(Actor {
            params: self.clone(),
            chance: start.chance(),
            begun: 0,
            fetching: None,
        })
    }

    fn server(&self) -> Option<Box<dyn App>> {
        Some(Box::new(PageServer::default()))
    }

    fn only_quic(&self) -> bool {
        self.carrier == Carrier::Quic
    }

    fn client_sends(&self) -> bool {
        false
    }
}

/// An actor.
#[derive(Debug)]
struct Actor {
    params: ActorParams,
    chance: Stream,
    /// Transfers begun; the number of the latest connection is one less.
    begun: u32,
    fetching: Option<Transfer>,
}

/// A transfer that runs.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    conn: ConnId,
    size: u64,
    since: Instant,
}

impl Actor {
    fn think(&mut self, now: Instant, out: &mut Vec<Output>) {
        if self.params.transfers == 0 || self.begun < self.params.transfers {
            let mean = self.params.think.as_secs_f64();
            let time = Duration::from_secs_f64(self.chance.exponential(mean));
            out.push(Output::Timer(now + time, 0));
        }
    }

    fn begin(&mut self, now: Instant, out: &mut Vec<Output>) {
        let conn = ConnId(self.begun);
        self.begun = self.begun.wrapping_add(1);
        self.fetching = Some(Transfer {
            conn,
            size: self.params.size.draw(&mut self.chance),
            since: now,
        });
        out.push(Output::Open {
            conn,
            carrier: self.params.carrier,
            server: 0,
            extra_rtt: Duration::ZERO,
        });
    }

    fn ask(&self, out: &mut Vec<Output>) {
        if let Some(Transfer { conn, size, .. }) = self.fetching {
            out.push(Output::Send {
                conn,
                stream: 0,
                bytes: self.params.request.get(),
                message: Message::Request {
                    id: 0,
                    response: size,
                    think: Duration::ZERO,
                },
            });
        }
    }

    fn complete(&mut self, now: Instant, out: &mut Vec<Output>) {
        let Some(Transfer { conn, size, since }) = self.fetching.take() else {
            return;
        };
        let report = |figure, value| {
            Output::Report(Report::Figure {
                figure,
                value,
                began: since,
            })
        };
        out.push(Output::Report(Report::Done(conn)));
        out.push(report(FCT, now.since(since).as_millis_f64()));
        out.push(report(BYTES, size as f64));
        out.push(Output::Close(conn));
        self.think(now, out);
    }
}

impl App for Actor {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => self.think(now, out),
            Input::Timer(_) => self.begin(now, out),
            Input::Opened(_) => self.ask(out),
            Input::Message {
                message: Message::Response { last: true, .. },
                ..
            } => self.complete(now, out),
            Input::Message { .. }
            | Input::Writable(_)
            | Input::Datagram { .. }
            | Input::Session { .. }
            | Input::Unsent { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn tell(actor: &mut dyn App, ms: u64, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        actor.handle(Instant::ZERO + Duration::from_millis(ms), input, &mut out);
        out
    }

    fn actor(settings: &[(&str, &str)]) -> Box<dyn App> {
        let settings: Vec<(String, String)> = settings
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let params = ActorParams::parse(&settings).unwrap();
        params.client(&Start {
            now: Instant::ZERO,
            name: "actors",
            instance: 3,
            place: 3,
            seed: 1,
            rtt: Duration::from_millis(40),
            rate: Rate::from_bits(20_000_000),
        })
    }

    #[test]
    fn it_thinks_fetches_and_thinks_again() {
        let mut actor = actor(&[("size", "5kB"), ("transfers", "2")]);
        let out = tell(&mut *actor, 0, Input::Start);
        assert!(matches!(out[..], [Output::Timer(..)]));
        let out = tell(&mut *actor, 100, Input::Timer(0));
        let conn = ConnId(0);
        assert!(matches!(
            out[..],
            [Output::Open {
                conn: ConnId(0),
                ..
            }]
        ));
        let out = tell(&mut *actor, 140, Input::Opened(conn));
        let [
            Output::Send {
                bytes: 100,
                message,
                ..
            },
        ] = out[..]
        else {
            panic!("{out:?}")
        };
        assert!(matches!(message, Message::Request { response: 5000, .. }));
        let part = |last| Input::Message {
            conn,
            stream: 0,
            message: Message::Response { id: 0, last },
        };
        assert!(tell(&mut *actor, 160, part(false)).is_empty());
        let out = tell(&mut *actor, 190, part(true));
        let began = Instant::ZERO + Duration::from_millis(100);
        let figure = |figure, value| {
            Output::Report(Report::Figure {
                figure,
                value,
                began,
            })
        };
        assert_eq!(out[0], Output::Report(Report::Done(conn)));
        assert_eq!(out[1..3], [figure(FCT, 90.0), figure(BYTES, 5000.0)]);
        assert_eq!(out[3], Output::Close(conn));
        assert!(matches!(out[4], Output::Timer(..)));
        // The second transfer is its last.
        tell(&mut *actor, 900, Input::Timer(0));
        let out = tell(&mut *actor, 990, part(true));
        assert_eq!(out.last(), Some(&Output::Close(ConnId(1))));
    }

    #[test]
    fn thinking_is_exponential() {
        let mut actor = actor(&[("think", "2s"), ("size", "1kB")]);
        let mut thought = Vec::new();
        let mut think = |actor: &mut dyn App, input| {
            let out = tell(actor, 0, input);
            let Some(Output::Timer(at, _)) = out.last() else {
                panic!("{out:?}")
            };
            thought.push(at.as_secs_f64());
        };
        think(&mut *actor, Input::Start);
        for conn in 0..20_000 {
            tell(&mut *actor, 0, Input::Timer(0));
            let done = Input::Message {
                conn: ConnId(conn),
                stream: 0,
                message: Message::Response { id: 0, last: true },
            };
            think(&mut *actor, done);
        }
        let n = thought.len() as f64;
        let mean = thought.iter().sum::<f64>() / n;
        assert!((mean - 2.0).abs() < 0.05, "{mean}");
        // A share 1/e is longer than the mean.
        let longer = thought.iter().filter(|&&t| t > 2.0).count() as f64 / n;
        assert!((longer - 0.3679).abs() < 0.012, "{longer}");
    }
}
