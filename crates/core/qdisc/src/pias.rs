//! `pias`: priority falls with the bytes that a flow has sent.
//!
//! Principles: W. Bai et al., "Information-Agnostic Flow Scheduling for Commodity Data Centers",
//! NSDI 2015 (PIAS), the Confucius paper's "SJF". Shortest job first without knowing any size:
//! flows begin in the highest of up to eight priorities and sink by one with each threshold that
//! their bytes cross (a multi-level feedback queue); a priority sends only while all higher ones
//! are empty. Not for: a call next to pages. It is the longest job of all, and soon goes last.
//!
//! From the authors' software (PIAS-Software): its thresholds for eight priorities, and one limit
//! for all queues, dropping arrivals, from its `sch_pias` (which counts bytes, here packets).
//! Differences, since there the sender's kernel counts bytes and knows connections:
//!
//! - bytes are those of IP packets as they arrive, retransmissions and headers included;
//! - a flow with no packets queued that has been silent for `idle` starts anew. There a connection
//!   ends with its FIN, and a starved one starts anew after consecutive timeouts, which are such
//!   pauses;
//! - its ECN threshold, which is meant for DCTCP, is left out.

use crate::ages::{Ages, Memory};
use crate::pool::{Fifo, Pool};
use crate::thresholds::{MAX_THRESHOLDS, Thresholds};
use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `pias`.
    pub struct PiasParams {
        /// Limit of the backlog of all priorities together, in packets.
        limit: u32 = "1000", range "1".."1000000", source "Linux: tx_queue_len of an Ethernet device; sch_pias has 1 MiB, about 700 packets";
        /// Numbers of sent bytes after which a flow sinks by one priority: one to seven increasing
        /// values.
        thresholds: Thresholds = "1327140B/1940340B/2406080B/2861600B/3128780B/3412020B/3626640B", source "PIAS-Software pias4/params.c, web search: 909, 1329, 1648, 1960, 2143, 2337 and 2484 packets of 1460 B";
        /// Number of flows whose bytes are remembered, those with packets waiting apart.
        flows: u32 = "16384", range "1".."1048576", source "this project: with the default idle time, as many new flows a second";
        /// A flow with no packet waiting and none arriving for this long starts again as a new one.
        idle: Duration = "1s", range "1ms".."1h", source "RFC 6298, 2.4: the least retransmission timeout";
    }
}

/// `pias` for the registry.
pub fn pias<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "pias",
        summary: "flows that have sent fewer bytes go first (shortest job first)",
        about: "Shortest job first without knowing any size: flows begin in the highest of several \
            priorities and sink by one at each threshold that their sent bytes cross. A priority \
            sends only while all higher ones are empty.\n\nNot for calls that share a link with \
            pages: a call is the longest job of all, and soon goes last.",
        source: "W. Bai et al., NSDI 2015; Confucius paper, section 7.1 (\"SJF\"); the authors' PIAS-Software",
        params: PiasParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Pias::new(parts.settings, parts.env)?)),
    }
}

/// Flows by the bytes that they have sent.
#[derive(Debug)]
pub struct Pias<P> {
    params: PiasParams,
    pool: Pool<P>,
    priorities: [Fifo; MAX_THRESHOLDS + 1],
    ages: Ages,
    backlog: Backlog,
}

impl<P> Pias<P> {
    /// Empty queues with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = PiasParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(Pias {
            pool: Pool::new(),
            priorities: Default::default(),
            ages: Ages::default(),
            backlog: Backlog::default(),
            params,
        })
    }

    /// Takes the oldest packet of `priority`.
    fn pop(&mut self, now: Instant, priority: usize) -> Option<Packet<P>> {
        let packet = self.pool.pop(&mut self.priorities[priority])?;
        self.backlog.remove(packet.len);
        self.ages.left(now, packet.hash);
        Some(packet)
    }
}

impl<P: Send> Qdisc<P> for Pias<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        // Refused packets count as sent: the sender's kernel counts them before any queue
        // (PIAS-Software pias4/netfilter.c).
        let PiasParams {
            thresholds,
            flows,
            idle,
            ..
        } = self.params;
        let level = |bytes| thresholds.level(bytes);
        let memory = Memory { flows, idle };
        let placed = self.ages.count(now, &packet, memory, level);
        if self.backlog.packets >= self.params.limit {
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        self.ages.entered(placed);
        self.backlog.add(packet.len);
        let queue = &mut self.priorities[usize::from(placed.level)];
        self.pool.push(queue, now, packet);
    }

    fn dequeue(&mut self, now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        (0..=MAX_THRESHOLDS).find_map(|priority| self.pop(now, priority))
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        self.params = params;
        // Drops the least important packets.
        while self.backlog.packets > self.params.limit
            && let Some(packet) = (0..=MAX_THRESHOLDS).rev().find_map(|p| self.pop(now, p))
        {
            observer.dropped(now, packet, DropReason::Change);
        }
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ignore;
    use crate::testing::{Log, letters, put, settings, take};

    struct Bench {
        queue: Pias<u32>,
        now: Instant,
        log: Log<char>,
    }

    impl Bench {
        fn new(set: &[(&str, &str)]) -> Self {
            Bench {
                queue: Pias::new(&settings(set), &Env::default()).unwrap(),
                now: Instant::default(),
                log: letters(),
            }
        }

        /// Packets of 1000 bytes of the flows of these letters.
        fn put(&mut self, flows: &str) {
            put(&mut self.queue, self.now, flows, 1000, &mut self.log);
        }

        fn take(&mut self, n: usize) -> String {
            take(&mut self.queue, self.now, n)
        }

        fn wait(&mut self, ms: u64) {
            self.now += Duration::from_millis(ms);
        }
    }

    const THREE: [(&str, &str); 1] = [("thresholds", "2kB/4kB")];

    /// Thresholds of 2000 and 4000 bytes, packets of 1000: a flow's first two packets are in priority
    /// 0 (1000 and 2000 do not exceed 2000), the next two in 1, all others in 2.
    ///
    /// - 0: A A B C C; 1: A A C; 2: A A.
    #[test]
    fn flows_sink_with_the_bytes_they_have_sent() {
        let mut bench = Bench::new(&THREE);
        bench.put("AAAAAABCCC");
        assert_eq!(bench.take(3), "AAB");
        // D's first packet goes before all lower ones.
        bench.put("DCC");
        // 0: C C D; 1: A A C C; 2: A A C.
        assert_eq!(bench.take(20), "CCDAACCAAC");
        assert!(bench.queue.backlog().is_empty());
    }

    /// After 6000 bytes A is at the bottom, and after a silence of 999 ms it still is; after one of 1 s it
    /// is new, and so is C, whose third packet is in the second priority.
    #[test]
    fn a_flow_starts_anew_after_a_pause() {
        let mut bench = Bench::new(&THREE);
        bench.put("AAAAAABBBBBB");
        assert_eq!(bench.take(20), "AABBAABBAABB");
        bench.wait(999);
        bench.put("A");
        bench.put("CCC");
        assert_eq!(bench.take(20), "CCCA");
        bench.wait(1000);
        bench.put("CCCA");
        assert_eq!(bench.take(20), "CCAC");
    }

    #[test]
    fn a_flow_whose_packets_wait_does_not_start_anew() {
        let mut bench = Bench::new(&THREE);
        bench.put("AAAAA");
        assert_eq!(bench.take(4), "AAAA");
        bench.wait(60_000);
        // Were A new, its packet would be first.
        bench.put("BBBA");
        assert_eq!(bench.take(20), "BBBAA");
    }

    /// With a threshold of 1 MB instead of 2000 and 4000 bytes, A's next packet would overtake the
    /// one that waits in the lowest priority; C, which has none queued, does rise.
    #[test]
    fn new_thresholds_do_not_reorder_a_flow() {
        let mut bench = Bench::new(&THREE);
        bench.put("AAAAACCCCC");
        assert_eq!(bench.take(8), "AACCAACC");
        assert_eq!(bench.take(1), "A");
        bench.put("A");
        assert_eq!(bench.take(1), "C");
        let wide = settings(&[("thresholds", "1MB")]);
        bench.queue.change(bench.now, &wide, &mut Ignore).unwrap();
        bench.put("ACB");
        assert_eq!(bench.take(5), "CBAA");
    }

    /// Two of A's packets are in the lowest priority. An arrival of any flow that finds the buffer
    /// full is refused; a smaller limit takes from the bottom.
    #[test]
    fn limits() {
        let set = [THREE[0], ("limit", "6")];
        let mut bench = Bench::new(&set);
        bench.put("AAAAAAB");
        assert_eq!(bench.log.who(), "B");
        assert_eq!(bench.take(2), "AA");
        bench.put("CC");
        let small = settings(&[("limit", "3")]);
        bench
            .queue
            .change(bench.now, &small, &mut bench.log)
            .unwrap();
        assert_eq!(bench.log.who(), "BAAA");
        assert_eq!(bench.take(9), "CCA");
    }

    /// 909 packets of 1460 bytes are 1,327,140 bytes, and so on.
    #[test]
    fn thresholds_are_the_published_ones() {
        let published = [909, 1329, 1648, 1960, 2143, 2337, 2484].map(|packets| packets * 1460);
        assert_eq!(PiasParams::default().thresholds.bytes(), published);
    }
}
