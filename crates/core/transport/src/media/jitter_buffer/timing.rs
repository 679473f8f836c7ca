//! When a frame's turn is: libwebrtc's `VCMTiming`.
//!
//! A frame is due when it would be here if it took as long as usual, and then the current delay. That
//! delay follows the target: up by as much as frames were late, down at once.

use super::sender_clock::SenderClock;

/// What a decoder takes for a frame, in ms: Chromium's `totalDecodeTime` over `framesDecoded` for
/// 640 × 360 (decision 0026).
pub const DECODE: f64 = 1.0;
/// What a screen takes, in ms (`kDefaultRenderDelay`).
const RENDER: f64 = 10.0;

/// Delays of a stream, in ms.
#[derive(Debug, Clone, Default)]
pub struct Timing {
    clock: SenderClock,
    jitter: f64,
    current: f64,
}

impl Timing {
    /// A frame of the sender's time `ticks` was complete `at`, a whole number of ms.
    pub fn complete(&mut self, at: f64, ticks: i64) {
        self.clock.frame(at, ticks);
    }

    /// When a frame of the sender's time `ticks` should be on the screen; at `now` if nothing is known.
    pub fn due(&self, now: f64, ticks: i64) -> f64 {
        let expected = self.clock.expected(ticks);
        expected.map_or(now, |expected| expected + self.current)
    }

    /// How long a frame that is due at `due` can wait; less than nothing if it is late.
    pub fn wait(now: f64, due: f64) -> f64 {
        due - now - DECODE - RENDER
    }

    /// The delay that `current` is to have.
    pub fn target(&self) -> f64 {
        self.jitter + DECODE + RENDER
    }

    /// Frames should wait `jitter` for later ones.
    pub fn follow(&mut self, jitter: f64) {
        self.jitter = jitter;
        if self.current == 0.0 {
            self.current = jitter;
        }
    }

    /// A frame that was due at `due` leaves the buffer `now`.
    pub fn left(&mut self, now: f64, due: f64) {
        let late = -Self::wait(now, due);
        if late > -0.5 {
            self.current = self.target().min(self.current + late);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_goes_up_with_late_frames_and_down_at_once() {
        let mut timing = Timing::default();
        assert_eq!(timing.due(7.0, 0), 7.0);
        for frame in 0..3 {
            timing.complete(33.0 * f64::from(frame), i64::from(33 * 90 * frame));
        }
        timing.follow(20.0);
        let due = timing.due(66.0, 2 * 33 * 90);
        assert_eq!(due, 86.0);
        assert_eq!(Timing::wait(66.0, due), 9.0);
        // On time: nothing changes. 5 ms late; then 50, of which the target of 31 allows six.
        for (late, delay) in [(0.0, 20.0), (5.0, 25.0), (50.0, 31.0)] {
            timing.left(75.0 + late, due);
            assert_eq!(timing.current, delay);
        }
        timing.follow(10.0);
        timing.left(75.0, due);
        assert_eq!(timing.current, 21.0);
        timing.left(70.0, due);
        assert_eq!(
            timing.current, 21.0,
            "a frame that was let go early says nothing"
        );
    }
}
