//! Transfers as they finish: the bytes of each, and its duration.

use crate::event::Event;
use crate::flows::Flows;
use units::{Duration, Instant};
use workload::Event as Application;

/// A transfer that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Finished {
    /// Bytes that it carried.
    pub bytes: u64,
    /// From its start, its handshake included, to its last byte.
    pub took: Duration,
}

/// The transfers of a run that are under way.
pub(super) struct UnderWay {
    from: Instant,
    /// Start and bytes of each.
    open: Flows<(Instant, u64)>,
}

impl UnderWay {
    /// None yet. The measured time begins at `from`.
    pub fn new(from: Instant) -> Self {
        UnderWay {
            from,
            open: Flows::default(),
        }
    }

    /// Follows an event of the run. A transfer that began in the measured time and is now complete
    /// is returned.
    pub fn event(&mut self, now: Instant, event: &Event) -> Option<Finished> {
        let Event::Traffic(event) = *event else {
            return None;
        };
        match event {
            Application::FlowStarted { flow, .. } => self.open.insert(flow, (now, 0)),
            Application::Delivered { flow, bytes } => {
                if let Some((_, sum)) = self.open.get_mut(flow) {
                    *sum += bytes;
                }
            }
            Application::FlowEnded { flow } => _ = self.open.remove(flow),
            Application::FlowDone { flow } => {
                let done = self.open.remove(flow);
                let (began, bytes) = done.filter(|(began, _)| *began >= self.from)?;
                let took = now.since(began);
                return Some(Finished { bytes, took });
            }
            _ => {}
        }
        None
    }
}
