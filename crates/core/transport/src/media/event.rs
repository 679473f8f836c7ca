//! What a receiver tells of frames.

use units::{Duration, Instant};

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaEvent {
    /// The last missing packet arrived.
    FrameComplete {
        /// Its stream.
        stream: u8,
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
    /// The frame is shown: it and all that it depends on are complete, and its turn has come.
    FrameShown {
        /// Its stream.
        stream: u8,
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
        /// How long the jitter buffer had it, from its first packet on; nothing without such a buffer.
        held: Duration,
    },
    /// A newer frame that does without it is shown instead, or both ends gave it up; the frame itself may have
    /// been complete.
    FrameLost {
        /// Its stream.
        stream: u8,
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
    /// A part of a frame that did not arrive was restored by forward error correction.
    PartRestored {
        /// The frame's stream.
        stream: u8,
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
    /// A frame of audio that had not arrived itself came with a later one.
    AudioRestored {
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
    /// A frame of audio arrived. What becomes of it then is the player's affair.
    AudioArrived {
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
}
