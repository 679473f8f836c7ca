//! Links between queues of netfilter's and the network: packets pass when their link lets them.

use crate::Error;
use crate::clock::{Clock, processor_seconds};
use crate::frame::{Header, headers};
use crate::nfqueue::{Nfqueue, Queued};
use crate::prompt::wake_in_time;
use crate::wire::{LinkWire, WireWatch};
use core::ops::ControlFlow;
use link::Link;
use qdisc::{Backlog, ChildStats, DropReason, Observer, Packet};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;
use std::hash::RandomState;
use units::param::Settings;
use units::{Duration, Ecn, Instant, Rate, Refusal};

/// Messages that are read before packets are handed on.
const BATCH: usize = 64;
/// While packets wait, this process wakes no more often: what came or became due meanwhile is dealt with at
/// once. That is most of what it costs: for a packet of 1500 bytes in this time, 48 Mbit/s.
const GRAIN: Duration = Duration::from_micros(250);
/// The largest packet of the networks behind: what is still to be cut is taken for a train of these.
const FULL: u32 = 1500;

/// Counters of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Packets that came; one that is still to be cut into segments is one.
    pub packets: u64,
    /// Their bytes, with the IP headers of all segments.
    pub bytes: u64,
    /// Packets that passed.
    pub passed: u64,
    /// Their bytes.
    pub passed_bytes: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// Packets that could not be read, and passed at once.
    pub unread: u64,
    /// Packets that passed unseen, since this process was too slow; none of the above counts them.
    pub unseen: u64,
    /// The time that packets that passed had waited in the queue, in nanoseconds, all together.
    pub waited_ns: u64,
    /// The longest time since the start.
    pub longest_ns: u64,
}

/// How one gate stands.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    /// What came of packets.
    pub tally: Tally,
    /// Packets that wait.
    pub backlog: Backlog,
    /// Counters of the discipline's parts.
    pub parts: Vec<ChildStats>,
}

/// A link behind a queue of netfilter's. Its packets carry no ECN: what its discipline would mark it drops,
/// as only the first bytes of a packet are here.
pub struct Gate {
    queue: Nfqueue,
    wire: LinkWire<u32>,
    verdicts: Verdicts,
    /// The number of the last packet that came.
    last: u32,
}

/// What is decided, until the kernel is told.
#[derive(Debug, Default)]
struct Verdicts {
    dropped: Vec<u32>,
    tally: Tally,
}

impl Observer<u32> for Verdicts {
    fn dropped(&mut self, _now: Instant, packet: Packet<u32>, _reason: DropReason) {
        self.tally.drops += 1;
        self.dropped.push(packet.payload);
    }
}

impl WireWatch<u32> for Verdicts {
    fn left(
        &mut self,
        now: Instant,
        packet: Packet<u32>,
        _arrives: Option<Instant>,
    ) -> Option<u32> {
        let waited = now.since(packet.arrived).as_nanos();
        self.tally.passed += 1;
        self.tally.passed_bytes += u64::from(packet.len);
        self.tally.waited_ns += waited;
        self.tally.longest_ns = self.tally.longest_ns.max(waited);
        Some(packet.payload)
    }
}

impl Gate {
    /// Listens at queue `number` from now on. With `whole`, packets come as the kernel holds them, and may
    /// still have to be cut into segments.
    ///
    /// # Errors
    /// If the kernel has no such queues, another process listens there, or this is not root.
    pub fn new(number: u16, link: Link<u32>, whole: bool) -> Result<Self, Error> {
        Ok(Gate {
            queue: Nfqueue::listen(number, whole)?,
            wire: LinkWire::new(link),
            verdicts: Verdicts::default(),
            last: 0,
        })
    }

    /// How it stands.
    pub fn stands(&self) -> Standing {
        Standing {
            tally: self.verdicts.tally,
            backlog: self.wire.queue().backlog(),
            parts: self.wire.queue().children(),
        }
    }

    /// The discipline's parameters.
    pub fn params(&self) -> Vec<(&'static str, String)> {
        self.wire.queue().params()
    }

    /// Packets that came go to the link.
    fn read(&mut self, clock: &Clock, salt: &RandomState) -> Result<(), Error> {
        let (wire, verdicts, last) = (&mut self.wire, &mut self.verdicts, &mut self.last);
        let mut unread = Vec::new();
        self.queue.read(BATCH, &mut |queued| {
            verdicts.tally.packets += 1;
            // The kernel has a number for those, too, for which there was no room.
            verdicts.tally.unseen += u64::from(queued.id.wrapping_sub(*last).saturating_sub(1));
            *last = queued.id;
            let len = wire_len(&queued);
            verdicts.tally.bytes += u64::from(len);
            match Header::of(queued.bytes, len, salt) {
                Some(header) => {
                    let packet = Packet {
                        ecn: Ecn::NotCapable,
                        ..header.around(queued.id)
                    };
                    wire.take(clock.now(), packet, verdicts);
                }
                None => unread.push(queued.id),
            }
        })?;
        self.verdicts.tally.unread += unread.len() as u64;
        for id in unread {
            self.queue.judge(id, true);
        }
        Ok(())
    }

    /// Tells the kernel of packets that may pass now, and of those that were dropped.
    fn hand_on(&mut self, now: Instant) {
        while let Some((id, _)) = self.wire.arrived(now, &mut self.verdicts) {
            self.queue.judge(id, true);
        }
        for id in self.verdicts.dropped.drain(..) {
            self.queue.judge(id, false);
        }
        self.queue.flush();
    }
}

/// Bytes on the wire, with the headers of all segments that the packet is still to be cut into. The kernel
/// does not tell how large these are: they are full.
fn wire_len(queued: &Queued<'_>) -> u32 {
    let headers = if queued.whole {
        headers(queued.bytes).unwrap_or(0)
    } else {
        0
    };
    let room = FULL.saturating_sub(headers);
    if !queued.whole || headers == 0 || room == 0 {
        return queued.len;
    }
    let segments = queued.len.saturating_sub(headers).div_ceil(room).max(1);
    queued.len + (segments - 1) * headers
}

/// Gates, and the time that they share.
pub struct Gates {
    gates: Vec<Gate>,
    clock: Clock,
    salt: RandomState,
}

impl Gates {
    /// Gates with packets from now on.
    pub fn new(gates: Vec<Gate>) -> Self {
        wake_in_time();
        Gates {
            gates,
            clock: Clock::start(),
            salt: RandomState::new(),
        }
    }

    /// Decides about packets until `each`, which is called each `every`, breaks.
    ///
    /// # Errors
    /// If the kernel hands out no more packets.
    pub fn serve(
        &mut self,
        every: Duration,
        each: &mut dyn FnMut(&mut Gates) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut told = Instant::ZERO;
        loop {
            let now = self.clock.now();
            for gate in &mut self.gates {
                gate.hand_on(now);
            }
            if now >= told {
                told = now + every;
                if each(self).is_break() {
                    return Ok(());
                }
            }
            self.wait(told.since(now))?;
            for gate in &mut self.gates {
                gate.read(&self.clock, &self.salt)?;
            }
        }
    }

    /// Each, in the order in which they were given.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// Since the start, seconds.
    pub fn seconds(&self) -> f64 {
        self.clock.now().as_secs_f64()
    }

    /// The processor's time that this process took, seconds.
    pub fn processor_seconds(&self) -> f64 {
        processor_seconds()
    }

    /// Changes the parameters of a gate's discipline; packets that wait keep their places.
    ///
    /// # Errors
    /// If a setting is refused; nothing is changed then.
    pub fn change(&mut self, gate: usize, settings: &Settings) -> Result<(), Refusal> {
        let (now, gate) = (self.clock.now(), &mut self.gates[gate]);
        gate.wire.change(now, settings, &mut gate.verdicts)
    }

    /// A gate's link has another rate from the next packet on. `whole` is as for [`Gate::new`].
    pub fn set_rate(&mut self, gate: usize, rate: Rate, whole: bool) {
        let (now, gate) = (self.clock.now(), &mut self.gates[gate]);
        gate.wire.set_rate(now, rate, &mut gate.verdicts);
        gate.queue.hand_out(whole);
    }

    /// Lets all packets that wait pass. To be called when no more come.
    pub fn release(&mut self) {
        for gate in &mut self.gates {
            gate.queue.flush();
            gate.queue.pass_up_to(gate.last);
        }
    }

    /// Waits for packets, or for what is due, for `most` at most.
    fn wait(&self, most: Duration) -> Result<(), Error> {
        let rest = || {
            let due = self.gates.iter().map(|gate| gate.wire.due()).min();
            most.min(due.unwrap_or(Instant::NEVER).since(self.clock.now()))
        };
        if rest() < most {
            poll_for(&mut [], GRAIN)?;
        }
        let queues = self.gates.iter().map(|gate| &gate.queue);
        let mut polled: Vec<PollFd<'_>> = queues
            .map(|queue| PollFd::new(queue, PollFlags::IN))
            .collect();
        poll_for(&mut polled, rest())
    }
}

/// Waits for one of these, or for so long.
fn poll_for(polled: &mut [PollFd<'_>], wait: Duration) -> Result<(), Error> {
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: wait.as_nanos() as i64,
    };
    match poll(polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => {
            let message = format!("waiting for packets failed: {error}");
            Err(Error::new(message, "begin again"))
        }
    }
}
