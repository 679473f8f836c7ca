//! Frames of a media session that are under way.

use std::collections::VecDeque;

/// Lengths of frames that were handed over and neither shown nor lost yet.
#[derive(Debug, Default)]
pub struct Frames {
    /// The number of the first.
    first: u64,
    /// Length of each, until it is settled.
    lengths: VecDeque<Option<u32>>,
}

impl Frames {
    /// A frame of `bytes` was handed over.
    pub fn sent(&mut self, frame: u64, bytes: u32) {
        if self.lengths.is_empty() {
            self.first = frame;
        }
        self.lengths.push_back(Some(bytes));
    }

    fn place(&mut self, frame: u64) -> Option<&mut Option<u32>> {
        let place = usize::try_from(frame.checked_sub(self.first)?).ok()?;
        self.lengths.get_mut(place)
    }

    /// How long a frame is, in bytes; 0 for one that is settled.
    pub fn length(&mut self, frame: u64) -> u64 {
        let length = self.place(frame).and_then(|length| *length);
        length.map_or(0, u64::from)
    }

    /// A frame was shown or lost: it has no further events.
    pub fn settled(&mut self, frame: u64) {
        if let Some(length) = self.place(frame) {
            *length = None;
        }
        while let Some(None) = self.lengths.front() {
            self.lengths.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_under_way_is_kept() {
        let mut frames = Frames::default();
        for (frame, bytes) in [(0, 100), (1, 200), (2, 300)] {
            frames.sent(frame, bytes);
        }
        assert_eq!((frames.length(1), frames.length(7)), (200, 0));
        frames.settled(1);
        assert_eq!((frames.length(1), frames.lengths.len()), (0, 3));
        frames.settled(0);
        assert_eq!((frames.length(2), frames.lengths.len()), (300, 1));
        frames.settled(2);
        frames.sent(3, 400);
        assert_eq!((frames.length(3), frames.lengths.len()), (400, 1));
    }
}
