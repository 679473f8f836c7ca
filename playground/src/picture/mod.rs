//! The picture of a run, printed piece by piece while the run goes on.
//!
//! A tap on the run's events, beside the collector whose figures are the result. A piece holds what
//! happened since the one before: what waits in each queue by flow, what left it, frames of calls,
//! parts of pages.

mod calls;
mod loads;
mod moment;
mod queues;

use crate::answer;
use calls::Calls;
use loads::Loads;
use measure::{Event, Sink};
use queues::Queues;
use scenario::Scenario;
use serde::Serialize;
use units::{Duration, Instant};

/// So many bins a run has at most: two for each pixel of a wide chart.
const BINS: u64 = 2400;
/// A bin is not shorter than this: a chart of 40 s then has 800 of them.
const SHORTEST: Duration = Duration::from_millis(50);
/// A run comes in so many pieces.
const PIECES: u64 = 50;

/// How long a bin of `scenario`'s picture is.
pub fn bin(scenario: &Scenario) -> Duration {
    Duration::from_nanos(scenario.duration.as_nanos().div_ceil(BINS)).max(SHORTEST)
}

/// Follows a run and prints its picture.
pub struct Picture {
    queues: Queues,
    calls: Calls,
    loads: Loads,
    /// When the next piece is printed.
    next: Instant,
    piece: Duration,
}

/// A printed piece.
#[derive(Serialize)]
struct Piece<'a> {
    /// The picture is complete up to here, in seconds.
    until_s: f64,
    #[serde(flatten)]
    queues: &'a queues::Piece,
    #[serde(flatten)]
    calls: &'a calls::Piece,
    loads: &'a [loads::Happened],
}

impl Picture {
    /// Nothing has happened yet.
    pub fn new(scenario: &Scenario) -> Self {
        let piece = Duration::from_nanos(scenario.duration.as_nanos().div_ceil(PIECES));
        Picture {
            queues: Queues::new(scenario, bin(scenario)),
            calls: Calls::new(scenario),
            loads: Loads::new(scenario),
            next: Instant::ZERO + piece,
            piece,
        }
    }

    /// The run is over.
    pub fn finish(&mut self, end: Instant) {
        self.calls.finish();
        self.print(end);
    }

    fn print(&mut self, now: Instant) {
        self.queues.pass(now);
        self.calls.pass(now);
        let piece = Piece {
            until_s: now.as_secs_f64(),
            queues: &self.queues.take(),
            calls: &self.calls.take(),
            loads: &self.loads.take(),
        };
        // Nobody is left to tell of a broken pipe; the run ends soon.
        _ = answer::print(&piece);
    }
}

impl Sink for Picture {
    fn event(&mut self, now: Instant, event: &Event) {
        while now >= self.next {
            self.print(self.next);
            self.next += self.piece;
        }
        self.queues.event(now, event);
        if let Event::Traffic(event) = *event {
            self.calls.event(now, &event);
            self.loads.event(now, &event);
        }
    }
}
