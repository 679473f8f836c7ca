//! Wrong input is refused with status 2, and with a short message that names the file, the place,
//! and what to write instead. Nothing is printed to standard output, and nothing panics.

use crate::common::{Folder, text};
use std::process::Output;

/// A scenario that would run for a moment, except for the changes of each test.
const GOOD: &str = r#"duration = "1s"
disciplines = ["fq_codel"]

[link]
rate = "10mbit"
rtt = "40ms"

[[traffic]]
name = "call"
kind = "call"

[[traffic]]
name = "page"
kind = "page"
source = "generated:1"
start = "0s"

[[traffic]]
name = "bulk"
kind = "bulk"
size = "10kB"
"#;

/// Checks the form of a refusal; returns the message.
fn refusal(output: &Output) -> String {
    refusal_of(output, 2)
}

/// The same of a command with another status for it.
fn refusal_of(output: &Output, status: i32) -> String {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    assert_eq!(text(&output.stdout), "", "nothing on standard output");
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(stderr.lines().count() <= 25, "{stderr}");
    for line in stderr.lines() {
        assert!(line.chars().count() <= 200, "{line}");
    }
    let hidden = |c: char| c.is_control() && c != '\n';
    assert!(!stderr.contains(hidden), "{stderr:?}");
    stderr
}

/// Whether `message` contains `part`, independent of its line breaks.
fn says(message: &str, part: &str) -> bool {
    let words = |text: &str| {
        let words: Vec<&str> = text
            .split_whitespace()
            .filter(|word| !matches!(*word, "|" | "│"))
            .collect();
        words.concat()
    };
    words(message).contains(&words(part))
}

fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(says(message, part), "{part:?} is missing in:\n{message}");
    }
}

/// `GOOD` with `from` replaced, and the expected parts of the message.
struct Case {
    from: &'static str,
    to: &'static str,
    says: &'static [&'static str],
}

const fn case(from: &'static str, to: &'static str, says: &'static [&'static str]) -> Case {
    Case { from, to, says }
}

/// Each case's place is `s.toml:line:column`, counted in `GOOD`.
const CASES: &[Case] = &[
    case(
        "duration = \"1s\"",
        "durtaion = \"1s\"",
        &["s.toml:1:12", "unknown key \"durtaion\"", "duration"],
    ),
    case(
        "rtt = \"40ms\"",
        "rrt = \"40ms\"",
        &["s.toml:6:7", "unknown key \"link.rrt\"", "rtt"],
    ),
    case(
        "size = \"10kB\"",
        "siez = \"10kB\"",
        &["s.toml:21:8", "\"traffic.bulk.siez\"", "size"],
    ),
    case(
        "kind = \"call\"",
        "kind = \"call\"\nfsp = 30",
        &["s.toml:11:7", "\"traffic.call.fsp\"", "fps"],
    ),
    case(
        "kind = \"call\"",
        "kind = \"call\"\nfps = \"many\"",
        &["s.toml:11:7", "\"many\" is not a whole number", "1 to 240"],
    ),
    case(
        "kind = \"call\"",
        "kind = \"call\"\nfps = 241",
        &["s.toml:11:7", "241 is outside 1 to 240"],
    ),
    case(
        "kind = \"call\"",
        "kind = \"call\"\nsession = { nakc = true }",
        &["s.toml:11:20", "\"traffic.call.session.nakc\"", "nack"],
    ),
    case(
        "kind = \"call\"",
        "kind = \"call\"\nmin_rate = \"9mbit\"\nmax_rate = \"8mbit\"",
        &["s.toml:10:8", "min_rate 9mbit is above max_rate 8mbit"],
    ),
    case(
        "rate = \"10mbit\"",
        "rate = \"-10mbit\"",
        &[
            "s.toml:5:8",
            "link.rate: \"-10mbit\" is no rate",
            "write a rate in bits such as 20mbit",
        ],
    ),
    case(
        "rate = \"10mbit\"",
        "rate = -10",
        &["s.toml:5:8", "link.rate: \"-10\" is no rate", "20mbit"],
    ),
    case(
        "rate = \"10mbit\"",
        "rate = \"fast\"",
        &["s.toml:5:8", "link.rate: \"fast\" is no rate", "20mbit"],
    ),
    case(
        "rate = \"10mbit\"",
        "rate = \"0\"",
        &["s.toml:5:8", "link.rate", "write a rate"],
    ),
    case(
        "rate = \"10mbit\"",
        "rate = \"0mbit\"",
        &[
            "s.toml:5:8",
            "outside 1kbit to 1000gbit",
            "write a rate from 1kbit",
        ],
    ),
    case(
        "rate = \"10mbit\"",
        "rate = \"2000gbit\"",
        &["s.toml:5:8", "outside 1kbit to 1000gbit", "to 1000gbit"],
    ),
    case(
        "rate = \"10mbit\"",
        "",
        &[
            "s.toml:4:1",
            "link has no capacity",
            "rate = \"20mbit\", or trace = \"FILE\", or steps = \"0s 20mbit; 20s 5mbit\"",
        ],
    ),
    case(
        "rate = \"10mbit\"",
        "rate = \"1mbit\"\ntrace = \"s.toml\"",
        &["s.toml:6:9", "write one of them"],
    ),
    case(
        "rate = \"10mbit\"",
        "rate = \"1mbit\"\nsteps = \"0s 1mbit\"",
        &["s.toml:6:9", "link.steps", "a rate as well", "one of them"],
    ),
    case(
        "rate = \"10mbit\"",
        "trace = \"s.toml\"\nsteps = [\"0s 1mbit\"]",
        &[
            "s.toml:6:10",
            "link.steps",
            "a trace as well",
            "one of them",
        ],
    ),
    case(
        "rate = \"10mbit\"",
        "steps = []",
        &["s.toml:4:1", "link.steps is empty", "0s 20mbit; 20s 5mbit"],
    ),
    case(
        "rate = \"10mbit\"",
        "steps = [\"0s 1mbit\", \"5s fast\"]",
        &["s.toml:5:22", "\"5s fast\" is no step", "a time and a rate"],
    ),
    case(
        "rate = \"10mbit\"",
        "steps = \"0s 1mbit, 5s 2mbit\"",
        &["s.toml:5:9", "is no step", "0s 20mbit; 20s 5mbit"],
    ),
    case(
        "rate = \"10mbit\"",
        "steps = \"0s 1mbit;\"",
        &["s.toml:5:9", "\"\" is no step"],
    ),
    case(
        "rate = \"10mbit\"",
        "steps = \"1mbit\"",
        &["s.toml:5:9", "\"1mbit\" is no step"],
    ),
    case(
        "rate = \"10mbit\"",
        "steps = \"1s 1mbit; 2s 3mbit\"",
        &["s.toml:5:9", "\"1s 1mbit\" is the first step", "from 0s on"],
    ),
    case(
        "rate = \"10mbit\"",
        "steps = [\"0s 1mbit\", \"2s 3mbit\", \"2000ms 1mbit\"]",
        &[
            "s.toml:5:34",
            "\"2000ms 1mbit\" does not come after 2s",
            "each once",
        ],
    ),
    case(
        "rate = \"10mbit\"",
        "steps = \"0s 1mbit; 2s 2000gbit\"",
        &["s.toml:5:9", "too much", "to 1000gbit"],
    ),
    case(
        "rate = \"10mbit\"",
        "steps = \"0s 0mbit\"",
        &["s.toml:5:9", "carries nothing", "above 0mbit"],
    ),
    case(
        "rate = \"10mbit\"",
        "rate = [1, 2]",
        &["s.toml:5:8", "link.rate is not a value"],
    ),
    case(
        "size = \"10kB\"",
        "size = 100000000000000000000",
        &[
            "s.toml:21:8",
            "\"100000000000000000000\"",
            "a size such as 1514B",
        ],
    ),
    case(
        "size = \"10kB\"",
        "size = \"100000000000000000000B\"",
        &["s.toml:21:8", "a size such as 1514B"],
    ),
    case(
        "size = \"10kB\"",
        "direction = \"sideways\"",
        &[
            "s.toml:21:13",
            "\"sideways\" is no direction",
            "\"down\" or \"up\"",
        ],
    ),
    case(
        "size = \"10kB\"",
        "link = \"nowhere\"",
        &[
            "s.toml:21:8",
            "unknown key \"traffic.bulk.link\"",
            "direction",
        ],
    ),
    case(
        "size = \"10kB\"",
        "control = \"gcc\"",
        &[
            "s.toml:21:11",
            "traffic.bulk.control",
            "only a call can use it",
        ],
    ),
    case(
        "size = \"10kB\"",
        "control = \"cubik\"",
        &["s.toml:21:11", "no control \"cubik\"", "cubic"],
    ),
    case(
        "size = \"10kB\"",
        "count = 0",
        &["s.toml:21:9", "write a count from 1 to 10000"],
    ),
    case(
        "size = \"10kB\"",
        "count = 1000000000",
        &["s.toml:21:9", "write a count from 1 to 10000"],
    ),
    case(
        "size = \"10kB\"",
        "rtt = \"2min\"",
        &["s.toml:21:7", "traffic.bulk.rtt", "from 0s to 60s"],
    ),
    case(
        "size = \"10kB\"",
        "access = \"0bit\"",
        &["s.toml:21:10", "write a rate from 1kbit"],
    ),
    case(
        "size = \"10kB\"",
        "dscp = \"cs8\"",
        &["s.toml:21:8", "traffic.bulk.dscp", "write cs0 to cs7"],
    ),
    case(
        "kind = \"bulk\"",
        "kind = \"balk\"",
        &["s.toml:20:8", "\"balk\" is no kind", "\"bulk\""],
    ),
    case(
        "kind = \"bulk\"",
        "",
        &["s.toml:18:1", "traffic bulk has no kind", "write kind ="],
    ),
    case(
        "name = \"bulk\"",
        "",
        &["s.toml:18:1", "traffic without a name", "write name ="],
    ),
    case(
        "name = \"bulk\"",
        "name = \"call\"",
        &["s.toml:19:8", "two entries are called \"call\""],
    ),
    case(
        "name = \"bulk\"",
        "name = \"\\u001b[31m\"",
        &[
            "s.toml:19:8",
            "cannot be a name",
            "\\u{1b}[31m",
            "letters, digits",
        ],
    ),
    case(
        "[\"fq_codel\"]",
        "[\"fq_codle\"]",
        &["s.toml:2:16", "no discipline \"fq_codle\"", "fq_codel"],
    ),
    case(
        "[\"fq_codel\"]",
        "[\"fq_codel,tarket=5ms\"]",
        &["s.toml:2:16", "no parameter \"tarket\"", "target"],
    ),
    case(
        "[\"fq_codel\"]",
        "[\"fq_codel,target=soon\"]",
        &[
            "s.toml:2:16",
            "target",
            "\"soon\"",
            "a span of time such as 40ms",
        ],
    ),
    case(
        "[\"fq_codel\"]",
        "[\"fq_codel,target\"]",
        &["s.toml:2:16", "\"target\" is no setting", "NAME,key=value"],
    ),
    case(
        "[\"fq_codel\"]",
        "[\"2lps(codel,tarket=5ms)\"]",
        &[
            "s.toml:2:16",
            "2lps: codel: there is no parameter \"tarket\"",
            "did you mean target?",
        ],
    ),
    case(
        "[\"fq_codel\"]",
        "[\"2lps(codel;pie)\"]",
        &["s.toml:2:16", "2lps contains 1, not 2", "write 2lps(BASE)"],
    ),
    case(
        "[\"fq_codel\"]",
        "[\"2lps(codel,target=5ms\"]",
        &[
            "s.toml:2:16",
            "a parenthesis is not closed (character 5)",
            "write ) after the last child",
        ],
    ),
    case(
        "size = \"10kB\"",
        "control = \"cubic(reno)\"",
        &["s.toml:21:11", "cubic contains no other", "write cubic"],
    ),
    case(
        "[\"fq_codel\"]",
        "[\"pfifo\", \"pfifo\"]",
        &["s.toml:2:25", "pfifo stands here twice"],
    ),
    case(
        "[\"fq_codel\"]",
        "[]",
        &["s.toml", "no discipline to run", "write disciplines = "],
    ),
    case(
        "rtt = \"40ms\"",
        "discipline = \"nothing\"",
        &[
            "s.toml:6:14",
            "link.discipline",
            "no discipline \"nothing\"",
            "fq_codel",
        ],
    ),
    case(
        "rtt = \"40ms\"",
        "buffer = \"huge\"",
        &[
            "s.toml:6:10",
            "link.buffer",
            "\"huge\"",
            "\"250p\"",
            "\"1.5bdp\"",
        ],
    ),
    case(
        "rtt = \"40ms\"",
        "buffer = \"0p\"",
        &["s.toml:6:10", "link.buffer", "1p to 1000000p"],
    ),
    case(
        "rtt = \"40ms\"",
        "overhead = \"2kB\"",
        &["s.toml:6:12", "link.overhead", "0B to 1000B"],
    ),
    case(
        "rtt = \"40ms\"",
        "device = 10001",
        &["s.toml:6:10", "link.device", "0 to 10000"],
    ),
    case(
        "rtt = \"40ms\"",
        "[link.up]\nrate = \"slow\"",
        &["s.toml:7:8", "link.up.rate", "\"slow\" is no rate"],
    ),
    case(
        "rtt = \"40ms\"",
        "up = 3",
        &["s.toml:6:6", "link.up is not a table", "write [link.up]"],
    ),
    case(
        "duration = \"1s\"",
        "duration = \"1s\"\nwarmup = \"1s\"",
        &[
            "s.toml:2:10",
            "nothing is measured",
            "warmup",
            "above the warmup",
        ],
    ),
    case(
        "duration = \"1s\"",
        "duration = \"0\"",
        &["s.toml:1:12", "nothing is measured"],
    ),
    case(
        "duration = \"1s\"",
        "duration = \"31556952000000s\"",
        &["s.toml:1:12", "a span of time"],
    ),
    case(
        "duration = \"1s\"",
        "duration = \"15000000000s\"",
        &[
            "s.toml:1:12",
            "outside 0s to 168h",
            "write a duration from 0s to 168h",
        ],
    ),
    case(
        "duration = \"1s\"",
        "duration = 1979-05-27",
        &["s.toml:1:12", "\"1979-05-27\" is no duration"],
    ),
    case(
        "duration = \"1s\"",
        "stack = \"windows\"",
        &["s.toml:1:9", "no stack", "\"linux\", \"ns3\" or \"webrtc\""],
    ),
    case(
        "source = \"generated:1\"",
        "source = \"generated:0\"",
        &["s.toml:15:10", "names no sites", "generated:N"],
    ),
    case(
        "source = \"generated:1\"",
        "source = \"none.har\"",
        &[
            "s.toml:15:10",
            "\"none.har\"",
            "name a HAR file or a folder",
        ],
    ),
    // TOML's own rules.
    case(
        "[link]",
        "[lnik]",
        &["s.toml:4:1", "unknown key \"lnik\"", "link"],
    ),
    case("[link]", "[link", &["s.toml:4:6"]),
    case("rate = \"10mbit\"", "rate = \"10mbit", &["s.toml:5"]),
    case("rate = \"10mbit\"", "rate = 10mbit", &["s.toml:5"]),
    case(
        "rtt = \"40ms\"",
        "rate = \"40mbit\"",
        &["s.toml:6:1", "duplicate key"],
    ),
    case("rtt = \"40ms\"", "rtt = \"40ms\"\0", &["s.toml:6"]),
    case("rtt = \"40ms\"", "\u{1b}[2J\u{7}\u{202e}", &["s.toml:6"]),
];

#[test]
fn a_wrong_scenario() {
    let folder = Folder::new("wrong-scenario");
    for Case { from, to, says } in CASES {
        assert_eq!(GOOD.matches(from).count(), 1, "{from:?} names one place");
        folder.write("s.toml", GOOD.replace(from, to));
        let message = refusal(&folder.analects(&["run", "s.toml"]));
        assert_says(&message, says);
    }
}

#[test]
fn the_scenario_they_are_made_from_runs() {
    let folder = Folder::new("good-scenario");
    folder.write("s.toml", GOOD);
    let output = folder.analects(&["run", "s.toml"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stderr),
        "",
        "no progress bar without a terminal"
    );
}

#[test]
fn a_wrong_trace() {
    let folder = Folder::new("wrong-trace");
    folder.write(
        "s.toml",
        GOOD.replace("rate = \"10mbit\"", "trace = \"t.txt\""),
    );
    let cases: &[(&[u8], &[&str])] = &[
        (
            b"",
            &[
                "t.txt",
                "line 1",
                "no samples",
                "seconds megabits_per_second",
            ],
        ),
        (b"# only this\n", &["t.txt", "no samples"]),
        (
            b"0 5\n2 5\n1 5\n",
            &[
                "t.txt",
                "line 3",
                "\"1 5\"",
                "not before that of the line before",
            ],
        ),
        (
            b"5\n4\n",
            &["t.txt", "line 2", "\"4\"", "not below the line before"],
        ),
        (
            b"0 5\n1 -5\n",
            &["t.txt", "line 2", "\"-5\"", "megabits per second, from 0"],
        ),
        (
            b"0 5\n1 fast\n",
            &["t.txt", "line 2", "\"fast\"", "megabits per second"],
        ),
        (b"0 0\n1 0\n", &["t.txt", "carries nothing"]),
        (b"0 0.0000001\n", &["t.txt", "carries nothing"]),
        (b"0 100000000000000000000\n", &["t.txt", "line 1"]),
        (b"0 5\n\x00\x1b[31m 5\n", &["t.txt", "line 2", "seconds"]),
        (
            b"0 5\n1 \xff\xfe\n",
            &["t.txt", "line 2", "byte 7", "not UTF-8"],
        ),
    ];
    for (content, says) in cases {
        folder.write("t.txt", content);
        assert_says(&refusal(&folder.analects(&["run", "s.toml"])), says);
    }
    std::fs::remove_file(folder.0.join("t.txt")).unwrap();
    let message = refusal(&folder.analects(&["run", "s.toml"]));
    assert_says(
        &message,
        &["s.toml:5:9", "link.trace", "there is no \"t.txt\""],
    );
}

#[test]
fn folders_of_traces() {
    let folder = Folder::new("trace-folder");
    folder.write("s.toml", GOOD);
    std::fs::create_dir(folder.0.join("traces")).unwrap();
    let run = |set: &str| refusal(&folder.analects(&["run", "s.toml", "--set", set]));
    let message = run("link.trace=traces");
    assert_says(
        &message,
        &[
            "--set link.trace",
            "no file matches \"traces\"",
            "a folder of them",
        ],
    );
    let message = run("link.trace=traces/*.txt");
    assert_says(&message, &["--set link.trace", "no file matches"]);
    folder.write("traces/1.txt", "0 5\n");
    folder.write("traces/2.txt", "0 fast\n");
    let message = run("link.trace=traces/2.txt");
    assert_says(&message, &["traces/2.txt", "line 1", "\"fast\""]);
    std::fs::create_dir(folder.0.join("others")).unwrap();
    folder.write("others/1.txt", "0 5\n");
    folder.write("others/2.txt", "0 4\n");
    folder.write("traces/3.txt", "0 6\n");
    let both = [
        "--set",
        "link.trace=traces",
        "--set",
        "link.up.trace=others",
    ];
    let message = refusal(&folder.analects(&[&["run", "s.toml"], &both[..]].concat()));
    assert_says(
        &message,
        &[
            "link.up.trace",
            "it means 2 traces",
            "name one file in one of them",
        ],
    );
}

/// A size that is one, and out of its range, is told the range.
#[test]
fn buffers_name_their_bounds() {
    let folder = Folder::new("wrong-buffer");
    folder.write("s.toml", GOOD);
    for (buffer, says) in [
        ("1kB", "write 1500B, which is a packet, to 10GB"),
        ("0p", "write 1p to 1000000p"),
        ("5000bdp", "write 0.01bdp to 1000bdp"),
        ("much", "write packets such as"),
    ] {
        let set = format!("link.buffer={buffer}");
        let message = refusal(&folder.analects(&["run", "s.toml", "--set", &set]));
        assert_says(&message, &["link.buffer", says]);
        let output = folder.analects(&["link", "--buffer", buffer, "--", "true"]);
        assert_says(
            &refusal_of(&output, 125),
            &["--buffer", says.trim_start_matches("write ")],
        );
    }
}

const HAR: &str = r#"{"log": {"entries": [{"startedDateTime": "2024-01-01T00:00:00Z",
"time": 10, "request": {"url": "https://example.org/"}, "response": {"status": 200,
"bodySize": 5000}}]}}"#;

#[test]
fn a_wrong_har() {
    let folder = Folder::new("wrong-har");
    let scenario = GOOD.replace("generated:1", "pages");
    folder.write("s.toml", &scenario);
    std::fs::create_dir(folder.0.join("pages")).unwrap();
    let run = || refusal(&folder.analects(&["run", "s.toml"]));
    let says = [
        "s.toml:15:10",
        "traffic.page.source",
        "no file matches \"pages\"",
    ];
    assert_says(&run(), &says);
    folder.write("pages/a.har", HAR);
    let output = folder.analects(&["run", "s.toml"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let cases = [
        (HAR[..HAR.len() / 2].to_owned(), "line 2 column"),
        (
            HAR.replace("2024-01-01", "yesterday"),
            "found 1 entry, all left out: 1 has no startedDateTime",
        ),
        (
            HAR.replace("\"response\"", "\"answer\""),
            "(entries[0] https://example.org/ has no response)",
        ),
        (HAR.replace("https:", "data:"), "1 is a data: URL"),
        ("[".repeat(100_000), "line 1 column 100000"),
        (String::new(), "line 1 column 0"),
        ("{}".to_owned(), "log"),
    ];
    for (content, place) in cases {
        folder.write("pages/b.har", content);
        let only = ["run", "s.toml", "--set", "traffic.page.source=pages/b.har"];
        let said = refusal(&folder.analects(&only));
        assert_says(&said, &["pages/b.har", place, "developer tools"]);
    }
}

#[test]
fn files_that_are_no_scenarios() {
    let folder = Folder::new("no-scenario");
    let run = |name: &str| refusal(&folder.analects(&["run", name]));
    assert_says(
        &run("none.toml"),
        &["none.toml", "no such file", "name a scenario"],
    );
    assert_says(&run("."), &["it is a folder", "name a scenario"]);
    folder.write("binary", b"\x7fELF\x02\x01\x00\xff\xfe\n");
    assert_says(&run("binary"), &["binary", "line 1, byte 8", "not UTF-8"]);
    folder.write("nul", b"\0\0\0\0");
    assert_says(&run("nul"), &["nul:1:"]);
    folder.write("empty", b"");
    assert_says(
        &run("empty"),
        &["empty", "there is no link", "write [link]"],
    );
    folder.write("brackets", "[".repeat(100 << 20));
    assert_says(&run("brackets"), &["brackets", "more than 1048576 bytes"]);
    folder.write("deep", format!("a = {}", "[".repeat(500_000)));
    assert_says(&run("deep"), &["deep", "nested too deeply"]);
    folder.write("dots", format!("a{} = 1", ".a".repeat(500_000)));
    assert_says(&run("dots"), &["dots", "nested too deeply"]);
    folder.write("headers", format!("[a{}]", ".a".repeat(500_000)));
    assert_says(&run("headers"), &["headers", "nested too deeply"]);
    folder.write("nested", "[a.b.c.d.e.f.g.h.i]\nj = 1\n");
    assert_says(&run("nested"), &["nested:1:", "nested too deeply"]);
    folder.write(
        "long",
        format!("{} = \"{}\"", "k".repeat(1000), "v".repeat(100_000)),
    );
    assert_says(&run("long"), &["long:1:", "unknown key \"kkkk"]);
    folder.write("many", "a = 1\n".repeat(10_000));
    assert_says(&run("many"), &["many:2:1", "duplicate key"]);
    let traffic = "[[traffic]]\nname = \"NAME\"\nkind = \"bulk\"\ncount = 9999\n";
    let two = traffic.replace("NAME", "a") + &traffic.replace("NAME", "b");
    let head = "disciplines = [\"pfifo\"]\nlink.rate = \"1mbit\"\n";
    folder.write("crowd", format!("{head}{two}"));
    assert_says(
        &run("crowd"),
        &["crowd", "19998 flows in all", "from 1 to 10000"],
    );
    let links = "[[link]]\nrate = \"1mbit\"\n".repeat(17);
    folder.write("chain", format!("disciplines = [\"pfifo\"]\n{links}"));
    assert_says(&run("chain"), &["chain:34:1", "17 links", "at most 16"]);
}

/// Arguments after `run s.toml`, and the expected parts of the message.
const ARGUMENTS: &[(&[&str], &[&str])] = &[
    (
        &["--set", "link.rate"],
        &["--set link.rate", "write --set link.rate=20mbit"],
    ),
    (&["--set", "=5"], &["--set", "link.rate"]),
    (
        &["--set", "link..rate=5"],
        &["--set link..rate", "link.rate"],
    ),
    (
        &["--set", "link.rate=soon"],
        &["--set link.rate", "\"soon\" is no rate", "20mbit"],
    ),
    (
        &["--set", "lnik.rate=5mbit"],
        &["--set lnik.rate", "unknown key \"lnik\"", "link"],
    ),
    (
        &["--set", "link.rats=5mbit"],
        &["--set link.rats", "\"link.rats\"", "rate"],
    ),
    (
        &["--set", "link.rate.x=5"],
        &["--set link.rate.x", "rate is a value"],
    ),
    (&["--set", "link=5"], &["--set link", "link is not a table"]),
    (
        &["--set", "traffic.nobody.control=reno"],
        &[
            "--set traffic.nobody.control",
            "\"nobody\"",
            "call, page, bulk",
        ],
    ),
    (
        &["--set", "traffic.call.fps=0"],
        &["--set traffic.call.fps", "1 to 240"],
    ),
    (
        &["--set", "traffic.page.session.nack=no"],
        &["traffic.page.session", "page has no media session"],
    ),
    (
        &["--set", "disciplines.0=pfifo"],
        &["--set disciplines.0", "a list of values"],
    ),
    (
        &["-d", "nothing"],
        &["--discipline", "no discipline \"nothing\"", "fq_codel"],
    ),
    (
        &["-d", "fq_codel,tarket=1"],
        &["--discipline", "\"tarket\"", "target"],
    ),
    (
        &["-d", "fq_codel,target=1"],
        &["--discipline", "target", "40ms"],
    ),
    (
        &["-d", "fq_codel,target=5ms,target=6ms"],
        &["--discipline", "twice"],
    ),
    (&["-d", ""], &["--discipline", "a name is missing"]),
    (
        &["--engine", "lvie"],
        &["--engine", "\"lvie\"", "sim, kernel, host, live"],
    ),
    (
        &["--engine", "host", "--kernel", "6.1"],
        &["--kernel 6.1", "this host's kernel"],
    ),
    (&["--repeat", "0"], &["--repeat", "1..=100000"]),
    (
        &["--repeat", "100000000000000000000"],
        &["--repeat", "too large"],
    ),
    (&["--repeat", "100001"], &["--repeat", "1..=100000"]),
    (&["--seed=-1"], &["--seed", "-1"]),
    (&["--seed", "1.5"], &["--seed", "1.5"]),
    (&["--jobs", "0"], &["--jobs", "1..=1024"]),
    (&["--format", "xml"], &["--format", "json, csv"]),
    (&["--nonsense"], &["--nonsense"]),
    (&["--out", "s.toml"], &["s.toml cannot be written"]),
    (
        &["--out", "s.toml/deeper"],
        &["s.toml/deeper cannot be written"],
    ),
    (&["--report", "."], &[". cannot be written"]),
    (
        &["--report", "none/report.html"],
        &["none/report.html cannot be written"],
    ),
];

#[test]
fn wrong_arguments() {
    let folder = Folder::new("wrong-arguments");
    folder.write("s.toml", GOOD);
    for (args, says) in ARGUMENTS {
        let args: Vec<&str> = ["run", "s.toml"].iter().chain(*args).copied().collect();
        assert_says(&refusal(&folder.analects(&args)), says);
    }
}

#[test]
fn hostile_arguments() {
    let folder = Folder::new("hostile-arguments");
    folder.write("s.toml", GOOD);
    let long = "x".repeat(100_000);
    let escapes = "\u{1b}[31m\u{7}";
    for option in ["--set", "--engine", "--format", "--discipline", "--seed"] {
        for value in [long.as_str(), escapes] {
            let message = refusal(&folder.analects(&["run", "s.toml", option, value]));
            assert_says(&message, &[option]);
        }
    }
    for value in [long.as_str(), escapes] {
        refusal(&folder.analects(&["run", value]));
        refusal(&folder.analects(&["describe", value]));
        refusal(&folder.analects(&[value]));
    }
}

#[test]
fn other_commands() {
    let folder = Folder::new("other-commands");
    folder.write("s.toml", GOOD);
    assert_says(&refusal(&folder.analects(&["run"])), &["<SCENARIO>"]);
    assert_says(&refusal(&folder.analects(&["rnu"])), &["'rnu'", "--help"]);
    assert_says(&refusal(&folder.analects(&[])), &["Usage: analects"]);
    assert_says(
        &refusal(&folder.analects(&["list", "things"])),
        &["disciplines, controls"],
    );
    let message = refusal(&folder.analects(&["describe", "nothing"]));
    assert_says(
        &message,
        &["there is no name \"nothing\"", "fq_codel", "gcc", "page"],
    );
    assert_says(
        &refusal(&folder.analects(&["man", "s.toml"])),
        &["s.toml cannot be written"],
    );
}

/// Arguments after `bound`, and the expected parts of the message.
const BOUNDS: &[(&[&str], &[&str])] = &[
    (
        &["--policy", "red"],
        &["--policy", "fq, fifo, cbq, confucius, all"],
    ),
    (
        &["--flows", "0"],
        &["--flows: 0 is outside 1 to 1000", "--flows 12"],
    ),
    (
        &["--flows", "1.5"],
        &["--flows: \"1.5\" is not a whole number"],
    ),
    (&["--rtt", "40"], &["--rtt: \"40\" is not a span", "40ms"]),
    (&["--rtt", "2s"], &["--rtt: 2s is outside 1ms to 1s"]),
    (&["--q0", "0"], &["--q0: 0 is outside 100us to 1s"]),
    (
        &["--k", "cubic"],
        &["--k: \"cubic\" is not copa, bbr, or k"],
    ),
    (&["--k", "NaN"], &["--k: \"NaN\" is not"]),
    (&["--k", "1"], &["--k: \"1\" is not", "0.1"]),
    (&["--lambda=-1"], &["--lambda: -1 is outside 0 to 0.1"]),
    (&["--lambda", "inf"], &["--lambda: \"inf\" is not a number"]),
    (
        &["--doubling", "0"],
        &["'0' for '--doubling <TIME>'", "outside 10ms to 1000s"],
    ),
    (
        &["--doubling", "soon"],
        &["'soon' for '--doubling <TIME>'", "such as 40ms"],
    ),
    (
        &["--doubling", "1s", "--lambda", "0.01"],
        &["--lambda", "--doubling"],
    ),
    (&["--size", "0B"], &["--size: 0B is outside 1B to 1GB"]),
    (
        &["--initial-window", "2MB"],
        &["--initial-window: 2MB is outside", "14480B"],
    ),
    (
        &["--rate", "fast"],
        &["--rate: \"fast\" is not a rate", "20mbit"],
    ),
    (
        &["--within", "1h"],
        &["'1h' for '--within <TIME>'", "outside 1ms to 10s"],
    ),
    (&["--format", "csv"], &["--format", "text, json"]),
    (&["--flows", "\u{1b}[31m"], &["--flows"]),
];

#[test]
fn wrong_bounds() {
    let folder = Folder::new("wrong-bounds");
    for (args, says) in BOUNDS {
        let args: Vec<&str> = ["bound"].iter().chain(*args).copied().collect();
        assert_says(&refusal(&folder.analects(&args)), says);
    }
}

/// Arguments of `analects threshold`, and the expected parts of the message.
const THRESHOLDS: &[(&[&str], &[&str])] = &[
    (&["--load", "0.5"], &["--sizes <FILE>|--pareto"]),
    (
        &["--pareto", "1.2,1kB", "--load", "0.5"],
        &["--pareto: \"1.2,1kB\"", "1.2,300KiB,1GiB"],
    ),
    (
        &["--pareto", "0,1kB,1MB", "--load", "0.5"],
        &["--pareto: the shape is 0; it can be 0.01 to 100"],
    ),
    (
        &["--pareto", "1.2,1MB,1kB", "--load", "0.5"],
        &["do not rise within 1B to 1000TB"],
    ),
    (
        &["--pareto", "1.2,1kB,1MB", "--load", "1"],
        &["the load is 1; it can be 0.01 to 0.99"],
    ),
    (
        &[
            "--pareto",
            "1.2,1kB,1MB",
            "--load",
            "0.5",
            "--threshold",
            "0",
        ],
        &["--threshold: \"0\" is no size from 1B to 1000GB"],
    ),
    (
        &["--pareto", "1.2,1kB,1MB", "--load", "0.5", "--rate", "fast"],
        &["'fast' for '--rate <RATE>'", "1gbit"],
    ),
    (&["--pareto", "1.2,1kB,1MB"], &["--load <LOAD>"]),
    (
        &[
            "--pareto",
            "1.2,1kB,1MB",
            "--actors",
            "80",
            "--rate",
            "1gbit",
        ],
        &["--think <TIME>"],
    ),
    (
        &[
            "--pareto",
            "1.2,1kB,1MB",
            "--actors",
            "80",
            "--think",
            "1s",
            "--load",
            "0.5",
        ],
        &["cannot be used with '--load"],
    ),
    (
        &[
            "--pareto",
            "1.2,1kB,1MB",
            "--actors",
            "0",
            "--think",
            "1s",
            "--rate",
            "1gbit",
        ],
        &["'--actors <N>': 0 is not in 1..=10000"],
    ),
    (
        &[
            "--pareto",
            "1.2,1kB,1MB",
            "--actors",
            "80",
            "--think",
            "0s",
            "--rate",
            "1gbit",
        ],
        &["'0s' for '--think <TIME>'", "outside 1us to 3600s"],
    ),
    (
        &["--sizes", "none", "--load", "0.5"],
        &["none: No such file"],
    ),
    (
        &["--sizes", "words", "--load", "0.5"],
        &["words:2: \"many\"", "300KiB"],
    ),
    (
        &["--sizes", "empty", "--load", "0.5"],
        &["empty: there have to be transfers"],
    ),
    (
        &["--sizes", "one", "--load", "0.5"],
        &["no threshold helps"],
    ),
];

#[test]
fn wrong_thresholds() {
    let folder = Folder::new("wrong-thresholds");
    folder.write("words", "1kB # a small one\nmany\n");
    folder.write("empty", "# nothing\n0\n");
    folder.write("one", "5kB\n5kB\n");
    for (args, says) in THRESHOLDS {
        let args: Vec<&str> = ["threshold"].iter().chain(*args).copied().collect();
        assert_says(&refusal(&folder.analects(&args)), says);
    }
}

#[test]
fn wrong_pages() {
    let folder = Folder::new("wrong-pages");
    std::fs::create_dir(folder.0.join("empty")).unwrap();
    folder.write("a.har", HAR);
    folder.write("b.har", HAR.replace("2024-01-01", "yesterday"));
    folder.write("c.har", "no JSON");
    let long = "x".repeat(100_000);
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["none.har"],
            &["there is no \"none.har\"", "name a HAR file or a folder"],
        ),
        (&["empty"], &["no file matches \"empty\""]),
        (&["*.txt"], &["no file matches \"*.txt\""]),
        (&[""], &["there is no \"\""]),
        (&["generated:0"], &["names no sites", "N from 1 to 1000"]),
        (&["generated:1001"], &["names no sites", "N from 1 to 1000"]),
        (&["generated:-1"], &["names no sites"]),
        (&["generatedx"], &["names no sites"]),
        (
            &["*.har", "--strict"],
            &["b.har", "1 has no startedDateTime", "leave --strict out"],
        ),
        (&["c.har"], &["c.har", "line 1 column"]),
        (
            &["a.har", "--rate", "fast"],
            &["--rate", "is no rate", "20mbit"],
        ),
        (&["a.har", "--rate", "1bit"], &["--rate", "outside 1kbit"]),
        (&["a.har", "--rtt", "40"], &["--rtt", "40ms"]),
        (&["a.har", "--rtt", "2m"], &["--rtt"]),
        (&["a.har", "--top=-1"], &["--top"]),
        (&["a.har", "--top", "65536"], &["--top"]),
        (&["a.har", "--format", "csv"], &["--format", "table, json"]),
        (&["a.har", "b.har"], &["b.har", "unexpected argument"]),
        (&[&long], &["there is no"]),
        (&["\u{1b}[31m\u{7}"], &["there is no"]),
        (&["a.har", "--rate", "\u{1b}[31m\u{7}"], &["--rate"]),
        (&["a.har", "--rtt", &long], &["--rtt"]),
    ];
    for (args, says) in cases {
        let args: Vec<&str> = ["pages"].iter().chain(*args).copied().collect();
        assert_says(&refusal(&folder.analects(&args)), says);
    }
    let output = folder.analects(&["pages", "a.har"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stderr),
        "",
        "no progress bar without a terminal"
    );
}

/// A faulty shaper, and the expected parts of the message.
const SHAPERS: &[(&[&str], &[&str])] = &[
    (
        &["--dev", "", "--rate", "9mbit"],
        &["--dev: \"\" is not a name", "ip link"],
    ),
    (
        &["--dev", "eth0 root", "--rate", "9mbit"],
        &["--dev", "is not a name", "1 to 15"],
    ),
    (
        &["--dev=-h", "--rate", "9mbit"],
        &["--dev", "is not a name"],
    ),
    (&["--dev", "eth0"], &["--up"]),
    (&["--rate", "9mbit"], &["--dev"]),
    (
        &["--dev", "eth0", "--up", "fast"],
        &["--up: \"fast\" is not a rate", "45mbit"],
    ),
    (&["--dev", "eth0", "--up", "\u{1b}[31m"], &["--up"]),
    (
        &["--dev", "eth0", "--up", "63kbit"],
        &["--up: 63kbit is outside 64kbit to 100gbit"],
    ),
    (
        &["--dev", "eth0", "--up", "101gbit"],
        &["--up: 101gbit is outside"],
    ),
];

/// The same, each after a device and a rate that are right.
const SHAPER_OPTIONS: &[(&[&str], &[&str])] = &[
    (&["--ingress", "0bit"], &["--down: 0bit is outside"]),
    (
        &["--overhead", "docsi"],
        &["--overhead", "\"docsi\"", "docsis", "pppoe-ptm"],
    ),
    (&["--overhead", "257"], &["--overhead", "-64 to 256"]),
    (&["--overhead", "-65"], &["--overhead", "-64 to 256"]),
    (&["-d", ""], &["--discipline", "a name is missing"]),
    (
        &["-d", "fair"],
        &["--discipline: there is no discipline \"fair\"", "confucius"],
    ),
    (
        &["-d", "red"],
        &["--discipline: red is simulated only", "fq_codel"],
    ),
    (
        &["-d", "confucius,lambda=1"],
        &["no parameter \"lambda\"", "doubling"],
    ),
    (&["-d", "confucius,doubling=soon"], &["doubling", "250us"]),
    (&["-d", "confucius,doubling=2m"], &["doubling"]),
    (
        &["-d", "confucius,doubling=61s"],
        &["doubling", "outside 1ms to 60s"],
    ),
    (
        &["-d", "confucius,targets=90/10"],
        &["targets", "increasing"],
    ),
    (&["-d", "confucius,targets"], &["\"targets\" is no setting"]),
    (&["-d", "confucius,nat=perhaps"], &["nat", "yes or no"]),
    (
        &["-d", "cake,bandwidth=1mbit"],
        &["bandwidth cannot be set here", "--up"],
    ),
    (&["-d", "pfifo,limit=1 root"], &["limit"]),
    (&["-d", "pfifo,limit=\u{1b}[31m"], &["limit"]),
];

#[test]
fn wrong_shapers() {
    let folder = Folder::new("wrong-shapers");
    let refused = |first: &[&str], args: &[&str], says: &[&str]| {
        let apply: &[&str] = &["tc", "apply", "--dry-run"];
        assert_says(
            &refusal(&folder.analects(&[apply, first, args].concat())),
            says,
        );
    };
    for (args, says) in SHAPERS {
        refused(&[], args, says);
    }
    let good = &["--dev", "wan", "--rate", "9mbit"];
    for (args, says) in SHAPER_OPTIONS {
        refused(good, args, says);
    }
    let long = "x".repeat(100_000);
    refused(
        &["--rate", "9mbit"],
        &["--dev", &long],
        &["--dev", "is not a name"],
    );
    refused(good, &["--overhead", &long], &["--overhead"]);
    refused(good, &["--down-discipline", "cake"], &["--down"]);
    refused(
        good,
        &["--up-discipline", "cake,ack_filter=much"],
        &["--up-discipline", "no, yes or aggressive"],
    );
}

/// What `--from` is given, and the expected parts of the message.
const NO_LINES: &[(&str, &[&str])] = &[
    ("", &["f.toml", "there is no link"]),
    ("rates: 50", &["f.toml:1:", "write TOML"]),
    (
        "[link]\nrate = \"50mbit\"",
        &[
            "f.toml:1:",
            "nobody has measured",
            "expected the table [measured]",
        ],
    ),
    (
        "[measured]\n[link]\ntrace = \"lte\"",
        &["f.toml:3:9", "found a trace", "expected one link"],
    ),
    (
        "[measured]\n[[link]]\nrate = \"5mbit\"\n[[link]]\nrate = \"5mbit\"",
        &["f.toml", "found 2 of them"],
    ),
    (
        "[measured]\n[link]\nrate = \"50mbit\"",
        &["f.toml", "link.up", "--up RATE"],
    ),
    (
        "[measured]\n[link]\nrate = \"50mbit\"\n[link.up]\nrate = \"9kbit\"",
        &[
            "f.toml:4:",
            "link.up: 8kbit, 95 % of the line's 9kbit",
            "outside 64kbit to 100gbit",
            "--up RATE",
        ],
    ),
    (
        "disciplines = [\"cake\", \"fq_fifo\"]\n[measured]\n[link]\nrate = \"5mbit\"\nup = { rate = \"1mbit\" }",
        &["f.toml:1:15", "disciplines: fq_fifo is simulated only"],
    ),
    (
        "[measured]\n[link]\nrate = \"5mbit\"\noverhead = \"900B\"\nup = { rate = \"1mbit\" }",
        &["f.toml:4:12", "link.overhead", "-64 to 256"],
    ),
];

#[test]
fn what_is_no_measured_line_is_refused() {
    let folder = Folder::new("no-lines");
    let from = [
        "tc",
        "apply",
        "--dev",
        "wan",
        "--dry-run",
        "--state",
        ".",
        "--from",
    ];
    let refused = |file: &str, says: &[&str]| {
        assert_says(
            &refusal(&folder.analects(&[&from[..], &[file]].concat())),
            says,
        );
    };
    for (text, says) in NO_LINES {
        folder.write("f.toml", text);
        refused("f.toml", says);
    }
    refused(
        "none.toml",
        &[
            "--from: none.toml: there is no such file",
            "measure SERVER -o FILE",
        ],
    );
    refused(".", &["--from: .: it is a folder"]);
    folder.write("f.toml", " ".repeat((1 << 20) + 1));
    refused("f.toml", &["f.toml: it has more than 1048576 bytes"]);
    std::fs::write(folder.0.join("f.toml"), [0xff, 0xfe]).unwrap();
    refused("f.toml", &["f.toml: ", "UTF-8"]);
}

#[test]
fn a_journal_that_is_none() {
    let folder = Folder::new("wrong-journal");
    let namespace = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    let namespace = namespace.to_string_lossy();
    let number: String = namespace.chars().filter(char::is_ascii_digit).collect();
    let number = if number.is_empty() { "0" } else { &number };
    folder.write(&format!("tc-{number}-wan.json"), "{\"version\": 7}");
    for command in [
        &["tc", "show", "--state", "."][..],
        &["tc", "clear", "--dev", "wan", "--dry-run", "--state", "."],
        &[
            "tc",
            "apply",
            "--dev",
            "wan",
            "--rate",
            "9mbit",
            "--dry-run",
            "--state",
            ".",
        ],
    ] {
        let message = refusal(&folder.analects(command));
        assert_says(
            &message,
            &["wan.json", "version 7", "nothing was run", "tc qdisc del"],
        );
    }
}
