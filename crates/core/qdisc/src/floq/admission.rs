//! How likely an arrival is dropped (section IV.B): integers only.
//!
//! Percentages are fixed-point numbers with 16 binary places; the result is a fraction of 2^32, to
//! be compared with 32 random bits.

use super::params::{FloqParams, Variant};
use units::Refusal;

/// Binary places of a percentage.
const PLACES: u32 = 16;
/// All of it.
const HUNDRED: u64 = 100 << PLACES;

/// A type of traffic (IV.A). The paper's "other" has room, and no traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowType {
    /// Its rate falls after a drop, or its behaviour is not known yet.
    Responsive,
    /// Its rate does not.
    Unresponsive,
}

/// A phase of a flow (IV.A).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its first packets.
    Establishment {
        /// One of them was dropped already.
        lost: bool,
    },
    /// All others, which the paper calls "other" too.
    Later,
}

/// Packets that wait, by the type with which each was counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WaitingByType([u32; 2]);

impl WaitingByType {
    /// One more.
    pub(super) fn add(&mut self, kind: FlowType) {
        self.0[kind as usize] += 1;
    }

    /// One less.
    pub(super) fn remove(&mut self, kind: FlowType) {
        self.0[kind as usize] -= 1;
    }

    /// `rq` or `uq`.
    pub(super) fn of(self, kind: FlowType) -> u64 {
        u64::from(self.0[kind as usize])
    }

    /// `ap`.
    pub(super) fn all(self) -> u64 {
        self.of(FlowType::Responsive) + self.of(FlowType::Unresponsive)
    }
}

/// Parameters of admission. Sizes are packets, shares percent.
#[derive(Debug, Clone)]
pub(super) struct AdmissionRules {
    pub(super) variant: Variant,
    /// `B`.
    pub(super) limit: u64,
    /// `RQ` and `UQ`.
    pub(super) own: [u64; 2],
    /// The part of the buffer that is in neither quota.
    pub(super) other: u64,
    /// `AT`.
    pub(super) threshold: u64,
    /// `F_t(t)`.
    pub(super) base: [u64; 2],
    pub(super) g: u64,
    /// `F_r`.
    pub(super) f_r: u64,
}

impl AdmissionRules {
    /// The rules that these parameters say.
    ///
    /// # Errors
    /// If the quotas are more than the buffer.
    pub(super) fn of(params: &FloqParams) -> Result<Self, Refusal> {
        if params.responsive + params.unresponsive > 100 {
            return Err(Refusal::new(
                "parameters responsive and unresponsive are more than 100 % together",
            ));
        }
        let part = |percent: u32| u64::from(params.limit) * u64::from(percent) / 100;
        let own = [params.responsive, params.unresponsive].map(part);
        Ok(AdmissionRules {
            variant: params.variant,
            limit: u64::from(params.limit),
            own,
            other: u64::from(params.limit) - own[0] - own[1],
            threshold: part(params.threshold),
            base: [params.drop_responsive, params.drop_unresponsive].map(u64::from),
            g: u64::from(params.g),
            f_r: u64::from(params.f_r),
        })
    }

    /// The probability of dropping an arrival where there is room, as a fraction of 2^32.
    pub(super) fn drop_probability(
        &self,
        waiting: WaitingByType,
        kind: FlowType,
        phase: Phase,
    ) -> u64 {
        if waiting.of(kind) < self.own[kind as usize] || waiting.all() <= self.threshold {
            return 0;
        }
        let f_d = self.scaling(waiting, kind);
        let percent = match self.variant {
            Variant::Reading => self.reading(f_d, kind, phase),
            Variant::Equation => HUNDRED - HUNDRED.min(self.literal_f_t(kind, phase) * f_d),
            Variant::Algorithm => HUNDRED - HUNDRED.min(self.algorithm(f_d, kind, phase)),
            Variant::AlgorithmDrop => self.algorithm(f_d, kind, phase),
        };
        percent.min(HUNDRED) * (1 << PLACES) / 100
    }

    /// `F_d`: from 0 at the threshold to `g` in a full buffer. It is doubled if this packet would
    /// overflow into the other type's quota, that is, beyond its own and the part in neither.
    fn scaling(&self, waiting: WaitingByType, kind: FlowType) -> u64 {
        let above = waiting.all().saturating_sub(self.threshold);
        // Called only if `threshold < ap < limit`.
        let range = self.limit.saturating_sub(self.threshold).max(1);
        let f_d = (self.g << PLACES) * above / range;
        let overflows = waiting.of(kind) >= self.own[kind as usize] + self.other;
        if overflows { 2 * f_d } else { f_d }
    }

    /// `F_d` is added for responsive traffic and multiplies for unresponsive traffic. The initial
    /// packets of a flow that seems responsive are spared `F_r`, and all but the first of them any
    /// drop by chance.
    fn reading(&self, f_d: u64, kind: FlowType, phase: Phase) -> u64 {
        let base = self.base[kind as usize];
        match (kind, phase) {
            (FlowType::Unresponsive, _) => base * ((1 << PLACES) + f_d),
            (FlowType::Responsive, Phase::Establishment { lost: true }) => 0,
            (FlowType::Responsive, Phase::Establishment { lost: false }) => {
                ((base << PLACES) + f_d).saturating_sub(self.f_r << PLACES)
            }
            (FlowType::Responsive, Phase::Later) => (base << PLACES) + f_d,
        }
    }

    /// `F_t(t, ep)` as the text has it: increased for responsive traffic that is established. Whole
    /// percent.
    fn literal_f_t(&self, kind: FlowType, phase: Phase) -> u64 {
        let increased = kind == FlowType::Responsive && phase == Phase::Later;
        self.base[kind as usize] + if increased { self.f_r } else { 0 }
    }

    /// Algorithm 1, line by line, from where the quota is full.
    fn algorithm(&self, f_d: u64, kind: FlowType, phase: Phase) -> u64 {
        let mut p = self.base[kind as usize] << PLACES;
        if phase != Phase::Later {
            p += self.f_r << PLACES;
        }
        p + self.literal_f_t(kind, phase) * f_d
    }
}
