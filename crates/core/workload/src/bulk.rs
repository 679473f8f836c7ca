//! Bulk transfers: as many bytes as the transport takes.
//!
//! [`Bulk`] runs at the sending side, which also opens the connection; [`BulkReceiver`] at the
//! other side reports when all data has arrived.

use crate::entry::{BuildError, Entry, Library, Rows, Start, Workload};
use crate::{App, Carrier, ConnId, Input, Message, Output, Report};
use std::sync::Arc;
use units::param::Settings;
use units::{Bytes, Duration, Instant};

units::params! {
    /// Parameters of a `bulk` entry.
    pub struct BulkParams {
        /// Size of the transfer; 0 for no end.
        size: Bytes = "0B", range "0B".."1000000GB", source "none";
        /// Transport of the bytes: tcp or quic.
        carrier: Carrier = "tcp", source "none";
    }
}

/// `bulk` for the registry.
pub const ENTRY: Entry = Entry {
    name: "bulk",
    summary: "a transfer over TCP or QUIC",
    about: "Sends `size` bytes, or without end, as fast as the congestion control allows.",
    source: "common practice",
    params: BulkParams::SPECS,
    check: |settings| BulkParams::parse(settings).map(drop),
    carriers: &[Carrier::Tcp, Carrier::Quic],
    control: Some("cubic"),
    rows: Rows::Flows,
    figures: &[],
    presets: &[],
    build,
};

fn build(settings: &Settings, _: &dyn Library) -> Result<Arc<dyn Workload>, BuildError> {
    Ok(Arc::new(BulkParams::parse(settings)?))
}

impl Workload for BulkParams {
    fn values(&self) -> Vec<(&'static str, String)> {
        BulkParams::values(self)
    }

    fn client(&self, _: &Start<'_>) -> Box<dyn App> {
        Box::new(Bulk::new(self))
    }

    fn server(&self) -> Option<Box<dyn App>> {
        Some(Box::new(BulkReceiver))
    }

    fn client_sends(&self) -> bool {
        true
    }

    fn lasts(&self) -> bool {
        self.size.get() == 0
    }

    fn only_quic(&self) -> bool {
        self.carrier == Carrier::Quic
    }
}

/// Given at a time: well above a transport's low mark, so that it never runs dry.
const CHUNK: u64 = 256 * 1024;
const CONN: ConnId = ConnId(0);

/// Sends bytes of no meaning over one connection.
#[derive(Debug)]
pub struct Bulk {
    carrier: Carrier,
    /// Bytes not yet given to the transport; none for no end.
    left: Option<u64>,
}

impl Bulk {
    /// A transfer.
    pub fn new(params: &BulkParams) -> Self {
        let size = params.size.get();
        Bulk {
            carrier: params.carrier,
            left: (size > 0).then_some(size),
        }
    }

    fn give(&mut self, out: &mut Vec<Output>) {
        let bytes = self.left.map_or(CHUNK, |left| left.min(CHUNK));
        if let Some(left) = &mut self.left {
            *left -= bytes;
        }
        if bytes > 0 {
            out.push(Output::Send {
                conn: CONN,
                stream: 0,
                bytes,
                message: Message::Bulk {
                    last: self.left == Some(0),
                },
            });
        }
    }
}

impl App for Bulk {
    fn handle(&mut self, _now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => out.push(Output::Open {
                conn: CONN,
                carrier: self.carrier,
                server: 0,
                extra_rtt: Duration::ZERO,
            }),
            Input::Opened(_) | Input::Writable(_) => self.give(out),
            Input::Message { .. }
            | Input::Timer(_)
            | Input::Datagram { .. }
            | Input::Session { .. }
            | Input::Unsent { .. } => {}
        }
    }
}

/// The receiving side: reports when the last byte has arrived, and closes.
#[derive(Debug)]
pub struct BulkReceiver;

impl App for BulkReceiver {
    fn handle(&mut self, _now: Instant, input: Input, out: &mut Vec<Output>) {
        if let Input::Message {
            conn,
            message: Message::Bulk { last: true },
            ..
        } = input
        {
            out.push(Output::Report(Report::Done(conn)));
            out.push(Output::Close(conn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(bulk: &mut Bulk, input: Input) -> u64 {
        let mut out = Vec::new();
        bulk.handle(Instant::ZERO, input, &mut out);
        let bytes = out.iter().map(|output| match output {
            Output::Send { bytes, .. } => *bytes,
            _ => 0,
        });
        bytes.sum()
    }

    #[test]
    fn it_gives_what_it_was_told_to() {
        let set = [("size".to_owned(), "300KiB".to_owned())];
        let mut bulk = Bulk::new(&BulkParams::parse(&set).unwrap());
        assert_eq!(sent(&mut bulk, Input::Opened(CONN)), 256 * 1024);
        assert_eq!(sent(&mut bulk, Input::Writable(CONN)), 44 * 1024);
        assert_eq!(sent(&mut bulk, Input::Writable(CONN)), 0);
    }

    #[test]
    fn without_a_size_there_is_no_end() {
        let mut bulk = Bulk::new(&BulkParams::default());
        let mut out = Vec::new();
        bulk.handle(Instant::ZERO, Input::Start, &mut out);
        assert!(matches!(out[..], [Output::Open { conn: CONN, .. }]));
        assert_eq!(sent(&mut bulk, Input::Opened(CONN)), CHUNK);
        for _ in 0..100 {
            assert_eq!(sent(&mut bulk, Input::Writable(CONN)), CHUNK);
        }
    }
}
