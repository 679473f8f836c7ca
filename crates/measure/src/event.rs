//! What an engine says while it runs.

use qdisc::{Class, DropReason, FlowId};
use units::{Duration, Instant};
use workload::Report;

/// A queue: the links of the scenario in order towards the home, then their uplinks in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u16);

/// An entry of the scenario's traffic, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrafficId(pub u16);

/// Something that happened. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// A packet was handed to a queue.
    Enqueued {
        /// Which queue.
        link: LinkId,
        /// Whose packet.
        flow: FlowId,
        /// IP length.
        bytes: u32,
    },
    /// A packet left a queue for the wire.
    Dequeued {
        /// Which queue.
        link: LinkId,
        /// Whose packet.
        flow: FlowId,
        /// IP length.
        bytes: u32,
        /// How long it waited.
        sojourn: Duration,
    },
    /// A packet was dropped by a queue.
    Dropped {
        /// Which queue.
        link: LinkId,
        /// Whose packet.
        flow: FlowId,
        /// IP length.
        bytes: u32,
        /// Why.
        reason: DropReason,
    },
    /// A packet was marked with Congestion Experienced.
    Marked {
        /// Which queue.
        link: LinkId,
        /// Whose packet.
        flow: FlowId,
    },
    /// A flow was put into a class.
    Moved {
        /// Which queue.
        link: LinkId,
        /// Which flow.
        flow: FlowId,
        /// Out of which class, if it was in one.
        from: Option<Class>,
        /// Into which.
        to: Class,
    },
    /// A flow starts: its first packet is about to be sent.
    FlowStarted {
        /// The flow.
        flow: FlowId,
        /// The traffic entry that it belongs to.
        traffic: TrafficId,
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
    },
    /// A frame was skipped; it will never be shown.
    FrameLost {
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
}

impl Event {
    /// What the client of `page` reports.
    pub const fn of_page(page: TrafficId, report: Report) -> Self {
        match report {
            Report::PageStarted { load, page: site } => Event::PageStarted { page, load, site },
            Report::RequestStarted { load, id } => Event::RequestStarted {
                page,
                load,
                request: id,
            },
            Report::RequestDone { load, id, bytes } => Event::RequestDone {
                page,
                load,
                request: id,
                bytes,
            },
            Report::PageDone { load } => Event::PageDone { page, load },
        }
    }
}

/// Who is told.
pub trait Sink {
    /// `event` happened `now`. Time never runs backwards.
    fn event(&mut self, now: Instant, event: Event);
}
