//! Causes of stalls, as results have them.

pub mod words;

use serde::{Deserialize, Serialize};

/// Why a call stalled, from the events of its packets and of the queues that they passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// In words.
    pub text: String,
    /// The causes, the one of most stall first.
    pub causes: Vec<CauseShare>,
    /// The longest stalls, in order of time.
    pub stalls: Vec<Stall>,
}

/// A cause, and how much of a call's stall it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CauseShare {
    /// Stall of frames that it made late.
    pub stall_s: f64,
    /// Share of the call's stall.
    pub share: f64,
    /// The cause, with the figures of the frame that waited longest for it.
    pub cause: Cause,
}

/// Late frames with less than half a second between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// When the first late frame was handed over, seconds since the start of the run.
    pub from_s: f64,
    /// The end of the last one's turn.
    pub to_s: f64,
    /// Time for which frames were late.
    pub stall_s: f64,
    /// The largest delay of a frame; null if none arrived.
    pub worst_ms: Option<f64>,
    /// The call's rate in the second before.
    pub rate_before_mbps: f64,
    /// Its lowest rate over 300 ms from the start until a second after the end.
    pub rate_lowest_mbps: f64,
    /// The cause of most of it.
    pub cause: Cause,
}

/// The kind of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Its packets waited in a queue behind others', or were dropped by it.
    Queue,
    /// The link behind a queue carried much less than usual.
    Dip,
    /// Its packets waited in the device behind a queue, where no discipline reaches.
    Device,
    /// A wire lost its packets.
    Loss,
    /// A limit on the rate dropped its packets, and none waited.
    Policing,
    /// Its sender's own line is slow.
    Access,
    /// Its sender held packets back, although they waited in no queue.
    Sender,
    /// The way takes so long without any wait.
    Distance,
    /// Nothing that was observed.
    Unknown,
}

/// A cause of stalls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Its kind.
    pub kind: Kind,
    /// The queue, if it is at one; an uplink's has `-up` appended.
    pub queue: Option<String>,
    /// The discipline on it.
    pub discipline: Option<String>,
    /// Whether it is one of the queues that the discipline under test is on.
    pub under_test: Option<bool>,
    /// Time from there to the call's queue nearest to the home, or back; null at that queue itself.
    pub away_ms: Option<f64>,
    /// The longest time that a late frame spent there.
    pub waited_ms: f64,
    /// Packets of the call that were lost or dropped, in the worst of these frames' time.
    pub failed: u64,
    /// Whose packets left the queue meanwhile or, if it dropped the call's, waited in it: those with
    /// at least a tenth of the bytes, the most first.
    pub behind: Vec<Behind>,
    /// The rate at which packets left the queue meanwhile.
    pub carried_mbps: Option<f64>,
    /// The rate at which they usually do while others wait.
    pub usual_mbps: Option<f64>,
}

/// A traffic entry that a call waited for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Behind {
    /// Its name.
    pub name: String,
    /// Its computer, if the scenario gives that a name.
    pub host: Option<String>,
    /// Whose it is.
    pub whose: Whose,
    /// How many of its flows; 0 if they were not told apart.
    pub flows: u64,
    /// Its share of the bytes.
    pub share: f64,
}

/// Whose traffic it is, for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// The call's own.
    Own,
    /// That of another application of the same computer.
    Computer,
    /// That of another computer whose packets pass the same queue nearest to the home.
    House,
    /// That of others: none of its packets came to that queue.
    Elsewhere,
}
