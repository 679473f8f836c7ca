//! What happened, as the guest writes it down and the host reads it again: a line for each event,
//! `nanoseconds name numbers`.

use crate::error::Failure;
use core::fmt::Write as _;
use measure::{Event, TrafficId};
use qdisc::FlowId;
use units::Instant;

/// Events in the order in which they happened. Room is taken in pieces, so that what was written is
/// never copied.
#[derive(Debug, Default)]
pub struct Log {
    pieces: Vec<Vec<(Instant, Event)>>,
}

/// Events in a piece.
const PIECE: usize = 4096;

impl Log {
    /// `event` happened `now`.
    pub fn event(&mut self, now: Instant, event: Event) {
        match self.pieces.last_mut() {
            Some(piece) if piece.len() < PIECE => piece.push((now, event)),
            _ => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push((now, event));
                self.pieces.push(piece);
            }
        }
    }

    /// All events as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (now, event) in self.pieces.iter().flatten() {
            line(&mut text, *now, event);
        }
        text
    }
}

fn line(text: &mut String, now: Instant, event: &Event) {
    let at = now.as_nanos();
    // Writing to a string does not fail.
    _ = match *event {
        Event::FlowStarted { flow, traffic } => {
            writeln!(text, "{at} flow-started {} {}", flow.0, traffic.0)
        }
        Event::Delivered { flow, bytes } => writeln!(text, "{at} delivered {} {bytes}", flow.0),
        Event::FlowDone { flow } => writeln!(text, "{at} flow-done {}", flow.0),
        Event::FrameSent { call, frame } => writeln!(text, "{at} frame-sent {} {frame}", call.0),
        Event::FrameArrived { call, frame } => {
            writeln!(text, "{at} frame-arrived {} {frame}", call.0)
        }
        Event::FrameShown { call, frame } => writeln!(text, "{at} frame-shown {} {frame}", call.0),
        Event::FrameLost { call, frame } => writeln!(text, "{at} frame-lost {} {frame}", call.0),
        Event::PageStarted { page, load, site } => {
            writeln!(text, "{at} page-started {} {load} {site}", page.0)
        }
        Event::ConnectionOpened { page } => writeln!(text, "{at} connection-opened {}", page.0),
        Event::RequestStarted {
            page,
            load,
            request,
        } => writeln!(text, "{at} request-started {} {load} {request}", page.0),
        Event::RequestDone {
            page,
            load,
            request,
            bytes,
        } => writeln!(
            text,
            "{at} request-done {} {load} {request} {bytes}",
            page.0
        ),
        Event::PageDone { page, load } => writeln!(text, "{at} page-done {} {load}", page.0),
        // Of queues the host learns from the kernel's own records.
        Event::Enqueued { .. }
        | Event::Dequeued { .. }
        | Event::Dropped { .. }
        | Event::Marked { .. }
        | Event::Moved { .. } => Ok(()),
    };
}

/// Reads the events of a [`Log`].
///
/// # Errors
/// If a line is no event; the error names the line.
pub fn read(text: &str) -> Result<Vec<(Instant, Event)>, Failure> {
    (1..)
        .zip(text.lines())
        .map(|(number, line)| {
            parse(line).ok_or_else(|| {
                let found: String = line.chars().take(60).collect();
                let expected = "expected nanoseconds, an event's name and its numbers";
                Failure::new(
                    format!("events, line {number}"),
                    format!("found {found:?}, {expected}"),
                )
            })
        })
        .collect()
}

fn parse(line: &str) -> Option<(Instant, Event)> {
    let mut words = line.split(' ');
    let at = Instant::from_nanos(words.next()?.parse().ok()?);
    let name = words.next()?;
    let mut number = || words.next()?.parse::<u64>().ok();
    let small = |number: u64| u32::try_from(number).ok();
    let traffic = |number: u64| u16::try_from(number).ok().map(TrafficId);
    let flow = |number: u64| small(number).map(FlowId);
    let event = match name {
        "flow-started" => Event::FlowStarted {
            flow: flow(number()?)?,
            traffic: traffic(number()?)?,
        },
        "delivered" => Event::Delivered {
            flow: flow(number()?)?,
            bytes: number()?,
        },
        "flow-done" => Event::FlowDone {
            flow: flow(number()?)?,
        },
        "frame-sent" => Event::FrameSent {
            call: traffic(number()?)?,
            frame: number()?,
        },
        "frame-arrived" => Event::FrameArrived {
            call: traffic(number()?)?,
            frame: number()?,
        },
        "frame-shown" => Event::FrameShown {
            call: traffic(number()?)?,
            frame: number()?,
        },
        "frame-lost" => Event::FrameLost {
            call: traffic(number()?)?,
            frame: number()?,
        },
        "page-started" => Event::PageStarted {
            page: traffic(number()?)?,
            load: small(number()?)?,
            site: small(number()?)?,
        },
        "connection-opened" => Event::ConnectionOpened {
            page: traffic(number()?)?,
        },
        "request-started" => Event::RequestStarted {
            page: traffic(number()?)?,
            load: small(number()?)?,
            request: small(number()?)?,
        },
        "request-done" => Event::RequestDone {
            page: traffic(number()?)?,
            load: small(number()?)?,
            request: small(number()?)?,
            bytes: number()?,
        },
        "page-done" => Event::PageDone {
            page: traffic(number()?)?,
            load: small(number()?)?,
        },
        _ => return None,
    };
    words.next().is_none().then_some((at, event))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn every_event() -> Vec<Event> {
        let (flow, call, page) = (FlowId(7), TrafficId(2), TrafficId(3));
        let (frame, load, request, bytes) = (u64::MAX, 5, u32::MAX, 1 << 40);
        vec![
            Event::FlowStarted {
                flow,
                traffic: TrafficId(u16::MAX),
            },
            Event::Delivered { flow, bytes },
            Event::FlowDone { flow },
            Event::FrameSent { call, frame },
            Event::FrameArrived { call, frame },
            Event::FrameShown { call, frame },
            Event::FrameLost { call, frame },
            Event::PageStarted {
                page,
                load,
                site: 9,
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
        ]
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
        assert_eq!(read(&log.text()).unwrap(), events);
    }

    #[test]
    fn a_line_that_is_no_event_is_named() {
        for bad in [
            "",
            "12",
            "12 delivered 1",
            "12 delivered 1 2 3",
            "x delivered 1 2",
            "12 frame-sent 65536 0",
            "12 enqueued 1",
            "12 delivered -1 2",
        ] {
            let text = format!("1 flow-done 0\n{bad}\n");
            let error = read(&text).unwrap_err().to_string();
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
