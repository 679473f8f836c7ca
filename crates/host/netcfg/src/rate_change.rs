//! Another rate for a shaper that stands. The kernel is asked itself: to start tc for it takes a processor many times as
//! long, and who follows a line does so several times a second.

use crate::rtnetlink::{NetlinkAnswer, Question, ask, packed, socket};
use crate::shaper::{CLASS, HTB, QUANTUM};
use crate::{Class, Command, Device, ShapedRate, tc};
use netlink_packet_core::{DefaultNla, NLM_F_ACK, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io;

/// RTM_NEWQDISC and RTM_NEWTCLASS, which change what is there where they are not told to create.
const NEW_QDISC: u16 = 36;
const NEW_CLASS: u16 = 40;
/// `TCA_OPTIONS`.
const OPTIONS: u16 = 2;
/// `TCA_CAKE_BASE_RATE64`.
const CAKE_RATE: u16 = 2;
/// `TCA_HTB_PARMS`, and for what its 32 bits have no room `TCA_HTB_RATE64` and `TCA_HTB_CEIL64`.
const HTB_PARAMETERS: u16 = 1;
const HTB_RATE: u16 = 6;
const HTB_CEIL: u16 = 7;
/// `TC_LINKLAYER_ETHERNET` and `TC_LINKLAYER_ATM`.
const ETHERNET: u8 = 1;
const ATM: u8 = 2;
/// The kernel counts bursts in times of so many nanoseconds: `PSCHED_SHIFT` of net/pkt_sched.h.
const TICK: u64 = 64;
/// An answer is an acknowledgement, or an error with the question.
const ANSWER: usize = 4 << 10;

/// Which shaper gets which rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShaperRate {
    /// The class of the htb at the root.
    Class(Class),
    /// The cake at the root.
    Cake {
        /// Its handle, as tc prints it.
        handle: &'static str,
        /// Its bandwidth.
        rate: ShapedRate,
    },
}

/// Gives a shaper that stands another rate, and leaves the packets that wait in it where they are. It is refused where
/// there is no such shaper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateChange {
    /// The device that sends.
    pub device: Device,
    /// The shaper.
    pub shaper: ShaperRate,
}

impl RateChange {
    /// The command that does the same.
    pub fn command(&self) -> Command {
        let device = &self.device;
        match &self.shaper {
            ShaperRate::Class(class) => class.command(device, true),
            ShaperRate::Cake { handle, rate } => {
                let rate = tc::rate(rate.get());
                Command::tc(&format!(
                    "qdisc change dev {device} root handle {handle} cake bandwidth {rate}"
                ))
            }
        }
    }

    /// Asks the kernel for it.
    ///
    /// # Errors
    /// If there is no such device, or the kernel refuses it.
    pub(crate) fn ask_kernel(&self) -> io::Result<()> {
        let index = self.device.index();
        let index = index.map_err(|error| io::Error::other(error.message))?;
        let socket = socket()?;
        ask(&socket, NLM_F_ACK, self.question(index)?)?;
        let mut answer = vec![0; ANSWER];
        let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
        Ok(acknowledged(&answer[..length])?)
    }

    fn question(&self, index: u32) -> io::Result<Question<TcMessage>> {
        let mut of = TcMessage::default();
        of.header.index = index.cast_signed();
        let (kind, name, options) = match &self.shaper {
            ShaperRate::Class(class) => {
                (of.header.parent, of.header.handle) = (handle(HTB)?, handle(CLASS)?);
                (NEW_CLASS, "htb", htb_options(class))
            }
            ShaperRate::Cake { handle: its, rate } => {
                (of.header.parent, of.header.handle) = (TcHandle::ROOT, handle(its)?);
                let rate = bytes_a_second(rate.get().as_bits());
                (
                    NEW_QDISC,
                    "cake",
                    vec![attribute(CAKE_RATE, &rate.to_ne_bytes())],
                )
            }
        };
        of.attributes = vec![
            TcAttribute::Kind(name.to_owned()),
            TcAttribute::Other(attribute(OPTIONS, &packed(&options))),
        ];
        Ok(Question { kind, of })
    }
}

/// A handle of ours as the kernel has it.
fn handle(text: &str) -> io::Result<TcHandle> {
    let number = |digits| u16::from_str_radix(digits, 16).ok();
    let read = text.split_once(':').and_then(|(major, minor)| {
        let minor = if minor.is_empty() { "0" } else { minor };
        Some(TcHandle {
            major: number(major)?,
            minor: number(minor)?,
        })
    });
    read.ok_or_else(|| io::Error::other(format!("{text:?} is no handle")))
}

/// As tc has them (`htb_parse_class_opt` of q_htb.c), but for the tables of times: since Linux 3.8 the kernel computes
/// those itself.
fn htb_options(class: &Class) -> Vec<DefaultNla> {
    let rate = bytes_a_second(class.rate);
    let ticks = burst_ticks(class.burst(), rate).to_ne_bytes();
    let spec = rate_spec(class, rate);
    let (level, priority) = ([0; 4], [0; 4]);
    let quantum = (QUANTUM as u32).to_ne_bytes();
    let parameters = [
        &spec[..],
        &spec,
        &ticks,
        &ticks,
        &quantum,
        &level,
        &priority,
    ]
    .concat();
    vec![
        attribute(HTB_PARAMETERS, &parameters),
        attribute(HTB_RATE, &rate.to_ne_bytes()),
        attribute(HTB_CEIL, &rate.to_ne_bytes()),
    ]
}

/// A `struct tc_ratespec`.
fn rate_spec(class: &Class, rate: u64) -> Vec<u8> {
    let layer = if class.atm { ATM } else { ETHERNET };
    let (cell_log, cell_align) = (0, [0; 2]);
    let rate = u32::try_from(rate).unwrap_or(u32::MAX);
    let mut spec = vec![cell_log, layer];
    spec.extend(class.overhead.to_ne_bytes());
    spec.extend(cell_align);
    spec.extend(class.mpu.to_ne_bytes());
    spec.extend(rate.to_ne_bytes());
    spec
}

fn bytes_a_second(bits: u64) -> u64 {
    bits / 8
}

/// How long `burst` bytes take, rounded up.
fn burst_ticks(burst: u64, bytes_a_second: u64) -> u32 {
    let a_second = 1_000_000_000 / TICK;
    let ticks = (burst * a_second).div_ceil(bytes_a_second.max(1));
    u32::try_from(ticks).unwrap_or(u32::MAX)
}

fn attribute(kind: u16, value: &[u8]) -> DefaultNla {
    DefaultNla::new(kind, value.to_vec())
}

/// What the kernel answers. What is no answer is an error, too.
fn acknowledged(answer: &[u8]) -> Result<(), Errno> {
    let message = NetlinkMessage::<NetlinkAnswer<TcMessage, NEW_CLASS>>::deserialize(answer);
    let Ok(NetlinkPayload::Error(error)) = message.map(|message| message.payload) else {
        return Err(Errno::BADMSG);
    };
    match error.raw_code() {
        0 => Ok(()),
        code => Err(Errno::from_raw_os_error(-code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::ErrorMessage;

    fn class(rate: u64) -> Class {
        Class {
            rate,
            overhead: 44,
            mpu: 64,
            atm: true,
        }
    }

    /// `struct tc_htb_opt` of linux/pkt_sched.h.
    #[test]
    fn a_class_is_told_in_the_structure_of_tc() {
        let change = RateChange {
            device: "eth0".parse().unwrap(),
            shaper: ShaperRate::Class(class(20_000_000)),
        };
        let question = change.question(7).unwrap();
        assert_eq!(question.kind, NEW_CLASS);
        assert_eq!(u32::from(question.of.header.parent), 0xa1_0000);
        assert_eq!(u32::from(question.of.header.handle), 0xa1_0001);
        let options = htb_options(&class(20_000_000));
        let spec = [
            &[0, ATM][..],
            &44_u16.to_ne_bytes(),
            &[0, 0],
            &64_u16.to_ne_bytes(),
            &2_500_000_u32.to_ne_bytes(),
        ]
        .concat();
        // 3028 bytes at 2.5 MB/s are 1.2112 ms: 18,925 times 64 ns.
        let ticks = 18_925_u32.to_ne_bytes();
        let rest = [&ticks[..], &ticks, &1514_u32.to_ne_bytes(), &[0; 8]].concat();
        let told = [&spec[..], &spec, &rest].concat();
        assert_eq!(options[0], attribute(HTB_PARAMETERS, &told));
        assert_eq!(told.len(), 44, "struct tc_htb_opt");
    }

    #[test]
    fn a_rate_without_room_in_32_bits_is_told_in_64() {
        let rate = 12_500_000_000_u64;
        let options = htb_options(&class(8 * rate));
        assert_eq!(options[1], attribute(HTB_RATE, &rate.to_ne_bytes()));
        assert_eq!(rate_spec(&class(8 * rate), rate)[8..], [255; 4]);
    }

    #[test]
    fn cake_is_told_bytes_a_second_under_its_handle() {
        let change = RateChange {
            device: "eth0".parse().unwrap(),
            shaper: ShaperRate::Cake {
                handle: "a2:",
                rate: 45_000_000.try_into().unwrap(),
            },
        };
        let question = change.question(7).unwrap();
        assert_eq!(question.kind, NEW_QDISC);
        assert_eq!(question.of.header.parent, TcHandle::ROOT);
        assert_eq!(u32::from(question.of.header.handle), 0xa2_0000);
        let rate = attribute(CAKE_RATE, &5_625_000_u64.to_ne_bytes());
        let told = TcAttribute::Other(attribute(OPTIONS, &packed(&[rate])));
        assert_eq!(question.of.attributes[1], told);
        assert_eq!(
            change.command().to_string(),
            "tc qdisc change dev eth0 root handle a2: cake bandwidth 45mbit"
        );
    }

    #[test]
    fn what_the_kernel_answers_is_told_apart() {
        let answer = |code| {
            let mut error = ErrorMessage::default();
            error.code = core::num::NonZeroI32::new(code);
            error.header = vec![0; 16];
            let payload = NetlinkPayload::<Question<TcMessage>>::Error(error);
            let mut message = NetlinkMessage::new(Default::default(), payload);
            message.finalize();
            let mut bytes = vec![0; message.buffer_len()];
            message.serialize(&mut bytes);
            bytes
        };
        assert_eq!(acknowledged(&answer(0)), Ok(()));
        assert_eq!(acknowledged(&answer(-2)), Err(Errno::NOENT));
        assert_eq!(acknowledged(&answer(-2)[..10]), Err(Errno::BADMSG));
        assert_eq!(acknowledged(&[]), Err(Errno::BADMSG));
    }
}
