//! CoDel's control, written once, over any queue.
//!
//! Follows the decisions of Linux's `codel_impl.h` to the packet: time in units of 1024 ns in 32
//! bits, `1/sqrt(count)` in 16 bits by Newton's method. Three things differ: see
//! `Codel::start_count` and [`CodelConfig::with_most_drops`]; and a threshold that is off marks nothing,
//! whereas Linux marks packets that waited for 36 minutes.

use crate::{DropReason, Ecn, Observer, Packet};
use std::fmt;
use units::param::Value;
use units::{Duration, Instant, ParseError};

/// A delay above which packets are marked, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Threshold(pub Option<Duration>);

impl Value for Threshold {
    const KIND: &'static str = "duration or off";
    fn parse(text: &str) -> Result<Self, ParseError> {
        if text.trim() == "off" {
            return Ok(Threshold(None));
        }
        text.parse()
            .map(|delay| Threshold(Some(delay)))
            .map_err(|_| ParseError::new(text, "off, or a span of time such as 1ms"))
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(delay) => delay.fmt(f),
            None => f.write_str("off"),
        }
    }
}

/// The queue that a [`Codel`] controls.
pub trait CodelQueue<P> {
    /// Takes the packet at the head.
    fn pop(&mut self) -> Option<Packet<P>>;

    /// Bytes that wait for the link: CoDel leaves a queue of one packet alone, since the link needs
    /// that much to be busy. In `fq_codel` these are the bytes of all flows, as in Linux.
    fn backlog_bytes(&self) -> u64;
}

/// Parameters of a [`Codel`], in its own units. Shared by all flows of a discipline.
#[derive(Debug, Clone, Copy)]
pub struct CodelConfig {
    target: Ticks,
    interval: Ticks,
    ce_threshold: Option<Ticks>,
    ecn: bool,
    most_drops: u32,
}

impl CodelConfig {
    /// A configuration from parameters. Spans above 36 minutes count as 36 minutes.
    pub fn new(target: Duration, interval: Duration, ecn: bool, ce_threshold: Threshold) -> Self {
        let ticks = |span: Duration| (span.as_nanos() >> TICK_SHIFT).min(FOREVER.into()) as Ticks;
        CodelConfig {
            target: ticks(target),
            interval: ticks(interval),
            ce_threshold: ce_threshold.0.map(ticks),
            ecn,
            most_drops: u32::MAX,
        }
    }

    /// At most `drops` packets are dropped in one call, and the rest in the next ones. Linux has no
    /// such bound: after a pause all of a queue may be dropped at once.
    #[must_use]
    pub fn with_most_drops(self, drops: u32) -> Self {
        CodelConfig {
            most_drops: drops,
            ..self
        }
    }
}

/// Time in units of 1024 ns, modulo 2^32 of them (73 minutes): Linux's `codel_time_t`.
type Ticks = u32;
/// Nanoseconds to ticks: Linux's `CODEL_SHIFT`.
const TICK_SHIFT: u32 = 10;
/// The longest span that comparisons modulo 2^32 distinguish: Linux's `CODEL_DISABLED_THRESHOLD`.
const FOREVER: Ticks = i32::MAX as Ticks;
/// A full-sized packet on Ethernet, header included (`psched_mtu`), bytes.
const MTU: u64 = 1514;

fn ticks(now: Instant) -> Ticks {
    (now.as_nanos() >> TICK_SHIFT) as Ticks
}

/// Whether `a` comes after `b`, if neither is more than 36 minutes from the other.
fn after(a: Ticks, b: Ticks) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

/// The state of one controlled queue.
#[derive(Debug, Clone, Default)]
pub struct Codel {
    /// Drops and marks since the dropping state was entered, including the initial count.
    count: u32,
    /// `count` when the dropping state was last entered.
    last_count: u32,
    /// When the delay will have been above the target for an interval; 0 while it is below.
    first_above: Ticks,
    /// When to drop next; afterwards, when the last dropping state would have dropped next.
    drop_next: Ticks,
    /// `1/sqrt(count)` as a fraction of 2^16; 0 before the first dropping state.
    inv_sqrt: u16,
    dropping: bool,
}

impl Codel {
    /// The next packet to send `now`. Dropped packets, and the marked one, are reported to
    /// `observer`.
    #[inline]
    pub fn dequeue<P>(
        &mut self,
        now: Instant,
        config: &CodelConfig,
        queue: &mut impl CodelQueue<P>,
        observer: &mut dyn Observer<P>,
    ) -> Option<Packet<P>> {
        let Some(mut packet) = queue.pop() else {
            self.dropping = false;
            return None;
        };
        if !self.ok_to_drop(now, config, Some(&packet), queue) {
            self.dropping = false;
        } else if self.dropping {
            packet = self.keep_dropping(now, config, packet, queue, observer)?;
        } else {
            packet = self.start_dropping(now, config, packet, queue, observer)?;
        }
        let waited = ticks(now).wrapping_sub(ticks(packet.arrived));
        let above = config
            .ce_threshold
            .is_some_and(|threshold| after(waited, threshold));
        if above && packet.ecn != Ecn::Ce && packet.mark() {
            observer.marked(now, &packet);
        }
        Some(packet)
    }

    /// `drops` packets of this queue were dropped by someone else, because the discipline is full:
    /// the next dropping state starts that much harder (`fq_codel_drop`).
    pub fn signal(&mut self, drops: u32) {
        self.count = self.count.wrapping_add(drops);
    }

    /// Whether the delay has been above the target for an interval, seen from the packet that was
    /// just taken (RFC 8289, section 5, `dodequeue`).
    fn ok_to_drop<P>(
        &mut self,
        now: Instant,
        config: &CodelConfig,
        packet: Option<&Packet<P>>,
        queue: &impl CodelQueue<P>,
    ) -> bool {
        let below = packet.is_none_or(|packet| {
            let waited = ticks(now).wrapping_sub(ticks(packet.arrived));
            after(config.target, waited) || queue.backlog_bytes() <= MTU
        });
        if below {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = ticks(now).wrapping_add(config.interval);
            return false;
        }
        after(ticks(now), self.first_above)
    }

    /// Enters the dropping state with `packet`, and returns the packet to send instead.
    #[cold]
    fn start_dropping<P>(
        &mut self,
        now: Instant,
        config: &CodelConfig,
        packet: Packet<P>,
        queue: &mut impl CodelQueue<P>,
        observer: &mut dyn Observer<P>,
    ) -> Option<Packet<P>> {
        let mut sent = mark_or_drop(now, config, packet, observer);
        if sent.is_none() {
            sent = queue.pop();
            self.ok_to_drop(now, config, sent.as_ref(), queue);
        }
        self.dropping = true;
        self.start_count(now, config);
        self.drop_next = self.control_law(ticks(now), config);
        sent
    }

    /// Where to start counting: if the last dropping state was a short while ago, at the rate that
    /// controlled the queue then (RFC 8289, section 5).
    ///
    /// Linux reads a queue that never dropped as one that dropped at time zero. With drops signalled
    /// by [`signal`](Codel::signal) and a clock that just started, or that passed 36 minutes, that
    /// starts at `1/sqrt(count)` of 0, which no step leaves: everything is dropped. Here such a queue
    /// starts at one, as in Linux at any other time.
    fn start_count(&mut self, now: Instant, config: &CodelConfig) {
        let drops = self.count.wrapping_sub(self.last_count);
        let since = ticks(now).wrapping_sub(self.drop_next);
        let recently = after(config.interval.wrapping_mul(16), since);
        if drops > 1 && recently && self.inv_sqrt != 0 {
            self.count = drops;
            self.newton_step();
        } else {
            self.count = 1;
            self.inv_sqrt = u16::MAX;
        }
        self.last_count = self.count;
    }

    /// In the dropping state, drops or marks the packets that are due from `packet` on, and returns
    /// the packet to send.
    #[cold]
    fn keep_dropping<P>(
        &mut self,
        now: Instant,
        config: &CodelConfig,
        mut packet: Packet<P>,
        queue: &mut impl CodelQueue<P>,
        observer: &mut dyn Observer<P>,
    ) -> Option<Packet<P>> {
        for _ in 0..config.most_drops {
            if !self.dropping || after(self.drop_next, ticks(now)) {
                break;
            }
            self.count = self.count.wrapping_add(1);
            self.newton_step();
            if let Some(marked) = mark_or_drop(now, config, packet, observer) {
                self.drop_next = self.control_law(self.drop_next, config);
                return Some(marked);
            }
            let next = queue.pop();
            if self.ok_to_drop(now, config, next.as_ref(), queue) {
                self.drop_next = self.control_law(self.drop_next, config);
            } else {
                self.dropping = false;
            }
            packet = next?;
        }
        Some(packet)
    }

    /// `from + interval / sqrt(count)`.
    fn control_law(&self, from: Ticks, config: &CodelConfig) -> Ticks {
        let fraction = u64::from(self.inv_sqrt) << 16;
        from.wrapping_add(((u64::from(config.interval) * fraction) >> 32) as Ticks)
    }

    /// One step of Newton's method towards `1/sqrt(count)`: `x (3 - count x²) / 2`, with `x` a
    /// fraction of 2^32. After a jump of `count` the product may wrap, as it does in Linux.
    fn newton_step(&mut self) {
        let x = u64::from(self.inv_sqrt) << 16;
        let x_squared = (x * x) >> 32;
        let bracket = (3u64 << 32).wrapping_sub(u64::from(self.count) * x_squared);
        // Two bits less, so that the product fits; one more for the half.
        let product = (bracket >> 2).wrapping_mul(x) >> (32 - 2 + 1);
        self.inv_sqrt = (product as u32 >> 16) as u16;
    }
}

/// Marks the packet and returns it, or drops it.
fn mark_or_drop<P>(
    now: Instant,
    config: &CodelConfig,
    mut packet: Packet<P>,
    observer: &mut dyn Observer<P>,
) -> Option<Packet<P>> {
    if config.ecn && packet.mark() {
        observer.marked(now, &packet);
        return Some(packet);
    }
    observer.dropped(now, packet, DropReason::Congestion);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newton_steps_follow_the_square_root() {
        let mut codel = Codel {
            count: 1,
            inv_sqrt: u16::MAX,
            ..Codel::default()
        };
        for count in 2..=1000u32 {
            codel.count = count;
            codel.newton_step();
            let error = f64::from(codel.inv_sqrt) / 65536.0 * f64::from(count).sqrt() - 1.0;
            // The first steps are coarse, later ones limited by 16 bits.
            let tolerance = if count < 10 { 0.3 } else { 0.015 };
            assert!(error.abs() < tolerance, "{count}: {error}");
        }
    }

    /// Drops of others, then a standing queue 1 s after the clock started. With `1/sqrt(count)` of
    /// 0 the whole queue would be dropped at 1.1 s.
    #[test]
    fn signals_before_the_first_dropping_state_do_not_empty_the_queue() {
        struct Thousand(u32);
        impl CodelQueue<()> for Thousand {
            fn pop(&mut self) -> Option<Packet<()>> {
                self.0 = self.0.checked_sub(1)?;
                Some(Packet {
                    len: 1500,
                    flow: crate::FlowId(0),
                    hash: 0,
                    ecn: Ecn::NotCapable,
                    label: crate::Label::None,
                    arrived: Instant::from_nanos(900_000_000),
                    payload: (),
                    ..Packet::default()
                })
            }
            fn backlog_bytes(&self) -> u64 {
                1_000_000
            }
        }
        struct Count(u32);
        impl Observer<()> for Count {
            fn dropped(&mut self, _: Instant, _: Packet<()>, _: DropReason) {
                self.0 += 1;
            }
        }
        let ms = |ms| Instant::default() + Duration::from_millis(ms);
        let config = CodelConfig::new(
            Duration::from_millis(5),
            Duration::from_millis(100),
            false,
            Threshold(None),
        );
        let (mut queue, mut drops) = (Thousand(1000), Count(0));
        let mut codel = Codel::default();
        codel.signal(64);
        codel.dequeue(ms(1000), &config, &mut queue, &mut drops);
        codel.dequeue(ms(1101), &config, &mut queue, &mut drops);
        codel.dequeue(ms(1102), &config, &mut queue, &mut drops);
        assert_eq!(drops.0, 1);
    }

    /// A threshold that is off is no threshold of 36 minutes.
    #[test]
    fn off_marks_nothing_however_long_it_waited() {
        struct One(Option<Packet<()>>);
        impl CodelQueue<()> for One {
            fn pop(&mut self) -> Option<Packet<()>> {
                self.0.take()
            }
            fn backlog_bytes(&self) -> u64 {
                0
            }
        }
        let span = Duration::from_millis(5);
        let config = CodelConfig::new(span, span, false, Threshold(None));
        let packet = Packet {
            ecn: Ecn::Ect0,
            ..Packet::default()
        };
        let now = Instant::ZERO + Duration::from_secs(37 * 60);
        let mut queue = One(Some(packet));
        let sent = Codel::default().dequeue(now, &config, &mut queue, &mut crate::Ignore);
        assert_eq!(sent.unwrap().ecn, Ecn::Ect0);
    }

    #[test]
    fn threshold_as_text() {
        let parse = |text| Threshold::parse(text).map(|threshold| threshold.to_string());
        assert_eq!(parse("off").unwrap(), "off");
        assert_eq!(parse("1.5ms").unwrap(), "1.5ms");
        assert!(parse("never").unwrap_err().to_string().contains("off, or"));
    }
}
