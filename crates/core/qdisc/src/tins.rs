//! `2lps_tins`: old flows behind young ones, in the tins of one discipline.
//!
//! Principles: how G. Moschini, "Integrating CoDel and Age-Based Scheduling" (thesis, Ca' Foscari, 2025,
//! section 4.4) gave CAKE two levels: not by strict priority over two of them but by its own tins, best
//! effort for young flows and bulk for old ones, whose shares are CAKE's. Old flows so keep a seventeenth
//! of an unshaped link, which [`2lps`](crate::two_level) does not leave them.
//!
//! A flow's packets may overtake those that wait in the tin that it left, there as here. Ages are as in
//! `2lps`. Shaped, tins have thresholds of their own, and old flows what young ones leave.

use crate::ages::{Ages, Memory};
use crate::children::ChildStats;
use crate::two_level::Leaving;
use crate::{
    Backlog, Class, Discipline, DropReason, FlowId, Observer, Order, Packet, Parts, Qdisc, Slot,
};
use units::param::Settings;
use units::{Bytes, Duration, Instant, Refusal};

units::params! {
    /// Parameters of `2lps_tins`.
    pub struct TinsParams {
        /// Number of sent bytes up to which a flow is young.
        threshold: Bytes = "6331208B", range "1B".."1000GB", source "as 2lps";
        /// Number of flows whose bytes are remembered, those with packets waiting apart.
        flows: u32 = "262144", range "1".."1048576", source "as 2lps";
        /// A flow with no packet waiting and none arriving for this long starts again as a new one.
        idle: Duration = "120s", range "1ms".."120h", source "as 2lps";
    }
}

/// CAKE's bands for young flows, best effort, and for old ones, bulk.
const BANDS: [u8; 2] = [2, 1];

/// `2lps_tins` for the registry.
pub fn tins<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "2lps_tins",
        summary: "young flows before old ones, in the tins of one discipline",
        about: "Flows that have sent more than `threshold` bytes go into CAKE's bulk tin, the \
            others into its best-effort tin. CAKE sets the shares of the tins: \
            `2lps_tins(cake,diffserv=diffserv3,rtt=10ms)`. A base without tins is refused.",
        source: "G. Moschini, thesis, Ca' Foscari, 2025, section 4.4",
        params: TinsParams::SPECS,
        children: &[Slot {
            name: "BASE",
            default: "cake",
            help: "Discipline whose tins are used.",
        }],
        build: |parts| Ok(Box::new(Tins::new(parts)?)),
    }
}

/// The base, and the ages of flows.
pub struct Tins<P> {
    params: TinsParams,
    ages: Ages,
    base: Box<dyn Qdisc<P>>,
}

impl<P: Send + 'static> Tins<P> {
    /// An empty base.
    ///
    /// # Errors
    /// If a setting is refused, here or by the base, or the base has no tins.
    pub fn new(parts: &Parts<'_, P>) -> Result<Self, Refusal> {
        let params = TinsParams::parse(parts.settings)?;
        let base = parts.child(0)?;
        if base.bands() < BANDS.len() {
            let message = "the base has no tins for young flows and for old ones";
            let help = "write for example 2lps_tins(cake,diffserv=diffserv3)";
            return Err(Refusal::new(message).with_help(help));
        }
        Ok(Tins {
            ages: Ages::default(),
            base,
            params,
        })
    }
}

impl<P: Send> Qdisc<P> for Tins<P> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let TinsParams {
            threshold,
            flows,
            idle,
        } = self.params;
        let level = |bytes| u8::from(bytes > threshold.get());
        let memory = Memory { flows, idle };
        let placed = self.ages.count(now, &packet, memory, level);
        packet.band = BANDS[usize::from(placed.level)];
        self.ages.entered(placed);
        let ages = &mut self.ages;
        let observer = &mut Unbanded(observer);
        self.base
            .enqueue(now, packet, &mut Leaving { ages, observer });
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        let ages = &mut self.ages;
        let observer = &mut Unbanded(observer);
        let mut packet = self.base.dequeue(now, &mut Leaving { ages, observer })?;
        self.ages.left(now, packet.hash);
        packet.band = 0;
        Some(packet)
    }

    fn next_wake(&self, now: Instant) -> Option<Instant> {
        self.base.next_wake(now)
    }

    fn backlog(&self) -> Backlog {
        self.base.backlog()
    }

    fn change(
        &mut self,
        _now: Instant,
        settings: &Settings,
        _observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        self.params = params;
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn classes(&self) -> Vec<String> {
        self.base.classes()
    }

    fn children(&self) -> Vec<ChildStats> {
        self.base.children()
    }

    fn order(&self) -> Order {
        Order::None
    }
}

/// Shows packets that are dropped as they came, without a band.
struct Unbanded<'a, P>(&'a mut dyn Observer<P>);

impl<P> Observer<P> for Unbanded<'_, P> {
    fn dropped(&mut self, now: Instant, mut packet: Packet<P>, reason: DropReason) {
        packet.band = 0;
        self.0.dropped(now, packet, reason);
    }

    fn marked(&mut self, now: Instant, packet: &Packet<P>) {
        self.0.marked(now, packet);
    }

    fn moved(&mut self, now: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        self.0.moved(now, flow, from, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ms, put, take};
    use crate::{Env, Ignore, Registry};

    fn built(choice: &str) -> Box<dyn Qdisc<u32>> {
        let choice = choice.parse().unwrap();
        Registry::builtin().build(&choice, &Env::default()).unwrap()
    }

    /// Packets of 1000 bytes and a threshold of 2000, so that A's third one is bulk and everything else is
    /// not. Not shaped, CAKE's tins have quanta of 1024 and 64: sixteen packets for one.
    #[test]
    fn old_flows_keep_a_seventeenth() {
        let mut queue = built("2lps_tins(cake,diffserv=diffserv3),threshold=2kB");
        put(&mut *queue, ms(0), "AAAAAAAA", 1000, &mut Ignore);
        for flow in 'B'..='Z' {
            let two = flow.to_string().repeat(2);
            put(&mut *queue, ms(0), &two, 1000, &mut Ignore);
        }
        let sent = take(&mut *queue, ms(0), 36);
        assert_eq!(sent, "AAABBCCDDEEFFGGHHIAIJJKKLLMMNNOOPPQA");
    }

    #[test]
    fn a_base_without_tins_is_refused() {
        for base in ["pfifo", "fq_codel", "cake,diffserv=besteffort"] {
            let choice = format!("2lps_tins({base})").parse().unwrap();
            let built = Registry::<u32>::builtin().build(&choice, &Env::default());
            let refused = built.err().expect(base).to_string();
            assert!(refused.contains("has no tins"), "{base}: {refused}");
        }
    }

    /// Packets dropped within no longer count as waiting: after a silence A is young again.
    #[test]
    fn drops_are_followed() {
        let cake = "cake,diffserv=diffserv3,memlimit=4kB";
        let mut queue = built(&format!("2lps_tins({cake}),threshold=1kB,idle=1s"));
        put(&mut *queue, ms(0), "AAAAAAAA", 1000, &mut Ignore);
        assert!(queue.backlog().packets < 8);
        while queue.dequeue(ms(0), &mut Ignore).is_some() {}
        put(&mut *queue, ms(500), "AB", 900, &mut Ignore);
        assert_eq!(take(&mut *queue, ms(500), 2), "BA");
        put(&mut *queue, ms(1500), "AB", 900, &mut Ignore);
        assert_eq!(take(&mut *queue, ms(1500), 2), "AB");
    }
}
