//! The open flows: their owners, and the meaning of their bytes.

use super::frames::Frames;
use super::slots::SlotId;
use crate::ledger::Ledger;
use crate::{Carrier, ConnId, Message};
use units::{Duration, FlowId};

/// One end of a flow. Both ends of a flow have numbers side by side, the even one is the end that
/// opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowEnd(pub u32);

impl FlowEnd {
    /// The other end.
    #[must_use]
    pub const fn peer(self) -> FlowEnd {
        FlowEnd(self.0 ^ 1)
    }

    /// The end that opened the flow.
    #[must_use]
    pub const fn first(self) -> FlowEnd {
        FlowEnd(self.0 & !1)
    }

    const fn side(self) -> usize {
        (self.0 & 1) as usize
    }
}

/// A flow to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenedFlow {
    /// The end that opens it.
    pub first: FlowEnd,
    /// Its number in results.
    pub flow: FlowId,
    /// The traffic entry that it belongs to.
    pub entry: u16,
    /// Which of the entry's instances.
    pub instance: u32,
    /// Its number among that instance's connections.
    pub conn: ConnId,
    /// Its carrier.
    pub carrier: Carrier,
    /// The end that opens it sends away from the home.
    pub up: bool,
    /// Which of the instance's servers it leads to.
    pub server: u32,
    /// How much longer the round trip to that is.
    pub extra_rtt: Duration,
}

/// The owner of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The application.
    pub app: SlotId,
    /// The application's name of the connection.
    pub conn: ConnId,
}

/// The properties of a flow when it opens.
#[derive(Debug)]
pub struct Opening {
    /// Its number in results.
    pub flow: FlowId,
    /// Its traffic entry.
    pub entry: u16,
    /// The owners notified at each end.
    pub owners: [Option<Owner>; 2],
    /// The end at which arrivals count as goodput.
    pub counting: usize,
}

/// A flow that is open.
#[derive(Debug)]
pub struct Open {
    /// Its number in results.
    pub flow: FlowId,
    /// Its traffic entry.
    pub entry: u16,
    /// Frames of a media session that are under way, by stream.
    frames: Vec<Frames>,
    owners: [Option<Owner>; 2],
    counting: usize,
    /// The bytes sent by each end.
    ledgers: [Ledger; 2],
}

impl Open {
    /// The frames of a stream of video that are under way.
    pub fn frames(&mut self, stream: u8) -> &mut Frames {
        let place = usize::from(stream);
        if self.frames.len() <= place {
            self.frames.resize_with(place + 1, Frames::default);
        }
        &mut self.frames[place]
    }
}

/// Flows by the number of their first end, halved.
#[derive(Debug, Default)]
pub struct Flows {
    slots: Vec<Option<Open>>,
    free: Vec<u32>,
}

impl Flows {
    /// Takes in a flow; returns its first end.
    pub fn insert(&mut self, opening: Opening) -> FlowEnd {
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        self.slots[place as usize] = Some(Open {
            flow: opening.flow,
            entry: opening.entry,
            frames: Vec::new(),
            owners: opening.owners,
            counting: opening.counting,
            ledgers: Default::default(),
        });
        FlowEnd(place * 2)
    }

    /// The open flow that an end belongs to.
    #[inline]
    pub fn get_mut(&mut self, end: FlowEnd) -> Option<&mut Open> {
        self.slots.get_mut(end.0 as usize / 2)?.as_mut()
    }

    /// The owner of an end.
    pub fn owner(&mut self, end: FlowEnd) -> Option<Owner> {
        self.get_mut(end)?.owners[end.side()]
    }

    /// An end gave a message to its transport.
    pub fn sent(&mut self, end: FlowEnd, stream: u32, bytes: u64, message: Message) {
        if let Some(open) = self.get_mut(end) {
            open.ledgers[end.side()].sent(stream, bytes, message);
        }
    }

    /// `bytes` more arrived at an end: the flow if they count as its goodput, and whose they are if
    /// a message is complete with them.
    #[inline]
    pub fn received(
        &mut self,
        end: FlowEnd,
        stream: u32,
        bytes: u64,
    ) -> Option<(Option<FlowId>, Option<Owner>)> {
        let open = self.get_mut(end)?;
        let complete = open.ledgers[end.peer().side()].received(stream, bytes);
        let counts = open.counting == end.side();
        let owner = open.owners[end.side()].filter(|_| complete);
        Some((counts.then_some(open.flow), owner))
    }

    /// A datagram arrived at an end: the flow if it counts as its goodput, and whose it is.
    pub fn arrived(&mut self, end: FlowEnd) -> Option<(Option<FlowId>, Option<Owner>)> {
        let open = self.get_mut(end)?;
        let counts = open.counting == end.side();
        Some((counts.then_some(open.flow), open.owners[end.side()]))
    }

    /// The next message that has arrived completely at an end.
    pub fn message(&mut self, end: FlowEnd, stream: u32) -> Option<Message> {
        self.get_mut(end)?.ledgers[end.peer().side()].take(stream)
    }

    /// A flow closes: its number, and whose its ends were. Its ends stay taken.
    pub fn close(&mut self, end: FlowEnd) -> Option<(FlowId, [Option<Owner>; 2])> {
        let open = self.slots.get_mut(end.0 as usize / 2)?.take()?;
        Some((open.flow, open.owners))
    }

    /// The ends of a closed flow may be used again.
    pub fn release(&mut self, end: FlowEnd) {
        self.free.push(end.0 / 2);
    }
}
