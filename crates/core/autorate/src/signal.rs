//! What a controller is told.

use crate::Way;
use units::Duration;

/// The time stamps of a TCP segment (RFC 7323, 3.2), and what it carries and acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamps {
    /// A hash of the connection, the same in both directions.
    pub flow: u32,
    /// TSval: the sender's clock, in ms, from any beginning; it wraps.
    pub value: u32,
    /// TSecr: the TSval of the segment of the other end that this one answers.
    pub echo: u32,
    /// The sequence number behind its last byte.
    pub end: u32,
    /// Up to where its sender has the other end's bytes: the right edge of the first SACK block, which is
    /// that of the segment that came last (RFC 2018, 4), or without one the acknowledgement number.
    pub has: u32,
}

/// A packet, as far as a router that looks at headers knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenPacket {
    /// IP length in bytes.
    pub bytes: u32,
    /// Its time stamps; none if it is not TCP, or has none.
    pub stamps: Option<Stamps>,
}

/// The answer to a ping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PingAnswer {
    /// Which of the reflectors gave it, from 0.
    pub reflector: u8,
    /// From its sending to its return.
    pub round_trip: Duration,
}

/// What a router sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// A packet came from the line; it has not passed the shaper.
    Came(SeenPacket),
    /// A packet left the shaper of this direction: for the home, or for the line.
    Shaped(Way, SeenPacket),
    /// A ping was answered.
    Answered(PingAnswer),
}
