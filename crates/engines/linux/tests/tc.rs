//! The output of `netcfg` for tc, read by tc and by a real kernel; `make test-kernel` runs this.

use machine::{Cache, DEFAULT_KERNEL, Machine, OURS};
use netcfg::tc::{DISCIPLINES, Setting, Spelling};
use qdisc::Registry;

/// The words of all settings together: flags as `flag` says, others by their defaults, or by any
/// value of their kind if the default is omitted.
fn all(spelling: &Spelling, flag: &str) -> String {
    let registry = Registry::<u32>::builtin();
    let specs = registry.get(spelling.name).unwrap().params;
    let words = |setting: Setting| {
        let spec = specs.iter().find(|spec| spec.name == setting.key());
        // Settings that only the kernel has are flags.
        let value = match spec {
            Some(spec) if spec.kind != "yes or no" => spec.default,
            _ => flag,
        };
        let values = [value, "1ms", "1mbit", "1MiB", "1"];
        let mut found = values.iter().filter_map(|value| setting.words(value).ok());
        found.next().unwrap()
    };
    let words: Vec<String> = spelling.settings().map(words).collect();
    format!("{} {}", spelling.name, words.join(" "))
}

#[test]
#[ignore = "needs `make kernel-engine`"]
fn tc_and_the_kernel_take_every_setting() {
    let cache = Cache::find().unwrap();
    let kernel = cache.kernel(DEFAULT_KERNEL).unwrap();
    let mut machine = Machine::new(kernel.clone());
    let mut script = "export TC_LIB_DIR=/job; ".to_owned();
    for ours in OURS {
        script += &format!("insmod /job/sch_{ours}.ko; ");
        machine = machine
            .file(&format!("/job/sch_{ours}.ko"), kernel.module(ours).unwrap())
            .file(&format!("/job/q_{ours}.so"), cache.plugin(ours).unwrap());
    }
    for spelling in DISCIPLINES {
        for flag in ["yes", "no"] {
            let words = all(spelling, flag);
            script += &format!(
                "tc qdisc replace dev lo root {words} || echo 'refused: {words}'; \
                 tc qdisc show dev lo root | grep -q '^qdisc {} ' || echo 'not there: {words}'; \
                 tc qdisc del dev lo root; ",
                spelling.name
            );
        }
    }
    let outcome = machine.run(&format!("({script}) 2>&1")).unwrap();
    assert_eq!((outcome.exit, outcome.console.as_str()), (0, ""));
}
