//! Packet traces by hand, and settings of the disciplines inside.

use super::*;
use crate::testing::{Log, letters, ms, numbers, of_flow, of_letter, put, settings, take};
use crate::{Ecn, Env, Ignore, Limit, Registry};

fn build(choice: &str) -> Result<Box<dyn Qdisc<u32>>, Refusal> {
    Registry::builtin().build(&choice.parse()?, &Env::default())
}

fn built(choice: &str) -> Box<dyn Qdisc<u32>> {
    build(choice).unwrap()
}

/// Packets of 1000 bytes and a threshold of 2000: a flow's first two are young, as 2000 is not above
/// 2000. The base keeps each level in order: young A A B C C, then old A A A C; D comes in between.
#[test]
fn young_flows_go_before_old_ones() {
    let mut queue = built("2lps(pfifo),threshold=2kB");
    put(&mut *queue, ms(0), "AAAAABCCC", 1000, &mut Ignore);
    assert_eq!(take(&mut *queue, ms(0), 6), "AABCCA");
    put(&mut *queue, ms(0), "DA", 1000, &mut Ignore);
    assert_eq!(take(&mut *queue, ms(0), 9), "DAACA");
    assert!(queue.backlog().is_empty());
}

/// With fair queuing inside, each level takes turns by quanta of 1514 bytes. A's third packet and B's
/// are old. Young: A 1514, 514, -486 (two packets), then B the same. Old: A has four, B two more:
/// A A, then B B, then A, with 1028 left, twice.
#[test]
fn the_base_serves_each_level() {
    let mut queue = built("2lps(fq_fifo),threshold=2kB");
    put(&mut *queue, ms(0), "AAAAAABBBB", 1000, &mut Ignore);
    assert_eq!(take(&mut *queue, ms(0), 10), "AABBAABBAA");
}

/// Three levels: the first two packets of a flow, the next three, the rest. A has six, B four, C one.
#[test]
fn more_thresholds_make_more_levels() {
    let mut queue = built("2lps(pfifo),threshold=2kB/5kB");
    assert_eq!(queue.classes(), ["young", "2", "old"]);
    put(&mut *queue, ms(0), "AAAAAABBBBC", 1000, &mut Ignore);
    assert_eq!(take(&mut *queue, ms(0), 11), "AABBCAAABBA");
    let more = settings(&[("threshold", "1kB")]);
    let error = queue.change(ms(0), &more, &mut Ignore).unwrap_err();
    let text = "the number of thresholds cannot change once there is a queue";
    assert_eq!(error.to_string(), text);
    let refused = build("2lps,threshold=0B").err().unwrap().to_string();
    assert!(refused.contains("from 1B to 1000GB"), "{refused}");
}

/// Bytes that were dropped were sent: of A's first three packets one is refused, and the fourth is
/// old. Each level has the room of the base, so that an old packet finds some.
#[test]
fn what_is_dropped_counts_and_each_level_has_its_room() {
    let mut log = letters();
    let mut queue = built("2lps(pfifo,limit=2),threshold=3kB");
    put(&mut *queue, ms(0), "AAAA", 1000, &mut log);
    assert_eq!(log.who(), "A");
    assert_eq!(queue.backlog().packets, 3);
    let env = Env {
        limit: Some(Limit::Packets(1)),
        ..Env::default()
    };
    let choice = "2lps,threshold=1kB".parse().unwrap();
    let mut queue = Registry::builtin().build(&choice, &env).unwrap();
    put(&mut *queue, ms(0), "AAA", 1000, &mut Ignore);
    assert_eq!(queue.backlog().packets, 2);
}

/// After 3000 bytes A is old, after a silence of less than 120 s it still is, then it is young.
/// While a packet of it waits, it does not grow young, whether by time or by a higher threshold.
#[test]
fn a_flow_grows_young_by_silence_alone() {
    let mut queue = built("2lps(pfifo),threshold=2kB");
    put(&mut *queue, ms(0), "AAA", 1000, &mut Ignore);
    assert_eq!(take(&mut *queue, ms(0), 9), "AAA");
    put(&mut *queue, ms(119_999), "AB", 1000, &mut Ignore);
    assert_eq!(take(&mut *queue, ms(119_999), 9), "BA");
    put(&mut *queue, ms(239_999), "BBBA", 1000, &mut Ignore);
    assert_eq!(take(&mut *queue, ms(239_999), 9), "BBAB");
    put(&mut *queue, ms(239_999), "BB", 1000, &mut Ignore);
    let wide = settings(&[("threshold", "1MB")]);
    queue.change(ms(239_999), &wide, &mut Ignore).unwrap();
    put(&mut *queue, ms(900_000), "BC", 1000, &mut Ignore);
    assert_eq!(take(&mut *queue, ms(900_000), 9), "CBBB");
}

/// CoDel acts on the level that stands, as the traces of `codel` have it: 600 packets of an old
/// flow at 0, one leaves in each millisecond. Dropped packets no longer wait: when all has left, a
/// silence makes the flow young.
#[test]
fn a_base_that_drops_is_followed() {
    let mut log: Log<u64> = Log::by(|now, _| now.as_nanos() / 1_000_000);
    let mut queue = built("2lps(codel),threshold=1kB,idle=1s");
    for _ in 0..600 {
        queue.enqueue(ms(0), of_flow(0, 1500, Ecn::Ect0), &mut log);
    }
    for at in 0..210 {
        queue.dequeue(ms(at), &mut log);
    }
    assert_eq!(
        log.dropped,
        [105, 205].map(|at| (at, DropReason::Congestion))
    );
    let old = queue.children().pop().unwrap();
    assert_eq!((old.name.as_str(), old.drops, old.marks), ("old", 2, 0));
    assert_eq!((old.packets, old.bytes), (210, 315_000));
    assert_eq!(old.backlog.packets, 600 - 210 - 2);
    while queue.dequeue(ms(210), &mut log).is_some() {}
    put(&mut *queue, ms(2000), "BA", 900, &mut log);
    let young = &queue.children()[0];
    assert_eq!((young.name.as_str(), young.backlog.packets), ("young", 2));
}

/// A is placed once and moves once; B, of two packets, stays. Marks are counted where they are made.
#[test]
fn moves_and_marks_are_told() {
    let mut log = numbers();
    let mut queue = built("2lps(fq_codel,ce_threshold=1ms),threshold=2kB");
    assert_eq!(queue.classes(), ["young", "old"]);
    for flow in [0, 0, 1, 0, 0, 1] {
        queue.enqueue(ms(0), of_flow(flow, 1000, Ecn::Ect0), &mut log);
    }
    assert_eq!(log.moved, [(0, None, 0), (1, None, 0), (0, Some(0), 1)]);
    while queue.dequeue(ms(2), &mut log).is_some() {}
    let marks: Vec<u64> = queue.children().iter().map(|child| child.marks).collect();
    assert_eq!((marks, log.marked.len()), (vec![4, 2], 6));
}

/// Classes and statistics of disciplines two levels deep. Confucius' first class is that of new
/// flows; with a threshold of 2000 inside and 4000 outside, A's third packet is old inside and
/// young outside.
#[test]
fn names_are_combined() {
    let queue = built("2lps(confucius,targets=10/50)");
    let classes = [
        "young/new",
        "young/1",
        "young/2",
        "old/new",
        "old/1",
        "old/2",
    ];
    assert_eq!(queue.classes(), classes);
    let mut queue = built("2lps(2lps,threshold=2kB),threshold=4kB");
    let classes = ["young/young", "young/old", "old/young", "old/old"];
    assert_eq!(queue.classes(), classes);
    let mut log = letters();
    put(&mut *queue, ms(0), "AAAAA", 1000, &mut log);
    // The outer one does not know the class that the flow left: for the second level it is new.
    assert_eq!(log.moved, [(0, None, 0), (0, Some(0), 1), (0, None, 2)]);
    let waiting = |child: ChildStats| (child.name, child.backlog.packets);
    let children: Vec<_> = queue.children().into_iter().map(waiting).collect();
    let expected = [
        ("young", 4),
        ("young/young", 2),
        ("young/old", 2),
        ("old", 1),
        ("old/young", 1),
        ("old/old", 0),
    ];
    assert_eq!(children, expected.map(|(name, n)| (name.to_owned(), n)));
}

#[test]
fn settings_of_children_are_read_and_refused() {
    assert!(built("2lps(codel,limit=1)").children().len() == 2);
    for (choice, refusal) in [
        (
            "2lps(codle)",
            "2lps: there is no discipline \"codle\"; did you mean codel?",
        ),
        (
            "2lps(codel,tarket=1ms)",
            "2lps: codel: there is no parameter \"tarket\"; did you mean target?",
        ),
        (
            "2lps(codel,target=1h)",
            "2lps: codel: parameter target: 1h is outside",
        ),
        (
            "2lps(codel),target=1ms",
            "2lps: there is no parameter \"target\"; there are: threshold,",
        ),
        (
            "2lps(codel;codel)",
            "2lps contains 1, not 2; write 2lps(BASE)",
        ),
        (
            "2lps(2lps(codel(pie)))",
            "2lps: 2lps: codel contains no other; write codel",
        ),
        (
            "2lps(2lps(2lps(2lps)))",
            "2lps: 2lps: 2lps: 2lps on level 4 would contain another",
        ),
    ] {
        let error = build(choice).err().expect(choice).to_string();
        assert!(error.starts_with(refusal), "{choice}: {error}");
    }
}

/// A setting of a child is not one of the composite's; parameters are then unchanged.
#[test]
fn a_change_is_of_the_composite_alone() {
    let mut queue = built("2lps(codel)");
    let before = queue.params();
    for set in [("target", "1ms"), ("codel.target", "1ms"), ("flows", "0")] {
        let both = settings(&[("threshold", "1kB"), set]);
        queue.change(ms(0), &both, &mut Ignore).unwrap_err();
        assert_eq!(queue.params(), before);
    }
    put(&mut *queue, ms(0), "AB", 1000, &mut Ignore);
    queue.enqueue(ms(0), of_letter('A', 6_330_209), &mut Ignore);
    // A has sent 6,331,209 bytes, one more than the default.
    assert_eq!(take(&mut *queue, ms(0), 9), "ABA");
    assert_eq!(queue.children()[1].packets, 1);
}
