//! Rates of links that change while traffic runs: an `htb` class is changed by netlink, a few
//! microseconds each, while a run of `tc` would take milliseconds.

use crate::error::{Failure, Tried};
use crate::place::{Namespaces, Place};
use crate::plan::RateStep;
use netlink_packet_core::{
    DefaultNla, Emitable, ErrorBuffer, NLM_F_ACK, NLM_F_REQUEST, NLMSG_ERROR, NetlinkBuffer,
    NetlinkHeader,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcHeader, TcMessage, TcOption};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};
use std::os::fd::{AsRawFd, OwnedFd};
use units::Instant;

/// linux/rtnetlink.h; `RouteNetlinkMessage` knows it, and has the code of all other messages with it.
const RTM_NEWTCLASS: u16 = 40;
/// linux/pkt_sched.h
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_RATE64: u16 = 6;
const TCA_HTB_CEIL64: u16 = 7;
/// `TC_LINKLAYER_ETHERNET`: the kernel computes times itself instead of reading a table.
const ETHERNET: u8 = 1;
/// Bytes of each class's turn; with one class it has no effect, but `htb` warns of odd ones.
const QUANTUM: u32 = 1514;

/// Changes of rates, ready to be sent.
pub struct RateChanges {
    socket: Option<OwnedFd>,
    /// The times, and the messages sent then.
    steps: Vec<(Instant, Vec<u8>)>,
}

impl RateChanges {
    /// Prepares `steps`.
    pub fn new(steps: &[RateStep], namespaces: &mut Namespaces) -> Result<RateChanges, Failure> {
        if steps.is_empty() {
            return Ok(RateChanges {
                socket: None,
                steps: Vec::new(),
            });
        }
        namespaces.enter(Place::Router)?;
        let flags = SockFlag::SOCK_CLOEXEC;
        let route = SockProtocol::NetlinkRoute;
        let socket =
            socket(AddressFamily::Netlink, SockType::Raw, flags, route).tried("netlink")?;
        let prepare = |step: &RateStep| {
            let index = if_nametoindex(step.device.as_str()).tried(&step.device)?;
            Ok((Instant::from_nanos(step.at), message(step, index)))
        };
        Ok(RateChanges {
            socket: Some(socket),
            steps: steps.iter().map(prepare).collect::<Result<_, Failure>>()?,
        })
    }

    /// When each step is due.
    pub fn times(&self) -> Vec<Instant> {
        self.steps.iter().map(|(at, _)| *at).collect()
    }

    /// Takes a step.
    pub fn apply(&self, step: u32) -> Result<(), Failure> {
        let (Some(socket), Some((_, message))) = (&self.socket, self.steps.get(step as usize))
        else {
            return Ok(());
        };
        send(socket.as_raw_fd(), message, MsgFlags::empty()).tried("a change of rate")?;
        let mut answer = [0; 256];
        let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty());
        refused(&answer[..length.tried("a change of rate")?])
    }
}

/// Checks the kernel's answer: an error of 0 is an acknowledgement (netlink(7)).
fn refused(answer: &[u8]) -> Result<(), Failure> {
    let what = "a change of rate";
    let answer = NetlinkBuffer::new_checked(answer).tried(what)?;
    if answer.message_type() != NLMSG_ERROR {
        return Err(Failure::new(what, "an answer of another kind"));
    }
    let error = ErrorBuffer::new_checked(answer.payload()).tried(what)?;
    match error.code() {
        None => Ok(()),
        Some(code) => {
            let code = code.get().saturating_neg();
            Err(Failure::new(what, Errno::from_raw(code)))
        }
    }
}

/// A request to change a class.
fn message(step: &RateStep, device: u32) -> Vec<u8> {
    let option = |kind, value| TcOption::Other(DefaultNla::new(kind, value));
    let mut options = vec![option(TCA_HTB_PARMS, parameters(step))];
    if step.rate > u64::from(u32::MAX) {
        let rate = step.rate.to_ne_bytes().to_vec();
        options.push(option(TCA_HTB_RATE64, rate.clone()));
        options.push(option(TCA_HTB_CEIL64, rate));
    }
    let class = TcHandle::from(step.class);
    let header = TcHeader {
        index: device as i32,
        handle: class,
        parent: TcHandle { minor: 0, ..class },
        ..TcHeader::default()
    };
    let attributes = vec![
        TcAttribute::Kind("htb".to_owned()),
        TcAttribute::Options(options),
    ];
    let change = TcMessage::from_parts(header, attributes);
    let mut header = NetlinkHeader::default();
    header.length = (header.buffer_len() + change.buffer_len()) as u32;
    header.message_type = RTM_NEWTCLASS;
    header.flags = NLM_F_REQUEST | NLM_F_ACK;
    let mut message = vec![0; header.length as usize];
    header.emit(&mut message);
    change.emit(&mut message[header.buffer_len()..]);
    message
}

/// `struct tc_htb_opt`.
fn parameters(step: &RateStep) -> Vec<u8> {
    let mut options = Vec::new();
    for _ in ["rate", "ceil"] {
        // struct tc_ratespec: cell_log, linklayer, overhead, cell_align, mpu, rate.
        options.extend([0, ETHERNET]);
        options.extend(step.overhead.to_ne_bytes());
        options.extend([0; 4]);
        options.extend(u32::try_from(step.rate).unwrap_or(u32::MAX).to_ne_bytes());
    }
    // Times in the kernel's ticks of 64 ns (PSCHED_SHIFT, net/pkt_sched.h).
    let nanos = u64::from(step.burst) * 1_000_000_000 / step.rate.max(1);
    let ticks = u32::try_from(nanos >> 6).unwrap_or(u32::MAX);
    // buffer, cbuffer, quantum, level, prio.
    for field in [ticks, ticks, QUANTUM, 0, 0] {
        options.extend(field.to_ne_bytes());
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(rate: u64) -> RateStep {
        RateStep {
            at: 0,
            device: "r1".to_owned(),
            class: 0x0001_0001,
            rate,
            overhead: 38,
            burst: 1600,
        }
    }

    #[test]
    fn a_change_of_rate_as_the_kernel_reads_it() {
        let message = message(&step(2_500_000), 7);
        let word = |at: usize| u32::from_ne_bytes(message[at..at + 4].try_into().unwrap());
        let half = |at: usize| u16::from_ne_bytes(message[at..at + 2].try_into().unwrap());
        assert_eq!(word(0) as usize, message.len());
        // REQUEST and ACK, linux/netlink.h.
        assert_eq!((half(4), half(6)), (RTM_NEWTCLASS, 1 | 4));
        assert_eq!(
            (word(20), word(24), word(28)),
            (7, 0x0001_0001, 0x0001_0000)
        );
        assert_eq!(&message[40..44], b"htb\0");
        // Options at 44, parameters at 48, their value at 52: 24 of rates, 20 of the rest.
        assert_eq!((half(44), half(48)), (4 + 48, 4 + 44));
        assert_eq!((half(54), word(60)), (38, 2_500_000));
        // 1600 B at 2.5 MB/s are 640 us: 10,000 ticks of 64 ns.
        assert_eq!(word(76), 10_000);
        assert_eq!(message.len(), 52 + 44);
    }

    #[test]
    fn rates_above_34_gbit_have_words_of_their_own() {
        let more = message(&step(5_000_000_000), 7);
        assert_eq!(more.len(), 52 + 44 + 24);
        assert_eq!(more[60..64], u32::MAX.to_ne_bytes());
    }

    #[test]
    fn an_answer_that_is_no_acknowledgement_fails() {
        let mut answer = [0; 36];
        answer[..4].copy_from_slice(&36u32.to_ne_bytes());
        assert!(refused(&answer).is_err());
        answer[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        assert!(refused(&answer).is_ok());
        answer[16..20].copy_from_slice(&(-22i32).to_ne_bytes());
        assert!(refused(&answer).unwrap_err().reason.contains("EINVAL"));
        for length in [0, 10, 16, 19, 35] {
            assert!(refused(&answer[..length]).is_err(), "{length}");
        }
        answer[..4].copy_from_slice(&18u32.to_ne_bytes());
        assert!(refused(&answer).is_err());
    }
}
