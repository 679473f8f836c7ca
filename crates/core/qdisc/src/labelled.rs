//! Two bounded first-in-first-out queues, chosen by the end host's label of the packet.
//!
//! The common part of `prio` and `cbq`: real-time packets in one class, all others, labelled or
//! not, in the other. The disciplines decide which class sends next.

use crate::{Backlog, DropReason, Label, Observer, Packet};
use std::collections::VecDeque;
use units::Instant;

/// The class of packets that are labelled as real-time.
pub const REAL_TIME: usize = 0;
/// The class of all other packets.
pub const REST: usize = 1;

/// Packets in two classes.
#[derive(Debug)]
pub struct Labelled<P> {
    classes: [VecDeque<Packet<P>>; 2],
    backlog: Backlog,
}

impl<P> Default for Labelled<P> {
    fn default() -> Self {
        Labelled {
            classes: [VecDeque::new(), VecDeque::new()],
            backlog: Backlog::default(),
        }
    }
}

impl<P> Labelled<P> {
    /// Appends a packet to its class, and returns the class. A class that already holds `limit`
    /// packets refuses it.
    pub fn push(
        &mut self,
        now: Instant,
        mut packet: Packet<P>,
        limit: u32,
        observer: &mut dyn Observer<P>,
    ) -> usize {
        let class = match packet.label {
            Label::RealTime => REAL_TIME,
            Label::Bulk | Label::None => REST,
        };
        if self.classes[class].len() >= limit as usize {
            observer.dropped(now, packet, DropReason::Tail);
            return class;
        }
        packet.arrived = now;
        self.backlog.add(packet.len);
        self.classes[class].push_back(packet);
        class
    }

    /// Takes the oldest packet of a class.
    pub fn pop(&mut self, class: usize) -> Option<Packet<P>> {
        let packet = self.classes[class].pop_front()?;
        self.backlog.remove(packet.len);
        Some(packet)
    }

    /// Drops the latest packets of each class that holds more than `limit` since a change.
    pub fn shrink(&mut self, now: Instant, limit: u32, observer: &mut dyn Observer<P>) {
        for class in &mut self.classes {
            while class.len() > limit as usize
                && let Some(packet) = class.pop_back()
            {
                self.backlog.remove(packet.len);
                observer.dropped(now, packet, DropReason::Change);
            }
        }
    }

    /// The backlog of both classes.
    pub const fn backlog(&self) -> Backlog {
        self.backlog
    }
}
