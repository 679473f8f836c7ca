//! Questions to the kernel about routes and queues (rtnetlink(7)).

use core::time::Duration;
use netlink_packet_core::{NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, connect, send, socket_with};
use std::os::fd::OwnedFd;

/// The kernel answers at once.
const PATIENCE: Duration = Duration::from_secs(1);

/// A socket to the kernel, in this network namespace.
///
/// # Errors
/// If there is none.
pub fn socket() -> Result<OwnedFd, Errno> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    // NETLINK_ROUTE is the protocol 0.
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    connect(&socket, &SocketAddrNetlink::new(0, 0))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    Ok(socket)
}

/// Asks `question`, with `flags` beside that of every request.
///
/// # Errors
/// If the kernel does not take it.
pub fn ask(socket: &OwnedFd, flags: u16, question: RouteNetlinkMessage) -> Result<(), Errno> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::from(question));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    send(socket, &bytes, SendFlags::empty())?;
    Ok(())
}
