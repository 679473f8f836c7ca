//! `pfifo` and `bfifo`: one queue, first in, first out, dropping arrivals when full.
//!
//! Principles: only order. The reference for every other discipline. Not for: anything that shares
//! the link with a sender that fills buffers.
//!
//! The kernel's `net/sched/sch_fifo.c`.

use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use std::collections::VecDeque;
use units::param::Settings;
use units::{Bytes, Instant, Refusal};

units::params! {
    /// Parameters of `pfifo`.
    pub struct PfifoParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "1000", range "1".."1000000", source "Linux: tx_queue_len of an Ethernet device";
    }
}

units::params! {
    /// Parameters of `bfifo`.
    pub struct BfifoParams {
        /// Limit of the backlog, in bytes.
        limit: Bytes = "1500kB", range "1B".."10GB", source "1000 packets of 1500 B, as pfifo";
    }
}

/// `pfifo` for the registry.
pub fn pfifo<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "pfifo",
        summary: "one queue, first in, first out, limited in packets",
        about: ABOUT,
        source: "Linux net/sched/sch_fifo.c",
        params: PfifoParams::SPECS,
        children: &[],
        build: |parts| {
            let params = PfifoParams::from_env(parts.env);
            Ok(Box::new(FifoQdisc::new(params, parts.settings)?))
        },
    }
}

/// `bfifo` for the registry.
pub fn bfifo<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "bfifo",
        summary: "one queue, first in, first out, limited in bytes",
        about: ABOUT,
        source: "Linux net/sched/sch_fifo.c",
        params: BfifoParams::SPECS,
        children: &[],
        build: |parts| {
            let params = BfifoParams::from_env(parts.env);
            Ok(Box::new(FifoQdisc::new(params, parts.settings)?))
        },
    }
}

const ABOUT: &str = "Packets leave in the order in which they came; an arrival that finds the \
    queue full is dropped.\n\nNot for links that a call shares with downloads: the flow that fills \
    the buffer sets the delay of all.";

/// The difference between the two FIFOs: the unit of their limit.
pub trait FifoLimit: Send {
    /// The defaults, with the buffer that the link's owner gave.
    fn from_env(env: &Env) -> Self;
    /// Applies settings.
    ///
    /// # Errors
    /// If one is refused.
    fn set(&mut self, settings: &Settings) -> Result<(), Refusal>;
    /// Whether `backlog` is within the limit.
    fn fits(&self, backlog: Backlog) -> bool;
    /// Names and values.
    fn show(&self) -> Vec<(&'static str, String)>;
}

impl FifoLimit for PfifoParams {
    fn from_env(env: &Env) -> Self {
        let mut params = PfifoParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params
    }
    fn set(&mut self, settings: &Settings) -> Result<(), Refusal> {
        self.apply(settings)
    }
    fn fits(&self, backlog: Backlog) -> bool {
        backlog.packets <= self.limit
    }
    fn show(&self) -> Vec<(&'static str, String)> {
        self.values()
    }
}

impl FifoLimit for BfifoParams {
    fn from_env(env: &Env) -> Self {
        let mut params = BfifoParams::default();
        if let Some(limit) = env.limit {
            params.limit = Bytes::new(limit.bytes());
        }
        params
    }
    fn set(&mut self, settings: &Settings) -> Result<(), Refusal> {
        self.apply(settings)
    }
    fn fits(&self, backlog: Backlog) -> bool {
        backlog.bytes <= self.limit.get()
    }
    fn show(&self) -> Vec<(&'static str, String)> {
        self.values()
    }
}

/// A FIFO limited by `L`.
#[derive(Debug)]
pub struct FifoQdisc<P, L> {
    params: L,
    queue: VecDeque<Packet<P>>,
    backlog: Backlog,
}

impl<P, L: FifoLimit> FifoQdisc<P, L> {
    /// A FIFO with `params` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(mut params: L, settings: &Settings) -> Result<Self, Refusal> {
        params.set(settings)?;
        Ok(FifoQdisc {
            params,
            queue: VecDeque::new(),
            backlog: Backlog::default(),
        })
    }
}

impl<P: Send, L: FifoLimit> Qdisc<P> for FifoQdisc<P, L> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let mut after = self.backlog;
        after.add(packet.len);
        if !self.params.fits(after) {
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        packet.arrived = now;
        self.backlog = after;
        self.queue.push_back(packet);
    }

    fn dequeue(&mut self, _now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        let packet = self.queue.pop_front()?;
        self.backlog.remove(packet.len);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        self.params.set(settings)?;
        while !self.params.fits(self.backlog) {
            let Some(packet) = self.queue.pop_back() else {
                break;
            };
            self.backlog.remove(packet.len);
            observer.dropped(now, packet, DropReason::Change);
        }
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.show()
    }
}
