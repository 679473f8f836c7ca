//! Table 1 in closed form: as printed, and as it follows from equations (4) to (8).
//!
//! **Constant shares** (FQ, FIFO, CBQ). With a = 1/r and u = t − τ: until τ the rate is 1, so that
//! q = a·q0 + (a − 1)·t. The sender sees this from τ to 2τ, and s = 1 − k(a − 1)(q0·u + u²/2). The
//! queue is longest where s = r, at u = √(q0² + 2/(k·a)) − q0, and is then
//! q = a·q0 + (a − 1)·(τ + u·(2/3 − k·a·q0·u/6)).
//!
//! **Confucius by (9d)**, with L = λ·ln 2: until τ, q = Σ (L^j/j!)·[2·q0·t^j + (2 − 1/(j+1))·t^(j+1)];
//! s, and its integral, follow term by term. The delay p/r is greatest where s = r − L·p.
//!
//! Both are exact if u ≤ τ, which means that a control's reaction is no slower than its feedback;
//! with a constant share that is always so for Copa's k. Beyond, the delay that the sender sees
//! grows less than these forms continue it, so that they are lower bounds: with a constant share by
//! 6 % at most (3/(2√2) as τ and q0 go to 0), with (9d) by 0.3 % until u = 2τ, beyond which none is
//! given.

use crate::estimate::Estimate;
use crate::model::Model;
use crate::policy::{Policy, Share, ShareCourse};
use crate::{completion, equations};
use libm::{exp, expm1, sqrt};
use std::f64::consts::LOG2_E;

/// Table 1 as printed. The completion of FIFO is printed as about, or below, 0; that of Confucius
/// is none if lambda is 0.
pub fn printed(policy: Policy, model: &Model) -> Estimate {
    let delay = match policy {
        Policy::Fq => equations::delay_fq(model).printed,
        Policy::Fifo => equations::delay_fifo(model).printed,
        Policy::Cbq => equations::delay_cbq(model).printed,
        Policy::Confucius(_) => equations::delay_confucius(model),
    };
    let completion = match policy {
        Policy::Fq | Policy::Fifo => Some(0.0),
        Policy::Cbq => Some((model.n() - 1.0) * model.seconds(model.size)),
        Policy::Confucius(_) => {
            Some(LOG2_E / model.doublings()).filter(|completion| completion.is_finite())
        }
    };
    Estimate {
        delay: Some(delay),
        completion,
    }
}

/// Table 1 as it follows from equations (4) to (8). The delay of Confucius:
/// - by (9d), is none if the fair share is reached before the peak, or if the flow falls silent
///   before it, since then there is no form that is independent of N; nor if the peak is later than
///   3τ, since then it is no good estimate;
/// - by (1), is none, since its integral is a dilogarithm;
/// - by steps, is CBQ's if the peak comes before the first step, and otherwise none.
pub fn corrected(policy: Policy, model: &Model) -> Estimate {
    let delay = match policy.course(model) {
        ShareCourse::Constant(share) => Some(constant(model, share).0),
        ShareCourse::Falling(Share::Decay) => decaying(model),
        ShareCourse::Falling(Share::Weights) => None,
        ShareCourse::Falling(Share::Steps) => {
            let (delay, at) = constant(model, 0.5);
            Some(delay).filter(|_| at < 1.0 / model.doublings())
        }
    };
    let completion = completion::closed(model, policy) - completion::closed(model, Policy::Fq);
    Estimate {
        delay,
        completion: Some(completion),
    }
}

/// Upper bound of T − T_FQ for new flows of any size, in seconds: reached by those that outlast the
/// change of shares. `None` for CBQ and FIFO, whose difference is in proportion to the size, and
/// for Confucius with a lambda of 0, which is CBQ.
///
/// With R the integral of the share until it is fair at t_f, (8) gives
/// T − T_FQ = (1 + 1/N)·R − t_f/N. For (9d) that is (1/λ)·[(log2(e)/2)(1 − 1/N) − log2((N+1)/2)/N].
pub fn latest(policy: Policy, model: &Model) -> Option<f64> {
    match policy {
        Policy::Fq => return Some(0.0),
        Policy::Fifo | Policy::Cbq => return None,
        Policy::Confucius(_) if model.lambda == 0.0 => return None,
        Policy::Confucius(_) => {}
    }
    let settled = policy.settled(model);
    let served = policy.served(model, settled);
    Some(served * (1.0 + 1.0 / model.n()) - settled / model.n())
}

/// The greatest delay with a constant share, and when.
fn constant(model: &Model, share: f64) -> (f64, f64) {
    let (tau, q0, k, a) = (model.tau(), model.target(), model.gain(), 1.0 / share);
    // √(q0² + x) − q0 without the difference of near numbers.
    let u = 2.0 / (k * a) / (sqrt(q0 * q0 + 2.0 / (k * a)) + q0);
    let delay = a * q0 + (a - 1.0) * (tau + u * (2.0 / 3.0 - k * a * q0 * u / 6.0));
    (delay, tau + u)
}

/// The greatest delay with the share of (9d), if it comes before 3τ, before the fair share and before
/// the flow falls silent.
fn decaying(model: &Model) -> Option<f64> {
    let growth = model.growth();
    let (share, decay) = (|t| 0.5 * exp(-growth * t), Decay { model });
    // Above 0 as long as the delay grows.
    let grows = |u: f64| decay.rate(u) - share(model.tau() + u) + growth * decay.queue(u);
    let mut late = model.tau();
    while grows(late) > 0.0 {
        late *= 2.0;
    }
    let mut early = 0.0;
    for _ in 0..60 {
        let middle = (early + late) / 2.0;
        if grows(middle) > 0.0 {
            early = middle;
        } else {
            late = middle;
        }
    }
    let at = model.tau() + early;
    let settled = Policy::Confucius(Share::Decay).settled(model);
    let holds = early <= 2.0 * model.tau() && at <= settled && decay.rate(early) >= 0.0;
    holds.then(|| decay.queue(early) / share(at))
}

/// The flow's rate and queue at τ + u, as its sending until τ makes them.
struct Decay<'a> {
    model: &'a Model,
}

impl Decay<'_> {
    /// s, as a fraction of the link.
    fn rate(&self, u: f64) -> f64 {
        let q0 = self.model.target();
        let seen = self.sum(|j| u * (2.0 * q0 / (j + 1.0) + slope(j) * u / (j + 2.0)), u);
        1.0 - self.model.gain() * (seen - q0 * u)
    }

    /// p, in seconds of the whole link.
    fn queue(&self, u: f64) -> f64 {
        let (q0, tau) = (self.model.target(), self.model.tau());
        let term = |j| {
            let linear = 2.0 * q0 / ((j + 1.0) * (j + 2.0));
            u * u * (linear + slope(j) * u / ((j + 2.0) * (j + 3.0)))
        };
        let seen = self.sum(term, u);
        let sent = tau + u - self.model.gain() * (seen - q0 * u * u / 2.0);
        let growth = self.model.growth();
        q0 + sent + expm1(-growth * (tau + u)) / (2.0 * growth)
    }

    /// Σ (L·u)^j/j!·term(j), until it does not change any more.
    fn sum(&self, term: impl Fn(f64) -> f64, u: f64) -> f64 {
        let (mut sum, mut factor, mut j) = (0.0, 1.0, 0.0);
        loop {
            let next = sum + factor * term(j);
            if next == sum {
                return sum;
            }
            sum = next;
            j += 1.0;
            factor *= self.model.growth() * u / j;
        }
    }
}

/// The coefficient of t^(j+1) in the delay until τ.
fn slope(j: f64) -> f64 {
    2.0 - 1.0 / (j + 1.0)
}
