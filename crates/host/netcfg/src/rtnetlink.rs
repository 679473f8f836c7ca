//! Questions to the kernel about routes and queues (rtnetlink(7)).

use core::time::Duration;
use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader,
    NetlinkMessage, NetlinkPayload, NetlinkSerializable, Parseable,
};
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

/// A question of one kind: the kernel's number of it (linux/rtnetlink.h), and what it says. The library's enum of all
/// kinds brings their readers, and is a twentieth of a router's program.
pub struct Question<T> {
    /// The number.
    pub kind: u16,
    /// What it says.
    pub of: T,
}

impl<T: Emitable> NetlinkSerializable for Question<T> {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.of.buffer_len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        self.of.emit(buffer);
    }
}

/// An answer of the kind with the number `KIND`; none if it is of another.
#[derive(Debug)]
pub struct NetlinkAnswer<T, const KIND: u16>(pub Option<T>);

impl<T: Parseable<[u8]>, const KIND: u16> NetlinkDeserializable for NetlinkAnswer<T, KIND> {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        let is_it = header.message_type == KIND;
        Ok(NetlinkAnswer(is_it.then(|| T::parse(payload)).transpose()?))
    }
}

/// Asks `question`, with `flags` beside that of every request.
///
/// # Errors
/// If the kernel does not take it.
pub fn ask<T: Emitable>(socket: &OwnedFd, flags: u16, question: Question<T>) -> Result<(), Errno> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(question));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    send(socket, &bytes, SendFlags::empty())?;
    Ok(())
}

/// Attributes one after another, as the value of a nest has them.
pub fn packed(attributes: &[DefaultNla]) -> Vec<u8> {
    let mut bytes = vec![0; attributes.buffer_len()];
    attributes.emit(&mut bytes);
    bytes
}
