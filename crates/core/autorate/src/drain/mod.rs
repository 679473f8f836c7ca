//! Measures at which rate the line drains its own queue, and remembers how low it goes.
//!
//! Principles: a packet that waited in the modem for at least as long as the packet before it is ahead
//! tells the line's rate exactly, whatever the senders do ([`busy`]). How long it waited, its own time
//! stamps tell ([`clocks`]); pings only where there are none. A queue lowers the rate below what the line
//! carries at once. Bytes that are under way when the line dips cannot be called back: so the rate stays
//! below what the line carries most of the time ([`memory`]), and how much of the time is the one choice
//! ([`Favour`]).
//!
//! Not for: lines without a queue, such as policers: they are not seen.

mod base;
mod busy;
mod clocks;
mod favour;
mod follower;
mod left;
mod memory;
mod recent;

pub use favour::Favour;

use crate::{Controller, Decision, Entry, SeenPacket, Signal, Told, Way, Ways};
use base::Base;
use clocks::{Clocks, Sense};
use follower::DrainFollower;
use left::Left;
use units::{Duration, Instant, Rate};

units::params! {
    /// Parameters of `drain`.
    pub struct DrainParams {
        /// What to spare where both cannot be: `calls`, `both` or `downloads`. The rate stays below what
        /// the line carries for nine tenths, three quarters or half of the time.
        favour: Favour = "both", source "ours";
        /// Rate towards the home until something is known.
        start_down: Rate = "10mbit", range "10kbit".."1000gbit", source "ours";
        /// Rate away from the home until something is known.
        start_up: Rate = "10mbit", range "10kbit".."1000gbit", source "ours";
    }
}

/// `drain` for the registry.
pub const ENTRY: Entry = Entry {
    name: "drain",
    summary: "the rate at which the line drains, measured by packets' own delays, and remembered",
    about: "Nothing to configure but what to favour. A packet's time stamps tell how long it waited in the \
        line; packets that waited longer than their distance tell what the line carries meanwhile. A queue \
        lowers the rate below that at once. Without a queue the rate returns to what the line carries most \
        of the time, and under load slowly beyond, faster the longer it is clear.\n\nPings count only \
        where no TCP with time stamps passes, as with QUIC alone or a call alone: it is then nearly blind to \
        short dips, and a call stalls as long as under cake-autorate. Pings that wait in another queue than \
        the rest say that there is none, and it shapes hardly anything; answers that are late by chance look \
        like a queue, and it falls to its least rate. Where a radio delivers in groups up to 20 ms apart it \
        takes the line for slower than it is, and uses some seven tenths of it.\n\nIt does not see a policer, \
        which has no queue. Behind a modem no rate spares a call when the line falls to less than a quarter \
        within a round trip: the bytes are under way. After a dip the way back counts as a part of the dip: \
        on a line that dips deeply every few seconds it stays at half of what a discipline in the modem \
        would carry.",
    source: "ours",
    params: DrainParams::SPECS,
    build: |settings| Ok(Box::new(Drain::new(&DrainParams::parse(settings)?))),
};

/// Reflectors beyond this number share a baseline.
const REFLECTORS: usize = 32;
/// Shorter packets towards the home carry no data: acknowledgements, with three SACK blocks (RFC 2018).
const BARE: u32 = 100;

struct Drain {
    ways: Ways<DrainFollower>,
    /// Clocks of the senders of what comes.
    senders: Clocks,
    /// Clocks of the receivers of what goes.
    receivers: Clocks,
    /// What went, and was not acknowledged yet.
    left: Left,
    reflectors: [Base; REFLECTORS],
}

impl Drain {
    fn new(params: &DrainParams) -> Self {
        let follower = |start| DrainFollower::new(params.favour, start);
        Drain {
            ways: Ways {
                down: follower(params.start_down),
                up: follower(params.start_up),
            },
            senders: Clocks::new(Sense::Came),
            receivers: Clocks::new(Sense::Went),
            left: Left::default(),
            reflectors: [Base::default(); REFLECTORS],
        }
    }

    /// A packet came from the line.
    fn came(&mut self, now: f64, packet: SeenPacket) {
        let down = &mut self.ways.down;
        let Some(stamps) = packet.stamps else {
            return down.passed(packet.bytes);
        };
        let known = down.wait(now);
        let wait = self.senders.wait(stamps.flow, stamps.value, now, known);
        down.left_line(now, now, wait, packet.bytes);
        if packet.bytes <= BARE {
            self.acknowledged(now, stamps);
        }
    }

    /// The far end has what it acknowledges: that left the line when the far end's clock said so.
    fn acknowledged(&mut self, now: f64, stamps: crate::Stamps) {
        let Some(gone) = self.left.acknowledged(stamps.flow, stamps.has) else {
            return;
        };
        let up = &mut self.ways.up;
        let known = up.wait(now);
        let wait = self
            .receivers
            .wait(stamps.flow, stamps.value, gone.at, known);
        up.left_line(
            now,
            gone.at + wait,
            (wait - gone.delayed).max(0.0),
            gone.bytes,
        );
    }

    /// A packet left the shaper for the line.
    fn went(&mut self, now: f64, packet: SeenPacket) {
        if self.ways.up.told(now) != Told::Stamps {
            self.ways.up.passed(packet.bytes);
        }
        match packet.stamps {
            Some(stamps) if packet.bytes > BARE => {
                self.left.went(now, stamps, packet.bytes);
            }
            _ => self.left.passed(packet.bytes),
        }
    }

    fn answered(&mut self, now: Instant, reflector: u8, round_trip: Duration) {
        let at = now.as_secs_f64();
        let base = &mut self.reflectors[usize::from(reflector) % REFLECTORS];
        let wait = base.above(at, round_trip.as_secs_f64());
        // A round trip does not say which way was slow: that which is used, or both.
        let loads = Way::BOTH.map(|way| self.ways[way].load(now));
        for (way, other) in [(Way::Down, 1), (Way::Up, 0)] {
            let own = loads[1 - other];
            let blamed = own >= 0.5 * loads[other];
            self.ways[way].pinged(at, if blamed { wait } else { 0.0 });
        }
    }
}

impl Controller for Drain {
    fn tell(&mut self, now: Instant, signal: &Signal) {
        let at = now.as_secs_f64();
        match *signal {
            Signal::Came(packet) => self.came(at, packet),
            Signal::Shaped(way, packet) => {
                self.ways[way].shaped(now, packet.bytes);
                if way == Way::Up {
                    self.went(at, packet);
                }
            }
            Signal::Answered(answer) => self.answered(now, answer.reflector, answer.round_trip),
        }
    }

    fn decide(&mut self, now: Instant) -> Ways<Decision> {
        Ways {
            down: self.ways.down.decide(now),
            up: self.ways.up.decide(now),
        }
    }
}
