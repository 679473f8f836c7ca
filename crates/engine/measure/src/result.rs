//! The results of a run, as they are written and read.
//!
//! Units stand in the names. Unobserved values are `None`, with a [`Note`] on the reason.

use crate::cause::Why;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The key of [`RunResult::variant`] that names the traffic entry that a control run leaves out.
pub const WITHOUT: &str = "without";

/// One run's results.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunResult {
    /// The discipline under test, with its settings.
    pub discipline: String,
    /// The seed.
    pub seed: u64,
    /// The choices of the command line and of folders: `trace`, `source`, and every path that was
    /// set.
    pub variant: BTreeMap<String, String>,
    /// Calls.
    pub calls: Vec<CallResult>,
    /// Page loads, in order.
    pub pages: Vec<PageResult>,
    /// Bulk transfers.
    pub flows: Vec<FlowResult>,
    /// Queues.
    pub links: Vec<LinkResult>,
    /// Rates of the links that are followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateResult>,
    /// Jain's fairness index over the goodput of calls and unlimited transfers.
    pub jfi: Option<f64>,
    /// Observations of workloads: a row for each figure that one declares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureResult>,
    /// The results of metrics with a meter of their own, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: BTreeMap<String, Vec<MeasuredValue>>,
    /// What senders were at over time, if the scenario asks for `senders`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<SenderResult>,
    /// Transfers whose rate something other than the network decided for more than half of their time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitResult>,
    /// Why figures of the run are not to be believed, if they are not: its engine could not do what was
    /// asked in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<String>,
    /// The reason for a null field, or another remark.
    pub notes: Vec<Note>,
    /// The data for plots of the run, if kept.
    #[serde(skip)]
    pub series: Option<Series>,
}

/// A call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallResult {
    /// The traffic entry's name, numbered if there are several.
    pub name: String,
    /// Its congestion control.
    pub control: String,
    /// Time for which frames were late.
    pub stall_s: f64,
    /// Frames handed over by the encoder.
    pub frames: u64,
    /// Of these, how many were late, lost ones included if they were waited for that long.
    pub frames_late: u64,
    /// Of these, how many were never shown.
    pub frames_lost: u64,
    /// Delay of frames.
    pub frame_delay_ms: FrameDelay,
    /// Windows of one second with fewer than ten frames shown.
    pub low_fps_events: u64,
    /// Freezes by WebRTC's rule.
    pub freezes: u64,
    /// Its video as a jitter buffer has it shown; null where frames are shown at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playout: Option<PlayoutResult>,
    /// Its audio; null without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<AudioResult>,
    /// Video delivered.
    pub goodput_mbps: f64,
    /// Waiting time of the call's own packets in the first queue of its direction.
    pub sojourn_ms: PacketDelay,
    /// Why it stalled, if the run was followed for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

/// A call's video, as a jitter buffer has it shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayoutResult {
    /// Time of all freezes, in seconds.
    pub freeze_s: f64,
    /// Mean time from a frame's first packet until it left the buffer; null if none did.
    pub jitter_buffer_ms: Option<f64>,
}

/// A call's audio, as it is played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct AudioResult {
    /// Turns of 20 ms at the player.
    pub frames: u64,
    /// Of these, how many were concealed: their frame was lost or late.
    pub concealed: u64,
    /// Mean time from mouth to ear of the audio played; null if none was.
    pub delay_ms: Option<f64>,
    /// Mean opinion score by the E-model, 1 to 4.5; null if no audio was played.
    pub mos: Option<f64>,
}

/// Quantiles of the delay of frames; a lost one counts as delayed until it was skipped, one that
/// never came as delayed until the end.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct FrameDelay {
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// Quantiles of the time that packets waited in a queue; those that left in the measured time.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct PacketDelay {
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// One load of a page.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PageResult {
    /// The traffic entry's name.
    pub name: String,
    /// Which load, from 0.
    pub load: u32,
    /// The page's name.
    pub site: String,
    /// When navigation started, seconds since the start of the run.
    pub start_s: f64,
    /// Page load time; null if the run ended before.
    pub plt_ms: Option<f64>,
    /// The load time over an ideal network: servers, browser, and dependencies.
    pub servers_ms: f64,
    /// The same with the round trips to the servers: the time it takes on an ideal link.
    pub round_trips_ms: f64,
    /// Requests that were completed.
    pub requests: u64,
    /// Bytes of their answers.
    pub bytes: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Stall of all calls from the start of the load to two seconds after its end.
    pub stall_s: f64,
    /// The largest delay of a frame in that time, of all calls; null if none was handed over.
    pub frame_max_ms: Option<f64>,
}

/// A figure that a workload declares and observes itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureResult {
    /// The traffic entry's name.
    pub name: String,
    /// The workload's name and the figure's, with `_` in between.
    pub figure: String,
    /// Its unit.
    pub unit: String,
    /// How many values were observed.
    pub count: u64,
    /// The mean of samples, or the sum or share that the figure is; null if there is no value.
    pub value: Option<f64>,
    /// Standard error of that mean, as if samples were independent; null for fewer than two.
    pub error: Option<f64>,
    /// Median of samples.
    pub p50: Option<f64>,
    /// 95th percentile of samples.
    pub p95: Option<f64>,
    /// 99th percentile of samples.
    pub p99: Option<f64>,
    /// Largest sample.
    pub max: Option<f64>,
}

/// A value that a metric's own meter found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredValue {
    /// The subject: a traffic entry, a link; empty for the run.
    pub of: String,
    /// Where on the metric's axis, for a metric that is a curve.
    pub at: Option<f64>,
    /// The value.
    pub value: f64,
}

/// A bulk transfer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FlowResult {
    /// The traffic entry's name, numbered if there are several.
    pub name: String,
    /// Its congestion control.
    pub control: String,
    /// Bytes delivered in the measured time, or until it was complete, over that time.
    pub goodput_mbps: f64,
    /// Time from its first packet to its last byte; null for an unlimited or unfinished transfer.
    pub fct_ms: Option<f64>,
    /// Bytes delivered in the measured time.
    pub bytes: u64,
    /// Waiting time of its own packets in the first queue of its direction; null for a transfer with
    /// an end.
    pub sojourn_ms: Option<Sojourn>,
}

/// A queue.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LinkResult {
    /// The link's name; an uplink's has `-up` appended.
    pub name: String,
    /// The discipline on it.
    pub discipline: String,
    /// Share of its capacity that was used.
    pub utilization: Option<f64>,
    /// Time that packets waited.
    pub sojourn_ms: Sojourn,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Packets lost on the wire behind it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Packets forwarded.
    pub packets: u64,
    /// The backlog of the queue.
    pub backlog: LinkBacklog,
    /// The mean backlog over the link's `buffer`, in the unit in which the buffer was given; null
    /// without one. Above 1 only if the discipline counts in another unit, or has a larger limit of
    /// its own.
    pub occupancy: Option<f64>,
    /// Moves of flows between classes in the measured time, of all flows. A flow's first placement
    /// is no move, nor is its placement after the discipline forgot it, nor leaving the class
    /// "new". Null if the discipline has no classes.
    pub moves: Option<u64>,
    /// Where calls and transfers without an end stayed: each that was placed, with each class.
    pub residence: Vec<Residence>,
    /// The counters of a composite discipline's children, over all of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildResult>,
}

/// What a flow's sender was at: lists of the same length, a value for each moment. Warm-up is part of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SenderResult {
    /// The flow's number in the run, as `--events` has it.
    pub flow: u32,
    /// Its name: that of its traffic entry, numbered if there are several.
    pub name: String,
    /// Its congestion control.
    pub control: String,
    /// When, seconds since the start of the run.
    pub time_s: Vec<f64>,
    /// What may be in flight, bytes; null if only the rate is limited.
    pub window_bytes: Vec<Option<u64>>,
    /// In flight, bytes.
    pub in_flight_bytes: Vec<u64>,
    /// Smoothed round trip; null before the first sample.
    pub srtt_ms: Vec<Option<f64>>,
    /// The rate that the control names; null if it names none.
    pub pacing_mbps: Vec<Option<f64>>,
    /// What was acknowledged since the moment before; null at the first.
    pub delivered_mbps: Vec<Option<f64>>,
    /// The phase of the control, or of the repair of losses.
    pub phase: Vec<String>,
    /// What it waits for: `window`, `pacing`, `receiver`, `application`, `computer`; null in media sessions, and before
    /// it is connected.
    pub limit: Vec<Option<String>>,
}

/// A transfer whose rate something other than the network decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitResult {
    /// The transfer's name.
    pub name: String,
    /// That of its traffic entry.
    pub entry: String,
    /// What it waited for: `receiver`, room in its receiver's window, or `application`, data.
    pub by: String,
    /// Share of its time, more than 0.5.
    pub share: f64,
}

/// The rate of a followed link, over the measured time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RateResult {
    /// The link's name; an uplink's has `-up` appended.
    pub name: String,
    /// Mean over time.
    pub mean_mbps: f64,
    /// The least.
    pub least_mbps: f64,
    /// The greatest.
    pub greatest_mbps: f64,
    /// How often another one was set.
    pub changes: u64,
    /// The reasons for it.
    pub reasons: Vec<ReasonShare>,
}

/// A reason for a rate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReasonShare {
    /// Its name.
    pub reason: String,
    /// The share of the measured time for which it was the reason.
    pub share: f64,
}

/// The counters of a child of a composite discipline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildResult {
    /// Its name; of a child's child, `CHILD/CHILD`.
    pub name: String,
    /// Packets that it gave to the link.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that it dropped.
    pub drops: u64,
    /// Packets that it marked.
    pub marks: u64,
}

impl From<&qdisc::ChildStats> for ChildResult {
    fn from(child: &qdisc::ChildStats) -> Self {
        ChildResult {
            name: child.name.clone(),
            packets: child.packets,
            bytes: child.bytes,
            drops: child.drops,
            marks: child.marks,
        }
    }
}

// serde hands over a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How long a flow was in a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Residence {
    /// The call's or transfer's name.
    pub flow: String,
    /// The class's name.
    pub class: String,
    /// Share of the measured time. The shares of a flow that comes later add up to less than 1. A
    /// flow is in its last class until it is put into another one, idle or not.
    pub share: f64,
}

/// The backlog of a queue, over the measured time. Packets in the device or on the wire no longer
/// count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkBacklog {
    /// Mean over time.
    pub mean_packets: f64,
    /// The most that waited for any time.
    pub max_packets: u32,
    /// Mean over time, IP lengths.
    pub mean_bytes: f64,
}

/// Time that packets waited.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Sojourn {
    /// Mean.
    pub mean: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// A remark on a result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Note {
    /// The field it is about.
    pub about: String,
    /// The text of the remark.
    pub text: String,
}

/// The data for plots of a run. Times in seconds since its start.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Names of the flows that the other lists speak of, by their place.
    pub flows: Vec<String>,
    /// Frames: call, time handed over, delay in ms; `None` for a lost one.
    pub frames: Vec<(usize, f64, Option<f64>)>,
    /// Width of a bin of the next lists, seconds.
    pub bin_s: f64,
    /// For each queue and each flow, bytes that left the queue in each bin; empty for flows that do not
    /// pass it.
    pub share: Vec<Vec<Vec<u64>>>,
    /// For each queue, the mean and the largest sojourn in each bin, ms; `None` if no packets left.
    pub sojourn: Vec<Vec<Option<(f64, f64)>>>,
    /// Class moves: time, queue, flow, and the class it went to.
    pub moves: Vec<(f64, usize, usize, u8)>,
    /// For each queue, the names of its classes.
    pub classes: Vec<Vec<String>>,
    /// Names of the calls.
    pub calls: Vec<String>,
    /// Decisions on the rates of followed links: time, queue, Mbit/s, and the reason's name.
    pub rates: Vec<(f64, usize, f64, &'static str)>,
}
