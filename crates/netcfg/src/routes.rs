//! By which device this host's packets leave for an address.

use crate::Error;
use core::time::Duration;
use netlink_packet_core::{NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage};
use netlink_packet_route::{AddressFamily as Family, RouteNetlinkMessage};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with,
};
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// The kernel answers at once.
const PATIENCE: Duration = Duration::from_secs(1);

/// Asks the kernel for routes.
#[derive(Debug)]
pub struct Routes {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

fn failed(error: Errno) -> Error {
    Error::failed(
        format!("the kernel lists no routes: {error}"),
        "begin again",
    )
}

impl Routes {
    /// Of this network namespace.
    ///
    /// # Errors
    /// If there is no such socket.
    pub fn open() -> Result<Self, Error> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        // NETLINK_ROUTE is the protocol 0.
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None).map_err(failed)?;
        connect(&socket, &SocketAddrNetlink::new(0, 0)).map_err(failed)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE)).map_err(failed)?;
        Ok(Routes {
            socket,
            buffer: vec![0; 8 << 10],
        })
    }

    /// The index of the device by which packets leave for `address`; none if there is no route.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn device_towards(&mut self, address: IpAddr) -> Result<Option<u32>, Error> {
        send(&self.socket, &request(address), SendFlags::empty()).map_err(failed)?;
        let (length, _) =
            recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()).map_err(failed)?;
        Ok(device(&self.buffer[..length]))
    }
}

fn request(address: IpAddr) -> Vec<u8> {
    let mut route = RouteMessage::default();
    (
        route.header.address_family,
        route.header.destination_prefix_length,
    ) = match address {
        IpAddr::V4(_) => (Family::Inet, 32),
        IpAddr::V6(_) => (Family::Inet6, 128),
    };
    let address = RouteAddress::from(address);
    route.attributes.push(RouteAttribute::Destination(address));
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST;
    let payload = NetlinkPayload::from(RouteNetlinkMessage::GetRoute(route));
    let mut message = NetlinkMessage::new(header, payload);
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// The device of an answer; an error, such as that no route leads there, has none.
fn device(answer: &[u8]) -> Option<u32> {
    let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(answer).ok()?;
    let NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewRoute(route)) = answer.payload else {
        return None;
    };
    route
        .attributes
        .iter()
        .find_map(|attribute| match attribute {
            RouteAttribute::Oif(index) => Some(*index),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux always has the loopback device, and it is the first.
    #[test]
    fn the_way_to_this_host_is_the_loopback_device() {
        let mut routes = Routes::open().unwrap();
        let to = |routes: &mut Routes, text: &str| routes.device_towards(text.parse().unwrap());
        let lo = "lo".parse::<crate::Device>().unwrap().index().unwrap();
        assert_eq!(to(&mut routes, "127.0.0.1").unwrap(), Some(lo));
        // No host has this one: RFC 5737.
        assert_ne!(to(&mut routes, "192.0.2.1").unwrap(), Some(lo));
    }
}
