//! `tonopah`: a flow in two subflows that notices fair queuing, and keeps its queue short there.
//!
//! Principles: a flow that has a queue of its own need not fear to be pushed aside, so it can go
//! without filling it. Whether it has one shows when two subflows that send unequally much are
//! treated alike ([`Detector`]). M. Bachl, "Fair Queuing Aware Congestion Control", 2022.
//! Not for: transports without subflows (TCP, media sessions), flows that have little to send.
//!
//! [`Detector`] is the measurement alone, for any program: it takes the packets sent and
//! acknowledged. [`Pair`] puts one control over two subflows. Two controls combine both:
//!
//! - `tonopah(BASE)`: BASE's window, and in a queue of its own one that follows the queue, or is
//!   reduced by 1/8 each time as in the paper.
//! - `tonopah_switch(BASE;ALONE)`: BASE in a shared queue, ALONE if the flow has its own.
//!
//! Points that the paper leaves open are as in its author's program (decisions/0018): the intervals
//! before a reduction are forgotten, so that there are `intervals` and a round trip at least
//! between two; a loss before the interval is over is an echo, and ignored; a round trip shorter
//! than an interval adds only its share of a segment to the window.

mod alone;
mod dealing;
mod detector;
mod neighbours;
mod pair;
mod score;
mod settings;
mod shares;
mod trains;
mod verdict;

pub use crate::notice::NoticeKind;
pub use dealing::Deal;
pub use detector::Detector;
pub use pair::{Pair, Reaction};
pub use settings::{Rule, Settings, Subflow};
pub use shares::Shares;
pub use trains::{Pairs, TURNED, overtaken};
pub use verdict::{Evidence, Verdict};

use crate::{Ack, Congestion, Control, ControlEntry, Feedback, Parts};
use core::fmt;
use units::param::Value;
use units::{Instant, ParseError, Refusal};

units::params! {
    /// Parameters of `tonopah`.
    pub struct TonopahParams {
        /// Rule that detects fair queuing: `delays`, `paper`, or `paper50` with intervals of 50 ms.
        rule: Preset = "delays", source "this project; Bachl 2022, sections II.A and III.D.1";
        /// Part of the window that is given up when fair queuing is detected, from 0 (only detect)
        /// to 0.5; or `queue`, as much as keeps the queue short.
        reduction: Reduction = "queue", source "this project; Bachl 2022, section II.A, has 0.125";
        /// Shares of the link under fair queuing, 1 or 2, with `queue`: each subflow gets one, so that with
        /// one share only one of them sends while the verdict is fresh. 2 for the other reductions.
        shares: u32 = "1", range "1".."2", source "this project";
    }
}

units::params! {
    /// Parameters of `tonopah_switch`.
    pub struct SwitchParams {
        /// Rule that detects fair queuing: `delays`, `paper`, or `paper50` with intervals of 50 ms.
        rule: Preset = "delays", source "this project; Bachl 2022, sections II.A and III.D.1";
    }
}

/// The reduction when fair queuing is found.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Reduction {
    /// This part of the window, 0 to 0.5.
    Part(f64),
    /// As much as it takes to keep the queue short, once per round trip.
    Queue,
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reduction::Part(part) => write!(f, "{part}"),
            Reduction::Queue => f.write_str("queue"),
        }
    }
}

impl Value for Reduction {
    const KIND: &'static str = "reduction";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "a number from 0 to 0.5, or queue");
        if text.trim() == "queue" {
            return Ok(Reduction::Queue);
        }
        let part: f64 = text.trim().parse().map_err(|_| wrong())?;
        if (0.0..=0.5).contains(&part) {
            Ok(Reduction::Part(part))
        } else {
            Err(wrong())
        }
    }
}

/// A detector's settings by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preset {
    /// Ours.
    Delays,
    /// The paper's.
    Paper,
    /// The paper's, with intervals of 50 ms.
    Paper50,
}

impl Preset {
    /// The settings that it names.
    pub fn settings(self) -> Settings {
        match self {
            Preset::Delays => Settings::default(),
            Preset::Paper => Settings::paper(),
            Preset::Paper50 => Settings::fixed(),
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Preset::Delays => "delays",
            Preset::Paper => "paper",
            Preset::Paper50 => "paper50",
        })
    }
}

impl Value for Preset {
    const KIND: &'static str = "rule";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "delays" => Ok(Preset::Delays),
            "paper" => Ok(Preset::Paper),
            "paper50" => Ok(Preset::Paper50),
            _ => Err(ParseError::new(text, "delays, paper or paper50")),
        }
    }
}

/// `tonopah` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "tonopah",
    summary: "a flow in two subflows, with a smaller window where it detects fair queuing",
    about: "Sends in two subflows, 6/10 and 4/10 of the rate in turns, over one window that BASE \
        controls. Where the path is found to queue the two separately, no other flow can take the \
        flow's share, and the queue is kept short. With `reduction=queue` the window follows the \
        queue, a loss takes an eighth of it, and one subflow sends for both, so that the flow has \
        one share and not two; otherwise the window shrinks by `reduction` each time.\n\nNeeds a \
        transport with subflows: carrier = \"quic\", or quic = \"yes\" for a call.\n\nNot for flows \
        that seldom have enough to send, such as a call below its share.",
    source: "Bachl, Fair Queuing Aware Congestion Control, 2022",
    params: TonopahParams::SPECS,
    children: &[units::choice::Slot {
        name: "BASE",
        default: "reno",
        help: "Control of the window. For a reduction by a part it has to be able to give that up.",
    }],
    build: build_reducing,
};

/// `tonopah_switch` for the registry.
pub const SWITCH: ControlEntry = ControlEntry {
    name: "tonopah_switch",
    summary: "a flow in two subflows, with another control where it detects fair queuing",
    about: "Sends in two subflows as `tonopah` does. BASE controls the window; ALONE does where \
        the path is found to queue the two separately. ALONE is a control that keeps delay low and \
        would lose its share in a shared queue. Both controls receive all feedback.\n\nNeeds a \
        transport with subflows: carrier = \"quic\".",
    source: "Bachl 2022, sections I and II; this project",
    params: SwitchParams::SPECS,
    children: &[
        units::choice::Slot {
            name: "BASE",
            default: "cubic",
            help: "Control of the window in a shared queue, and while nothing is known.",
        },
        units::choice::Slot {
            name: "ALONE",
            default: "copa",
            help: "Control of the window in a queue of its own.",
        },
    ],
    build: build_switching,
};

fn build_reducing(parts: &Parts<'_>) -> Result<Box<dyn Control>, Refusal> {
    let params = TonopahParams::parse(parts.settings)?;
    let reduces = matches!(params.reduction, Reduction::Part(part) if part > 0.0);
    if reduces && !gives_up_parts(&mut *base(parts, 0)?) {
        let message = "its base cannot go on from a part of its window";
        let help = "take reno or cubic, reduction=0 or reduction=queue";
        return Err(Refusal::new(message).with_help(help));
    }
    let reaction = Reaction::Reduce(params.reduction);
    let base = base(parts, 0)?;
    let pair = Pair::new(params.rule.settings(), reaction, base, parts.setup);
    let pair = match params.shares {
        1 => pair,
        _ => pair.with_two_shares(),
    };
    Ok(Box::new(Tonopah(Some(pair))))
}

/// Whether a control can go on from a part of its window. The one that is tried is out of slow start.
fn gives_up_parts(control: &mut dyn Control) -> bool {
    let window = control.window();
    control.adopt(window)
}

fn build_switching(parts: &Parts<'_>) -> Result<Box<dyn Control>, Refusal> {
    let params = SwitchParams::parse(parts.settings)?;
    let reaction = Reaction::Switch(base(parts, 1)?);
    let pair = Pair::new(
        params.rule.settings(),
        reaction,
        base(parts, 0)?,
        parts.setup,
    );
    Ok(Box::new(Tonopah(Some(pair))))
}

/// A control for both subflows. Acknowledgements are all that reaches it.
fn base(parts: &Parts<'_>, place: usize) -> Result<Box<dyn Control>, Refusal> {
    let control = parts.child(place)?;
    match control.feedback() {
        Feedback::Acks => Ok(control),
        Feedback::Arrivals => {
            let message = "its base needs arrival times, which QUIC does not report";
            Err(Refusal::new(message).with_help("take one for transfers, such as cubic or bbr"))
        }
    }
}

/// A control that has not been given to its subflows yet: it controls nothing itself.
struct Tonopah(Option<Pair>);

impl Control for Tonopah {
    fn on_ack(&mut self, _now: Instant, _ack: &Ack) {}

    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {}

    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {}

    fn window(&self) -> u64 {
        0
    }

    fn needs_subflows(&self) -> bool {
        true
    }

    fn split(&mut self) -> Option<[Box<dyn Control>; 2]> {
        self.0.take().map(Pair::split)
    }
}

#[cfg(test)]
mod tests;
