//! Causes of stalls, as results have them.

pub mod words;

use serde::{Deserialize, Serialize};

/// Why a call stalled, from the events of its packets and of the queues that they passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// In words.
    pub text: String,
    /// How often it stalled.
    #[serde(default)]
    pub count: u64,
    /// The causes: the one of most stall first, or, if they were tried, the one without which most of it
    /// is gone.
    pub causes: Vec<CauseShare>,
    /// What the packets suggest, although the stall does not change without it, or nothing can be left out.
    #[serde(default)]
    pub refuted: Vec<CauseShare>,
    /// It stalled in too few of the runs in which its causes were to be tried.
    #[serde(default)]
    pub rare: bool,
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
    /// What happens without it; null if that was not tried.
    #[serde(default)]
    pub tried: Option<Tried>,
}

/// What happens to a call's stall without something, in runs with other seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// What was left out.
    pub left_out: String,
    /// It is that the link has no endless capacity, which stalls need in any queue.
    pub is_capacity: bool,
    /// Number of pairs of runs.
    pub runs: u64,
    /// Mean stall with it.
    pub with_s: f64,
    /// Mean stall without it.
    pub without_s: f64,
    /// Share of the stall that is gone without it; negative if there is more.
    pub gone: f64,
    /// Its interval; null of one run.
    pub ci95: Option<[f64; 2]>,
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
pub enum CauseKind {
    /// Its packets waited in a queue behind others', or were dropped by it.
    Queue,
    /// The link behind a queue carried much less than usual.
    Dip,
    /// Its packets waited in the device behind a queue, where no discipline reaches.
    Device,
    /// A wire delivered some of its packets later than others.
    Jitter,
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
    pub kind: CauseKind,
    /// It happened to what answers the call: reports, acknowledgements, requests for packets and for key
    /// frames. Its frames then wait at their sender.
    #[serde(default)]
    pub back: bool,
    /// The queue, if it is at one; an uplink's has `-up` appended.
    pub queue: Option<String>,
    /// The discipline on it.
    pub discipline: Option<String>,
    /// Whether it is one of the queues that the discipline under test is on.
    pub under_test: Option<bool>,
    /// Time from there to the call's queue nearest to the home, or back; null at that queue itself.
    pub away_ms: Option<f64>,
    /// The longest time that a late frame, or an answer, spent there.
    pub waited_ms: f64,
    /// Packets of the call that were lost or dropped, in the worst of these frames' time; answers if it
    /// is they that were, and not they that came late.
    pub failed: u64,
    /// Packets that the queue has room for, if it dropped some of the call's and its owner gave it room.
    #[serde(default)]
    pub room_packets: Option<u32>,
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
    /// Its share of the bytes; 0 if they were not counted.
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

impl Cause {
    /// A cause of which no packets tell.
    pub fn of(kind: CauseKind, queue: Option<String>) -> Self {
        Cause {
            kind,
            back: false,
            queue,
            discipline: None,
            under_test: None,
            away_ms: None,
            waited_ms: 0.0,
            failed: 0,
            room_packets: None,
            behind: Vec::new(),
            carried_mbps: None,
            usual_mbps: None,
        }
    }
}
