//! Scenarios: every key, every default, every path of `--set`, and the effects of damage.

use link::Capacity;
use proptest::prelude::*;
use qdisc::Limit;
use scenario::{Buffer, Choice, Document, Names, Scenario, ScenarioError, Stack, Traffic};
use units::{Duration, Rate, Refusal};
use workload::Registry;

/// Every key that there is outside of parameters, and some parameters.
const FULL: &str = r#"
name = "full"
summary = """every
  key"""
duration = "2min"
warmup = "500ms"
stall_threshold = "100ms"
stack = "ns3"
ecn = true
pacing = "yes"
ack_every = 4
disciplines = ["pfifo,limit=100", "confucius"]

[[link]]
name = "core"
rate = "1gbit"
rtt = "10ms"

[[link]]
rate = "20mbit"
rtt = "30ms"
buffer = "1.5bdp"
overhead = "38B"
device = 3
discipline = "fq_codel,target=4ms"

[link.up]
rate = "2mbit"
buffer = "250p"
discipline = "pfifo"

[[traffic]]
name = "call"
kind = "call"
control = "copa"
host = "laptop"
dscp = "AF41"
start = "1s"
count = 2
stagger = "3s"
fps = 0x1e
max_rate = "5mbit"

[traffic.session]
nack = false
ack_every = 2

[[traffic]]
name = "page"
kind = "page"
source = "generated:2"
interval = "5s"
shuffle = "no"

[[traffic]]
name = "bulk"
kind = "bulk"
count = 3
size = "1.5MB"
rtt = "20ms"
access = "50mbit"
direction = "up"
control = "cubic"
"#;

/// The smallest valid scenario.
const LEAST: &str = r#"
disciplines = "pfifo"
[link]
rate = "8mbit"
[[traffic]]
name = "call"
kind = "call"
[[traffic]]
name = "bulk"
kind = "bulk"
"#;

fn judge_discipline(choice: &Choice) -> Result<(), Refusal> {
    let registry = qdisc::Registry::<u32>::builtin();
    registry.build(choice, &qdisc::Env::default()).map(drop)
}

fn judge_control(choice: &Choice) -> Result<(), Refusal> {
    let registry = cca::Registry::builtin();
    registry.build(choice, &cca::Setup::default()).map(drop)
}

/// The names that are judged here, and the built-in workloads.
struct Known(Registry);

impl Names for Known {
    fn discipline(&self, choice: &Choice) -> Result<(), Refusal> {
        judge_discipline(choice)
    }

    fn control(&self, choice: &Choice) -> Result<(), Refusal> {
        judge_control(choice)
    }

    fn metric(&self, _: &str) -> Result<(), Refusal> {
        Ok(())
    }

    fn workloads(&self) -> &Registry {
        &self.0
    }
}

fn resolve(document: &Document) -> Result<Scenario, ScenarioError> {
    document.resolve(&Known(Registry::builtin()))
}

/// The value that an entry's workload has for `key`.
fn setting(traffic: &Traffic, key: &str) -> String {
    let values = traffic.kind.workload.values();
    let found = values.into_iter().find(|(name, _)| *name == key);
    found.unwrap_or_else(|| panic!("no {key}")).1
}

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    resolve(&Document::parse("s.toml", text)?)
}

/// `text` with `path` set to `value`.
fn with(text: &str, path: &str, value: &str) -> Result<Scenario, ScenarioError> {
    let mut document = Document::parse("s.toml", text)?;
    document.set(path, value)?;
    resolve(&document)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn mbit(mbit: u64) -> Rate {
    Rate::from_bits(mbit * 1_000_000)
}

#[test]
fn what_stands_outside_of_tables() {
    let full = parse(FULL).unwrap();
    assert_eq!(
        (full.name.as_str(), full.summary.as_str()),
        ("full", "every key")
    );
    assert_eq!((full.duration, full.warmup), (ms(120_000), ms(500)));
    assert_eq!((full.stall_threshold, full.stack), (ms(100), Stack::Ns3));
    assert!(full.transport().ecn && full.transport().pacing);
    assert_eq!(full.transport().ack_every, 4);
    let names: Vec<String> = full.disciplines.iter().map(Choice::to_string).collect();
    assert_eq!(names, ["pfifo,limit=100", "confucius"]);
    let least = parse(LEAST).unwrap();
    assert_eq!(
        (least.name.as_str(), least.summary.as_str()),
        ("unnamed", "")
    );
    assert_eq!((least.duration, least.warmup), (ms(60_000), ms(0)));
    assert_eq!(
        (least.stall_threshold, least.stack),
        (ms(190), Stack::Linux)
    );
    assert_eq!(least.transport(), transport::Config::linux());
    for wrong in ["0", "65", "-1", "many"] {
        let refused = with(LEAST, "ack_every", wrong).unwrap_err();
        assert!(refused.message.contains("ack_every"), "{wrong}: {refused}");
    }
}

#[test]
fn links() {
    let full = parse(FULL).unwrap();
    assert_eq!(full.rtt, ms(40), "10 ms and 30 ms");
    let [core, home] = &full.links[..] else {
        panic!("two links: {:?}", full.links);
    };
    assert_eq!((core.name.as_str(), home.name.as_str()), ("core", "link-2"));
    assert_eq!(core.capacity, Capacity::Constant(mbit(1000)));
    assert_eq!(
        (
            core.buffer,
            core.wire.overhead(),
            core.wire.device,
            &core.discipline
        ),
        (None, 0, 0, &None)
    );
    assert!(core.up.is_none());
    assert_eq!(
        (home.buffer, home.wire.overhead(), home.wire.device),
        (Some(Buffer::MilliBdp(1500)), 38, 3)
    );
    assert_eq!(
        home.discipline,
        Some("fq_codel,target=4ms".parse().unwrap())
    );
    let up = home.up.as_ref().unwrap();
    assert_eq!(up.capacity, Capacity::Constant(mbit(2)));
    assert_eq!(up.buffer, Some(Buffer::Packets(250)));
    assert_eq!(up.discipline, Some(Choice::plain("pfifo")));
    let least = parse(LEAST).unwrap();
    assert_eq!((least.links[0].name.as_str(), least.rtt), ("link", ms(0)));
}

#[test]
fn traffic() {
    let full = parse(FULL).unwrap();
    let names: Vec<&str> = full
        .traffic
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["call-1", "call-2", "page", "bulk"],
        "frames are told apart by entry"
    );
    let starts: Vec<Duration> = full.traffic.iter().map(|entry| entry.start).collect();
    assert_eq!(starts, [ms(1000), ms(4000), ms(0), ms(0)]);
    let set = |entry: usize, key: &str| setting(&full.traffic[entry], key);
    assert_eq!(
        (set(0, "fps"), set(0, "max_rate")),
        ("30".into(), "5mbit".into())
    );
    let session = &full.traffic[0].session;
    assert_eq!((session.nack, session.ack_every), (false, 2));
    assert_eq!(
        (set(2, "interval"), set(2, "shuffle")),
        ("5s".into(), "no".into())
    );
    assert_eq!(full.traffic[2].kind.workload.pages().len(), 2);
    let hosts: Vec<&str> = full.traffic.iter().map(|e| e.host.as_str()).collect();
    assert_eq!(hosts, ["laptop", "laptop", "page", "bulk"], "its own name");
    let dscp: Vec<u8> = full.traffic.iter().map(|e| e.dscp.bits()).collect();
    assert_eq!(dscp, [34, 34, 0, 0]);
    let bulk = &full.traffic[3];
    assert_eq!((bulk.count, set(3, "size")), (3, "1.5MB".into()));
    assert_eq!(
        (bulk.rtt, bulk.access, bulk.up),
        (Some(ms(20)), Some(mbit(50)), true)
    );
    let least = parse(LEAST).unwrap();
    let controls: Vec<String> = least
        .traffic
        .iter()
        .filter_map(|e| e.control.as_ref().map(ToString::to_string))
        .collect();
    assert_eq!(controls, ["gcc", "cubic"]);
    let call = &least.traffic[0];
    assert_eq!((call.count, call.start, call.up), (1, ms(0), false));
    assert_eq!((call.rtt, call.access), (None, None));
}

#[test]
fn names_in_results_are_told_apart() {
    let entry = |name: &str, count| {
        format!("[[traffic]]\nname = \"{name}\"\nkind = \"bulk\"\ncount = {count}\n")
    };
    let two = |a: &str, b: &str| parse(&format!("{LEAST}{a}{b}")).map(|s| s.traffic.len());
    assert_eq!(two(&entry("a", 3), &entry("a-4", 1)), Ok(4));
    for (a, b) in [
        (entry("a", 3), entry("a-3", 1)),
        (entry("a-3", 1), entry("a", 3)),
    ] {
        let message = two(&a, &b).unwrap_err().message;
        assert_eq!(message, "two entries are called \"a-3\"");
    }
}

#[test]
fn instances_may_have_computers_of_their_own() {
    let hosts = |text: &str| {
        let document = Document::parse("s.toml", &format!("{LEAST}count = 2\n{text}")).unwrap();
        let scenario = resolve(&document).unwrap();
        let completed = document.completed(&scenario).to_toml();
        assert_eq!(parse(&completed).unwrap(), scenario, "{completed}");
        let entries = scenario.traffic.into_iter().skip(1);
        let hosts = entries.map(|entry| (entry.name, entry.host, entry.count));
        hosts.collect::<Vec<_>>()
    };
    let named = |entries: &[(&str, &str, u32)]| -> Vec<_> {
        let entries = entries.iter();
        let owned =
            entries.map(|(name, host, count)| ((*name).to_owned(), (*host).to_owned(), *count));
        owned.collect()
    };
    assert_eq!(hosts(""), named(&[("bulk", "bulk", 2)]));
    assert_eq!(
        hosts("own_hosts = true"),
        named(&[("bulk-1", "bulk-1", 1), ("bulk-2", "bulk-2", 1)])
    );
    assert_eq!(
        hosts("own_hosts = true\nhost = \"desk\""),
        named(&[("bulk-1", "desk-1", 1), ("bulk-2", "desk-2", 1)])
    );
}

/// Of several links each has a path of its own; so have the traces that they follow.
#[test]
fn a_links_path_means_no_other_link() {
    let mut document = Document::parse("s.toml", FULL).unwrap();
    assert_eq!(document.links(), ["link.core", "link.link-2"]);
    document.set("link.link-2.trace", "a.txt").unwrap();
    document.set("link.core.up.trace", "b.txt").unwrap();
    let traces = [
        ("link.core.up.trace".to_owned(), "b.txt"),
        ("link.link-2.trace".to_owned(), "a.txt"),
    ];
    assert_eq!(document.traces(), traces);
    assert_eq!(document.get("link.core.trace"), None);
    assert_eq!(document.get("link.link-2.up.trace"), None);
    let refused = document.set("link.link-3.rate", "1mbit").unwrap_err();
    assert!(refused.to_string().contains("link-3"), "{refused}");
    assert_eq!(Document::parse("s.toml", LEAST).unwrap().links(), ["link"]);
    let one = Document::parse("s.toml", &LEAST.replace("[link]", "[[link]]")).unwrap();
    assert_eq!(one.links(), ["link"]);
}

/// An entry that is called as another's first instance would be.
#[test]
fn defaults_are_those_of_the_entry_itself() {
    let text = LEAST.replace("\"bulk\"\nkind", "\"call-1\"\nstart = \"3s\"\nkind");
    let (head, tables) = text.split_once("[[traffic]]").unwrap();
    let (call, other) = tables.split_once("[[traffic]]").unwrap();
    let text = format!("{head}[[traffic]]{other}[[traffic]]{call}");
    let document = Document::parse("s.toml", &text).unwrap();
    let scenario = resolve(&document).unwrap();
    let completed = document.completed(&scenario);
    assert_eq!(completed.get("traffic.call.start"), Some("0ns"));
    assert_eq!(parse(&completed.to_toml()).unwrap(), scenario);
}

#[test]
fn buffers() {
    let buffer = |text: &str| with(LEAST, "link.buffer", text).map(|s| s.links[0].buffer);
    assert_eq!(buffer("250p").unwrap(), Some(Buffer::Packets(250)));
    assert_eq!(buffer("250 packets").unwrap(), Some(Buffer::Packets(250)));
    assert_eq!(buffer("375kB").unwrap(), Some(Buffer::Bytes(375_000)));
    assert_eq!(buffer("0.5 BDP").unwrap(), Some(Buffer::MilliBdp(500)));
    for wrong in [
        "", "p", "-1p", "1.5p", "0p", "9000000p", "nanbdp", "infbdp", "0bdp", "5B", "1e9B",
    ] {
        assert!(buffer(wrong).is_err(), "{wrong}");
    }
    // 8 Mbit/s are 1 MB/s; half of the bytes in 40 ms is 20 kB.
    let half = Buffer::MilliBdp(500).limit(mbit(8), ms(40));
    assert_eq!(half, Limit::Bytes(20_000));
}

/// New entries are added behind the existing ones, or to a new list; a value that is no list, or
/// too deep, is refused.
#[test]
fn entries_can_be_added() {
    let entry = |text: &str| text.parse::<toml::Table>().unwrap();
    let bulk = entry("name = \"more\"\nkind = \"bulk\"\ncount = 2\necn = true");
    let mut document = Document::parse("x.toml", FULL).unwrap();
    let before = document.names("traffic");
    document.add("traffic", &bulk, "here").unwrap();
    assert_eq!(document.names("traffic")[..before.len()], before[..]);
    assert_eq!(document.names("traffic").last().unwrap(), "more");
    assert_eq!(document.get("traffic.more.count"), Some("2"));
    let mut empty = Document::parse("x.toml", "").unwrap();
    empty.add("traffic", &bulk, "here").unwrap();
    assert_eq!(empty.names("traffic"), ["more"]);
    let refused = document.add("name", &bulk, "here").unwrap_err();
    assert!(refused.message.contains("name is no list"), "{refused}");
    let deep = entry("a.b.c.d.e.f.g.h.i.j = 1");
    let refused = document.add("traffic", &deep, "here").unwrap_err();
    assert!(refused.message.contains("too deeply"), "{refused}");
}

#[test]
fn every_kind_of_path_can_be_set() {
    let rate = |scenario: &Scenario, link: usize| scenario.links[link].capacity.nominal();
    assert_eq!(
        rate(&with(LEAST, "link.rate", "5mbit").unwrap(), 0),
        mbit(5)
    );
    // A list's path means all its entries; a name, one of them.
    let all = with(FULL, "link.rate", "5mbit").unwrap();
    assert_eq!((rate(&all, 0), rate(&all, 1)), (mbit(5), mbit(5)));
    let one = with(FULL, "link.core.rate", "5mbit").unwrap();
    assert_eq!((rate(&one, 0), rate(&one, 1)), (mbit(5), mbit(20)));
    let up = with(LEAST, "link.up.rate", "1mbit").unwrap();
    assert_eq!(
        up.links[0].up.as_ref().unwrap().capacity.nominal(),
        mbit(1),
        "the table is made"
    );
    let call = with(FULL, "traffic.call.fps", "25").unwrap();
    assert_eq!(setting(&call.traffic[1], "fps"), "25");
    let session = with(LEAST, "traffic.call.session.ecn", "yes").unwrap();
    assert!(session.traffic[0].session.ecn);
    let disciplines = with(LEAST, "disciplines", "fq_codel,target=1ms").unwrap();
    assert_eq!(
        disciplines.disciplines[0].to_string(),
        "fq_codel,target=1ms"
    );
    assert_eq!(with(LEAST, "duration", "7s").unwrap().duration, ms(7000));
    assert_eq!(
        with("", "link.rate", "1mbit").unwrap_err().message,
        "there is no discipline to run"
    );
}

#[test]
fn a_trace_takes_the_place_of_a_rate_and_back() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let trace = folder.join("set-trace.txt");
    std::fs::write(&trace, "\u{feff}0 4\r\n1 8\r\n").unwrap();
    let mut document = Document::parse("s.toml", LEAST).unwrap();
    document.set("link.trace", trace.to_str().unwrap()).unwrap();
    // 4 and 8 Mbit/s for a second each.
    assert_eq!(
        resolve(&document).unwrap().links[0].capacity.nominal(),
        mbit(6)
    );
    document.set("link.rate", "3mbit").unwrap();
    assert_eq!(
        resolve(&document).unwrap().links[0].capacity.nominal(),
        mbit(3)
    );
}

#[test]
fn steps_in_a_list_and_in_one_text() {
    let list = LEAST.replace(
        "rate = \"8mbit\"",
        "steps = [\"0s 20mbit\", \"20s  1250kbit\"]\nup.steps = \"0s 5mbit\"",
    );
    let scenario = parse(&list).unwrap();
    let Capacity::Trace(trace) = &scenario.links[0].capacity else {
        panic!("{:?}", scenario.links[0]);
    };
    let at = |ms: u64| trace.rate_at(units::Instant::ZERO + Duration::from_millis(ms));
    assert_eq!((at(0), at(19_999)), (mbit(20), mbit(20)));
    let slow = Rate::from_bits(1_250_000);
    assert_eq!((at(20_000), at(60_000_000)), (slow, slow));
    assert_eq!(scenario.links[0].capacity.nominal(), mbit(20), "the first");
    // On the command line, in place of the rate; and a rate in place of them.
    let mut document = Document::parse("s.toml", LEAST).unwrap();
    let text = "0s 20mbit; 20s 1250kbit";
    document.set("link.steps", text).unwrap();
    document.set("link.up.steps", "0s 5mbit").unwrap();
    assert_eq!(resolve(&document).unwrap(), scenario);
    for document in [&document, &Document::parse("s.toml", &list).unwrap()] {
        let completed = document.completed(&scenario).to_toml();
        assert!(completed.contains("1250kbit"), "{completed}");
        assert_eq!(parse(&completed).unwrap(), scenario);
    }
    document.set("link.rate", "3mbit").unwrap();
    document.set("link.up.trace", "none").unwrap();
    assert_eq!(document.get("link.steps"), None);
    assert_eq!(document.get("link.up.steps"), None);
}

#[test]
fn paths_that_lead_nowhere() {
    let error = |path: &str| with(FULL, path, "1").unwrap_err().to_string();
    for path in [
        "",
        ".",
        "link.",
        "a.b.c.d.e.f.g.h.i",
        "name.x",
        "disciplines.0",
    ] {
        let message = error(path);
        assert!(
            message.starts_with(&format!("--set {path}: the path leads nowhere")),
            "{message}"
        );
    }
    assert!(error("traffic.nobody.fps").contains("there are: call, page, bulk"));
    assert!(error("link.rats").contains("unknown key \"link.core.rats\""));
    assert!(
        error("nothing")
            .contains("unknown key \"nothing\"; there are: ack_every, disciplines, duration")
    );
    assert!(error("traffic.bulk.fps").contains("\"traffic.bulk.fps\""));
}

#[test]
fn written_and_read_again_it_is_the_same() {
    for text in [FULL, LEAST] {
        let mut document = Document::parse("s.toml", text).unwrap();
        document.set("link.up.rate", "3mbit").unwrap();
        document.set_disciplines(&["pfifo".to_owned(), "fq_codel,target=1ms".to_owned()]);
        let scenario = resolve(&document).unwrap();
        assert_eq!(parse(&document.to_toml()).unwrap(), scenario);
        let completed = document.completed(&scenario);
        assert_eq!(
            parse(&completed.to_toml()).unwrap(),
            scenario,
            "{}",
            completed.to_toml()
        );
        for path in [
            "stack",
            "link.overhead",
            "traffic.call.key_factor",
            "traffic.bulk.size",
        ] {
            assert!(completed.get(path).is_some(), "{path}");
        }
        assert_eq!(
            completed.get("traffic.call.session.nack_retries"),
            Some("10")
        );
    }
}

/// `FULL` with a page that takes no time to make.
fn quick() -> String {
    FULL.replace("generated:2", "generated:1")
}

fn short(result: Result<Scenario, ScenarioError>) -> Result<(), TestCaseError> {
    if let Err(error) = result {
        let message = error.to_string();
        prop_assert!(message.chars().count() < 1500, "{message}");
        prop_assert!(!message.contains(char::is_control), "{message:?}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_cut_scenario_is_read_or_refused(end in 0..FULL.len()) {
        short(parse(quick().get(..end).unwrap_or("")))?;
    }

    #[test]
    fn flipped_bytes_are_read_or_refused(flips in proptest::collection::vec((0..FULL.len(), 0u8..128), 1..8)) {
        let mut bytes = quick().into_bytes();
        for (place, byte) in flips {
            bytes[place] = byte;
        }
        short(parse(&String::from_utf8(bytes).unwrap()))?;
    }

    #[test]
    fn any_value_anywhere_is_read_or_refused(
        line in 0..FULL.lines().count(),
        value in prop_oneof![
            "\\PC{0,30}",
            "-?[0-9]{1,25}(\\.[0-9]{1,3})?(ms|s|B|kB|mbit|gbit|p|bdp)?",
            Just("\u{1b}[31m".to_owned()),
            Just("x".repeat(10_000)),
        ],
    ) {
        let text = quick();
        let Some((key, _)) = text.lines().nth(line).and_then(|line| line.split_once('=')) else {
            return Ok(());
        };
        // A thousand generated sites would be made for each.
        prop_assume!(!value.starts_with("generated"));
        let replace = |(number, old): (usize, &str)| if number == line {
format!("{key} = {value:?}\n")
} else {
format!("{old}\n")
};
        let text: String = text.lines().enumerate().map(replace).collect();
        short(parse(&text))?;
    }

    #[test]
    fn any_path_is_set_or_refused(path in "[a-z.]{0,12}|link(\\.[a-z]{1,4}){0,3}|traffic(\\.(call|bulk|session|fps)){0,3}", value in "\\PC{0,8}") {
        short(with(&quick(), &path, &value))?;
    }
}

#[test]
fn a_preset_says_what_is_not_said() {
    let call = |text: &str| {
        parse(&LEAST.replace("kind = \"call\"", text)).map(|mut read| read.traffic.remove(0))
    };
    let rates = |traffic: &Traffic| ["fps", "max_rate"].map(|key| setting(traffic, key));
    let plain = call("kind = \"call\"").unwrap();
    assert_eq!(
        (plain.preset, rates(&plain)),
        (Some("webrtc"), ["30", "4mbit"].map(str::to_owned))
    );
    let game = call("kind = \"call\"\npreset = \"game\"").unwrap();
    assert_eq!(rates(&game), ["60", "30mbit"]);
    let own = call("kind = \"call\"\npreset = \"game\"\nfps = 25\ncontrol = \"copa\"").unwrap();
    assert_eq!(rates(&own), ["25", "30mbit"]);
    assert_eq!(own.control, Some(Choice::plain("copa")));
    let error = call("kind = \"call\"\npreset = \"web-rtc\"").unwrap_err();
    assert!(error.help.contains("did you mean webrtc?"), "{error}");
    assert!(parse(&LEAST.replace("kind = \"bulk\"", "kind = \"bulk\"\npreset = \"x\"")).is_err());
}

#[test]
fn what_carries_the_papers_call_depends_on_its_control() {
    let call = |text: &str| {
        let text = format!("kind = \"call\"\npreset = \"paper\"\n{text}");
        parse(&LEAST.replace("kind = \"call\"", &text)).map(|mut read| read.traffic.remove(0))
    };
    let carried = |traffic: &Traffic| ["tcp", "share"].map(|key| setting(traffic, key));
    let plain = call("").unwrap();
    assert_eq!(plain.control, Some(Choice::plain("copa_library")));
    assert_eq!(carried(&plain), ["yes", "0.9765625"]);
    assert_eq!(
        carried(&call("control = \"bbr,version=1\"").unwrap())[0],
        "yes"
    );
    let gcc = call("control = \"gcc_library\"").unwrap();
    assert_eq!(carried(&gcc), ["no", "0.8785"]);
    assert_eq!(gcc.session.packet(), 1488);
    let own = call("control = \"gcc\"\nsession = { payload = 1200 }").unwrap();
    assert_eq!(own.session.packet(), 1282);
    let error = call("session = { payload = 1000 }").unwrap_err();
    assert!(error.message.contains("no session"), "{error}");
}

#[test]
fn noise_is_a_time_or_packets() {
    let noise = |text: &str| parse(&format!("noise = \"{text}\"{LEAST}")).map(|read| read.noise);
    // A packet of 1500 bytes takes 1.5 ms at 8 Mbit/s.
    assert_eq!(parse(LEAST).unwrap().noise, Duration::from_micros(1500));
    assert_eq!(noise("2p").unwrap(), ms(3));
    assert_eq!(noise("7ms").unwrap(), ms(7));
    assert_eq!(noise("0s").unwrap(), Duration::ZERO);
    for refused in ["2", "-1p", "p", "2s", "1001p", "much"] {
        assert!(noise(refused).is_err(), "{refused}");
    }
    for (key, value) in [
        ("loss_burst", "0.5"),
        ("loss_burst", "x"),
        ("jitter", "-1ms"),
    ] {
        assert!(
            with(LEAST, &format!("link.{key}"), value).is_err(),
            "{key} {value}"
        );
    }
}

#[test]
fn a_trace_is_played_by_time_or_by_line_and_scaled() {
    let traced = LEAST.replace("rate = \"8mbit\"", "trace = \"generated:c1:1\"");
    assert_ne!(traced, LEAST);
    let read = |key: &str, value: &str| with(&traced, key, value);
    let nominal = |scenario: Scenario| scenario.links[0].capacity.nominal().as_mbit_f64();
    let by_time = nominal(parse(&traced).unwrap());
    // Generated samples hold for 200 ms anyway.
    assert_eq!(nominal(read("link.trace_by", "line").unwrap()), by_time);
    let scaled = nominal(read("link.trace_scale", "2").unwrap());
    assert!((scaled / by_time - 2.0).abs() < 1e-6, "{scaled} {by_time}");
    for (key, value) in [
        ("link.trace_by", "lines"),
        ("link.trace_scale", "0"),
        ("link.trace_scale", "x"),
    ] {
        assert!(read(key, value).is_err(), "{key} {value}");
    }
    let error = with(LEAST, "link.trace_by", "line").unwrap_err();
    assert!(error.message.contains("the link has no trace"), "{error}");
}
