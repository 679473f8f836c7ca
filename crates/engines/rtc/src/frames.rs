//! What the bytes of a frame say, and what becomes of frames at their receiver.

use std::collections::VecDeque;
use transport::media::MediaEvent;
use units::{Duration, Instant};

/// The least bytes of a frame: what it says.
const LEAST: usize = 16;
/// Where its number is.
const ID: core::ops::Range<usize> = 4..12;
/// The first bit of a VP8 frame is 0 in one that depends on none (RFC 6386, section 9.1).
const DEPENDS: u8 = 1;

/// The contents of a frame: its number, and bytes of no meaning.
pub fn contents(id: u64, bytes: u32, key: bool) -> Vec<u8> {
    let mut contents = vec![0; LEAST.max(bytes as usize)];
    contents[0] = if key { 0 } else { DEPENDS };
    contents[ID].copy_from_slice(&id.to_be_bytes());
    contents
}

/// The number of the frame with these contents, and whether it depends on none.
pub fn read(contents: &[u8]) -> Option<(u64, bool)> {
    let id = contents.get(ID)?.try_into().ok()?;
    Some((u64::from_be_bytes(id), contents[0] & DEPENDS == 0))
}

/// The video that a receiver shows.
#[derive(Debug, Default)]
pub struct Shown {
    /// The number of the next frame.
    next: u64,
    /// Later frames depend on one that is missing.
    broken: bool,
    events: VecDeque<MediaEvent>,
}

/// The only stream.
const STREAM: u8 = 0;

impl Shown {
    /// A frame came whole; `contiguous` if no packet before it is missing. Returns whether a key frame is needed.
    pub fn came(&mut self, at: Instant, (id, key): (u64, bool), contiguous: bool) -> bool {
        let stream = STREAM;
        if id < self.next {
            return false;
        }
        self.broken = !key && (self.broken || !contiguous);
        self.events
            .push_back(MediaEvent::FrameComplete { stream, id, at });
        if self.broken {
            return true;
        }
        for id in self.next..id {
            self.events
                .push_back(MediaEvent::FrameLost { stream, id, at });
        }
        let held = Duration::ZERO;
        self.events.push_back(MediaEvent::FrameShown {
            stream,
            id,
            at,
            held,
        });
        self.next = id + 1;
        false
    }

    /// A frame of audio came.
    pub fn heard(&mut self, at: Instant, id: u64) {
        self.events.push_back(MediaEvent::AudioArrived { id, at });
    }

    /// The next event.
    pub fn event(&mut self) -> Option<MediaEvent> {
        self.events.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_which_it_is() {
        assert_eq!(read(&contents(7, 1000, true)), Some((7, true)));
        assert_eq!(read(&contents(u64::MAX, 0, false)), Some((u64::MAX, false)));
        assert_eq!(contents(1, 1000, false).len(), 1000);
        assert_eq!(read(&[1; 11]), None);
    }

    #[test]
    fn after_a_gap_the_next_that_is_shown_is_a_key_frame() {
        let mut shown = Shown::default();
        let at = Instant::ZERO;
        assert!(!shown.came(at, (0, true), true));
        assert!(shown.came(at, (2, false), false));
        assert!(shown.came(at, (3, false), true));
        assert!(!shown.came(at, (4, true), true));
        assert!(!shown.came(at, (3, false), true), "old");
        let events: Vec<MediaEvent> = std::iter::from_fn(|| shown.event()).collect();
        let stream = STREAM;
        let complete = |id| MediaEvent::FrameComplete { stream, id, at };
        let lost = |id| MediaEvent::FrameLost { stream, id, at };
        let held = Duration::ZERO;
        let showed = |id| MediaEvent::FrameShown {
            stream,
            id,
            at,
            held,
        };
        let expected = [
            complete(0),
            showed(0),
            complete(2),
            complete(3),
            complete(4),
            lost(1),
            lost(2),
            lost(3),
            showed(4),
        ];
        assert_eq!(events, expected);
    }
}
