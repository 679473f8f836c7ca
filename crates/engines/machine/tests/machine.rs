//! The machine on a real kernel; `make test-kernel` runs these.

use std::time::Duration;

use machine::{Cache, DEFAULT_KERNEL, Machine, MachineError};

fn machine<'a>() -> Machine<'a> {
    let kernel = Cache::find().unwrap().kernel(DEFAULT_KERNEL).unwrap();
    Machine::new(kernel).time_limit(Duration::from_secs(600))
}

#[test]
#[ignore = "needs `make kernel-engine`"]
fn files_go_in_and_come_out_and_the_exit_code_is_the_commands() {
    let bytes: Vec<u8> = (0..=255).cycle().take(100_001).collect();
    let mut lines = Vec::new();
    let outcome = machine()
        .bytes("/job/data", bytes.clone())
        .on_line(|line| lines.push(line.to_owned()))
        .run("echo one; echo two >&2; mkdir /out/a; cp data /out/a/b; touch /out/empty; exit 7")
        .unwrap();
    assert_eq!((outcome.exit, outcome.console.as_str()), (7, "one\ntwo\n"));
    assert_eq!(outcome.file("a/b"), Some(&bytes[..]));
    assert_eq!(outcome.file("empty"), Some(&[][..]));
    assert_eq!(outcome.files.len(), 2);
    assert!(outcome.busy <= outcome.uptime);
    assert_eq!(lines, ["one", "two"]);
}

#[test]
#[ignore = "needs `make kernel-engine`"]
fn virtual_time_is_the_guests_and_the_same_seed_gives_the_same_random_numbers() {
    let run = |seed| {
        let command = "sleep 3600; cat /proc/sys/kernel/random/uuid; cat /proc/uptime; ip -V";
        let outcome = machine().seed(seed).run(command).unwrap();
        // The end of the kernel's log comes after the disk, whose pace is the host's.
        (outcome.console, outcome.uptime, outcome.busy, outcome.files)
    };
    let (one, again, other) = (run(1), run(1), run(2));
    assert_eq!(one, again);
    assert_ne!(one.0, other.0);
    assert!(
        one.1.as_millis() > 3_600_000,
        "an hour of sleep takes no hour"
    );
}

#[test]
#[ignore = "needs `make kernel-engine`"]
fn a_panic_is_an_error_with_what_the_kernel_said() {
    let error = machine().run("echo c > /proc/sysrq-trigger").unwrap_err();
    let MachineError::Kernel(said) = &error else {
        panic!("{error}")
    };
    assert!(said.contains("sysrq"), "{said}");
}

#[test]
#[ignore = "needs `make kernel-engine`"]
fn a_machine_that_never_ends_is_stopped_at_the_limit() {
    let endless = machine()
        .time_limit(Duration::from_secs(1))
        .run("while :; do :; done");
    assert!(
        matches!(endless, Err(MachineError::Limit { seconds: 1, .. })),
        "{endless:?}"
    );
}

#[test]
#[ignore = "needs `make kernel-engine`"]
fn a_guest_that_reboots_by_itself_has_no_results() {
    let error = machine().run("reboot -f").unwrap_err();
    assert!(matches!(error, MachineError::NoResults { .. }), "{error}");
}
