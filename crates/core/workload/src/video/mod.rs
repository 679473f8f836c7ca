//! A video on demand over HTTP, as MPEG-DASH has it: segments in a ladder of bitrates.
//!
//! Principles: one TCP connection, one segment at a time. Each segment has the highest bitrate of
//! the ladder within a share of the throughput that the last few segments had; the first has the
//! least. A full buffer pauses the downloads, so that the network sees bursts. A segment that is
//! not there when it has to be played has *failed*: the picture stands still until it is (FLOQ,
//! VI.C). Not for: video that is live, or a call.

mod playback;
#[cfg(test)]
mod tests;

use crate::entry::{BuildError, Entry, Figure, Kept, Library, Rows, Start, Workload};
use crate::ladder::Layers;
use crate::page::PageServer;
use crate::{App, Carrier, ConnId, Input, Message, Output, Report};
use playback::Playback;
use std::collections::VecDeque;
use std::sync::Arc;
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

units::params! {
    /// Parameters of a `video` entry.
    pub struct VideoParams {
        /// The bitrates of its representations, increasing.
        ladder: Layers = "50kbit/100kbit/150kbit/200kbit/250kbit/300kbit/400kbit/500kbit/600kbit/700kbit/900kbit/1.2mbit/1.5mbit/2mbit/2.5mbit/3mbit/4mbit/5mbit/6mbit/8mbit",
            source "Lederer, Müller and Timmerer 2012: Big Buck Bunny, which FLOQ, V.B, has in segments of 6 s";
        /// Playing time of a segment.
        segment: Duration = "6s", range "100ms".."1min", source "FLOQ, V.B";
        /// Number of segments; 0 for no end.
        segments: u32 = "0", range "0".."1000000", source "none";
        /// Playing time in the buffer with which playback starts.
        enough: Duration = "6s", range "0ms".."10min", source "ours: a segment";
        /// The player pauses its downloads while the next segment would make the buffer longer than
        /// this.
        most: Duration = "60s", range "1s".."1h", source "ours: players for large screens have 30 s to 60 s";
        /// Largest share of the throughput that a bitrate may have.
        share: f64 = "0.9", range "0.01".."1", source "dash.js, bandwidthSafetyFactor";
        /// Number of latest segments over which the throughput is taken.
        window: u32 = "3", range "1".."100", source "dash.js, throughput rule";
    }
}

/// `video` for the registry.
pub const ENTRY: Entry = Entry {
    name: "video",
    summary: "video on demand, in segments whose bitrate follows the throughput",
    about: "A player fetches segments one after another over one connection, each in the highest \
        bitrate that the throughput of the last ones allows, and pauses while its buffer is full. A \
        segment that is not there in time has failed, and the picture stands still until it is.\n\n\
        Not for live video: that is a call.",
    source: "ISO/IEC 23009-1; FLOQ, V.B",
    params: VideoParams::SPECS,
    check: |settings| VideoParams::parse(settings).map(drop),
    carriers: &[Carrier::Tcp],
    control: Some("cubic"),
    rows: Rows::Figures,
    figures: &[
        Figure {
            name: "bitrate",
            unit: "Mbit/s",
            about: "bitrate that was chosen for a segment that arrived",
            kept: Kept::Samples,
        },
        Figure {
            name: "throughput",
            unit: "Mbit/s",
            about: "throughput of a segment, from its request to its last byte",
            kept: Kept::Samples,
        },
        Figure {
            name: "failed",
            unit: "",
            about: "segments that had not arrived when they were due to play",
            kept: Kept::Sum,
        },
        Figure {
            name: "rebuffering",
            unit: "s",
            about: "time for which the picture stood still after it had begun",
            kept: Kept::Sum,
        },
        Figure {
            name: "startup",
            unit: "s",
            about: "time from opening the connection to the first picture",
            kept: Kept::Samples,
        },
    ],
    presets: &[],
    build,
};

/// Places in the list of figures.
const BITRATE: u8 = 0;
const THROUGHPUT: u8 = 1;
const FAILED: u8 = 2;
const REBUFFERING: u8 = 3;
const STARTUP: u8 = 4;

/// Length of a request: a GET with the headers of a browser.
const REQUEST: u64 = 400;
const CONN: ConnId = ConnId(0);
/// The next segment is due.
const FETCH: u64 = 0;
/// The buffer may have run dry.
const LOOK: u64 = 1;
/// While the picture stands still, that is reported so often: the run may end meanwhile.
const TELL: Duration = Duration::from_secs(1);

fn build(settings: &Settings, _: &dyn Library) -> Result<Arc<dyn Workload>, BuildError> {
    let params = VideoParams::parse(settings)?;
    let least = params.segment.max(params.enough);
    if params.most < least {
        let message = format!("most {} is less than a segment, or enough", params.most);
        let help = format!("write {least} at least");
        return Err(Refusal::new(message).with_help(help).into());
    }
    Ok(Arc::new(params))
}

impl Workload for VideoParams {
    fn values(&self) -> Vec<(&'static str, String)> {
        VideoParams::values(self)
    }

    fn client(&self, start: &Start<'_>) -> Box<dyn App> {
        Box::new(Player::new(self.clone(), start.now))
    }

    fn server(&self) -> Option<Box<dyn App>> {
        Some(Box::new(PageServer::new()))
    }

    fn client_sends(&self) -> bool {
        false
    }

    fn lasts(&self) -> bool {
        self.segments == 0
    }
}

/// A segment that is on its way.
#[derive(Debug, Clone, Copy)]
struct Fetch {
    bitrate: Rate,
    bytes: u64,
    since: Instant,
}

/// A player.
#[derive(Debug)]
struct Player {
    params: VideoParams,
    began: Instant,
    /// Its first picture was reported.
    started: bool,
    playback: Playback,
    fetching: Option<Fetch>,
    /// Segments asked for.
    asked: u32,
    /// Bytes and times of the last segments.
    past: VecDeque<(u64, Duration)>,
}

impl Player {
    fn new(params: VideoParams, now: Instant) -> Self {
        Player {
            params,
            began: now,
            started: false,
            playback: Playback::new(now),
            fetching: None,
            asked: 0,
            past: VecDeque::new(),
        }
    }

    /// The highest bitrate that the throughput allows, or the least.
    fn bitrate(&self) -> Rate {
        let (bytes, time) = self
            .past
            .iter()
            .fold((0, Duration::ZERO), |(bytes, time), past| {
                (bytes + past.0, time + past.1)
            });
        let allowed = match time {
            Duration::ZERO => 0.0,
            time => Rate::from_bytes_over(bytes, time).as_mbit_f64() * self.params.share,
        };
        let rates = self.params.ladder.rates();
        let fits = rates
            .iter()
            .rev()
            .find(|rate| rate.as_mbit_f64() <= allowed);
        *fits.unwrap_or(&rates[0])
    }

    fn all_asked(&self) -> bool {
        self.params.segments > 0 && self.asked == self.params.segments
    }

    /// Asks for the next segment, or waits until there is room for it.
    fn fetch(&mut self, now: Instant, out: &mut Vec<Output>) {
        if self.fetching.is_some() || self.all_asked() {
            return;
        }
        if let Some(at) = self.playback.room_at(self.params.segment, self.params.most) {
            return out.push(Output::Timer(at, FETCH));
        }
        let bitrate = self.bitrate();
        let bytes = bitrate.bytes_in(self.params.segment).max(1);
        self.fetching = Some(Fetch {
            bitrate,
            bytes,
            since: now,
        });
        out.push(Output::Send {
            conn: CONN,
            stream: 0,
            bytes: REQUEST,
            message: Message::Request {
                id: self.asked,
                response: bytes,
                think: Duration::ZERO,
            },
        });
        self.asked += 1;
    }

    /// Plays until `now`, and reports stalls.
    fn play(&mut self, now: Instant, out: &mut Vec<Output>) {
        let dry = self.playback.play(now);
        // After its last segment a video is over.
        if self.fetching.is_none() && self.all_asked() {
            return;
        }
        let Some((since, stalled)) = self.playback.stalled() else {
            return;
        };
        if dry {
            out.push(figure(FAILED, 1.0, since));
        }
        out.push(figure(REBUFFERING, stalled.as_secs_f64(), since));
    }

    /// The buffer may have run dry.
    fn look(&mut self, now: Instant, out: &mut Vec<Output>) {
        let before = out.len();
        self.play(now, out);
        if out.len() > before {
            out.push(Output::Timer(now + TELL, LOOK));
        }
    }

    /// A segment is complete.
    fn complete(&mut self, now: Instant, out: &mut Vec<Output>) {
        self.play(now, out);
        let Some(fetched) = self.fetching.take() else {
            return;
        };
        let took = now.since(fetched.since);
        self.past.push_back((fetched.bytes, took));
        if self.past.len() > self.params.window as usize {
            self.past.pop_front();
        }
        let throughput = Rate::from_bytes_over(fetched.bytes, took.max(Duration::from_nanos(1)));
        let (bitrate, since) = (fetched.bitrate.as_mbit_f64(), fetched.since);
        out.push(figure(BITRATE, bitrate, since));
        out.push(figure(THROUGHPUT, throughput.as_mbit_f64(), since));
        self.playback.add(self.params.segment, self.params.enough);
        if let Some(dry) = self.playback.dry_at() {
            out.push(Output::Timer(dry, LOOK));
            if !self.started {
                self.started = true;
                let waited = now.since(self.began).as_secs_f64();
                out.push(figure(STARTUP, waited, self.began));
            }
        }
        self.fetch(now, out);
    }
}

fn figure(figure: u8, value: f64, began: Instant) -> Output {
    Output::Report(Report::Figure {
        figure,
        value,
        began,
    })
}

impl App for Player {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => out.push(Output::Open {
                conn: CONN,
                carrier: Carrier::Tcp,
                server: 0,
                extra_rtt: Duration::ZERO,
            }),
            Input::Opened(_) => self.fetch(now, out),
            Input::Timer(FETCH) => {
                self.play(now, out);
                self.fetch(now, out);
            }
            Input::Timer(_) => self.look(now, out),
            Input::Message {
                message: Message::Response { last: true, .. },
                ..
            } => self.complete(now, out),
            Input::Message { .. }
            | Input::Writable(_)
            | Input::Datagram { .. }
            | Input::Session { .. }
            | Input::Unsent { .. } => {}
        }
    }
}
