//! A queue of netfilter's: packets that rules send to a program, which accepts or drops each.
//!
//! The kernel's interface is netlink (linux/netfilter/nfnetlink_queue.h). Decision 0074 says why this is
//! our own code.

use crate::Error;
use netlink_packet_core::NlasIterator;
use rustix::io::Errno;
use rustix::net::netlink::{NETFILTER, SocketAddrNetlink};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// `NFNL_SUBSYS_QUEUE`, in the upper byte of a message's type.
const SUBSYSTEM: u16 = 3 << 8;
/// `NFQNL_MSG_PACKET`, `_VERDICT`, `_CONFIG` and `_VERDICT_BATCH`.
const PACKET: u16 = SUBSYSTEM;
const VERDICT: u16 = SUBSYSTEM | 1;
const CONFIG: u16 = SUBSYSTEM | 2;
const VERDICT_BATCH: u16 = SUBSYSTEM | 3;
/// `NLMSG_ERROR`, which also acknowledges.
const ERROR: u16 = 2;
/// `NLM_F_REQUEST`, and with it `NLM_F_ACK`.
const REQUEST: u16 = 1;
const ACKNOWLEDGED: u16 = REQUEST | 4;
/// `NFQA_CFG_CMD` and `NFQNL_CFG_CMD_BIND`.
const COMMAND: (u16, [u8; 4]) = (1, [1, 0, 0, 0]);
/// `NFQA_CFG_PARAMS`, `_QUEUE_MAXLEN`, `_MASK` and `_FLAGS`.
const PARAMS: u16 = 2;
const MAXLEN: u16 = 3;
const MASK: u16 = 4;
const FLAGS: u16 = 5;
/// `NFQNL_COPY_PACKET`.
const COPY_PACKET: u8 = 2;
/// `NFQA_CFG_F_FAIL_OPEN`: packets for which there is no room pass.
const FAIL_OPEN: u32 = 1;
/// `NFQA_CFG_F_GSO`: packets that are still to be cut into segments are handed out whole.
const GSO: u32 = 4;
/// `NFQA_PACKET_HDR`, `_VERDICT_HDR`, `_PAYLOAD`, `_CAP_LEN` and `_SKB_INFO`.
const HEADER: u16 = 1;
const VERDICT_HEADER: u16 = 2;
const PAYLOAD: u16 = 10;
const WHOLE: u16 = 13;
const INFO: u16 = 14;
/// `NFQA_SKB_GSO`.
const IS_GSO: u32 = 2;
/// `NF_DROP` and `NF_ACCEPT`.
const DROP: u32 = 0;
const ACCEPT: u32 = 1;

/// Bytes of a packet that are copied: IPv6 with some extensions, and ports.
const COPIED: u32 = 128;
/// Packets that may wait: half a second of a gigabit.
const ROOM: u32 = 65_536;
/// Room for messages that have not been read; without it, packets pass unseen in a burst.
const RECEIVE_BUFFER: usize = 16 << 20;
/// Verdicts that are sent together take no more than this.
const TOGETHER: usize = 32 << 10;
/// Longest datagram of the kernel's.
const DATAGRAM: usize = 64 << 10;
/// Length of a netlink header, and of `nfgenmsg` behind it.
const NETLINK: usize = 16;
const NETFILTER_HEADER: usize = 4;
/// Length of an attribute's header.
const ATTRIBUTE: usize = 4;

/// A packet that waits for a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queued<'a> {
    /// Its number, by which it is judged.
    pub id: u32,
    /// Its length in bytes, IP header included.
    pub len: u32,
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// It is still to be cut into segments.
    pub whole: bool,
}

/// A queue of the kernel's that this process listens at. Packets that wait when it goes are dropped.
#[derive(Debug)]
pub struct Nfqueue {
    socket: OwnedFd,
    number: u16,
    buffer: Vec<u8>,
    verdicts: Vec<u8>,
}

impl Nfqueue {
    /// Listens at queue `number` from now on. With `whole`, the kernel does not cut packets into segments
    /// first.
    ///
    /// # Errors
    /// If the kernel has no such queues, another process listens there, or this is not root.
    pub fn listen(number: u16, whole: bool) -> Result<Self, Error> {
        let failed = |error: Errno| {
            Error::new(
                format!("packets cannot be queued for this program: {error}"),
                "it takes a kernel with nfnetlink_queue, root, and a queue that no other program listens at",
            )
        };
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(NETFILTER));
        let socket = socket.map_err(failed)?;
        bind(&socket, &SocketAddrNetlink::new(0, 0)).map_err(failed)?;
        let mut queue = Nfqueue {
            socket,
            number,
            buffer: vec![0; DATAGRAM],
            verdicts: Vec::new(),
        };
        // Without the privilege for it there is less room, and bursts may pass unseen.
        if set_socket_recv_buffer_size_force(&queue.socket, RECEIVE_BUFFER).is_err() {
            set_socket_recv_buffer_size(&queue.socket, RECEIVE_BUFFER).map_err(failed)?;
        }
        let (command, bind) = COMMAND;
        queue.configure(&[(command, &bind)]).map_err(failed)?;
        let mut params = COPIED.to_be_bytes().to_vec();
        params.push(COPY_PACKET);
        let room = ROOM.to_be_bytes();
        let [flags, mask] = flags(whole);
        queue
            .configure(&[
                (PARAMS, &params),
                (MAXLEN, &room),
                (FLAGS, &flags),
                (MASK, &mask),
            ])
            .map_err(failed)?;
        Ok(queue)
    }

    /// Sends a message of configuration, and waits for its acknowledgement.
    fn configure(&mut self, attributes: &[(u16, &[u8])]) -> Result<(), Errno> {
        let mut message = Vec::new();
        write(&mut message, CONFIG, ACKNOWLEDGED, self.number, attributes);
        send(&self.socket, &message, SendFlags::empty())?;
        loop {
            let (length, _) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            for message in Messages(&self.buffer[..length]) {
                if let Some(error) = message.error() {
                    return error;
                }
            }
        }
    }

    /// From now on with `whole` or without, as in [`listen`](Self::listen).
    pub fn hand_out(&mut self, whole: bool) {
        let [flags, mask] = flags(whole);
        let mut message = Vec::new();
        let attributes = [(FLAGS, &flags[..]), (MASK, &mask[..])];
        // Without an acknowledgement, which would stand among packets: the kernel knew these flags before.
        write(&mut message, CONFIG, REQUEST, self.number, &attributes);
        _ = send(&self.socket, &message, SendFlags::empty());
    }

    /// Packets that wait to be read, each once, of so many messages at most; it does not wait for more.
    ///
    /// # Errors
    /// If the kernel hands out no more.
    pub fn read(&mut self, most: usize, each: &mut dyn FnMut(Queued<'_>)) -> Result<(), Error> {
        for _ in 0..most {
            match recv(&self.socket, &mut self.buffer[..], RecvFlags::DONTWAIT) {
                Ok((length, _)) => {
                    let messages = Messages(&self.buffer[..length]);
                    messages
                        .filter_map(|message| message.packet())
                        .for_each(&mut *each);
                }
                Err(Errno::AGAIN) => return Ok(()),
                // A signal, or a burst above the room: netlink(7).
                Err(Errno::INTR | Errno::NOBUFS) => (),
                Err(error) => {
                    let message = format!("the kernel hands out no more packets: {error}");
                    return Err(Error::new(message, "begin again"));
                }
            }
        }
        Ok(())
    }

    /// A packet passes, or is dropped. [`flush`](Self::flush) tells the kernel.
    pub fn judge(&mut self, id: u32, passes: bool) {
        let verdict = if passes { ACCEPT } else { DROP };
        self.write_verdict(VERDICT, verdict, id);
        if self.verdicts.len() >= TOGETHER {
            self.flush();
        }
    }

    /// All packets up to `id` pass that have not been judged.
    pub fn pass_up_to(&mut self, id: u32) {
        self.write_verdict(VERDICT_BATCH, ACCEPT, id);
        self.flush();
    }

    fn write_verdict(&mut self, kind: u16, verdict: u32, id: u32) {
        let header = [verdict.to_be_bytes(), id.to_be_bytes()].concat();
        let attribute = (VERDICT_HEADER, &header[..]);
        write(&mut self.verdicts, kind, REQUEST, self.number, &[attribute]);
    }

    /// Tells the kernel the verdicts.
    pub fn flush(&mut self) {
        if !self.verdicts.is_empty() {
            // A packet may have gone with its device; there is nothing to be done about one verdict.
            _ = send(&self.socket, &self.verdicts, SendFlags::empty());
            self.verdicts.clear();
        }
    }
}

impl AsFd for Nfqueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The flags of a queue, and which of them are set.
fn flags(whole: bool) -> [[u8; 4]; 2] {
    let flags = if whole { FAIL_OPEN | GSO } else { FAIL_OPEN };
    [flags, FAIL_OPEN | GSO].map(u32::to_be_bytes)
}

/// Appends a message about queue `number`.
fn write(to: &mut Vec<u8>, kind: u16, flags: u16, number: u16, attributes: &[(u16, &[u8])]) {
    let start = to.len();
    to.extend([0; 4]);
    to.extend(kind.to_ne_bytes());
    to.extend(flags.to_ne_bytes());
    // Sequence number and port: not used.
    to.extend([0; 8]);
    // Any family, version 0.
    to.extend([0, 0]);
    to.extend(number.to_be_bytes());
    for (kind, value) in attributes {
        to.extend(((4 + value.len()) as u16).to_ne_bytes());
        to.extend(kind.to_ne_bytes());
        to.extend(*value);
        to.resize(to.len().next_multiple_of(4), 0);
    }
    let length = (to.len() - start) as u32;
    to[start..start + 4].copy_from_slice(&length.to_ne_bytes());
}

/// A message of the kernel's.
struct Message<'a> {
    kind: u16,
    body: &'a [u8],
}

/// The messages of a datagram, up to one that is not whole.
struct Messages<'a>(&'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;
    fn next(&mut self) -> Option<Message<'a>> {
        let length = u32::from_ne_bytes(self.0.first_chunk().copied()?) as usize;
        let message = self.0.get(..length)?;
        let kind = message.get(4..6)?.try_into().ok()?;
        let body = message.get(NETLINK..)?;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Message {
            kind: u16::from_ne_bytes(kind),
            body,
        })
    }
}

impl<'a> Message<'a> {
    /// The outcome of a request, if it tells of one.
    fn error(&self) -> Option<Result<(), Errno>> {
        let code = i32::from_ne_bytes(self.body.first_chunk().copied()?);
        match (self.kind, code) {
            (ERROR, 0) => Some(Ok(())),
            (ERROR, code) => Some(Err(Errno::from_raw_os_error(code.saturating_neg()))),
            _ => None,
        }
    }

    /// The packet, if it has one.
    fn packet(&self) -> Option<Queued<'a>> {
        if self.kind != PACKET {
            return None;
        }
        let (mut id, mut whole, mut bytes, mut info) = (None, None, &[][..], 0);
        let attributes = NlasIterator::new(self.body.get(NETFILTER_HEADER..)?);
        for attribute in attributes.map_while(Result::ok) {
            let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
            let value = attribute.into_inner().get(ATTRIBUTE..length)?;
            let number = || Some(u32::from_be_bytes(value.first_chunk().copied()?));
            match kind {
                HEADER => id = number(),
                WHOLE => whole = number(),
                PAYLOAD => bytes = value,
                INFO => info = number().unwrap_or(0),
                _ => (),
            }
        }
        // Without its length it was copied whole.
        let len = whole.unwrap_or(bytes.len() as u32);
        Some(Queued {
            id: id?,
            len,
            bytes,
            whole: info & IS_GSO != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: [(u32, &[u8]); 2] = [(7, &[1, 2, 3]), (8, &[4; 21])];

    /// A datagram of two packets, of which the second has a length, and is to be cut.
    fn datagram() -> Vec<u8> {
        let mut datagram = Vec::new();
        for (id, bytes) in PACKETS {
            // With the protocol and the hook.
            let header = [&id.to_be_bytes()[..], &[8, 0, 1]].concat();
            let whole = 1500u32.to_be_bytes();
            let mut attributes = vec![(HEADER, &header[..]), (PAYLOAD, bytes)];
            // It would be verified by a device, and is to be cut.
            let info = 6u32.to_be_bytes();
            if id == 8 {
                attributes.push((WHOLE, &whole));
                attributes.push((INFO, &info));
            }
            write(&mut datagram, PACKET, 0, 3, &attributes);
        }
        datagram
    }

    fn packets(datagram: &[u8]) -> Vec<(u32, u32, bool, Vec<u8>)> {
        let packets = Messages(datagram).filter_map(|message| message.packet());
        packets
            .map(|packet| (packet.id, packet.len, packet.whole, packet.bytes.to_vec()))
            .collect()
    }

    #[test]
    fn packets_are_read() {
        let expected = [(7, 3, false, vec![1, 2, 3]), (8, 1500, true, vec![4; 21])];
        assert_eq!(packets(&datagram()), expected);
    }

    #[test]
    fn broken_datagrams_are_no_trouble() {
        let datagram = datagram();
        for length in 0..datagram.len() {
            assert!(packets(&datagram[..length]).len() < 2);
        }
        for place in 0..datagram.len() {
            for value in [0, 1, 3, 0x7f, 0xff] {
                let mut broken = datagram.clone();
                broken[place] = value;
                packets(&broken);
            }
        }
    }

    #[test]
    fn outcomes_are_told_from_packets() {
        let mut refusal = datagram();
        // By hand: a header of 16 bytes, type 2, and the code -1 (EPERM).
        refusal.extend(20u32.to_ne_bytes());
        refusal.extend([2u16.to_ne_bytes(), [0, 0]].concat());
        refusal.extend([0; 8]);
        refusal.extend((-1i32).to_ne_bytes());
        let outcome = Messages(&refusal).find_map(|message| message.error());
        assert_eq!(outcome, Some(Err(Errno::PERM)));
    }

    /// By hand, from linux/netfilter/nfnetlink_queue.h.
    #[test]
    fn a_verdict_as_the_kernel_expects_it() {
        let mut verdict = Vec::new();
        let header = [ACCEPT.to_be_bytes(), 9u32.to_be_bytes()].concat();
        write(
            &mut verdict,
            VERDICT,
            REQUEST,
            5,
            &[(VERDICT_HEADER, &header)],
        );
        let mut expected = 32u32.to_ne_bytes().to_vec();
        expected.extend(0x0301u16.to_ne_bytes());
        expected.extend(1u16.to_ne_bytes());
        expected.extend([0; 8]);
        expected.extend([0, 0, 0, 5]);
        expected.extend(12u16.to_ne_bytes());
        expected.extend(2u16.to_ne_bytes());
        expected.extend([0, 0, 0, 1, 0, 0, 0, 9]);
        assert_eq!(verdict, expected);
    }
}
