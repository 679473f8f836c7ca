//! What waits to be sent, and what was sent and may be asked for again (libwebrtc's pacer queue
//! and `RtpPacketHistory`).
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

/// A part of a frame, on its way or sent.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// What it is.
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

/// The parts of all recent frames.
#[derive(Debug, Default)]
pub struct Queue {
    /// RTP sequence number of the first of `parts`.
    base: u64,
    parts: VecDeque<Part>,
    /// RTP sequence number of the first part that was never sent.
    unsent: u64,
    /// RTP sequence numbers to send again.
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

impl Queue {
    /// Cuts a frame into parts of about equal size.
    pub fn push(&mut self, now: Instant, frame: u64, bytes: u32, key: bool, params: &MediaParams) {
        let bytes = u64::from(bytes.max(1));
        let count = bytes.div_ceil(u64::from(params.payload));
        for index in 0..count {
            let payload = bytes * (index + 1) / count - bytes * index / count;
            let part = Part {
                fragment: Fragment {
                    rtp: self.end(),
                    frame,
                    index: index as u32,
                    count: count as u32,
                    key,
                },
                len: payload as u32 + params.overhead,
                since: now,
                sent: now,
                resent: false,
                waiting: true,
            };
            self.count_in(&part);
            self.parts.push_back(part);
        }
    }

    fn end(&self) -> u64 {
        self.base + self.parts.len() as u64
    }

    fn count_in(&mut self, part: &Part) {
        self.bytes += u64::from(part.len);
        self.packets += 1;
        self.since_sum += u128::from(part.since.as_nanos());
    }

    fn get_mut(&mut self, rtp: u64) -> Option<&mut Part> {
        self.parts.get_mut(rtp.checked_sub(self.base)? as usize)
    }

    fn get(&self, rtp: u64) -> Option<&Part> {
        self.parts.get(rtp.checked_sub(self.base)? as usize)
    }

    fn next_rtp(&self) -> u64 {
        self.again.front().copied().unwrap_or(self.unsent)
    }

    /// The next part to send.
    pub fn peek(&self) -> Option<&Part> {
        self.get(self.next_rtp())
    }

    /// Takes the next part to send; true with one that was sent before.
    pub fn pop(&mut self, now: Instant, srtt: Duration) -> Option<(Part, bool)> {
        let rtp = self.next_rtp();
        let again = self.again.pop_front().is_some();
        let part = self.get_mut(rtp)?;
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

    /// Forgets what was sent long ago.
    fn forget(&mut self, now: Instant, srtt: Duration) {
        let kept = KEPT.max(srtt * KEPT_ROUNDS);
        while let Some(oldest) = self.parts.front() {
            let old = now.since(oldest.sent) > kept || self.parts.len() > MOST_KEPT;
            if oldest.waiting || !old {
                break;
            }
            self.parts.pop_front();
            self.base += 1;
        }
    }

    /// The receiver misses `rtp`. Nothing happens if it is not known any more, waits already, was
    /// sent again less than a round trip ago, or repairs took more than `rate` lately.
    pub fn ask(&mut self, now: Instant, rtp: u64, srtt: Duration, rate: Rate) {
        self.forget(now, srtt);
        let paid = rate.bytes_in(now.since(self.repairs_at));
        self.repairs = self.repairs.saturating_sub(paid);
        self.repairs_at = now;
        if self.repairs > rate.bytes_in(REPAIR_WINDOW) {
            return;
        }
        let Some(&part) = self.get(rtp) else {
            return;
        };
        if part.waiting || (part.resent && now.since(part.sent) < srtt) {
            return;
        }
        self.repairs += u64::from(part.len);
        self.repeat(now, rtp);
    }

    /// Sends `rtp` again, whatever the rate. Nothing happens if it is not known any more or waits
    /// already.
    pub fn repeat(&mut self, now: Instant, rtp: u64) {
        let Some(part) = self.get_mut(rtp).filter(|part| !part.waiting) else {
            return;
        };
        part.waiting = true;
        part.since = now;
        let part = *part;
        self.count_in(&part);
        self.again.push_back(rtp);
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

    /// How long what waits has waited on average.
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

    fn queue(frame_bytes: &[u32]) -> Queue {
        let mut queue = Queue::default();
        for (frame, &bytes) in frame_bytes.iter().enumerate() {
            queue.push(
                ms(0),
                frame as u64,
                bytes,
                frame == 0,
                &MediaParams::default(),
            );
        }
        queue
    }

    fn pop(queue: &mut Queue, at: u64) -> Option<(u64, u32, bool)> {
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
            queue.ask(ms(40), rtp, RTT, RATE);
        }
        assert_eq!(pop(&mut queue, 40), Some((0, 1_258, true)));
        queue.ask(ms(60), 0, RTT, RATE);
        assert_eq!(pop(&mut queue, 60), Some((2, 158, false)));
        queue.ask(ms(90), 0, RTT, RATE);
        assert_eq!(pop(&mut queue, 90), Some((0, 1_258, true)));
        queue.ask(ms(900), 1, RTT, RATE);
        assert_eq!(pop(&mut queue, 900), Some((1, 1_258, true)));
        queue.ask(ms(1_901), 2, RTT, RATE);
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
            queue.ask(ms(10), rtp, RTT, rate);
        }
        assert_eq!(queue.bytes(), 6 * 1_258);
        // 100 ms pay for one more.
        for rtp in 0..20 {
            queue.ask(ms(110), rtp, RTT, rate);
        }
        assert_eq!(queue.bytes(), 7 * 1_258);
    }

    #[test]
    fn waiting_times() {
        let mut queue = queue(&[1_000]);
        queue.push(ms(30), 1, 1_000, false, &MediaParams::default());
        assert_eq!(queue.oldest(ms(40)), Duration::from_millis(40));
        // (40 + 10) / 2.
        assert_eq!(queue.mean_wait(ms(40)), Duration::from_millis(25));
    }
}
