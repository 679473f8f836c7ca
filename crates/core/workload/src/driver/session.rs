//! Frames of media sessions: from applications to sockets, and their fate.

use super::{Driver, FlowEnd, Sockets};
use crate::{ConnId, Event, Frame, Input, TrafficId};
use units::{Duration, Instant};

/// The stream of video that a call is judged by: results hear of its frames only.
const JUDGED: u8 = 0;

/// The fate of a frame at the receiving end of a media session: for a frame of video its stream and
/// its number in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its last missing packet arrived.
    Complete(u8, u64),
    /// It was shown, after a jitter buffer had it for so long.
    Shown(u8, u64, Duration),
    /// It will never be shown.
    Lost(u8, u64),
    /// A lost part of it was restored.
    Mended(u8, u64),
    /// It is of audio, and arrived.
    Heard(u64),
    /// It is of audio, and came with a later one.
    Reheard(u64),
}

impl Driver {
    /// Handles the fate of a frame that arrives at `end`.
    pub fn frame<S: Sockets>(&mut self, now: Instant, end: FlowEnd, fate: Fate, sockets: &mut S) {
        let Some(open) = self.flows.get_mut(end) else {
            return;
        };
        let (call, flow) = (TrafficId(open.entry), open.flow);
        let (stream, event) = match fate {
            Fate::Complete(stream, frame) => {
                let bytes = open.frames(stream).length(frame);
                sockets.tell(now, Event::Delivered { flow, bytes });
                (stream, Event::FrameArrived { call, frame })
            }
            Fate::Shown(stream, frame, held) => {
                open.frames(stream).settled(frame);
                (stream, Event::FrameShown { call, frame, held })
            }
            Fate::Lost(stream, frame) => {
                open.frames(stream).settled(frame);
                (stream, Event::FrameLost { call, frame })
            }
            Fate::Mended(stream, frame) => (stream, Event::PartRestored { call, frame }),
            Fate::Heard(frame) => (JUDGED, Event::AudioArrived { call, frame }),
            Fate::Reheard(frame) => (JUDGED, Event::AudioRestored { call, frame }),
        };
        if stream == JUDGED {
            sockets.tell(now, event);
        }
    }

    /// Gives a frame to the session that sends from `end`.
    pub(super) fn hand_over<S: Sockets>(
        &mut self,
        now: Instant,
        end: FlowEnd,
        frame: Frame,
        sockets: &mut S,
    ) {
        if let Some(open) = self.flows.get_mut(end) {
            open.frames(frame.stream).sent(frame.id, frame.bytes);
            let event = Event::FrameSent {
                call: TrafficId(open.entry),
                frame: frame.id,
            };
            if frame.stream == JUDGED {
                sockets.tell(now, event);
            }
            sockets.frame(now, end, frame);
        }
    }
}

/// The state of the connection that sends from `end`, for its application.
pub(super) fn state<S: Sockets>(
    now: Instant,
    conn: ConnId,
    stream: u8,
    end: FlowEnd,
    sockets: &mut S,
) -> Option<Input> {
    if let Some(conditions) = sockets.conditions(now, end, stream) {
        return Some(Input::Session {
            conn,
            stream,
            conditions,
        });
    }
    let bytes = sockets.unsent(end)?;
    Some(Input::Unsent { conn, bytes })
}
