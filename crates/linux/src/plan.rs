//! From a scenario to what the guest is told, and what of a scenario it cannot be told.

use crate::disciplines::{self, CONFUCIUS};
use crate::network::{self, BURST, CLASS, DOWN, Shaped, UP};
use crate::packets::Queue;
use guest::plan::{Entry, Places, RateStep, Step, TapPlan};
use guest::ports;
use link::Capacity;
use measure::{BuiltLink, Unsupported};
use qdisc::{Env, Registry};
use scenario::{Choice, Kind, Link, Scenario, Stack, Traffic};
use units::random::Stream;
use units::{Duration, Instant, Rate};
use workload::call::Encoder;

/// Controls of Linux's TCP, by the names that we have for them, and the module of each.
const CONTROLS: &[(&str, &str)] = &[
    ("cubic", "tcp_cubic"),
    ("reno", ""),
    ("bbr", "tcp_bbr"),
    ("vegas", "tcp_vegas"),
    ("illinois", "tcp_illinois"),
    ("yeah", "tcp_yeah"),
];
/// Changes of rate closer together than this are one, of their mean: each takes the guest's time.
const CLOSEST: Duration = Duration::from_millis(20);
/// An outage is over by this much later than it should be, at most.
const MARGIN: Duration = Duration::from_millis(1);
/// Largest datagram that is one packet.
const MTU: u32 = 1500;
/// Bytes of packets that one record is kept for, and of the two records of a packet that passes,
/// in the kernel's ring buffer. Small packets take as much as large ones.
const BYTES_A_PACKET: f64 = 500.0;
const RECORD_BYTES: f64 = 192.0;
/// More records of one run are refused before it starts, MiB: the host has to hold them.
const MOST_RECORDS_MIB: u64 = 4096;

/// A run, ready for the guest.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What the guest is told.
    pub plan: guest::Plan,
    /// The queues, as results name them.
    pub links: Vec<BuiltLink>,
    /// The same, as the kernel's records name them.
    pub queues: Vec<Queue>,
    /// Our module is among the disciplines.
    pub needs_module: bool,
}

/// Where a run takes place.
#[derive(Debug, Clone)]
pub struct Site {
    /// The namespaces.
    pub places: Places,
    /// Modules are loaded by the plan; otherwise the kernel finds them.
    pub load: bool,
}

impl Site {
    /// A site whose namespaces are nobody else's.
    pub fn new(load: bool) -> Site {
        Site {
            places: Places {
                net: "net".to_owned(),
                router: "router".to_owned(),
                home: "home".to_owned(),
            },
            load,
        }
    }
}

/// What of `scenario` the kernel engine cannot run, whatever the discipline.
pub fn unsupported(scenario: &Scenario) -> Vec<Unsupported> {
    let mut found = Vec::new();
    let mut refuse = |entry: String, reason: &str| {
        let reason = reason.to_owned();
        found.push(Unsupported { entry, reason });
    };
    if scenario.stack != Stack::Linux {
        refuse("stack".to_owned(), "this is Linux's own TCP");
    }
    if scenario.pacing {
        let reason = "TCP is paced where its control names a rate, as bbr does, and not otherwise";
        refuse("pacing".to_owned(), reason);
    }
    if scenario.links.len() != 1 {
        refuse(
            "links".to_owned(),
            "there is one bottleneck, not a chain of them",
        );
    }
    for link in &scenario.links {
        if link.device > 0 {
            let reason = "packets leave the discipline one by one; there is no device behind it";
            refuse(format!("link.{}.device", link.name), reason);
        }
        let own = link.discipline.iter();
        let own = own.chain(link.up.iter().filter_map(|up| up.discipline.as_ref()));
        for choice in own {
            if let Err(reason) = disciplines::told(choice, None) {
                refuse(format!("link.{}.discipline", link.name), &reason);
            }
        }
    }
    for choice in &scenario.disciplines {
        if let Err(reason) = disciplines::told(choice, None) {
            refuse("disciplines".to_owned(), &reason);
        }
    }
    for traffic in &scenario.traffic {
        for (key, reason) in unsupported_traffic(traffic) {
            refuse(format!("traffic.{}.{key}", traffic.name), &reason);
        }
    }
    found
}

/// Keys of an entry that cannot be run, and why.
fn unsupported_traffic(traffic: &Traffic) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if traffic.access.is_some() {
        let reason = "senders have no link of their own in front of the bottleneck";
        found.push(("access", reason.to_owned()));
    }
    if traffic.count > ports::FLOWS {
        found.push(("count", format!("there are {} ports", ports::FLOWS)));
    }
    match &traffic.kind {
        Kind::Call(call, media) => {
            if let Err(reason) = judge_ours(&traffic.control) {
                found.push(("control", reason));
            }
            let encoder = Encoder::new(call, Instant::ZERO, Stream::new(0, "check"));
            if let Err(error) = encoder {
                found.push(("min_rate", error.to_string()));
            }
            if media.packet() > MTU {
                found.push(("session", format!("a packet has at most {MTU} B here")));
            }
        }
        Kind::Page { params, .. } => {
            found.extend(judge_linux(&traffic.control).map(|reason| ("control", reason)));
            if params.rtt_spread > 0.0 {
                let reason = "all origins are as far away as the scenario says";
                found.push(("rtt_spread", reason.to_owned()));
            }
        }
        Kind::Bulk(_) => {
            found.extend(judge_linux(&traffic.control).map(|reason| ("control", reason)));
        }
    }
    found
}

/// Calls run over UDP under controls of ours.
fn judge_ours(choice: &Choice) -> Result<(), String> {
    let registry = cca::Registry::builtin();
    let entry = registry.get(&choice.name);
    let entry = entry.ok_or_else(|| format!("no control {:?}", choice.name))?;
    let built = (entry.build)(&choice.settings, &cca::Setup::default());
    built
        .map(|_| ())
        .map_err(|error| format!("{}: {error}", choice.name))
}

/// TCP runs under Linux's; why it does not, otherwise.
fn judge_linux(choice: &Choice) -> Option<String> {
    let name = &choice.name;
    if !CONTROLS.iter().any(|(known, _)| known == name) {
        let names: Vec<&str> = CONTROLS.iter().map(|(known, _)| *known).collect();
        let names = names.join(", ");
        return Some(format!("Linux's TCP has no {name}; it has {names}"));
    }
    let set = !choice.settings.is_empty();
    set.then(|| format!("Linux's {name} takes no settings from a socket"))
}

/// Prepares a run of `scenario` under `discipline`.
///
/// # Errors
/// What [`unsupported`] finds, or of the discipline.
pub fn prepare(
    scenario: &Scenario,
    discipline: &Choice,
    seed: u64,
    site: &Site,
) -> Result<Prepared, Unsupported> {
    if let Some(found) = unsupported(scenario).into_iter().next() {
        return Err(found);
    }
    // One link, as was checked.
    let link = &scenario.links[0];
    let mut shaped = Vec::new();
    let mut links = Vec::new();
    for direction in directions(link, discipline) {
        let (one, built) = shape(scenario, link, &direction)?;
        shaped.push(one);
        links.push(built);
    }
    let rtts = scenario
        .traffic
        .iter()
        .map(|t| t.rtt.unwrap_or(scenario.rtt));
    let delays = network::delays(&rtts.collect::<Vec<_>>());
    let mut commands = Vec::new();
    if site.load {
        commands.extend(modules(scenario, &shaped));
    }
    let up = shaped.get(1);
    commands.extend(network::commands(
        &site.places,
        &shaped[0],
        up,
        &delays,
        scenario.ecn,
    ));
    let queues: Vec<Queue> = [DOWN, UP][..shaped.len()]
        .iter()
        .map(|(device, handle)| Queue {
            device: (*device).to_owned(),
            handle: *handle,
        })
        .collect();
    let plan = guest::Plan {
        commands,
        places: site.places.clone(),
        delays,
        rates: rates(scenario, link),
        tap: Some(tap(scenario, link, &queues)?),
        finish: vec![("queues".to_owned(), statistics(&site.places))],
        seed,
        duration: scenario.duration.as_nanos(),
        rtt: scenario.rtt.as_nanos(),
        ecn: scenario.ecn,
        traffic: scenario.traffic.iter().map(Entry::from).collect(),
    };
    Ok(Prepared {
        plan,
        links,
        queues,
        needs_module: shaped.iter().any(is_ours),
    })
}

/// A direction of the link.
struct Direction<'a> {
    name: String,
    capacity: &'a Capacity,
    buffer: Option<scenario::Buffer>,
    choice: &'a Choice,
}

/// Towards the home, and away from it where that is more than a delay.
fn directions<'a>(link: &'a Link, discipline: &'a Choice) -> Vec<Direction<'a>> {
    let mut directions = vec![Direction {
        name: link.name.clone(),
        capacity: &link.capacity,
        buffer: link.buffer,
        choice: link.discipline.as_ref().unwrap_or(discipline),
    }];
    directions.extend(link.up.as_ref().map(|up| Direction {
        name: format!("{}-up", link.name),
        capacity: &up.capacity,
        buffer: up.buffer,
        choice: up.discipline.as_ref().unwrap_or(discipline),
    }));
    directions
}

fn shape(
    scenario: &Scenario,
    link: &Link,
    direction: &Direction<'_>,
) -> Result<(Shaped, BuiltLink), Unsupported> {
    let limit = direction
        .buffer
        .map(|buffer| buffer.limit(direction.capacity.nominal(), scenario.rtt));
    let told = disciplines::told(direction.choice, limit);
    let discipline = told.map_err(|reason| Unsupported {
        entry: format!("link.{}.discipline", direction.name),
        reason,
    })?;
    let rate = match direction.capacity {
        Capacity::Constant(rate) => *rate,
        Capacity::Trace(trace) => trace.nominal(),
    };
    let capacity = direction.capacity;
    let built = BuiltLink {
        name: direction.name.clone(),
        discipline: direction.choice.to_string(),
        classes: Vec::new(),
        buffer: limit,
        capacity_bytes: capacity.bytes_between(scenario.warmup, scenario.duration),
        remarks: remarks(direction.choice),
    };
    let shaped = Shaped {
        rate,
        overhead: link.overhead,
        discipline,
    };
    Ok((shaped, built))
}

/// What the kernel's records do not tell.
fn remarks(choice: &Choice) -> Vec<(&'static str, String)> {
    let ours = Registry::<u32>::builtin();
    let entry = ours.get(&choice.name);
    let built = entry.and_then(|entry| (entry.build)(&choice.settings, &Env::default()).ok());
    if built.is_none_or(|queue| queue.classes().is_empty()) {
        return Vec::new();
    }
    let text = "the kernel's records of packets do not tell the discipline's classes";
    ["moves", "residence"]
        .map(|field| (field, text.to_owned()))
        .to_vec()
}

/// Loads what is not part of every kernel, before there is any traffic that would wait for it.
fn modules(scenario: &Scenario, shaped: &[Shaped]) -> Vec<Step> {
    let mut names = vec!["veth", "sch_htb", "sch_netem"];
    let foreign = shaped.iter().filter(|one| !is_ours(one));
    names.extend(foreign.filter_map(|one| one.discipline.module.as_deref()));
    for traffic in &scenario.traffic {
        let control = CONTROLS
            .iter()
            .find(|(name, _)| *name == traffic.control.name);
        if let (Some((_, module)), false) = (control, matches!(traffic.kind, Kind::Call(..))) {
            names.push(module);
        }
    }
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    names.dedup();
    let run = |words: &[&str]| Step::Run(words.iter().map(|&word| word.to_owned()).collect());
    let mut steps: Vec<Step> = names.iter().map(|name| run(&["modprobe", name])).collect();
    if shaped.iter().any(is_ours) {
        steps.push(run(&["insmod", "sch_confucius.ko"]));
    }
    steps
}

fn is_ours(one: &Shaped) -> bool {
    one.discipline.module.as_deref() == Some(CONFUCIUS)
}

/// Steps of the rates of both directions.
fn rates(scenario: &Scenario, link: &Link) -> Vec<RateStep> {
    let up = link.up.as_ref().map(|up| (&up.capacity, UP));
    let mut steps = Vec::new();
    for (capacity, (device, handle)) in [(&link.capacity, DOWN)].into_iter().chain(up) {
        for (at, hold, rate) in windows(capacity, scenario.duration) {
            // A full packet takes a little longer than an outage: it is on the wire meanwhile, and
            // no second one leaves just before the end.
            let packet = u64::from(MTU + link.overhead);
            let least = Rate::from_bytes_over(packet, hold + MARGIN);
            steps.push(RateStep {
                at: at.as_nanos(),
                device: device.to_owned(),
                class: handle + CLASS,
                rate: (rate.max(least).as_bits() / 8).max(1),
                overhead: link.overhead as u16,
                burst: BURST,
            });
        }
    }
    steps.sort_by_key(|step| step.at);
    steps
}

/// A capacity that changes, in pieces that are not too short: from when, how long, and the mean
/// rate. None for a constant one.
fn windows(capacity: &Capacity, end: Duration) -> Vec<(Duration, Duration, Rate)> {
    let Capacity::Trace(trace) = capacity else {
        return Vec::new();
    };
    let pieces: Vec<(Rate, Duration)> = trace.pieces().collect();
    let mut starts = vec![Duration::ZERO];
    let mut at = 0u64;
    for (_, hold) in pieces.iter().cycle() {
        at = at.saturating_add(hold.as_nanos());
        let at = Duration::from_nanos(at);
        if at >= end {
            break;
        }
        let last = starts[starts.len() - 1];
        if at.saturating_sub(last) >= CLOSEST {
            starts.push(at);
        }
    }
    let ends = starts.iter().copied().skip(1).chain([end]);
    let window = |(from, until): (Duration, Duration)| {
        let span = until.saturating_sub(from);
        let bytes = capacity.bytes_between(from, until);
        (from, span, Rate::from_bytes_over(bytes as u64, span))
    };
    starts.iter().copied().zip(ends).map(window).collect()
}

/// What is recorded; refused where it would be more than the host can hold.
fn tap(scenario: &Scenario, link: &Link, queues: &[Queue]) -> Result<TapPlan, Unsupported> {
    let up = link.up.as_ref().map(|up| &up.capacity);
    let bytes: f64 = [&link.capacity]
        .into_iter()
        .chain(up)
        .map(|capacity| capacity.bytes_between(Duration::ZERO, scenario.duration))
        .sum();
    let buffer_kib = 4096 + (bytes / BYTES_A_PACKET * RECORD_BYTES / 1024.0) as u64;
    let records = buffer_kib / 1024;
    if records > MOST_RECORDS_MIB {
        let reason = format!(
            "its packets would take {records} MiB of records; shorten the run, or take a slower link"
        );
        let entry = "duration".to_owned();
        return Err(Unsupported { entry, reason });
    }
    Ok(TapPlan {
        devices: queues.iter().map(|queue| queue.device.clone()).collect(),
        handles: queues.iter().map(|queue| queue.handle).collect(),
        buffer_kib,
        owner: None,
    })
}

/// Prints what the qdiscs counted.
fn statistics(places: &Places) -> Vec<String> {
    let router = &places.router;
    let line = format!("tc -n {router} -s -j qdisc show");
    line.split(' ').map(str::to_owned).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use scenario::{Document, Names};

    /// A scenario on 20 Mbit/s and 40 ms with one transfer, which is told `more`.
    pub fn scenario(more: &str) -> Scenario {
        let text = format!(
            r#"
            disciplines = ["pfifo"]
            duration = "10s"
            link = {{ rate = "20mbit", rtt = "40ms", buffer = "100p" }}
            traffic = [{{ name = "bulk", kind = "bulk", {more} }}]
            "#
        );
        read(&text)
    }

    fn read(text: &str) -> Scenario {
        let names = Names {
            discipline: &|_| Ok(()),
            control: &|_| Ok(()),
        };
        let document = Document::parse("test", text).unwrap();
        document.resolve(&names).unwrap()
    }

    /// A run of `scenario`, ready for the guest.
    pub fn prepared(scenario: &Scenario, discipline: &str) -> Prepared {
        prepare(scenario, &discipline.parse().unwrap(), 1, &Site::new(true)).unwrap()
    }

    fn lines(prepared: &Prepared) -> String {
        let line = |step: &Step| match step {
            Step::Run(words) => words.join(" "),
            Step::Set {
                namespace,
                path,
                value,
            } => format!("{namespace}: {path} = {value}"),
        };
        let lines: Vec<String> = prepared.plan.commands.iter().map(line).collect();
        lines.join("\n") + "\n"
    }

    #[test]
    fn a_plan_is_what_was_reviewed() {
        let scenario = read(
            r#"
            disciplines = ["pfifo"]
            ecn = true
            [link]
            rate = "20mbit"
            rtt = "40ms"
            buffer = "100p"
            overhead = "38B"
            up = { rate = "5mbit", discipline = "fq_codel" }
            [[traffic]]
            name = "near"
            kind = "bulk"
            control = "bbr"
            rtt = "15.000001ms"
            [[traffic]]
            name = "far"
            kind = "bulk"
            control = "cubic"
            "#,
        );
        let prepared = prepared(&scenario, "confucius,doubling=1s");
        assert_eq!(lines(&prepared), include_str!("plan.snapshot"));
        assert_eq!((prepared.links.len(), prepared.needs_module), (2, true));
        assert_eq!(prepared.links[1].name, "link-up");
        let classes: Vec<_> = prepared
            .plan
            .delays
            .iter()
            .map(|d| (d.rtt, d.net))
            .collect();
        assert_eq!(classes, [(15_000_001, 0x11_0001), (40_000_000, 0x11_0002)]);
    }

    #[test]
    fn what_cannot_be_run_is_listed_with_its_reason() {
        let scenario = read(
            r#"
            disciplines = ["pfifo", "fq_fifo", "pie,tarket=1"]
            stack = "ns3"
            [[link]]
            name = "a"
            rate = "20mbit"
            device = 3
            [[link]]
            name = "b"
            rate = "20mbit"
            discipline = "cbq"
            [[traffic]]
            name = "x"
            kind = "bulk"
            control = "prague"
            access = "1gbit"
            [[traffic]]
            name = "y"
            kind = "page"
            control = "bbr,version=9"
            rtt_spread = 0.5
            [[traffic]]
            name = "z"
            kind = "call"
            control = "gcc"
            session = { payload = 8000 }
            "#,
        );
        let found: Vec<String> = unsupported(&scenario)
            .iter()
            .map(ToString::to_string)
            .collect();
        let entries: Vec<&str> = found.iter().map(|f| f.split(':').next().unwrap()).collect();
        assert_eq!(
            entries,
            [
                "stack",
                "links",
                "link.a.device",
                "link.b.discipline",
                "disciplines",
                "disciplines",
                "traffic.x.access",
                "traffic.x.control",
                "traffic.y.control",
                "traffic.y.rtt_spread",
                "traffic.z.session",
            ],
            "{found:#?}"
        );
        assert!(prepare(&scenario, &Choice::plain("pfifo"), 1, &Site::new(true)).is_err());
        assert!(unsupported(&self::scenario("control = \"cubic\"")).is_empty());
    }

    #[test]
    fn rates_change_in_steps_that_are_not_too_short() {
        let capacity = |text: &str| {
            let trace = link::Trace::parse(text).unwrap();
            Capacity::Trace(std::sync::Arc::new(trace))
        };
        let ms = Duration::from_millis;
        // Mahimahi: a packet in each of the milliseconds 1 to 40, and then none until 100.
        let text: String = (1..=40).map(|n| format!("{n}\n")).collect::<String>() + "100\n";
        let windows = windows(&capacity(&text), ms(130));
        let starts: Vec<_> = windows.iter().map(|(at, ..)| at.as_millis()).collect();
        assert_eq!(starts, [0, 20, 40, 99, 119]);
        let rates: Vec<_> = windows.iter().map(|(.., r)| r.as_mbit_f64()).collect();
        assert_eq!(rates[0], 12.0);
        assert_eq!(rates[2], 0.0);
        let spans: u64 = windows.iter().map(|(_, span, _)| span.as_millis()).sum();
        assert_eq!(spans, 130);
        assert!(super::windows(&Capacity::Constant(Rate::from_bits(1)), ms(9)).is_empty());
    }
}
