//! End points: one end of a connection or of a media session, and its socket.

use crate::error::{Failure, Tried};
use crate::socket::{self, Came, Marking, Received};
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use std::collections::VecDeque;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use transport::endpoint::UDP_HEADERS;
use transport::{Endpoint, Transmit, Wire};
use units::{FlowId, Instant};

/// One end point.
pub struct End {
    /// Its kind.
    pub kind: EndKind,
    /// The earliest of its timers in the agenda.
    pub scheduled: Instant,
    /// How often its number was used before.
    pub used: u32,
}

/// The kind of an end point.
pub enum EndKind {
    /// The end of a TCP connection that has not arrived yet, and the markings of its packets.
    Listener(TcpListener, Marking),
    /// An end of a TCP connection.
    Stream(TcpStreamEnd),
    /// Datagrams, and their transport.
    Datagrams(Box<Datagrams>),
    /// Closed.
    Closed,
}

/// An end of a TCP connection.
pub struct TcpStreamEnd {
    fd: OwnedFd,
    /// The handshake is complete.
    pub connected: bool,
    /// Bytes that the socket has not taken yet.
    pending: u64,
    /// The application gave data since it was last notified of room.
    gave: bool,
    /// The socket is watched for room.
    watched: bool,
}

/// The meaning of a socket's readiness.
pub enum Ready {
    /// So many bytes arrived.
    Came(u64),
    /// The handshake is complete.
    Connected,
    /// There is room for more.
    Room,
    /// No event.
    Nothing,
}

impl TcpStreamEnd {
    /// A connection, whose handshake is complete if `connected`.
    pub fn new(fd: OwnedFd, connected: bool, epoll: &Epoll, token: u64) -> Result<Self, Failure> {
        let mut flags = EpollFlags::EPOLLIN;
        if !connected {
            flags |= EpollFlags::EPOLLOUT;
        }
        epoll
            .add(&fd, EpollEvent::new(flags, token))
            .tried("epoll")?;
        Ok(TcpStreamEnd {
            fd,
            connected,
            pending: 0,
            gave: false,
            watched: !connected,
        })
    }

    fn watch(&mut self, epoll: &Epoll, token: u64, room: bool) -> Result<(), Failure> {
        if self.watched == room {
            return Ok(());
        }
        self.watched = room;
        let mut flags = EpollFlags::EPOLLIN;
        if room {
            flags |= EpollFlags::EPOLLOUT;
        }
        let mut event = EpollEvent::new(flags, token);
        epoll.modify(&self.fd, &mut event).tried("epoll")
    }

    /// The application gives `bytes` more.
    pub fn send(
        &mut self,
        epoll: &Epoll,
        token: u64,
        filler: &[u8],
        bytes: u64,
    ) -> Result<(), Failure> {
        let waits = self.pending > 0;
        self.pending += bytes;
        self.gave = true;
        if self.connected && !waits {
            self.pending -= socket::give(&self.fd, filler, self.pending)?;
            self.watch(epoll, token, true)?;
        }
        Ok(())
    }

    /// The socket is ready.
    pub fn ready(
        &mut self,
        epoll: &Epoll,
        token: u64,
        flags: EpollFlags,
        (filler, room): (&[u8], &mut [u8]),
    ) -> Result<Ready, Failure> {
        if flags.intersects(EpollFlags::EPOLLERR) {
            socket::state(&self.fd)?;
        }
        if flags.contains(EpollFlags::EPOLLIN) {
            return match socket::take(&self.fd, room)? {
                Came::Bytes(bytes) => Ok(Ready::Came(bytes)),
                Came::Nothing => Ok(Ready::Nothing),
                Came::End => {
                    // Both ends are closed together, so the other one broke down.
                    Err(Failure::new("a connection", "its peer has gone away"))
                }
            };
        }
        if !self.connected {
            self.connected = true;
            self.watch(epoll, token, self.gave)?;
            return Ok(Ready::Connected);
        }
        if self.pending > 0 {
            self.pending -= socket::give(&self.fd, filler, self.pending)?;
            return Ok(Ready::Nothing);
        }
        self.watch(epoll, token, false)?;
        let gave = core::mem::take(&mut self.gave);
        Ok(if gave { Ready::Room } else { Ready::Nothing })
    }
}

/// An end of a flow of datagrams.
pub struct Datagrams {
    /// One for each subflow.
    sockets: Vec<OwnedFd>,
    /// The transport that makes and reads them.
    pub maker: Endpoint,
    /// The flow, if this end sends most of its data: its control's findings are events.
    pub reports: Option<FlowId>,
    /// When the transport was last asked: its time does not go back.
    pub asked: Instant,
    marking: Marking,
    /// Datagrams under way from here.
    outbox: Outbox,
}

/// Datagrams under way, by number; those lost on the way are forgotten in time.
#[derive(Default)]
struct Outbox {
    /// The number of the first.
    first: u64,
    wires: VecDeque<Option<Wire>>,
}

/// More are never under way: at a full packet each, a minute of 13 Mbit/s.
const MOST_UNDER_WAY: usize = 1 << 16;

impl Outbox {
    /// Stores the contents of a datagram; returns its number.
    fn put(&mut self, wire: Wire) -> u64 {
        if self.wires.len() == MOST_UNDER_WAY {
            self.wires.pop_front();
            self.first += 1;
        }
        self.wires.push_back(Some(wire));
        self.first + self.wires.len() as u64 - 1
    }

    /// The contents of the datagram with this number, once.
    fn take(&mut self, number: u64) -> Option<Wire> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let wire = self.wires.get_mut(place)?.take();
        while let Some(None) = self.wires.front() {
            self.wires.pop_front();
            self.first += 1;
        }
        wire
    }
}

impl Datagrams {
    /// An end of a flow of datagrams, with a socket for each of the `maker`'s subflows.
    pub fn new(
        sockets: Vec<OwnedFd>,
        maker: Endpoint,
        marking: Marking,
        epoll: &Epoll,
        token: u64,
    ) -> Result<Self, Failure> {
        for socket in &sockets {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, token);
            epoll.add(socket, event).tried("epoll")?;
        }
        Ok(Datagrams {
            sockets,
            maker,
            reports: None,
            asked: Instant::ZERO,
            marking,
            outbox: Outbox::default(),
        })
    }

    /// Subflows.
    pub fn subflows(&self) -> usize {
        self.sockets.len()
    }

    /// A datagram of a subflow that has come: its number and what the kernel says of it.
    pub fn receive(
        &mut self,
        subflow: usize,
        control: &mut [u8],
    ) -> Result<Option<(u64, Received)>, Failure> {
        let mut head = [0; 8];
        let received = socket::receive_datagram(&self.sockets[subflow], &mut head, control)?;
        let whole = received.filter(|received| received.length == head.len());
        Ok(whole.map(|received| (u64::from_be_bytes(head), received)))
    }

    /// The contents of a datagram from here.
    pub fn said(&mut self, number: u64) -> Option<Wire> {
        self.outbox.take(number)
    }

    /// Puts a packet on the wire, in its full length.
    pub fn send(&mut self, transmit: Transmit, room: &mut [u8]) -> Result<(), Failure> {
        let tos = self.marking.tos & !3 | transmit.ecn.bits();
        if tos != self.marking.tos {
            self.marking.tos = tos;
            for socket in &self.sockets {
                socket::mark(socket, self.marking)?;
            }
        }
        let length = transmit.len.saturating_sub(UDP_HEADERS).max(8) as usize;
        let Some(payload) = room.get_mut(..length) else {
            let reason = format!("{length} bytes are more than a datagram can have");
            return Err(Failure::new("sending a datagram", reason));
        };
        let subflow = usize::from(transmit.packet.subflow());
        let number = self.outbox.put(transmit.packet);
        payload[..8].copy_from_slice(&number.to_be_bytes());
        socket::send_datagram(&self.sockets[subflow], payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport::media;

    fn said(frame: u64) -> Wire {
        Wire::Feedback(media::Feedback::Part {
            stream: 0,
            rtp: frame,
        })
    }

    #[test]
    fn datagrams_say_what_they_said_once_in_any_order() {
        let mut outbox = Outbox::default();
        let numbers: Vec<u64> = (0..5).map(|frame| outbox.put(said(frame))).collect();
        assert_eq!(outbox.take(numbers[2]), Some(said(2)));
        assert_eq!(outbox.take(numbers[2]), None, "a copy says nothing");
        assert_eq!(outbox.take(numbers[0]), Some(said(0)));
        assert_eq!(outbox.take(numbers[1]), Some(said(1)));
        assert_eq!(outbox.take(99), None);
        assert_eq!(outbox.wires.len(), 2, "3 and 4 are under way");
    }

    #[test]
    fn lost_datagrams_are_forgotten() {
        let mut outbox = Outbox::default();
        let lost = outbox.put(said(0));
        for frame in 1..=MOST_UNDER_WAY as u64 {
            outbox.put(said(frame));
        }
        assert_eq!(outbox.wires.len(), MOST_UNDER_WAY);
        assert_eq!(outbox.take(lost), None);
        assert_eq!(outbox.take(1), Some(said(1)));
    }
}
