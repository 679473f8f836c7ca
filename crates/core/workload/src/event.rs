//! Events of applications, as reported to results.

use serde::{Deserialize, Serialize};
use units::{Duration, FlowId, Instant};

/// An entry of the scenario's traffic, by its place.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct TrafficId(pub u16);

/// An event of an application. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// A flow starts: its first packet is about to be sent.
    FlowStarted {
        /// The flow.
        flow: FlowId,
        /// The traffic entry that it belongs to.
        traffic: TrafficId,
        /// Its carrier.
        carrier: crate::Carrier,
        /// Which of the entry's servers it speaks to.
        server: u32,
    },
    /// Application bytes of a flow reached their receiver, in order.
    Delivered {
        /// The flow.
        flow: FlowId,
        /// How many.
        bytes: u64,
    },
    /// The last byte of a transfer of known size reached its receiver.
    FlowDone {
        /// The flow.
        flow: FlowId,
    },
    /// Both ends are closed. Packets of the flow may still be under way; it has no further events.
    FlowEnded {
        /// The flow.
        flow: FlowId,
    },
    /// An encoder handed over a frame.
    FrameSent {
        /// The call.
        call: TrafficId,
        /// Its number, from 0.
        frame: u64,
    },
    /// The last packet of a frame reached the receiver.
    FrameArrived {
        /// The call.
        call: TrafficId,
        /// Its number.
        frame: u64,
    },
    /// A frame was shown.
    FrameShown {
        /// The call.
        call: TrafficId,
        /// Its number.
        frame: u64,
        /// How long a jitter buffer had it, from its first packet on; nothing without one.
        held: Duration,
    },
    /// A frame was skipped; it will never be shown.
    FrameLost {
        /// The call.
        call: TrafficId,
        /// Its number.
        frame: u64,
    },
    /// A microphone handed over a frame of audio.
    AudioSent {
        /// The call.
        call: TrafficId,
        /// Its number, from 0.
        frame: u64,
        /// How long it is.
        bytes: u32,
    },
    /// A frame of audio reached the receiver.
    AudioArrived {
        /// The call.
        call: TrafficId,
        /// Its number.
        frame: u64,
    },
    /// A lost part of a frame was restored by forward error correction.
    PartRestored {
        /// The call.
        call: TrafficId,
        /// The frame's number.
        frame: u64,
    },
    /// A frame of audio that was lost reached the receiver with a later one.
    AudioRestored {
        /// The call.
        call: TrafficId,
        /// Its number.
        frame: u64,
    },
    /// Navigation to a page started.
    PageStarted {
        /// The traffic entry.
        page: TrafficId,
        /// Which load, from 0.
        load: u32,
        /// Which of the entry's pages.
        site: u32,
        /// Its duration on an ideal link.
        ideal: crate::ideal::Ideal,
    },
    /// A page opened a connection.
    ConnectionOpened {
        /// The traffic entry.
        page: TrafficId,
    },
    /// A request of a page was sent.
    RequestStarted {
        /// The traffic entry.
        page: TrafficId,
        /// Which load.
        load: u32,
        /// The request's number within the page.
        request: u32,
    },
    /// A request of a page is complete.
    RequestDone {
        /// The traffic entry.
        page: TrafficId,
        /// Which load.
        load: u32,
        /// The request's number within the page.
        request: u32,
        /// Length of the answer.
        bytes: u64,
    },
    /// The last request of a page is complete.
    PageDone {
        /// The traffic entry.
        page: TrafficId,
        /// Which load.
        load: u32,
    },
    /// An application observed one of the figures that its workload declares.
    Observed {
        /// The traffic entry.
        traffic: TrafficId,
        /// Which of the workload's [figures](crate::Figure), by its place.
        figure: u8,
        /// The value, in the figure's unit.
        value: f64,
        /// When the observation began, which decides whether it is measured.
        began: Instant,
    },
}
