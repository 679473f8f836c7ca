//! Sockets and the clock for a [`Node`].

use crate::Problem;
use crate::identity::Identity;
use crate::limits::Ledger;
use crate::node::{News, Node, Outgoing, SOCKETS, Wish};
use crate::report::Report;
use cca::tonopah::Settings;
use noq_proto::EcnCodepoint;
use noq_udp::{RecvMeta, Transmit, UdpSocketState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often `stop` is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// The longest datagram is read whole. Bytes.
const LONGEST: usize = 65_535;
/// Datagrams that are read in one go before any is sent.
const BATCH: usize = 64;
/// Kernel buffer of a socket: 100 Mbit/s for 80 ms. Bytes.
const BUFFER: usize = 1 << 20;

/// A server on its socket.
pub struct ProbeServer {
    node: Node,
    sockets: Sockets,
}

impl ProbeServer {
    /// A server that listens on `address`; port 0 takes a free one. `[::]` on a kernel without IPv6 is
    /// `0.0.0.0`.
    ///
    /// # Errors
    /// If the address is taken, or TLS cannot be set up.
    pub fn bind(
        address: SocketAddr,
        identity: &Identity,
        ledger: Ledger,
        settings: Settings,
    ) -> Result<Self, Problem> {
        let bound = bound(address, Bound::to);
        Ok(ProbeServer {
            node: Node::server(identity, ledger, settings, None)?,
            sockets: Sockets::of(vec![bound.map_err(|error| at(&[address], &error))?]),
        })
    }

    /// The address on which it listens.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn address(&self) -> Result<SocketAddr, Problem> {
        let socket = &self.sockets.0[0].socket;
        socket.local_addr().map_err(|e| Problem::io("socket", &e))
    }

    /// Connections that are open or closing.
    pub fn connections(&self) -> usize {
        self.node.connections()
    }

    /// Serves until `stop` is set.
    ///
    /// # Errors
    /// If the system denies a socket.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<(), Problem> {
        while !stop.load(Ordering::Relaxed) {
            self.sockets.turn(&mut self.node)?;
        }
        Ok(())
    }
}

/// Probes the path to the server at `remote`, and hands every report to `seen` on arrival; the last
/// one is returned. Ends early when `stop` is set, with the last report that came.
///
/// # Errors
/// If the server does not answer, has another pin, or refuses; if it breaks the protocol; if the
/// system denies sockets.
pub fn probe(
    remote: SocketAddr,
    wish: &Wish,
    settings: Settings,
    stop: &AtomicBool,
    mut seen: impl FnMut(&Report),
) -> Result<Report, Problem> {
    let any: SocketAddr = match remote {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let mut sockets = Sockets::new(&[any; SOCKETS])?;
    let mut node = Node::client(clock(), remote, wish, settings, None)?;
    let mut last = None;
    loop {
        sockets.turn(&mut node)?;
        while let Some(news) = node.news() {
            match news {
                News::Seen(report) => {
                    seen(&report);
                    last = Some(report);
                }
                News::Done(report) => {
                    // The farewell leaves with the next turn.
                    sockets.send(&mut node)?;
                    return Ok(report);
                }
                News::Failed(problem) => return Err(problem),
            }
        }
        if stop.load(Ordering::Relaxed) {
            let none = || Problem::Unreachable("stopped before the first report".to_owned());
            return last.ok_or_else(none);
        }
    }
}

struct Bound {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl Bound {
    fn to(address: SocketAddr) -> std::io::Result<Self> {
        let socket = socket(address, Type::DGRAM)?;
        socket.bind(&address.into())?;
        let socket = UdpSocket::from(socket);
        let state = UdpSocketState::new((&socket).into())?;
        // Smaller buffers than wanted are no reason to give up.
        let _ = state.set_recv_buffer_size((&socket).into(), BUFFER);
        let _ = state.set_send_buffer_size((&socket).into(), BUFFER);
        Ok(Bound { socket, state })
    }
}

/// A socket for `address`, not yet bound. That of any address answers IPv4 too, whatever `net.ipv6.bindv6only` says.
///
/// # Errors
/// If the system has none of the family.
pub fn socket(address: SocketAddr, kind: Type) -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, None)?;
    if address.ip() == Ipv6Addr::UNSPECIFIED {
        socket.set_only_v6(false)?;
    }
    Ok(socket)
}

/// Binds `address`. Where that is any address of IPv6 and the kernel has no IPv6, it is any of IPv4.
fn bound<T>(
    address: SocketAddr,
    mut bind: impl FnMut(SocketAddr) -> std::io::Result<T>,
) -> std::io::Result<T> {
    let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, address.port()));
    match bind(address) {
        Err(error) if address == any && lacks_ipv6(&error) => {
            bind((Ipv4Addr::UNSPECIFIED, address.port()).into())
        }
        bound => bound,
    }
}

/// Whether it is for want of IPv6: `ipv6.disable=1`, a service that is not allowed the family, or a host
/// whose devices have no address of it.
fn lacks_ipv6(error: &std::io::Error) -> bool {
    let lacks = [Errno::AFNOSUPPORT, Errno::ADDRNOTAVAIL];
    lacks
        .iter()
        .any(|lack| error.raw_os_error() == Some(lack.raw_os_error()))
}

fn at(addresses: &[SocketAddr], error: &std::io::Error) -> Problem {
    Problem::io(&format!("{addresses:?}"), error)
}

struct Sockets(Vec<Bound>, Vec<u8>);

impl Sockets {
    fn new(addresses: &[SocketAddr]) -> Result<Self, Problem> {
        let bound: std::io::Result<Vec<Bound>> = addresses.iter().copied().map(Bound::to).collect();
        let bound = bound.map_err(|error| at(addresses, &error))?;
        Ok(Sockets::of(bound))
    }

    fn of(bound: Vec<Bound>) -> Self {
        Sockets(bound, vec![0; LONGEST])
    }

    /// Sends due packets, waits for the first of a datagram and the next timeout, and reads.
    fn turn(&mut self, node: &mut Node) -> Result<(), Problem> {
        self.send(node)?;
        let now = clock();
        let wait = node
            .next_timeout()
            .map_or(LOOK, |at| at.saturating_duration_since(now));
        self.wait(wait.min(LOOK))?;
        for socket in 0..self.0.len() {
            self.receive(node, socket)?;
        }
        let now = clock();
        if node.next_timeout().is_some_and(|at| at <= now) {
            node.timeout(now);
        }
        Ok(())
    }

    fn wait(&self, span: Duration) -> Result<(), Problem> {
        let mut fds: Vec<PollFd<'_>> = self
            .0
            .iter()
            .map(|bound| PollFd::new(&bound.socket, PollFlags::IN))
            .collect();
        let span = Timespec {
            tv_sec: span.as_secs() as i64,
            tv_nsec: span.subsec_nanos().into(),
        };
        match poll(&mut fds, Some(&span)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(e) => Err(Problem::io("poll", &e.into())),
        }
    }

    fn receive(&mut self, node: &mut Node, socket: usize) -> Result<(), Problem> {
        for _ in 0..BATCH {
            let bound = &self.0[socket];
            let mut meta = [RecvMeta::default()];
            let mut into = [IoSliceMut::new(&mut self.1)];
            match bound
                .state
                .recv((&bound.socket).into(), &mut into, &mut meta)
            {
                Ok(_) => {}
                Err(e) if passes(e.kind()) => return Ok(()),
                Err(e) => return Err(Problem::io("receive", &e)),
            }
            let RecvMeta {
                addr,
                len,
                stride,
                ecn,
                dst_ip,
                ..
            } = meta[0];
            let ecn = ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8));
            let now = clock();
            for data in self.1[..len].chunks(stride.max(1)) {
                node.datagram(now, socket, addr, dst_ip, ecn, data);
            }
        }
        Ok(())
    }

    fn send(&mut self, node: &mut Node) -> Result<(), Problem> {
        let now = clock();
        while let Some(outgoing) = node.transmit(now) {
            let Outgoing {
                socket,
                to,
                from,
                ecn,
                data,
            } = outgoing;
            let bound = &self.0[socket];
            let transmit = Transmit {
                destination: to,
                ecn: ecn.and_then(|ecn| noq_udp::EcnCodepoint::from_bits(ecn as u8)),
                contents: &data,
                segment_size: None,
                src_ip: from,
            };
            match bound.state.try_send((&bound.socket).into(), &transmit) {
                Ok(()) => {}
                // A datagram that finds no room is lost, as in any other queue.
                Err(e) if passes(e.kind()) => {}
                Err(e) => return Err(Problem::io(&format!("send to {to}"), &e)),
            }
        }
        Ok(())
    }
}

/// Whether a socket is well though this call failed. Networks that are away for a moment, or that
/// refuse a datagram, show in QUIC's own timeouts.
fn passes(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::PermissionDenied
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "a probe measures real time, and is never a result"
)]
fn clock() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_ipv6_any_address_is_one_of_ipv4() {
        let tried = |address: &str, refused: Errno| {
            let mut tried = Vec::new();
            let bound = bound(address.parse().unwrap(), |address| {
                tried.push(address.to_string());
                match address {
                    SocketAddr::V4(_) => Ok(()),
                    SocketAddr::V6(_) => Err(refused.into()),
                }
            });
            (bound.is_ok(), tried)
        };
        let both = vec!["[::]:7411".to_owned(), "0.0.0.0:7411".to_owned()];
        for lack in [Errno::AFNOSUPPORT, Errno::ADDRNOTAVAIL] {
            assert_eq!(tried("[::]:7411", lack), (true, both.clone()));
        }
        // One that is taken, or that was named, is what it is.
        let one = |address: &str| vec![address.to_owned()];
        assert_eq!(
            tried("[::]:7411", Errno::ADDRINUSE),
            (false, one("[::]:7411"))
        );
        assert_eq!(
            tried("[::1]:7411", Errno::AFNOSUPPORT),
            (false, one("[::1]:7411"))
        );
    }
}
