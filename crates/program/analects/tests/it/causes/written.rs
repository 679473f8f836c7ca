//! Scenarios of one cause, written.

use super::OneCause;

const DOWN: &str = "
[[traffic]]
name = \"call\"
kind = \"call\"
";
const UP: &str = "
[[traffic]]
name = \"call\"
kind = \"call\"
direction = \"up\"
max_rate = \"2mbit\"
";
/// A household's line.
const LINE: &str = "
[link]
rate = \"20mbit\"
rtt = \"40ms\"
buffer = \"500p\"
[link.up]
rate = \"5mbit\"
buffer = \"300p\"
";
const DOWNLOAD: &str = "
[[traffic]]
name = \"download\"
kind = \"bulk\"
start = \"15s\"
";
const UPLOAD: &str = "
[[traffic]]
name = \"upload\"
kind = \"bulk\"
direction = \"up\"
start = \"15s\"
";

/// All, in both directions.
pub fn written() -> Vec<OneCause> {
    let mut all = ahead();
    all.extend(back());
    all.extend(wires());
    all.extend(rates());
    all.extend(with_second());
    all
}

fn one(name: &str, truth: &str, parts: &[&str]) -> OneCause {
    let text = parts.concat();
    OneCause {
        name: name.to_owned(),
        text: format!("duration = \"60s\"\nwarmup = \"5s\"\ndisciplines = [\"pfifo\"]\n{text}"),
        truth: truth.to_owned(),
        second: false,
    }
}

/// The line with another value of one of its keys.
fn line(from: &str, to: &str) -> String {
    assert!(LINE.contains(from), "{from}");
    LINE.replacen(from, to, 1)
}

/// Queues on the way of the media.
fn ahead() -> Vec<OneCause> {
    let photos = UPLOAD.replace("upload", "photos") + "host = \"laptop\"\n";
    let flood =
        "[[traffic]]\nname = \"flood\"\nkind = \"udp\"\nrate = \"21mbit\"\nstart = \"15s\"\n";
    let short =
        "[link]\nrate = \"20mbit\"\nrtt = \"40ms\"\nbuffer = \"6p\"\n[link.up]\nrate = \"5mbit\"\n";
    let segment = "[[link]]\nname = \"segment\"\nrate = \"30mbit\"\nrtt = \"40ms\"\nbuffer = \"500p\"\n\
                   discipline = \"pfifo\"\n[[link]]\nname = \"house\"\nrate = \"25mbit\"\n";
    let neighbour = DOWNLOAD.replace("download", "neighbour") + "via = \"segment\"\n";
    let crowd = DOWNLOAD.replace("download", "crowd") + "via = \"segment\"\ncount = 20\n";
    let far = segment.replacen("rtt = \"40ms\"", "rtt = \"20ms\"\ndelay = \"30ms\"", 1);
    let four = format!("{DOWNLOAD}count = 4\n");
    vec![
        one("download", "download", &[LINE, DOWN, DOWNLOAD]),
        one("upload", "upload", &[LINE, UP, UPLOAD]),
        one(
            "own upload",
            "photos",
            &[LINE, UP, "host = \"laptop\"", &photos],
        ),
        one("flood", "flood", &[LINE, DOWN, flood]),
        one("short queue", "download", &[short, DOWN, &four]),
        one("neighbour", "neighbour", &[segment, DOWN, &neighbour]),
        one("far queue", "crowd", &[&far, DOWN, &crowd]),
    ]
}

/// Queues on the way of the answers.
fn back() -> Vec<OneCause> {
    let slow_up = line("5mbit", "1mbit").replacen("300p", "500p", 1);
    let slowest_up = line("5mbit", "300kbit").replacen("rtt", "loss = \"2%\"\nrtt", 1);
    let slow_down = line("20mbit", "1mbit");
    let dip = line(
        "rate = \"5mbit\"",
        "steps = [\"0s 5mbit\", \"15s 0bit\", \"18s 5mbit\"]",
    );
    let copa = format!("{DOWN}control = \"copa\"\n");
    vec![
        one("feedback", "upload", &[&slow_up, DOWN, UPLOAD]),
        one("feedback of up", "download", &[&slow_down, UP, DOWNLOAD]),
        one("requests", "upload", &[&slowest_up, DOWN, UPLOAD]),
        one("outage back", "the dips of link-up", &[&dip, &copa]),
    ]
}

/// What wires and devices do.
fn wires() -> Vec<OneCause> {
    let lossy = line("rtt = \"40ms\"", "rtt = \"120ms\"\nloss = \"4%\"");
    let jittery = line("rtt", "jitter = \"400ms\"\nrtt");
    let device = line("rtt", "discipline = \"fq_codel\"\ndevice = 400\nrtt");
    let far = line("40ms", "900ms");
    vec![
        one("losses", "the losses of link", &[&lossy, DOWN]),
        one("losses of up", "the losses of link", &[&lossy, UP]),
        one("jitter", "the jitter of link", &[&jittery, DOWN]),
        one("jitter of up", "the jitter of link", &[&jittery, UP]),
        one("device", "the device of link", &[&device, DOWN, DOWNLOAD]),
        one("distance", "the distance", &[&far, DOWN]),
    ]
}

/// Rates that are too low.
fn rates() -> Vec<OneCause> {
    let dip = line(
        "rate = \"20mbit\"",
        "steps = [\"0s 20mbit\", \"15s 200kbit\", \"18s 20mbit\"]",
    );
    let dip_up = line(
        "rate = \"5mbit\"",
        "steps = [\"0s 5mbit\", \"15s 100kbit\", \"18s 5mbit\"]",
    );
    let limit = "[[link]]\nname = \"provider\"\nrate = \"100mbit\"\nrtt = \"120ms\"\n\
                 discipline = \"policer,rate=1mbit,burst=10kB\"\n[[link]]\nname = \"house\"\nrate = \"50mbit\"\n";
    let least = format!("{DOWN}min_rate = \"1.2mbit\"\n");
    let slow = format!("{DOWN}min_rate = \"1mbit\"\naccess = \"900kbit\"\n");
    let slow_up = slow.clone() + "direction = \"up\"\n";
    vec![
        one("dip", "the dips of link", &[&dip, DOWN]),
        one("dip of up", "the dips of link-up", &[&dip_up, UP]),
        one(
            "limit",
            "the limit on the rate at provider",
            &[limit, &least],
        ),
        one("slow server", "its sender’s own slow line", &[LINE, &slow]),
        one(
            "slow sender",
            "its sender’s own slow line",
            &[LINE, &slow_up],
        ),
    ]
}

/// One cause, and something else that costs less.
fn with_second() -> Vec<OneCause> {
    let jittery = line("rtt", "jitter = \"5ms\"\nrtt");
    let lossy = line("5mbit", "1mbit").replacen("rtt", "loss = \"0.5%\"\nrtt", 1);
    let pages = "[[traffic]]\nname = \"pages\"\nkind = \"page\"\nsource = \"generated:5\"\ninterval = \"8s\"\n";
    let two = [
        one("and jitter", "download", &[&jittery, DOWN, DOWNLOAD]),
        one("and losses", "upload", &[&lossy, DOWN, UPLOAD]),
        one("and pages", "upload", &[LINE, UP, UPLOAD, pages]),
    ];
    two.map(|of| OneCause { second: true, ..of }).into()
}
