//! The paper's equations (10) to (32), one by one: as printed, and repaired.
//!
//! *Repaired* is the same step without its slip, under the approximations that the paper makes: the
//! sender sees q = p/C, although (6) says q = p/r, and at once except for the first τ. The results
//! without them are in [`closed`](crate::closed). (10), (12), (15), (20) and, for q = p/C, (23) and
//! (24) are right as printed.
//!
//! Time is in seconds and u = t − τ; rates are fractions of the link. N·B/C of (15) and (20) is
//! `work`.

use crate::model::Model;
use crate::policy::{Policy, Share};
use libm::{cos, exp, log2, sqrt};
use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// A value in both forms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// As printed.
    pub printed: f64,
    /// Without slips.
    pub repaired: f64,
}

/// (11): the sending rate under FQ at τ + u. Printed without C before the cosine, which matters
/// only with dimensions: as fractions of the link both forms are the same, (1 − r)·cos(√k·u) + r.
pub fn rate_fq(model: &Model, u: f64) -> f64 {
    let fair = 1.0 / (model.n() + 1.0);
    (1.0 - fair) * cos(sqrt(model.gain()) * u) + fair
}

/// (13): the queue delay under FQ at τ + u. Printed: N·(q0 + τ − N·u²/(6k(N+1))), where the last
/// term is not a time. By (5), (6) and (12) it is (N+1)·q0 + N·(τ + u − k·u³/6).
pub fn delay_fq_at(model: &Model, u: f64) -> Form {
    let (n, k, q0, tau) = (model.n(), model.gain(), model.target(), model.tau());
    Form {
        printed: n * (q0 + tau - n / (6.0 * k * (n + 1.0)) * u * u),
        repaired: (n + 1.0) * q0 + n * (tau + u - k * u * u * u / 6.0),
    }
}

/// (14): (13) at its peak. Printed: N·(⅔·√(2/k) + q0 + τ), at u = √(2k), which is a frequency. The
/// peak of (13) is at u = √(2/k), and the old queue counts N + 1 times.
pub fn delay_fq(model: &Model) -> Form {
    let (n, rise) = (model.n(), rise(model));
    Form {
        printed: n * (rise + model.target() + model.tau()),
        repaired: (n + 1.0) * model.target() + n * (rise + model.tau()),
    }
}

/// (18): FIFO, with M = N·B0/(q0·C). Printed: (M+1)·(⅔·√(2/k) + q0 + τ), as a lower bound; the
/// bytes that came in after t = 0 count only M times, so that it is none. (16), from which it
/// comes, is printed with B for B0 and without the + 1 of its prefactor.
pub fn delay_fifo(model: &Model) -> Form {
    let (m, rise) = (model.burst(), rise(model));
    Form {
        printed: (m + 1.0) * (rise + model.target() + model.tau()),
        repaired: (m + 1.0) * model.target() + m * (rise + model.tau()),
    }
}

/// (19): CBQ, FQ with N = 1. Printed with q0 once; by (14) repaired it is there twice.
pub fn delay_cbq(model: &Model) -> Form {
    let rise = rise(model);
    Form {
        printed: rise + model.target() + model.tau(),
        repaired: 2.0 * model.target() + rise + model.tau(),
    }
}

/// (21): the share of Confucius at `t`. Printed ½·e^(−λt), where (9d) has base 2.
pub fn share_confucius(model: &Model, t: f64) -> Form {
    let share = |decay: f64| 0.5 * exp(-decay * t);
    Form {
        printed: share(model.doublings()),
        repaired: share(model.growth()),
    }
}

/// (22), (25): the sending rate under Confucius at τ + u, to second order. Printed:
/// 1 − λ·A·u − k·B·u²/2. With s'(τ) = 0, (22) needs the term (λA/√k)·sin(√k·u), which takes the
/// linear term away; e^(−λu) has a second order as well: 1 − (k·B − λ²·A)·u²/2.
pub fn rate_confucius(model: &Model, u: f64) -> Form {
    let (printed, repaired) = (Weights::new(model, 1.0), Weights::new(model, LN_2));
    Form {
        printed: 1.0 - printed.lambda * printed.a * u - printed.kb * u * u / 2.0,
        repaired: 1.0 - repaired.bend() * u * u / 2.0,
    }
}

/// (26) with (27): the peak under Confucius. Printed: 2·e^(λ(t0+τ))·(q0 + τ − (t0 − (λA/2)·t0 −
/// (kB/6)·t0³)), where s is 0 at τ + t0. In it the bracket has the wrong sign, its second term
/// lacks a square, the bytes that the link serves are not subtracted, and p/r is greatest where s =
/// r − L·p, before s = 0. Repaired: 2·e^(Lt)·(q0 + τ + t0 − (kB − L²A)·t0³/6 − (1 − e^(−Lt))/(2L))
/// with t = t0 + τ. At λ = 0 this is (19).
pub fn delay_confucius_at_peak(model: &Model) -> Form {
    let (q0, tau) = (model.target(), model.tau());
    let w = Weights::new(model, 1.0);
    let slope = w.lambda * w.a;
    let t0 = (sqrt(slope * slope + 2.0 * w.kb) - slope) / w.kb;
    let bracket = t0 - slope / 2.0 * t0 - w.kb / 6.0 * t0 * t0 * t0;
    Form {
        printed: 2.0 * exp(w.lambda * (t0 + tau)) * (q0 + tau - bracket),
        repaired: repaired_peak(model),
    }
}

fn repaired_peak(model: &Model) -> f64 {
    let (growth, bend, tau) = (
        model.growth(),
        Weights::new(model, LN_2).bend(),
        model.tau(),
    );
    let decay = Policy::Confucius(Share::Decay);
    // (9d) without its floor.
    let endless = Model {
        flows: u32::MAX,
        ..model.clone()
    };
    let queue = |u: f64| {
        model.target() + tau + u - bend * u * u * u / 6.0 - decay.served(&endless, tau + u)
    };
    let share = |u: f64| decay.share(&endless, tau + u);
    let grows = |u: f64| 1.0 - bend * u * u / 2.0 - share(u) + growth * queue(u) > 0.0;
    let (mut early, mut late) = (0.0, sqrt(2.0 / bend));
    for _ in 0..60 {
        let middle = (early + late) / 2.0;
        if grows(middle) {
            early = middle;
        } else {
            late = middle;
        }
    }
    queue(early) / share(early)
}

/// (29): F0 + F1·λ + F2·λ², the series of (28), as printed. F1 is that of (26) with the bracket's
/// sign and square put right but without the bytes that the link serves; F0 and F2 are those of
/// neither: F0 would be 2·q0 + 2τ + 8/(3√k), F2 2·q0/k + 4τ/k + q0·τ² + τ³ + 2·q0·τ/√k + 11τ²/(3√k)
/// − 5/(3k√k).
pub fn series_confucius(model: &Model) -> f64 {
    let (q0, tau, lambda, k) = (model.target(), model.tau(), model.doublings(), model.gain());
    let root = sqrt(k);
    let f0 = 2.0 * q0 + 6.0 * tau + 8.0 / (2.0 * root);
    let f1 = 10.0 / (3.0 * k)
        + 2.0 * q0 * tau
        + 2.0 * tau * tau
        + 4.0 * q0 / root
        + 16.0 * tau / (3.0 * root);
    let f2 = 4.0 * q0 / k
        + 6.0 * tau / k
        + q0 * tau * tau
        + tau * tau * tau
        + 6.0 * q0 * tau / root
        + 11.0 * tau * tau / root;
    f0 + f1 * lambda + f2 * lambda * lambda
}

/// (30) and table 1: 6·q0 + 15τ + 8λ/k + (10·q0 + 15τ)·λ²/k, as printed. Its condition 1/k ≪ q0, τ
/// compares a time's square with a time. Footnote 4's 640 ms are this with Copa's k = 0.001 and no q0.
pub fn delay_confucius(model: &Model) -> f64 {
    let (q0, tau, lambda, k) = (model.target(), model.tau(), model.doublings(), model.gain());
    6.0 * q0 + 15.0 * tau + 8.0 * lambda / k + (10.0 * q0 + 15.0 * tau) * lambda * lambda / k
}

/// (31), (32): T − T_FQ of Confucius once the share is fair; infinite, or undefined, if λ is 0.
/// Printed: (1/λ)·(½ − log2((N+1)/2)/N − 1/(2N)), which takes the integral of 2^(−λt) for 1/λ: it
/// is log2(e)/λ. The "max" above it is a min. (32)'s last bound, log2(e)/λ, holds for all three
/// curves.
pub fn later_than_fq(model: &Model) -> Form {
    let n = model.n();
    let later =
        |half: f64| (half * (1.0 - 1.0 / n) - log2((n + 1.0) / 2.0) / n) / model.doublings();
    Form {
        printed: later(0.5),
        repaired: later(LOG2_E / 2.0),
    }
}

/// ⅔·√(2/k): the bytes that come in after τ until s = r.
fn rise(model: &Model) -> f64 {
    2.0 / 3.0 * SQRT_2 / sqrt(model.gain())
}

/// A of (23), and B = 1 − A, where λ has base e.
struct Weights {
    lambda: f64,
    a: f64,
    kb: f64,
}

impl Weights {
    fn new(model: &Model, base: f64) -> Self {
        let (k, lambda) = (model.gain(), model.doublings() * base);
        let a = k / 2.0 / (lambda * lambda + k * exp(lambda * model.tau()));
        Weights {
            lambda,
            a,
            kb: k * (1.0 - a),
        }
    }

    /// −s'' at τ.
    fn bend(&self) -> f64 {
        self.kb - self.lambda * self.lambda * self.a
    }
}
