//! Frames of calls, and where their sound is silent.

use super::moment::ms;
use scenario::Scenario;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use units::{Duration, Instant};
use workload::{Event, TrafficId};

/// What happened to calls since the last piece. Times in milliseconds.
#[derive(Default, Serialize)]
pub struct Piece {
    /// Frames whose fate is known: the traffic entry, when the frame was handed over, when it arrived
    /// unless it was lost, when it was shown.
    frames: Vec<(u16, f64, Option<f64>, Option<f64>)>,
    /// Frames of sound that were lost, or later than a picture may be: the traffic entry, when the
    /// frame was handed over.
    silent: Vec<(u16, f64)>,
}

/// Follows all calls.
pub struct Calls {
    /// By entry: sound that is later than this is not heard.
    thresholds: Vec<Duration>,
    of: BTreeMap<TrafficId, Call>,
    piece: Piece,
}

/// What of a call is under way.
#[derive(Default)]
struct Call {
    /// Frames of the picture: when each was handed over, and when it arrived.
    frames: BTreeMap<u64, (Instant, Option<Instant>)>,
    /// Frames of sound that have not arrived.
    sound: VecDeque<(u64, Instant)>,
}

impl Calls {
    /// Nothing is under way.
    pub fn new(scenario: &Scenario) -> Self {
        Calls {
            thresholds: scenario
                .traffic
                .iter()
                .map(|of| of.stall_threshold)
                .collect(),
            of: BTreeMap::new(),
            piece: Piece::default(),
        }
    }

    /// Handles an event.
    pub fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::FrameSent { call, frame } => {
                self.of
                    .entry(call)
                    .or_default()
                    .frames
                    .insert(frame, (now, None));
            }
            Event::FrameArrived { call, frame } => {
                let of = self.of.get_mut(&call);
                if let Some((_, arrived)) = of.and_then(|of| of.frames.get_mut(&frame)) {
                    *arrived = Some(now);
                }
            }
            Event::FrameShown { call, frame, .. } => self.settle(call, frame, Some(now)),
            Event::FrameLost { call, frame } => self.settle(call, frame, None),
            Event::AudioSent { call, frame, .. } => {
                self.of
                    .entry(call)
                    .or_default()
                    .sound
                    .push_back((frame, now));
            }
            Event::AudioArrived { call, frame } | Event::AudioRestored { call, frame } => {
                self.pass(now);
                if let Some(of) = self.of.get_mut(&call) {
                    of.sound.retain(|(number, _)| *number != frame);
                }
            }
            _ => {}
        }
    }

    fn settle(&mut self, call: TrafficId, frame: u64, shown: Option<Instant>) {
        let of = self.of.get_mut(&call);
        if let Some((sent, arrived)) = of.and_then(|of| of.frames.remove(&frame)) {
            let arrived = arrived.filter(|_| shown.is_some()).map(ms);
            self.piece
                .frames
                .push((call.0, ms(sent), arrived, shown.map(ms)));
        }
    }

    /// Sound that is too late `now` is silent.
    pub fn pass(&mut self, now: Instant) {
        for (call, of) in &mut self.of {
            while let Some((_, sent)) = of.sound.front()
                && now.since(*sent) > self.thresholds[usize::from(call.0)]
            {
                self.piece.silent.push((call.0, ms(*sent)));
                of.sound.pop_front();
            }
        }
    }

    /// The run is over: of frames under way, those have a fate that have arrived.
    pub fn finish(&mut self) {
        for (call, of) in &mut self.of {
            for (sent, arrived) in core::mem::take(&mut of.frames).into_values() {
                if arrived.is_some() {
                    let frame = (call.0, ms(sent), arrived.map(ms), None);
                    self.piece.frames.push(frame);
                }
            }
        }
    }

    /// What happened since the last call.
    pub fn take(&mut self) -> Piece {
        core::mem::take(&mut self.piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{AnyNames, Document};

    const TEXT: &str = "disciplines = [\"pfifo\"]\n[link]\nrate = \"1mbit\"\nrtt = \"1ms\"\n\
        [[traffic]]\nname = \"a\"\nkind = \"call\"\n";

    fn calls() -> Calls {
        let document = Document::parse("a.toml", TEXT).unwrap();
        Calls::new(&document.resolve(&AnyNames::default()).unwrap())
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_frame_that_arrived_and_was_lost_has_not_arrived() {
        let (mut calls, call) = (calls(), TrafficId(0));
        for frame in 0..3 {
            calls.event(at(33 * frame), &Event::FrameSent { call, frame });
            calls.event(at(33 * frame + 20), &Event::FrameArrived { call, frame });
        }
        calls.event(
            at(100),
            &Event::FrameShown {
                call,
                frame: 0,
                held: Duration::ZERO,
            },
        );
        calls.event(at(100), &Event::FrameLost { call, frame: 1 });
        calls.event(at(800), &Event::FrameSent { call, frame: 3 });
        calls.finish();
        let shown = (0, 0.0, Some(20.0), Some(100.0));
        assert_eq!(
            calls.take().frames,
            [shown, (0, 33.0, None, None), (0, 66.0, Some(86.0), None)]
        );
    }

    #[test]
    fn late_sound_is_silent() {
        let (mut calls, call) = (calls(), TrafficId(0));
        for frame in 0..3 {
            calls.event(
                at(20 * frame),
                &Event::AudioSent {
                    call,
                    frame,
                    bytes: 80,
                },
            );
        }
        calls.event(at(150), &Event::AudioArrived { call, frame: 1 });
        // The first is 191 ms late, the last one 190 ms.
        calls.event(at(230), &Event::AudioArrived { call, frame: 2 });
        assert_eq!(calls.take().silent, [(0, 0.0)]);
        calls.pass(at(1000));
        assert_eq!(calls.take().silent, []);
    }
}
