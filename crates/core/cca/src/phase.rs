//! What a control, or the transport under it, is at.

/// A phase of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ControlPhase {
    /// The window grows until the path is full (RFC 5681, 3.1).
    SlowStart,
    /// The window follows what the path carries (RFC 5681, 3.1).
    Avoidance,
    /// The round trip after a loss or a mark: losses are repaired. TCP rations sending (RFC 6937), over QUIC the
    /// window does not grow (RFC 9002, 7.3.2).
    Recovery,
    /// The retransmission timer ran out: what it gave up is sent again. TCP only.
    Timeout,
    /// BBR doubles its rate every round.
    Startup,
    /// BBR drains the queue of its start.
    Drain,
    /// BBR is around its estimate, by its gain cycle (version 1).
    ProbeBw,
    /// BBR is below its estimate, and leaves room (version 3).
    Down,
    /// BBR is at its estimate (version 3).
    Cruise,
    /// BBR fills the path for a round (version 3).
    Refill,
    /// BBR tries for more (version 3).
    Up,
    /// BBR has little in flight, to see the empty path.
    ProbeRtt,
}

impl ControlPhase {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            ControlPhase::SlowStart => "slow_start",
            ControlPhase::Avoidance => "avoidance",
            ControlPhase::Recovery => "recovery",
            ControlPhase::Timeout => "timeout",
            ControlPhase::Startup => "startup",
            ControlPhase::Drain => "drain",
            ControlPhase::ProbeBw => "probe_bw",
            ControlPhase::Down => "down",
            ControlPhase::Cruise => "cruise",
            ControlPhase::Refill => "refill",
            ControlPhase::Up => "up",
            ControlPhase::ProbeRtt => "probe_rtt",
        }
    }
}
