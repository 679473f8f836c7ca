//! A line for each event.

use super::parties::{Parties, Party, ecn_name};
use super::{TapOutput, WritingTap};
use measure::{Event, LinkId, PacketId, Sink};
use scenario::Scenario;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddrV4;
use std::num::NonZeroU8;
use units::{FlowId, Instant};
use workload::{Event as Application, TrafficId};

/// Writes each event as a JSON object on a line of its own, in the order in which they happen. Warm-up
/// is part of it.
///
/// Every line has `time_ns`, nanoseconds since the start of the run, and `event`. Its other fields
/// depend on that:
///
/// | `event` | fields |
/// | --- | --- |
/// | `enqueued`, `marked`, `lost` | of a packet: `link`, the queue's name in results; `packet`, its number; `flow`, the flow's, null for packets of no flow; `subflow`, its number within the flow, left out where that is 0; `bytes`, its IP length; `ecn`: `not-ect`, `ect0`, `ect1`, `ce` |
/// | `dequeued` | the same, and `sojourn_ns`, nanoseconds that it waited |
/// | `dropped` | the same, and `reason`: `tail`, `overlimit`, `congestion`, `change`, `rate` |
/// | `moved` | `link`, `flow`; `from` (null for a flow that was in none) and `to`, classes by their place in the discipline's list, from 0 |
/// | `flow_started` | `flow`; `name` in results; `traffic`, the entry's name; `carrier`: `tcp`, `quic`, `udp`, `media`; `home` and `server`, addresses and ports of its ends |
/// | `delivered` | `flow`, `bytes` of its application that arrived, in order |
/// | `flow_done`, `flow_ended` | `flow` |
/// | `noticed` | `flow`; `notice` of its congestion control: `fair`, `shared` or `unknown`, a new verdict on the path; `reduced` or `congested`, a smaller window because of fair queuing, or of a loss or mark |
/// | `rated` | `link`, whose rate is followed; `rate_bps`, bit/s; `reason`, its name, and `why`, in words; `told_by`: what it was told by |
/// | `sender`, if the scenario asks for `senders` | `flow`; `window_bytes`, `in_flight_bytes`, `srtt_ns`, `pacing_bps`, `acked_bytes`, `phase`, `limit`: what its sender is at, null where there is no such |
/// | `frame_sent`, `frame_arrived`, `frame_shown`, `frame_lost` | `traffic`; `frame`, its number, from 0 |
/// | `part_restored` | `traffic`, `frame`: a lost part of it was restored by forward error correction |
/// | `audio_sent` | `traffic`; `frame`, the number of the 20 ms, from 0; `bytes` |
/// | `audio_arrived`, `audio_restored` | `traffic`, `frame`; the second came with a later one (RED) |
/// | `page_started` | `traffic`; `load`, its number, from 0; `site`, the page's place among the entry's, from 0; `servers_ns` and `round_trips_ns`, the time of the load without a link, and with round trips |
/// | `connection_opened` | `traffic` |
/// | `request_started` | `traffic`, `load`; `request`, its number within the page |
/// | `request_done` | the same, and `bytes` of the answer |
/// | `page_done` | `traffic`, `load` |
/// | `observed` | `traffic`; `figure`, its name; `value` in `unit`; `began_ns`, when the observation began |
pub struct JsonLines<'a, W: Write> {
    parties: Parties<'a>,
    output: TapOutput<BufWriter<W>>,
}

/// A line.
#[derive(Serialize)]
struct EventLine<'a> {
    time_ns: u64,
    #[serde(flatten)]
    what: What<'a>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum What<'a> {
    Enqueued(PacketEvent<'a>),
    Dequeued {
        #[serde(flatten)]
        packet: PacketEvent<'a>,
        sojourn_ns: u64,
    },
    Dropped {
        #[serde(flatten)]
        packet: PacketEvent<'a>,
        reason: &'static str,
    },
    Marked(PacketEvent<'a>),
    Lost(PacketEvent<'a>),
    Moved {
        link: &'a str,
        flow: u32,
        from: Option<u8>,
        to: u8,
    },
    Rated {
        link: &'a str,
        rate_bps: u64,
        reason: &'static str,
        why: String,
        told_by: String,
    },
    Sender {
        flow: u32,
        window_bytes: Option<u64>,
        in_flight_bytes: u64,
        srtt_ns: Option<u64>,
        pacing_bps: Option<u64>,
        acked_bytes: u64,
        phase: &'static str,
        limit: Option<&'static str>,
    },
    FlowStarted {
        flow: u32,
        name: String,
        traffic: &'a str,
        carrier: &'static str,
        home: Option<SocketAddrV4>,
        server: Option<SocketAddrV4>,
    },
    Delivered {
        flow: u32,
        bytes: u64,
    },
    FlowDone {
        flow: u32,
    },
    FlowEnded {
        flow: u32,
    },
    FrameSent(FrameEvent<'a>),
    FrameArrived(FrameEvent<'a>),
    FrameShown(FrameEvent<'a>),
    FrameLost(FrameEvent<'a>),
    AudioSent {
        #[serde(flatten)]
        frame: FrameEvent<'a>,
        bytes: u32,
    },
    AudioArrived(FrameEvent<'a>),
    AudioRestored(FrameEvent<'a>),
    PartRestored(FrameEvent<'a>),
    Noticed {
        flow: u32,
        notice: &'static str,
    },
    PageStarted {
        traffic: &'a str,
        load: u32,
        site: u32,
        servers_ns: u64,
        round_trips_ns: u64,
    },
    ConnectionOpened {
        traffic: &'a str,
    },
    RequestStarted {
        traffic: &'a str,
        load: u32,
        request: u32,
    },
    RequestDone {
        traffic: &'a str,
        load: u32,
        request: u32,
        bytes: u64,
    },
    PageDone {
        traffic: &'a str,
        load: u32,
    },
    Observed {
        traffic: &'a str,
        figure: &'static str,
        value: f64,
        unit: &'static str,
        began_ns: u64,
    },
}

#[derive(Serialize)]
struct PacketEvent<'a> {
    link: &'a str,
    packet: u64,
    flow: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subflow: Option<NonZeroU8>,
    bytes: u32,
    ecn: &'static str,
}

#[derive(Serialize)]
struct FrameEvent<'a> {
    traffic: &'a str,
    frame: u64,
}

impl<'a, W: Write> JsonLines<'a, W> {
    /// The events of a run of `scenario`, written to `writer`.
    pub fn new(scenario: &'a Scenario, writer: W) -> Self {
        JsonLines {
            parties: Parties::new(scenario),
            output: TapOutput::new(BufWriter::with_capacity(super::BUFFER, writer)),
        }
    }
}

/// The contents of a line for `event`; none for those that only some runs tell.
fn what<'a>(parties: &'a Parties<'_>, event: Event) -> Option<What<'a>> {
    let of = |link: LinkId, packet: PacketId| PacketEvent {
        link: parties.link(link),
        packet: packet.number,
        flow: packet.flow.map(|flow| flow.0),
        subflow: NonZeroU8::new(packet.subflow),
        bytes: packet.bytes,
        ecn: ecn_name(packet.ecn),
    };
    Some(match event {
        Event::Sent { .. }
        | Event::Arrived { .. }
        | Event::Media { .. }
        | Event::Limited { .. } => return None,
        Event::Enqueued { link, packet } => What::Enqueued(of(link, packet)),
        Event::Marked { link, packet } => What::Marked(of(link, packet)),
        Event::Lost { link, packet } => What::Lost(of(link, packet)),
        Event::Dequeued {
            link,
            packet,
            sojourn,
        } => What::Dequeued {
            packet: of(link, packet),
            sojourn_ns: sojourn.as_nanos(),
        },
        Event::Dropped {
            link,
            packet,
            reason,
        } => What::Dropped {
            packet: of(link, packet),
            reason: reason.name(),
        },
        Event::Moved {
            link,
            flow,
            from,
            to,
        } => What::Moved {
            link: parties.link(link),
            flow: flow.0,
            from: from.map(|class| class.0),
            to: to.0,
        },
        Event::Noticed { flow, notice } => What::Noticed {
            flow: flow.0,
            notice: notice.name(),
        },
        Event::Sender { flow, state } => What::Sender {
            flow: flow.0,
            window_bytes: state.window,
            in_flight_bytes: state.in_flight,
            srtt_ns: state.srtt.map(|srtt| srtt.as_nanos()),
            pacing_bps: state.pacing.map(|rate| rate.as_bits()),
            acked_bytes: state.acked,
            phase: state.phase.name(),
            limit: state.limit.map(|limit| limit.name()),
        },
        Event::Rated { link, decision } => What::Rated {
            link: parties.link(link),
            rate_bps: decision.rate.as_bits(),
            reason: decision.why.name(),
            why: decision.why.to_string(),
            told_by: decision.told.to_string(),
        },
        Event::Traffic(event) => application(parties, event),
    })
}

/// The contents of a line for an application's event.
fn application<'a>(parties: &'a Parties<'_>, event: Application) -> What<'a> {
    let name = |traffic: TrafficId| parties.entry(traffic).map_or("", |entry| &entry.name);
    let frame = |call, frame| FrameEvent {
        traffic: name(call),
        frame,
    };
    match event {
        Application::FlowStarted { flow, traffic, .. } => started(parties, flow, name(traffic)),
        Application::Delivered { flow, bytes } => {
            let flow = flow.0;
            What::Delivered { flow, bytes }
        }
        Application::FlowDone { flow } => What::FlowDone { flow: flow.0 },
        Application::FlowEnded { flow } => What::FlowEnded { flow: flow.0 },
        Application::FrameSent { call, frame: n } => What::FrameSent(frame(call, n)),
        Application::FrameArrived { call, frame: n } => What::FrameArrived(frame(call, n)),
        Application::FrameShown { call, frame: n, .. } => What::FrameShown(frame(call, n)),
        Application::FrameLost { call, frame: n } => What::FrameLost(frame(call, n)),
        Application::AudioSent {
            call,
            frame: n,
            bytes,
        } => What::AudioSent {
            frame: frame(call, n),
            bytes,
        },
        Application::AudioArrived { call, frame: n } => What::AudioArrived(frame(call, n)),
        Application::AudioRestored { call, frame: n } => What::AudioRestored(frame(call, n)),
        Application::PartRestored { call, frame: n } => What::PartRestored(frame(call, n)),
        Application::PageStarted {
            page,
            load,
            site,
            ideal,
        } => What::PageStarted {
            traffic: name(page),
            load,
            site,
            servers_ns: ideal.servers.as_nanos(),
            round_trips_ns: ideal.round_trips.as_nanos(),
        },
        Application::ConnectionOpened { page } => What::ConnectionOpened {
            traffic: name(page),
        },
        Application::RequestStarted {
            page,
            load,
            request,
        } => What::RequestStarted {
            traffic: name(page),
            load,
            request,
        },
        Application::RequestDone {
            page,
            load,
            request,
            bytes,
        } => What::RequestDone {
            traffic: name(page),
            load,
            request,
            bytes,
        },
        Application::PageDone { page, load } => What::PageDone {
            traffic: name(page),
            load,
        },
        Application::Observed {
            traffic,
            figure,
            value,
            began,
        } => observed(parties, traffic, figure, (value, began)),
    }
}

fn started<'a>(parties: &'a Parties<'_>, flow: FlowId, traffic: &'a str) -> What<'a> {
    let party = parties.flow(Some(flow));
    What::FlowStarted {
        flow: flow.0,
        name: party.map_or_else(String::new, Party::name),
        traffic,
        carrier: party.map_or("", |party| party.carrier.name()),
        home: party.map(|party| party.home),
        server: party.map(|party| party.server),
    }
}

fn observed<'a>(
    parties: &'a Parties<'_>,
    traffic: TrafficId,
    figure: u8,
    (value, began): (f64, Instant),
) -> What<'a> {
    let entry = parties.entry(traffic);
    let figures = entry.map_or(&[][..], |entry| entry.kind.entry.figures);
    let figure = figures.get(usize::from(figure));
    What::Observed {
        traffic: entry.map_or("", |entry| &entry.name),
        figure: figure.map_or("", |figure| figure.name),
        value,
        unit: figure.map_or("", |figure| figure.unit),
        began_ns: began.as_nanos(),
    }
}

impl<W: Write> Sink for JsonLines<'_, W> {
    fn event(&mut self, now: Instant, event: &Event) {
        if let Event::Traffic(event) = event {
            self.parties.start(event);
        }
        let Some(what) = what(&self.parties, *event) else {
            return;
        };
        let line = EventLine {
            time_ns: now.as_nanos(),
            what,
        };
        self.output.write(|out| {
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")
        });
    }
}

impl<W: Write> WritingTap for JsonLines<'_, W> {
    fn finish(&mut self) -> io::Result<()> {
        self.output.finish(BufWriter::flush)
    }
}
