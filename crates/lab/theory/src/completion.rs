//! When the new flows are complete: equation (8), ∫(1 − r) = N·B/C.

use crate::model::Model;
use crate::policy::{Policy, Share, ShareCourse};
use libm::{exp, exp2, expm1, log2};

/// T in seconds, by adding up.
pub(crate) fn integrated(model: &Model, policy: Policy) -> f64 {
    let work = model.work();
    let settled = policy.settled(model);
    let step = (work / 1000.0).min(1.0 / (2000.0 * model.doublings()));
    let (mut done, mut steps) = (0.0, 0.0);
    loop {
        let start = steps * step;
        let rate = 1.0 - policy.share(model, start + step / 2.0);
        if start >= settled || done + rate * step >= work {
            return start + (work - done) / rate;
        }
        done += rate * step;
        steps += 1.0;
    }
}

/// T in seconds, in closed form: linear once the share is fair, before that the inverse of the
/// integral of equation (8).
pub(crate) fn closed(model: &Model, policy: Policy) -> f64 {
    let work = model.work();
    let curve = match policy.course(model) {
        ShareCourse::Constant(share) => return work / (1.0 - share),
        ShareCourse::Falling(curve) => curve,
    };
    let settled = policy.settled(model);
    let until_settled = settled - policy.served(model, settled);
    if work >= until_settled {
        return settled + (work - until_settled) * (1.0 + 1.0 / model.n());
    }
    let lambda = model.doublings();
    match curve {
        Share::Decay => during_decay(model),
        // work = (log2(1 + 2^(λT)) − 1)/λ.
        Share::Weights => log2(exp2(1.0 + lambda * work) - 1.0) / lambda,
        Share::Steps => during_steps(model),
    }
}

/// T − (1 − e^(−LT))/(2L) = work. Newton's method from the right of a convex, rising function comes
/// down to its root.
fn during_decay(model: &Model) -> f64 {
    let (work, growth) = (model.work(), model.growth());
    let mut t = 2.0 * work;
    loop {
        let over = t + expm1(-growth * t) / (2.0 * growth) - work;
        let next = t - over / (1.0 - 0.5 * exp(-growth * t));
        if next >= t || t - next < 1e-15 * t {
            return t;
        }
        t = next;
    }
}

/// Each 1/λ has its own rate: 1 − 1/(1 + 2^j).
fn during_steps(model: &Model) -> f64 {
    let length = 1.0 / model.doublings();
    let (mut left, mut weight, mut t) = (model.work(), 1.0, 0.0);
    loop {
        let rate = weight / (1.0 + weight);
        if left <= rate * length {
            return t + left / rate;
        }
        left -= rate * length;
        weight *= 2.0;
        t += length;
    }
}
