//! libwebrtc's own GCC in place of ours, in the same calls: the behaviour of both, and a record of
//! the witness's input and output, for `crates/core/cca/tests/it/witness.rs` to replay.
//!
//! `witness DRIVER FOLDER [TRACE]`: DRIVER is the program that `scripts/witness-gcc.sh` builds,
//! FOLDER takes the records, TRACE is a Wi-Fi link to try as well.
//!
//! The witness drives: its rates decide the sending, and its feedback is recorded. So the record is
//! a true one of libwebrtc's loop, and ours is asked for its output at each step.

use cca::{Ack, Arrival, Congestion, Control, ControlEntry, Feedback, Probe, Setup};
use scenario::{Choice, Document, Names};
use sim::Simulator;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use units::{Duration, Instant, Rate};

/// The program to ask.
static DRIVER: OnceLock<PathBuf> = OnceLock::new();
/// The input and output of the control in the current run.
static RECORD: Mutex<Record> = Mutex::new(Record::new());

/// Time between calls of the timer (libwebrtc, `GetProcessInterval`).
const PROCESS: Duration = Duration::from_millis(25);
/// The burst that Chrome sends at once.
const BURST: Duration = Duration::from_millis(40);
/// libwebrtc `kDefaultMaxProbingBitrate`: beyond, a session has negotiated its maximum.
const NEGOTIATED: u64 = 5_000_000;
/// Resolution of arrival times in transport-wide feedback.
const TICK_US: i64 = 250;

const WITNESS: ControlEntry = ControlEntry {
    name: "witness",
    summary: "libwebrtc's goog_cc",
    about: "Asks the program that scripts/witness-gcc.sh builds.",
    source: "libwebrtc goog_cc",
    params: &[],
    children: &[],
    build: |parts| Ok(Box::new(Watched(Box::new(Witness::new(parts.setup))))),
};

const OURS: ControlEntry = ControlEntry {
    name: "ours",
    summary: "gcc, watched",
    about: "Our gcc, whose rates are recorded.",
    source: "crates/core/cca",
    params: cca::gcc::ENTRY.params,
    children: &[],
    build: |parts| {
        let gcc = cca::gcc::Gcc::new(parts.settings, parts.setup)?;
        Ok(Box::new(Watched(Box::new(gcc))))
    },
};

/// The text of a record and the rates in it. The text is described in `witness/README.md`.
struct Record {
    text: String,
    rates: Vec<(Instant, Rate)>,
    /// The last packet in it: µs at the sender, ticks at the receiver, and its length.
    sent: i64,
    received: i64,
    bytes: u32,
}

impl Record {
    const fn new() -> Self {
        Record {
            text: String::new(),
            rates: Vec::new(),
            sent: 0,
            received: 0,
            bytes: 0,
        }
    }

    fn probe(&mut self, probe: &Probe) {
        let (rate, span) = (probe.rate.as_bits(), probe.span.as_micros());
        let line = format!("probe {} {rate} {span} {}\n", probe.id, probe.packets);
        self.text.push_str(&line);
    }

    fn feedback(&mut self, now: Instant, arrivals: &[Arrival], rate: Rate) {
        self.rates.push((now, rate));
        let _ = write!(self.text, "{} {}", micros(now), rate.as_bits());
        let mut last = String::new();
        let mut times = 0;
        for arrival in arrivals {
            let token = self.token(arrival);
            if token != last {
                put(&mut self.text, &last, times);
                (last, times) = (token, 0);
            }
            times += 1;
        }
        put(&mut self.text, &last, times);
        self.text.push('\n');
    }

    /// Fields that are as with the packet before are left out.
    fn token(&mut self, arrival: &Arrival) -> String {
        let mut token = String::new();
        let sent = micros(arrival.sent);
        if sent != self.sent {
            let _ = write!(token, "{}:", sent - self.sent);
            self.sent = sent;
        }
        if let Some(at) = arrival.received {
            let ticks = micros(at) / TICK_US;
            let _ = write!(token, "{}", ticks - self.received);
            self.received = ticks;
        } else {
            token.push('-');
        }
        if arrival.bytes != self.bytes {
            let _ = write!(token, "/{}", arrival.bytes);
            self.bytes = arrival.bytes;
        }
        if let Some(probe) = arrival.probe {
            let _ = write!(token, "p{}", probe.id);
        }
        token
    }
}

/// A token that was seen so many times in a row.
fn put(text: &mut String, token: &str, times: u32) {
    let _ = match times {
        0 => Ok(()),
        1 => write!(text, " {token}"),
        _ => write!(text, " {times}x{token}"),
    };
}

fn micros(at: Instant) -> i64 {
    (at.as_nanos() / 1000) as i64
}

fn record() -> std::sync::MutexGuard<'static, Record> {
    RECORD.lock().expect("no run panics while it records")
}

/// Any control, recorded.
struct Watched(Box<dyn Control>);

impl Control for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        self.0.on_sent(now, bytes, in_flight);
    }

    fn on_ack(&mut self, _now: Instant, _ack: &Ack) {}
    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {}

    fn on_arrivals(&mut self, now: Instant, arrivals: &[Arrival]) {
        self.0.on_arrivals(now, arrivals);
        record().feedback(now, arrivals, self.0.media_rate(Duration::ZERO));
    }

    fn next_timer(&self) -> Option<Instant> {
        self.0.next_timer()
    }

    fn on_timer(&mut self, now: Instant) {
        self.0.on_timer(now);
    }

    fn window(&self) -> u64 {
        self.0.window()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.0.pacing_rate()
    }

    fn pacing_burst(&self) -> Duration {
        self.0.pacing_burst()
    }

    fn padding_rate(&self) -> Rate {
        self.0.padding_rate()
    }

    fn media_rate(&self, srtt: Duration) -> Rate {
        self.0.media_rate(srtt)
    }

    fn take_probe(&mut self, now: Instant) -> Option<Probe> {
        let probe = self.0.take_probe(now)?;
        record().probe(&probe);
        Some(probe)
    }

    fn feedback(&self) -> Feedback {
        Feedback::Arrivals
    }
}

/// libwebrtc's controller at the other end of a pipe.
struct Witness {
    /// From the first packet on: controls are also built to see whether they can be.
    pipe: Option<Pipe>,
    start: Rate,
    bounds: (Rate, Rate),
    target: Rate,
    pacing: Rate,
    padding: Rate,
    probes: VecDeque<Probe>,
    in_flight: u64,
    timer: Option<Instant>,
}

struct Pipe {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Pipe {
    fn open() -> std::io::Result<Self> {
        let driver = DRIVER.get().expect("main sets it");
        let mut command = Command::new(driver);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let to = child.stdin.take().expect("it is piped");
        let from = BufReader::new(child.stdout.take().expect("it is piped"));
        Ok(Pipe { child, to, from })
    }

    fn ask(&mut self, line: &str) -> std::io::Result<Vec<u64>> {
        writeln!(self.to, "{line}")?;
        let mut answer = String::new();
        self.from.read_line(&mut answer)?;
        let words = answer.split_whitespace().map(|word| word.parse().ok());
        let numbers: Option<Vec<u64>> = words.collect();
        numbers
            .filter(|n| n.len() >= 3)
            .ok_or_else(|| std::io::Error::other(answer))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Witness {
    fn new(setup: &Setup) -> Self {
        Witness {
            pipe: None,
            start: setup.initial_rate,
            bounds: setup.media_bounds,
            target: setup.initial_rate,
            pacing: setup.initial_rate,
            padding: Rate::default(),
            probes: VecDeque::new(),
            in_flight: 0,
            timer: None,
        }
    }

    fn configure(&mut self) {
        let (start, least, most) = (self.start, self.bounds.0, self.bounds.1);
        let (start, least, most) = (start.as_bits(), least.as_bits(), most.as_bits());
        let max = if most > NEGOTIATED { most } else { 0 };
        record().text = format!("setup {start} {least} {most}\n");
        self.pipe = Some(Pipe::open().expect("the witness starts"));
        self.ask(&format!("config {start} {least} {most} {max} 0"));
    }

    fn ask(&mut self, line: &str) {
        let pipe = self.pipe.as_mut().expect("it is configured");
        let answer = pipe.ask(line).expect("the witness answers with numbers");
        self.target = Rate::from_bits(answer[0]);
        self.pacing = Rate::from_bits(answer[1]);
        self.padding = Rate::from_bits(answer[2]);
        for probe in answer[3..].chunks_exact(5) {
            self.probes.push_back(Probe {
                id: probe[0] as u32,
                rate: Rate::from_bits(probe[1]),
                span: Duration::from_micros(probe[2]),
                packets: probe[4] as u32,
            });
        }
    }
}

impl Control for Witness {
    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        self.in_flight = in_flight;
        if self.pipe.is_none() {
            self.configure();
            self.timer = Some(now + PROCESS);
        }
        self.ask(&format!("sent {} {bytes} {in_flight}", micros(now)));
    }

    fn on_ack(&mut self, _now: Instant, _ack: &Ack) {}
    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {}

    fn on_arrivals(&mut self, now: Instant, arrivals: &[Arrival]) {
        let settled: u64 = arrivals
            .iter()
            .map(|arrival| u64::from(arrival.bytes))
            .sum();
        self.in_flight = self.in_flight.saturating_sub(settled);
        let mut line = format!(
            "feedback {} {} {}",
            micros(now),
            self.in_flight,
            arrivals.len()
        );
        for arrival in arrivals {
            let received = arrival.received.map_or(-1, micros);
            let probe = arrival.probe.map_or(-1, |probe| i64::from(probe.id));
            let (sequence, bytes, sent) = (arrival.sequence, arrival.bytes, micros(arrival.sent));
            let _ = write!(line, " {sequence} {bytes} {sent} {received} {probe}");
        }
        self.ask(&line);
    }

    fn next_timer(&self) -> Option<Instant> {
        self.timer
    }

    fn on_timer(&mut self, now: Instant) {
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = Some(now + PROCESS);
            self.ask(&format!("timer {}", micros(now)));
        }
    }

    fn window(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing)
    }

    fn pacing_burst(&self) -> Duration {
        BURST
    }

    fn padding_rate(&self) -> Rate {
        self.padding
    }

    fn media_rate(&self, _srtt: Duration) -> Rate {
        self.target.min(self.bounds.1)
    }

    fn take_probe(&mut self, _now: Instant) -> Option<Probe> {
        self.probes.pop_front()
    }

    fn feedback(&self) -> Feedback {
        Feedback::Arrivals
    }
}

/// When the share is cut, and when it is given back.
const CUT: Duration = Duration::from_secs(4);
const BACK: Duration = Duration::from_secs(8);

/// A call of at most `most` over `link`, for so many seconds.
struct Case {
    name: String,
    most: &'static str,
    link: String,
    seconds: u32,
}

/// Runs `case` under `control`.
fn run(control: &str, case: &Case) -> Result<Record, Box<dyn Error>> {
    let mut simulator = Simulator::default();
    simulator.controls.add(WITNESS);
    simulator.controls.add(OURS);
    let (link, most, seconds) = (&case.link, case.most, case.seconds);
    let text = format!(
        "name = \"witness\"\nduration = \"{seconds}s\"\nnoise = \"0s\"\n\
         disciplines = [\"pfifo\"]\n\
         [link]\n{link}\nrtt = \"40ms\"\nbuffer = \"100p\"\n\
         [[traffic]]\nname = \"call\"\nkind = \"call\"\ncontrol = \"{control}\"\n\
         max_rate = \"{most}mbit\"\n"
    );
    let names: &dyn Names = &simulator;
    let scenario = Document::parse("witness", &text)?.resolve(names)?;
    *record() = Record::new();
    measure::run(&simulator, &scenario, &Choice::plain("pfifo"), 1, false)?;
    Ok(core::mem::replace(&mut *record(), Record::new()))
}

/// A share of 1.25 caps that falls to `1/divisor` of itself and comes back.
fn cut(cap: f64, divisor: u32) -> String {
    let whole = 1.25 * cap;
    let cut = whole / f64::from(divisor);
    let (from, to) = (CUT.as_secs_f64(), BACK.as_secs_f64());
    format!("steps = [\"0s {whole}mbit\", \"{from}s {cut:.3}mbit\", \"{to}s {whole}mbit\"]")
}

/// The rate that holds at `at`.
fn rate_at(rates: &[(Instant, Rate)], at: Duration) -> f64 {
    let before = rates.partition_point(|&(time, _)| time <= Instant::ZERO + at);
    rates[before.saturating_sub(1)].1.as_mbit_f64()
}

/// How long after the cut the rate first falls by a hundredth.
fn first_decrease(rates: &[(Instant, Rate)]) -> Option<f64> {
    let before = rate_at(rates, CUT);
    let cut = Instant::ZERO + CUT;
    let fell = |&&(at, rate): &&(Instant, Rate)| at > cut && rate.as_mbit_f64() < 0.99 * before;
    let (at, _) = rates.iter().find(fell)?;
    Some(at.since(cut).as_secs_f64())
}

fn print(case: &Case, who: &str, rates: &[(Instant, Rate)]) {
    let first = first_decrease(rates).map_or("never".to_owned(), |s| format!("{s:.2}"));
    let at = |seconds| rate_at(rates, Duration::from_secs(seconds));
    println!(
        "| {} | {who} | {:.2} | {first} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
        case.name,
        at(4),
        at(5),
        at(6),
        at(8),
        at(10),
        at(u64::from(case.seconds)),
    );
}

/// Nine cuts, three lossy links, and the Wi-Fi of `trace`.
fn cases(trace: Option<&Path>) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for most in ["2.5", "4", "20"] {
        for divisor in [2, 4, 13] {
            cases.push(Case {
                name: format!("{most}-{divisor}"),
                most,
                link: cut(most.parse()?, divisor),
                seconds: 12,
            });
        }
    }
    for loss in [3, 10, 25] {
        cases.push(Case {
            name: format!("loss-{loss}"),
            most: "4",
            link: format!("rate = \"5mbit\"\nloss = \"{loss}%\""),
            seconds: 12,
        });
    }
    cases.extend(trace.map(|trace| Case {
        name: "wifi".to_owned(),
        most: "4",
        link: format!("trace = {trace:?}"),
        seconds: 20,
    }));
    Ok(cases)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(driver), Some(folder)) = (args.next(), args.next()) else {
        return Err("witness DRIVER FOLDER [TRACE]".into());
    };
    let _ = DRIVER.set(driver);
    println!(
        "| case | control | before | first decrease, s | +1 s | +2 s | +4 s | back +2 s | end |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in cases(args.next().as_deref())? {
        let witness = run("witness", &case)?;
        std::fs::write(folder.join(format!("{}.txt", case.name)), &witness.text)?;
        print(&case, "libwebrtc", &witness.rates);
        print(&case, "ours", &run("ours", &case)?.rates);
    }
    Ok(())
}
