//! Metrics of calls, as the participants see them.

use super::declared::{Better, Column, Metric, Range, belongs};
use super::observed::Observed;
use crate::estimate::Statistic;
use crate::result::{AudioResult, CallResult};

/// Of each call that belongs to `entry`.
fn each(observed: &Observed<'_>, entry: &str, take: fn(&CallResult) -> Option<f64>) -> Vec<f64> {
    let calls = observed.run.calls.iter();
    let calls = calls.filter(|call| belongs(&call.name, entry));
    calls.filter_map(take).collect()
}

/// Stall of a call.
pub const STALL: Metric = Metric {
    name: "stall",
    unit: "s",
    range: Range::Time,
    summary: "stall of a call",
    about: "Total time for which frames are later than the `stall_threshold` of their entry: each late \
            frame covers the time until the next frame's turn, the last one until the end. One \
            value for each call.",
    source: "the Confucius paper, section 7.2, with the limit of ITU-T G.1070; decision 0005",
    better: Better::Less,
    column: Some(Column::mean("stall", 2)),
    meter: None,
    take: |observed, entry| each(observed, entry, |call| Some(call.stall_s)),
};

/// Median frame delay.
pub const FRAME_P50: Metric = Metric {
    name: "frame_p50",
    unit: "ms",
    range: Range::Positive,
    summary: "median frame delay of a call",
    about: "A frame's delay is the time from the moment when the encoder hands it over until its \
            last packet is at the receiver. A frame that never completes counts as delayed until \
            it is skipped or the run ends.",
    source: "common practice; decision 0005",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, entry| each(observed, entry, |call| call.frame_delay_ms.p50),
};

/// 95th percentile of frame delay.
pub const FRAME_P95: Metric = Metric {
    name: "frame_p95",
    unit: "ms",
    range: Range::Positive,
    summary: "95th percentile of a call's frame delay",
    about: "The delay that 95 % of a call's frames do not exceed.",
    source: "common practice; decision 0005",
    better: Better::Less,
    column: Some(Column::mean("frame p95", 0)),
    meter: None,
    take: |observed, entry| each(observed, entry, |call| call.frame_delay_ms.p95),
};

/// Largest frame delay.
pub const FRAME_MAX: Metric = Metric {
    name: "frame_max",
    unit: "ms",
    range: Range::Positive,
    summary: "largest frame delay of a call",
    about: "A frame that never completes counts as delayed until it is skipped or the run ends. \
            Tables show the largest of all calls and runs.",
    source: "common practice; decision 0005",
    better: Better::Less,
    column: Some(Column {
        heading: "frame max",
        decimals: 0,
        statistic: Statistic::Max,
        by_default: true,
    }),
    meter: None,
    take: |observed, entry| each(observed, entry, |call| call.frame_delay_ms.max),
};

/// Frames that were never shown.
pub const FRAMES_LOST: Metric = Metric {
    name: "frames_lost",
    unit: "%",
    range: Range::PERCENT,
    summary: "frames of a call that were never shown",
    about: "Share of all frames that the encoder handed over. A frame that the sender skips was \
            never handed over and does not count as lost.",
    source: "common practice; decision 0005",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, entry| {
        each(observed, entry, |call| {
            (call.frames > 0).then(|| 100.0 * call.frames_lost as f64 / call.frames as f64)
        })
    },
};

/// Freezes.
pub const FREEZES: Metric = Metric {
    name: "freezes",
    unit: "",
    range: Range::Positive,
    summary: "freezes of a call by WebRTC's rule",
    about: "Gaps between shown frames of at least max(3δ, δ + 150 ms), where δ is the mean of the \
            last 30 gaps. With `session = { receiver = \"webrtc\" }` the gap is among these, as in \
            libwebrtc, and frames are shown when its jitter buffer lets them.",
    source: "`freezeCount` of W3C's Identifiers for WebRTC's Statistics API; decision 0026",
    better: Better::Less,
    column: Some(Column::mean("freezes", 1).asked()),
    meter: None,
    take: |observed, entry| each(observed, entry, |call| Some(call.freezes as f64)),
};

/// How long a call was frozen.
pub const FREEZE_TIME: Metric = Metric {
    name: "freeze_time",
    unit: "s",
    range: Range::Time,
    summary: "time of a call's freezes by WebRTC's rule",
    about: "The gaps that `freezes` counts, added up. Only calls with a jitter buffer \
            (`session = { receiver = \"webrtc\" }`) have a value.",
    source: "`totalFreezesDuration` of W3C's Identifiers for WebRTC's Statistics API; decision 0026",
    better: Better::Less,
    column: Some(Column::mean("freeze time", 2).asked()),
    meter: None,
    take: |observed, entry| {
        each(observed, entry, |call| {
            call.playout.map(|playout| playout.freeze_s)
        })
    },
};

/// How long a call's frames are kept until their turn.
pub const JITTER_BUFFER: Metric = Metric {
    name: "jitter_buffer",
    unit: "ms",
    range: Range::Positive,
    summary: "mean time of a call's frames in the jitter buffer",
    about: "From the arrival of a frame's first packet until the frame leaves for the decoder; without \
            the wait for sound that browsers add. Only calls with a jitter buffer \
            (`session = { receiver = \"webrtc\" }`) have a value.",
    source: "`jitterBufferDelay` over `jitterBufferEmittedCount` of W3C's Identifiers for WebRTC's \
            Statistics API; decision 0026",
    better: Better::Less,
    column: Some(Column::mean("jitter buffer", 0).asked()),
    meter: None,
    take: |observed, entry| {
        each(observed, entry, |call| {
            call.playout.and_then(|playout| playout.jitter_buffer_ms)
        })
    },
};

/// Seconds with a low frame rate.
pub const LOW_FPS: Metric = Metric {
    name: "low_fps",
    unit: "",
    range: Range::Positive,
    summary: "seconds of a call with fewer than ten frames shown",
    about: "Windows of one second, counted from the first measured frame.",
    source: "common practice",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, entry| each(observed, entry, |call| Some(call.low_fps_events as f64)),
};

/// Media delivered.
pub const CALL_RATE: Metric = Metric {
    name: "call_rate",
    unit: "Mbit/s",
    range: Range::Positive,
    summary: "media that a call delivered",
    about: "Goodput: complete frames over the measured time, without headers, repair and padding.",
    source: "RFC 7928, section 2.5; decision 0005",
    better: Better::More,
    column: Some(Column::mean("call", 2)),
    meter: None,
    take: |observed, entry| each(observed, entry, |call| Some(call.goodput_mbps)),
};

/// The queueing delay of a call's packets.
pub const CALL_DELAY: Metric = Metric {
    name: "call_delay",
    unit: "ms",
    range: Range::Positive,
    summary: "95th percentile of the time that a call's packets waited in their first queue",
    about: "Only the call's own packets, in the first queue of its direction: the queue's part of \
            the frame delay.",
    source: "RFC 7928, section 2.6; decision 0005",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, entry| each(observed, entry, |call| call.sojourn_ms.p95),
};

/// Of the audio of each call that belongs to `entry`.
fn audio(
    observed: &Observed<'_>,
    entry: &str,
    take: impl Fn(&AudioResult) -> Option<f64>,
) -> Vec<f64> {
    let calls = observed.run.calls.iter();
    let calls = calls.filter(|call| belongs(&call.name, entry));
    let audio = calls.filter_map(|call| call.audio.as_ref());
    audio.filter_map(take).collect()
}

/// Audio that was lost or late.
pub const AUDIO_LATE: Metric = Metric {
    name: "audio_late",
    unit: "%",
    range: Range::PERCENT,
    summary: "audio of a call that was lost or late",
    about: "Share of the player's turns of 20 ms that it had to conceal because no frame had \
            arrived for them. The player keeps the 95th percentile of the delay's peaks and \
            stretches time, as NetEq does. Calls without audio have no value.",
    source: "`concealedSamples` of W3C's Identifiers for WebRTC's Statistics API; decision 0022",
    better: Better::Less,
    column: Some(Column::mean("audio late", 2).asked()),
    meter: None,
    take: |observed, entry| {
        audio(observed, entry, |audio| {
            (audio.frames > 0).then(|| 100.0 * audio.concealed as f64 / audio.frames as f64)
        })
    },
};

/// From mouth to ear.
pub const AUDIO_DELAY: Metric = Metric {
    name: "audio_delay",
    unit: "ms",
    range: Range::Positive,
    summary: "mean delay of a call's audio from mouth to ear",
    about: "The sum of the encoder's 26.5 ms, the network's delay, and the wait for the frame's \
            turn at the player; without the delay of sound cards and acoustic processing. \
            Concealed turns have no delay.",
    source: "ITU-T G.114; RFC 6716, 2; decision 0022",
    better: Better::Less,
    column: Some(Column::mean("audio delay", 0).asked()),
    meter: None,
    take: |observed, entry| audio(observed, entry, |audio| audio.delay_ms),
};

/// The estimated opinion of listeners.
pub const MOS: Metric = Metric {
    name: "mos",
    unit: "",
    range: Range::Within(1.0, 4.5),
    summary: "mean opinion score of a call's audio, 1 to 4.5",
    about: "The E-model: R = 93.2 − Id − Ie,eff, with the mean delay from mouth to ear and the \
            share of concealed turns as random loss, for Opus without forward error correction; \
            then the score that belongs to R. It is a model's planning value, not a listener's \
            rating.",
    source: "ITU-T G.107, 7 and annex B; decision 0022",
    better: Better::More,
    column: Some(Column::mean("MOS", 2).asked()),
    meter: None,
    take: |observed, entry| audio(observed, entry, |audio| audio.mos),
};
