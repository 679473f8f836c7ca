//! The settings of a stack.

use units::Duration;

/// A stack's settings. [`Config::linux`] and [`Config::ns3`] are the two that scenarios name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Largest TCP payload of a packet, bytes.
    pub mss: u32,
    /// IP and TCP headers with timestamps, bytes.
    pub header: u32,
    /// Initial window in segments (RFC 6928).
    pub initial_segments: u32,
    /// Retransmission timeout before the first round trip sample (RFC 6298).
    pub initial_rto: Duration,
    /// Smallest retransmission timeout.
    pub min_rto: Duration,
    /// The smallest timeout is counted from the smoothed round trip on, as Linux does, and not
    /// from zero, as RFC 6298 has it.
    pub rto_over_srtt: bool,
    /// The timeout doubles for each time that it was in vain (RFC 6298, 5.5).
    pub backoff: bool,
    /// Longest time that an acknowledgement is held back.
    pub ack_delay: Duration,
    /// An acknowledgement is sent at least every so many full segments, or QUIC packets.
    pub ack_every: u32,
    /// Acknowledge every segment at the start of a connection, as Linux does (quick ACKs).
    pub quick_acks: u32,
    /// Receive buffer, bytes.
    pub receive_window: u64,
    /// Negotiate ECN (RFC 3168). A scalable control ([`cca::EcnMode`]) asks for accurate feedback
    /// and sends ECT(1) in any case.
    pub ecn: bool,
    /// Pace also with controls that name no rate, at 2 or 1.2 times window per round trip (Linux's
    /// `fq` and internal pacing). Controls that name a rate are always paced.
    pub pacing: bool,
    /// The bytes that may wait in a queue of the sender's own computer have a bound, of a
    /// millisecond at the pacing rate and two packets at least (Linux `tcp_small_queue_check`): see
    /// [`Connection::may_wait`](crate::Connection::may_wait).
    pub small_queues: bool,
    /// RACK-TLP (RFC 8985). Without it, three duplicate acknowledgements and a timer, as ns-3 has.
    pub rack: bool,
    /// Take back a timeout that turns out to have been too early (F-RTO, RFC 5682, and Eifel, RFC 3522
    /// and RFC 4015).
    pub undo: bool,
    /// Reduce the window after an idle period (`tcp_slow_start_after_idle`).
    pub idle_restart: bool,
    /// See [`Event::Writable`](crate::Event::Writable), bytes.
    pub unsent_low: u64,
}

impl Config {
    /// Linux's defaults.
    pub fn linux() -> Self {
        Config {
            mss: 1448,
            header: 52,
            initial_segments: 10,
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_millis(200),
            rto_over_srtt: true,
            backoff: true,
            ack_delay: Duration::from_millis(40),
            ack_every: 2,
            quick_acks: 16,
            receive_window: 6 << 20,
            ecn: false,
            pacing: false,
            small_queues: false,
            rack: true,
            undo: true,
            idle_restart: true,
            unsent_low: 32_768,
        }
    }

    /// ns-3.37's defaults with the settings of its reference runs.
    pub fn ns3() -> Self {
        Config {
            min_rto: Duration::from_secs(1),
            rto_over_srtt: false,
            ack_delay: Duration::from_millis(200),
            quick_acks: 0,
            receive_window: 4 << 20,
            rack: false,
            undo: false,
            idle_restart: false,
            ..Config::linux()
        }
    }

    /// ns-3.34 as the Confucius paper's RTC library sets it for calls: no time stamps, every segment
    /// acknowledged, buffers of 5 MiB, a timeout of a second at least, which never doubles
    /// (decisions/0023).
    pub fn rtc_library() -> Self {
        Config {
            header: 40,
            backoff: false,
            ack_every: 1,
            receive_window: 5 << 20,
            ..Config::ns3()
        }
    }
}
