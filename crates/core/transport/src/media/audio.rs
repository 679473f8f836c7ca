//! Audio that waits to leave, and the earlier frames that its packets carry once more.
//!
//! As libwebrtc's `AudioEncoderCopyRed` has it: the frames right before a packet's own, as many as were
//! asked for and fit. Each has a header of its own (RFC 2198, 3).

use super::{AudioFrames, MediaParams};
use std::collections::VecDeque;

/// The headers of an earlier frame and of the packet's own.
const EARLIER_HEADER: u32 = 4;
const OWN_HEADER: u32 = 1;
/// The header of an earlier frame has ten bits for its length.
const LONGEST: u32 = 1_023;

/// Frames of audio that have not left.
#[derive(Debug)]
pub struct AudioQueue {
    /// How many earlier frames a packet carries.
    copies: usize,
    /// Most bytes of frames and their headers in a packet.
    most: u32,
    /// Lengths of the newest frames, the newest first.
    recent: VecDeque<u32>,
    waiting: VecDeque<(AudioFrames, u32)>,
}

impl AudioQueue {
    /// No frame has come.
    pub fn new(params: &MediaParams) -> Self {
        let copies = params.red as usize;
        AudioQueue {
            copies,
            most: params.payload,
            recent: VecDeque::with_capacity(copies + 1),
            waiting: VecDeque::new(),
        }
    }

    /// Takes the next frame, of `bytes`. Returns how many bytes its packet carries.
    pub fn push(&mut self, id: u64, bytes: u32) -> u32 {
        let mut frames = AudioFrames {
            id,
            earlier: 0,
            copied: 0,
        };
        if self.copies > 0 && bytes <= LONGEST {
            frames.copied = OWN_HEADER;
            for earlier in &self.recent {
                let copied = frames.copied + EARLIER_HEADER + earlier;
                if bytes + copied > self.most {
                    break;
                }
                frames.copied = copied;
                frames.earlier += 1;
            }
        }
        self.remember(bytes);
        let carried = bytes + frames.copied;
        self.waiting.push_back((frames, carried));
        carried
    }

    fn remember(&mut self, bytes: u32) {
        if bytes > LONGEST {
            self.recent.clear();
            return;
        }
        self.recent.push_front(bytes);
        self.recent.truncate(self.copies);
    }

    /// The next packet's frames, and how many bytes it carries.
    pub fn pop(&mut self) -> Option<(AudioFrames, u32)> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of copies and the bytes of each packet.
    fn packets(red: u32, frames: &[u32]) -> Vec<(u8, u32)> {
        let params = MediaParams {
            red,
            ..MediaParams::default()
        };
        let mut queue = AudioQueue::new(&params);
        for (id, &bytes) in (0..).zip(frames) {
            queue.push(id, bytes);
        }
        let packets = core::iter::from_fn(|| queue.pop());
        packets.map(|(of, bytes)| (of.earlier, bytes)).collect()
    }

    #[test]
    fn copies_of_the_frames_before() {
        assert_eq!(packets(0, &[80, 80]), [(0, 80), (0, 80)]);
        // A byte for the own header, 84 for each copy.
        assert_eq!(
            packets(2, &[80, 80, 80, 80]),
            [(0, 81), (1, 165), (2, 249), (2, 249)]
        );
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        // 1 + 500 + 504 bytes are carried, 504 more are above 1200.
        assert_eq!(packets(2, &[500, 500, 500])[2], (1, 1_005));
        // A length of 1024 has no place in a header: nothing before it is carried, either.
        assert_eq!(
            packets(1, &[80, 1_024, 80, 80]),
            [(0, 81), (0, 1_024), (0, 81), (1, 165)]
        );
    }
}
