//! The gateway's counters, as files that others read, and as lines at its end.

use super::DIRECTIONS;
use crate::cli::GatewayArgs;
use crate::prometheus::{Family, counter, gauge, written};
use command::Refused;
use command::files::{distinct, replace, replaceable};
use live::{Gate, Gates, Standing};
use serde_json::json;
use std::path::PathBuf;
use units::{Duration, Rate};

type Result<T> = core::result::Result<T, Refused>;

/// Before each name.
const PREFIX: &str = "analects_gateway";
const PROCESSOR: Family = counter("processor_seconds_total", "Time of the processor.");
const RESTORED: Family = counter(
    "rules_restored_total",
    "How often other programs took the rules away, and they were put back.",
);
/// What there is of each direction, in the order of [`values`]. Names are as Prometheus wants them.
const FAMILIES: [Family; 12] = [
    counter("packets_total", "Packets that came."),
    counter("bytes_total", "Their bytes, with IP headers."),
    counter("passed_packets_total", "Packets that passed."),
    counter("passed_bytes_total", "Their bytes."),
    counter(
        "dropped_packets_total",
        "Packets that the discipline dropped.",
    ),
    counter(
        "unread_packets_total",
        "Packets that could not be read, and passed.",
    ),
    counter(
        "unseen_packets_total",
        "Packets that passed without the discipline, since it was too slow.",
    ),
    counter(
        "waited_seconds_total",
        "Time that packets that passed had waited, all together.",
    ),
    gauge(
        "longest_wait_seconds",
        "Longest time that a packet has waited since the start.",
    ),
    gauge("backlog_packets", "Packets that wait."),
    gauge("backlog_bytes", "Their bytes."),
    gauge(
        "rate_bits_per_second",
        "The rate that is set; +Inf without one.",
    ),
];

/// How a direction stands, in the order of [`FAMILIES`].
fn values(stands: &Standing, rate: Option<Rate>) -> [f64; FAMILIES.len()] {
    let tally = &stands.tally;
    let seconds = |ns: u64| ns as f64 / 1e9;
    [
        tally.packets as f64,
        tally.bytes as f64,
        tally.passed as f64,
        tally.passed_bytes as f64,
        tally.drops as f64,
        tally.unread as f64,
        tally.unseen as f64,
        seconds(tally.waited_ns),
        seconds(tally.longest_ns),
        f64::from(stands.backlog.packets),
        stands.backlog.bytes as f64,
        rate.map_or(f64::INFINITY, |rate| rate.as_bits() as f64),
    ]
}

/// Where counters are written, and how often.
#[derive(Debug)]
pub struct Counters {
    json: Option<PathBuf>,
    prometheus: Option<PathBuf>,
    /// The devices, inside and outside.
    devices: [String; 2],
    every: Duration,
    /// When they are next written, seconds since the start.
    due: f64,
    /// A file could not be written, and that was told.
    told: bool,
}

impl Counters {
    /// As the options say, whose files have to be such as can be written.
    pub fn of(args: &GatewayArgs) -> Result<Self> {
        let files = [&args.json, &args.prometheus].map(Clone::clone);
        let written: Vec<PathBuf> = files.iter().flatten().cloned().collect();
        distinct(None, &written)?;
        for file in &written {
            replaceable(file)?;
        }
        let [json, prometheus] = files;
        Ok(Counters {
            json,
            prometheus,
            devices: [args.inside.clone(), args.outside.clone()],
            every: every(&args.every)?,
            due: 0.0,
            told: false,
        })
    }

    /// Writes them, if that is due. A file that cannot be written is told once, and ends nothing.
    pub fn look(&mut self, gates: &Gates, rates: [Option<Rate>; 2], restored: u64) {
        let now = gates.seconds();
        if now < self.due {
            return;
        }
        self.due = now + self.every.as_secs_f64();
        match self.write(gates, rates, restored) {
            Err(refused) if !self.told => {
                self.told = true;
                eprintln!("{refused}; packets go on");
            }
            Err(_) => (),
            Ok(()) => self.told = false,
        }
    }

    /// Writes them.
    pub fn write(&self, gates: &Gates, rates: [Option<Rate>; 2], restored: u64) -> Result<()> {
        let moment = Moment {
            seconds: gates.seconds(),
            processor_seconds: gates.processor_seconds(),
            restored,
            standings: gates.gates().iter().map(Gate::stands).collect(),
            rates,
        };
        if let Some(file) = &self.json {
            replace(file, &moment.as_json())?;
        }
        if let Some(file) = &self.prometheus {
            replace(file, &moment.as_prometheus(&self.devices))?;
        }
        Ok(())
    }
}

fn every(text: &str) -> Result<Duration> {
    let help = "write for example 10s: 1s to 1h";
    let time = text.parse::<Duration>();
    let time = time.map_err(|error| Refused::new(&format!("--every: {error}"), help))?;
    if (Duration::from_secs(1)..=Duration::from_secs(3600)).contains(&time) {
        Ok(time)
    } else {
        Err(Refused::new(
            &format!("--every: {time} is not in 1s to 1h"),
            help,
        ))
    }
}

/// How everything stands at one time.
struct Moment {
    seconds: f64,
    processor_seconds: f64,
    /// How often the rules were put back.
    restored: u64,
    /// Down and up, as all that follows.
    standings: Vec<Standing>,
    rates: [Option<Rate>; 2],
}

impl Moment {
    fn as_json(&self) -> String {
        let of = |stands: &Standing, rate: Option<Rate>| {
            json!({
                "rate": rate.map(Rate::as_bits),
                "tally": stands.tally,
                "backlog": { "packets": stands.backlog.packets, "bytes": stands.backlog.bytes },
            })
        };
        let [down, up] = [0, 1].map(|place| of(&self.standings[place], self.rates[place]));
        let all = json!({
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "rules_restored": self.restored,
            "down": down,
            "up": up,
        });
        format!("{all:#}\n")
    }

    /// Prometheus' text.
    fn as_prometheus(&self, devices: &[String; 2]) -> String {
        let [inside, outside] = devices;
        let whole = [("in", &**inside), ("out", &**outside)];
        let processor = [(&whole[..], Some(self.processor_seconds))];
        let mut text = written(PREFIX, &PROCESSOR, processor.into_iter());
        let restored = [(&whole[..], Some(self.restored as f64))];
        text += &written(PREFIX, &RESTORED, restored.into_iter());
        let of = self.standings.iter().zip(self.rates);
        let all: Vec<_> = of.map(|(stands, rate)| values(stands, rate)).collect();
        let labels = DIRECTIONS.map(|direction| [whole[0], whole[1], ("direction", direction)]);
        for (place, family) in FAMILIES.iter().enumerate() {
            let samples = labels.iter().zip(&all);
            let samples = samples.map(|(labels, values)| (&labels[..], Some(values[place])));
            text += &written(PREFIX, family, samples);
        }
        text
    }
}

/// The lines at the end.
pub fn summary(gates: &Gates) -> String {
    let seconds = gates.seconds().max(1e-9);
    let mut text = String::new();
    for (gate, direction) in gates.gates().iter().zip(DIRECTIONS) {
        let tally = gate.stands().tally;
        text += &format!(
            "{direction}: {} packets, {:.3} Mbit/s on average; waited {:.2} ms on average, {:.2} ms at most; dropped {}\n",
            tally.passed,
            tally.passed_bytes as f64 * 8e-6 / seconds,
            tally.waited_ns as f64 / 1e6 / tally.passed.max(1) as f64,
            tally.longest_ns as f64 / 1e6,
            tally.drops,
        );
        if tally.unseen > 0 {
            let unseen = tally.unseen;
            text +=
                &format!("{direction}: this host was too slow: {unseen} packets passed unshaped\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use live::Tally;
    use qdisc::Backlog;

    fn moment() -> Moment {
        let down = Standing {
            tally: Tally {
                packets: 10,
                bytes: 15_000,
                passed: 7,
                passed_bytes: 10_500,
                drops: 1,
                unread: 0,
                unseen: 0,
                waited_ns: 70_000_000,
                longest_ns: 20_000_000,
            },
            backlog: Backlog {
                packets: 2,
                bytes: 3_000,
            },
            parts: Vec::new(),
        };
        Moment {
            seconds: 2.5,
            processor_seconds: 0.25,
            restored: 2,
            standings: vec![down, Standing::default()],
            rates: [Some(Rate::from_bits(20_000_000)), None],
        }
    }

    #[test]
    fn prometheus_can_read_it() {
        let text = moment().as_prometheus(&["lan0".to_owned(), "wan0".to_owned()]);
        let of = r#"{in="lan0",out="wan0",direction="down"}"#;
        for line in [
            "# TYPE analects_gateway_packets_total counter".to_owned(),
            format!("analects_gateway_packets_total{of} 10"),
            r#"analects_gateway_rules_restored_total{in="lan0",out="wan0"} 2"#.to_owned(),
            format!("analects_gateway_waited_seconds_total{of} 0.07"),
            format!("analects_gateway_backlog_bytes{of} 3000"),
            format!("analects_gateway_rate_bits_per_second{of} 20000000"),
            format!(
                "analects_gateway_rate_bits_per_second{} +Inf",
                of.replace("down", "up")
            ),
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        // Each family once, with its samples behind its two lines.
        let kinds = text.lines().filter(|line| line.starts_with("# TYPE"));
        assert_eq!(kinds.count(), 2 + FAMILIES.len());
        assert_eq!(text.lines().count(), 6 + 4 * FAMILIES.len());
        assert!(text.ends_with('\n'));
    }

    #[test]
    fn as_json() {
        let json: serde_json::Value = serde_json::from_str(&moment().as_json()).unwrap();
        assert_eq!(json["down"]["tally"]["passed_bytes"], 10_500);
        assert_eq!(json["down"]["rate"], 20_000_000);
        assert_eq!(json["down"]["backlog"]["packets"], 2);
        assert_eq!(json["rules_restored"], 2);
        assert!(json["up"]["rate"].is_null());
    }
}
