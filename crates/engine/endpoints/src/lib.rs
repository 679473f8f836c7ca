//! From a traffic entry to the ends of its flows, the same in every engine.
//!
//! [`pair`] makes both ends of a flow. What an application does at one of them ([`send`], [`frame`], ...)
//! goes to the transport, and [`tell`] passes the transport's events to the application's driver.
//!
//! Not for: the transports themselves (`transport`); what applications do (`workload`); clocks and
//! networks (`sim`, `guest`).

#![deny(missing_docs)]

use scenario::Traffic;
use transport::endpoint::{Datagrams, EndEvent, Endpoint};
use transport::quic::{self, Quic};
use transport::tcp::Tcp;
use transport::{Config, Connection, media};
use units::random::Stream;
use units::{Ecn, Instant, Rate, Refusal};
use workload::driver::{Fate, FlowEnd, OpenedFlow};
use workload::{AudioFrame, Conditions, Frame, audio};
use workload::{Carrier, Datagram, Driver, Rows, Sockets};

/// Both ends of `flow`, the opening one first; a connection's has begun its handshake.
///
/// # Errors
/// If the entry's control is not among `controls`, or refuses a setting.
pub fn pair(
    now: Instant,
    traffic: &Traffic,
    flow: &OpenedFlow,
    config: &Config,
    controls: &cca::Registry,
    seed: u64,
) -> Result<[Endpoint; 2], Refusal> {
    let control = |setup: cca::Setup| control(traffic, flow, controls, seed, setup);
    match flow.carrier {
        Carrier::Tcp | Carrier::Quic => {
            let library = Config::rtc_library();
            let config = match traffic.kind.entry.rows {
                Rows::Call => &library,
                _ => config,
            };
            let setup = setup(config, flow.carrier);
            let end = |opens| -> Result<Endpoint, Refusal> {
                let (control, config) = (control(setup.clone())?, config.clone());
                Ok(match flow.carrier {
                    Carrier::Tcp => Endpoint::Tcp(Box::new(Tcp::new(config, control, opens))),
                    _ => Endpoint::Quic(Box::new(Quic::new(config, control, opens))),
                })
            };
            let (mut opener, other) = (end(true)?, end(false)?);
            if let Some(opener) = opener.connection_mut() {
                opener.open(now);
            }
            Ok([opener, other])
        }
        Carrier::Media => {
            let rates = traffic.kind.workload.media();
            let (start, bounds) =
                rates.ok_or_else(|| Refusal::new("a media session needs its encoder's rates"))?;
            let params = &traffic.session;
            let control = control(params.setup(start, bounds, seed))?;
            let receiver = media::MediaReceiver::new(params, control.feedback());
            let sender = media::MediaSender::new(params, control);
            let receiver = Endpoint::Receiver(Box::new(receiver));
            Ok([Endpoint::Sender(Box::new(sender)), receiver])
        }
        Carrier::Udp => {
            let ecn = if traffic.kind.workload.ecn_capable() {
                Ecn::Ect0
            } else {
                Ecn::NotCapable
            };
            Ok([ecn; 2].map(|ecn| Endpoint::Datagrams(Box::new(Datagrams::new(ecn)))))
        }
    }
}

/// Whether the transport of `traffic` gives `control` what it needs.
///
/// # Errors
/// If it has no subflows, or reports no arrival times, and the control needs them.
pub fn suits(traffic: &Traffic, control: &dyn cca::Control) -> Result<(), Refusal> {
    let name = traffic.control.as_ref().map_or("", |choice| &choice.name);
    if control.needs_subflows() && !traffic.kind.workload.only_quic() {
        let message = format!("{name} needs two subflows, which only QUIC has");
        let help = "write carrier = \"quic\" for bulk and actors, quic = \"yes\" for a call";
        return Err(Refusal::new(message).with_help(help));
    }
    if control.feedback() == cca::Feedback::Arrivals && !traffic.kind.has_session() {
        let message = format!("{name} needs arrival times, which TCP and QUIC do not report");
        return Err(Refusal::new(message).with_help("only a call can use it"));
    }
    Ok(())
}

/// The setup of a connection's control.
fn setup(config: &Config, carrier: Carrier) -> cca::Setup {
    let (mss, paced) = match carrier {
        Carrier::Tcp => (u64::from(config.mss), config.pacing),
        _ => (u64::from(quic::DATAGRAM), true),
    };
    cca::Setup {
        mss,
        initial_window: mss * u64::from(config.initial_segments),
        paced,
        ..cca::Setup::default()
    }
}

fn control(
    traffic: &Traffic,
    flow: &OpenedFlow,
    controls: &cca::Registry,
    seed: u64,
    setup: cca::Setup,
) -> Result<Box<dyn cca::Control>, Refusal> {
    // Seeded by kind and name, not by number: flows start in another order under another
    // discipline.
    let name = format!("control {} {} {}", traffic.name, flow.instance, flow.conn.0);
    let seed = Stream::new(seed, &name).bits();
    let setup = cca::Setup { seed, ..setup };
    let choice = traffic.control.as_ref();
    let choice = choice.ok_or_else(|| Refusal::new(format!("{} has no control", traffic.name)))?;
    controls.build(choice, &setup)
}

/// Gives `bytes` of `stream` to an end of a connection.
pub fn send(end: &mut Endpoint, now: Instant, stream: u32, bytes: u64) {
    if let Some(connection) = end.connection_mut() {
        connection.send(now, stream, bytes);
    }
}

/// Gives a datagram to an end that sends datagrams.
pub fn datagram(end: &mut Endpoint, datagram: Datagram) {
    if let Endpoint::Datagrams(datagrams) = end {
        let Datagram { id, bytes, sent } = datagram;
        let len = bytes;
        Datagrams::send(datagrams, transport::Datagram { id, len, sent });
    }
}

/// The state of the media session that sends from an end, for one of its streams of video.
pub fn conditions(end: &mut Endpoint, now: Instant, stream: u8) -> Option<Conditions> {
    match end {
        Endpoint::Sender(sender) => Some(Conditions {
            rate: sender.media_rate(),
            keyframe_requested: sender.take_keyframe_request(stream),
            congested: sender.congested(now),
        }),
        // How much waits in its pacer, another make does not tell.
        Endpoint::Session(session) => Some(Conditions {
            rate: session.media_rate(),
            keyframe_requested: session.take_keyframe_request(),
            congested: false,
        }),
        _ => None,
    }
}

/// Bytes given to an end of a connection and never sent.
pub fn unsent(end: &Endpoint) -> Option<u64> {
    end.connection().map(Connection::unsent)
}

/// Gives a frame to the media session that sends from an end.
pub fn frame(end: &mut Endpoint, now: Instant, frame: Frame) {
    let frame = media::EncodedFrame {
        stream: frame.stream,
        id: frame.id,
        bytes: frame.bytes,
        key: frame.key,
        layer: frame.layer,
        back: frame.back,
    };
    match end {
        Endpoint::Sender(sender) => {
            sender.push_frame(now, frame);
        }
        Endpoint::Session(session) => session.push_frame(now, frame),
        _ => {}
    }
}

/// Makes the media session that sends from an end fill the rest that video leaves of `rate` with
/// padding.
pub fn fill(end: &mut Endpoint, now: Instant, rate: Rate) {
    if let Endpoint::Sender(sender) = end {
        sender.fill(now, rate);
    }
}

/// Gives a frame of audio to the media session that sends from an end.
pub fn audio(end: &mut Endpoint, now: Instant, frame: AudioFrame) {
    match end {
        Endpoint::Sender(sender) => sender.push_audio(frame.id, frame.bytes, audio::FRAME),
        Endpoint::Session(session) => session.push_audio(now, frame.id, frame.bytes),
        _ => {}
    }
}

/// Passes the events of an end to applications.
///
/// # Errors
/// If a socket fails.
#[inline]
pub fn tell<S: Sockets>(
    driver: &mut Driver,
    now: Instant,
    end: FlowEnd,
    event: EndEvent,
    sockets: &mut S,
) -> Result<(), S::Error> {
    match event {
        EndEvent::Connection(transport::Event::Received { stream, bytes }) => {
            driver.received(now, end, stream, bytes, sockets)
        }
        EndEvent::Connection(transport::Event::Connected) => driver.opened(now, end, sockets),
        EndEvent::Connection(transport::Event::Writable) => driver.writable(now, end, sockets),
        // Not used by applications; engines report it to their sinks.
        EndEvent::Connection(transport::Event::Noticed(_)) => Ok(()),
        EndEvent::Media(event) => {
            driver.frame(now, end, fate(event), sockets);
            Ok(())
        }
        EndEvent::Datagram(came) => {
            let transport::Datagram { id, len, sent } = came;
            let bytes = len;
            driver.arrived(now, end, Datagram { id, bytes, sent }, sockets)
        }
    }
}

fn fate(event: media::MediaEvent) -> Fate {
    match event {
        media::MediaEvent::FrameComplete { stream, id, .. } => Fate::Complete(stream, id),
        media::MediaEvent::FrameShown {
            stream, id, held, ..
        } => Fate::Shown(stream, id, held),
        media::MediaEvent::FrameLost { stream, id, .. } => Fate::Lost(stream, id),
        media::MediaEvent::PartRestored { stream, id, .. } => Fate::Mended(stream, id),
        media::MediaEvent::AudioArrived { id, .. } => Fate::Heard(id),
        media::MediaEvent::AudioRestored { id, .. } => Fate::Reheard(id),
    }
}
