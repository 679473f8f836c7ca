//! Pacers of several hosts behind one line: they tell each other what they want, and share its rate.
//!
//! Five times a second each sends its demand to the others of its link, with a key that all have. The demand of
//! a message counts if its sender has just heard this host: an old message that somebody sends again has not.
//! Each takes the max-min fair part, so that a member that says too much gets no more than any other, and one
//! that is gone is forgotten after a second.

mod members;
mod message;

use crate::Error;
use members::Members;
use message::{HouseholdKey, HouseholdMessage, LONGEST};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind};
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use units::{Duration, Instant, Rate};

/// The group of the link's pacers: transient, of link-local scope (RFC 4291, 2.7), so that no router passes it on.
const GROUP: Ipv6Addr = Ipv6Addr::new(0xff12, 0, 0, 0, 0, 0x616e, 0x616c, 0x6563);
/// The UDP port of the messages.
const PORT: u16 = 4432;
/// Time between two messages.
const EVERY: Duration = Duration::from_millis(200);
/// Messages that are read at a turn: more than a household sends meanwhile.
const BATCH: usize = 256;

/// This host's place among the pacers of its household.
pub struct Household {
    socket: UdpSocket,
    device: u32,
    key: HouseholdKey,
    members: Members,
    due: Instant,
    /// Why the last message was not sent.
    trouble: Option<String>,
}

/// How the household stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What this host may take.
    pub share: Rate,
    /// Other members.
    pub others: usize,
    /// Why the others cannot be told anything.
    pub trouble: Option<String>,
}

impl Household {
    /// Joins those who have the same secret, on the link of the device with this index.
    ///
    /// # Errors
    /// If the device has no IPv6, or another program has the port.
    pub fn join(device: u32, secret: &[u8]) -> Result<Self, Error> {
        let failed = |error: io::Error| {
            Error::new(
                format!("the household cannot be joined over UDP port {PORT}: {error}"),
                "the device needs an IPv6 address, and no other program may have the port",
            )
        };
        let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, PORT)).map_err(failed)?;
        socket.join_multicast_v6(&GROUP, device).map_err(failed)?;
        socket.set_multicast_loop_v6(false).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(Household {
            socket,
            device,
            key: HouseholdKey::of(secret),
            members: Members::new(RandomState::new().hash_one("pacer")),
            due: Instant::ZERO,
            trouble: None,
        })
    }

    /// Hears the others, and tells them what this host wants of `total` where that is due. To be called at least
    /// five times a second.
    pub fn turn(&mut self, now: Instant, total: Rate, demand: Rate) -> Turn {
        self.hear(now);
        if now >= self.due {
            self.due = now + EVERY;
            let message = self.members.next(now, demand).encode(&self.key);
            let group = SocketAddrV6::new(GROUP, PORT, 0, self.device);
            let sent = self.socket.send_to(&message, group);
            self.trouble = sent.err().map(|error| error.to_string());
        }
        Turn {
            share: self.members.share(now, total),
            others: self.members.count(now),
            trouble: self.trouble.clone(),
        }
    }

    fn hear(&mut self, now: Instant) {
        let mut bytes = [0; LONGEST + 1];
        for _ in 0..BATCH {
            let (length, from) = match self.socket.recv_from(&mut bytes) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // Nothing more; or what an earlier message met on its way, which is of no interest.
                Err(_) => return,
            };
            // Of this link only: others share another line.
            let here = matches!(from, SocketAddr::V6(from) if from.scope_id() == self.device);
            if let Some(message) =
                HouseholdMessage::decode(&bytes[..length], &self.key).filter(|_| here)
            {
                self.members.hear(now, &message);
            }
        }
    }
}
