//! What the kernel saw arrive of a connection. What was only handed over may lie in a queue, and what is read waits for
//! what was lost before it; and what was sent twice took its room on the line, too.

use crate::Problem;
use netlink_packet_core::{NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_packet_sock_diag::{AF_INET, AF_INET6, IPPROTO_TCP, SockDiagMessage};
use rustix::io::Errno;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::net::{connect, recv, send, socket_with};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The kernel answers at once.
const PATIENCE: Duration = Duration::from_secs(1);
/// An answer is shorter. Bytes.
const ANSWER: usize = 4096;
/// Where a `tcp_info` (uapi/linux/tcp.h) has: its state of congestion, the size of segments that come, the round trip as a
/// sender and as a receiver knows it in µs, segments that were sent again, bytes
/// that came in order, segments with data that came, were sent and arrived at the other end, what was sent in them, and segments that came twice there or
/// out of order here. Linux has the last since 5.4.
const CA_STATE: usize = 1;
const RCV_MSS: usize = 20;
const RTT: usize = 68;
const RCV_RTT: usize = 92;
const TOTAL_RETRANS: usize = 100;
const BYTES_RECEIVED: usize = 128;
const DATA_SEGS_IN: usize = 152;
const DATA_SEGS_OUT: usize = 156;
const DELIVERED: usize = 192;
const BYTES_SENT: usize = 200;
const DSACK_DUPS: usize = 216;
const RCV_OOOPACK: usize = 224;
/// Segments that were sent again, of which the other end has not yet said that it had them: in a queue that grows
/// quickly TCP takes what waits for lost.
const LATE: u64 = 2;
/// The first of the two states in which a sender makes good what was lost (TCP_CA_Recovery, TCP_CA_Loss).
const RECOVERY: u64 = 3;
/// Any socket of these addresses (uapi/linux/inet_diag.h, INET_DIAG_NOCOOKIE).
const NO_COOKIE: [u8; 8] = [0xff; 8];

/// What the kernel counted of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments with data that came; several that a virtual device hands over as one are one.
    pub came: u64,
    /// Bytes that came, up to the first that lacks.
    pub received: u64,
    /// The size of segments that come, in bytes, as the kernel believes: it falls when short ones come.
    pub size: u64,
    /// Bytes of segments with data that arrived at the other end, each as long as the mean of those that were sent.
    pub delivered: u64,
    /// Whether segments came out of order, or were sent again and had not arrived before: something was lost.
    pub lost: bool,
    /// Segments with data that were sent, again or not.
    pub sent: u64,
    /// Segments that came while one before them lacked.
    pub odd: u64,
    /// Whether this end sends again what was lost.
    pub recovers: bool,
    /// The round trip as the end that sends knows it, and as the one that receives does, in µs; 0 if it does not.
    pub rtt_us: [u64; 2],
}

/// The kernel, asked about this host's own sockets (sock_diag(7)).
#[derive(Debug)]
pub struct Kernel(OwnedFd);

impl Kernel {
    /// A way to ask.
    ///
    /// # Errors
    /// If the system has none.
    pub fn open() -> Result<Self, Problem> {
        let opened = || {
            let flags = SocketFlags::CLOEXEC;
            let socket = socket_with(
                AddressFamily::NETLINK,
                SocketType::RAW,
                flags,
                Some(SOCK_DIAG),
            )?;
            connect(&socket, &SocketAddrNetlink::new(0, 0))?;
            set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
            Ok(Kernel(socket))
        };
        opened().map_err(|error: Errno| Problem::system("sock_diag", error.into()))
    }

    /// What was counted of the connection from this host's `from` to `to`; none if there is no such connection, or
    /// the kernel does not tell (CONFIG_INET_DIAG).
    pub fn counts(&self, from: SocketAddr, to: SocketAddr) -> Option<Counts> {
        send(&self.0, &question(from, to), SendFlags::empty()).ok()?;
        let mut buffer = [0; ANSWER];
        let (read, _) = recv(&self.0, &mut buffer[..], RecvFlags::empty()).ok()?;
        told(&buffer[..read])
    }
}

fn question(from: SocketAddr, to: SocketAddr) -> Vec<u8> {
    let question = InetRequest {
        family: if from.is_ipv4() { AF_INET } else { AF_INET6 },
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO,
        states: StateFlags::all(),
        socket_id: SocketId {
            source_port: from.port(),
            destination_port: to.port(),
            source_address: from.ip(),
            destination_address: to.ip(),
            interface_id: 0,
            cookie: NO_COOKIE,
        },
    };
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST;
    let payload = NetlinkPayload::from(SockDiagMessage::InetRequest(question));
    let mut message = NetlinkMessage::new(header, payload);
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn told(answer: &[u8]) -> Option<Counts> {
    let message = NetlinkMessage::<SockDiagMessage>::deserialize(answer).ok()?;
    let NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) = message.payload
    else {
        return None;
    };
    response.nlas.iter().find_map(|attribute| match attribute {
        Nla::TcpInfo(info) => {
            let word = |at| number::<4>(info, at);
            let sent = word(DATA_SEGS_OUT)?;
            let odd = word(RCV_OOOPACK)?;
            Some(Counts {
                came: word(DATA_SEGS_IN)?,
                received: number::<8>(info, BYTES_RECEIVED)?,
                size: word(RCV_MSS)?,
                delivered: word(DELIVERED)? * number::<8>(info, BYTES_SENT)? / sent.max(1),
                lost: word(TOTAL_RETRANS)? > word(DSACK_DUPS)? + LATE || odd > 0,
                sent,
                odd,
                recovers: number::<1>(info, CA_STATE)? >= RECOVERY,
                rtt_us: [word(RTT)?, word(RCV_RTT)?],
            })
        }
        _ => None,
    })
}

/// The number of `N` bytes at `at`.
fn number<const N: usize>(info: &[u8], at: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    let place = if cfg!(target_endian = "big") {
        8 - N
    } else {
        0
    };
    bytes[place..place + N].copy_from_slice(info.get(at..at + N)?);
    Some(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn what_came_is_told_at_both_ends_and_of_nothing_else() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let mut stream = TcpStream::connect(to).unwrap();
        let mut other = listener.accept().unwrap().0;
        stream.write_all(&[0; 5000]).unwrap();
        other.read_exact(&mut [0; 5000]).unwrap();
        let from = stream.local_addr().unwrap();
        let kernel = Kernel::open().unwrap();
        let [sent, came] = [kernel.counts(from, to), kernel.counts(to, from)].map(Option::unwrap);
        assert_eq!((sent.came, sent.lost, came.lost), (0, false, false));
        assert!(
            sent.delivered >= 5000 && came.came * came.size >= 5000,
            "{sent:?} {came:?}"
        );
        assert_eq!(kernel.counts(from, SocketAddr::new(to.ip(), 1)), None);
    }

    #[test]
    fn an_answer_of_another_kind_tells_nothing() {
        for answer in [&[][..], &[0; 16], &[255; 64]] {
            assert_eq!(told(answer), None);
        }
    }
}
