//! Frames and sound as they arrive in calls, when libwebrtc's jitter buffer lets each frame go, and how
//! long its NetEq makes sound wait: records for tests to replay.
//!
//! `receiver DRIVERS VIDEO SOUND [SEED]`: in the folder DRIVERS are the programs that
//! `scripts/witness-receiver.sh` builds, the other two take the records, those of `make test` with seed 1.
//! Their lines are described in `witness/README.md`.
//!
//! The calls show frames at once, so that the arrivals are the network's alone. Beside them are streams
//! of frames that no network makes, with jitter by chance.

use measure::{Event, MediaContent, PacketId, Sink, Taps};
use scenario::{Choice, Document, Names};
use sim::Simulator;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use units::Instant;
use units::random::Stream;
use workload::Event as Application;

/// Headers of a packet of a session (`MediaParams::overhead`).
const HEADERS: u32 = 58;

/// A frame that was complete.
#[derive(Debug, Clone, Copy, Default)]
struct Arrival {
    made: u64,
    bytes: u32,
    key: bool,
    repaired: bool,
    /// µs.
    first: Option<u64>,
    last: Option<u64>,
}

/// Frames, by their number.
type Frames = BTreeMap<u64, Arrival>;

/// When each packet of sound was sent, and arrived, in µs.
type Sound = BTreeMap<u64, (u64, Option<u64>)>;

/// The frames and the sound of a call.
#[derive(Default)]
struct Arrivals {
    frames: Frames,
    sound: Sound,
    /// The sequence number, frame and number of times sent of packets under way.
    packets: BTreeMap<u64, (u64, u64)>,
    sent: BTreeMap<u64, u32>,
    lost: Option<u64>,
}

fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1_000
}

impl Arrivals {
    fn arrived(&mut self, now: Instant, packet: PacketId) {
        let Some((sequence, frame)) = self.packets.remove(&packet.number) else {
            return;
        };
        // A copy of a packet that is there adds nothing.
        let Some(times) = self.sent.remove(&sequence) else {
            return;
        };
        let frame = self.frames.entry(frame).or_default();
        frame.first.get_or_insert(micros(now));
        frame.bytes += packet.bytes - HEADERS;
        frame.repaired |= times > 1;
    }
}

impl Sink for Arrivals {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Media { packet, part } => {
                if let MediaContent::Video {
                    sequence, frame, ..
                } = part.content
                {
                    self.packets.insert(packet.number, (sequence, frame));
                    *self.sent.entry(sequence).or_default() += 1;
                }
            }
            Event::Arrived { packet } => self.arrived(now, packet),
            Event::Traffic(Application::FrameSent { frame, .. }) => {
                self.frames.entry(frame).or_default().made = micros(now);
            }
            Event::Traffic(Application::FrameArrived { frame, .. }) => {
                self.frames.entry(frame).or_default().last = Some(micros(now));
            }
            Event::Traffic(Application::FrameLost { frame, .. }) => self.lost = Some(frame),
            Event::Traffic(Application::FrameShown { frame, .. }) => {
                // What is shown after a frame that is lost depends on none.
                let key = frame == 0 || self.lost == Some(frame - 1);
                self.frames.entry(frame).or_default().key = key;
            }
            Event::Traffic(Application::AudioSent { frame, .. }) => {
                self.sound.insert(frame, (micros(now), None));
            }
            Event::Traffic(Application::AudioArrived { frame, .. }) => {
                self.sound.entry(frame).or_default().1 = Some(micros(now));
            }
            _ => {}
        }
    }

    fn wants_ends(&self) -> bool {
        true
    }
}

/// What arrives of a call over `link`, with `traffic` beside it.
fn call(seed: u64, link: &str, traffic: &str) -> Result<Arrivals, Box<dyn Error>> {
    let simulator = Simulator::default();
    let text = format!(
        "name = \"receiver\"\nduration = \"30s\"\nnoise = \"0s\"\ndisciplines = [\"pfifo\"]\n\
         [link]\n{link}\nrtt = \"40ms\"\nbuffer = \"100p\"\n\
         [[traffic]]\nname = \"call\"\nkind = \"call\"\n{traffic}"
    );
    let names: &dyn Names = &simulator;
    let scenario = Document::parse("receiver", &text)?.resolve(names)?;
    let mut arrivals = Arrivals::default();
    let taps = Taps {
        series: false,
        tap: Some(&mut arrivals),
    };
    measure::tapped(&simulator, &scenario, &Choice::plain("pfifo"), seed, taps)?;
    Ok(arrivals)
}

/// Frames of 30 s at `fps` that take 30 ms and as long as `late` says, in order.
fn stream(seed: u64, name: &str, fps: u64, late: impl Fn(&mut Stream, u64) -> f64) -> Frames {
    let mut chance = Stream::new(seed, name);
    let mut before = 0;
    let frame = |id: u64| {
        let made = id * 1_000_000 / fps;
        let wait = (1e3 * late(&mut chance, id).max(0.0)) as u64;
        let last = before.max(made + 30_000 + wait);
        let first = before.max(last.saturating_sub(chance.below(8_000)));
        before = last;
        let arrival = Arrival {
            made,
            bytes: chance.log_normal(8_000.0, 0.2) as u32,
            key: id == 0,
            repaired: false,
            first: Some(first),
            last: Some(last),
        };
        (id, arrival)
    };
    (0..30 * fps).map(frame).collect()
}

/// Streams with jitter in ms.
fn streams(seed: u64) -> Vec<(&'static str, Frames)> {
    vec![
        (
            "normal-10",
            stream(seed, "normal-10", 30, |chance, _| {
                30.0 + 10.0 * chance.normal()
            }),
        ),
        (
            "exponential-40",
            stream(seed, "exponential-40", 30, |chance, _| {
                chance.exponential(40.0)
            }),
        ),
        (
            "spikes",
            stream(seed, "spikes", 30, |chance, id| match id % 120 {
                119 => 400.0,
                _ => 3.0 * chance.unit(),
            }),
        ),
        (
            "step",
            stream(seed, "step", 30, |chance, id| {
                let step = if id < 450 { 0.0 } else { 250.0 };
                step + 5.0 * chance.unit()
            }),
        ),
        (
            "few-frames",
            stream(seed, "few-frames", 8, |chance, _| chance.exponential(30.0)),
        ),
    ]
}

/// Calls over links.
fn calls(seed: u64) -> Result<Vec<(&'static str, Arrivals)>, Box<dyn Error>> {
    let bulk = "[[traffic]]\nname = \"bulk\"\nkind = \"bulk\"\nstart = \"8s\"\nsize = \"10MB\"\n";
    Ok(vec![
        ("even", call(seed, "rate = \"10mbit\"", "")?),
        ("bulk", call(seed, "rate = \"10mbit\"", bulk)?),
        (
            "cut",
            call(
                seed,
                "steps = [\"0s 5mbit\", \"10s 0.6mbit\", \"20s 5mbit\"]",
                "",
            )?,
        ),
        (
            "outage",
            call(
                seed,
                "steps = [\"0s 5mbit\", \"10s 1kbit\", \"12s 5mbit\"]",
                "",
            )?,
        ),
        ("loss-2", call(seed, "rate = \"5mbit\"\nloss = \"2%\"", "")?),
        (
            "loss-10",
            call(seed, "rate = \"5mbit\"\nloss = \"10%\"", "")?,
        ),
        (
            "radio",
            call(
                seed,
                "rate = \"5mbit\"\ngrants = \"60ms\"\njitter = \"30ms\"",
                "",
            )?,
        ),
    ])
}

/// What the witness is told of the frames that were complete.
fn told(frames: &Frames) -> String {
    let mut text = String::from("rtt 40000\n");
    for (id, frame) in frames {
        let Arrival {
            made,
            bytes,
            key,
            repaired,
            first: Some(first),
            last: Some(last),
        } = *frame
        else {
            continue;
        };
        let (ticks, key, repaired) = (made * 9 / 100, u8::from(key), u8::from(repaired));
        let _ = writeln!(
            text,
            "frame {id} {ticks} {bytes} {key} {repaired} {first} {last}"
        );
    }
    text
}

/// What the witness answers.
fn ask(driver: &Path, text: &str) -> Result<String, Box<dyn Error>> {
    let mut child = Command::new(driver)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // Its answers are short enough to wait in the pipe.
    child
        .stdin
        .take()
        .ok_or("no pipe")?
        .write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("the witness ends with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The record of the frames and the answer.
fn record(frames: &Frames, answer: &str) -> Result<String, Box<dyn Error>> {
    let mut left: BTreeMap<u64, u64> = BTreeMap::new();
    let mut freezes = "";
    for line in answer.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["left", id, at] => drop(left.insert(id.parse()?, at.parse()?)),
            _ => freezes = line,
        }
    }
    let mut text = format!("rtt 40000\n{freezes}\n");
    let mut before = 0;
    for (id, frame) in frames {
        let (Some(first), Some(last)) = (frame.first, frame.last) else {
            continue;
        };
        let ticks = frame.made * 9 / 100;
        let flags = match (frame.key, frame.repaired) {
            (true, _) => "k",
            (_, true) => "r",
            _ => "-",
        };
        let left = left.get(id).map(|at| (at - last).to_string());
        let _ = writeln!(
            text,
            "{id} {} {} {flags} {} {} {}",
            ticks - before,
            frame.bytes,
            first - ticks * 100 / 9,
            last - first,
            left.as_deref().unwrap_or("-")
        );
        before = ticks;
    }
    Ok(text)
}

/// The record of the packets of sound that arrived: the witness is told when, and says how long to wait.
fn sound(driver: &Path, sound: &Sound) -> Result<String, Box<dyn Error>> {
    let arrived = sound.iter().filter_map(|(number, (sent, arrived))| {
        let arrived = (*arrived)?;
        Some((arrived, *number, arrived - sent))
    });
    let mut arrived: Vec<(u64, u64, u64)> = arrived.collect();
    arrived.sort_unstable();
    let lines = arrived.iter();
    let told: String = lines
        .map(|(at, number, _)| format!("{number} {at}\n"))
        .collect();
    let answer = ask(driver, &told)?;
    let mut text = String::new();
    for ((_, number, took), line) in arrived.iter().zip(answer.lines()) {
        let (_, target) = line.split_once(' ').ok_or("an answer of one word")?;
        let _ = writeln!(text, "{number} {took} {target}");
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, drivers, video, audio, seed @ ..] = &arguments[..] else {
        return Err("usage: receiver DRIVERS VIDEO SOUND [SEED]".into());
    };
    let seed = seed.first().map_or(Ok(1), |seed| seed.parse())?;
    let drivers = Path::new(drivers);
    let mut frames = streams(seed);
    for (name, arrivals) in calls(seed)? {
        let path = Path::new(audio).join(format!("{name}.txt"));
        std::fs::write(path, sound(&drivers.join("audio"), &arrivals.sound)?)?;
        frames.push((name, arrivals.frames));
    }
    for (name, frames) in frames {
        let answer = ask(&drivers.join("receiver"), &told(&frames))?;
        let path = Path::new(video).join(format!("{name}.txt"));
        std::fs::write(path, record(&frames, &answer)?)?;
    }
    Ok(())
}
