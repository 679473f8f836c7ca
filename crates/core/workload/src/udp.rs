//! Datagrams without congestion control: games, name look-ups, voice, bursts.
//!
//! Principles: sending does not depend on arrivals. Datagrams leave at a constant beat, at random
//! moments (Poisson), or in bursts: silent for a while, then at the beat. With `turns` the bursts of
//! several flows follow each other, and with `alive` their silences are not quite silent. With `answer`
//! the far end answers each with a datagram, as a name server does. Not for: real-time video, which
//! adapts (`call`).

use crate::entry::{BuildError, Entry, Figure, Kept, Library, Rows, Start, Workload};
use crate::{App, Carrier, ConnId, Datagram, Input, Output, Report};
use core::fmt;
use std::sync::Arc;
use units::param::{Settings, Value};
use units::random::Stream;
use units::{Bytes, Duration, Instant, ParseError, Rate, Refusal};

/// When datagrams leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// At a constant beat.
    Constant,
    /// At random moments: gaps are exponential.
    Poisson,
    /// At the beat for `on`, then silent for `off`.
    Bursts,
}

impl Pattern {
    const ALL: [Pattern; 3] = [Pattern::Constant, Pattern::Poisson, Pattern::Bursts];

    const fn name(self) -> &'static str {
        match self {
            Pattern::Constant => "constant",
            Pattern::Poisson => "poisson",
            Pattern::Bursts => "bursts",
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Value for Pattern {
    const KIND: &'static str = "pattern";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let found = Pattern::ALL.into_iter().find(|p| p.name() == text.trim());
        found.ok_or_else(|| ParseError::new(text, "constant, poisson or bursts"))
    }
}

units::params! {
    /// Parameters of a `udp` entry.
    pub struct UdpParams {
        /// Rate while it sends, IP headers included.
        rate: Rate = "1mbit", range "1kbit".."100gbit", source "none";
        /// Rate as a share of the rate of the first link on the way, instead of `rate`; 0 for
        /// `rate`.
        share: f64 = "0", range "0".."10", source "none";
        /// Length of a datagram, IP header included.
        packet: Bytes = "1200B", range "29B".."9000B", source "common practice: below the least MTU of IPv6";
        /// When datagrams leave: constant, poisson or bursts.
        pattern: Pattern = "constant", source "none";
        /// Length of a burst.
        on: Duration = "1s", range "1us".."24h", source "none";
        /// Length of the silence after a burst.
        off: Duration = "1s", range "0ms".."24h", source "none";
        /// The instances of a `count` take turns: the first burst of each begins when that of the one
        /// before ends. They go on taking turns if `off` is as long as the bursts of all others.
        turns: bool = "no", source "none";
        /// Outside bursts a datagram of `alive_packet` leaves at this interval, as from a flow that is kept
        /// alive; 0 for none.
        alive: Duration = "0ms", range "0ms".."24h", source "none";
        /// Length of such a datagram, IP header included.
        alive_packet: Bytes = "60B", range "29B".."9000B", source "a header and little else";
        /// Number of datagrams; 0 for no end.
        datagrams: u64 = "0", range "0".."1000000000", source "none";
        /// Datagrams are ECT(0), which claims a response to marks (RFC 3168); there is none.
        ecn: bool = "no", source "none";
        /// The far end answers each datagram with one of this length; 0 for no answer.
        answer: Bytes = "0B", range "0B".."9000B", source "none";
        /// The end host claims that this traffic is delay-sensitive.
        real_time: bool = "no", source "none";
    }
}

/// `udp` for the registry.
pub const ENTRY: Entry = Entry {
    name: "udp",
    summary: "datagrams at a set rate: games, look-ups, bursts",
    about: "Sends datagrams at a constant beat, at random moments or in bursts, whatever the \
        network does. With `answer` the far end answers each datagram with one, as for name \
        look-ups.\n\nNot for video, which adapts to the network: that is a call.",
    source: "common practice; bursts as FLOQ's evaluation has them",
    params: UdpParams::SPECS,
    check: |settings| UdpParams::parse(settings).map(drop),
    carriers: &[Carrier::Udp],
    control: None,
    rows: Rows::Figures,
    figures: &[
        Figure {
            name: "delay",
            unit: "ms",
            about: "time from a datagram's sending to its arrival",
            kept: Kept::Samples,
        },
        Figure {
            name: "answered",
            unit: "ms",
            about: "time from a datagram's sending to the arrival of its answer",
            kept: Kept::Samples,
        },
        Figure {
            name: "sent",
            unit: "",
            about: "datagrams sent",
            kept: Kept::Sum,
        },
        Figure {
            name: "arrived",
            unit: "",
            about: "datagrams that arrived",
            kept: Kept::Sum,
        },
        Figure {
            name: "lost",
            unit: "%",
            about: "datagrams that did not arrive before the run ended",
            kept: Kept::Missing(SENT, ARRIVED),
        },
    ],
    presets: &[],
    build,
};

/// Places in the list of figures.
const DELAY: u8 = 0;
const ANSWERED: u8 = 1;
const SENT: u8 = 2;
const ARRIVED: u8 = 3;

fn build(settings: &Settings, _: &dyn Library) -> Result<Arc<dyn Workload>, BuildError> {
    let params = UdpParams::parse(settings)?;
    let answer = params.answer.get();
    if (1..29).contains(&answer) {
        let message = format!("answer {answer}B is shorter than its headers");
        return Err(Refusal::new(message)
            .with_help("write 0B for none, or 29B at least")
            .into());
    }
    let of_bursts = params.turns || params.alive > Duration::ZERO;
    if of_bursts && params.pattern != Pattern::Bursts {
        let message = format!(
            "turns and alive are of bursts, not of pattern {}",
            params.pattern
        );
        return Err(Refusal::new(message)
            .with_help("write pattern = \"bursts\", or leave them out")
            .into());
    }
    Ok(Arc::new(params))
}

impl Workload for UdpParams {
    fn values(&self) -> Vec<(&'static str, String)> {
        UdpParams::values(self)
    }

    fn client(&self, start: &Start<'_>) -> Box<dyn App> {
        let rate = match self.share {
            0.0 => self.rate,
            share => Rate::from_mbit_f64(start.rate.as_mbit_f64() * share),
        };
        // A rate that rounds to zero would never send.
        let beat = rate.max(Rate::from_bits(1)).time_for(self.packet.get());
        let others = if self.turns { start.place } else { 0 };
        let burst = start.now + self.on * u64::from(others);
        Box::new(UdpSender {
            params: self.clone(),
            beat: beat.max(Duration::from_nanos(1)),
            chance: start.chance(),
            burst,
            next: if self.kept_alive() { start.now } else { burst },
            sent: 0,
        })
    }

    fn server(&self) -> Option<Box<dyn App>> {
        Some(Box::new(Receiver {
            answer: self.answer.get() as u32,
        }))
    }

    fn client_sends(&self) -> bool {
        self.answer.get() == 0
    }

    fn lasts(&self) -> bool {
        self.datagrams == 0
    }

    fn ecn_capable(&self) -> bool {
        self.ecn
    }

    fn real_time(&self) -> bool {
        self.real_time
    }
}

impl UdpParams {
    fn kept_alive(&self) -> bool {
        self.alive > Duration::ZERO
    }
}

const CONN: ConnId = ConnId(0);

fn observed(figure: u8, value: f64, began: Instant) -> Output {
    Output::Report(Report::Figure {
        figure,
        value,
        began,
    })
}

/// The end that sends.
#[derive(Debug)]
struct UdpSender {
    params: UdpParams,
    /// From one datagram to the next.
    beat: Duration,
    chance: Stream,
    /// When the burst began; of a silence, when the next one begins.
    burst: Instant,
    /// When the next datagram leaves.
    next: Instant,
    sent: u64,
}

impl UdpSender {
    fn schedule(&mut self, out: &mut Vec<Output>) {
        self.next = match self.params.pattern {
            Pattern::Constant => self.next + self.beat,
            Pattern::Poisson => {
                let gap = self.chance.exponential(self.beat.as_secs_f64());
                self.next + Duration::from_secs_f64(gap)
            }
            Pattern::Bursts => self.next_of_bursts(),
        };
        out.push(Output::Timer(self.next, 0));
    }

    fn next_of_bursts(&mut self) -> Instant {
        let next = self.next + self.beat;
        if self.in_burst() {
            if next < self.burst + self.params.on {
                return next;
            }
            self.burst = self.burst + self.params.on + self.params.off;
        }
        if self.params.kept_alive() {
            self.burst.min(self.next + self.params.alive)
        } else {
            // A beat may be longer than a silence.
            self.burst.max(next)
        }
    }

    /// Whether the next datagram is one of a burst, and not one that keeps the flow alive.
    fn in_burst(&self) -> bool {
        self.next >= self.burst
    }

    /// Length of the next datagram.
    fn length(&self) -> u32 {
        let length = if self.in_burst() {
            self.params.packet
        } else {
            self.params.alive_packet
        };
        length.get() as u32
    }

    fn is_complete(&self) -> bool {
        self.params.datagrams > 0 && self.sent >= self.params.datagrams
    }
}

impl App for UdpSender {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => {
                out.push(Output::Open {
                    conn: CONN,
                    carrier: Carrier::Udp,
                    server: 0,
                    extra_rtt: Duration::ZERO,
                });
                out.push(Output::Timer(self.next, 0));
            }
            Input::Timer(_) => {
                let datagram = Datagram {
                    id: self.sent,
                    bytes: self.length(),
                    sent: now,
                };
                self.sent += 1;
                out.push(observed(SENT, 1.0, now));
                out.push(Output::Datagram {
                    conn: CONN,
                    datagram,
                });
                if !self.is_complete() {
                    self.schedule(out);
                }
            }
            // An answer carries the time at which its question was sent.
            Input::Datagram { datagram, .. } => {
                let waited = now.since(datagram.sent).as_millis_f64();
                out.push(observed(ANSWERED, waited, datagram.sent));
            }
            Input::Opened(_)
            | Input::Message { .. }
            | Input::Writable(_)
            | Input::Session { .. }
            | Input::Unsent { .. } => {}
        }
    }
}

/// The end that receives.
#[derive(Debug)]
struct Receiver {
    /// Length of an answer; 0 for none.
    answer: u32,
}

impl App for Receiver {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        let Input::Datagram { conn, datagram } = input else {
            return;
        };
        let waited = now.since(datagram.sent).as_millis_f64();
        out.push(observed(DELAY, waited, datagram.sent));
        out.push(observed(ARRIVED, 1.0, datagram.sent));
        if self.answer > 0 {
            let datagram = Datagram {
                bytes: self.answer,
                ..datagram
            };
            out.push(Output::Datagram { conn, datagram });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(settings: &[(&str, &str)]) -> UdpParams {
        let settings: Vec<(String, String)> = settings
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        UdpParams::parse(&settings).unwrap()
    }

    fn client(settings: &[(&str, &str)]) -> Box<dyn App> {
        instance(0, settings)
    }

    fn instance(instance: u32, settings: &[(&str, &str)]) -> Box<dyn App> {
        params(settings).client(&Start {
            now: Instant::ZERO,
            name: "udp",
            instance,
            place: instance,
            seed: 1,
            rtt: Duration::from_millis(40),
            rate: Rate::from_bits(9_600_000),
        })
    }

    /// When the first `n` datagrams leave, in microseconds, and how long they are.
    fn datagrams(app: &mut dyn App, n: usize) -> Vec<(u64, u32)> {
        let mut out = Vec::new();
        app.handle(Instant::ZERO, Input::Start, &mut out);
        let mut datagrams = Vec::new();
        while datagrams.len() < n {
            let Some(&Output::Timer(at, token)) = out.last() else {
                break;
            };
            out.clear();
            app.handle(at, Input::Timer(token), &mut out);
            let Output::Datagram { datagram, .. } = out[1] else {
                panic!("{out:?}")
            };
            datagrams.push((at.as_nanos() / 1000, datagram.bytes));
        }
        datagrams
    }

    fn moments(app: &mut dyn App, n: usize) -> Vec<u64> {
        datagrams(app, n).into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn the_beat_is_that_of_the_rate() {
        // 1200 B at 9.6 Mbit/s take 1 ms; at half the link's rate 2 ms.
        let mut app = client(&[("rate", "9.6mbit")]);
        assert_eq!(moments(&mut *app, 4), [0, 1000, 2000, 3000]);
        let mut app = client(&[("share", "0.5")]);
        assert_eq!(moments(&mut *app, 3), [0, 2000, 4000]);
    }

    #[test]
    fn bursts_are_silent_in_between() {
        let mut app = client(&[
            ("rate", "9.6mbit"),
            ("pattern", "bursts"),
            ("on", "2500us"),
            ("off", "10ms"),
        ]);
        // Three in 2.5 ms, then nothing until 12.5 ms.
        let expected = [0, 1000, 2000, 12_500, 13_500, 14_500, 25_000];
        assert_eq!(moments(&mut *app, 7), expected);
    }

    /// Of three instances each floods for a millisecond in four, one after another, with some silence
    /// behind the last, and is kept alive in between.
    #[test]
    fn instances_take_turns_and_are_kept_alive() {
        let settings = [
            ("rate", "19.2mbit"),
            ("pattern", "bursts"),
            ("on", "1ms"),
            ("off", "3ms"),
            ("turns", "yes"),
        ];
        let turns = |number| moments(&mut *instance(number, &settings), 4);
        assert_eq!(turns(0), [0, 500, 4000, 4500]);
        assert_eq!(turns(2), [2000, 2500, 6000, 6500]);
        let alive = [("alive", "1500us"), ("alive_packet", "90B")];
        let alive = [&settings[..], &alive].concat();
        let of_the_last = [
            (0, 90),
            (1500, 90),
            (2000, 1200),
            (2500, 1200),
            (4000, 90),
            (5500, 90),
            (6000, 1200),
        ];
        assert_eq!(datagrams(&mut *instance(2, &alive), 7), of_the_last);
    }

    #[test]
    fn there_may_be_an_end() {
        let mut app = client(&[("rate", "9.6mbit"), ("datagrams", "2")]);
        assert_eq!(moments(&mut *app, 9), [0, 1000]);
        assert!(!params(&[("datagrams", "2")]).lasts() && params(&[]).lasts());
    }

    #[test]
    fn random_moments_have_the_rate() {
        let mut app = client(&[("rate", "9.6mbit"), ("pattern", "poisson")]);
        let moments = moments(&mut *app, 20_001);
        let mean = moments[20_000] as f64 / 20_000.0;
        assert!((mean - 1000.0).abs() < 25.0, "{mean}");
        let gaps = moments.windows(2).map(|pair| pair[1] - pair[0]);
        let longer = gaps.filter(|&gap| gap > 1000).count();
        assert!((7100..7600).contains(&longer), "1/e of them: {longer}");
    }

    #[test]
    fn answers_tell_when_the_question_was_sent() {
        let params = params(&[("answer", "300B")]);
        let mut server = params.server().unwrap();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let datagram = Datagram {
            id: 4,
            bytes: 80,
            sent: at(10),
        };
        let input = |datagram| Input::Datagram {
            conn: CONN,
            datagram,
        };
        let mut out = Vec::new();
        server.handle(at(30), input(datagram), &mut out);
        let answer = Datagram {
            bytes: 300,
            ..datagram
        };
        let answered = Output::Datagram {
            conn: CONN,
            datagram: answer,
        };
        let arrived = [
            observed(DELAY, 20.0, at(10)),
            observed(ARRIVED, 1.0, at(10)),
            answered,
        ];
        assert_eq!(out, arrived);
        let mut client = client(&[("answer", "300B")]);
        out.clear();
        client.handle(at(55), input(answer), &mut out);
        assert_eq!(out, [observed(ANSWERED, 45.0, at(10))]);
    }

    fn refused(key: &str, value: &str) -> String {
        struct Nothing;
        impl Library for Nothing {
            fn pages(&self, _: &str) -> Result<Vec<Arc<crate::page::Page>>, crate::LibraryError> {
                Ok(Vec::new())
            }
        }
        let settings = [(key.to_owned(), value.to_owned())];
        build(&settings, &Nothing).unwrap_err().to_string()
    }

    #[test]
    fn an_answer_has_room_for_its_headers() {
        let error = refused("answer", "12B");
        assert!(error.contains("29B at least"), "{error}");
    }

    #[test]
    fn what_is_of_bursts_needs_them() {
        for (key, value) in [("turns", "yes"), ("alive", "200ms")] {
            let error = refused(key, value);
            assert!(error.contains("pattern = \"bursts\""), "{error}");
        }
    }
}
