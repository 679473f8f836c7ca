//! The interface of every connection, independent of its protocol.

use crate::limits::{SenderLimit, SenderLimits};
use crate::wire::{Transmit, Wire};
use cca::{Control, ControlPhase};
use units::{Duration, Ecn, Instant, Rate};

/// One end of a connection that carries byte streams, independent of the protocol.
pub trait Connection: Send {
    /// Starts the handshake; only at the end that opens.
    fn open(&mut self, now: Instant);

    /// Appends `bytes` to the data that `stream` has to send. TCP has one stream, 0. Bytes given
    /// before the handshake is complete wait for it.
    fn send(&mut self, now: Instant, stream: u32, bytes: u64);

    /// A packet arrived with `ecn` in its IP header.
    fn handle(&mut self, now: Instant, ecn: Ecn, packet: &Wire);

    /// The next packet to send `now`, if any may be sent.
    fn transmit(&mut self, now: Instant) -> Option<Transmit>;

    /// When to call [`on_timer`](Self::on_timer); [`Instant::NEVER`] if not at all. May be called
    /// earlier or later; an early call does nothing.
    fn next_timer(&self) -> Instant;

    /// Time has passed. Afterwards packets may be ready to be sent.
    fn on_timer(&mut self, now: Instant);

    /// The next event since the last call, in order.
    fn event(&mut self) -> Option<Event>;

    /// Bytes given to [`send`](Self::send) and not sent for the first time yet.
    fn unsent(&self) -> u64;

    /// Bytes of its packets, headers included, that may wait in a queue of the sender's own
    /// computer while it sends more: a caller with such a queue does not ask for packets beyond
    /// that. No bound if [`Config::small_queues`](crate::Config::small_queues) is off.
    fn may_wait(&self) -> u64 {
        u64::MAX
    }

    /// More than [`may_wait`](Self::may_wait) waits: it was not asked for packets, regardless of
    /// its window.
    fn held_back(&mut self, _now: Instant) {}

    /// Subflows, each with another pair of ports: [`Wire::subflow`](crate::Wire::subflow) is below this.
    fn subflows(&self) -> u8 {
        1
    }

    /// Counters, for results and tests.
    fn stats(&self) -> Stats;

    /// What its sending half is at.
    fn state(&self) -> SenderState;

    /// What its sending half waited for so far.
    fn limits(&self) -> &SenderLimits;
}

/// Events of a connection for its application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete; the application's data is sent.
    Connected,
    /// `bytes` more of `stream` arrived in order.
    Received {
        /// Which stream.
        stream: u32,
        /// How many more.
        bytes: u64,
    },
    /// Fewer bytes than [`Config::unsent_low`](crate::Config::unsent_low) wait to be sent for the first time: an application
    /// that interleaves streams itself may give more.
    Writable,
    /// The congestion control has a notice about its path.
    Noticed(cca::Notice),
}

/// Counters of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Packets sent again.
    pub retransmits: u64,
    /// Times that fast recovery was entered.
    pub recoveries: u64,
    /// Times that the retransmission timer ran out.
    pub timeouts: u64,
    /// The number of these that turned out to have been too early, without a loss.
    pub spurious: u64,
    /// Tail loss probes sent.
    pub probes: u64,
    /// Bytes delivered to the peer in order, as far as acknowledged.
    pub acked: u64,
}

/// What a sender is at. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SenderState {
    /// What may be in flight; none if only the rate is limited.
    pub window: Option<u64>,
    /// The rate that the congestion control names, if it names one.
    pub pacing: Option<Rate>,
    /// Smoothed round trip; none before the first sample.
    pub srtt: Option<Duration>,
    /// In flight.
    pub in_flight: u64,
    /// Delivered so far, as far as acknowledged.
    pub acked: u64,
    /// The phase of the congestion control, or of the transport's repair.
    pub phase: ControlPhase,
    /// What it waits for; none in media sessions, and before it was connected.
    pub limit: Option<SenderLimit>,
}

impl SenderState {
    /// Of a sender under `control`, as far as that tells.
    pub(crate) fn of(control: &dyn Control, srtt: Duration) -> Self {
        let window = control.window();
        SenderState {
            window: (window < u64::MAX).then_some(window),
            pacing: control.pacing_rate(),
            srtt: (srtt > Duration::ZERO).then_some(srtt),
            in_flight: 0,
            acked: 0,
            phase: control.phase(),
            limit: None,
        }
    }
}
