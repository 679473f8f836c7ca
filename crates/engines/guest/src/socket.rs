//! Sockets as this program needs them: non-blocking, with a priority that selects their delay.

use crate::error::{Failure, Tried};
use nix::errno::Errno;
use nix::sys::socket::sockopt::{self, IpRecvTos, Ipv4Tos, Priority, TcpCongestion};
use nix::sys::socket::{
    AddressFamily, Backlog, ControlMessageOwned, MsgFlags, SockFlag, SockType, SockaddrIn, bind,
    connect, getsockopt, listen, recv, recvmsg, send, setsockopt, socket,
};
use nix::sys::time::TimeSpec;
use std::ffi::OsString;
use std::io::IoSliceMut;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, OwnedFd};

/// The markings of all packets of one end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marking {
    /// `SO_PRIORITY`: the class of the delay.
    pub priority: u32,
    /// Code point and ECN field.
    pub tos: u8,
}

/// Sets code point and priority, in this order: `IP_TOS` sets a priority of its own.
pub fn mark(socket: &OwnedFd, marking: Marking) -> Result<(), Failure> {
    setsockopt(socket, Ipv4Tos, &i32::from(marking.tos)).tried("IP_TOS")?;
    setsockopt(socket, Priority, &(marking.priority as i32)).tried("SO_PRIORITY")
}

fn new(kind: SockType, own: SockaddrIn, marking: Marking) -> Result<OwnedFd, Failure> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet, kind, flags, None).tried("a socket")?;
    setsockopt(&fd, sockopt::ReuseAddr, &true).tried("SO_REUSEADDR")?;
    mark(&fd, marking)?;
    bind(fd.as_raw_fd(), &own).tried(&format!("binding to {own}"))?;
    Ok(fd)
}

fn tcp(own: SockaddrIn, marking: Marking, control: &str) -> Result<OwnedFd, Failure> {
    let fd = new(SockType::Stream, own, marking)?;
    setsockopt(&fd, TcpCongestion, &OsString::from(control))
        .tried(&format!("TCP_CONGESTION {control}"))?;
    setsockopt(&fd, sockopt::TcpNoDelay, &true).tried("TCP_NODELAY")?;
    Ok(fd)
}

/// A socket that waits for one connection.
pub fn listener(own: SockaddrIn, marking: Marking, control: &str) -> Result<TcpListener, Failure> {
    let fd = tcp(own, marking, control)?;
    listen(&fd, Backlog::new(1).tried("backlog")?).tried("listening")?;
    Ok(TcpListener::from(fd))
}

/// Takes the connection that a listener waited for. It has the listener's settings, except for the
/// priority, which Linux sets to 0 (`sk_clone_lock`).
pub fn accept(listener: &TcpListener, marking: Marking) -> Result<OwnedFd, Failure> {
    let (stream, _) = listener.accept().tried("accepting")?;
    stream.set_nonblocking(true).tried("accepting")?;
    let fd = OwnedFd::from(stream);
    mark(&fd, marking)?;
    Ok(fd)
}

/// Starts to connect.
pub fn open(
    own: SockaddrIn,
    peer: SockaddrIn,
    marking: Marking,
    control: &str,
) -> Result<OwnedFd, Failure> {
    let fd = tcp(own, marking, control)?;
    match connect(fd.as_raw_fd(), &peer) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(fd),
        Err(error) => Err(Failure::new(format!("connecting {own} to {peer}"), error)),
    }
}

/// The error state of a connection.
pub fn state(fd: &OwnedFd) -> Result<(), Failure> {
    match getsockopt(fd, sockopt::SocketError).tried("SO_ERROR")? {
        0 => Ok(()),
        code => Err(Failure::new("a connection", Errno::from_raw(code))),
    }
}

/// Gives at most `most` bytes of `filler` to a connection; 0 if it takes none now.
pub fn give(fd: &OwnedFd, filler: &[u8], most: u64) -> Result<u64, Failure> {
    let most = most.min(filler.len() as u64) as usize;
    match send(fd.as_raw_fd(), &filler[..most], MsgFlags::MSG_NOSIGNAL) {
        Ok(bytes) => Ok(bytes as u64),
        Err(Errno::EAGAIN) => Ok(0),
        Err(error) => Err(Failure::new("sending", error)),
    }
}

/// The outcome of reading a connection.
pub enum Came {
    /// So many bytes.
    Bytes(u64),
    /// No data now.
    Nothing,
    /// The end.
    End,
}

/// Reads the data that has arrived and discards it: with `MSG_TRUNC`, TCP does not even copy it
/// (tcp(7)).
pub fn take(fd: &OwnedFd, room: &mut [u8]) -> Result<Came, Failure> {
    match recv(fd.as_raw_fd(), room, MsgFlags::MSG_TRUNC) {
        Ok(0) => Ok(Came::End),
        Ok(bytes) => Ok(Came::Bytes(bytes as u64)),
        Err(Errno::EAGAIN) => Ok(Came::Nothing),
        Err(error) => Err(Failure::new("receiving", error)),
    }
}

/// One end of a flow of datagrams.
pub fn datagrams(own: SockaddrIn, peer: SockaddrIn, marking: Marking) -> Result<OwnedFd, Failure> {
    let fd = new(SockType::Datagram, own, marking)?;
    setsockopt(&fd, IpRecvTos, &true).tried("IP_RECVTOS")?;
    setsockopt(&fd, sockopt::ReceiveTimestampns, &true).tried("SO_TIMESTAMPNS")?;
    connect(fd.as_raw_fd(), &peer).tried(&format!("connecting {own} to {peer}"))?;
    Ok(fd)
}

/// Sends a datagram. A full queue drops it here, as it would anywhere else on its way; so does a
/// peer that is gone already.
pub fn send_datagram(fd: &OwnedFd, payload: &[u8]) -> Result<(), Failure> {
    match send(fd.as_raw_fd(), payload, MsgFlags::MSG_NOSIGNAL) {
        Ok(_) | Err(Errno::ENOBUFS | Errno::EAGAIN | Errno::ECONNREFUSED) => Ok(()),
        Err(error) => Err(Failure::new("sending a datagram", error)),
    }
}

/// What the kernel says of a datagram that was received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Received {
    /// Its length, as far as it was read.
    pub length: usize,
    /// The TOS byte of its header.
    pub tos: u8,
    /// When it came, on `CLOCK_REALTIME`, in nanoseconds; however late this process reads it.
    pub stamp: Option<u64>,
}

/// Room for what the kernel says of a datagram.
pub fn control() -> Vec<u8> {
    nix::cmsg_space!(u8, TimeSpec)
}

/// Receives the start of a datagram into `head`. None if none has arrived.
pub fn receive_datagram(
    fd: &OwnedFd,
    head: &mut [u8],
    control: &mut [u8],
) -> Result<Option<Received>, Failure> {
    let mut parts = [IoSliceMut::new(head)];
    let received = recvmsg::<()>(fd.as_raw_fd(), &mut parts, Some(control), MsgFlags::empty());
    let message = match received {
        Ok(message) => message,
        Err(Errno::EAGAIN | Errno::ECONNREFUSED) => return Ok(None),
        Err(error) => return Err(Failure::new("receiving a datagram", error)),
    };
    let mut received = Received {
        length: message.bytes,
        ..Received::default()
    };
    for ancillary in message.cmsgs().tried("ancillary data")? {
        match ancillary {
            ControlMessageOwned::Ipv4Tos(field) => received.tos = field,
            ControlMessageOwned::ScmTimestampns(time) => received.stamp = Some(nanos(time)),
            _ => {}
        }
    }
    Ok(Some(received))
}

/// A moment of the kernel's, in nanoseconds.
pub fn nanos(time: TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::time::{ClockId, clock_gettime};

    #[test]
    fn a_datagram_came_when_the_kernel_got_it_and_not_when_it_was_read() {
        let realtime = || nanos(clock_gettime(ClockId::CLOCK_REALTIME).unwrap());
        let marking = Marking {
            priority: 0,
            tos: 0b1011_1001,
        };
        // The kernel chooses two ports, whose sockets are closed again.
        let free = [0; 2].map(|_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
        let ports = free.map(|socket| socket.local_addr().unwrap().port());
        let [one, other] = ports.map(|port| SockaddrIn::new(127, 0, 0, 1, port));
        let sender = datagrams(one, other, marking).unwrap();
        let receiver = datagrams(other, one, marking).unwrap();
        // The kernel begins to stamp some time after the first socket asks for it, and until then a stamp
        // is the moment of reading.
        let stamped = (0..500).any(|_| {
            let before = realtime();
            send_datagram(&sender, b"12345678").unwrap();
            let after = realtime();
            std::thread::sleep(std::time::Duration::from_millis(20));
            let mut head = [0; 8];
            let received = receive_datagram(&receiver, &mut head, &mut control()).unwrap();
            let received = received.unwrap();
            assert_eq!((received.length, received.tos), (8, marking.tos));
            (before..=after).contains(&received.stamp.unwrap())
        });
        assert!(stamped);
    }
}
