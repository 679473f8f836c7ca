//! `prio`: packets labelled as real-time always go first.
//!
//! Principles: the Confucius paper's `StrictPriority` (sections 2.4 and 7.1), the bound on what a
//! label can do for a call. Two bands, each first in, first out with a limit of its own; the second
//! one sends only while the first one is empty. Reads [`Label`](crate::Label). Not for: a network
//! whose end hosts decide about the label. The host that labels most starves the rest.
//!
//! Linux's `net/sched/sch_prio.c` with two bands of `pfifo` and the label as its filter. Packets of
//! one flow with different labels overtake each other, as they do there.

use crate::labelled::{Labelled, REAL_TIME, REST};
use crate::{Backlog, Discipline, Env, Observer, Order, Packet, Qdisc};
use units::param::Settings;
use units::{Instant, Refusal};

units::params! {
    /// Parameters of `prio`.
    pub struct PrioParams {
        /// Limit of the backlog of each of the two bands, in packets.
        band_limit: u32 = "1000", range "1".."1000000", source "Linux: tx_queue_len of an Ethernet device, which sch_prio gives each band's pfifo";
    }
}

/// `prio` for the registry.
pub fn prio<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "prio",
        summary: "packets labelled as real-time go first, always",
        about: "Two bands, each first in, first out: packets labelled as real-time, and all \
            others, which leave only while no labelled packet waits.\n\nNot for networks whose end \
            hosts set the label: the host that labels most starves the rest.",
        source: "Confucius paper, sections 2.4 and 7.1 (\"StrictPriority\"); Linux net/sched/sch_prio.c",
        params: PrioParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Prio::new(parts.settings, parts.env)?)),
    }
}

/// Strict priority by label.
#[derive(Debug)]
pub struct Prio<P> {
    params: PrioParams,
    bands: Labelled<P>,
}

impl<P> Prio<P> {
    /// Empty bands with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = PrioParams::default();
        if let Some(limit) = env.limit {
            params.band_limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(Prio {
            params,
            bands: Labelled::default(),
        })
    }
}

impl<P: Send> Qdisc<P> for Prio<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.bands
            .push(now, packet, self.params.band_limit, observer);
    }

    fn dequeue(&mut self, _now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        self.bands.pop(REAL_TIME).or_else(|| self.bands.pop(REST))
    }

    fn backlog(&self) -> Backlog {
        self.bands.backlog()
    }

    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        self.params.apply(settings)?;
        self.bands.shrink(now, self.params.band_limit, observer);
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn order(&self) -> Order {
        Order::FlowAndLabel
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{numbers, packets, put_labelled, settings};
    use crate::{DropReason, Ignore, Limit};

    const NOW: Instant = Instant::from_nanos(0);

    fn put(queue: &mut Prio<u32>, labels: &str, observer: &mut dyn Observer<u32>) {
        put_labelled(queue, labels, 1000, observer);
    }

    fn take(queue: &mut Prio<u32>, n: usize) -> Vec<u32> {
        let sent = packets(queue, NOW, n);
        sent.iter().map(|packet| packet.payload).collect()
    }

    fn limited(packets: u32) -> Prio<u32> {
        let env = Env {
            limit: Some(Limit::Packets(packets)),
            ..Env::default()
        };
        Prio::new(&[], &env).unwrap()
    }

    /// Packets 1, 4, 5 are real-time. After the first two have left, another one comes and goes
    /// before all that waited longer. Bulk and unlabelled packets are in one band.
    #[test]
    fn real_time_first_and_each_band_in_order() {
        let mut queue = limited(1000);
        put(&mut queue, "-RB-RR", &mut Ignore);
        assert_eq!(take(&mut queue, 2), [1, 4]);
        put(&mut queue, "R", &mut Ignore);
        assert_eq!(take(&mut queue, 9), [5, 0, 0, 2, 3]);
        assert!(queue.backlog().is_empty());
    }

    /// Of four packets for a band of two, the last two are refused, and the other band has room.
    #[test]
    fn each_band_has_its_own_limit() {
        let (mut queue, mut drops) = (limited(2), numbers());
        put(&mut queue, "----RRR", &mut drops);
        assert_eq!(
            drops.dropped,
            [2, 3, 6].map(|number| (number, DropReason::Tail))
        );
        assert_eq!(queue.backlog().packets, 4);
        assert_eq!(queue.backlog().bytes, 4000);
        assert_eq!(take(&mut queue, 9), [4, 5, 0, 1]);
    }

    #[test]
    fn a_smaller_limit_drops_the_latest_of_each_band() {
        let (mut queue, mut drops) = (limited(10), numbers());
        put(&mut queue, "---RR", &mut drops);
        let limit = settings(&[("band_limit", "1")]);
        queue.change(NOW, &limit, &mut drops).unwrap();
        assert_eq!(
            drops.dropped,
            [4, 2, 1].map(|number| (number, DropReason::Change))
        );
        assert_eq!(take(&mut queue, 9), [3, 0]);
    }
}
