//! The kernel is told every parameter that the simulator has: its own defaults go by the device, as those of
//! `pfifo`, and by its version.

use crate::model::folder::Folder;
use crate::model::{Link, Model};
use netcfg::tc::{Setting, Spelling};
use netcfg::{Discipline, Settings, prepare};
use qdisc::Registry;

/// What is set up on Ethernet, by `tc`'s words, for what a device sends and what it receives.
fn commands(up: &str, down: &str) -> [String; 2] {
    let folder = Folder::new(&format!("stated-{up}-{down}"));
    let discipline = |text: &str| Discipline::new(&text.parse().unwrap()).unwrap();
    let settings = Settings {
        rate: Some(9_000_000.try_into().unwrap()),
        ingress: Some(45_000_000.try_into().unwrap()),
        overhead: None,
        discipline: discipline(up),
        received: Some(discipline(down)),
        threshold: None,
        follow: None,
    };
    let mut model = Model::with("eth0", Link::default());
    let device = "eth0".parse().unwrap();
    let prepared = prepare(&mut model, &folder.open(), &device, &settings, false, false);
    let all: Vec<String> = prepared
        .unwrap()
        .commands()
        .iter()
        .map(ToString::to_string)
        .collect();
    [("eth0", up), ("ifb-eth0", down)].map(|(device, text)| {
        let name = text.split(',').next().unwrap();
        let of = |line: &&String| {
            line.starts_with(&format!("tc qdisc replace dev {device} "))
                && line.split(' ').any(|word| word == name)
        };
        all.iter().find(of).unwrap().clone() + " "
    })
}

#[test]
fn every_parameter_of_every_discipline_is_stated_on_both_sides() {
    let registry = Registry::<()>::builtin();
    let mut stated = 0;
    for name in [
        "mencius",
        "confucius",
        "floq",
        "cake",
        "fq_codel",
        "codel",
        "fq",
        "pie",
        "fq_pie",
        "pfifo",
        "bfifo",
    ] {
        let declared = registry.get(name).unwrap().params;
        let settings: Vec<Setting> = Spelling::of(name).unwrap().declared().collect();
        for command in commands(name, name) {
            for spec in declared {
                let of = settings.iter().find(|it| it.key() == spec.name);
                let setting = of.unwrap_or_else(|| panic!("{name}: tc has no {}", spec.name));
                if setting.is_unsaid(spec.default) {
                    continue;
                }
                stated += 1;
                let words = setting.words(spec.default).unwrap();
                // What the place decides has another value, in the same words.
                let said = match (name, spec.name) {
                    ("cake", "flowmode") => command.contains(" dual-"),
                    ("cake" | "mencius", "ingress") => command.contains("gress "),
                    ("cake", "overhead" | "mpu" | "atm") => command.contains(" raw "),
                    ("mencius", "hosts" | "memory_limit" | "target" | "hold") => {
                        command.contains(&format!(" {} ", spec.name))
                    }
                    _ => command.contains(&format!(" {words} ")),
                };
                assert!(said, "{name} {}: {command}", spec.name);
            }
        }
    }
    assert!(stated > 150, "{stated}");
}

#[test]
fn cake_is_as_its_users_have_it_in_each_direction() {
    assert_eq!(
        commands("cake", "cake,ack-filter=aggressive,memlimit=8MB,nat=no"),
        [
            "tc qdisc replace dev eth0 root handle a1: cake bandwidth 9mbit diffserv3 dual-srchost \
             rtt 100ms nat egress raw ",
            "tc qdisc replace dev ifb-eth0 root handle a1: cake bandwidth 45mbit diffserv3 dual-dsthost \
             rtt 100ms memlimit 8000000 ack-filter-aggressive nonat ingress raw ",
        ]
    );
}

#[test]
fn each_direction_may_have_a_discipline_of_its_own() {
    let [up, down] = commands("pfifo", "fq_codel,limit=50");
    assert_eq!(
        up,
        "tc qdisc replace dev eth0 parent a1:1 handle b1: pfifo limit 1000 "
    );
    let begins = "tc qdisc replace dev ifb-eth0 parent a1:1 handle b1: fq_codel limit 50 ";
    assert!(down.starts_with(begins), "{down}");
}
