//! `gcc` beside libwebrtc's: the feedback that libwebrtc's controller was given, given to ours,
//! step by step. The records are made by `make witness`; what stands in them is described in
//! `witness/README.md`.

use cca::gcc::Gcc;
use cca::{Arrival, Control, Probe, Setup};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::{Duration, Instant, Rate};

/// One report, and the rate that the witness named after it.
struct Step {
    at: Instant,
    rate: Rate,
    arrivals: Vec<Arrival>,
}

/// A whole call.
struct Record {
    start: Rate,
    bounds: (Rate, Rate),
    steps: Vec<Step>,
}

fn micros(text: &str) -> Instant {
    Instant::ZERO + Duration::from_micros(number(text))
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"))
}

fn rate(text: &str) -> Rate {
    Rate::from_bits(number(text))
}

/// Reads a record; the packets' times are differences from the one before.
fn read(text: &str) -> Record {
    let mut record = Record {
        start: Rate::default(),
        bounds: (Rate::default(), Rate::default()),
        steps: Vec::new(),
    };
    let mut probes = BTreeMap::new();
    let mut packets = Packets::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["setup", start, least, most] => {
                record.start = rate(start);
                record.bounds = (rate(least), rate(most));
            }
            ["probe", id, bits, span, packets] => {
                let probe = Probe {
                    id: number(id),
                    rate: rate(bits),
                    span: Duration::from_micros(number(span)),
                    packets: number(packets),
                };
                probes.insert(probe.id, probe);
            }
            [at, bits, ref tokens @ ..] => record.steps.push(Step {
                at: micros(at),
                rate: rate(bits),
                arrivals: packets.read(tokens, &probes),
            }),
            _ => panic!("a line of one word: {line:?}"),
        }
    }
    record
}

/// Where the differences have got to.
#[derive(Default)]
struct Packets {
    sequence: u64,
    /// µs at the sender, quarters of a millisecond at the receiver.
    sent: i64,
    received: i64,
}

impl Packets {
    fn read(&mut self, tokens: &[&str], probes: &BTreeMap<u32, Probe>) -> Vec<Arrival> {
        let mut arrivals = Vec::new();
        for token in tokens {
            let (times, token) = token.split_once('x').unwrap_or(("1", token));
            for _ in 0..number::<u32>(times) {
                arrivals.push(self.next(token, probes));
            }
        }
        arrivals
    }

    /// `SENT:RECEIVED/BYTES`, with `pID` behind it for a packet of a probe.
    fn next(&mut self, token: &str, probes: &BTreeMap<u32, Probe>) -> Arrival {
        let (token, probe) = match token.split_once('p') {
            Some((token, id)) => (token, Some(probes[&number(id)])),
            None => (token, None),
        };
        let (times, bytes) = token.split_once('/').expect("bytes follow a slash");
        let (sent, received) = times.split_once(':').expect("times are two");
        self.sent += number::<i64>(sent);
        let received = (received != "-").then(|| {
            self.received += number::<i64>(received);
            Instant::ZERO + Duration::from_micros(250 * self.received as u64)
        });
        self.sequence += 1;
        Arrival {
            sequence: self.sequence,
            bytes: number(bytes),
            sent: Instant::ZERO + Duration::from_micros(self.sent as u64),
            received,
            probe,
        }
    }
}

/// What ours says after each step.
fn replay(record: &Record) -> Vec<Rate> {
    let setup = Setup {
        initial_rate: record.start,
        media_bounds: record.bounds,
        ..Setup::default()
    };
    let mut gcc = Gcc::new(&[], &setup).unwrap();
    let sent = record.steps.iter().flat_map(|step| &step.arrivals);
    let mut sent: Vec<_> = sent.map(|packet| (packet.sent, packet.bytes)).collect();
    sent.sort_by_key(|&(at, _)| at);
    let mut sent = sent.into_iter().peekable();
    let mut said = Vec::new();
    for step in &record.steps {
        loop {
            let packet = sent.peek().map_or(Instant::NEVER, |&(at, _)| at);
            let timer = gcc.next_timer().unwrap_or(Instant::NEVER);
            if packet.min(timer) > step.at {
                break;
            }
            if timer <= packet {
                gcc.on_timer(timer);
            } else {
                sent.next_if(|&(at, bytes)| {
                    gcc.on_sent(at, u64::from(bytes), 0);
                    true
                });
            }
            while gcc.take_probe(step.at).is_some() {}
        }
        gcc.on_arrivals(step.at, &step.arrivals);
        said.push(gcc.media_rate(Duration::ZERO));
    }
    said
}

/// How ours differs from the witness over a whole call.
#[derive(Debug)]
struct Difference {
    /// Mean of |ln(ours / theirs)|.
    mean: f64,
    /// Greatest of them.
    most: f64,
    /// Share of steps with more than a twentieth between them.
    apart: f64,
}

fn difference(record: &Record, ours: &[Rate]) -> Difference {
    let ratio = |(step, ours): (&Step, &Rate)| {
        let theirs = step.rate.as_bits() as f64;
        libm::log(ours.as_bits() as f64 / theirs).abs()
    };
    let errors: Vec<f64> = record.steps.iter().zip(ours).map(ratio).collect();
    let count = errors.len() as f64;
    Difference {
        mean: errors.iter().sum::<f64>() / count,
        most: errors.iter().copied().fold(0.0, f64::max),
        apart: errors.iter().filter(|&&error| error > 0.05).count() as f64 / count,
    }
}

fn records() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/witness");
    let entries = std::fs::read_dir(folder).expect("the records are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn ours_follows_the_witness() {
    println!("| case | steps | mean | most | apart |\n| --- | --- | --- | --- | --- |");
    for path in records() {
        let record = read(&std::fs::read_to_string(&path).unwrap());
        let ours = replay(&record);
        if let Ok(folder) = std::env::var("WITNESS_TRACE") {
            let lines = record.steps.iter().zip(&ours).map(|(step, ours)| {
                let (theirs, ours) = (step.rate.as_bits() / 1000, ours.as_bits() / 1000);
                let lost = step
                    .arrivals
                    .iter()
                    .filter(|a| a.received.is_none())
                    .count();
                let n = step.arrivals.len();
                format!("{:.3} {theirs} {ours} {n} {lost}\n", step.at.as_secs_f64())
            });
            let file = Path::new(&folder).join(path.file_name().unwrap());
            std::fs::write(file, lines.collect::<String>()).unwrap();
        }
        let found = difference(&record, &ours);
        let (case, steps) = (path.file_stem().unwrap().display(), ours.len());
        let (mean, most, apart) = (found.mean, found.most, 100.0 * found.apart);
        println!("| {case} | {steps} | {mean:.3} | {most:.3} | {apart:.0} % |");
    }
}
