//! Whether a flow's rate falls after a drop (section IV.A).
//!
//! The paper calls a flow unresponsive if its rate is independent of its drops, but not how to find
//! that out. Here a drop starts a *trial*: the arrivals in the window before the drop are compared
//! with each of some windows after it. The rate *fell* if one of these has less by the share
//! `fall`, and by a packet more, which is the possible error of counting packets in windows.
//! Otherwise it was *kept*.
//!
//! - A single window is not enough: a sender learns of a drop a round trip later.
//! - Windows are short: with a buffer as large as the path, a lone flow is back at the link's rate
//!   a round trip after it fell. With windows of 200 ms, TCP alone on the paper's 10 Mbit/s link is
//!   taken for unresponsive nearly always, with 100 ms if its window falls by 15 %, and with 50 ms
//!   not (the test `who_responds_is_taken_for_responsive`).
//! - A window in which a flow begins to pause is not compared, since bursts end whether or not packets
//!   were dropped. The trial goes on when the flow does: a sender of bursts that are shorter than a
//!   trial could not be found out otherwise. TCP that paused for a timeout comes back slower.
//! - A flow that has just begun, or come back, is not tried: its rate is not known.
//! - Arrivals count, not admitted packets: drops are not the sender's doing.
//! - A few packets in a window prove nothing. A flow that sends less than 80 a second is not
//!   judged.

use super::admission::FlowType;
use super::params::FloqParams;
use units::{Duration, Instant};

/// With fewer packets in a window, half of them could hardly be distinguished from all of them.
const FEW: u32 = 4;

/// Parameters of the trials of flows.
#[derive(Debug, Clone)]
pub(super) struct Trials {
    pub(super) window: Duration,
    /// After a drop.
    pub(super) windows: u32,
    /// Percent of a rate from which on it is kept.
    pub(super) kept: u64,
    pub(super) strikes: u32,
    pub(super) pardon: u32,
}

impl Trials {
    /// The rules that these parameters say.
    pub(super) fn of(params: &FloqParams) -> Self {
        Trials {
            window: params.window,
            windows: params.windows,
            kept: 100 - u64::from(params.fall),
            strikes: params.strikes,
            pardon: params.pardon,
        }
    }
}

/// What arrived in a window. Saturates: beyond 4 GiB a window, one rate is as good as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct WindowSample {
    bytes: u32,
    packets: u32,
}

impl WindowSample {
    /// The part of it that `part` is of `whole`. In microseconds it fits into 64 bits.
    fn scaled(self, part: Duration, whole: Duration) -> WindowSample {
        let (part, whole) = (part.as_micros(), whole.as_micros().max(1));
        let scale = |n: u32| (u64::from(n) * part.min(whole) / whole) as u32;
        WindowSample {
            bytes: scale(self.bytes),
            packets: scale(self.packets),
        }
    }

    fn plus(self, other: WindowSample) -> WindowSample {
        WindowSample {
            bytes: self.bytes.saturating_add(other.bytes),
            packets: self.packets.saturating_add(other.packets),
        }
    }
}

/// A drop whose consequences are being watched.
#[derive(Debug, Clone, Copy)]
struct Trial {
    /// With fewer bytes in a window, the rate has fallen.
    floor: u64,
    /// Windows that are still to come.
    left: u32,
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrialEnd {
    Fell,
    Kept,
}

/// The state kept of a flow's rate and of its reaction to drops.
#[derive(Debug, Clone)]
pub(super) struct Behaviour {
    kind: FlowType,
    /// When the current window began, this moment not included: that is the window before it. In a
    /// trial it all began with the drop.
    opened: Instant,
    current: WindowSample,
    /// The window before it, if the flow did not pause.
    last: Option<WindowSample>,
    trial: Option<Trial>,
    /// Consecutive verdicts of one kind: the kind and the count.
    row: (TrialEnd, u32),
}

impl Behaviour {
    /// A flow that begins `now`: responsive, as all are at first.
    pub(super) fn new(now: Instant) -> Self {
        Behaviour {
            kind: FlowType::Responsive,
            opened: now,
            current: WindowSample::default(),
            last: None,
            trial: None,
            row: (TrialEnd::Fell, 0),
        }
    }

    /// The type that the flow is taken for.
    pub(super) const fn kind(&self) -> FlowType {
        self.kind
    }

    /// A packet of `len` bytes arrives. Returns the flow's type, if that has changed.
    pub(super) fn arrived(&mut self, now: Instant, len: u32, trials: &Trials) -> Option<FlowType> {
        let verdict = self.roll(now, trials);
        // A packet without bytes is one all the same.
        self.current = self.current.plus(WindowSample {
            bytes: len.max(1),
            packets: 1,
        });
        self.judge(verdict?, trials)
    }

    /// The sender was signalled congestion, by a drop or a mark of the packet that arrived last.
    pub(super) fn told(&mut self, now: Instant, trials: &Trials) {
        if self.trial.is_some() {
            return;
        }
        let Some(before) = self.before(now, trials.window) else {
            return;
        };
        if before.packets < FEW {
            return;
        }
        let (bytes, packets) = (u64::from(before.bytes), u64::from(before.packets));
        self.trial = Some(Trial {
            floor: (bytes * trials.kept / 100).saturating_sub(bytes / packets),
            left: trials.windows,
        });
        self.opened = now;
        self.current = WindowSample::default();
    }

    /// Arrivals within the last `window`, taking the window before the current one as even; none if
    /// there was none.
    fn before(&self, now: Instant, window: Duration) -> Option<WindowSample> {
        let rest = window.saturating_sub(now.since(self.opened));
        Some(self.current.plus(self.last?.scaled(rest, window)))
    }

    /// Closes the current window if it is over.
    fn roll(&mut self, now: Instant, trials: &Trials) -> Option<TrialEnd> {
        let age = now.since(self.opened);
        if age <= trials.window {
            return None;
        }
        let closed = std::mem::take(&mut self.current);
        if age > trials.window * 2 {
            self.opened = now;
            self.last = None;
            return None;
        }
        self.opened += trials.window;
        self.last = Some(closed);
        let trial = self.trial.as_mut()?;
        trial.left = trial.left.saturating_sub(1);
        let verdict = match u64::from(closed.bytes) < trial.floor {
            true => TrialEnd::Fell,
            false if trial.left == 0 => TrialEnd::Kept,
            false => return None,
        };
        self.trial = None;
        Some(verdict)
    }

    /// Draws the conclusion from how a trial ended.
    fn judge(&mut self, verdict: TrialEnd, trials: &Trials) -> Option<FlowType> {
        let before = if self.row.0 == verdict { self.row.1 } else { 0 };
        self.row = (verdict, before.saturating_add(1));
        let kind = match self.row {
            (TrialEnd::Kept, row) if row >= trials.strikes => FlowType::Unresponsive,
            (TrialEnd::Fell, row) if trials.pardon > 0 && row >= trials.pardon => {
                FlowType::Responsive
            }
            _ => return None,
        };
        (std::mem::replace(&mut self.kind, kind) != kind).then_some(kind)
    }
}
