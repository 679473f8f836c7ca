//! A video call: an encoder, and the application that hands its frames to a media session.
//!
//! Not for: recorded video, silence, several streams of video, which a `conference` has.

use crate::audio::Microphone;
use crate::encoder::{CallParams, Encoder};
use crate::entry::{BuildError, Entry, Library, Preset, Rows, Start, Workload};
use crate::library_call::{self, LibraryCall, LibraryReceiver};
use crate::{App, Carrier, ConnId, Input, Output};
use std::sync::Arc;
use units::param::Settings;
use units::{Duration, Instant, Rate};

/// What a browser's call has, however its frames are shown.
const WEBRTC: [(&str, &str); 5] = [
    ("control", "gcc"),
    ("min_rate", "150kbit"),
    ("max_rate", "4mbit"),
    ("start_rate", "300kbit"),
    ("audio", "32kbit"),
];

/// Presets of common calls, and the one without bounds.
const PRESETS: [Preset; 5] = [
    Preset {
        name: "webrtc",
        summary: "a video call in a browser: 30 frames a second, at most 4 Mbit/s",
        source: "libwebrtc kDefaultBitrateBps; 2.5 Mbit/s is what it takes for 720p \
            (GetMaxDefaultVideoBitrateKbps), 4 what meetings use for 1080p",
        settings: &WEBRTC,
        by_control: &[],
    },
    Preset {
        name: "browser",
        summary: "the same, and frames are shown as browsers do, by libwebrtc's jitter buffer",
        source: "preset webrtc; decision 0026",
        settings: &[
            WEBRTC[0],
            WEBRTC[1],
            WEBRTC[2],
            WEBRTC[3],
            WEBRTC[4],
            ("session.receiver", "webrtc"),
        ],
        by_control: &[],
    },
    Preset {
        name: "game",
        summary: "a game in the cloud: 60 frames a second, at most 30 Mbit/s",
        source: "what the services say they need: 10 to 25 Mbit/s for 1080p at 60 frames, 35 for more; \
            players of fast games notice 100 ms (Claypool and Claypool, CACM 49, 2006)",
        settings: &[
            ("control", "gcc"),
            ("fps", "60"),
            ("min_rate", "1mbit"),
            ("max_rate", "30mbit"),
            ("start_rate", "5mbit"),
            ("audio", "64kbit"),
            ("stall_threshold", "100ms"),
        ],
        by_control: &[],
    },
    Preset {
        name: "unlimited",
        summary: "an encoder that uses any rate it gets, up to 100 Mbit/s; not that of a product",
        source: "Confucius, 2.1: tens to hundreds of Mbit/s",
        settings: &[("control", "gcc"), ("max_rate", "100mbit")],
        by_control: &[],
    },
    library_call::PRESET,
];

/// `call` for the registry.
pub const ENTRY: Entry = Entry {
    name: "call",
    summary: "one direction of a video call",
    about: "An encoder makes frames at the rate that the congestion control allows; a session over \
        UDP paces, repairs and shows them. Without `control` the control is gcc.",
    source: "WebRTC; RFC 8593 for the encoder",
    params: CallParams::SPECS,
    check: |settings| CallParams::parse(settings).map(drop),
    carriers: &[Carrier::Media, Carrier::Tcp, Carrier::Quic],
    control: Some("gcc"),
    rows: Rows::Call,
    figures: &[],
    presets: &PRESETS,
    build,
};

fn build(settings: &Settings, _: &dyn Library) -> Result<Arc<dyn Workload>, BuildError> {
    let params = CallParams::parse(settings)?;
    params.check()?;
    Ok(Arc::new(params))
}

impl Workload for CallParams {
    fn values(&self) -> Vec<(&'static str, String)> {
        CallParams::values(self)
    }

    fn client(&self, start: &Start<'_>) -> Box<dyn App> {
        let encoder = Encoder::new(self, start.now, start.chance());
        if let Some(carrier) = self.connection() {
            return Box::new(LibraryCall::new(self, carrier, encoder, start.now));
        }
        Box::new(CallApp {
            encoder,
            microphone: self.audio.0.map(|rate| Microphone::new(rate, start.now)),
        })
    }

    fn server(&self) -> Option<Box<dyn App>> {
        self.connection()
            .map(|_| Box::new(LibraryReceiver) as Box<dyn App>)
    }

    fn client_sends(&self) -> bool {
        true
    }

    fn lasts(&self) -> bool {
        true
    }

    fn only_quic(&self) -> bool {
        self.quic
    }

    fn real_time(&self) -> bool {
        true
    }

    fn media(&self) -> Option<(Rate, (Rate, Rate))> {
        let audio = self.audio.0.unwrap_or_default();
        let with = |video: Rate| Rate::from_bits(video.as_bits() + audio.as_bits());
        let rates = (self.start_rate, (with(self.min_rate), with(self.max_rate)));
        self.connection().is_none().then_some(rates)
    }
}

/// Hands an encoder's frames, and a microphone's, to a media session.
#[derive(Debug)]
struct CallApp {
    encoder: Encoder,
    microphone: Option<Microphone>,
}

/// The session that it sends over.
const SESSION: ConnId = ConnId(0);
/// The stream whose turn has come, as numbered in timers.
const VIDEO: u64 = 0;
const AUDIO: u64 = 1;

impl CallApp {
    /// The microphone's turn has come.
    fn hear(&mut self, now: Instant, out: &mut Vec<Output>) {
        if let Some(microphone) = &mut self.microphone {
            microphone.turn(now, SESSION, AUDIO, out);
        }
    }
}

impl App for CallApp {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => {
                out.push(Output::Open {
                    conn: SESSION,
                    carrier: Carrier::Media,
                    server: 0,
                    extra_rtt: Duration::ZERO,
                });
                out.push(Output::Timer(now, VIDEO));
                self.hear(now, out);
            }
            Input::Timer(AUDIO) => self.hear(now, out),
            Input::Timer(_) => out.push(Output::Ask {
                conn: SESSION,
                stream: 0,
            }),
            Input::Session {
                conn, conditions, ..
            } => {
                if let Some(frame) = self.encoder.on_timer(now, &conditions) {
                    out.push(Output::Frame { conn, frame });
                }
                out.push(Output::Timer(self.encoder.next_frame_at(), VIDEO));
            }
            Input::Opened(_)
            | Input::Message { .. }
            | Input::Writable(_)
            | Input::Unsent { .. }
            | Input::Datagram { .. } => {}
        }
    }
}
