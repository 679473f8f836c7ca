//! From a scenario to the guest's plan.

use crate::chance;
use crate::disciplines::{self, TcArguments};
use crate::network::{self, Chances, DOWN, Shaped, UP};
use crate::packets::RecordedQueue;
use crate::rates;
use crate::unsupported::unsupported;
use guest::plan::{Places, PlanEntry, Step, TapPlan};
use link::Capacity;
use machine::OURS;
use measure::{BuiltLink, Unsupported};
use qdisc::{Env, Home, Registry};
use scenario::{Choice, Link, Scenario};
use units::{Duration, Refusal};

/// Bytes of packets that one record is kept for, and of the two records of a packet that passes,
/// in the kernel's ring buffer. Small packets take as much as large ones.
const BYTES_A_PACKET: f64 = 500.0;
const RECORD_BYTES: f64 = 192.0;
/// More records of one run are refused before it starts, MiB: the host has to hold them.
const MOST_RECORDS_MIB: u64 = 4096;

/// A run, ready for the guest.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The guest's plan.
    pub plan: guest::Plan,
    /// The queues, as results name them.
    pub links: Vec<BuiltLink>,
    /// The same, as the kernel's records name them.
    pub queues: Vec<RecordedQueue>,
    /// The disciplines of the links, as tc's arguments.
    pub told: Vec<TcArguments>,
    /// Those of [our disciplines](OURS) that it has.
    pub ours: Vec<&'static str>,
}

/// The place of a run.
#[derive(Debug, Clone)]
pub struct RunPlace {
    /// The namespaces.
    pub places: Places,
    /// Modules are loaded by the plan; otherwise the kernel finds them.
    pub load: bool,
}

impl RunPlace {
    /// A site whose namespaces are private.
    pub fn new(load: bool) -> RunPlace {
        RunPlace {
            places: Places {
                net: "net".to_owned(),
                router: "router".to_owned(),
                home: "home".to_owned(),
            },
            load,
        }
    }
}

/// Prepares a run of `scenario` under `discipline`.
///
/// # Errors
/// The errors of [`unsupported`], or of the discipline.
pub fn prepare(
    scenario: &Scenario,
    discipline: &Choice,
    seed: u64,
    site: &RunPlace,
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
        .map(|traffic| scenario.paths(traffic)[0].rtt);
    let delays = network::delays(&rtts.collect::<Vec<_>>());
    let chances = Chances {
        noise: scenario.noise,
        wire: chance::wire(link),
    };
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
        &chances,
        scenario.ecn,
    ));
    let queues: Vec<RecordedQueue> = [DOWN, UP][..shaped.len()]
        .iter()
        .map(|(device, handle)| RecordedQueue {
            device: (*device).to_owned(),
            handle: *handle,
        })
        .collect();
    let plan = guest::Plan {
        commands,
        places: site.places.clone(),
        delays,
        rates: rates::steps(scenario, link),
        tap: Some(tap(scenario, link, &queues)?),
        finish: vec![("queues".to_owned(), statistics(&site.places))],
        seed,
        duration: scenario.duration,
        ecn: scenario.ecn,
        traffic: scenario
            .traffic
            .iter()
            .map(|t| PlanEntry::of(t, scenario))
            .collect(),
    };
    Ok(Prepared {
        plan,
        links,
        queues,
        ours: ours(&shaped),
        told: shaped.into_iter().map(|one| one.discipline).collect(),
    })
}

/// A direction of the link.
struct PlannedDirection<'a> {
    name: String,
    capacity: &'a Capacity,
    buffer: Option<scenario::Buffer>,
    choice: &'a Choice,
    home: Home,
}

/// Towards the home, and away from it if that is more than a delay.
fn directions<'a>(link: &'a Link, discipline: &'a Choice) -> Vec<PlannedDirection<'a>> {
    let mut directions = vec![PlannedDirection {
        name: link.name.clone(),
        capacity: &link.capacity,
        buffer: link.buffer,
        choice: link.discipline.as_ref().unwrap_or(discipline),
        home: Home::Receivers,
    }];
    directions.extend(link.up.as_ref().map(|up| PlannedDirection {
        name: format!("{}-up", link.name),
        capacity: &up.capacity,
        buffer: up.buffer,
        choice: up.discipline.as_ref().unwrap_or(discipline),
        home: Home::Senders,
    }));
    directions
}

fn shape(
    scenario: &Scenario,
    link: &Link,
    direction: &PlannedDirection<'_>,
) -> Result<(Shaped, BuiltLink), Unsupported> {
    let limit = direction
        .buffer
        .map(|buffer| buffer.limit(direction.capacity.nominal(), scenario.rtt));
    let told = disciplines::told(direction.choice, limit, direction.home);
    let discipline = told.map_err(|refusal| Unsupported {
        entry: format!("link.{}.discipline", direction.name),
        refusal,
    })?;
    let capacity = direction.capacity;
    let rate = capacity.nominal();
    let built = BuiltLink {
        name: direction.name.clone(),
        discipline: direction.choice.to_string(),
        classes: Vec::new(),
        buffer: limit,
        capacity_bytes: capacity.bytes_between(scenario.warmup, scenario.duration),
        children: Vec::new(),
        remarks: remarks(direction.choice),
        doubt: None,
    };
    let shaped = Shaped {
        rate,
        overhead: link.wire.overhead(),
        discipline,
    };
    Ok((shaped, built))
}

/// Remarks on data missing from the kernel's records.
fn remarks(choice: &Choice) -> Vec<(&'static str, String)> {
    let ours = Registry::<u32>::builtin();
    let built = ours.build(choice, &Env::default());
    if built.ok().is_none_or(|queue| queue.classes().is_empty()) {
        return Vec::new();
    }
    let text = "the kernel's records of packets do not tell the discipline's classes";
    ["moves", "residence"]
        .map(|field| (field, text.to_owned()))
        .to_vec()
}

/// Loads modules that are not part of every kernel, before there is any traffic that would wait for
/// them.
fn modules(scenario: &Scenario, shaped: &[Shaped]) -> Vec<Step> {
    let mut names = vec!["veth", "sch_htb", "sch_netem"];
    if scenario
        .links
        .iter()
        .any(|link| chance::wire(link).is_some())
    {
        names.extend(["ifb", "sch_ingress", "cls_matchall", "act_mirred"]);
    }
    names.extend(
        shaped
            .iter()
            .filter_map(|one| one.discipline.module.as_deref()),
    );
    if shaped.iter().any(|one| one.discipline.threshold.is_some()) {
        names.extend(["sch_prio", "nft_ct"]);
    }
    for traffic in &scenario.traffic {
        names.extend(guest::controls::module(traffic));
    }
    names.sort_unstable();
    names.dedup();
    let run = |words: &[&str]| Step::Run(words.iter().map(|&word| word.to_owned()).collect());
    let mut steps: Vec<Step> = names.iter().map(|name| run(&["modprobe", name])).collect();
    for name in ours(shaped) {
        steps.push(run(&["insmod", &format!("sch_{name}.ko")]));
    }
    steps
}

fn ours(shaped: &[Shaped]) -> Vec<&'static str> {
    let is_used = |name: &&str| shaped.iter().any(|one| one.discipline.words[0] == *name);
    OURS.into_iter().filter(is_used).collect()
}

/// The records to keep; refused if they would be more than the host can hold.
fn tap(scenario: &Scenario, link: &Link, queues: &[RecordedQueue]) -> Result<TapPlan, Unsupported> {
    let up = link.up.as_ref().map(|up| &up.capacity);
    let bytes: f64 = [&link.capacity]
        .into_iter()
        .chain(up)
        .map(|capacity| capacity.bytes_between(Duration::ZERO, scenario.duration))
        .sum();
    let buffer_kib = 4096 + (bytes / BYTES_A_PACKET * RECORD_BYTES / 1024.0) as u64;
    let records = buffer_kib / 1024;
    if records > MOST_RECORDS_MIB {
        let message = format!("its packets would take {records} MiB of records");
        let refusal = Refusal::new(message).with_help("shorten the run, or take a slower link");
        let entry = "duration".to_owned();
        return Err(Unsupported { entry, refusal });
    }
    Ok(TapPlan {
        devices: queues.iter().map(|queue| queue.device.clone()).collect(),
        handles: queues.iter().map(|queue| queue.handle).collect(),
        buffer_kib,
        owner: None,
    })
}

/// Prints the counters of the qdiscs.
fn statistics(places: &Places) -> Vec<String> {
    let router = &places.router;
    let line = format!("tc -n {router} -s -j qdisc show");
    line.split(' ').map(str::to_owned).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::samples;

    /// A run of `scenario`, ready for the guest.
    pub fn prepared(scenario: &Scenario, discipline: &str) -> Prepared {
        prepare(
            scenario,
            &discipline.parse().unwrap(),
            1,
            &RunPlace::new(true),
        )
        .unwrap()
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
        let scenario = samples::read(
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
        assert_eq!(
            (prepared.links.len(), prepared.ours),
            (2, vec!["confucius"])
        );
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
    fn two_levels_are_what_netcfg_plans() {
        let scenario = samples::bulk("control = \"cubic\"");
        let prepared = prepared(&scenario, "2lps(mencius,min_wait=5ms),threshold=1MB");
        let lines = lines(&prepared);
        let (_, below) = lines
            .split_once("burst 1514 cburst 1514 quantum 1514\n")
            .unwrap();
        let (levels, _) = below.split_once("tc -n net ").unwrap();
        assert_eq!(levels, include_str!("levels.snapshot"));
        for module in [
            "modprobe nft_ct\n",
            "modprobe sch_prio\n",
            "insmod sch_mencius.ko\n",
        ] {
            assert!(lines.contains(module), "{module}");
        }
        assert_eq!(prepared.ours, ["mencius"]);
        let prepared = tests::prepared(&scenario, "2lps(cake)");
        let lines = self::lines(&prepared);
        let cake = "parent 1:1 handle a1: cake diffserv3 dual-dsthost rtt 100ms egress overhead 0 mpu 0 noatm memlimit 230400\n";
        assert!(lines.contains(cake), "{lines}");
        assert!(lines.contains("0-6331208 : a1:2, 6331209-18446744073709551615 : a1:1 }"));
        assert!(!lines.contains(" prio bands"));
    }

    #[test]
    fn what_cannot_be_run_is_not_prepared() {
        let prepare = |more: &str, discipline: &str| {
            let choice = Choice::plain(discipline);
            prepare(&samples::bulk(more), &choice, 1, &RunPlace::new(true))
        };
        assert!(prepare("control = \"cubic\"", "pfifo").is_ok());
        let error = prepare("control = \"prague\"", "pfifo").unwrap_err();
        assert_eq!(error.entry, "traffic.bulk.control");
        let error = prepare("control = \"cubic\"", "pias").unwrap_err();
        assert_eq!(error.entry, "link.link.discipline");
    }
}
