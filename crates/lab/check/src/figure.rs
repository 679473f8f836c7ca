//! The figures of a call that limits are about, and where they come from.
//!
//! Names of statistics are those of the W3C's "Identifiers for WebRTC's Statistics API".

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number.
    Count,
    /// Seconds.
    Time,
    /// A part of a whole, 0 to 1.
    Share,
    /// Bits per second.
    Rate,
}

/// How a figure of a run comes from what the application tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// A value of each moment: a limit names which of them.
    Moments(&'static str),
    /// A counter: by how much it grew.
    Grown(&'static str),
    /// A counter of bytes: how fast it grew, between two moments.
    Bytes(&'static str),
    /// Two counters: how much the first one grew, by how much the second one did, between two moments.
    Each(&'static str, &'static str),
    /// Two counters: which part of both the first one is.
    Part(&'static str, &'static str),
    /// When frames came back after the line's last step.
    Recovery,
}

/// A figure.
#[derive(Debug, PartialEq, Eq)]
pub struct CheckFigure {
    /// Its name.
    pub name: &'static str,
    /// What it is, one line.
    pub about: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// Whether more of it is better.
    pub more: bool,
    /// Where it comes from.
    pub told: Told,
}

impl CheckFigure {
    /// Whether a run has many values of it, of which a limit names one: the mean, the least, a percentile.
    pub const fn has_moments(&self) -> bool {
        matches!(
            self.told,
            Told::Moments(_) | Told::Bytes(_) | Told::Each(..)
        )
    }

    /// The statistics that it comes from.
    pub fn keys(&self) -> Vec<&'static str> {
        match self.told {
            Told::Moments(key) | Told::Grown(key) | Told::Bytes(key) => vec![key],
            Told::Each(one, other) | Told::Part(one, other) => vec![one, other],
            Told::Recovery => vec![FPS],
        }
    }
}

/// Frames of a second.
pub const FPS: &str = "framesPerSecond";

/// All figures.
pub const FIGURES: [CheckFigure; 8] = [
    CheckFigure {
        name: "freezes",
        about: "how often the picture stood still",
        unit: Unit::Count,
        more: false,
        told: Told::Grown("freezeCount"),
    },
    CheckFigure {
        name: "frozen",
        about: "for how long it did, in all",
        unit: Unit::Time,
        more: false,
        told: Told::Grown("totalFreezesDuration"),
    },
    CheckFigure {
        name: "fps",
        about: "frames shown in a second",
        unit: Unit::Count,
        more: true,
        told: Told::Moments(FPS),
    },
    CheckFigure {
        name: "rtt",
        about: "the round trip as the application measures it",
        unit: Unit::Time,
        more: false,
        told: Told::Moments("currentRoundTripTime"),
    },
    CheckFigure {
        name: "rate",
        about: "what arrives",
        unit: Unit::Rate,
        more: true,
        told: Told::Bytes("bytesReceived"),
    },
    CheckFigure {
        name: "buffer",
        about: "how long a frame waits in the receiver's jitter buffer",
        unit: Unit::Time,
        more: false,
        told: Told::Each("jitterBufferDelay", "jitterBufferEmittedCount"),
    },
    CheckFigure {
        name: "lost",
        about: "the share of packets that did not arrive",
        unit: Unit::Share,
        more: false,
        told: Told::Part("packetsLost", "packetsReceived"),
    },
    CheckFigure {
        name: "recover",
        about: "from the line's last step until frames come as before its first one: four fifths of their median",
        unit: Unit::Time,
        more: false,
        told: Told::Recovery,
    },
];
