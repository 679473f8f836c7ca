//! Packets waiting to be sent, and sent packets that may be asked for again (libwebrtc's pacer
//! queue and `RtpPacketHistory`).
//!
//! Repairs leave before media. A part stays for a second or three round trips after it was sent.

use super::{Fragment, MediaParams};
use std::collections::VecDeque;
use units::{Duration, Instant, Rate};

/// libwebrtc `kMinPacketDuration`, `kMinPacketDurationRtt`, `kMaxCapacity`.
const KEPT: Duration = Duration::from_secs(1);
const KEPT_ROUNDS: u64 = 3;
const MOST_KEPT: usize = 9_600;
/// Repairs may take as much as the media, over this time (libwebrtc `kRetransmitWindowSizeMs`).
const REPAIR_WINDOW: Duration = Duration::from_millis(500);

/// A frame as the encoder hands it over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedFrame {
    /// The stream of video that it belongs to.
    pub stream: u8,
    /// Its number in the stream: 0, then one more for each.
    pub id: u64,
    /// How long it is.
    pub bytes: u32,
    /// It depends on no other; any other depends on the one before it in its stream, or on that which
    /// `back` says.
    pub key: bool,
    /// Its temporal layer, from 0, the base.
    pub layer: u8,
    /// In a stream with temporal layers, how many frames before it that is on which it depends; 0 in one
    /// without.
    pub back: u8,
}

/// A part of a frame, on its way or sent.
#[derive(Debug, Clone, Copy)]
pub struct FramePart {
    /// The part of a frame.
    pub fragment: Fragment,
    /// Length on the wire, bytes.
    pub len: u32,
    /// When it began to wait, for the first time or again.
    since: Instant,
    /// When it was sent last.
    sent: Instant,
    resent: bool,
    waiting: bool,
}

/// The places of one stream's parts among all parts.
#[derive(Debug, Default)]
struct Track {
    /// RTP sequence number of the first of `places`.
    base: u64,
    places: VecDeque<u64>,
}

/// The parts of all recent frames, in the order in which they came. A part's place is one more than
/// that of the part before it, of any stream.
#[derive(Debug, Default)]
pub struct PartQueue {
    /// Place of the first of `parts`.
    base: u64,
    parts: VecDeque<FramePart>,
    /// By stream.
    tracks: Vec<Track>,
    /// Place of the first part that was never sent.
    unsent: u64,
    /// Places of the parts to send again.
    again: VecDeque<u64>,
    /// Of all that waits.
    bytes: u64,
    packets: u64,
    /// Sum of `since` over all that waits, nanoseconds.
    since_sum: u128,
    /// Bytes of repairs that their share of the rate has not paid for, at `repairs_at`.
    repairs: u64,
    repairs_at: Instant,
}

/// The time stamp of a frame that is handed over `now`: RTP's, of 90 kHz.
fn timestamp(now: Instant) -> u32 {
    let ticks = u128::from(now.as_nanos()) * 9 / 100_000;
    ticks as u32
}

impl PartQueue {
    /// Cuts a frame into parts of about equal size.
    pub fn push(&mut self, now: Instant, frame: &EncodedFrame, params: &MediaParams) {
        let stream = usize::from(frame.stream);
        if self.tracks.len() <= stream {
            self.tracks.resize_with(stream + 1, Track::default);
        }
        let bytes = u64::from(frame.bytes.max(1));
        let count = bytes.div_ceil(u64::from(params.payload));
        let timestamp = timestamp(now);
        for index in 0..count {
            let payload = bytes * (index + 1) / count - bytes * index / count;
            let place = self.base + self.parts.len() as u64;
            let track = &mut self.tracks[stream];
            let part = FramePart {
                fragment: Fragment {
                    stream: frame.stream,
                    rtp: track.base + track.places.len() as u64,
                    frame: frame.id,
                    index: index as u32,
                    count: count as u32,
                    key: frame.key,
                    layer: frame.layer,
                    back: frame.back,
                    timestamp,
                },
                len: payload as u32 + params.overhead,
                since: now,
                sent: now,
                resent: false,
                waiting: true,
            };
            track.places.push_back(place);
            self.count_in(&part);
            self.parts.push_back(part);
        }
    }

    /// The place of a part of a stream, if it is still known.
    fn place(&self, stream: u8, rtp: u64) -> Option<u64> {
        let track = self.tracks.get(usize::from(stream))?;
        let after = usize::try_from(rtp.checked_sub(track.base)?).ok()?;
        track.places.get(after).copied()
    }

    fn count_in(&mut self, part: &FramePart) {
        self.bytes += u64::from(part.len);
        self.packets += 1;
        self.since_sum += u128::from(part.since.as_nanos());
    }

    fn get_mut(&mut self, place: u64) -> Option<&mut FramePart> {
        self.parts.get_mut(place.checked_sub(self.base)? as usize)
    }

    fn get(&self, place: u64) -> Option<&FramePart> {
        self.parts.get(place.checked_sub(self.base)? as usize)
    }

    fn next_place(&self) -> u64 {
        self.again.front().copied().unwrap_or(self.unsent)
    }

    /// Whether a part waits that was sent before.
    pub fn repairs(&self) -> bool {
        !self.again.is_empty()
    }

    /// The next part to send.
    pub fn peek(&self) -> Option<&FramePart> {
        self.get(self.next_place())
    }

    /// Takes the next part to send; true with one that was sent before.
    pub fn pop(&mut self, now: Instant, srtt: Duration) -> Option<(FramePart, bool)> {
        let place = self.next_place();
        let again = self.again.pop_front().is_some();
        let part = self.get_mut(place)?;
        part.waiting = false;
        part.resent |= again;
        part.sent = now;
        let part = *part;
        self.unsent += u64::from(!again);
        self.bytes -= u64::from(part.len);
        self.packets -= 1;
        self.since_sum -= u128::from(part.since.as_nanos());
        self.forget(now, srtt);
        Some((part, again))
    }

    /// Forgets parts that were sent long ago.
    fn forget(&mut self, now: Instant, srtt: Duration) {
        let kept = KEPT.max(srtt * KEPT_ROUNDS);
        while let Some(oldest) = self.parts.front() {
            let old = now.since(oldest.sent) > kept || self.parts.len() > MOST_KEPT;
            if oldest.waiting || !old {
                break;
            }
            let track = &mut self.tracks[usize::from(oldest.fragment.stream)];
            track.places.pop_front();
            track.base += 1;
            self.parts.pop_front();
            self.base += 1;
        }
    }

    /// The receiver misses `rtp` of `stream`. No effect if it is not known any more, waits already,
    /// was sent again less than a round trip ago, or repairs took more than `rate` lately.
    pub fn ask(&mut self, now: Instant, stream: u8, rtp: u64, srtt: Duration, rate: Rate) {
        self.forget(now, srtt);
        let paid = rate.bytes_in(now.since(self.repairs_at));
        self.repairs = self.repairs.saturating_sub(paid);
        self.repairs_at = now;
        if self.repairs > rate.bytes_in(REPAIR_WINDOW) {
            return;
        }
        let part = self.place(stream, rtp).and_then(|place| self.get(place));
        let Some(&part) = part else {
            return;
        };
        if part.waiting || (part.resent && now.since(part.sent) < srtt) {
            return;
        }
        self.repairs += u64::from(part.len);
        self.repeat(now, stream, rtp);
    }

    /// Sends `rtp` of `stream` again, regardless of the rate. No effect if it is not known any more
    /// or waits already.
    pub fn repeat(&mut self, now: Instant, stream: u8, rtp: u64) {
        let Some(place) = self.place(stream, rtp) else {
            return;
        };
        let Some(part) = self.get_mut(place).filter(|part| !part.waiting) else {
            return;
        };
        part.waiting = true;
        part.since = now;
        let part = *part;
        self.count_in(&part);
        self.again.push_back(place);
    }

    /// Bytes that wait, headers included.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How long the media that leaves next has waited.
    pub fn oldest(&self, now: Instant) -> Duration {
        self.get(self.unsent)
            .map_or(Duration::ZERO, |part| now.since(part.since))
    }

    /// The average time that the queued parts have waited.
    pub fn mean_wait(&self, now: Instant) -> Duration {
        if self.packets == 0 {
            return Duration::ZERO;
        }
        let all = u128::from(now.as_nanos()) * u128::from(self.packets);
        let mean = all.saturating_sub(self.since_sum) / u128::from(self.packets);
        Duration::from_nanos(mean as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    const RTT: Duration = Duration::from_millis(50);
    const RATE: Rate = Rate::from_bits(10_000_000);

    fn queue(frame_bytes: &[u32]) -> PartQueue {
        let mut queue = PartQueue::default();
        for (id, &bytes) in (0..).zip(frame_bytes) {
            push(&mut queue, 0, 0, id, bytes);
        }
        queue
    }

    fn push(queue: &mut PartQueue, at: u64, stream: u8, id: u64, bytes: u32) {
        let frame = EncodedFrame {
            stream,
            id,
            bytes,
            key: id == 0,
            layer: 0,
            back: 0,
        };
        queue.push(ms(at), &frame, &MediaParams::default());
    }

    fn pop(queue: &mut PartQueue, at: u64) -> Option<(u64, u32, bool)> {
        let (part, again) = queue.pop(ms(at), RTT)?;
        Some((part.fragment.rtp, part.len, again))
    }

    #[test]
    fn frames_are_cut_into_equal_parts() {
        let mut queue = queue(&[2_500, 1]);
        // 2500 B need three packets: 833, 1666 − 833, 2500 − 1666; each with 58 B of headers.
        assert_eq!(queue.bytes(), 2_501 + 4 * 58);
        assert_eq!(pop(&mut queue, 0), Some((0, 891, false)));
        assert_eq!(pop(&mut queue, 0), Some((1, 891, false)));
        assert_eq!(pop(&mut queue, 0), Some((2, 892, false)));
        assert_eq!(pop(&mut queue, 0), Some((3, 59, false)));
        assert_eq!((pop(&mut queue, 0), queue.bytes()), (None, 0));
    }

    #[test]
    fn repairs_leave_first_and_once_a_round_trip() {
        let mut queue = queue(&[2_400, 100]);
        pop(&mut queue, 0);
        pop(&mut queue, 0);
        for rtp in [0, 0, 2, 77] {
            queue.ask(ms(40), 0, rtp, RTT, RATE);
        }
        assert_eq!(pop(&mut queue, 40), Some((0, 1_258, true)));
        queue.ask(ms(60), 0, 0, RTT, RATE);
        assert_eq!(pop(&mut queue, 60), Some((2, 158, false)));
        queue.ask(ms(90), 0, 0, RTT, RATE);
        assert_eq!(pop(&mut queue, 90), Some((0, 1_258, true)));
        queue.ask(ms(900), 0, 1, RTT, RATE);
        assert_eq!(pop(&mut queue, 900), Some((1, 1_258, true)));
        queue.ask(ms(1_901), 0, 2, RTT, RATE);
        assert_eq!(pop(&mut queue, 1_901), None, "forgotten");
    }

    #[test]
    fn repairs_take_no_more_than_the_rate() {
        let mut queue = queue(&[20 * 1_200]);
        for _ in 0..20 {
            pop(&mut queue, 0);
        }
        // 100 640 bit/s: five packets in 500 ms, and one that goes beyond.
        let rate = Rate::from_bits(100_640);
        for rtp in 0..20 {
            queue.ask(ms(10), 0, rtp, RTT, rate);
        }
        assert_eq!(queue.bytes(), 6 * 1_258);
        // 100 ms pay for one more.
        for rtp in 0..20 {
            queue.ask(ms(110), 0, rtp, RTT, rate);
        }
        assert_eq!(queue.bytes(), 7 * 1_258);
    }

    #[test]
    fn each_stream_has_its_own_numbers() {
        let mut queue = PartQueue::default();
        push(&mut queue, 0, 0, 0, 1_000);
        push(&mut queue, 0, 2, 0, 2_000);
        push(&mut queue, 0, 0, 1, 500);
        let next = |queue: &mut PartQueue, at| {
            let (FramePart { fragment, len, .. }, _) = queue.pop(ms(at), RTT)?;
            Some((fragment.stream, fragment.rtp, len))
        };
        let sent: Vec<_> = core::iter::from_fn(|| next(&mut queue, 0)).collect();
        assert_eq!(
            sent,
            [(0, 0, 1_058), (2, 0, 1_058), (2, 1, 1_058), (0, 1, 558)]
        );
        // Stream 1 sent no parts, and stream 3 is not known.
        for (stream, rtp) in [(0, 1), (1, 0), (2, 1), (3, 0)] {
            queue.ask(ms(40), stream, rtp, RTT, RATE);
        }
        let again: Vec<_> = core::iter::from_fn(|| next(&mut queue, 40)).collect();
        assert_eq!(again, [(0, 1, 558), (2, 1, 1_058)]);
        // At 1.02 s parts that left at 0 are forgotten; those that left at 40 ms are not.
        for (stream, rtp) in [(0, 0), (0, 1), (2, 0), (2, 1)] {
            queue.ask(ms(1_020), stream, rtp, RTT, RATE);
        }
        let again: Vec<_> = core::iter::from_fn(|| next(&mut queue, 1_020)).collect();
        assert_eq!(again, [(0, 1, 558), (2, 1, 1_058)]);
    }

    #[test]
    fn waiting_times() {
        let mut queue = queue(&[1_000]);
        push(&mut queue, 30, 0, 1, 1_000);
        assert_eq!(queue.oldest(ms(40)), Duration::from_millis(40));
        // (40 + 10) / 2.
        assert_eq!(queue.mean_wait(ms(40)), Duration::from_millis(25));
    }
}
