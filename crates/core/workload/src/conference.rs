//! A video conference through a forwarding server (SFU): the downlink of one participant.
//!
//! Principles: every participant's camera is encoded in a few layers of fixed rates at once
//! (simulcast), and the server forwards one of each, unchanged. One participant is large, the
//! others are thumbnails. All streams and the audio share a session, and one congestion control at
//! the server judges how much of them there may be: the server chooses layers whose sum fits, the
//! large picture's first. A picture changes its layer with a key frame of the new one, which has to
//! be requested from its sender; in between its rate is constant. Results speak of the large
//! picture's frames. Not for: participants who come, go or become large, temporal layers, the
//! uplink.
//!
//! decisions/0024 has the behaviour of servers and the parts left out.

mod layers;

use crate::audio::{Audio, Microphone};
use crate::encoder::{CallParams, Encoder};
use crate::entry::{BuildError, Entry, Figure, Kept, Library, Preset, Rows, Start, Workload};
use crate::ladder::Layers;
use crate::{App, Carrier, Conditions, ConnId, Frame, Input, Output, Report};
use std::sync::Arc;
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

units::params! {
    /// Parameters of a conference.
    pub struct ConferenceParams {
        /// Number of participants in addition to the large one.
        thumbnails: u32 = "4", range "0".."100", source "decision 0024";
        /// The rates of the layers that each camera is encoded in, increasing. By default those of
        /// 320x180, 640x360 and 1280x720.
        layers: Layers = "150kbit/500kbit/2.5mbit", source "libwebrtc simulcast.cc, target_bitrate";
        /// Number of layers that a thumbnail may be sent in, from the lowest on.
        thumbnail_layers: u32 = "1", range "1".."8", source "Jitsi Videobridge: thumbnails of 180 lines at most";
        /// A higher layer is sent once the estimate is this many times the rate that all layers
        /// would then take.
        hysteresis: f64 = "1.2", range "1".."1.5", source "libwebrtc stable_target_rate_experiment.cc, video_hysteresis_factor";
        /// Time from the request for a key frame until it reaches the server.
        key_wait: Duration = "100ms", range "0ms".."10s", source "decision 0024";
        /// Frames per second of each picture.
        fps: u32 = "30", range "1".."240", source "RFC 8698, FPS";
        /// Standard deviation of the logarithm of a frame's size.
        variation: f64 = "0.2", range "0".."2", source "as for a call";
        /// Size of a key frame as a multiple of a delta frame's.
        key_factor: f64 = "4", range "1".."50", source "decision 0020";
        /// Audio with the video: off, or its rate, 6kbit to 510kbit. Each frame of 20 ms has its
        /// own packet.
        audio: Audio = "off", source "decision 0022";
    }
}

/// The settings of a server with libwebrtc's control.
const PRESET: Preset = Preset {
    name: "sfu",
    summary: "a server that forwards each frame to a browser as it arrives",
    source: "decision 0024",
    settings: &[
        ("control", "gcc"),
        ("audio", "32kbit"),
        // Layers cannot give way for a moment.
        ("session.drain", "0ms"),
        // No pacer: LiveKit has none in use (livekit issue 4724), mediasoup's paces padding only
        // (mediasoup issue 628).
        ("session.queue_limit", "10ms"),
    ],
    by_control: &[],
};

/// The rate of the large picture's layer, for each of its frames.
const LARGE: u8 = 0;
/// A picture changed its layer.
const SWITCHED: u8 = 1;

/// `conference` for the registry.
pub const ENTRY: Entry = Entry {
    name: "conference",
    summary: "a video conference, from a forwarding server to one participant",
    about: "One large picture and some thumbnails, each in one of a few layers of fixed rates, \
        with audio in one session under one congestion control. The server chooses layers whose \
        sum fits the control's estimate, the large picture's first; the lowest layers are always \
        sent. A change of layer waits for a key frame. While higher layers exist, padding fills \
        the rest of the estimate.\n\nFrames, stalls and freezes are those of the large \
        picture; the rate is that of all pictures, without padding.",
    source: "libwebrtc simulcast.cc; Jitsi Videobridge",
    params: ConferenceParams::SPECS,
    check: |settings| ConferenceParams::parse(settings).map(drop),
    carriers: &[Carrier::Media],
    control: Some("gcc"),
    rows: Rows::Call,
    figures: &[
        Figure {
            name: "large_rate",
            unit: "Mbit/s",
            about: "rate of the large picture's layer, frame by frame",
            kept: Kept::Samples,
        },
        Figure {
            name: "switches",
            unit: "",
            about: "changes of layer, of all pictures",
            kept: Kept::Sum,
        },
    ],
    presets: &[PRESET],
    build,
};

fn build(settings: &Settings, _: &dyn Library) -> Result<Arc<dyn Workload>, BuildError> {
    let params = ConferenceParams::parse(settings)?;
    params.check()?;
    Ok(Arc::new(params))
}

impl ConferenceParams {
    fn check(&self) -> Result<(), Refusal> {
        let layers = self.layers.rates().len();
        if self.thumbnail_layers as usize <= layers {
            return Ok(());
        }
        let message = format!(
            "thumbnail_layers {} of {layers} layers",
            self.thumbnail_layers
        );
        Err(Refusal::new(message).with_help("lower thumbnail_layers or add to layers"))
    }

    /// The greatest layer of each picture, the large one's first.
    fn most(&self) -> Vec<usize> {
        let mut most = vec![self.thumbnail_layers as usize - 1; self.thumbnails as usize + 1];
        most[0] = self.layers.rates().len() - 1;
        most
    }

    /// Bits a second of all pictures in their greatest layers.
    fn most_bits(&self) -> u64 {
        let rates = self.layers.rates();
        let greatest = self.most().into_iter();
        greatest.map(|layer| rates[layer].as_bits()).sum()
    }

    /// The encoder of a picture whose frames begin at `start`.
    fn encoder(&self, start: Instant, chance: units::random::Stream) -> Encoder {
        let rates = self.layers.rates();
        let params = CallParams {
            fps: self.fps,
            min_rate: rates[0],
            max_rate: rates[rates.len() - 1],
            variation: self.variation,
            key_factor: self.key_factor,
            ..CallParams::default()
        };
        Encoder::new(&params, start, chance)
    }
}

impl Workload for ConferenceParams {
    fn values(&self) -> Vec<(&'static str, String)> {
        ConferenceParams::values(self)
    }

    fn client(&self, start: &Start<'_>) -> Box<dyn App> {
        let most = self.most();
        let beat = Duration::from_secs(1).as_secs_f64() / f64::from(self.fps);
        let picture = |number: usize| {
            let mut chance = start.chance_of(&format!("picture {number}"));
            // Cameras are independent of each other.
            let after = Duration::from_secs_f64(chance.unit() * beat);
            Picture {
                encoder: self.encoder(start.now + after, chance),
                layer: 0,
                switch: None,
                key_at: None,
            }
        };
        Box::new(Conference {
            pictures: (0..most.len()).map(picture).collect(),
            chosen: vec![0; most.len()],
            most,
            full: Rate::from_bits((self.hysteresis * self.most_bits() as f64) as u64),
            filled: Rate::default(),
            microphone: self.audio.0.map(|rate| Microphone::new(rate, start.now)),
            params: self.clone(),
        })
    }

    fn server(&self) -> Option<Box<dyn App>> {
        None
    }

    fn client_sends(&self) -> bool {
        true
    }

    fn lasts(&self) -> bool {
        true
    }

    fn real_time(&self) -> bool {
        true
    }

    /// The control starts from the least that is sent. Twice the most leaves room for the hysteresis
    /// and for headers; libwebrtc probes no further either (`probe_controller.cc`).
    fn media(&self) -> Option<(Rate, (Rate, Rate))> {
        let rates = self.layers.rates();
        let sum = |bits: u64| Rate::from_bits(bits + self.audio.0.unwrap_or_default().as_bits());
        let least = sum(rates[0].as_bits() * (u64::from(self.thumbnails) + 1));
        Some((least, (least, sum(2 * self.most_bits()))))
    }
}

/// The picture of one camera that the server forwards.
#[derive(Debug)]
struct Picture {
    encoder: Encoder,
    /// The layer that is forwarded.
    layer: usize,
    /// The next layer, and when its key frame comes.
    switch: Option<(usize, Instant)>,
    /// When the key frame comes that the receiver asked for.
    key_at: Option<Instant>,
}

impl Picture {
    /// A frame's turn has come, `wanted` is the layer to forward, and `asked` whether the receiver asks
    /// for a key frame: the frame, and whether it is the first of another layer.
    fn turn(
        &mut self,
        now: Instant,
        wanted: usize,
        asked: bool,
        params: &ConferenceParams,
    ) -> (Option<Frame>, bool) {
        let comes = now + params.key_wait;
        if asked {
            self.key_at.get_or_insert(comes);
        }
        let under_way = self.switch.filter(|&(layer, _)| layer == wanted);
        self.switch = if wanted == self.layer {
            None
        } else {
            under_way.or(Some((wanted, comes)))
        };
        let switched = self.switch.is_some_and(|(_, at)| now >= at);
        if switched {
            self.layer = wanted;
            self.encoder.replace();
            (self.switch, self.key_at) = (None, None);
        }
        let conditions = Conditions {
            rate: params.layers.rates()[self.layer],
            keyframe_requested: self.key_at.take_if(|at| now >= *at).is_some(),
            // A frame that is left out breaks all that follow: the server forwards it.
            congested: false,
        };
        (self.encoder.on_timer(now, &conditions), switched)
    }
}

/// The server's end.
#[derive(Debug)]
struct Conference {
    params: ConferenceParams,
    /// The large one first; a picture's place is its stream's number.
    pictures: Vec<Picture>,
    /// The layers that fit.
    chosen: Vec<usize>,
    most: Vec<usize>,
    /// The rate up to which padding fills while there are better layers.
    full: Rate,
    /// The rate that padding keeps up.
    filled: Rate,
    microphone: Option<Microphone>,
}

/// The session that it sends over.
const SESSION: ConnId = ConnId(0);
/// The token of the microphone's timer; that of a picture is its number.
const AUDIO: u64 = u64::MAX;

impl Conference {
    fn start(&mut self, now: Instant, out: &mut Vec<Output>) {
        out.push(Output::Open {
            conn: SESSION,
            carrier: Carrier::Media,
            server: 0,
            extra_rtt: Duration::ZERO,
        });
        for (number, picture) in (0..).zip(&self.pictures) {
            out.push(Output::Timer(picture.encoder.next_frame_at(), number));
        }
        self.hear(now, out);
    }

    fn hear(&mut self, now: Instant, out: &mut Vec<Output>) {
        if let Some(microphone) = &mut self.microphone {
            microphone.turn(now, SESSION, AUDIO, out);
        }
    }

    /// Chooses the layers that fit an estimate. While there are better ones the session is filled
    /// up to their rate, so that the estimate can grow there (Jitsi Videobridge,
    /// `BandwidthProbing`).
    fn choose(&mut self, estimate: Rate, out: &mut Vec<Output>) {
        let (params, most) = (&self.params, &self.most);
        let rates = params.layers.rates();
        layers::choose(estimate, rates, most, params.hysteresis, &mut self.chosen);
        let filled = if self.chosen == *most {
            Rate::default()
        } else {
            self.full
        };
        if core::mem::replace(&mut self.filled, filled) != filled {
            out.push(Output::Fill {
                conn: SESSION,
                rate: filled,
            });
        }
    }

    /// The turn of a frame of `stream` has come.
    fn see(&mut self, now: Instant, stream: u8, state: &Conditions, out: &mut Vec<Output>) {
        self.choose(state.rate, out);
        let params = &self.params;
        let rates = params.layers.rates();
        let place = usize::from(stream);
        let picture = &mut self.pictures[place];
        let asked = state.keyframe_requested;
        let (frame, switched) = picture.turn(now, self.chosen[place], asked, params);
        let figure = |figure, value| {
            Output::Report(Report::Figure {
                figure,
                value,
                began: now,
            })
        };
        if switched {
            out.push(figure(SWITCHED, 1.0));
        }
        if let Some(frame) = frame {
            if stream == 0 {
                out.push(figure(LARGE, rates[picture.layer].as_mbit_f64()));
            }
            out.push(Output::Frame {
                conn: SESSION,
                frame: Frame { stream, ..frame },
            });
        }
        out.push(Output::Timer(
            picture.encoder.next_frame_at(),
            u64::from(stream),
        ));
    }
}

impl App for Conference {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => self.start(now, out),
            Input::Timer(AUDIO) => self.hear(now, out),
            Input::Timer(number) => out.push(Output::Ask {
                conn: SESSION,
                stream: number as u8,
            }),
            Input::Session {
                stream, conditions, ..
            } => self.see(now, stream, &conditions, out),
            Input::Opened(_)
            | Input::Message { .. }
            | Input::Writable(_)
            | Input::Unsent { .. }
            | Input::Datagram { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
