//! Links whose rate is followed.

use crate::common::{resolve, run};
use autorate::{Controller, Decision, Entry, Signal, Told, Ways, Why};
use measure::{Event, RunResult};
use sim::Simulator;
use units::{Instant, Rate};

/// Downloads behind a modem of 20 Mbit/s, and behind that a router with these keys.
fn scenario(keys: &str) -> String {
    format!(
        r#"
        duration = "20s"
        warmup = "10s"
        disciplines = ["fq_codel"]
        [[link]]
        name = "internet"
        rate = "10gbit"
        delay = "20ms"
        discipline = "pfifo"
        [[link]]
        name = "modem"
        rate = "20mbit"
        buffer = "500p"
        discipline = "pfifo"
        [link.up]
        rate = "5mbit"
        discipline = "pfifo"
        [[link]]
        name = "router"
        rate = "1gbit"
        {keys}
        [link.up]
        rate = "1gbit"
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        count = 2
        "#
    )
}

fn result(text: &str) -> RunResult {
    let scenario = resolve(text).unwrap();
    let discipline = scenario.disciplines[0].clone();
    measure::run(&Simulator::default(), &scenario, &discipline, 1, true).unwrap()
}

fn goodput(result: &RunResult) -> f64 {
    result.flows.iter().map(|flow| flow.goodput_mbps).sum()
}

fn p95(result: &RunResult, link: &str) -> f64 {
    let link = result.links.iter().find(|other| other.name == link);
    link.and_then(|link| link.sojourn_ms.p95).unwrap()
}

#[test]
fn a_constant_rate_is_set_and_told() {
    let set = result(&scenario(r#"autorate = "constant,down=8mbit,up=1mbit""#));
    let free = result(&scenario(""));
    assert!(free.rates.is_empty());
    let rates: Vec<(&str, f64)> = set
        .rates
        .iter()
        .map(|rate| (rate.name.as_str(), rate.mean_mbps))
        .collect();
    assert_eq!(rates, [("router", 8.0), ("router-up", 1.0)]);
    assert_eq!(set.rates[0].reasons[0].reason, "set");
    assert!(
        (goodput(&set) / 8.0 - 0.96).abs() < 0.03,
        "{}",
        goodput(&set)
    );
    assert!(goodput(&free) > 18.0, "{}", goodput(&free));
    assert!(p95(&set, "modem") < 5.0 && p95(&free, "modem") > 100.0);
    let drawn = &set.series.unwrap().rates;
    assert_eq!(drawn[0], (0.0, 2, 8.0, "set"));
}

#[test]
fn pings_pass_the_line_and_are_nobodys() {
    let text = scenario(r#"autorate = "constant""#);
    let (record, _) = run(&text, 1);
    let nobodys = record.0.iter().filter(|(_, event)| {
        matches!(event, Event::Dequeued { link, packet, .. }
            if link.0 == 1 && packet.flow.is_none() && packet.bytes == 84)
    });
    // Six reflectors, each every 300 ms, for 20 s.
    let pings = nobodys.count();
    assert!((390..=400).contains(&pings), "{pings}");
    let result = result(&text);
    assert_eq!(result.flows.len(), 2);
    assert!(result.figures.is_empty());
    let blind = run(
        &scenario("autorate = \"constant\"\nreflectors = { blind = true }"),
        1,
    );
    let seen =
        blind.0.0.iter().any(
            |(_, event)| matches!(event, Event::Dequeued { packet, .. } if packet.flow.is_none()),
        );
    assert!(!seen, "pings that wait in no queue");
}

/// Sets as many Mbit/s as the least round trip of a ping has ms, and up those of the greatest.
struct Meter(f64, f64);

impl Controller for Meter {
    fn tell(&mut self, _: Instant, signal: &Signal) {
        if let Signal::Answered(answer) = signal {
            let ms = answer.round_trip.as_millis_f64();
            *self = Meter(self.0.min(ms), self.1.max(ms));
        }
    }

    fn decide(&mut self, _: Instant) -> Ways<Decision> {
        let decision = |ms| Decision {
            rate: Rate::from_mbit_f64(ms),
            why: Why::Set,
            told: Told::Pings,
        };
        Ways {
            down: decision(self.0.min(900.0)),
            up: decision(self.1.max(1.0)),
        }
    }
}

/// The least and the greatest round trip of pings, in ms.
fn round_trips(keys: &str) -> (f64, f64) {
    let mut simulator = Simulator::default();
    simulator.autorates.add(Entry {
        name: "constant",
        summary: "",
        about: "",
        source: "",
        params: &[],
        build: |_| Ok(Box::new(Meter(f64::INFINITY, 0.0))),
    });
    let text = scenario(&format!("autorate = \"constant\"\n{keys}"));
    let scenario = resolve(&text).unwrap();
    let discipline = &scenario.disciplines[0];
    let result = measure::run(&simulator, &scenario, discipline, 1, false).unwrap();
    (result.rates[0].least_mbps, result.rates[1].greatest_mbps)
}

#[test]
fn round_trips_are_those_of_their_own_pings() {
    // 40 ms of propagation, and a modem of 500 packets at 20 Mbit/s: 300 ms.
    let (least, greatest) = round_trips("");
    assert!((40.0..60.0).contains(&least), "{least}");
    assert!((250.0..360.0).contains(&greatest), "{greatest}");
    let lost = round_trips("reflectors = { loss = 0.9 }");
    assert!(lost.0 < 200.0 && lost.1 < 360.0, "{lost:?}");
    let (_, greatest) = round_trips("reflectors = { lie = \"500ms\" }");
    assert!(greatest > 400.0, "{greatest}");
    let blind = round_trips("reflectors = { blind = true, noise = \"0s\" }");
    assert!(blind.0 >= 40.0 && blind.1 < 41.0, "{blind:?}");
    let gone = round_trips("reflectors = { vanish = \"1ns\" }");
    assert_eq!(gone.0, gone.1, "the first alone was answered");
}

#[test]
fn what_is_wrong_is_refused() {
    let refused = |keys: &str| resolve(&scenario(keys)).unwrap_err();
    let unknown = refused(r#"autorate = "cake""#);
    assert!(unknown.contains("no controller \"cake\""), "{unknown}");
    let setting = refused(r#"autorate = "constant,down=0bit""#);
    assert!(setting.contains("constant: parameter down"), "{setting}");
    let alone = refused("reflectors = { loss = 0.5 }");
    assert!(alone.contains("nothing pings these reflectors"), "{alone}");
    let key = refused("autorate = \"constant\"\nreflectors = { los = 0.5 }");
    assert!(key.contains("did you mean loss"), "{key}");
}

/// Both ways over real transports: neither stuck at the least rate nor with the modem's queue full.
#[test]
fn drain_finds_a_constant_line_both_ways() {
    let text = scenario(r#"autorate = "drain""#);
    let down = result(&text);
    assert!(goodput(&down) > 14.0, "{}", goodput(&down));
    assert!(p95(&down, "modem") < 60.0, "{}", p95(&down, "modem"));
    let up = result(&text.replace("count = 2", "count = 2\ndirection = \"up\""));
    assert!(goodput(&up) > 3.0, "{}", goodput(&up));
    assert!(p95(&up, "modem-up") < 60.0, "{}", p95(&up, "modem-up"));
}
