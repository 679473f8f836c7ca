//! Observers of the packets that leave the queues.

use crate::Frame;
use qdisc::{Backlog, Class, DropReason};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Duration, Instant};

/// A direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapDirection {
    /// Towards the command.
    Down,
    /// Away from it.
    Up,
}

impl TapDirection {
    /// `down` or `up`.
    pub const fn name(self) -> &'static str {
        match self {
            TapDirection::Down => "down",
            TapDirection::Up => "up",
        }
    }
}

/// How a packet left its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was sent.
    Sent,
    /// It was marked by this queue, and sent.
    Marked,
    /// It was sent, and the wire lost it.
    Lost,
    /// The discipline dropped it.
    Dropped(DropReason),
}

/// A packet that left its queue.
#[derive(Debug)]
pub struct Gone<'a> {
    /// The queue.
    pub direction: TapDirection,
    /// The flow, by its hash.
    pub flow: u32,
    /// When it came.
    pub came: Instant,
    /// When it left.
    pub left: Instant,
    /// Bytes on the wire, with the headers of all segments.
    pub bytes: u32,
    /// The packet, as it left.
    pub frame: &'a Frame,
    /// How it left.
    pub fate: Fate,
}

/// The state of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueState {
    /// What waits.
    pub backlog: Backlog,
    /// The names of the discipline's classes.
    pub classes: Vec<String>,
}

/// Is told what the queues do, in the order in which that happens in a direction.
pub trait Tap {
    /// A packet left.
    fn gone(&mut self, gone: &Gone<'_>);

    /// The discipline put a flow, by its hash, into a class.
    fn moved(&mut self, _direction: TapDirection, _flow: u32, _to: Class) {}

    /// How often [`state`](Self::state) is wanted; none for never.
    fn interval(&self) -> Option<Duration> {
        None
    }

    /// The state of both queues, down and up, now.
    fn state(&mut self, _now: Instant, _queues: [QueueState; 2]) {}
}

/// A tap of both directions.
pub type SharedTap = Rc<RefCell<dyn Tap>>;
