//! `policer`: a limit on the rate without a queue of its own.
//!
//! Principles: a bucket fills with time up to a burst; an arrival that finds too little in it is
//! dropped at once. So a sender sees losses and no delay (Flach et al., "An Internet-Wide Analysis of
//! Traffic Policing", SIGCOMM 2016). Packets that pass wait for the link in one queue.
//! Not for: a link of one's own. A queue at the same rate loses less.
//!
//! The kernel's `net/sched/act_police.c`, with a FIFO behind it.

use crate::fifo::{FifoQdisc, PfifoParams};
use crate::shaper::Bandwidth;
use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use units::param::Settings;
use units::{Bytes, Duration, Instant, Refusal};

units::params! {
    /// Parameters of `policer`.
    pub struct PolicerParams {
        /// The rate above which packets are dropped.
        rate: Bandwidth = "unlimited", source "none: Linux asks for one";
        /// Bytes that may pass at once after a pause.
        burst: Bytes = "100kB", range "2kB".."10GB", source "none: Linux asks for one";
        /// Limit of the queue behind it, in packets.
        limit: u32 = "1000", range "1".."1000000", source "Linux: tx_queue_len of an Ethernet device";
    }
}

/// `policer` for the registry.
pub fn policer<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "policer",
        summary: "packets above a rate are dropped, and none wait for it",
        about: "A bucket fills at the rate, up to the burst. A packet that finds its size in the \
            bucket takes it and passes; any other is dropped. What passed waits for the link in one \
            queue.\n\nNot for a link of your own: a queue at the same rate loses less. It shows what \
            senders meet where a provider polices.",
        source: "Linux net/sched/act_police.c; Flach et al., SIGCOMM 2016",
        params: PolicerParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Policer::new(parts.settings, parts.env)?)),
    }
}

/// What may pass now, as the time that it took to gather.
#[derive(Debug)]
struct Bucket {
    saved: Duration,
    at: Instant,
}

/// A policer and the queue behind it.
#[derive(Debug)]
pub struct Policer<P> {
    params: PolicerParams,
    bucket: Bucket,
    queue: FifoQdisc<P, PfifoParams>,
}

impl PolicerParams {
    /// The time in which the bucket fills; none without a rate.
    fn full(&self) -> Option<Duration> {
        self.rate.0.map(|rate| rate.time_for(self.burst.get()))
    }
}

impl Bucket {
    /// Time passes until `now`; the bucket holds no more than `full`.
    fn fill(&mut self, now: Instant, full: Duration) {
        self.saved = full.min(self.saved + now.since(self.at));
        self.at = now;
    }
}

impl<P: Send> Policer<P> {
    /// One with a full bucket, the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = PolicerParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        let behind = PfifoParams {
            limit: params.limit,
        };
        Ok(Policer {
            bucket: Bucket {
                saved: params.full().unwrap_or(Duration::ZERO),
                at: Instant::ZERO,
            },
            params,
            queue: FifoQdisc::new(behind, &[])?,
        })
    }

    /// Whether `bytes` may pass now; they are taken out of the bucket.
    fn conforms(&mut self, now: Instant, bytes: u32) -> bool {
        let (Some(rate), Some(full)) = (self.params.rate.0, self.params.full()) else {
            return true;
        };
        self.bucket.fill(now, full);
        let cost = rate.time_for(u64::from(bytes));
        let conforms = cost <= self.bucket.saved;
        if conforms {
            self.bucket.saved = self.bucket.saved.saturating_sub(cost);
        }
        conforms
    }
}

impl<P: Send> Qdisc<P> for Policer<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        if self.conforms(now, packet.len) {
            self.queue.enqueue(now, packet, observer)
        } else {
            observer.dropped(now, packet, DropReason::Rate)
        }
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        self.queue.dequeue(now, observer)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// The bucket is full then, whatever has changed, as in `tcf_police_init`.
    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        self.params.apply(settings)?;
        let limit = ("limit".to_owned(), self.params.limit.to_string());
        self.queue.change(now, &[limit], observer)?;
        self.bucket = Bucket {
            saved: self.params.full().unwrap_or(Duration::ZERO),
            at: now,
        };
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ignore, Registry};
    use units::choice::Choice;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn policer(text: &str) -> Box<dyn Qdisc<()>> {
        let choice: Choice = text.parse().unwrap();
        let env = Env::default();
        Registry::builtin().build(&choice, &env).unwrap()
    }

    /// How many of `count` packets of 1000 bytes pass at `now`.
    fn offer(policer: &mut dyn Qdisc<()>, now: Instant, count: u32) -> u32 {
        let before = policer.backlog().packets;
        for _ in 0..count {
            let packet = Packet {
                len: 1000,
                ..Packet::default()
            };
            policer.enqueue(now, packet, &mut Ignore);
        }
        policer.backlog().packets - before
    }

    /// By hand: 8 Mbit/s are a packet of 1000 bytes a millisecond, and the bucket holds ten.
    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut policer = policer("policer,rate=8mbit,burst=10kB");
        assert_eq!(offer(&mut *policer, at(0), 15), 10);
        assert_eq!(offer(&mut *policer, at(0), 1), 0);
        assert_eq!(offer(&mut *policer, at(3), 5), 3, "three milliseconds");
        // Half a packet is saved, and the other half is added to it.
        let half = Duration::from_micros(500);
        assert_eq!(offer(&mut *policer, at(3) + half, 1), 0);
        assert_eq!(offer(&mut *policer, at(4), 2), 1);
        assert_eq!(
            offer(&mut *policer, at(10_000), 50),
            10,
            "no more than full"
        );
    }

    #[test]
    fn it_never_holds_a_packet_back() {
        let mut policer = policer("policer,rate=8mbit,burst=10kB");
        offer(&mut *policer, at(0), 10);
        let passed = (0..10).filter(|_| policer.dequeue(at(0), &mut Ignore).is_some());
        assert_eq!(passed.count(), 10);
    }

    #[test]
    fn another_rate_begins_with_a_full_bucket() {
        let mut policer = policer("policer,rate=8mbit,burst=10kB");
        offer(&mut *policer, at(0), 10);
        let settings = [("burst".to_owned(), "4kB".to_owned())];
        policer.change(at(0), &settings, &mut Ignore).unwrap();
        assert_eq!(offer(&mut *policer, at(0), 10), 4);
        let settings = [("limit".to_owned(), "5".to_owned())];
        policer.change(at(0), &settings, &mut Ignore).unwrap();
        assert_eq!(policer.backlog().packets, 5);
    }
}
