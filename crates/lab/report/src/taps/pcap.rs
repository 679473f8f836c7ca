//! A capture of departures from the queues.

use super::parties::Parties;
use super::rtp::{self, Headers};
use super::{TapOutput, WritingTap};
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use measure::{Event, LinkId, PacketId, Sink};
use scenario::Scenario;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use units::{Ecn, FlowId, Instant};
use workload::Carrier;

/// Nanoseconds, in the byte order in which it is written.
const MAGIC: u32 = 0xa1b2_3c4d;
/// The format's version, 2.4.
const VERSION: [u16; 2] = [2, 4];
/// LINKTYPE_RAW: packets begin with an IP header.
const RAW: u32 = 101;
/// TCP's options: time stamps, and the padding that aligns them.
const OPTIONS: usize = 12;
/// TCP's option without a meaning.
const NO_OPERATION: u8 = 1;
/// Most bytes of a packet: IPv4's and TCP's headers.
const SNAP: usize = Ipv4Header::MIN_LEN + TcpHeader::MIN_LEN + OPTIONS;
const _: () = assert!(Ipv4Header::MIN_LEN + UdpHeader::LEN + rtp::LEN <= SNAP);
/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
/// Hops that the packets of the first queue have left.
const HOPS: u8 = 255;

/// A capture file (pcap, `LINKTYPE_RAW`) with nanoseconds: packets that begin with an IP header.
pub struct Capture<W: Write>(TapOutput<BufWriter<W>>);

impl<W: Write> Capture<W> {
    /// An empty one, written to `writer`, of packets with at most `snap` bytes.
    pub fn new(writer: W, snap: u32) -> Self {
        let mut output = TapOutput::new(BufWriter::with_capacity(super::BUFFER, writer));
        output.write(|out| {
            out.write_all(&MAGIC.to_le_bytes())?;
            out.write_all(&VERSION[0].to_le_bytes())?;
            out.write_all(&VERSION[1].to_le_bytes())?;
            // No time zone, no accuracy.
            out.write_all(&[0; 8])?;
            out.write_all(&snap.to_le_bytes())?;
            out.write_all(&RAW.to_le_bytes())
        });
        Capture(output)
    }

    /// Adds a packet at `nanos` since 1970, of which `bytes` are there, and which has `length` in all.
    pub fn add(&mut self, nanos: u64, bytes: &[u8], length: u32) {
        let record = [
            (nanos / SECOND) as u32,
            (nanos % SECOND) as u32,
            bytes.len() as u32,
            length,
        ];
        self.0.write(|out| {
            for field in record {
                out.write_all(&field.to_le_bytes())?;
            }
            out.write_all(bytes)
        });
    }

    /// Writes the data that is still held back.
    ///
    /// # Errors
    /// The first error since it began.
    pub fn finish(&mut self) -> io::Result<()> {
        self.0.finish(BufWriter::flush)
    }
}

/// Writes a capture with nanoseconds (pcap, `LINKTYPE_RAW`) of the packets that leave a queue for the
/// wire, each when it does; one that the wire then loses is there, one that was dropped is not. Time 0 is
/// the start of the run, 1 January 1970. Warm-up is part of it.
///
/// There are headers only: the payload is cut off, the true length stands in the record and in the
/// headers. They are made of the events' data of a packet:
///
/// - IPv4: addresses ([`scenario::addresses`]), length, the entry's DSCP, the ECN field as the
///   packet left; as identification the low 16 bits of the packet's number; as time to live 255
///   less the number of the queue, from 0 in the order of results, so that a packet that passes
///   several can be told apart.
/// - TCP: ports. Headers have 32 bytes, twelve of them for time stamps that are not known; any
///   further header of an acknowledgement or a SYN looks like payload. The sequence number counts
///   the bytes that left this queue before, and is not the sender's: a retransmission looks like
///   new data. Events have no flags, no acknowledged number and no window: the file has none, and
///   the largest window.
/// - UDP, for QUIC, media and datagrams: ports and length.
/// - RTP behind it, for the media that a session sends, if the engine tells it (the simulator does): sequence
///   number, marker, source, and as time stamp when the frame was handed over; payload types 96 for video, 111
///   for audio, 97 for padding. Feedback is UDP only.
/// - Packets of no flow, such as a kernel's own messages, have protocol 253 and no addresses.
///
/// Checksums of TCP and UDP are 0.
pub struct Pcap<'a, W: Write> {
    parties: Parties<'a>,
    /// Bytes of TCP flows that left queues.
    sent: BTreeMap<(LinkId, FlowId), u32>,
    media: Headers,
    capture: Capture<W>,
}

impl<'a, W: Write> Pcap<'a, W> {
    /// A capture of a run of `scenario`, written to `writer`.
    pub fn new(scenario: &'a Scenario, writer: W) -> Self {
        Pcap {
            parties: Parties::new(scenario),
            sent: BTreeMap::new(),
            media: Headers::default(),
            capture: Capture::new(writer, SNAP as u32),
        }
    }

    /// The headers of a packet that leaves a queue.
    fn headers(&mut self, link: LinkId, packet: PacketId) -> Vec<u8> {
        let mut ip = Ipv4Header {
            ecn: ecn(packet.ecn),
            total_len: u16::try_from(packet.bytes).unwrap_or(u16::MAX),
            identification: packet.number as u16,
            dont_fragment: true,
            time_to_live: HOPS.saturating_sub(u8::try_from(link.0).unwrap_or(HOPS)),
            protocol: IpNumber::EXPERIMENTAL_AND_TESTING_0,
            ..Ipv4Header::default()
        };
        let mut behind = Vec::new();
        if let (Some(flow), Some(party)) = (packet.flow, self.parties.flow(packet.flow)) {
            let [source, destination] = self.parties.ends(link, party);
            ip.source = source.ip().octets();
            ip.destination = destination.ip().octets();
            ip.dscp = IpDscp::try_new(party.entry.dscp.bits()).unwrap_or_default();
            let ports = (source.port(), destination.port());
            if party.carrier == Carrier::Tcp {
                ip.protocol = IpNumber::TCP;
                let sent = self.sent.entry((link, flow)).or_default();
                behind.extend(tcp(ports, packet.bytes, sent).to_bytes());
            } else {
                ip.protocol = IpNumber::UDP;
                let udp = UdpHeader {
                    source_port: ports.0,
                    destination_port: ports.1,
                    length: ip.total_len.saturating_sub(Ipv4Header::MIN_LEN_U16),
                    checksum: 0,
                };
                behind.extend(udp.to_bytes());
                behind.extend(self.media.of(packet.number).into_iter().flatten());
            }
        }
        ip.header_checksum = ip.calc_header_checksum();
        let mut headers = Vec::with_capacity(SNAP);
        headers.extend(ip.to_bytes());
        headers.extend(behind);
        headers.truncate(packet.bytes as usize);
        headers
    }

    fn dequeued(&mut self, now: Instant, link: LinkId, packet: PacketId) {
        let headers = self.headers(link, packet);
        self.capture.add(now.as_nanos(), &headers, packet.bytes);
    }
}

/// The TCP header of a packet of so many bytes, behind `sent` bytes of its flow, which it adds to.
fn tcp(ports: (u16, u16), bytes: u32, sent: &mut u32) -> TcpHeader {
    let mut tcp = TcpHeader::new(ports.0, ports.1, *sent, u16::MAX);
    if bytes as usize >= SNAP {
        let room = tcp.set_options_raw(&[NO_OPERATION; OPTIONS]);
        debug_assert!(room.is_ok(), "a header has room for 40 bytes of options");
    }
    let header = Ipv4Header::MIN_LEN + tcp.header_len();
    *sent = sent.wrapping_add(bytes.saturating_sub(header as u32));
    tcp
}

const fn ecn(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotCapable => IpEcn::NotEct,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}

impl<W: Write> Sink for Pcap<'_, W> {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Dequeued { link, packet, .. } => self.dequeued(now, link, packet),
            Event::Media { packet, part } => {
                if let (Some(flow), Some(party)) = (packet.flow, self.parties.flow(packet.flow)) {
                    self.media.sent(now, packet.number, flow, party, part);
                }
            }
            Event::Arrived { packet }
            | Event::Dropped { packet, .. }
            | Event::Lost { packet, .. } => {
                self.media.gone(packet.number);
            }
            Event::Traffic(event) => {
                self.parties.start(&event);
                if let workload::Event::FrameSent { call, frame } = event {
                    self.media.frame(now, call, frame);
                }
            }
            _ => {}
        }
    }

    fn wants_ends(&self) -> bool {
        true
    }
}

impl<W: Write> WritingTap for Pcap<'_, W> {
    fn finish(&mut self) -> io::Result<()> {
        self.capture.finish()
    }
}
