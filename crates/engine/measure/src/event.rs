//! Events of an engine while it runs.

use qdisc::{Class, DropReason};
use serde::{Deserialize, Serialize};
use units::{Duration, Ecn, FlowId, Instant};

pub use workload::TrafficId;

/// A queue: the links of the scenario in order towards the home, then their uplinks in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LinkId(pub u16);

/// A packet, as events speak of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PacketId {
    /// Its number: no other packet of the run has it, and it keeps it from queue to queue.
    pub number: u64,
    /// The flow of the packet; none for a flow that the scenario has no part in, such as a kernel's
    /// own messages.
    pub flow: Option<FlowId>,
    /// Which of its flow's subflows it belongs to, from 0: each has ports of its own. 0 in a flow
    /// that has no subflows.
    pub subflow: u8,
    /// IP length in bytes.
    pub bytes: u32,
    /// Its ECN field: on arrival at a queue, and on departure at departures.
    pub ecn: Ecn,
}

/// What a media packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaPart {
    /// The session's stream of video, from 0.
    pub stream: u8,
    /// The contents.
    pub content: MediaContent,
}

/// The contents of a media packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaContent {
    /// A part of a frame of video.
    Video {
        /// RTP sequence number of the stream; a retransmission keeps it.
        sequence: u64,
        /// The frame, from 0 in its stream.
        frame: u64,
        /// It is the frame's last part.
        last: bool,
    },
    /// A frame of audio, by its number, from 0.
    Audio {
        /// Its number.
        frame: u64,
        /// Bytes of copies of earlier frames in the packet, with their headers.
        copied: u32,
    },
    /// The XOR of parts of frames.
    Fec,
    /// Bytes that are not played, which fill a probe.
    Padding,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// A packet left its end point. Only for sinks that [want ends](Sink::wants_ends), from engines that
    /// see them.
    Sent {
        /// Which packet.
        packet: PacketId,
        /// Whether it goes away from the home.
        up: bool,
    },
    /// A packet reached its end point. As [`Event::Sent`].
    Arrived {
        /// Which packet.
        packet: PacketId,
    },
    /// The contents of a media packet that left its end point, right after its [`Event::Sent`]. From
    /// engines that know them.
    Media {
        /// Which packet.
        packet: PacketId,
        /// Its contents.
        part: MediaPart,
    },
    /// A packet was handed to a queue.
    Enqueued {
        /// Which queue.
        link: LinkId,
        /// Which packet.
        packet: PacketId,
    },
    /// A packet left a queue for the wire.
    Dequeued {
        /// Which queue.
        link: LinkId,
        /// Which packet.
        packet: PacketId,
        /// How long it waited.
        sojourn: Duration,
    },
    /// A packet was dropped by a queue.
    Dropped {
        /// Which queue.
        link: LinkId,
        /// Which packet.
        packet: PacketId,
        /// Why.
        reason: DropReason,
    },
    /// A packet was marked with Congestion Experienced.
    Marked {
        /// Which queue.
        link: LinkId,
        /// Which packet.
        packet: PacketId,
    },
    /// A packet was lost on the wire behind a queue.
    Lost {
        /// Which queue.
        link: LinkId,
        /// Which packet.
        packet: PacketId,
    },
    /// A flow was put into a class.
    Moved {
        /// Which queue.
        link: LinkId,
        /// Which flow.
        flow: FlowId,
        /// The former class, if it was in one.
        from: Option<Class>,
        /// Into which.
        to: Class,
    },
    /// A finding of a flow's congestion control about its path.
    Noticed {
        /// Which flow.
        flow: FlowId,
        /// The notice.
        notice: cca::Notice,
    },
    /// What the sender of a flow is at. Only in runs whose scenario asks for `senders`.
    Sender {
        /// Which flow.
        flow: FlowId,
        /// At what.
        state: transport::SenderState,
    },
    /// A flow that ends, or is open at the end of the run, waited for the same in more than half of its time. From
    /// engines that look into senders.
    Limited {
        /// Which flow.
        flow: FlowId,
        /// For what.
        limit: transport::SenderLimit,
        /// The share of its time since it was connected.
        share: f64,
    },
    /// The rate of a link that is followed was decided anew: another rate, or for another reason.
    Rated {
        /// Which queue.
        link: LinkId,
        /// The rate, and why.
        decision: autorate::Decision,
    },
    /// An event of an application.
    Traffic(workload::Event),
}

impl Event {
    /// Whether it happened to a packet at a queue or behind it.
    pub const fn is_of_packet(&self) -> bool {
        matches!(
            self,
            Event::Enqueued { .. }
                | Event::Dequeued { .. }
                | Event::Dropped { .. }
                | Event::Marked { .. }
                | Event::Lost { .. }
        )
    }
}

/// A receiver of events: a tap on a run's events.
///
/// Taps compose: a pair of taps is a tap, and so is a list of them.
pub trait Sink {
    /// `event` happened `now`. Time never runs backwards.
    fn event(&mut self, now: Instant, event: &Event);

    /// Whether it wants to hear when packets leave their end points and reach them.
    fn wants_ends(&self) -> bool {
        false
    }

    /// Whether it wants to hear of packets at queues: most events are of those. A sink that does not
    /// may be passed over.
    fn wants_packets(&self) -> bool {
        true
    }
}

impl<A: Sink, B: Sink> Sink for (A, B) {
    fn event(&mut self, now: Instant, event: &Event) {
        self.0.event(now, event);
        self.1.event(now, event);
    }

    fn wants_ends(&self) -> bool {
        self.0.wants_ends() || self.1.wants_ends()
    }

    fn wants_packets(&self) -> bool {
        self.0.wants_packets() || self.1.wants_packets()
    }
}

impl<S: Sink> Sink for Option<S> {
    fn event(&mut self, now: Instant, event: &Event) {
        if let Some(sink) = self {
            sink.event(now, event);
        }
    }

    fn wants_ends(&self) -> bool {
        self.as_ref().is_some_and(S::wants_ends)
    }

    fn wants_packets(&self) -> bool {
        self.as_ref().is_some_and(S::wants_packets)
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn event(&mut self, now: Instant, event: &Event) {
        (**self).event(now, event);
    }

    fn wants_ends(&self) -> bool {
        (**self).wants_ends()
    }

    fn wants_packets(&self) -> bool {
        (**self).wants_packets()
    }
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn event(&mut self, now: Instant, event: &Event) {
        (**self).event(now, event);
    }

    fn wants_ends(&self) -> bool {
        (**self).wants_ends()
    }

    fn wants_packets(&self) -> bool {
        (**self).wants_packets()
    }
}

impl<S: Sink> Sink for [S] {
    fn event(&mut self, now: Instant, event: &Event) {
        for sink in self {
            sink.event(now, event);
        }
    }

    fn wants_ends(&self) -> bool {
        self.iter().any(S::wants_ends)
    }

    fn wants_packets(&self) -> bool {
        self.iter().any(S::wants_packets)
    }
}

impl<S: Sink> Sink for Vec<S> {
    fn event(&mut self, now: Instant, event: &Event) {
        self.as_mut_slice().event(now, event);
    }

    fn wants_ends(&self) -> bool {
        self.as_slice().wants_ends()
    }

    fn wants_packets(&self) -> bool {
        self.as_slice().wants_packets()
    }
}
