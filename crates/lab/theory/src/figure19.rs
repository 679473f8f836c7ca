//! Figure 19: how the queue delay under Confucius depends on its parameter and on the control.

use crate::fluid::peak;
use crate::model::{Model, Responsiveness};
use crate::policy::{Policy, Share};
use crate::{closed, equations};
use units::Duration;

/// One control and round trip.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The model given; its lambda is that of the last point.
    pub model: Model,
    /// One for each lambda, rising.
    pub points: Vec<Point>,
}

/// Delays in seconds, for a lambda.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// In 1/ms.
    pub lambda: f64,
    /// The first peak, with the share of (9d).
    pub integral: f64,
    /// The result in closed form, if there is one.
    pub corrected: Option<f64>,
    /// The bound of table 1, equation (30).
    pub printed: f64,
    /// The bound before it is simplified, equation (29), which the paper claims to plot.
    pub unsimplified: f64,
}

/// The curves, over a lambda of 0 to 0.01 per ms: `model`, then with each other k, round trip and
/// q0. With a given k, a longer round trip does not change the control; with `copa` or `bbr` it does.
///
/// The figure's own axes are not in the paper's text; the values are chosen around its defaults.
pub fn figure19(model: &Model) -> Vec<Curve> {
    let k = |k| Model { k, ..model.clone() };
    let rtt = |ms| Model {
        rtt: Duration::from_millis(ms),
        // As it is at the model's own round trip.
        k: Responsiveness::PerMs2(model.k.per_ms2(model.rtt)),
        ..model.clone()
    };
    let q0 = |ms| Model {
        q0: Duration::from_millis(ms),
        ..model.clone()
    };
    let mut models = vec![model.clone()];
    models.extend([Responsiveness::Copa, Responsiveness::Bbr].map(k));
    models.extend([0.0002, 0.005].map(Responsiveness::PerMs2).map(k));
    models.extend([10, 20, 80, 160].map(rtt));
    models.extend([1, 2, 5, 10, 20].map(q0));
    // Each once.
    let mut curves: Vec<Curve> = Vec::new();
    for model in models {
        let same = |curve: &Curve| {
            Model {
                lambda: model.lambda,
                ..curve.model.clone()
            } == model
        };
        if !curves.iter().any(same) {
            curves.push(curve(&model));
        }
    }
    curves
}

fn curve(model: &Model) -> Curve {
    let mut model = model.clone();
    let points = (0..=20)
        .map(|step| {
            model.lambda = f64::from(step) / 2000.0;
            point(&model)
        })
        .collect();
    Curve { model, points }
}

fn point(model: &Model) -> Point {
    let policy = Policy::Confucius(Share::Decay);
    Point {
        lambda: model.lambda,
        integral: peak(model, policy).delay,
        corrected: closed::corrected(policy, model).delay,
        printed: equations::delay_confucius(model),
        unsimplified: equations::series_confucius(model),
    }
}
