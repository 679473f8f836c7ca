//! A call over one TCP connection, as the RTC library that the Confucius paper took has it; or over one
//! QUIC connection, with the same encoder.
//!
//! Principles: every frame is written into the socket as a whole, regardless of the unsent bytes
//! there. The encoder never asks the congestion control for a rate: it looks at how busy the socket
//! was. A frame that is not out when the next one is due lowers the rate by a quarter at least;
//! otherwise the rate moves to the point at which bytes wait for three quarters of the time. Bytes
//! arrive in order, so a loss holds back all later frames until it is repaired. Not for: ordinary
//! calls, which run over UDP.
//!
//! Facts from the source of `transys-project/zhuge` (SIGCOMM 2022), `packet-sender-tcp.cc` and
//! `video-encoder.cc`; decisions/0023 has the parts left out.

use crate::encoder::{CallParams, Encoder};
use crate::entry::{Preset, Settled};
use crate::{App, Carrier, Conditions, ConnId, Input, Message, Output, Report};
use units::{Duration, Instant, Rate};

/// The library's gcc: over UDP, in bursts, with the encoder at 0.85 of the control's rate.
const OVER_UDP: Settled = &[
    ("tcp", "no"),
    ("start_rate", "500kbit"),
    // 0.85 of the rate with headers is 0.85 × 1488/1406 of the rate without; and the unit slip.
    ("share", "0.8785"),
    ("session.payload", "1406"),
    ("session.overhead", "82"),
    ("session.feedback_min", "40ms"),
    ("session.feedback_max", "40ms"),
    ("session.drain", "0ms"),
    ("session.skip_queue", "60s"),
    // A second of frames.
    ("session.repeat_frames", "25"),
];

/// The call of the paper's library.
pub const PRESET: Preset = Preset {
    name: "paper",
    summary: "the call of the RTC library that the Confucius paper used: 25 equal frames a second, \
        up to 100 Mbit/s, over TCP, with gcc over UDP",
    source: "transys-project/zhuge, packet-sender-tcp.cc, packet-sender-udp.cc; decision 0023",
    settings: &[
        ("control", "copa_library"),
        ("tcp", "yes"),
        ("fps", "25"),
        ("variation", "0"),
        ("key_factor", "1"),
        ("min_rate", "100kbit"),
        ("max_rate", "100mbit"),
        ("start_rate", "100kbit"),
        // The rate in bit/s is shifted right by ten, and taken for thousands.
        ("share", "0.9765625"),
    ],
    by_control: &[(&["gcc", "gcc_library"], OVER_UDP)],
};

/// Interval at which the library looks whether bytes wait.
const SAMPLE: Duration = Duration::from_millis(1);
/// Over how many looks it takes the share.
const SAMPLES: u32 = 40;
/// The share of the time in which bytes should wait.
const BUSY: f64 = 0.75;
/// How much of a share beyond it the rate falls by.
const GAIN: f64 = 0.5;
/// Factors for a frame that is not out in time: of the rate, and of the rate of departures at
/// least.
const PENDING: f64 = 0.75;
const PENDING_FLOOR: f64 = 0.1;

/// The encoder's rate, from how busy the socket was. Rates in bit/s.
#[derive(Debug, Clone)]
struct Duty {
    rate: f64,
    bounds: (f64, f64),
    /// Time between frames, seconds.
    interval: f64,
    /// Whether bytes waited: a bit for each of the last looks.
    looks: u64,
    /// Bytes waiting when the last frame was due.
    before: u64,
    /// Written since then, bytes.
    written: u64,
    begun: bool,
}

impl Duty {
    fn new(params: &CallParams) -> Self {
        let bits = |rate: Rate| rate.as_bits() as f64;
        Duty {
            rate: bits(params.start_rate),
            bounds: (bits(params.min_rate), bits(params.max_rate)),
            interval: 1.0 / f64::from(params.fps),
            looks: 0,
            before: 0,
            written: 0,
            begun: false,
        }
    }

    /// A millisecond has passed, and `unsent` bytes wait.
    fn look(&mut self, unsent: u64) {
        let kept = (1 << SAMPLES) - 1;
        self.looks = (self.looks << 1 | u64::from(unsent > 0)) & kept;
    }

    fn busy(&self) -> f64 {
        f64::from(self.looks.count_ones()) / f64::from(SAMPLES)
    }

    /// A frame is due while `unsent` earlier bytes wait. Returns the rate at which it is made.
    fn update(&mut self, unsent: u64) -> Rate {
        let sent = (self.written + self.before).saturating_sub(unsent) as f64;
        if core::mem::replace(&mut self.begun, true) {
            self.rate = match unsent {
                0 => self.rate * (1.0 - GAIN * (self.busy() - BUSY)),
                _ if sent == 0.0 => 0.0,
                _ => {
                    let left = (1.0 - unsent as f64 / sent).max(PENDING_FLOOR);
                    PENDING * self.rate.min(left * sent * 8.0 / self.interval)
                }
            };
        }
        self.rate = self.rate.min(self.bounds.1).max(self.bounds.0);
        self.before = unsent;
        self.written = 0;
        Rate::from_bits(self.rate as u64)
    }
}

const CONN: ConnId = ConnId(0);

/// The purpose of a timer.
const LOOK: u64 = 0;
const FRAME: u64 = 1;

/// The end that sends.
#[derive(Debug)]
pub struct LibraryCall {
    carrier: Carrier,
    encoder: Encoder,
    duty: Duty,
    next_look: Instant,
    /// The timer for which the state was asked.
    wanted: u64,
}

impl LibraryCall {
    /// A call whose first frame is due at `start`.
    pub fn new(params: &CallParams, carrier: Carrier, encoder: Encoder, start: Instant) -> Self {
        LibraryCall {
            carrier,
            encoder,
            duty: Duty::new(params),
            next_look: start + SAMPLE,
            wanted: LOOK,
        }
    }

    fn look(&mut self, unsent: u64, out: &mut Vec<Output>) {
        self.duty.look(unsent);
        self.next_look += SAMPLE;
        out.push(Output::Timer(self.next_look, LOOK));
    }

    fn frame(&mut self, now: Instant, unsent: u64, out: &mut Vec<Output>) {
        let conditions = Conditions {
            rate: self.duty.update(unsent),
            keyframe_requested: false,
            congested: false,
        };
        if let Some(frame) = self.encoder.on_timer(now, &conditions) {
            let (id, bytes) = (frame.id, u64::from(frame.bytes));
            self.duty.written += bytes;
            out.push(Output::Report(Report::FrameSent { frame: id }));
            out.push(Output::Send {
                conn: CONN,
                stream: 0,
                bytes,
                message: Message::Frame { id },
            });
        }
        out.push(Output::Timer(self.encoder.next_frame_at(), FRAME));
    }
}

impl App for LibraryCall {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => {
                out.push(Output::Open {
                    conn: CONN,
                    carrier: self.carrier,
                    server: 0,
                    extra_rtt: Duration::ZERO,
                });
                out.push(Output::Timer(self.next_look, LOOK));
                out.push(Output::Timer(now, FRAME));
            }
            Input::Timer(wanted) => {
                self.wanted = wanted;
                out.push(Output::Ask {
                    conn: CONN,
                    stream: 0,
                });
            }
            Input::Unsent { bytes, .. } => match self.wanted {
                LOOK => self.look(bytes, out),
                _ => self.frame(now, bytes, out),
            },
            Input::Opened(_)
            | Input::Message { .. }
            | Input::Writable(_)
            | Input::Session { .. }
            | Input::Datagram { .. } => {}
        }
    }
}

/// The end that shows frames: in the order of their bytes, as soon as all of them are there.
#[derive(Debug)]
pub struct LibraryReceiver;

impl App for LibraryReceiver {
    fn handle(&mut self, _now: Instant, input: Input, out: &mut Vec<Output>) {
        if let Input::Message {
            message: Message::Frame { id: frame },
            ..
        } = input
        {
            out.push(Output::Report(Report::FrameArrived { frame }));
            out.push(Output::Report(Report::FrameShown { frame }));
        }
    }
}

#[cfg(test)]
mod tests;
