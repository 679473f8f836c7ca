//! Packets from one side's device to the other's.

use crate::Error;
use crate::clock::Clock;
use crate::devices::{LONGEST, Tun};
use crate::engine::{Network, Side};
use crate::frame::Frame;
use crate::lateness::Lateness;
use crate::prompt::{SchedulerPolicy, run_first};
use core::sync::atomic::{AtomicBool, Ordering};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::hash::RandomState;
use units::Duration;

/// Longest delay in noticing the end of a run.
const PATIENCE: Duration = Duration::from_millis(20);
/// Packets that are read from a device before the other one has its turn.
const BATCH: usize = 64;

/// Carries packets, until it is stopped.
pub struct Carrier {
    clock: Clock,
    /// The network between the devices.
    pub network: Network,
    net: Tun,
    home: Tun,
    salt: RandomState,
    scratch: Vec<u8>,
    late: Lateness,
    /// By which class its thread ran; none before.
    class: Option<SchedulerPolicy>,
}

impl Carrier {
    /// One that has carried no packets.
    ///
    /// # Errors
    /// None in practice: the histogram's bounds are constants.
    pub fn new(clock: Clock, network: Network, net: Tun, home: Tun) -> Result<Self, Error> {
        Ok(Carrier {
            clock,
            network,
            net,
            home,
            salt: RandomState::new(),
            scratch: vec![0; LONGEST],
            late: Lateness::new()?,
            class: None,
        })
    }

    /// Carries packets until `stop`.
    ///
    /// # Errors
    /// If a device breaks.
    pub fn carry(mut self, stop: &AtomicBool) -> Result<Self, Error> {
        self.class = Some(run_first());
        while !stop.load(Ordering::Acquire) {
            self.hand_on();
            let wait = self.network.due().since(self.clock.now()).min(PATIENCE);
            let mut polled = [&self.net, &self.home].map(|tun| PollFd::new(tun, PollFlags::IN));
            let timeout = Timespec {
                tv_sec: 0,
                tv_nsec: wait.as_nanos() as i64,
            };
            match poll(&mut polled, Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => (),
                Err(error) => {
                    return Err(Error::new(
                        format!("the link broke: {error}"),
                        "begin again",
                    ));
                }
            }
            let [net, home] = polled.map(|fd| !fd.revents().is_empty());
            if net {
                self.read(Side::Net)?;
            }
            if home {
                self.read(Side::Home)?;
            }
        }
        Ok(self)
    }

    /// Reads the packets of a side's device.
    fn read(&mut self, from: Side) -> Result<(), Error> {
        let (device, to) = match from {
            Side::Net => (&self.net, Side::Home),
            Side::Home => (&self.home, Side::Net),
        };
        for _ in 0..BATCH {
            let mut buffer = self.network.buffer();
            let read = device.read(&mut self.scratch, &mut buffer)?;
            let frame = Frame::new(buffer);
            if !read {
                self.network.done(frame);
                return Ok(());
            }
            match frame.header(&self.salt) {
                Some(header) => self.network.take(self.clock.now(), to, frame, header),
                None => self.network.done(frame),
            }
        }
        Ok(())
    }

    /// Hands on the packets that have arrived.
    fn hand_on(&mut self) {
        let now = self.clock.now();
        while let Some((to, frame, at)) = self.network.arrived(now) {
            let device = match to {
                Side::Net => &self.net,
                Side::Home => &self.home,
            };
            device.write(&frame);
            self.late.record(now.since(at));
            self.network.done(frame);
        }
    }

    /// A remark on the results: how late packets were, and by which class their thread ran.
    pub fn remark(&self) -> String {
        let class = self
            .class
            .as_ref()
            .map_or(String::new(), SchedulerPolicy::to_string);
        format!(
            "live: 99 % of the packets were handed on within {:.0} us of their time, all within {:.0} us, by {class}",
            self.late.us(0.99),
            self.late.us(1.0)
        )
    }

    /// Why the results of a scenario of this round trip are not to be believed, if they are not.
    pub fn doubt(&self, rtt: Duration) -> Option<String> {
        // What a device dropped unread stands in counters of its namespace, which nobody is in at the end.
        self.late.doubt(rtt, 0)
    }
}
