//! Taps that record a run while it goes: [`PacketLog`] a line for each packet and queue, [`Pcap`] a
//! capture of departures from the queues, [`JsonLines`] a line for each event, [`Flent`] rates and pings for flent's
//! plots.
//!
//! Each writes, through a buffer, into its output. Errors there never disturb the run: the first
//! error is kept, nothing more is written, and [`WritingTap::finish`] returns it.

mod events;
mod flent;
mod log;
mod parties;
mod pcap;
mod rtp;
#[cfg(test)]
mod tests;

pub use events::JsonLines;
pub use flent::Flent;
pub use log::{PacketLine, PacketLines, PacketLog};
pub use pcap::{Capture, Pcap};

use measure::Sink;
use std::io;

/// A tap that writes.
pub trait WritingTap: Sink {
    /// The run is over: writes the data that is still held back.
    ///
    /// # Errors
    /// The first error since the run began.
    fn finish(&mut self) -> io::Result<()>;
}

/// Bytes that are held back before they are written.
const BUFFER: usize = 1 << 16;

/// The output of a tap, until an error.
struct TapOutput<O> {
    out: O,
    failed: Option<io::Error>,
}

impl<O> TapOutput<O> {
    const fn new(out: O) -> Self {
        TapOutput { out, failed: None }
    }

    /// Lets `write` write, unless there was an error before.
    fn write(&mut self, write: impl FnOnce(&mut O) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = write(&mut self.out).err();
        }
    }

    /// Lets `flush` write the data held back, unless there was an error before.
    fn finish(&mut self, flush: impl FnOnce(&mut O) -> io::Result<()>) -> io::Result<()> {
        self.write(flush);
        self.failed.take().map_or(Ok(()), Err)
    }
}
