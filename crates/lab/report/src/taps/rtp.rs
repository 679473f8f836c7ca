//! The RTP headers of media packets (RFC 3550), for captures.

use super::parties::Party;
use measure::{MediaContent, MediaPart};
use std::collections::{BTreeMap, VecDeque};
use units::{FlowId, Instant};
use workload::TrafficId;

/// Bytes of a header without extensions.
pub const LEN: usize = 12;
/// Version 2, no padding, no extension, no contributing sources.
const VERSION: u8 = 2 << 6;
/// The bit of the last packet of a frame (RFC 6184, 5.1, and other payload formats of video).
const MARKER: u8 = 1 << 7;
/// Payload types, which have no fixed meaning: those that Chromium offers for VP8, its retransmissions and
/// Opus, and one for FEC.
const VIDEO: u8 = 96;
const PADDING: u8 = 97;
const FEC: u8 = 98;
const AUDIO: u8 = 111;
/// Ticks of a frame of audio of 20 ms (RFC 7587: 48 kHz).
const AUDIO_TICKS: u64 = 960;
/// Parts of a flow's synchronization sources that are not streams of video.
const AUDIO_SOURCE: u32 = 0x80;
const FEC_SOURCE: u32 = 0xa0;
const PADDING_SOURCE: u32 = 0xc0;
/// A frame's packets have left before so many later ones are handed over.
const FRAMES: usize = 1000;

/// Headers of the packets that are under way.
#[derive(Default)]
pub struct Headers {
    /// When frames were handed over, by call.
    frames: BTreeMap<TrafficId, VecDeque<(u64, Instant)>>,
    /// How many packets each flow sent of padding and of FEC, which are streams of their own, by their
    /// payload type.
    others: BTreeMap<(FlowId, u8), u64>,
    /// By the packet's number.
    sent: BTreeMap<u64, [u8; LEN]>,
}

impl Headers {
    /// A frame was handed over.
    pub fn frame(&mut self, now: Instant, call: TrafficId, frame: u64) {
        let frames = self.frames.entry(call).or_default();
        frames.push_back((frame, now));
        if frames.len() > FRAMES {
            frames.pop_front();
        }
    }

    /// A media packet left its end point.
    pub fn sent(
        &mut self,
        now: Instant,
        number: u64,
        flow: FlowId,
        party: &Party<'_>,
        part: MediaPart,
    ) {
        let source = flow.0 << 8;
        let header = match part.content {
            MediaContent::Video {
                sequence,
                frame,
                last,
            } => {
                let at = self.handed_over(party.id, frame).unwrap_or(now);
                let marker = if last { MARKER } else { 0 };
                let ticks = at.as_nanos() / 1000 * 9 / 100;
                header(
                    marker | VIDEO,
                    sequence,
                    ticks,
                    source | u32::from(part.stream),
                )
            }
            MediaContent::Audio { frame, .. } => {
                header(AUDIO, frame, frame * AUDIO_TICKS, source | AUDIO_SOURCE)
            }
            MediaContent::Fec => self.other(flow, FEC, source | FEC_SOURCE),
            MediaContent::Padding => self.other(flow, PADDING, source | PADDING_SOURCE),
        };
        self.sent.insert(number, header);
    }

    /// A header of a packet that is no part of a frame.
    fn other(&mut self, flow: FlowId, kind: u8, source: u32) -> [u8; LEN] {
        let sent = self.others.entry((flow, kind)).or_default();
        *sent += 1;
        header(kind, *sent, 0, source)
    }

    fn handed_over(&self, call: TrafficId, frame: u64) -> Option<Instant> {
        let frames = self.frames.get(&call)?;
        let place = frames
            .binary_search_by_key(&frame, |(frame, _)| *frame)
            .ok()?;
        Some(frames[place].1)
    }

    /// The header of a packet; none if it is no media packet.
    pub fn of(&self, number: u64) -> Option<&[u8; LEN]> {
        self.sent.get(&number)
    }

    /// A packet has arrived, or will not.
    pub fn gone(&mut self, number: u64) {
        self.sent.remove(&number);
    }
}

/// A header; its numbers are the low bits of these.
fn header(kind: u8, sequence: u64, ticks: u64, source: u32) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    (bytes[0], bytes[1]) = (VERSION, kind);
    bytes[2..4].copy_from_slice(&(sequence as u16).to_be_bytes());
    bytes[4..8].copy_from_slice(&(ticks as u32).to_be_bytes());
    bytes[8..].copy_from_slice(&source.to_be_bytes());
    bytes
}
