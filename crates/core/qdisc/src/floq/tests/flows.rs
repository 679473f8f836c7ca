//! Which flows respond, and how many are known.

use super::*;
use crate::{Ignore, Packet};
use units::Duration;

fn trials(set: &[(&str, &str)]) -> Trials {
    Trials::of(&FloqParams::parse(&settings(set)).unwrap())
}

/// A sender of 1200 B packets, so many nanoseconds apart, that loses one every second. Its gaps after
/// the first loss are `slower` times as long, in percent, from one round trip of 40 ms on; at the next
/// loss it has recovered. Returns when its type changed, in seconds, and to what.
fn sender(gap: u64, slower: u64, seconds: u64, trials: &Trials) -> Vec<(u64, FlowType)> {
    let mut now = Instant::ZERO;
    let mut flow = Behaviour::new(now);
    let mut changes = Vec::new();
    let (end, mut loss) = (ms(seconds * 1000), ms(1000));
    let mut lost = Instant::NEVER;
    while now < end {
        if let Some(kind) = flow.arrived(now, 1200, trials) {
            changes.push((now.as_nanos() / 1_000_000_000, kind));
        }
        if now >= loss {
            flow.told(now, trials);
            lost = now;
            loss += Duration::from_secs(1);
        }
        let since = now.since(lost).as_millis();
        let reduced = lost < now && (40..700).contains(&since);
        now += Duration::from_nanos(if reduced { gap * slower / 100 } else { gap });
    }
    changes
}

/// A game's 1 Mbit/s, the paper's 1.5 Mbit/s, and 15 Mbit/s. Three losses, at 1, 2 and 3 s; the
/// outcome of the third is known 400 ms later.
#[test]
fn a_constant_rate_becomes_unresponsive_and_stays_it() {
    for gap in [10_000_000, 6_400_000, 640_000] {
        let changes = sender(gap, 100, 60, &trials(&[]));
        assert_eq!(changes, [(3, FlowType::Unresponsive)], "{gap} ns");
    }
    let patient = trials(&[("strikes", "10")]);
    assert_eq!(
        sender(6_400_000, 100, 60, &patient),
        [(10, FlowType::Unresponsive)]
    );
}

#[test]
fn a_rate_that_halves_stays_responsive() {
    for gap in [10_000_000, 6_400_000, 640_000] {
        for slower in [150, 200, 1000] {
            assert_eq!(sender(gap, slower, 60, &trials(&[])), [], "{gap} ns");
        }
    }
    // 5 % are no response, with the default; with another one they are.
    let changes = sender(640_000, 105, 60, &trials(&[]));
    assert_eq!(changes, [(3, FlowType::Unresponsive)]);
    assert_eq!(sender(640_000, 105, 60, &trials(&[("fall", "2")])), []);
}

/// Sends every 5 ms; from 10 s on, every 20 ms for half a second after each loss, one of which
/// occurs each second. Returns the type that it is taken for in the end.
fn penitent(set: &[(&str, &str)], falls: u64) -> FlowType {
    let trials = trials(set);
    let mut flow = Behaviour::new(ms(0));
    for now in (0..(10 + falls) * 1000).step_by(5) {
        let halved = now >= 10_000 && now % 1000 < 500 && now % 1000 > 50;
        if halved && now % 20 != 0 {
            continue;
        }
        flow.arrived(ms(now), 1200, &trials);
        if now % 1000 == 0 {
            flow.told(ms(now), &trials);
        }
        if now == 9_995 {
            assert_eq!(flow.kind(), FlowType::Unresponsive);
        }
    }
    flow.kind()
}

#[test]
fn there_is_a_way_back_unless_it_is_closed() {
    assert_eq!(penitent(&[], 2), FlowType::Unresponsive);
    assert_eq!(penitent(&[], 3), FlowType::Responsive);
    assert_eq!(penitent(&[("pardon", "1")], 1), FlowType::Responsive);
    assert_eq!(penitent(&[("pardon", "0")], 30), FlowType::Unresponsive);
}

/// The paper's periodic bursts (V.B): a second at the beat, a second of silence, and a loss in each
/// tenth of a second that has packets. Silence is no response; nor does it count against a flow.
#[test]
fn bursts_do_not_pass_for_responses() {
    let trials = trials(&[]);
    let mut flow = Behaviour::new(ms(0));
    let mut changes = Vec::new();
    for now in (0..60_000).step_by(8).filter(|now| now % 2000 < 1000) {
        changes.extend(flow.arrived(ms(now), 1500, &trials));
        if now % 104 == 0 {
            flow.told(ms(now), &trials);
        }
    }
    assert_eq!(changes, [FlowType::Unresponsive]);

    // A page every second: 20 packets within 40 ms, each with a loss.
    let mut flow = Behaviour::new(ms(0));
    for now in (0..60_000).step_by(2).filter(|now| now % 1000 < 40) {
        assert_eq!(flow.arrived(ms(now), 1500, &trials), None);
        if now % 1000 == 20 {
            flow.told(ms(now), &trials);
        }
    }
}

/// Bursts of 400, 200 and 100 ms with pauses as long, of which a trial of eight windows never sees the
/// end within one.
#[test]
fn short_bursts_are_found_out() {
    let trials = trials(&[]);
    for half in [400, 200, 100] {
        let mut flow = Behaviour::new(ms(0));
        let mut changes = Vec::new();
        let on = |now: &u64| now % (2 * half) < half;
        for now in (0..60_000).step_by(4).filter(on) {
            changes.extend(flow.arrived(ms(now), 1500, &trials));
            if now % 52 == 0 {
                flow.told(ms(now), &trials);
            }
        }
        assert_eq!(changes, [FlowType::Unresponsive], "{half} ms");
    }
}

/// One whose bursts are half as fast after each pause with a drop before it has responded.
#[test]
fn who_comes_back_slower_has_responded() {
    let trials = trials(&[]);
    let mut flow = Behaviour::new(ms(0));
    for burst in 0..100 {
        // Drops are at the end of each second burst.
        let every = if burst % 2 == 0 { 4 } else { 8 };
        for now in (burst * 400..burst * 400 + 200).step_by(every) {
            assert_eq!(flow.arrived(ms(now), 1500, &trials), None);
        }
        if burst % 2 == 0 {
            flow.told(ms(burst * 400 + 198), &trials);
        }
    }
}

/// Voice, with two or three packets in a window: a drop of one of them proves nothing.
#[test]
fn few_packets_are_not_judged() {
    assert_eq!(sender(20_000_000, 100, 600, &trials(&[])), []);
}

/// A queue that always drops by chance once packets wait: the arrival rate decides about a flow,
/// and observers are notified.
#[test]
fn observers_are_told_who_is_what() {
    let set = [
        ("limit", "10"),
        ("threshold", "0"),
        ("responsive", "0"),
        ("unresponsive", "0"),
        ("drop_responsive", "100"),
        ("drop_unresponsive", "100"),
    ];
    let (mut queue, mut log) = (floq(&set), letters());
    for now in (0..3000).step_by(10) {
        put(&mut queue, ms(now), "C", 1500, &mut log);
    }
    assert_eq!(log.moved, [(2, None, 0), (2, Some(0), 1)]);
    assert_eq!(queue.classes(), ["responsive", "unresponsive"]);
    // Those that wait were counted before; the next ones are of the new type.
    assert_eq!(queue.waiting.of(FlowType::Unresponsive), 0);
    let admit = settings(&[("threshold", "100")]);
    queue.change(ms(3000), &admit, &mut log).unwrap();
    put(&mut queue, ms(3000), "C", 1500, &mut log);
    assert_eq!(queue.waiting.of(FlowType::Unresponsive), 1);
    // Forgotten, it begins anew.
    put(&mut queue, ms(13_000), "C", 1500, &mut log);
    assert_eq!(log.moved[2..], [(2, None, 0)]);
    let known = queue.table.active().next().unwrap();
    let flow = &queue.flows[known];
    assert_eq!(
        (flow.seen, flow.behaviour.kind()),
        (1, FlowType::Responsive)
    );
}

/// A sender that understands marks, and does not slow down: none of its packets is dropped.
#[test]
fn ignoring_marks_is_found_out_too() {
    let set = [
        ("threshold", "0"),
        ("responsive", "0"),
        ("drop_responsive", "100"),
        ("ecn", "yes"),
    ];
    let (mut queue, mut log) = (floq(&set), letters());
    for now in (0..3000).step_by(10) {
        queue.enqueue(ms(now), of_flow(0, 1500, Ecn::Ect0), &mut log);
    }
    assert_eq!((log.dropped.len(), log.marked.len() > 100), (0, true));
    assert_eq!(log.moved, [(0, None, 0), (0, Some(0), 1)]);
}

fn spread(number: u32) -> Packet<u32> {
    Packet {
        hash: number.wrapping_mul(0x9e37_79b1),
        ..of_flow(number, 100, Ecn::NotCapable)
    }
}

/// 100,000 flows at once: as many are known as there is room for, and the others are taken for an
/// established flow. Ten seconds later all are forgotten, some with each packet.
#[test]
fn the_table_is_bounded_and_forgets() {
    let mut queue = floq(&[]);
    let room = queue.table.len();
    for number in 0..100_000 {
        queue.enqueue(ms(0), spread(number), &mut Ignore);
        queue.dequeue(ms(0), &mut Ignore);
    }
    // 1024, and one for the guests of each set of eight.
    assert_eq!((room, queue.table.active().count()), (1024 + 128, room));
    assert_eq!((queue.table.len(), queue.flows.len()), (room, room));

    for number in 0..room as u32 {
        queue.enqueue(ms(10_000), spread(number), &mut Ignore);
        queue.dequeue(ms(10_000), &mut Ignore);
    }
    let known = queue.table.active().count();
    assert!(known <= room, "{known}");
    let old = |flow: usize| queue.table.silence(ms(10_000), flow) > Duration::ZERO;
    assert_eq!(queue.table.active().filter(|&flow| old(flow)).count(), 0);
}

/// A flow without room has no establishment to be spared by, and no behaviour.
#[test]
fn guests_are_established_and_not_judged() {
    let (mut queue, mut log) = (filled(0, &[("drop_responsive", "100")]), letters());
    // A has a place; seven others take the rest of the eight, on top of 90 packets.
    put(&mut queue, ms(0), "BCDEFGH", 1500, &mut log);
    let before = queue.backlog().packets;
    log.dropped.clear();
    for now in 0..200 {
        put(&mut queue, ms(now * 10), "IJ", 1500, &mut log);
    }
    assert_eq!(log.dropped.len(), 400, "never protected");
    assert_eq!(queue.backlog().packets, before);
    assert!(log.moved.iter().all(|moved| moved.0 < 8), "{:?}", log.moved);
}

/// Lengths of zero and of the maximum, at one instant and at the end of time.
#[test]
fn hostile_packets() {
    let mut queue = floq(&[("limit", "20"), ("window", "10ms")]);
    let mut log = letters();
    for now in [0, 1, 5, 10, 20, 21, 1 << 33, u64::MAX >> 20] {
        for number in 0..1000 {
            let len = [0, u32::MAX, 1][number % 3];
            put(&mut queue, ms(now), "A", len, &mut log);
        }
    }
    let sent = take(&mut queue, Instant::NEVER, 100).len();
    assert_eq!(sent + log.dropped.len(), 8000);
    assert_eq!((queue.backlog().bytes, queue.waiting.all()), (0, 0));

    // A constant beat of packets without bytes is a constant rate; and one of huge packets.
    for len in [0, u32::MAX] {
        let mut flow = Behaviour::new(ms(0));
        let mut changes = Vec::new();
        for now in (0..5000).step_by(5) {
            changes.extend(flow.arrived(ms(now), len, &trials(&[])));
            flow.told(ms(now), &trials(&[]));
        }
        assert_eq!(changes, [FlowType::Unresponsive], "{len}");
    }
}
