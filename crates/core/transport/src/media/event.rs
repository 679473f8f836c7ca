//! What a receiver tells of frames.

use units::Instant;

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The last missing packet arrived.
    FrameComplete {
        /// Its stream.
        stream: u8,
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
    /// The frame and all that it depends on are complete.
    FrameShown {
        /// Its stream.
        stream: u8,
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
    /// A newer key frame is shown instead; the frame itself may have been complete.
    FrameLost {
        /// Its stream.
        stream: u8,
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
