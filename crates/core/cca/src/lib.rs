//! Congestion controls as pure state machines.
//!
//! A control receives the events of a transport (packets sent, acknowledged, lost, marked; feedback
//! of arrival times) and answers with a window, a pacing rate, and a rate for an encoder. Every
//! call takes `now`; nothing in here reads a clock, does I/O or sends. One trait serves window- and
//! rate-based controls: a window-based one leaves [`Control::pacing_rate`] at `None`, a rate-based
//! one leaves [`Control::window`] unlimited.
//!
//! A control is one file: principles, parameters, code, tests. It is known to the rest of the
//! project by one line in [`registry`].
//!
//! Not for: carrying packets or detecting losses (`transport`).

#![deny(missing_docs)]

pub mod bbr;
mod builtin;
pub mod copa;
pub mod copa_library;
pub mod cubic;
pub mod gcc;
pub mod hystart;
pub mod illinois;
pub mod notice;
mod pace;
mod phase;
pub mod prague;
pub mod registry;
pub mod reno;
pub mod scream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod testpath;
pub mod tonopah;
mod undo;
pub mod vegas;
mod window;
pub mod yeah;

pub use notice::Notice;
pub use pace::Pace;
pub use phase::ControlPhase;
pub use registry::{ControlEntry, Parts, Registry, Setup};
pub use units::choice::{Choice, Slot};

use units::{Duration, Instant, Rate};

/// A congestion control for one sender.
pub trait Control: Send {
    /// A packet of `bytes` leaves; `in_flight` includes it.
    fn on_sent(&mut self, _now: Instant, _bytes: u64, _in_flight: u64) {}

    /// An acknowledgement arrived. Called once for each, after
    /// [`on_congestion`](Self::on_congestion) if the same acknowledgement revealed a loss.
    fn on_ack(&mut self, now: Instant, ack: &Ack);

    /// Congestion was noticed: once per round trip at most (RFC 6675 recovery entry, RFC 3168
    /// echo). Losses and the marks of a [`EcnMode::Scalable`] control have each their own round
    /// trips: such a control is notified of a mark also while losses are being repaired, and its
    /// sending is not rationed after a mark: its window applies at once.
    fn on_congestion(&mut self, now: Instant, congestion: &Congestion);

    /// A packet that left at `sent_at` was found lost; before [`on_congestion`](Self::on_congestion). Only
    /// QUIC tells of each.
    fn on_lost(&mut self, _sent_at: Instant) {}

    /// All losses of the last episode have been repaired. Not called if the next episode begins
    /// with the same acknowledgement.
    fn on_recovered(&mut self, _now: Instant) {}

    /// The retransmission timer ran out: all data in flight is presumed lost. Not called for a tail
    /// loss probe.
    fn on_timeout(&mut self, now: Instant, in_flight: u64);

    /// Packets that the timer had presumed lost arrive after all: it ran out too early, and the
    /// reduction in [`on_timeout`](Self::on_timeout) may be undone (RFC 4015, section 3.2; Linux
    /// `undo_cwnd`). [`on_recovered`](Self::on_recovered) follows.
    fn on_spurious_timeout(&mut self, _now: Instant) {}

    /// The sender had been idle for longer than a retransmission timeout and sends again.
    fn on_idle_restart(&mut self, _now: Instant, _idle: Duration) {}

    /// Arrival times of packets, from transport-wide feedback, in the order of sending. Only for
    /// controls whose [`feedback`](Self::feedback) is [`Feedback::Arrivals`].
    fn on_arrivals(&mut self, _now: Instant, _arrivals: &[Arrival]) {}

    /// When to call [`on_timer`](Self::on_timer), if at all.
    fn next_timer(&self) -> Option<Instant> {
        None
    }

    /// The moment named by [`next_timer`](Self::next_timer) has come.
    fn on_timer(&mut self, _now: Instant) {}

    /// Bytes that may be in flight; `u64::MAX` for a control that limits only the rate.
    fn window(&self) -> u64;

    /// Rate at which packets may leave; `None` lets the transport pace by window and round trip.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// When the next packet may leave, for a control that paces itself, because several transports
    /// share its pace. `None` leaves that to the transport.
    fn release(&self) -> Option<Instant> {
        None
    }

    /// How much of its pacing rate the transport may send at once before it waits for all of that
    /// to have taken its time. Zero spaces every packet.
    fn pacing_burst(&self) -> Duration {
        Duration::ZERO
    }

    /// The rate that a media session keeps up with padding if there is too little media.
    fn padding_rate(&self) -> Rate {
        Rate::from_bits(0)
    }

    /// The rate at which an encoder should produce, given the smoothed round trip. By default the
    /// window per round trip.
    fn media_rate(&self, srtt: Duration) -> Rate {
        Rate::from_bytes_over(self.window(), srtt)
    }

    /// A burst that the control requests to measure the path, if any: the media session sends
    /// padding at this rate for this long, and then calls this again.
    fn take_probe(&mut self, _now: Instant) -> Option<Probe> {
        None
    }

    /// Below this window the control is in slow start, and the transport paces at twice the rate
    /// (`tcp_pacing_ss_ratio`) instead of 1.2 times.
    fn in_slow_start(&self) -> bool {
        false
    }

    /// What it is at, for its user's information.
    fn phase(&self) -> ControlPhase {
        if self.in_slow_start() {
            ControlPhase::SlowStart
        } else {
            ControlPhase::Avoidance
        }
    }

    /// Whether the transport should ration sending during recovery (RFC 6937). A control that
    /// models the path itself returns false.
    fn uses_prr(&self) -> bool {
        true
    }

    /// The feedback that the control needs.
    fn feedback(&self) -> Feedback {
        Feedback::Acks
    }

    /// Goes on from this window, outside slow start, for a reason other than congestion; false if
    /// the control cannot.
    fn adopt(&mut self, _window: u64) -> bool {
        false
    }

    /// It needs a flow with two subflows, which [`split`](Self::split) serves.
    fn needs_subflows(&self) -> bool {
        false
    }

    /// A control for each of two subflows, from one that needs them. To be called once.
    fn split(&mut self) -> Option<[Box<dyn Control>; 2]> {
        None
    }

    /// A finding of the control since the last call, for its user's information.
    fn take_notice(&mut self) -> Option<Notice> {
        None
    }

    /// How the control answers marks. Must not change during a connection.
    fn ecn(&self) -> EcnMode {
        EcnMode::Classic
    }
}

/// How a control answers marks, and with that how a transport sends for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnMode {
    /// A mark is like a loss (RFC 3168): packets are ECT(0) if ECN is switched on, and a mark
    /// begins a recovery in which sending is rationed.
    Classic,
    /// The answer follows the share of packets that are marked (L4S, RFC 9331): packets are ECT(1),
    /// always, and [`Ack::marked`] is exact (RFC 9768 for TCP).
    Scalable,
}

/// The feedback that a control needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feedback {
    /// Acknowledgements, as TCP gives them.
    Acks,
    /// Arrival times of every packet, as WebRTC's transport-wide feedback gives them.
    Arrivals,
}

/// The contents of an acknowledgement. Sizes in bytes of payload.
#[derive(Debug, Clone, Default)]
pub struct Ack {
    /// Newly delivered, cumulatively or selectively acknowledged for the first time.
    pub bytes: u64,
    /// Newly found lost by this acknowledgement.
    pub lost: u64,
    /// Round trip of the newest packet that this acknowledged, unless that was retransmitted.
    pub rtt: Option<Duration>,
    /// Smoothed round trip (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// Smallest round trip of this connection so far.
    pub min_rtt: Duration,
    /// In flight before this acknowledgement.
    pub prior_in_flight: u64,
    /// In flight after it.
    pub in_flight: u64,
    /// Delivered on this connection so far, this acknowledgement included.
    pub delivered: u64,
    /// Delivery rate sample, if there is one.
    pub rate: Option<RateSample>,
    /// This acknowledgement is the first for a packet sent after the last round's start: a packet-
    /// timed round trip has passed.
    pub round_start: bool,
    /// When the newest acknowledged packet was sent.
    pub newest_sent: Instant,
    /// The sender is in fast recovery. After a timeout it is not: the window grows in slow start.
    pub in_recovery: bool,
    /// The window, not the application, limited sending in the last round trip.
    pub window_limited: bool,
    /// Newly delivered bytes whose packets came with Congestion Experienced, never more than
    /// `bytes`. Exact with accurate feedback; with RFC 3168's echo, all of `bytes` or zero.
    pub marked: u64,
}

/// A delivery rate sample (draft-cheng-iccrg-delivery-rate-estimation-02).
#[derive(Debug, Clone, Copy)]
pub struct RateSample {
    /// Bytes delivered over `interval`.
    pub delivered: u64,
    /// The longer of the send and the acknowledgement interval.
    pub interval: Duration,
    /// `delivered` of the connection when the sampled packet was sent.
    pub prior_delivered: u64,
    /// The application, not the network, limited sending when the sampled packet left.
    pub app_limited: bool,
}

impl RateSample {
    /// The sample as a rate.
    pub fn rate(&self) -> Rate {
        Rate::from_bytes_over(self.delivered, self.interval)
    }
}

/// Congestion that was noticed.
#[derive(Debug, Clone, Copy)]
pub struct Congestion {
    /// How it was noticed.
    pub signal: Signal,
    /// Bytes newly found lost; zero for a mark.
    pub lost: u64,
    /// In flight when it was noticed, lost packets excluded.
    pub in_flight: u64,
    /// The smallest round trip so far.
    pub min_rtt: Duration,
}

/// How congestion was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// A packet was lost.
    Loss,
    /// The receiver echoed Congestion Experienced.
    Mark,
}

/// One packet of transport-wide feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Transport-wide sequence number.
    pub sequence: u64,
    /// Size on the wire, bytes.
    pub bytes: u32,
    /// When it left.
    pub sent: Instant,
    /// When it arrived, on the receiver's clock; `None` if it has not.
    pub received: Option<Instant>,
    /// The probe that it belongs to, if any.
    pub probe: Option<Probe>,
}

/// A burst that measures the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Its number: a control gives each its own.
    pub id: u32,
    /// Rate of the burst.
    pub rate: Rate,
    /// How long it lasts at least.
    pub span: Duration,
    /// Packets that it has at least.
    pub packets: u32,
}

/// Restarts a window-based control that sends again after idling, as Linux does: it remembers three
/// quarters of its window (`tcp_current_ssthresh`) and starts from the initial one
/// (`tcp_cwnd_restart`). Bytes.
pub(crate) fn restart_after_idle(window: &mut u64, threshold: &mut u64, initial: u64) {
    *threshold = (*threshold).max(*window / 4 * 3);
    *window = (*window).min(initial);
}
