//! The headers of what passes a device: a packet socket with a filter in the kernel (packet(7)).

use super::headers::packet;
use autorate::SeenPacket;
use command::Refused;
use netcfg::Device;
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, LinkAddr, MsgFlags, recvmsg, setsockopt};
use rustix::time::{ClockId, clock_gettime};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::io::IoSliceMut;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// `ETH_P_ALL`, in the order of the network, as socket(2) takes it.
const ALL: u16 = 3_u16.to_be();
/// `PACKET_OUTGOING` of linux/if_packet.h.
const OUTGOING: u8 = 4;
/// The longest headers: IPv6, or IPv4 with options, and TCP.
const HEADERS: usize = 120;
/// Room for packets that were not looked at yet: 50 ms of a gigabit.
const ROOM: usize = 4 << 20;

/// A packet that passed.
pub struct Seen {
    /// How long ago.
    pub ago: Duration,
    /// Whether it left by the device.
    pub leaves: bool,
    /// What its headers say.
    pub packet: SeenPacket,
}

/// Looks at a device.
pub struct Eyes {
    device: Device,
    /// The kernel's number of it: one that goes away and comes back has another.
    index: u32,
    socket: Socket,
    buffer: [u8; HEADERS],
    control: Vec<u8>,
}

impl Eyes {
    /// Looks at `device` from now on.
    ///
    /// # Errors
    /// If there is no such device, or this may not look.
    pub fn of(device: &Device) -> Result<Self, Refused> {
        let index = device.index()?;
        let failed = |error: std::io::Error| {
            let message = format!("the packets of {device} cannot be looked at: {error}");
            Refused::failed(&message, "it takes root, or CAP_NET_RAW")
        };
        // The network's header comes first, whatever the device puts before it.
        let protocol = Protocol::from(i32::from(ALL));
        let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(protocol)).map_err(failed)?;
        socket.attach_filter(&filter(index)).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        // Without the privilege for it there is less room.
        _ = socket.set_recv_buffer_size(ROOM);
        setsockopt(&socket, ReceiveTimestampns, &true).map_err(|error| failed(error.into()))?;
        let mut eyes = Eyes {
            device: device.clone(),
            index,
            socket,
            buffer: [0; HEADERS],
            control: nix::cmsg_space!(nix::sys::time::TimeSpec),
        };
        // Those of all devices, which came before the filter.
        eyes.look(&mut |_| ()).map_err(failed)?;
        Ok(eyes)
    }

    /// Whether the device is still the one that this looks at.
    pub fn see_it(&self) -> bool {
        self.device.index().is_ok_and(|index| index == self.index)
    }

    /// What passed since the last look, in its order.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn look(&mut self, each: &mut dyn FnMut(Seen)) -> std::io::Result<()> {
        let now = Duration::try_from(clock_gettime(ClockId::Realtime)).unwrap_or_default();
        loop {
            let mut parts = [IoSliceMut::new(&mut self.buffer)];
            let fd = self.socket.as_raw_fd();
            let control = Some(self.control.as_mut_slice());
            let got = match recvmsg::<LinkAddr>(fd, &mut parts, control, MsgFlags::empty()) {
                Ok(got) => got,
                Err(nix::Error::EAGAIN) => return Ok(()),
                Err(nix::Error::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let leaves = got.address.is_some_and(|from| from.pkttype() == OUTGOING);
            let at = got.cmsgs().ok().into_iter().flatten().find_map(time_of);
            let length = got.bytes;
            // A clock that is set between the two is wrong for what waits: it came just now.
            let ago = at.map_or(Duration::ZERO, |at| now.saturating_sub(at));
            if let Some(packet) = packet(&self.buffer[..length]) {
                let ago = if ago < LONG { ago } else { Duration::ZERO };
                each(Seen {
                    ago,
                    leaves,
                    packet,
                });
            }
        }
    }
}

/// Nothing waits to be looked at for longer.
const LONG: Duration = Duration::from_secs(1);

fn time_of(message: ControlMessageOwned) -> Option<Duration> {
    match message {
        ControlMessageOwned::ScmTimestampns(at) => Some(at.into()),
        _ => None,
    }
}

/// Takes the headers of IP packets of the device with this number, and nothing behind them: of TCP as far as its
/// options go, of others and of fragments the part with the length (Documentation/networking/filter.rst).
fn filter(index: u32) -> [SockFilter; 24] {
    const WORD: u16 = 0x20;
    const HALF: u16 = 0x28;
    const BYTE: u16 = 0x30;
    const BYTE_BEHIND_X: u16 = 0x50;
    const X_OF_IP_HEADER: u16 = 0xb1;
    const EQUAL: u16 = 0x15;
    const ANY_BIT: u16 = 0x45;
    const ADD: u16 = 0x04;
    const ADD_X: u16 = 0x0c;
    const LEFT: u16 = 0x64;
    const RIGHT: u16 = 0x74;
    const TAKE: u16 = 0x06;
    const TAKE_A: u16 = 0x16;
    // SKF_AD_OFF, and SKF_AD_PROTOCOL and SKF_AD_IFINDEX from there (linux/filter.h).
    const PROTOCOL: u32 = 0xffff_f000;
    const INDEX: u32 = PROTOCOL + 8;
    let at = |code, k| SockFilter::new(code, 0, 0, k);
    let jump = |code, yes, no, k| SockFilter::new(code, yes, no, k);
    [
        at(WORD, INDEX),
        jump(EQUAL, 0, 21, index),
        at(WORD, PROTOCOL),
        jump(EQUAL, 0, 10, 0x0800),
        // IPv4: TCP, and no later fragment.
        at(BYTE, 9),
        jump(EQUAL, 0, 16, 6),
        at(HALF, 6),
        jump(ANY_BIT, 14, 0, 0x1fff),
        at(X_OF_IP_HEADER, 0),
        at(BYTE_BEHIND_X, 12),
        at(RIGHT, 4),
        at(LEFT, 2),
        at(ADD_X, 0),
        at(TAKE_A, 0),
        // IPv6 without extensions.
        jump(EQUAL, 0, 8, 0x86dd),
        at(BYTE, 6),
        jump(EQUAL, 0, 5, 6),
        at(BYTE, 52),
        at(RIGHT, 4),
        at(LEFT, 2),
        at(ADD, 40),
        at(TAKE_A, 0),
        at(TAKE, 20),
        at(TAKE, 0),
    ]
}
