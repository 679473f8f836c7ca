//! Equations (4) to (7), integrated.
//!
//! With rates as fractions of the link: s'(t) = −k·(q(t − τ) − q0), p' = s − r, q = p/r, with s and
//! p never negative. Until t = 0 the flow has the link to itself: s = 1, p = q0.
//!
//! Equation (4) is printed with its brackets and its C misplaced; this is how the text under it
//! reads, and the only form that gives (10).
//!
//! The delayed loop is unstable for every τ > 0: z² + k·e^(−zτ) = 0 has a root z = (2/τ)·W(i·τ√k/2)
//! with a positive real part, so that Copa's oscillation at 40 ms doubles every 63 ms. The
//! behaviour after the first peak is an artefact of the model, not caused by the new flows.

use crate::model::Model;
use crate::policy::Policy;
use libm::{ceil, sqrt};
use units::Duration;

/// A greatest queue delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Seconds in the queue.
    pub delay: f64,
    /// The time, in seconds after the new flows came.
    pub at: f64,
}

/// The first peak: the greatest queue delay until the queue is back at its target.
pub fn peak(model: &Model, policy: Policy) -> Peak {
    first(Fluid::new(model, policy, 1))
}

/// The greatest queue delay within `horizon`. Beyond the first peak it is mostly the growth of the
/// model's own oscillation.
pub fn greatest(model: &Model, policy: Policy, horizon: Duration) -> Peak {
    let mut fluid = Fluid::new(model, policy, 1);
    let mut peak = fluid.now();
    while fluid.time() < horizon.as_secs_f64() {
        fluid.step();
        peak = greater(peak, fluid.now());
    }
    peak
}

fn first(mut fluid: Fluid) -> Peak {
    let settled = fluid.policy.settled(fluid.model);
    let mut peak = fluid.now();
    loop {
        fluid.step();
        let now = fluid.now();
        peak = greater(peak, now);
        // A silent flow's queue only falls, once its share is constant.
        let falls = fluid.rate == 0.0 && now.at >= settled;
        if falls || now.delay <= fluid.model.target() {
            return peak;
        }
    }
}

fn greater(peak: Peak, now: Peak) -> Peak {
    if now.delay > peak.delay { now } else { peak }
}

/// The trapezoidal rule: given the delays of one τ ago, s' is known, and p' with it. The error falls
/// with the square of the step.
struct Fluid<'a> {
    model: &'a Model,
    policy: Policy,
    /// Seconds; τ is a whole number of steps.
    step: f64,
    /// Steps that were made.
    steps: usize,
    /// s, as a fraction of the link.
    rate: f64,
    /// p, in seconds of the whole link.
    queue: f64,
    /// q at the last steps, as many as τ has and one.
    delays: Vec<f64>,
}

impl<'a> Fluid<'a> {
    /// At t = 0, when the share has just fallen, with steps `finer` times as fine as they need be.
    fn new(model: &'a Model, policy: Policy, finer: usize) -> Self {
        let tau = model.tau();
        let least = policy.share(model, policy.settled(model) + tau);
        // With q = p/r the loop's frequency is √(k/r).
        let oscillation = sqrt(least / model.gain()) / 100.0;
        let doubling = 1.0 / (5000.0 * model.doublings());
        // Below τ/20000 an oscillation is over before it is visible compared with τ.
        let step = (tau / 100.0).min(oscillation).min(doubling);
        let in_tau = ceil(tau / step.max(tau / 20_000.0)) as usize * finer;
        let queue = model.target();
        let mut delays = vec![0.0; in_tau + 1];
        delays[0] = queue / policy.share(model, 0.0);
        Fluid {
            model,
            policy,
            step: tau / in_tau as f64,
            steps: 0,
            rate: 1.0,
            queue,
            delays,
        }
    }

    fn time(&self) -> f64 {
        self.steps as f64 * self.step
    }

    fn now(&self) -> Peak {
        Peak {
            delay: self.delays[self.steps % self.delays.len()],
            at: self.time(),
        }
    }

    fn step(&mut self) {
        let slots = self.delays.len();
        let (start, end) = (self.time(), self.time() + self.step);
        let before = self.rate;
        // Until τ the sender sees the queue of before, at its target.
        if self.steps + 1 >= slots {
            let [seen, next] = [1, 2].map(|ahead| self.delays[(self.steps + ahead) % slots]);
            let off = (seen + next) / 2.0 - self.model.target();
            self.rate = (before - self.step * self.model.gain() * off).max(0.0);
        }
        let share = self.policy.share(self.model, (start + end) / 2.0);
        let filled = (before + self.rate) / 2.0 - share;
        self.queue = (self.queue + self.step * filled).max(0.0);
        self.steps += 1;
        self.delays[self.steps % slots] = self.queue / self.policy.share(self.model, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Responsiveness;
    use crate::policy::Share;

    fn ms(peak: Peak) -> f64 {
        peak.delay * 1e3
    }

    #[track_caller]
    fn near(found: f64, expected: f64, within: f64) {
        assert!(
            (found - expected).abs() <= within,
            "{found}, not {expected}"
        );
    }

    /// N = 12, q0 = 5 ms, Copa at 40 ms: k = (π/100 ms)² = 0.000987/ms².
    ///
    /// Under FQ a = 13: q = 65 ms at once and 65 + 12·40 = 545 ms at τ. From then on the sender sees
    /// it rise: s = 1 − 0.01184·(5u + u²/2) = 1/13 at u = √(25 + 2/0.01283) − 5 = 8.45 ms, and q is
    /// 545 + 12·8.45·(2/3 − 0.01283·5·8.45/6) = 545 + 58.4 = 603.4 ms.
    ///
    /// Under CBQ a = 2: u = √(25 + 2/0.001974) − 5 = 27.22 ms, q = 10 + 40 + 27.22·(2/3 −
    /// 0.001974·5·27.22/6) = 50 + 16.9 = 66.9 ms.
    #[test]
    fn first_peaks_of_the_example() {
        let model = Model::default();
        let fq = peak(&model, Policy::Fq);
        near(ms(fq), 603.4, 0.1);
        near(fq.at, 0.04845, 0.0001);
        let cbq = peak(&model, Policy::Cbq);
        near(ms(cbq), 66.9, 0.1);
        near(cbq.at, 0.06722, 0.0001);
    }

    /// Confucius's 123 ms within 800 ms are a third peak, at 592 ms; by equation (1) it is less. The
    /// figures are those of an independent integration with steps of 50 µs.
    #[test]
    fn first_peaks_are_not_the_greatest_of_a_long_time() {
        let model = Model::default();
        let confucius = Policy::Confucius;
        near(ms(peak(&model, confucius(Share::Decay))), 87.8, 0.1);
        near(ms(peak(&model, confucius(Share::Weights))), 77.1, 0.1);
        near(ms(peak(&model, confucius(Share::Steps))), 66.9, 0.1);
        let until = |curve| greatest(&model, confucius(curve), Duration::from_millis(800));
        let decay = until(Share::Decay);
        near(ms(decay), 123.4, 0.3);
        near(decay.at, 0.592, 0.001);
        near(ms(until(Share::Weights)), 89.8, 0.3);
        // The model's oscillation can lead to any result.
        let crowd = Model {
            flows: 1000,
            ..model.clone()
        };
        let decay = |ms| {
            let horizon = Duration::from_millis(ms);
            greatest(&crowd, confucius(Share::Decay), horizon).delay
        };
        assert!(decay(1500) > 4.0 * decay(800));
        let fq = greatest(&model, Policy::Fq, Duration::from_millis(800));
        assert_eq!(fq, peak(&model, Policy::Fq));
    }

    /// Steps half as long change no first peak by as much as 0.1 %.
    #[test]
    fn the_integral_has_converged() {
        for flows in [1, 12, 300] {
            for rtt in [5, 40, 200].map(Duration::from_millis) {
                for k in [
                    Responsiveness::Copa,
                    Responsiveness::Bbr,
                    Responsiveness::PerMs2(1e-5),
                ] {
                    for policy in Policy::ALL {
                        let model = Model {
                            flows,
                            rtt,
                            k,
                            ..Model::default()
                        };
                        let [coarse, fine] =
                            [1, 2].map(|finer| first(Fluid::new(&model, policy, finer)).delay);
                        let change = (coarse / fine - 1.0).abs();
                        assert!(change < 1e-3, "{policy:?} {model:?}: {change}");
                    }
                }
            }
        }
    }

    /// Half of the link, in balance except for a small push. With q = p/r the loop's frequency is
    /// √(k/r), for Copa √2·2π/5 = 1.777 in units of 1/τ, and the root of z² + 1.777²·e^(−z) = 0
    /// with the greatest real part is 0.6622 + 1.0910i: each swing is e^(π·0.6622/1.0910) = 6.73
    /// times the one before.
    #[test]
    fn the_loop_is_unstable() {
        let model = Model {
            flows: 1,
            ..Model::default()
        };
        let mut fluid = Fluid::new(&model, Policy::Cbq, 1);
        let target = model.target();
        fluid.rate = 0.5;
        fluid.queue = target / 2.0;
        fluid.delays.fill(target);
        fluid.queue += 1e-9;
        fluid.delays[0] = fluid.queue * 2.0;
        let (mut swings, mut off) = (Vec::new(), 0.0_f64);
        while swings.len() < 4 {
            let before = fluid.now().delay - target;
            fluid.step();
            let now = fluid.now().delay - target;
            if before * now < 0.0 {
                swings.push(off);
                off = 0.0;
            }
            off = off.max(now.abs());
        }
        near(swings[3] / swings[2], 6.73, 0.01);
    }
}
