//! Frames in the receiver: which are complete, which can be shown, which are lost.

use super::jitter_buffer::{JitterBuffer, Whole};
use super::{Fragment, MediaEvent, MediaParams};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// No temporal layer's frame depends on one that is further back (L1T3: the first of four frames).
const FARTHEST_BACK: usize = 4;
/// A frame so far ahead of the awaited one is invalid.
const FARTHEST: u64 = 10_000;

/// The frames that have not been shown.
#[derive(Debug, Default)]
pub struct Frames {
    /// The owner of these frames.
    stream: u8,
    /// Number of the first of `slots`.
    front: u64,
    slots: VecDeque<FrameSlot>,
    /// A key frame has been shown.
    started: bool,
    /// Bit `n` is set where the frame `n + 1` before `front` was shown, or given up for good.
    shown: u64,
    /// A frame so many behind the newest is lost; 0 for none.
    most_behind: usize,
    /// Where frames that can be shown wait for their turn, if they do.
    buffer: Option<Box<JitterBuffer>>,
}

/// The arrival of a part.
#[derive(Debug, Clone, Copy)]
pub struct Came {
    /// When.
    pub at: Instant,
    /// How long it is, without headers.
    pub bytes: u32,
    /// It was asked for.
    pub repaired: bool,
}

/// A frame whose parts may have arrived; with a `count` of zero none has.
#[derive(Debug, Clone, Copy, Default)]
struct FrameSlot {
    first_rtp: u64,
    count: u32,
    arrived: u32,
    back: u8,
    frame: Whole,
}

impl FrameSlot {
    const fn complete(&self) -> bool {
        self.count > 0 && self.arrived == self.count
    }
}

impl Frames {
    /// No frame of `stream` has come.
    pub fn new(stream: u8, params: &MediaParams) -> Self {
        Frames {
            stream,
            most_behind: params.repeat_frames as usize,
            buffer: params
                .buffers()
                .then(|| Box::new(JitterBuffer::new(stream))),
            ..Frames::default()
        }
    }

    /// Whether a frame waits for missing parts.
    pub fn blocked(&self) -> bool {
        !self.slots.is_empty()
    }

    /// One more than the newest frame with a part that has arrived.
    pub fn next(&self) -> u64 {
        self.front + self.slots.len() as u64
    }

    /// A part arrived for the first time. Returns the RTP sequence number before which packets are
    /// no longer of interest, if that has changed.
    pub fn part(
        &mut self,
        came: &Came,
        part: &Fragment,
        events: &mut VecDeque<MediaEvent>,
    ) -> Option<u64> {
        let (stream, at) = (self.stream, came.at);
        let ahead = part.frame.checked_sub(self.front)?;
        let first_rtp = part.rtp.checked_sub(u64::from(part.index))?;
        if ahead > FARTHEST || part.index >= part.count {
            return None;
        }
        let index = ahead as usize;
        if index >= self.slots.len() {
            self.slots.resize(index + 1, FrameSlot::default());
        }
        let slot = &mut self.slots[index];
        if slot.count == 0 {
            *slot = FrameSlot {
                first_rtp,
                count: part.count,
                arrived: 0,
                back: part.back,
                frame: Whole {
                    id: part.frame,
                    timestamp: part.timestamp,
                    first: at,
                    key: part.key,
                    ..Whole::default()
                },
            };
        }
        slot.arrived = slot.count.min(slot.arrived + 1);
        slot.frame.last = at;
        slot.frame.bytes = slot.frame.bytes.saturating_add(came.bytes);
        slot.frame.repaired |= came.repaired;
        let (complete, key) = (slot.complete(), slot.frame.key);
        if complete {
            if let Some(buffer) = &mut self.buffer {
                buffer.complete(&slot.frame);
            }
            let id = part.frame;
            events.push_back(MediaEvent::FrameComplete { stream, id, at });
        }
        if complete && key {
            self.skip(index, at, events);
        }
        let mut end = if complete {
            self.show(at, events)
        } else {
            None
        };
        while self.most_behind > 0 && self.slots.len() > self.most_behind {
            self.skip(1, at, events);
            // The sender does not repeat it any more: what depends on it is shown without it.
            self.started = true;
            self.shown |= 1;
            end = self.show(at, events).or(end);
        }
        end
    }

    /// Drops the first `count` frames: they are lost.
    fn skip(&mut self, count: usize, at: Instant, events: &mut VecDeque<MediaEvent>) {
        let stream = self.stream;
        for _ in self.slots.drain(..count) {
            let id = self.front;
            events.push_back(MediaEvent::FrameLost { stream, id, at });
            self.front += 1;
            self.shown <<= 1;
        }
    }

    /// The round trip is `rtt`, as far as the sender knows.
    pub fn round_trip(&mut self, now: Instant, rtt: Duration) {
        if let Some(buffer) = &mut self.buffer {
            buffer.round_trip(now, rtt);
        }
    }

    /// When to call [`on_timer`](Self::on_timer); [`Instant::NEVER`] if not at all.
    pub fn next_timer(&self) -> Instant {
        let buffer = self.buffer.as_ref();
        buffer.map_or(Instant::NEVER, |buffer| buffer.next_timer())
    }

    /// Time has passed: frames that wait may have their turn.
    pub fn on_timer(&mut self, now: Instant, events: &mut VecDeque<MediaEvent>) {
        if let Some(buffer) = &mut self.buffer {
            buffer.on_timer(now, events);
        }
    }

    /// The first frame that can be shown; with temporal layers those before it may be missing.
    fn next_shown(&self) -> Option<usize> {
        let near = 0..self.slots.len().min(FARTHEST_BACK);
        near.into_iter().find(|place| self.can_be_shown(*place))
    }

    fn can_be_shown(&self, place: usize) -> bool {
        let slot = &self.slots[place];
        let needed = || match usize::from(slot.back) {
            0 => place == 0 && self.started,
            // The frame `back` before it, which is before `front`.
            back => back.checked_sub(place + 1).is_some_and(|bit| {
                let shown = self.shown.checked_shr(bit as u32);
                shown.is_some_and(|shown| shown & 1 == 1)
            }),
        };
        slot.complete() && (slot.frame.key || needed())
    }

    fn show(&mut self, at: Instant, events: &mut VecDeque<MediaEvent>) -> Option<u64> {
        let mut end = None;
        while let Some(place) = self.next_shown() {
            self.skip(place, at, events);
            let slot = self.slots.pop_front()?;
            end = Some(slot.first_rtp.saturating_add(u64::from(slot.count)));
            self.started = true;
            let (stream, id, held) = (self.stream, self.front, Duration::ZERO);
            match &mut self.buffer {
                Some(buffer) => buffer.push(at, slot.frame, events),
                None => events.push_back(MediaEvent::FrameShown {
                    stream,
                    id,
                    at,
                    held,
                }),
            }
            self.front += 1;
            self.shown = self.shown << 1 | 1;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::tests;

    const CAME: Came = Came {
        at: Instant::ZERO,
        bytes: 1_000,
        repaired: false,
    };

    /// Frames of two parts each; 0 and 3 are key frames.
    fn part(frame: u64, index: u32) -> Fragment {
        Fragment {
            key: frame.is_multiple_of(3),
            ..tests::part(frame * 2 + u64::from(index), 2)
        }
    }

    fn feed(parts: &[(u64, u32)]) -> (Vec<String>, Option<u64>) {
        let mut frames = Frames::default();
        let mut events = VecDeque::new();
        let mut end = None;
        for &(frame, index) in parts {
            end = frames.part(&CAME, &part(frame, index), &mut events).or(end);
        }
        let text = |event| match event {
            MediaEvent::FrameComplete { id, .. } => format!("complete {id}"),
            MediaEvent::FrameShown { id, .. } => format!("shown {id}"),
            MediaEvent::FrameLost { id, .. } => format!("lost {id}"),
            MediaEvent::PartRestored { id, .. } => format!("part of {id}"),
            MediaEvent::AudioArrived { id, .. } | MediaEvent::AudioRestored { id, .. } => {
                format!("audio {id}")
            }
        };
        (events.into_iter().map(text).collect(), end)
    }

    #[test]
    fn shown_in_order_once_all_before_is_complete() {
        let (events, end) = feed(&[(0, 0), (0, 1), (2, 1), (2, 0), (1, 0), (1, 1)]);
        let expected = [
            "complete 0",
            "shown 0",
            "complete 2",
            "complete 1",
            "shown 1",
            "shown 2",
        ];
        assert_eq!(events, expected);
        assert_eq!(end, Some(6), "three frames of two parts");
    }

    #[test]
    fn a_complete_key_frame_ends_the_wait_for_older_ones() {
        let (events, end) = feed(&[(0, 0), (0, 1), (2, 0), (2, 1), (3, 0), (3, 1), (1, 0)]);
        let expected = [
            "complete 0",
            "shown 0",
            "complete 2",
            "complete 3",
            "lost 1",
            "lost 2",
            "shown 3",
        ];
        assert_eq!(events, expected);
        assert_eq!(end, Some(8));
    }

    #[test]
    fn nothing_is_shown_before_a_key_frame() {
        let (events, _) = feed(&[(1, 0), (1, 1), (3, 0), (3, 1)]);
        let expected = [
            "complete 1",
            "complete 3",
            "lost 0",
            "lost 1",
            "lost 2",
            "shown 3",
        ];
        assert_eq!(events, expected);
    }

    /// A part of a stream in L1T3: frames in fours of which the first needs the first before, the third the
    /// first, the others the one before.
    fn layered(frame: u64, index: u32) -> Fragment {
        let (layer, back) = [(0, 4), (2, 1), (1, 2), (2, 1)][frame as usize % 4];
        Fragment {
            key: frame == 0,
            layer,
            back,
            ..part(frame, index)
        }
    }

    /// What becomes of frames in L1T3 of which these are incomplete until the end.
    fn of_layers(params: &MediaParams, frames: u64, missing: &[u64]) -> Vec<String> {
        let mut shown = Frames::new(0, params);
        let mut events = VecDeque::new();
        for frame in 0..frames {
            shown.part(&CAME, &layered(frame, 0), &mut events);
            if !missing.contains(&frame) {
                shown.part(&CAME, &layered(frame, 1), &mut events);
            }
        }
        let text = |event| match event {
            MediaEvent::FrameShown { id, .. } => Some(format!("shown {id}")),
            MediaEvent::FrameLost { id, .. } => Some(format!("lost {id}")),
            _ => None,
        };
        events.into_iter().filter_map(text).collect()
    }

    #[test]
    fn a_lost_frame_of_the_highest_layer_costs_itself() {
        assert_eq!(
            of_layers(&MediaParams::default(), 6, &[1, 3]),
            [
                "shown 0", "lost 1", "shown 2", "lost 3", "shown 4", "shown 5"
            ]
        );
    }

    #[test]
    fn a_lost_frame_of_the_middle_layer_costs_the_next_one_too() {
        assert_eq!(
            of_layers(&MediaParams::default(), 6, &[2]),
            [
                "shown 0", "shown 1", "lost 2", "lost 3", "shown 4", "shown 5"
            ]
        );
    }

    #[test]
    fn a_lost_frame_of_the_base_holds_all_up() {
        assert_eq!(
            of_layers(&MediaParams::default(), 12, &[4]),
            ["shown 0", "shown 1", "shown 2", "shown 3"]
        );
    }

    #[test]
    fn a_frame_far_behind_the_newest_is_passed_over() {
        let params = MediaParams {
            repeat_frames: 3,
            ..MediaParams::default()
        };
        let mut frames = Frames::new(7, &params);
        let mut events = VecDeque::new();
        // Frame 0 never arrives, of frame 2 one part does not.
        for (frame, index) in [(1, 0), (1, 1), (2, 0), (3, 0), (3, 1), (4, 0), (5, 0)] {
            let part = Fragment {
                key: false,
                ..part(frame, index)
            };
            frames.part(&CAME, &part, &mut events);
        }
        // With frame 3 there are four: 0 is lost, and 1 is shown. With 5, 2 is lost and 3 shown.
        let (stream, at, held) = (7, Instant::ZERO, Duration::ZERO);
        let shown = |id| MediaEvent::FrameShown {
            stream,
            id,
            at,
            held,
        };
        let expected = [
            MediaEvent::FrameComplete { stream, id: 1, at },
            MediaEvent::FrameLost { stream, id: 0, at },
            shown(1),
            MediaEvent::FrameComplete { stream, id: 3, at },
            MediaEvent::FrameLost { stream, id: 2, at },
            shown(3),
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn after_a_frame_of_the_base_is_passed_over_layers_go_on() {
        let params = MediaParams {
            repeat_frames: 6,
            ..MediaParams::default()
        };
        // With frame 10 there are seven from 4 on. Of its four, frame 6 waits for it, and is here.
        assert_eq!(
            of_layers(&params, 13, &[4, 5]),
            [
                "shown 0", "shown 1", "shown 2", "shown 3", "lost 4", "lost 5", "shown 6",
                "shown 7", "shown 8", "shown 9", "shown 10", "shown 11", "shown 12"
            ]
        );
    }

    #[test]
    fn nonsense_is_ignored() {
        let mut frames = Frames::default();
        let mut events = VecDeque::new();
        for bad in [
            Fragment {
                count: 0,
                ..part(0, 0)
            },
            Fragment {
                index: 9,
                ..part(0, 0)
            },
            Fragment {
                frame: u64::MAX,
                ..part(0, 0)
            },
            Fragment {
                rtp: 0,
                index: 1,
                ..part(0, 1)
            },
        ] {
            assert_eq!(frames.part(&CAME, &bad, &mut events), None);
        }
        assert!(!frames.blocked() && events.is_empty());
    }
}
