//! Which part of the link the real-time flow gets: equations (9a) to (9d), and (1).

use crate::model::Model;
use libm::{ceil, exp2, expm1, floor, log2};

/// Which curve Confucius follows. They have the first share, 1/2, and the last, 1/(N + 1), in
/// common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Equation (9d): half the link, halved every 1/λ until it is the fair share. The theory's.
    Decay,
    /// Equation (1): N new flows of together weight 2^(λt) next to one of weight 1.
    Weights,
    /// Section 6: equation (1), with weights that change only every 1/λ. The implementation's.
    Steps,
}

impl Share {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Share::Decay => "decay",
            Share::Weights => "weights",
            Share::Steps => "steps",
        }
    }
}

/// The policy that schedules the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// (9a): fair queuing, 1/(N + 1).
    Fq,
    /// (9b): as the queue is filled when the first windows have come.
    Fifo,
    /// (9c): two classes of equal weight.
    Cbq,
    /// Confucius.
    Confucius(Share),
}

impl Policy {
    /// All of them, in table 1's order.
    pub const ALL: [Policy; 6] = [
        Policy::Fq,
        Policy::Fifo,
        Policy::Cbq,
        Policy::Confucius(Share::Decay),
        Policy::Confucius(Share::Weights),
        Policy::Confucius(Share::Steps),
    ];

    /// Its name, without that of its curve.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Fq => "fq",
            Policy::Fifo => "fifo",
            Policy::Cbq => "cbq",
            Policy::Confucius(_) => "confucius",
        }
    }

    /// The real-time flow's part of the link at `t` seconds, above 0 and at most 1/2.
    pub fn share(self, model: &Model, t: f64) -> f64 {
        let (curve, n) = match self.course(model) {
            ShareCourse::Constant(share) => return share,
            ShareCourse::Falling(curve) => (curve, model.n()),
        };
        let doublings = model.doublings() * t;
        match curve {
            Share::Decay => (0.5 * exp2(-doublings)).max(1.0 / (n + 1.0)),
            Share::Weights => 1.0 / (1.0 + exp2(doublings).min(n)),
            Share::Steps => 1.0 / (1.0 + exp2(floor(doublings)).min(n)),
        }
    }

    /// From when on the share does not change, in seconds.
    pub fn settled(self, model: &Model) -> f64 {
        let doublings = match self.course(model) {
            ShareCourse::Constant(_) => return 0.0,
            ShareCourse::Falling(Share::Decay) => log2((model.n() + 1.0) / 2.0),
            ShareCourse::Falling(Share::Weights) => log2(model.n()),
            ShareCourse::Falling(Share::Steps) => ceil(log2(model.n())),
        };
        doublings / model.doublings()
    }

    /// The integral of the share from 0 to `t`, in seconds.
    pub fn served(self, model: &Model, t: f64) -> f64 {
        let curve = match self.course(model) {
            ShareCourse::Constant(share) => return share * t,
            ShareCourse::Falling(curve) => curve,
        };
        let settled = self.settled(model);
        if t > settled {
            return self.served(model, settled) + (t - settled) / (model.n() + 1.0);
        }
        let lambda = model.doublings();
        match curve {
            Share::Decay => -expm1(-model.growth() * t) / (2.0 * model.growth()),
            Share::Weights => t - (log2(1.0 + exp2(lambda * t)) - 1.0) / lambda,
            Share::Steps => {
                let whole = floor(lambda * t) as u32;
                let each = |step| 1.0 / (1.0 + exp2(f64::from(step)));
                let rest = (lambda * t - f64::from(whole)) * each(whole);
                ((0..whole).map(each).sum::<f64>() + rest) / lambda
            }
        }
    }

    pub(crate) fn course(self, model: &Model) -> ShareCourse {
        match self {
            Policy::Fq => ShareCourse::Constant(1.0 / (model.n() + 1.0)),
            Policy::Fifo => ShareCourse::Constant(1.0 / (model.burst() + 1.0)),
            Policy::Cbq => ShareCourse::Constant(0.5),
            // Half is the fair share already, or it never changes.
            Policy::Confucius(_) if model.flows == 1 || model.lambda == 0.0 => {
                ShareCourse::Constant(0.5)
            }
            Policy::Confucius(curve) => ShareCourse::Falling(curve),
        }
    }
}

/// How the share changes.
pub(crate) enum ShareCourse {
    Constant(f64),
    Falling(Share),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(flows: u32) -> Model {
        Model {
            flows,
            ..Model::default()
        }
    }

    #[test]
    fn steps_are_those_of_figure_4d() {
        let steps = Policy::Confucius(Share::Steps);
        let at = |ms: f64| 1.0 / steps.share(&model(12), ms / 1000.0);
        // Every 250 ms the new flows' weight doubles: 1, 2, 4, 8, and then 12.
        let found = [0.0, 249.0, 251.0, 501.0, 751.0, 1001.0, 9999.0].map(at);
        assert_eq!(found, [2.0, 2.0, 3.0, 5.0, 9.0, 13.0, 13.0]);
        assert_eq!(steps.settled(&model(12)), 1.0);
    }

    #[test]
    fn curves_begin_at_a_half_and_end_at_the_fair_share() {
        for n in [1, 2, 12, 1000] {
            let model = model(n);
            for curve in [Share::Decay, Share::Weights, Share::Steps] {
                let policy = Policy::Confucius(curve);
                let settled = policy.settled(&model);
                assert_eq!(policy.share(&model, 0.0), 0.5);
                let last = policy.share(&model, settled + 1e-9);
                assert!(
                    (last * f64::from(n + 1) - 1.0).abs() < 1e-9,
                    "{curve:?} {n}"
                );
                if settled > 0.0 {
                    assert!(policy.share(&model, settled - 0.001) > last);
                }
            }
        }
    }

    #[test]
    fn what_was_served_is_the_sum_of_shares() {
        let model = model(12);
        for policy in Policy::ALL {
            let (count, h) = (30_000, 1.5 / 30_000.0);
            let sum: f64 = (0..count)
                .map(|i| policy.share(&model, (f64::from(i) + 0.5) * h) * h)
                .sum();
            let served = policy.served(&model, 1.5);
            assert!((sum - served).abs() < 1e-5, "{policy:?} {sum} {served}");
        }
    }
}
