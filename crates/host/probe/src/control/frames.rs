//! The call's frames: a third subflow beside the load, whose waits are its own.
//!
//! Thirty times a second a frame leaves, in two packets: a picture's and a sound's, 0.3 Mbit/s with all headers. Calls
//! over poor lines send so little; more would not be sparse beside the load on a line of 1 Mbit/s. Two, because a
//! receiver acknowledges every second packet at once, and a single one after 25 ms (RFC 9000, section 13.2). Frames are
//! no part of the window or the detector, and go before the load, whatever queue the load finds.
//!
//! Not for: a call's rate. A real one would send less, or more, over time.

use super::PathPacket;
use std::collections::VecDeque;
use units::{Duration, Instant, Rate};

/// Bytes of filler of a frame's packets.
pub(crate) const SIZES: [usize; 2] = [1000, 120];
/// From frame to frame.
const EVERY: Duration = Duration::from_micros(33_333);
/// What they take of a path, with the headers of QUIC, UDP and IPv4.
const RATE: Rate = Rate::from_bits(300_000);
/// The limit of a sender has to be so many times that, or nothing would be left to load the path with.
const ROOM: u64 = 4;
/// The frames that leave before the load begins: for so long.
const ALONE: Duration = Duration::from_millis(500);
/// For so long after that, frames are neither: slow start fills and empties queues as no later part of a load does, and
/// half a second of it would be a twentieth of a probe.
const SETTLES: Duration = Duration::from_secs(1);
/// A frame that a path does not take for so long is left out, so that it does not hold up the load.
const URGENT: Duration = Duration::from_millis(5);
/// A frame that leaves so much later than it should tells of a machine that is busy with other things.
const LATE: Duration = Duration::from_millis(10);
/// Round trips that are kept, the newest: of four minutes.
const KEPT: usize = 8192;
/// Frames beside a deep queue that there have to be, before their waits are compared with the load's.
const LEAST_DEEP: u32 = 8;
/// Packets that are neither acknowledged nor lost, at most.
const OPEN: usize = 4096;

/// A packet that left.
#[derive(Debug, Clone, Copy)]
struct ProbeSent {
    packet: PathPacket,
    /// The frame's number, from 1; 0 for a packet of none.
    frame: u64,
    /// It is the last of it.
    last: bool,
}

/// The frames of a probe so far.
#[derive(Debug, Clone, Default)]
pub struct ProbeFrames {
    /// When the next one leaves; none if no call was begun.
    next: Option<Instant>,
    /// When the load begins.
    load: Instant,
    /// Packets of the frame that are still to leave, and since when.
    due: usize,
    since: Instant,
    open: VecDeque<ProbeSent>,
    /// The newest packet of the acknowledgement that is being read.
    newest: Option<ProbeSent>,
    /// The newest frame whose first packet is acknowledged.
    first: u64,
    alone: Vec<Duration>,
    beside: Vec<Duration>,
    count: usize,
    /// Frames that were to leave, and those that left late.
    frames: u64,
    late: u64,
    /// Sums over frames beside a deep queue of the load's: their number, their waits and those of the load.
    deep: (u32, Duration, Duration),
    arrived: u64,
    lost: u64,
    sent_bytes: u64,
    delivered: u64,
}

impl ProbeFrames {
    /// Begins the call, and the load after it, if `limit` leaves room for both; else the load alone.
    pub(super) fn begin(&mut self, now: Instant, limit: Rate) {
        self.load = now;
        if limit.as_bits() >= ROOM * RATE.as_bits() {
            self.next = Some(now);
            self.load = now + ALONE;
        }
    }

    /// When the load begins.
    pub(super) fn load(&self) -> Instant {
        self.load
    }

    /// Whether there is a call.
    pub fn is_begun(&self) -> bool {
        self.next.is_some()
    }

    /// When the next frame leaves.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// What `limit` leaves for the load.
    pub(super) fn left_of(&self, limit: Rate) -> Rate {
        let own = if self.is_begun() { RATE.as_bits() } else { 0 };
        Rate::from_bits(limit.as_bits().saturating_sub(own))
    }

    /// It is `now`.
    pub(super) fn tick(&mut self, now: Instant) {
        if let Some(next) = self.next
            && now >= next
        {
            self.due = SIZES.len();
            self.since = now;
            self.frames += 1;
            self.late += u64::from(now.since(next) > LATE);
            // Frames that the processor missed are left out.
            self.next = Some((next + EVERY).max(now));
        }
    }

    /// Bytes of filler of the frame's packet that is to leave now.
    pub(super) fn due(&self, now: Instant) -> Option<usize> {
        let urgent = self.due > 0 && now.since(self.since) < URGENT;
        urgent.then(|| SIZES[SIZES.len() - self.due])
    }

    pub(super) fn sent(&mut self, packet: PathPacket) {
        self.sent_bytes += packet.bytes;
        // Smaller ones are acknowledgements and probes of QUIC's own.
        let frame = self.due > 0 && packet.bytes >= SIZES[SIZES.len() - 1] as u64;
        self.due -= usize::from(frame);
        let last = frame && self.due == 0;
        if self.open.len() == OPEN {
            self.open.pop_front();
        }
        let frame = if frame { self.frames } else { 0 };
        self.open.push_back(ProbeSent {
            packet,
            frame,
            last,
        });
    }

    pub(super) fn acked(&mut self, number: u64) {
        let Some(sent) = self.take(number) else {
            return;
        };
        self.delivered += sent.packet.bytes;
        if !sent.last {
            self.first = self.first.max(sent.frame);
        }
        self.arrived += u64::from(self.is_beside(&sent.packet));
        if self.newest.is_none_or(|n| n.packet.number < number) {
            self.newest = Some(sent);
        }
    }

    /// An acknowledgement is read; the frame's round trip, if it ended one beside the load. One whose first packet was
    /// lost has none: the other alone may have been acknowledged 25 ms late.
    pub(super) fn ack_read(&mut self, now: Instant) -> Option<Duration> {
        let ProbeSent {
            packet,
            frame,
            last: true,
        } = self.newest.take()?
        else {
            return None;
        };
        if frame != self.first {
            return None;
        }
        let rtt = now.since(packet.sent);
        if packet.sent < self.load {
            self.alone.push(rtt);
        } else if self.is_beside(&packet) {
            if self.beside.len() < KEPT {
                self.beside.push(rtt);
            } else {
                self.beside[self.count % KEPT] = rtt;
            }
            self.count += 1;
            return Some(rtt);
        }
        None
    }

    pub(super) fn lost(&mut self, number: u64) {
        if let Some(sent) = self.take(number) {
            self.lost += u64::from(self.is_beside(&sent.packet));
        }
    }

    fn is_beside(&self, packet: &PathPacket) -> bool {
        packet.sent >= self.load + SETTLES
    }

    fn take(&mut self, number: u64) -> Option<ProbeSent> {
        let at = self.open.iter().position(|s| s.packet.number == number)?;
        self.open.remove(at)
    }

    /// Round trips of frames before the load, at most 15.
    pub fn alone(&self) -> &[Duration] {
        &self.alone
    }

    /// Round trips of frames beside the load, from a second after its beginning.
    pub fn beside(&self) -> &[Duration] {
        &self.beside
    }

    /// A frame waited for `own` while the load's packets waited for `load`, in a queue that is deep.
    pub(super) fn beside_deep(&mut self, own: Duration, load: Duration) {
        let (number, owns, loads) = self.deep;
        self.deep = (number + 1, owns + own, loads + load);
    }

    /// What frames waited, as a part of what the load's packets waited at the same time; none if that was deep too seldom.
    pub fn share_of_wait(&self) -> Option<f64> {
        let (number, own, load) = self.deep;
        (number >= LEAST_DEEP).then(|| own.as_secs_f64() / load.as_secs_f64())
    }

    /// The share of frames that left later than they should, 0 to 1.
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.frames.max(1) as f64
    }

    /// The share of packets beside the load that were lost, 0 to 1.
    pub fn lost_share(&self) -> f64 {
        self.lost as f64 / (self.lost + self.arrived).max(1) as f64
    }

    /// Bytes that left, and bytes that arrived.
    pub(super) fn bytes(&self) -> [u64; 2] {
        [self.sent_bytes, self.delivered]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Sends the packets that are due at `ms`, and acknowledges them `rtt` later, but for those that are lost.
    fn frame(frames: &mut ProbeFrames, ms: u64, rtt: u64, lost: bool) -> usize {
        frames.tick(at(ms));
        let mut numbers = Vec::new();
        while let Some(bytes) = frames.due(at(ms)) {
            let number = 10 * ms + numbers.len() as u64;
            frames.sent(PathPacket {
                number,
                sent: at(ms),
                bytes: bytes as u64 + 31,
            });
            numbers.push(number);
        }
        for &number in &numbers {
            if lost {
                frames.lost(number);
            } else {
                frames.acked(number);
            }
        }
        frames.ack_read(at(ms + rtt));
        numbers.len()
    }

    #[test]
    fn frames_alone_and_beside_are_told_apart() {
        let mut frames = ProbeFrames::default();
        frames.begin(at(1000), Rate::from_bits(10_000_000));
        assert_eq!(frame(&mut frames, 1000, 20, false), 2);
        assert_eq!(frame(&mut frames, 1010, 20, false), 0, "not yet");
        assert_eq!(frame(&mut frames, 1034, 22, false), 2);
        assert_eq!(frame(&mut frames, 1500, 300, false), 2);
        assert_eq!(frame(&mut frames, 2500, 70, false), 2);
        assert_eq!(frame(&mut frames, 2534, 80, true), 2);
        let ms = |times: &[u64]| -> Vec<Duration> {
            times.iter().map(|&ms| Duration::from_millis(ms)).collect()
        };
        assert_eq!(frames.alone(), ms(&[20, 22]));
        assert_eq!(frames.beside(), ms(&[70]));
        assert_eq!(frames.lost_share(), 0.5);
        // Three of five came after a pause in this test.
        assert_eq!(frames.late_share(), 0.6);
    }

    #[test]
    fn a_frame_without_its_first_packet_is_not_timed() {
        let mut frames = ProbeFrames::default();
        frames.begin(at(0), Rate::from_bits(10_000_000));
        frames.tick(at(0));
        for (number, &bytes) in SIZES.iter().enumerate() {
            frames.sent(PathPacket {
                number: number as u64,
                sent: at(0),
                bytes: bytes as u64,
            });
        }
        frames.lost(0);
        frames.acked(1);
        frames.ack_read(at(45));
        assert!(frames.alone().is_empty());
        assert_eq!(frame(&mut frames, 40, 20, false), 2);
        assert_eq!(frames.alone().len(), 1);
    }

    #[test]
    fn waits_are_compared_where_the_load_waits_long() {
        let mut frames = ProbeFrames::default();
        let ms = Duration::from_millis;
        (0..7).for_each(|_| frames.beside_deep(ms(25), ms(50)));
        assert_eq!(frames.share_of_wait(), None);
        frames.beside_deep(ms(25), ms(50));
        assert_eq!(frames.share_of_wait(), Some(0.5));
    }

    #[test]
    fn a_frame_that_the_path_does_not_take_is_left_out() {
        let mut frames = ProbeFrames::default();
        frames.begin(at(0), Rate::from_bits(10_000_000));
        frames.tick(at(0));
        assert!(frames.due(at(4)).is_some());
        assert_eq!(frames.due(at(5)), None);
        // After a pause there is one frame, not those that were missed.
        assert_eq!(frame(&mut frames, 400, 20, false), 2);
        assert_eq!(frame(&mut frames, 401, 20, false), 2);
        assert_eq!(frame(&mut frames, 402, 20, false), 0);
    }

    #[test]
    fn a_limit_without_room_for_a_call_has_none() {
        let mut frames = ProbeFrames::default();
        let little = Rate::from_bits(1_000_000);
        frames.begin(at(0), little);
        assert!(!frames.is_begun() && frames.next().is_none());
        assert_eq!((frames.load(), frames.left_of(little)), (at(0), little));
        let limit = Rate::from_bits(2_000_000);
        frames.begin(at(0), limit);
        assert_eq!(frames.left_of(limit).as_bits(), 1_700_000);
    }
}
