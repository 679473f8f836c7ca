//! The whole page, from results made up here.

mod doubts;
mod plots;
mod senders;

use super::html;
use super::page::{Pages, page as whole};
use super::report::Report;
use super::subject::Subject;
use crate::export::ExportDocument;
use measure::metric::Registry;
use measure::why::Why;
use measure::{
    CallResult, ChildResult, FlowResult, FrameDelay, LinkBacklog, LinkResult, Note, PacketDelay,
    PageResult, RunResult, Series, Sojourn,
};
use serde_json::json;
use workload::Rows;

const DURATION: f64 = 60.0;
const BIN: f64 = 0.1;
/// Pages start at these times.
const PAGES: [f64; 2] = [15.0, 40.0];
const CONNECTIONS: usize = 6;

/// Whether a page is loading: for `wait` seconds from its start.
fn busy(at: f64, wait: f64) -> bool {
    PAGES
        .iter()
        .any(|start| (*start..start + wait).contains(&at))
}

/// A run in which a page takes `wait` seconds of the queue, and half of the call's rate.
fn result(discipline: &str, seed: u64, wait: f64, drawn: bool) -> RunResult {
    let flow = FlowResult {
        name: "bulk".to_owned(),
        control: "cubic".to_owned(),
        goodput_mbps: 5.0,
        fct_ms: None,
        bytes: 1,
        sojourn_ms: None,
    };
    let link = LinkResult {
        name: "last-mile".to_owned(),
        discipline: discipline.to_owned(),
        utilization: Some(0.8),
        sojourn_ms: Sojourn {
            mean: Some(wait * 30.0),
            p95: Some(wait * 90.0),
            max: Some(wait * 120.0),
        },
        drops: (wait * 10.0) as u64,
        marks: 0,
        lost: 0,
        packets: 100_000,
        backlog: LinkBacklog {
            mean_packets: wait * 40.0,
            max_packets: 100,
            mean_bytes: wait * 60_000.0,
        },
        occupancy: Some(0.4),
        moves: None,
        residence: Vec::new(),
        children: children(discipline, seed),
    };
    let up = LinkResult {
        name: "last-mile-up".to_owned(),
        children: Vec::new(),
        ..link.clone()
    };
    let note = Note {
        about: "flows.bulk.fct_ms".to_owned(),
        text: "unlimited, or not complete when the run ended".to_owned(),
    };
    RunResult {
        rates: Vec::new(),
        discipline: discipline.to_owned(),
        seed,
        variant: [("trace".to_owned(), "a <b>.txt".to_owned())].into(),
        calls: vec![call(discipline, seed, wait)],
        pages: pages(seed, wait),
        flows: vec![flow],
        links: vec![link, up],
        figures: Vec::new(),
        measured: Default::default(),
        senders: Vec::new(),
        limits: Vec::new(),
        jfi: Some(0.9),
        invalid: Vec::new(),
        notes: vec![note],
        series: drawn.then(|| series(discipline.starts_with("confucius"), wait)),
    }
}

fn call(discipline: &str, seed: u64, wait: f64) -> CallResult {
    CallResult {
        name: "call".to_owned(),
        control: "gcc".to_owned(),
        stall_s: if wait > 1.0 { wait * 2.0 } else { 0.0 },
        frames: 1800,
        frames_late: 60,
        frames_lost: 1,
        frame_delay_ms: FrameDelay {
            p50: Some(45.0),
            p95: Some(50.0 + wait * 100.0),
            p99: Some(50.0 + wait * 140.0),
            max: Some(53.0 + wait * 150.0 + seed as f64),
        },
        low_fps_events: 0,
        freezes: 0,
        playout: None,
        audio: None,
        goodput_mbps: 3.9,
        sojourn_ms: PacketDelay {
            p50: Some(wait),
            p95: Some(wait * 10.0),
            p99: Some(wait * 20.0),
            max: Some(wait * 40.0),
        },
        why: Some(why(discipline, wait)),
    }
}

/// If it stalls, for an upload in a queue that is not the first one.
fn why(discipline: &str, wait: f64) -> Why {
    let cause = json!({
        "kind": "queue", "queue": "last-mile-up", "discipline": discipline, "under_test": true,
        "away_ms": null, "waited_ms": 1200.0, "failed": 0, "carried_mbps": 1.0, "usual_mbps": 1.0,
        "behind": [{"name": "upload", "host": null, "whose": "house", "flows": 1, "share": 0.9}],
    });
    let stall = json!({
        "from_s": 15.0, "to_s": 17.0, "stall_s": wait, "worst_ms": 900.0, "rate_before_mbps": 4.0,
        "rate_lowest_mbps": 2.0, "cause": cause,
    });
    let stalls = wait > 1.0;
    let why = json!({
        "text": if stalls { "call stalled 2 times" } else { "call did not stall" },
        "causes": if stalls { vec![json!({"stall_s": wait, "share": 1.0, "cause": cause})] } else { vec![] },
        "stalls": if stalls { vec![stall] } else { vec![] },
    });
    serde_json::from_value(why).unwrap()
}

/// Two children of a composite: `seed` packets more than a thousand, and half of them.
fn children(discipline: &str, seed: u64) -> Vec<ChildResult> {
    if !discipline.contains('(') {
        return Vec::new();
    }
    let part = |name: &str, packets| ChildResult {
        name: name.to_owned(),
        packets,
        bytes: packets * 1500,
        drops: 7,
        marks: 0,
    };
    let packets = 1000 + 2 * seed;
    vec![part("young", packets), part("old", packets / 2)]
}

fn pages(seed: u64, wait: f64) -> Vec<PageResult> {
    let load = |(load, start_s)| PageResult {
        name: "page".to_owned(),
        site: "a site".to_owned(),
        load,
        start_s,
        plt_ms: Some(3000.0 - wait * 800.0 + seed as f64 * 40.0),
        servers_ms: 600.0,
        round_trips_ms: 1000.0,
        requests: 80,
        bytes: 2_000_000,
        connections: CONNECTIONS as u64,
        stall_s: if wait > 1.0 {
            wait + seed as f64 * 0.1
        } else {
            0.0
        },
        frame_max_ms: Some(wait * 150.0),
    };
    (0..).zip(PAGES).map(load).collect()
}

/// The call is flow 0, then come the connections of both pages, then the bulk transfer.
fn series(classes: bool, wait: f64) -> Series {
    let bins = (DURATION / BIN) as usize;
    let at = |bin: usize| bin as f64 * BIN;
    let bytes = |mbps: f64| (mbps * BIN / 8e-6) as u64;
    let call = (0..bins).map(|bin| bytes(if busy(at(bin), wait) { 2.0 } else { 4.0 }));
    let connection = |n: usize| -> Vec<u64> {
        let on = |at: f64| busy(at, wait) && (at > 30.0) == (n >= CONNECTIONS);
        (0..bins)
            .map(|bin| bytes(if on(at(bin)) { 2.0 } else { 0.0 }))
            .collect()
    };
    let connections = 2 * CONNECTIONS;
    let names = (1..=connections).map(|n| format!("page-{n}"));
    let waited = |bin: usize| {
        if busy(at(bin), wait) {
            wait * 100.0
        } else {
            4.0
        }
    };
    let sojourn: Vec<_> = (0..bins)
        .map(|bin| Some((waited(bin), waited(bin) * 2.0)))
        .collect();
    Series {
        rates: Vec::new(),
        flows: ["call".to_owned()]
            .into_iter()
            .chain(names)
            .chain(["bulk".to_owned()])
            .collect(),
        frames: (0..1800).map(|n| frame(n, wait)).collect(),
        bin_s: BIN,
        share: vec![
            [call.collect()]
                .into_iter()
                .chain((0..connections).map(connection))
                .chain([vec![bytes(5.0); bins]])
                .collect(),
            vec![Vec::new(); connections + 2],
        ],
        sojourn: vec![sojourn.clone(), sojourn],
        moves: if classes { moves() } else { Vec::new() },
        classes: if classes {
            vec![
                ["low", "medium", "high"].map(str::to_owned).to_vec(),
                Vec::new(),
            ]
        } else {
            vec![Vec::new(); 2]
        },
        calls: vec!["call".to_owned()],
    }
}

fn frame(number: u32, wait: f64) -> (usize, f64, Option<f64>) {
    let at = f64::from(number) / 30.0;
    let least = 40.0 + f64::from(number * 7919 % 13);
    let delay = match (busy(at, wait), number % 97) {
        (true, 0) => None,
        (true, _) => Some(least + wait * 150.0),
        (false, _) => Some(least),
    };
    (0, at, delay)
}

/// Connections go through all three classes; the call and the transfer stay in theirs.
fn moves() -> Vec<(f64, usize, usize, u8)> {
    let connections = (0..2 * CONNECTIONS).flat_map(|n| {
        let start = PAGES[n / CONNECTIONS] + n as f64 * 0.01;
        [(0.0, 0), (0.3, 1), (0.5, 2)].map(|(later, class)| (start + later, 0, n + 1, class))
    });
    let lasting = [(0.0, 0, 0, 0), (0.0, 0, 2 * CONNECTIONS + 1, 2)];
    lasting.into_iter().chain(connections).collect()
}

/// A report on made-up runs of `disciplines`.
pub fn page(disciplines: &[&str], seeds: u64) -> String {
    drawn(disciplines, seeds).html
}

/// The same with its plots.
fn drawn(disciplines: &[&str], seeds: u64) -> Pages {
    let one = |(n, discipline): (usize, &&str)| -> Vec<RunResult> {
        let wait = 0.4 + n as f64 * 3.0 / disciplines.len() as f64;
        (0..seeds)
            .map(|seed| result(discipline, seed, wait, true))
            .collect()
    };
    let results: Vec<RunResult> = disciplines.iter().enumerate().flat_map(one).collect();
    of_results(&results)
}

/// A report on these runs.
fn of_results(results: &[RunResult]) -> Pages {
    let scenario = serde_json::json!({ "name": "sample", "link": { "rate": "20mbit" } });
    let document = ExportDocument {
        version: "0.1.0",
        engine: "sim",
        scenario: &scenario,
        results,
    };
    let subject = Subject {
        name: "Page during a call",
        summary: "A video call over a last mile of 20 Mbit/s while web pages are loaded.",
        duration_s: DURATION,
        warmup_s: 5.0,
        thresholds: vec![("call", 190.0)],
        entries: vec![
            ("page", Rows::Loads),
            ("call", Rows::Call),
            ("bulk", Rows::Flows),
        ],
        transfers: vec![0.0],
        capacities: vec![vec![(0.0, 20.0)]],
    };
    whole(Report::new(subject, &document, &Registry::builtin()))
}

/// Elements of HTML that have no end.
const VOID: [&str; 3] = ["meta", "br", "input"];

/// Whether every element is closed, in order, and no attribute or text has a stray bracket.
fn well_formed(page: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let body = page.strip_prefix("<!DOCTYPE html>").ok_or("no doctype")?;
    let mut rest = body;
    while let Some(start) = rest.find('<') {
        if rest[..start].contains('>') && open.last() != Some(&"style") {
            return Err(format!("a stray > in {:?}", &rest[..start]));
        }
        let end = rest[start..].find('>').ok_or("a tag without end")? + start;
        let tag = &rest[start + 1..end];
        if let Some(closed) = tag.strip_prefix('/') {
            if open.pop() != Some(closed) {
                return Err(format!("</{closed}> closes nothing"));
            }
        } else {
            let name = tag.split_whitespace().next().unwrap_or_default();
            open.extend((!VOID.contains(&name)).then_some(name));
        }
        if tag.matches('"').count() % 2 != 0 || tag.contains('<') {
            return Err(format!("quotes in <{tag}>"));
        }
        rest = &rest[end + 1..];
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("not closed: {open:?}"))
    }
}

#[test]
fn the_check_finds_faults() {
    assert_eq!(well_formed("<!DOCTYPE html><a b=\"c\"><br></a>"), Ok(()));
    for bad in ["<a>", "<a><b></a></b>", "<a b=\"></a>", "<a>></a>"] {
        assert!(
            well_formed(&format!("<!DOCTYPE html>{bad}")).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn each_call_is_explained_in_the_typical_run_and_in_the_worst() {
    let pages = drawn(&["confucius", "fifo"], 3);
    let page = &pages.html;
    let section = page.split("id=\"why\"").nth(1).expect("the section");
    let section = section.split("</section>").next().unwrap_or_default();
    for which in ["typical run, seed", "worst run, seed"] {
        assert!(section.contains(which), "{which}: {section}");
    }
    assert!(section.contains("call stalled 2 times"), "{section}");
    assert!(section.contains("queue of last-mile-up"), "{section}");
    let untried = "are what those packets suggest: <code>analects run --why</code>";
    assert!(section.contains(untried), "{section}");
    // The queue that mattered is drawn beside the first one.
    let names: Vec<&str> = pages.drawings.iter().map(|of| of.0.as_str()).collect();
    for name in [
        "sojourn-fifo",
        "sojourn-last-mile-up-fifo",
        "flows-fifo-worst",
        "frames-call-worst",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let summary = section.split("<summary><b>").nth(2).unwrap_or_default();
    let summary = summary.split("</summary>").next().unwrap_or_default();
    let cause = "In the typical run, call: frames waited up to 1.20 s in the queue of last-mile-up \
                 (fifo), behind upload (90 % of the bytes), from another computer in the house.";
    assert!(summary.contains(cause), "{summary}");
    let seen = page.find("id=\"seen\"").expect("what one sees");
    assert!(seen < page.find("id=\"comparison\"").expect("a table"));
}

#[test]
fn the_parts_of_a_composite_have_a_line_each() {
    assert!(!page(&["confucius"], 2).contains("id=\"children\""));
    let page = page(&["2lps(<b>)", "fifo"], 3);
    assert_eq!(well_formed(&page), Ok(()));
    let section = page.split("id=\"children\"").nth(1).expect("the section");
    let section = section.split("</section>").next().unwrap_or_default();
    // Means of 1000, 1002 and 1004, and of half as many.
    for cells in [
        "<td>last-mile: young</td><td>1002</td><td>1.5</td><td>7</td>",
        "<td>last-mile: old</td><td>501</td>",
    ] {
        assert!(section.contains(cells), "{cells}: {section}");
    }
    assert!(!section.contains("fifo"), "{section}");
}

#[test]
fn a_page_is_well_formed_whole_and_alone() {
    let disciplines = ["confucius", "fq_codel,target=5ms", "fifo"];
    for seeds in [1, 3] {
        let page = page(&disciplines, seeds);
        assert_eq!(well_formed(&page), Ok(()));
        for discipline in disciplines {
            // At least: sentence, table, three legends, two cards.
            assert!(page.matches(discipline).count() >= 7, "{discipline}");
        }
        for id in [
            "comparison",
            "tradeoff",
            "frames",
            "flows",
            "classes",
            "sojourn",
            "about",
        ] {
            assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        }
        for elsewhere in ["http://", "https://", "url(", "<script", "<img", "<link"] {
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
        assert!(
            !page.contains("NaN") && !page.contains("inf "),
            "only numbers are drawn"
        );
        // Intervals stand below figures if runs were repeated, and not otherwise.
        assert_eq!(page.contains("<br><small>too few runs</small>"), seeds > 1);
        assert_eq!(page.contains("no intervals"), seeds == 1);
        assert_eq!(page.contains("3 runs of each discipline"), seeds == 3);
    }
}

#[test]
fn sentences_follow_from_the_summary() {
    // The first waits 0.4 s: no stall. The second waits 1.9 s. Six runs that are all alike may be chance.
    for (runs, best) in [
        (
            8,
            "<b>confucius</b> stalls not at all; <b>fifo</b> loads pages fastest (",
        ),
        (
            6,
            "; <b>fifo</b> loads pages fastest (1.58 s), which the runs do not tell from <b>confucius</b> (",
        ),
    ] {
        let several = page(&["confucius", "fifo"], runs);
        assert!(several.contains(best), "{runs}");
    }
    let page = page(&["confucius", "fifo"], 1);
    assert!(page.contains("One run each: it cannot tell which of the 2 disciplines does best."));
    // PLT 3000 - 0.4 * 800, and with 1.9.
    assert!(page.contains("confucius</b>: no stall, pages in 2.68 s"));
    assert!(page.contains("fifo</b>: stalls 3.80 s, pages in 1.48 s"));
    assert!(page.contains(". call: frames waited up to 1.20 s in the queue of last-mile-up"));
}

#[test]
fn hostile_names_stay_text() {
    let hostile = "</svg></title><script>alert(1)</script>\"'";
    let page = page(&[hostile, "fifo"], 2);
    assert_eq!(well_formed(&page), Ok(()));
    assert!(!page.contains("<script"));
}

#[test]
fn nothing_to_show_is_no_error() {
    let page = page(&[], 1);
    assert_eq!(well_formed(&page), Ok(()));
    assert!(page.contains("There are no results."));
}

#[test]
fn a_report_on_many_disciplines_stays_small() {
    let names: Vec<String> = (0..20).map(|n| format!("confucius,k={n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let page = page(&names, 2);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("16 of 20 disciplines"));
}

#[test]
fn the_subject_is_what_the_scenario_says() {
    let text = "name = \"n\"\nsummary = \"s\"\nduration = \"20s\"\nwarmup = \"2s\"\n\
                disciplines = [\"fifo\"]\n[link]\nrate = \"8mbit\"\nrtt = \"40ms\"\n\
                [[traffic]]\nname = \"late\"\nkind = \"bulk\"\nstart = \"3s\"\n";
    let names = scenario::AnyNames::default();
    let document = scenario::Document::parse("test.toml", text).unwrap();
    let scenario = document.resolve(&names).unwrap();
    let subject = Subject::of(&scenario);
    assert_eq!((subject.duration_s, subject.warmup_s), (20.0, 2.0));
    assert_eq!(subject.entries, [("late", Rows::Flows)]);
    assert_eq!(subject.transfers, [3.0]);
    assert_eq!(subject.capacities, [[(0.0, 8.0)]]);
    let json = document.to_json();
    let document = ExportDocument {
        version: "0.1.0",
        engine: "sim",
        scenario: &json,
        results: &[],
    };
    assert_eq!(
        well_formed(&html(&scenario, &document, &Registry::builtin()).html),
        Ok(())
    );
}
