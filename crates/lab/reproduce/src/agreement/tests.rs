//! Hand-made results of two engines.

use super::*;
use measure::{CallResult, FlowResult, FrameDelay, LinkResult, PacketDelay, PageResult, Sojourn};
use scenario::{AnyNames, Document, Scenario};

fn scenario(traffic: &str) -> Scenario {
    let text = format!(
        "name = \"small\"\nduration = \"10s\"\ndisciplines = [\"pfifo\"]\n\
         [link]\nrate = \"10mbit\"\nrtt = \"40ms\"\nbuffer = \"100p\"\n{traffic}"
    );
    let document = Document::parse("small.toml", &text).unwrap();
    document.resolve(&AnyNames::default()).unwrap()
}

fn bulk(name: &str, count: u32) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\nkind = \"bulk\"\ncontrol = \"cubic\"\ncount = {count}\n"
    )
}

fn flow(name: &str, rate: f64) -> FlowResult {
    FlowResult {
        name: name.to_owned(),
        control: "cubic".to_owned(),
        goodput_mbps: rate,
        fct_ms: None,
        bytes: 0,
        sojourn_ms: None,
    }
}

/// A run for each seed, with transfers of these names and rates.
fn runs(names: [&str; 2], rates: &[[f64; 2]]) -> Vec<RunResult> {
    let run = |(seed, rates): (u64, &[f64; 2])| RunResult {
        seed,
        flows: vec![flow(names[0], rates[0]), flow(names[1], rates[1])],
        ..RunResult::default()
    };
    (1..).zip(rates).map(run).collect()
}

/// So many runs with these rates, each with a small deviation.
fn about(rates: [f64; 2], runs: u32) -> Vec<[f64; 2]> {
    let off = |n: u32| 0.02 * f64::from(n % 3) - 0.02;
    (0..runs).map(|n| rates.map(|rate| rate + off(n))).collect()
}

fn rows(traffic: &str, sides: [&[RunResult]; 2]) -> Vec<Row> {
    let metrics = Registry::builtin();
    let all = figures(&scenario(traffic), 2, &metrics);
    let rows = all.iter().filter_map(|figure| row(figure, sides, &metrics));
    rows.collect()
}

fn verdicts(rows: &[Row]) -> Vec<(&str, AgreementVerdict)> {
    rows.iter()
        .map(|row| (row.of.as_str(), row.verdict))
        .collect()
}

use AgreementVerdict::{Agrees, Differs, Untold};

#[test]
fn one_flow_up_and_one_down_is_a_miss_though_the_mean_is_the_same() {
    let traffic = bulk("near", 1) + &bulk("far", 1);
    let names = ["near", "far"];
    let ours = runs(names, &about([6.0, 4.0], 8));
    let other = runs(names, &about([4.0, 6.0], 8));
    let found = rows(&traffic, [&ours, &other]);
    assert_eq!(verdicts(&found), [("near", Differs), ("far", Differs)]);
    assert!((found[0].difference - 2.0).abs() < 1e-9, "{found:?}");
    let mean = |row: fn(&Row) -> f64| found.iter().map(row).sum::<f64>();
    assert!((mean(|row| row.ours) - mean(|row| row.witness)).abs() < 1e-9);
    for (runs, verdict) in [(8, Agrees), (7, Untold)] {
        let same = rows(&traffic, [&ours[..runs], &ours[..runs]]);
        assert_eq!(verdicts(&same), [("near", verdict), ("far", verdict)]);
    }
    let close = runs(names, &about([6.1, 3.9], 8));
    let close = rows(&traffic, [&ours, &close]);
    assert_eq!(verdicts(&close), [("near", Agrees), ("far", Agrees)]);
}

#[test]
fn flows_of_one_entry_are_compared_by_rank() {
    let traffic = bulk("bulk", 2);
    let names = ["bulk-1", "bulk-2"];
    // Which flow has more is chance; a factor of four is not.
    let turns = |rates: [f64; 2]| {
        let mut all = about(rates, 8);
        all.iter_mut().step_by(2).for_each(|rates| rates.reverse());
        runs(names, &all)
    };
    let unequal = turns([2.0, 8.0]);
    let swapped = runs(names, &about([8.1, 2.1], 8));
    let found = rows(&traffic, [&unequal, &swapped]);
    assert_eq!(
        verdicts(&found),
        [("bulk, 1 of 2", Agrees), ("bulk, 2 of 2", Agrees)]
    );
    let equal = runs(names, &about([5.0, 5.1], 8));
    let found = rows(&traffic, [&unequal, &equal]);
    assert_eq!(
        verdicts(&found),
        [("bulk, 1 of 2", Differs), ("bulk, 2 of 2", Differs)]
    );
}

#[test]
fn flows_that_start_one_after_another_keep_their_names() {
    let traffic = bulk("bulk", 2) + "stagger = \"1s\"\n";
    let names = ["bulk-1", "bulk-2"];
    let [ours, other] = [[2.0, 8.0], [8.0, 2.0]].map(|rates| runs(names, &about(rates, 8)));
    let found = rows(&traffic, [&ours, &other]);
    assert_eq!(verdicts(&found), [("bulk-1", Differs), ("bulk-2", Differs)]);
}

#[test]
fn what_varies_too_much_cannot_be_told_and_says_what_would() {
    let traffic = bulk("near", 1) + &bulk("far", 1);
    let names = ["near", "far"];
    let wide: Vec<[f64; 2]> = (0..8).map(|n| [f64::from(n), 9.0]).collect();
    let ours = runs(names, &wide);
    let other = runs(names, &about([3.3, 9.0], 8));
    let found = rows(&traffic, [&ours, &other]);
    assert_eq!(found[0].verdict, Untold);
    assert!(
        found[0].needed.is_some_and(|needed| needed > 8),
        "{found:?}"
    );
    assert_eq!(found[1].needed, None);
}

#[test]
fn a_difference_among_many_that_could_be_chance_is_taken_back() {
    let of = |p: f64, verdict| Row {
        scenario: String::new(),
        case: String::new(),
        of: String::new(),
        kind: None,
        metric: "sojourn",
        unit: "ms",
        ours: 1.0,
        witness: 1.0,
        difference: 0.0,
        ci95: None,
        allowed: 0.1,
        pairs: 8,
        p,
        verdict,
        needed: None,
        reader: None,
        invalid: false,
    };
    let judged = |figures| {
        let mut all = Compared {
            figures,
            ..Compared::default()
        };
        judged_together(&mut all);
        all.figures
    };
    assert_eq!(judged(vec![of(0.04, Differs)])[0].verdict, Differs);
    let mut among: Vec<Row> = (0..19).map(|_| of(1.0, Untold)).collect();
    among.push(of(0.04, Differs));
    assert!(judged(among).iter().all(|row| row.verdict == Untold));
}

const CALL: &str = "[[traffic]]\nname = \"call\"\nkind = \"call\"\ncontrol = \"copa\"\n";
const PAGE: &str = "[[traffic]]\nname = \"page\"\nkind = \"page\"\nsource = \"generated:5\"\n";

/// A run with a call that stalls for so long, on a queue, in parallel with a page that takes so
/// long.
fn busy(seed: u64, stall: f64, plt: Option<f64>) -> RunResult {
    let call = CallResult {
        name: "call".to_owned(),
        control: "copa".to_owned(),
        stall_s: stall,
        frames: 100,
        frames_late: 0,
        frames_lost: 0,
        frame_delay_ms: FrameDelay::default(),
        low_fps_events: 0,
        freezes: 0,
        playout: None,
        goodput_mbps: 2.0,
        sojourn_ms: PacketDelay::default(),
        why: None,
        audio: None,
    };
    let load = PageResult {
        name: "page".to_owned(),
        load: 0,
        site: String::new(),
        start_s: 4.0,
        plt_ms: plt,
        servers_ms: 0.0,
        round_trips_ms: 0.0,
        requests: 0,
        bytes: 0,
        connections: 0,
        stall_s: 0.0,
        frame_max_ms: None,
    };
    RunResult {
        seed,
        calls: vec![call],
        pages: vec![load],
        ..RunResult::default()
    }
}

fn of_metric(rows: &[Row], metric: &str) -> Vec<Row> {
    let of = rows.iter().filter(|row| row.metric == metric);
    of.cloned().collect()
}

#[test]
fn a_load_that_the_end_cuts_off_counts_with_the_time_it_had() {
    let side = |plt: fn(u64) -> Option<f64>| -> Vec<RunResult> {
        (1..=9).map(|seed| busy(seed, 0.0, plt(seed))).collect()
    };
    // Of nine, the first is complete in neither engine, and the second in one.
    let ours = side(|seed| (seed > 2).then_some(3000.0 + seed as f64));
    let other = side(|seed| (seed > 1).then_some(3000.0 + seed as f64));
    let found = of_metric(&rows(&format!("{CALL}{PAGE}"), [&ours, &other]), "plt");
    assert_eq!(found.len(), 1, "no second load: {found:?}");
    assert_eq!(
        (found[0].of.as_str(), found[0].kind),
        ("page, load 1", Some("page"))
    );
    assert_eq!(found[0].pairs, 8);
    // 6000 ms were left from 4 s on; the other took 3002.
    assert!((found[0].difference - 2998.0 / 8.0).abs() < 1e-6);
}

#[test]
fn a_stall_of_nobody_is_no_evidence_and_a_short_one_no_difference() {
    let side = |stall: fn(u64) -> f64| -> Vec<RunResult> {
        (1..=9).map(|seed| busy(seed, stall(seed), None)).collect()
    };
    let [never, short] = [side(|_| 0.0), side(|seed| 0.01 * seed as f64)];
    let stall = |sides| of_metric(&rows(CALL, sides), "stall");
    assert_eq!(stall([&never, &never]).len(), 0);
    assert_eq!(stall([&never, &short])[0].verdict, Agrees);
    let long = side(|seed| 1.0 + 0.01 * seed as f64);
    assert_eq!(stall([&never, &long])[0].verdict, Differs);
}

#[test]
fn the_links_own_queue_is_compared_too() {
    let side = |wait: f64| -> Vec<RunResult> {
        let link = |seed: u64| LinkResult {
            name: "link".to_owned(),
            discipline: "pfifo".to_owned(),
            utilization: Some(0.99 + 1e-4 * seed as f64),
            sojourn_ms: Sojourn {
                mean: Some(wait + 0.01 * seed as f64),
                ..Sojourn::default()
            },
            drops: 0,
            marks: 0,
            lost: 0,
            packets: 1,
            backlog: Default::default(),
            occupancy: None,
            moves: None,
            residence: Vec::new(),
            children: Vec::new(),
        };
        let run = |seed| RunResult {
            seed,
            links: vec![link(seed)],
            ..RunResult::default()
        };
        (1..=8).map(run).collect()
    };
    let found = rows(&bulk("bulk", 1), [&side(15.0), &side(12.0)]);
    let found: Vec<(&str, AgreementVerdict)> =
        found.iter().map(|row| (row.metric, row.verdict)).collect();
    assert_eq!(found, [("utilization", Agrees), ("sojourn", Differs)]);
}

/// The pooled metric of transfers whose rates both sides have under each of so many disciplines.
fn pooled_rates(cases: &[[Vec<RunResult>; 2]]) -> Pooled {
    let metrics = Registry::builtin();
    let traffic = bulk("near", 1) + &bulk("far", 1);
    let all = figures(&scenario(&traffic), 0, &metrics);
    let mut found = reader::pooled("small", &all, cases, &metrics);
    assert_eq!(found.len(), 1, "delays are not in these runs: {found:?}");
    found.remove(0)
}

/// Runs whose rates deviate by chance, by more than a tenth.
fn noisy(rates: [f64; 2], phase: u32) -> Vec<RunResult> {
    let off = |n: u32| [-0.4, -0.1, 0.3, 0.2][((n + phase) % 4) as usize];
    let rates: Vec<[f64; 2]> = (0..8)
        .map(|n| rates.map(|rate| rate * (1.0 + off(n))))
        .collect();
    runs(["near", "far"], &rates)
}

#[test]
fn what_no_discipline_tells_alone_all_tell_together() {
    let cases: Vec<[Vec<RunResult>; 2]> = (0..4)
        .map(|phase| [noisy([4.2, 2.1], phase), noisy([6.0, 3.0], phase + 2)])
        .collect();
    let metrics = Registry::builtin();
    let traffic = bulk("near", 1) + &bulk("far", 1);
    let all = figures(&scenario(&traffic), 0, &metrics);
    let [ours, other] = &cases[0];
    let alone = row(&all[2], [ours, other], &metrics).unwrap();
    assert_eq!((alone.metric, alone.verdict), ("flow_rate", Untold));
    let found = pooled_rates(&cases);
    assert_eq!((found.figures, found.lower, found.higher), (8, 4, 0));
    assert!((found.percent + 30.0).abs() < 1e-6, "{found:?}");
    assert_eq!(found.verdict, Differs);
}

#[test]
fn a_small_flow_counts_as_much_as_a_large_one() {
    let names = ["near", "far"];
    let ours = runs(names, &about([10.0, 0.5], 8));
    let other = runs(names, &about([10.0, 1.0], 8));
    let found = pooled_rates(&[[ours, other]]);
    assert!((found.percent + 25.0).abs() < 1.0, "{found:?}");
}

#[test]
fn what_is_always_zero_in_the_reference_is_not_pooled() {
    let names = ["near", "far"];
    let ours = runs(names, &about([10.0, 0.5], 8));
    let other = runs(names, &[[10.0, 0.0]; 8]);
    assert_eq!(pooled_rates(&[[ours, other]]).figures, 1);
}

#[test]
fn a_user_reads_flows_and_not_the_link_and_five_milliseconds_are_nothing() {
    let side = |plt: f64| -> Vec<RunResult> {
        (1..=9)
            .map(|seed| busy(seed, 0.0, Some(plt + 0.1 * seed as f64)))
            .collect()
    };
    let read = |plt: [f64; 2]| {
        let rows = rows(&format!("{CALL}{PAGE}"), [&side(plt[0]), &side(plt[1])]);
        assert!(
            rows.iter()
                .all(|row| row.reader.is_some() == row.kind.is_some())
        );
        let row = of_metric(&rows, "plt").remove(0);
        row.reader.map(|reading| reading.verdict)
    };
    assert_eq!(read([34.0, 30.0]), Some(Agrees));
    assert_eq!(read([36.0, 30.0]), Some(Differs));
    assert_eq!(read([1090.0, 1000.0]), Some(Agrees));
    assert_eq!(read([1110.0, 1000.0]), Some(Differs));
}

#[test]
fn nineteen_of_twenty_have_to_be_near_and_two_far_are_too_many() {
    let of = |verdict| {
        let side = |plt: f64| -> Vec<RunResult> {
            (1..=9)
                .map(|seed| busy(seed, 0.0, Some(plt + 0.1 * seed as f64)))
                .collect()
        };
        let rows = rows(PAGE, [&side(1000.0), &side(1000.0)]);
        let mut row = of_metric(&rows, "plt").remove(0);
        row.reader.as_mut().unwrap().verdict = verdict;
        row
    };
    let judged = |near: usize, far: usize, open: usize| {
        let repeated = |verdict, n| std::iter::repeat_n(of(verdict), n);
        let rows: Vec<Row> = repeated(Agrees, near)
            .chain(repeated(Differs, far))
            .chain(repeated(Untold, open))
            .collect();
        let found = Readings::of(&rows);
        assert_eq!(
            (found.all, found.near, found.far),
            (near + far + open, near, far)
        );
        found.verdict()
    };
    assert_eq!(judged(19, 1, 0), Agrees);
    assert_eq!(judged(18, 2, 0), Differs);
    assert_eq!(judged(18, 1, 1), Untold);
    assert_eq!(judged(0, 0, 0), Untold);
}

#[test]
fn less_than_five_milliseconds_are_nothing_in_all_disciplines_either() {
    let side = |plt: f64| -> Vec<RunResult> {
        let load = |seed: u64| busy(seed, 0.0, Some(plt + 0.1 * seed as f64));
        (1..=9).map(load).collect()
    };
    let metrics = Registry::builtin();
    let all = figures(&scenario(PAGE), 1, &metrics);
    let pooled = |plt: [f64; 2]| {
        let cases = [[side(plt[0]), side(plt[1])]];
        reader::pooled("small", &all, &cases, &metrics).remove(0)
    };
    let near = pooled([7.0, 10.0]);
    assert!((near.percent + 6.0).abs() < 1e-6, "{near:?}");
    assert_eq!((near.verdict, near.lower), (Agrees, 1));
    assert_eq!(pooled([14.0, 20.0]).verdict, Differs);
}

#[test]
fn a_stall_of_nobody_is_not_pooled() {
    let side =
        |stall: f64| -> Vec<RunResult> { (1..=9).map(|seed| busy(seed, stall, None)).collect() };
    let metrics = Registry::builtin();
    let all = figures(&scenario(CALL), 0, &metrics);
    let stalls = |sides: [f64; 2]| -> Vec<usize> {
        let pooled = reader::pooled("small", &all, &[sides.map(side)], &metrics);
        let stalls = pooled.iter().filter(|pooled| pooled.metric == "stall");
        stalls.map(|pooled| pooled.figures).collect()
    };
    assert!(stalls([0.0, 0.0]).is_empty());
    assert_eq!(stalls([0.1, 0.0]), [1]);
}
