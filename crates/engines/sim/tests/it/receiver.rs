//! The jitter buffer compared with libwebrtc's: the frames that libwebrtc's buffer had arrive at ours.
//! The records are made by `make witness OF=receiver`; `witness/README.md` describes their lines.
//! The folder `video` in `ANALECTS_RECORDS` has others.

use crate::common::{resolve, us};
use measure::{CallResult, Collector, Event, Sink};
use scenario::Choice;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use transport::Wire;
use transport::media::{Content, Fragment, MediaPacket, MediaParams, MediaReceiver, Playout};
use units::{Duration, Ecn, Instant};
use workload::{Event as Application, TrafficId};

/// A frame that was complete.
struct Frame {
    id: u64,
    made: Instant,
    timestamp: u32,
    bytes: u32,
    key: bool,
    repaired: bool,
    first: Instant,
    last: Instant,
    /// When libwebrtc let it go, if it did.
    left: Option<Instant>,
}

struct Record {
    rtt: Duration,
    /// How many, and how long together.
    freezes: (u64, Duration),
    frames: Vec<Frame>,
}

fn number(text: &str) -> u64 {
    text.parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"))
}

fn read(text: &str) -> Record {
    let mut record = Record {
        rtt: Duration::ZERO,
        freezes: (0, Duration::ZERO),
        frames: Vec::new(),
    };
    let mut ticks = 0;
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["rtt", rtt] => record.rtt = Duration::from_micros(number(rtt)),
            ["freezes", count, ms, _] => {
                record.freezes = (number(count), Duration::from_millis(number(ms)));
            }
            [id, after, bytes, flags, first, last, left] => {
                ticks += number(after);
                let made = ticks * 100 / 9;
                let first = made + number(first);
                let last = first + number(last);
                record.frames.push(Frame {
                    id: number(id),
                    made: us(made),
                    timestamp: ticks as u32,
                    bytes: number(bytes) as u32,
                    key: flags == "k",
                    repaired: flags == "r",
                    first: us(first),
                    last: us(last),
                    left: (left != "-").then(|| us(last + number(left))),
                });
            }
            _ => panic!("not understood: {line:?}"),
        }
    }
    record
}

/// The packets of a frame, three of them, by when they arrive. Where it is complete only after a repair,
/// the one in the middle comes last.
fn packets(frame: &Frame, rtt: Duration, overhead: u32) -> [(Instant, MediaPacket); 3] {
    let at = |index| match (index, frame.repaired) {
        (0, _) | (2, true) => frame.first,
        _ => frame.last,
    };
    [0, 1, 2].map(|index: u32| {
        let bytes = frame.bytes * (index + 1) / 3 - frame.bytes * index / 3;
        let part = Fragment {
            stream: 0,
            rtp: 3 * frame.id + u64::from(index),
            frame: frame.id,
            index,
            count: 3,
            key: frame.key,
            layer: 0,
            back: 0,
            timestamp: frame.timestamp,
        };
        let packet = MediaPacket {
            sequence: 3 * frame.id + u64::from(index),
            len: bytes + overhead,
            rtt,
            content: Content::Video(part),
        };
        (at(index), packet)
    })
}

/// What our receiver makes of the frames: when each was shown, and its time in the buffer.
fn shown(record: &Record) -> Vec<(Instant, u64, Duration)> {
    let params = MediaParams {
        receiver: Playout::WebRtc,
        ..MediaParams::default()
    };
    let frames = record.frames.iter();
    let packets = frames.flat_map(|frame| packets(frame, record.rtt, params.overhead));
    let mut packets: Vec<(Instant, MediaPacket)> = packets.collect();
    packets.sort_by_key(|(at, packet)| (*at, packet.sequence));
    let mut receiver = MediaReceiver::new(&params, cca::Feedback::Arrivals);
    let mut shown = Vec::new();
    let end = packets.last().unwrap().0 + Duration::from_secs(4);
    let mut packets = packets.into_iter().peekable();
    loop {
        let timer = receiver.next_timer();
        match packets.next_if(|(at, _)| *at <= timer) {
            Some((at, packet)) => {
                receiver.handle(at, Ecn::NotCapable, &Wire::Media(packet));
                while receiver.transmit(at).is_some() {}
            }
            None if timer > end => return shown,
            None => {
                receiver.on_timer(timer);
                while receiver.transmit(timer).is_some() {}
            }
        }
        while let Some(event) = receiver.event() {
            if let transport::media::MediaEvent::FrameShown { id, at, held, .. } = event {
                shown.push((at, id, held));
            }
        }
    }
}

/// The result of a call whose frames are shown like this.
fn measured(record: &Record, shown: &[(Instant, u64, Duration)]) -> CallResult {
    let scenario = resolve(
        "duration = \"60s\"\ndisciplines = [\"pfifo\"]\nlink = { rate = \"9mbit\", rtt = \"9ms\" }\n\
         traffic = [{ name = \"call\", kind = \"call\", preset = \"browser\" }]\n",
    );
    let mut collector = Collector::new(&scenario.unwrap(), false);
    let call = TrafficId(0);
    let sent = record.frames.iter().map(|frame| {
        let frame_sent = Application::FrameSent {
            call,
            frame: frame.id,
        };
        (frame.made, frame_sent)
    });
    let shown = shown.iter().map(|(at, frame, held)| {
        let frame_shown = Application::FrameShown {
            call,
            frame: *frame,
            held: *held,
        };
        (*at, frame_shown)
    });
    let mut events: Vec<(Instant, Application)> = sent.chain(shown).collect();
    events.sort_by_key(|(at, _)| *at);
    for (at, event) in events {
        collector.event(at, &Event::Traffic(event));
    }
    let result = collector.finish(&Choice::plain("pfifo"), 1, &[]);
    result.calls.into_iter().next().unwrap()
}

/// How far apart frames leave, in ms: half of them, and 95 % of them, no further.
fn apart(record: &Record, shown: &[(Instant, u64, Duration)]) -> (f64, f64) {
    let ours: BTreeMap<u64, Instant> = shown.iter().map(|(at, id, _)| (*id, *at)).collect();
    // The decoder has a frame for 1 ms.
    let both = record.frames.iter().filter_map(|frame| {
        let (theirs, ours) = (frame.left?, *ours.get(&frame.id)?);
        let theirs = theirs + Duration::from_millis(1);
        Some(theirs.since(ours).max(ours.since(theirs)).as_millis_f64())
    });
    let mut both: Vec<f64> = both.collect();
    both.sort_by(f64::total_cmp);
    let at = |q| measure::quantile(&both, q).unwrap();
    (at(0.5), at(0.95))
}

/// Mean time from a frame's first packet until it left, in ms, of libwebrtc's.
fn held(record: &Record) -> f64 {
    let held = record.frames.iter();
    let held = held.filter_map(|frame| Some(frame.left?.since(frame.first).as_millis_f64()));
    let held: Vec<f64> = held.collect();
    held.iter().sum::<f64>() / held.len() as f64
}

#[test]
fn frames_leave_as_from_libwebrtcs_buffer() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/receiver");
    let others = std::env::var_os("ANALECTS_RECORDS").map(PathBuf::from);
    let folder = others.map_or(own, |others| others.join("video"));
    let entries = std::fs::read_dir(folder).expect("the records are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 12, "seven calls, five streams");
    println!(
        "| case | frames | apart, ms | 95 % | in the buffer, ms | ours | freezes | ours | s | ours |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    let mut failed = Vec::new();
    for path in paths {
        let record = read(&std::fs::read_to_string(&path).unwrap());
        let shown = shown(&record);
        let call = measured(&record, &shown);
        let playout = call.playout.unwrap();
        let (half, most) = apart(&record, &shown);
        let (theirs, ours) = (held(&record), playout.jitter_buffer_ms.unwrap());
        let ((count, time), case) = (record.freezes, path.file_stem().unwrap().display());
        println!(
            "| {case} | {} | {half:.2} | {most:.2} | {theirs:.1} | {ours:.1} | {count} | {} | {:.2} | {:.2} |",
            shown.len(),
            call.freezes,
            time.as_secs_f64(),
            playout.freeze_s
        );
        let left = record.frames.iter().filter(|frame| frame.left.is_some());
        let left: BTreeSet<u64> = left.map(|frame| frame.id).collect();
        let near = |theirs: f64, ours: f64| (theirs - ours).abs() <= 0.1 * theirs;
        if half > 1.0
            || most > 2.0
            || !near(theirs, ours)
            || left != shown.iter().map(|of| of.1).collect()
            || count != call.freezes
            || !near(time.as_secs_f64(), playout.freeze_s)
        {
            failed.push(case.to_string());
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
