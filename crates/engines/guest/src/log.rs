//! Events of applications and findings of controls, as the guest writes them and the host reads them: a
//! line of JSON for each event, with its time in nanoseconds.

use crate::error::Failure;
use serde::{Deserialize, Serialize};
use units::{FlowId, Instant};
use workload::Event;

/// What the guest tells of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Said {
    /// A finding of a flow's congestion control about its path.
    Noticed {
        /// Which flow.
        flow: FlowId,
        /// The notice.
        notice: cca::Notice,
    },
    /// An event of an application.
    #[serde(untagged)]
    Traffic(Event),
}

impl From<Said> for measure::Event {
    fn from(said: Said) -> Self {
        match said {
            Said::Noticed { flow, notice } => measure::Event::Noticed { flow, notice },
            Said::Traffic(event) => measure::Event::Traffic(event),
        }
    }
}

/// Events in the order in which they happened. Memory is allocated in pieces, so that written data
/// is never copied.
#[derive(Debug, Default)]
pub struct Log {
    pieces: Vec<Vec<(Instant, Said)>>,
}

/// Events in a piece.
const PIECE: usize = 4096;

impl Log {
    /// `event` happened `now`.
    pub fn event(&mut self, now: Instant, event: Said) {
        match self.pieces.last_mut() {
            Some(piece) if piece.len() < PIECE => piece.push((now, event)),
            _ => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push((now, event));
                self.pieces.push(piece);
            }
        }
    }

    /// All events, in their order.
    pub fn events(self) -> impl Iterator<Item = (Instant, Said)> {
        self.pieces.into_iter().flatten()
    }

    /// All events as text.
    ///
    /// # Errors
    /// None in practice: every event can be written.
    pub fn text(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = Vec::new();
        for event in self.pieces.iter().flatten() {
            serde_json::to_writer(&mut text, event)?;
            text.push(b'\n');
        }
        Ok(text)
    }
}

/// Reads the events of a [`Log`].
///
/// # Errors
/// If a line is no event; the error names the line.
pub fn read(text: &str) -> Result<Vec<(Instant, Said)>, Failure> {
    (1..)
        .zip(text.lines())
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                let found: String = line.chars().take(60).collect();
                Failure::new(
                    format!("events, line {number}"),
                    format!("found {found:?}: {error}"),
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cca::notice::{Notice, NoticeKind};
    use proptest::prelude::*;
    use units::{Duration, FlowId};
    use workload::ideal::Ideal;
    use workload::{Carrier, TrafficId};

    fn every_event() -> Vec<Said> {
        let (flow, call, page) = (FlowId(7), TrafficId(2), TrafficId(3));
        let (frame, load, request, bytes) = (u64::MAX, 5, u32::MAX, 1 << 40);
        let events = [
            Event::FlowStarted {
                flow,
                traffic: TrafficId(u16::MAX),
                carrier: Carrier::Quic,
                server: u32::MAX,
            },
            Event::Delivered { flow, bytes },
            Event::FlowDone { flow },
            Event::FlowEnded { flow },
            Event::FrameSent { call, frame },
            Event::FrameArrived { call, frame },
            Event::FrameShown {
                call,
                frame,
                held: Duration::from_nanos(u64::MAX),
            },
            Event::FrameLost { call, frame },
            Event::AudioSent {
                call,
                frame,
                bytes: u32::MAX,
            },
            Event::AudioArrived { call, frame },
            Event::AudioRestored { call, frame },
            Event::PartRestored { call, frame },
            Event::PageStarted {
                page,
                load,
                site: 9,
                ideal: Ideal {
                    servers: Duration::from_nanos(u64::MAX),
                    round_trips: Duration::from_nanos(1),
                },
            },
            Event::ConnectionOpened { page },
            Event::RequestStarted {
                page,
                load,
                request,
            },
            Event::RequestDone {
                page,
                load,
                request,
                bytes,
            },
            Event::PageDone { page, load },
            Event::Observed {
                traffic: page,
                figure: 3,
                value: 0.1 + 0.2,
                began: Instant::from_nanos(u64::MAX),
            },
        ];
        let notices = [
            Notice::Verdict(NoticeKind::Fair),
            Notice::Reduced,
            Notice::Congested,
        ];
        let noticed = notices.map(|notice| Said::Noticed { flow, notice });
        noticed
            .into_iter()
            .chain(events.map(Said::Traffic))
            .collect()
    }

    #[test]
    fn events_come_out_as_they_went_in() {
        let events: Vec<_> = (0..)
            .map(|n| Instant::from_nanos(n * 1_000_003))
            .zip(every_event().into_iter().cycle())
            .take(3 * PIECE + 1)
            .collect();
        let mut log = Log::default();
        for &(now, event) in &events {
            log.event(now, event);
        }
        let text = String::from_utf8(log.text().unwrap()).unwrap();
        assert_eq!(read(&text).unwrap(), events);
    }

    #[test]
    fn a_line_that_is_no_event_is_named() {
        let first = r#"[1,{"FlowDone":{"flow":0}}]"#;
        for bad in [
            "",
            "12",
            r#"[12,{"Delivered":{"flow":1}}]"#,
            r#"[12,{"Delivered":{"flow":1,"bytes":-1}}]"#,
            r#"["x",{"FlowDone":{"flow":1}}]"#,
            r#"[12,{"FrameSent":{"call":65536,"frame":0}}]"#,
            r#"[12,{"Enqueued":{}}]"#,
        ] {
            let error = read(&format!("{first}\n{bad}\n")).unwrap_err().to_string();
            assert!(error.starts_with("events, line 2"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in ".*") {
            _ = read(&text);
        }
    }
}
