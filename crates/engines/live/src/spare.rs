//! Buffers that wait for packets.

use crate::frame::Frame;

/// How many are kept.
const MOST: usize = 1024;

/// Buffers that are free again.
#[derive(Debug, Default)]
pub struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// A buffer to read into.
    pub fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// A packet's buffer is free.
    pub fn put(&mut self, frame: Frame) {
        if self.0.len() < MOST {
            self.0.push(frame.into_buffer());
        }
    }
}
