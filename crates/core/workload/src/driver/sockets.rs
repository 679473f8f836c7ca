//! The driver's requirements on an engine.

use super::flows::{FlowEnd, OpenedFlow};
use crate::app::{AudioFrame, Conditions, Datagram, Frame};
use crate::entry::Kind;
use crate::event::Event;
use units::{Duration, Instant, Rate};

/// The operations of an engine's sockets.
///
/// An engine in turn calls [`Driver::opened`](super::Driver::opened),
/// [`writable`](super::Driver::writable), [`received`](super::Driver::received),
/// [`arrived`](super::Driver::arrived) and [`frame`](super::Driver::frame) on events at an end, and
/// [`Driver::timer`](super::Driver::timer) when a requested time has come.
pub trait Sockets {
    /// Why a socket fails.
    type Error;

    /// Makes both ends of a flow, [`OpenedFlow::first`] and its [peer](FlowEnd::peer), and starts the
    /// handshake of the first.
    ///
    /// # Errors
    /// If the engine cannot.
    fn open(&mut self, now: Instant, flow: &OpenedFlow) -> Result<(), Self::Error>;

    /// Appends `bytes` to the data that `end` has to send on `stream`.
    ///
    /// # Errors
    /// If the socket fails.
    fn send(
        &mut self,
        now: Instant,
        end: FlowEnd,
        stream: u32,
        bytes: u64,
    ) -> Result<(), Self::Error>;

    /// Sends a datagram from `end`.
    ///
    /// # Errors
    /// If the socket fails.
    fn datagram(
        &mut self,
        now: Instant,
        end: FlowEnd,
        datagram: Datagram,
    ) -> Result<(), Self::Error>;

    /// The state of the media session that sends from `end`, for its `stream` of video; none if
    /// there is no such session.
    fn conditions(&mut self, now: Instant, end: FlowEnd, stream: u8) -> Option<Conditions>;

    /// Bytes given to the TCP connection of `end` and never sent; none if there is no such
    /// connection, or the number is unknown.
    fn unsent(&mut self, end: FlowEnd) -> Option<u64>;

    /// Hands a frame to the media session that sends from `end`.
    fn frame(&mut self, now: Instant, end: FlowEnd, frame: Frame);

    /// Makes the media session that sends from `end` fill the rest that video leaves of `rate` with
    /// padding.
    fn fill(&mut self, now: Instant, end: FlowEnd, rate: Rate);

    /// Hands a frame of audio to the media session that sends from `end`.
    fn audio(&mut self, now: Instant, end: FlowEnd, frame: AudioFrame);

    /// Closes both ends. The numbers of both stay taken until the engine gives them back with
    /// [`Driver::release`](super::Driver::release), once no packets of the flow are under way.
    fn close(&mut self, first: FlowEnd);

    /// Asks for a call of [`Driver::timer`](super::Driver::timer) at `at`.
    fn wake(&mut self, at: Instant, timer: TimerId);

    /// An event for results.
    fn tell(&mut self, now: Instant, event: Event);
}

/// A moment that an application asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerId(pub u32);

/// The driver's view of a traffic entry.
#[derive(Debug, Clone)]
pub struct TrafficEntry {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The place of its first instance among those that the scenario writes as one entry.
    pub first: u32,
    /// Whether most of its data is sent away from the home.
    pub up: bool,
    /// Its round trip without queueing and transmission.
    pub rtt: Duration,
    /// The nominal rate of the first link that its data passes.
    pub rate: Rate,
}
