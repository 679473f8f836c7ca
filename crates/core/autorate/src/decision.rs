//! A rate, and why it is this one.

use core::fmt;
use units::{Duration, Rate};

/// A rate to set, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The rate of the shaper.
    pub rate: Rate,
    /// Why it is this one.
    pub why: Why,
    /// What it was told by.
    pub told: Told,
}

/// Where a controller's knowledge of the line's queue comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Told {
    /// Nothing that it could use was seen lately.
    Nothing,
    /// The time stamps of passing TCP.
    Stamps,
    /// Answers to pings.
    Pings,
}

/// The reason for a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It was set by hand.
    Set,
    /// Nothing is known yet.
    Start,
    /// Packets wait in the line, and what it carries meanwhile could not be measured.
    Waits {
        /// How long they wait.
        wait: Duration,
    },
    /// Packets wait in the line.
    Queue {
        /// How long they wait.
        wait: Duration,
        /// What the line carries meanwhile.
        capacity: Rate,
    },
    /// There is no queue, and the rate returns to what the line usually carries.
    Usual {
        /// What the line carries most of the time.
        usual: Rate,
    },
    /// There is no queue at this rate: whether the line carries more is found out.
    More {
        /// What was carried without a queue.
        carried: Rate,
    },
    /// There is too little traffic to learn anything from.
    Idle,
    /// Answers to pings are late: bufferbloat.
    Late {
        /// Their mean delay beyond the baseline.
        beyond: Duration,
    },
    /// The rate is used, and answers are in time.
    Used,
    /// The rate is not used: it returns to its base.
    Base,
    /// No ping was answered for a long time.
    Silent,
}

impl Why {
    /// The reason's name, for counting.
    pub const fn name(self) -> &'static str {
        match self {
            Why::Set => "set",
            Why::Start => "start",
            Why::Queue { .. } | Why::Waits { .. } => "queue",
            Why::Usual { .. } => "usual",
            Why::More { .. } => "more",
            Why::Idle => "idle",
            Why::Late { .. } => "late",
            Why::Used => "used",
            Why::Base => "base",
            Why::Silent => "silent",
        }
    }

    /// How long packets wait in the line, as far as that is known.
    pub const fn wait(&self) -> Option<Duration> {
        match *self {
            Why::Waits { wait } | Why::Queue { wait, .. } => Some(wait),
            Why::Late { beyond } => Some(beyond),
            Why::Usual { .. } | Why::More { .. } | Why::Used => Some(Duration::ZERO),
            Why::Set | Why::Start | Why::Idle | Why::Base | Why::Silent => None,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Set => f.write_str("it is set"),
            Why::Start => f.write_str("nothing is known of the line yet"),
            Why::Queue { wait, capacity } => write!(
                f,
                "packets wait {:.0} ms in the line, which carries {:.1} Mbit/s",
                wait.as_millis_f64(),
                capacity.as_mbit_f64()
            ),
            Why::Waits { wait } => {
                write!(f, "packets wait {:.0} ms in the line", wait.as_millis_f64())
            }
            Why::Usual { usual } => write!(
                f,
                "no queue: the line usually carries {:.1} Mbit/s",
                usual.as_mbit_f64()
            ),
            Why::More { carried } => write!(
                f,
                "{:.1} Mbit/s passed without a queue: the line may carry more",
                carried.as_mbit_f64()
            ),
            Why::Idle => f.write_str("too little traffic to learn from"),
            Why::Late { beyond } => write!(
                f,
                "pings return {:.0} ms late each way",
                beyond.as_millis_f64()
            ),
            Why::Used => f.write_str("the rate is used, and pings return in time"),
            Why::Base => f.write_str("the rate is not used: back to its base"),
            Why::Silent => f.write_str("no ping was answered"),
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Told::Nothing => "nothing",
            Told::Stamps => "time stamps of passing TCP",
            Told::Pings => "pings",
        })
    }
}
