//! By which device this host's packets leave for an address.

use crate::Error;
use crate::rtnetlink::{NetlinkAnswer, Question, ask, socket};
use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::AddressFamily as Family;
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// RTM_NEWROUTE and RTM_GETROUTE.
const ROUTE: u16 = 24;
const GET_ROUTE: u16 = 26;

/// By what packets leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteBy {
    /// The index of the device.
    pub device: u32,
    /// The router behind it, if there is one.
    pub gateway: Option<IpAddr>,
}

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
        Ok(Routes {
            socket: socket().map_err(failed)?,
            buffer: vec![0; 8 << 10],
        })
    }

    /// The index of the device by which packets leave for `address`; none if there is no route.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn device_towards(&mut self, address: IpAddr) -> Result<Option<u32>, Error> {
        Ok(self.way_towards(address)?.map(|way| way.device))
    }

    /// The way that packets for `address` take; none if there is no route.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn way_towards(&mut self, address: IpAddr) -> Result<Option<RouteBy>, Error> {
        ask(&self.socket, 0, question(address)).map_err(failed)?;
        let (length, _) =
            recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()).map_err(failed)?;
        Ok(way(&self.buffer[..length]))
    }
}

fn question(address: IpAddr) -> Question<RouteMessage> {
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
    Question {
        kind: GET_ROUTE,
        of: route,
    }
}

/// The way of an answer; an error, such as that no route leads there, has none.
fn way(answer: &[u8]) -> Option<RouteBy> {
    let answer = NetlinkMessage::<NetlinkAnswer<RouteMessage, ROUTE>>::deserialize(answer).ok()?;
    let NetlinkPayload::InnerMessage(NetlinkAnswer(Some(route))) = answer.payload else {
        return None;
    };
    let attributes = route.attributes.iter();
    let device = attributes.clone().find_map(|attribute| match attribute {
        RouteAttribute::Oif(index) => Some(*index),
        _ => None,
    })?;
    let gateway = attributes.clone().find_map(|attribute| match attribute {
        RouteAttribute::Gateway(RouteAddress::Inet(address)) => Some(IpAddr::from(*address)),
        RouteAttribute::Gateway(RouteAddress::Inet6(address)) => Some(IpAddr::from(*address)),
        _ => None,
    });
    Some(RouteBy { device, gateway })
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
