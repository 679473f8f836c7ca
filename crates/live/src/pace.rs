//! A discipline between a queue of netfilter's and this host: packets pass when it lets them.

use crate::Error;
use crate::clock::{Clock, processor_seconds};
use crate::frame::Header;
use crate::nfqueue::Nfqueue;
use core::num::NonZeroU64;
use core::ops::ControlFlow;
use qdisc::{Backlog, ChildStats, DropReason, Observer, Packet, Qdisc};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use serde::Serialize;
use std::hash::RandomState;
use units::{Duration, Ecn, Instant};

/// A signal waits no longer than this.
const PATIENCE: Duration = Duration::from_millis(100);
/// Messages that are read before packets are handed on.
const BATCH: usize = 64;
/// A discipline's time to wake is no sooner than this from now: timers are no finer.
const FINEST: Duration = Duration::from_micros(50);

/// Counters of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Packets that came.
    pub packets: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// Packets that passed.
    pub passed: u64,
    /// Their bytes.
    pub passed_bytes: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// Packets that could not be read, and passed at once.
    pub unread: u64,
}

/// How it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Paced {
    /// Since the start, seconds.
    pub seconds: f64,
    /// The processor's time that this process took, seconds.
    pub processor_seconds: f64,
    /// What came of packets.
    pub tally: Tally,
    /// Packets that wait.
    #[serde(skip)]
    pub backlog: Backlog,
    /// Counters of the discipline's parts.
    #[serde(skip)]
    pub parts: Vec<ChildStats>,
}

/// A discipline that decides about the packets of a queue.
pub struct Pacing {
    queue: Nfqueue,
    discipline: Box<dyn Qdisc<u32>>,
    clock: Clock,
    salt: RandomState,
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

impl Pacing {
    /// Listens at queue `number` from now on. The discipline's packets carry no ECN: what it would mark it
    /// drops, as only the first bytes of a packet are here.
    ///
    /// # Errors
    /// If the kernel has no such queues, another process listens there, or this is not root.
    pub fn new(number: u16, discipline: Box<dyn Qdisc<u32>>) -> Result<Self, Error> {
        let queue = Nfqueue::listen(number)?;
        // Otherwise the kernel wakes this thread up to 50 us late: prctl(2), PR_SET_TIMERSLACK.
        _ = set_current_timer_slack(NonZeroU64::new(1));
        Ok(Pacing {
            queue,
            discipline,
            clock: Clock::start(),
            salt: RandomState::new(),
            verdicts: Verdicts::default(),
            last: 0,
        })
    }

    /// Decides about packets until `each`, which is called ten times a second or more, breaks. `each` is
    /// told how it stands.
    ///
    /// # Errors
    /// If the kernel hands out no more packets.
    pub fn serve(&mut self, each: &mut dyn FnMut(&Paced) -> ControlFlow<()>) -> Result<(), Error> {
        let mut told = Instant::ZERO;
        loop {
            self.hand_on();
            let now = self.clock.now();
            if now >= told {
                told = now + PATIENCE;
                if each(&self.stands()).is_break() {
                    return Ok(());
                }
            }
            self.wait(told.since(now))?;
            self.read()?;
        }
    }

    /// How it stands.
    pub fn stands(&self) -> Paced {
        Paced {
            seconds: self.clock.now().as_secs_f64(),
            processor_seconds: processor_seconds(),
            tally: self.verdicts.tally,
            backlog: self.discipline.backlog(),
            parts: self.discipline.children(),
        }
    }

    /// Lets all packets that wait pass. To be called when no more come.
    pub fn release(&mut self) {
        self.queue.flush();
        self.queue.pass_up_to(self.last);
    }

    /// Waits for packets, or for the discipline's time, for `most` at most.
    fn wait(&self, most: Duration) -> Result<(), Error> {
        let now = self.clock.now();
        let wake = self.discipline.next_wake(now);
        let wait = wake.map_or(most, |wake| most.min(wake.since(now).max(FINEST)));
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: wait.as_nanos() as i64,
        };
        match poll(
            &mut [PollFd::new(&self.queue, PollFlags::IN)],
            Some(&timeout),
        ) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => {
                let message = format!("waiting for packets failed: {error}");
                Err(Error::new(message, "begin again"))
            }
        }
    }

    /// Packets that came go to the discipline.
    fn read(&mut self) -> Result<(), Error> {
        let (discipline, clock, salt) = (&mut self.discipline, &self.clock, &self.salt);
        let (verdicts, last) = (&mut self.verdicts, &mut self.last);
        let mut unread = Vec::new();
        self.queue.read(BATCH, &mut |queued| {
            verdicts.tally.packets += 1;
            verdicts.tally.bytes += u64::from(queued.len);
            *last = queued.id;
            match Header::of(queued.bytes, queued.len, salt) {
                Some(header) => {
                    let packet = Packet {
                        ecn: Ecn::NotCapable,
                        ..header.around(queued.id)
                    };
                    discipline.enqueue(clock.now(), packet, verdicts);
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
    fn hand_on(&mut self) {
        let now = self.clock.now();
        while let Some(packet) = self.discipline.dequeue(now, &mut self.verdicts) {
            let tally = &mut self.verdicts.tally;
            tally.passed += 1;
            tally.passed_bytes += u64::from(packet.len);
            self.queue.judge(packet.payload, true);
        }
        for id in self.verdicts.dropped.drain(..) {
            self.queue.judge(id, false);
        }
        self.queue.flush();
    }
}
