//! Rates of links that change while traffic runs: an `htb` class is changed by netlink, a few
//! microseconds each, where a run of `tc` would take milliseconds.

use crate::error::{Failure, Tried};
use crate::place::{Namespaces, Place};
use crate::plan::RateStep;
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};
use std::os::fd::{AsRawFd, OwnedFd};
use units::Instant;

/// linux/rtnetlink.h
const RTM_NEWTCLASS: u16 = 40;
/// `NLM_F_REQUEST | NLM_F_ACK`, linux/netlink.h
const REQUEST_WITH_ANSWER: u16 = 1 | 4;
const NLMSG_ERROR: u16 = 2;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
/// linux/pkt_sched.h
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_RATE64: u16 = 6;
const TCA_HTB_CEIL64: u16 = 7;
/// `TC_LINKLAYER_ETHERNET`: the kernel computes times itself instead of reading a table.
const ETHERNET: u8 = 1;
/// Bytes of each class's turn; with one class it says nothing, but `htb` warns of odd ones.
const QUANTUM: u32 = 1514;

/// Changes of rates, ready to be sent.
pub struct Rates {
    socket: Option<OwnedFd>,
    /// When, and what is sent then.
    steps: Vec<(Instant, Vec<u8>)>,
}

impl Rates {
    /// Prepares `steps`.
    pub fn new(steps: &[RateStep], namespaces: &mut Namespaces) -> Result<Rates, Failure> {
        if steps.is_empty() {
            return Ok(Rates {
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
        Ok(Rates {
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

/// What the kernel answered: an error of 0 is an acknowledgement (netlink(7)).
fn refused(answer: &[u8]) -> Result<(), Failure> {
    let kind = answer.get(4..6).and_then(|b| b.try_into().ok());
    let code = answer.get(16..20).and_then(|b| b.try_into().ok());
    match (kind.map(u16::from_ne_bytes), code.map(i32::from_ne_bytes)) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(code)) => Err(Failure::new(
            "a change of rate",
            Errno::from_raw(code.saturating_neg()),
        )),
        _ => Err(Failure::new(
            "a change of rate",
            "an answer of another kind",
        )),
    }
}

/// A request to change a class.
fn message(step: &RateStep, device: u32) -> Vec<u8> {
    let mut options = Vec::new();
    attribute(&mut options, TCA_HTB_PARMS, &parameters(step));
    if step.rate > u64::from(u32::MAX) {
        attribute(&mut options, TCA_HTB_RATE64, &step.rate.to_ne_bytes());
        attribute(&mut options, TCA_HTB_CEIL64, &step.rate.to_ne_bytes());
    }
    let mut body = Vec::new();
    // struct tcmsg: family, device, class, parent, info.
    for field in [0, device, step.class, step.class & 0xffff_0000, 0] {
        body.extend(field.to_ne_bytes());
    }
    attribute(&mut body, TCA_KIND, b"htb\0");
    attribute(&mut body, TCA_OPTIONS, &options);
    let mut message = Vec::new();
    message.extend((body.len() as u32 + 16).to_ne_bytes());
    message.extend(RTM_NEWTCLASS.to_ne_bytes());
    message.extend(REQUEST_WITH_ANSWER.to_ne_bytes());
    message.extend([0; 8]); // number, sender
    message.extend(body);
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

fn attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    to.extend((value.len() as u16 + 4).to_ne_bytes());
    to.extend(kind.to_ne_bytes());
    to.extend(value);
    while !to.len().is_multiple_of(4) {
        to.push(0);
    }
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
        assert_eq!(half(4), RTM_NEWTCLASS);
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
        answer[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        assert!(refused(&answer).is_ok());
        answer[16..20].copy_from_slice(&(-22i32).to_ne_bytes());
        assert!(refused(&answer).unwrap_err().reason.contains("EINVAL"));
        assert!(refused(&answer[..10]).is_err() && refused(&[]).is_err());
    }
}
