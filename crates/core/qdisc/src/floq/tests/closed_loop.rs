//! Senders with a window, as TCP has one: the type that a queue assigns to them while they fill it.

use super::*;
use std::collections::VecDeque;
use units::Duration;

/// Sends as much as its window allows; a loss takes `keeps` percent of the window, once for a
/// window.
struct Sender {
    flow: u32,
    /// In hundredths of a packet.
    window: u64,
    keeps: u64,
    inflight: u64,
    next: u32,
    /// Losses of packets sent before count as one.
    recovered: u32,
}

/// News for a sender, and when: a packet arrived, or it did not.
type News = (Instant, usize, u32, bool);

/// A link of 10 Mbit/s, which sends a packet in 1.2 ms.
struct Path {
    queue: Floq<u32>,
    senders: Vec<Sender>,
    rtt: Duration,
    news: VecDeque<News>,
    log: Log<(u32, u32)>,
    drops: usize,
}

impl Path {
    fn new(seed: u64, set: &[(&str, &str)], rtt: u64, keeps: &[u64]) -> Self {
        let env = Env {
            seed,
            ..Env::default()
        };
        let sender = |(flow, &keeps): (u32, &u64)| Sender {
            flow,
            window: 1000,
            keeps,
            inflight: 0,
            next: 0,
            recovered: 0,
        };
        Path {
            queue: Floq::new(&settings(set), &env).unwrap(),
            senders: (0..).zip(keeps).map(sender).collect(),
            rtt: Duration::from_millis(rtt),
            news: VecDeque::new(),
            log: Log::by(|_, packet| (packet.flow.0, packet.payload)),
            drops: 0,
        }
    }

    /// Sends what the windows allow. A loss becomes known as late as if the packet had gone
    /// through.
    fn send(&mut self, now: Instant) {
        for sender in &mut self.senders {
            while (sender.inflight + 1) * 100 <= sender.window {
                let packet = Packet {
                    payload: sender.next,
                    ..of_flow(sender.flow, 1500, Ecn::NotCapable)
                };
                sender.next += 1;
                sender.inflight += 1;
                self.queue.enqueue(now, packet, &mut self.log);
            }
        }
        let waits = Duration::from_micros(1200) * u64::from(self.queue.backlog().packets);
        for ((flow, number), _) in self.log.dropped.drain(..) {
            self.drops += 1;
            let at = now + waits + self.rtt;
            self.news.push_back((at, flow as usize, number, false));
        }
    }

    fn hear(&mut self, now: Instant) {
        while let Some(&(at, flow, number, arrived)) = self.news.front()
            && at <= now
        {
            self.news.pop_front();
            let sender = &mut self.senders[flow];
            sender.inflight -= 1;
            if arrived {
                sender.window += 10_000 / sender.window;
            } else if number >= sender.recovered {
                sender.recovered = sender.next;
                sender.window = (sender.window * sender.keeps / 100).max(200);
            }
        }
    }

    /// Runs for so many seconds. For each flow, in how many percent of the milliseconds it was taken
    /// for unresponsive.
    fn run(&mut self, seconds: u64) -> Vec<u64> {
        let mut unresponsive = vec![0; self.senders.len()];
        let ticks = seconds * 1_000_000 / 1200;
        for tick in 0..ticks {
            let now = Instant::ZERO + Duration::from_micros(1200) * tick;
            self.hear(now);
            self.send(now);
            if let Some(packet) = self.queue.dequeue(now, &mut self.log) {
                let at = now + self.rtt;
                let news = (at, packet.flow.0 as usize, packet.payload, true);
                self.news.push_back(news);
            }
            self.news.make_contiguous().sort();
            for (flow, count) in unresponsive.iter_mut().enumerate() {
                let kind = self
                    .queue
                    .table
                    .lookup(of_flow(flow as u32, 0, Ecn::Ect0).hash);
                let kind = kind.map(|at| self.queue.flows[at].behaviour.kind());
                *count += u64::from(kind == Some(FlowType::Unresponsive));
            }
        }
        unresponsive
            .iter()
            .map(|count| count * 100 / ticks)
            .collect()
    }
}

/// The mean of `Path::run` over four seeds, for each flow: a single minute is subject to chance.
fn means(set: &[(&str, &str)], rtt: u64, keeps: &[u64]) -> Vec<u64> {
    let runs: Vec<_> = (0..4)
        .map(|seed| Path::new(seed, set, rtt, keeps).run(60))
        .collect();
    let mean = |flow| runs.iter().map(|run| run[flow]).sum::<u64>() / 4;
    (0..keeps.len()).map(mean).collect()
}

/// The paper's link and buffer with 20 ms, and longer ways with enough and too little buffer. Windows
/// that fall by a half, as Reno's, by 30 %, as CUBIC's, and by 15 %; one flow, and up to ten.
#[test]
fn who_responds_is_taken_for_responsive() {
    for (limit, rtt) in [
        ("20", 20),
        ("40", 20),
        ("60", 60),
        ("20", 100),
        ("10", 200),
        ("100", 20),
    ] {
        // With ten places and 200 ms a window of a few packets comes in bursts, with pauses between.
        let most = if rtt == 200 { 8 } else { 5 };
        for keeps in [vec![50], vec![70], vec![85], vec![70; 3], vec![50; 5]] {
            let found = means(&[("limit", limit)], rtt, &keeps);
            assert!(
                found.iter().all(|&percent| percent <= most),
                "{limit} {rtt} {keeps:?}: {found:?}"
            );
        }
    }
    // Ten of them with less than four packets each are close to the resolution of windows.
    let found = means(&[("limit", "20")], 20, &[70; 10]);
    assert!(found.iter().all(|&percent| percent <= 20), "{found:?}");
}

/// Why windows are short: with longer ones, a lone flow's fall is not seen.
#[test]
fn long_windows_miss_the_fall_of_a_lone_flow() {
    let mut path = Path::new(0, &[("limit", "20"), ("window", "200ms")], 20, &[70]);
    let found = path.run(60);
    assert!(found[0] > 80, "{found:?}");
    assert!(path.drops > 100, "it fell that often");
}

/// A sender that ignores drops, in parallel with some that do not, is found out within seconds.
#[test]
fn who_does_not_respond_is_found_out() {
    let mut path = Path::new(0, &[("limit", "20")], 20, &[50, 50, 50, 100]);
    path.senders[3].window = 2000;
    let found = path.run(60);
    assert!(found[3] > 90, "{found:?}");
    assert!(found[..3].iter().all(|&percent| percent <= 5), "{found:?}");
}
