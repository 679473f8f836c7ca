//! The sender's side: what is known of each stream, the packets that wait, and what they cost.

use super::block::Block;
use super::loss::LossFilter;
use super::plan::{FecNeed, FecPlan};
use crate::media::{EncodedFrame, FecPacket, Fragment};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Weight of a new frame in the averages.
const WEIGHT: f64 = 0.1;
/// The cost is that of the last whole second (libwebrtc asks the RTP module for the same).
const SECOND: Duration = Duration::from_secs(1);
/// FEC takes no more than this share from the encoder (`kProtectionOverheadRateThreshold`).
const MOST_COST: f64 = 0.5;

/// Forward error correction at a session's sender.
#[derive(Debug)]
pub struct FecSender {
    overhead: u32,
    loss: LossFilter,
    /// By number, as far as frames came.
    streams: Vec<ProtectedStream>,
    /// Packets that are made, and their lengths.
    waiting: VecDeque<(FecPacket, u32)>,
    cost: FecCost,
}

#[derive(Debug)]
struct ProtectedStream {
    block: Block,
    /// Bytes of a delta frame, and seconds between frames: averages.
    frame_bytes: f64,
    gap: f64,
    last: Option<Instant>,
    layered: bool,
}

/// Bytes of FEC, and of the video that it protects.
#[derive(Debug, Default)]
struct FecCost {
    began: Instant,
    fec: u64,
    video: u64,
    /// FEC's share in the last whole second.
    share: f64,
}

impl FecSender {
    /// Nothing has been sent; `overhead` bytes of each packet are headers.
    pub fn new(overhead: u32) -> Self {
        FecSender {
            overhead,
            loss: LossFilter::new(),
            streams: Vec::new(),
            waiting: VecDeque::new(),
            cost: FecCost::default(),
        }
    }

    /// An encoder handed over a frame. Of temporal layers only the base is protected.
    pub fn frame(&mut self, now: Instant, frame: &EncodedFrame) {
        if frame.layer > 0 {
            return;
        }
        while self.streams.len() <= usize::from(frame.stream) {
            self.streams.push(ProtectedStream {
                block: Block::new(),
                frame_bytes: 0.0,
                gap: 0.0,
                last: None,
                layered: false,
            });
        }
        let stream = &mut self.streams[usize::from(frame.stream)];
        stream.layered = frame.back > 0;
        if !frame.key {
            average(&mut stream.frame_bytes, f64::from(frame.bytes));
        }
        if let Some(last) = stream.last.replace(now) {
            average(&mut stream.gap, now.since(last).as_secs_f64());
        }
    }

    /// A part left for the first time, of `len` bytes on the wire.
    pub fn sent(&mut self, now: Instant, part: &Fragment, len: u32, rtt: Duration) {
        self.loss.sent(now);
        self.cost.count(now, 0, u64::from(len));
        let stream = self.streams.get_mut(usize::from(part.stream));
        let Some(stream) = stream.filter(|_| part.layer == 0) else {
            return;
        };
        let plan = || {
            FecPlan::of(&FecNeed {
                loss: self.loss.share(),
                rtt,
                frame_bytes: stream.frame_bytes,
                fps: if stream.gap > 0.0 {
                    1.0 / stream.gap
                } else {
                    1.0
                },
                layered: stream.layered,
            })
        };
        let (overhead, out) = (self.overhead, &mut self.waiting);
        stream.block.sent(part, len, overhead, plan, out);
    }

    /// The receiver reported: so far `packets` have been sent and `lost` of them are missing.
    pub fn counted(&mut self, now: Instant, packets: u64, lost: u64) {
        self.loss.counted(now, packets, lost);
    }

    /// The length of the packet that leaves next.
    pub fn next_len(&self) -> Option<u32> {
        self.waiting.front().map(|(_, len)| *len)
    }

    /// The packet that leaves now.
    pub fn pop(&mut self, now: Instant) -> Option<FecPacket> {
        let (packet, len) = self.waiting.pop_front()?;
        self.cost.count(now, u64::from(len), 0);
        Some(packet)
    }

    /// The share of the rate that FEC takes.
    pub fn cost(&self) -> f64 {
        self.cost.share
    }
}

fn average(mean: &mut f64, value: f64) {
    let weight = if *mean == 0.0 { 1.0 } else { WEIGHT };
    *mean += weight * (value - *mean);
}

impl FecCost {
    fn count(&mut self, now: Instant, fec: u64, video: u64) {
        if now.since(self.began) >= SECOND {
            let all = (self.fec + self.video).max(1);
            self.share = (self.fec as f64 / all as f64).min(MOST_COST);
            (self.began, self.fec, self.video) = (now, 0, 0);
        }
        self.fec += fec;
        self.video += video;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_that_of_the_last_second() {
        let mut cost = FecCost::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        cost.count(at(0), 0, 750);
        cost.count(at(500), 250, 0);
        assert_eq!(cost.share, 0.0);
        cost.count(at(1_000), 0, 100);
        assert_eq!(cost.share, 0.25);
        cost.count(at(2_000), 900, 0);
        assert_eq!(cost.share, 0.0);
        cost.count(at(3_000), 0, 1);
        assert_eq!(cost.share, MOST_COST);
    }
}
