//! `gcc` compared with libwebrtc's: the feedback to libwebrtc's controller is given to ours, step
//! by step. The records are made by `make witness`; their contents are described in
//! `witness/README.md`.

use cca::gcc::Gcc;
use cca::{Arrival, Control, Probe, Setup};
use std::collections::BTreeMap;
use std::path::Path;
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
    /// Rates of the probes that the witness asked for.
    probes: Vec<Rate>,
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
        probes: Vec::new(),
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
                record.probes.push(probe.rate);
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

/// The current differences.
#[derive(Default)]
struct Packets {
    sequence: u64,
    /// µs at the sender, quarters of a millisecond at the receiver.
    sent: i64,
    received: i64,
    bytes: u32,
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

    /// `SENT:RECEIVED/BYTES`, where unchanged parts are left out, and `pID` behind it for a packet
    /// of a probe.
    fn next(&mut self, token: &str, probes: &BTreeMap<u32, Probe>) -> Arrival {
        let (token, probe) = match token.split_once('p') {
            Some((token, id)) => (token, Some(probes[&number(id)])),
            None => (token, None),
        };
        let (times, bytes) = match token.split_once('/') {
            Some((times, bytes)) => (times, number(bytes)),
            None => (token, self.bytes),
        };
        let (sent, received) = times.split_once(':').unwrap_or(("0", times));
        self.sent += number::<i64>(sent);
        self.bytes = bytes;
        let received = (received != "-").then(|| {
            self.received += number::<i64>(received);
            Instant::ZERO + Duration::from_micros(250 * self.received as u64)
        });
        self.sequence += 1;
        Arrival {
            sequence: self.sequence,
            bytes,
            sent: Instant::ZERO + Duration::from_micros(self.sent as u64),
            received,
            probe,
        }
    }
}

/// The output of ours after each step, and the rates of the probes that it asks for.
fn replay(record: &Record) -> (Vec<Rate>, Vec<Rate>) {
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
    let (mut said, mut probes) = (Vec::new(), Vec::new());
    for step in &record.steps {
        loop {
            let packet = sent.peek().map_or(Instant::NEVER, |&(at, _)| at);
            let timer = gcc.next_timer().unwrap_or(Instant::NEVER);
            if packet.min(timer) > step.at {
                break;
            }
            if timer < packet {
                gcc.on_timer(timer);
            } else if let Some((at, bytes)) = sent.next() {
                gcc.on_sent(at, u64::from(bytes), 0);
            }
            let asked = core::iter::from_fn(|| gcc.take_probe(packet.min(timer)));
            probes.extend(asked.map(|probe| probe.rate));
        }
        gcc.on_arrivals(step.at, &step.arrivals);
        said.push(gcc.media_rate(Duration::ZERO));
        let asked = core::iter::from_fn(|| gcc.take_probe(step.at));
        probes.extend(asked.map(|probe| probe.rate));
    }
    (said, probes)
}

/// |ln(ours / theirs)|.
fn apart(theirs: Rate, ours: Rate) -> f64 {
    libm::log(ours.as_bits() as f64 / theirs.as_bits() as f64).abs()
}

/// Rates that differ by more than their rounding to whole bits and kilobits can explain.
const TOLERANCE: f64 = 0.005;

#[test]
fn ours_follows_the_witness_step_by_step() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/witness");
    let entries = std::fs::read_dir(folder).expect("the records are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 13, "nine cuts, three losses, Wi-Fi");
    println!("| case | steps | mean difference | greatest |\n| --- | --- | --- | --- |");
    let mut failed = Vec::new();
    for path in paths {
        let record = read(&std::fs::read_to_string(&path).unwrap());
        let (ours, probes) = replay(&record);
        let pairs = record.steps.iter().zip(&ours);
        let errors: Vec<f64> = pairs.map(|(step, &ours)| apart(step.rate, ours)).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let most = errors.iter().copied().fold(0.0, f64::max);
        let case = path.file_stem().unwrap().display();
        println!(
            "| {case} | {} | {:.3} % | {:.3} % |",
            errors.len(),
            100.0 * mean,
            100.0 * most
        );
        let same = record.probes.len() == probes.len()
            && record
                .probes
                .iter()
                .zip(&probes)
                .all(|(&theirs, &ours)| apart(theirs, ours) < TOLERANCE);
        if most >= TOLERANCE || !same {
            let (theirs, ours) = (&record.probes, probes);
            failed.push(format!("{case}: {most}, probes {theirs:?} and {ours:?}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
