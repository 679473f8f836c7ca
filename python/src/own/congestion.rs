//! A congestion control in Python.

use super::{Kind, fail, object};
use cca::registry::Build;
use cca::{Ack, Congestion, Control, Parts, Signal};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use units::{Duration, Instant, Rate, Refusal};

/// The sender that a control serves. Sizes in bytes.
#[pyclass(module = "analects", name = "Sender", frozen, get_all)]
struct Sender {
    /// Largest payload of a packet.
    mss: u64,
    /// Initial window.
    initial_window: u64,
    /// A seed for chance.
    seed: u64,
}

/// An acknowledgement. Sizes in bytes of payload, times in seconds.
#[pyclass(module = "analects", name = "Ack", frozen, get_all)]
struct Acked {
    /// Newly delivered.
    bytes: u64,
    /// Newly found lost.
    lost: u64,
    /// Round trip of the newest packet; None if it was retransmitted.
    rtt: Option<f64>,
    /// Smoothed round trip; zero before the first.
    srtt: f64,
    /// Smallest round trip so far.
    min_rtt: f64,
    /// In flight before it.
    prior_in_flight: u64,
    /// In flight after it.
    in_flight: u64,
    /// Delivered so far.
    delivered: u64,
    /// Delivery rate, bits a second; None without a sample.
    rate: Option<u64>,
    /// A round trip has passed since this was last true.
    round_start: bool,
    /// The sender repairs losses.
    in_recovery: bool,
    /// The window limited sending, not the application.
    window_limited: bool,
    /// Delivered with Congestion Experienced.
    marked: u64,
}

impl Acked {
    fn of(ack: &Ack) -> Acked {
        Acked {
            bytes: ack.bytes,
            lost: ack.lost,
            rtt: ack.rtt.map(Duration::as_secs_f64),
            srtt: ack.srtt.as_secs_f64(),
            min_rtt: ack.min_rtt.as_secs_f64(),
            prior_in_flight: ack.prior_in_flight,
            in_flight: ack.in_flight,
            delivered: ack.delivered,
            rate: ack.rate.map(|sample| sample.rate().as_bits()),
            round_start: ack.round_start,
            in_recovery: ack.in_recovery,
            window_limited: ack.window_limited,
            marked: ack.marked,
        }
    }
}

/// Congestion that was noticed, once a round trip at most.
#[pyclass(module = "analects", name = "Congestion", frozen, get_all)]
struct Noticed {
    /// By a mark; else by a loss.
    marked: bool,
    /// Bytes newly found lost.
    lost: u64,
    /// Bytes in flight, those lost left out.
    in_flight: u64,
    /// Smallest round trip so far, seconds.
    min_rtt: f64,
}

/// The builders by slot.
pub const BUILD: [Build; super::SLOTS] = [
    build::<0>,
    build::<1>,
    build::<2>,
    build::<3>,
    build::<4>,
    build::<5>,
    build::<6>,
    build::<7>,
    build::<8>,
    build::<9>,
    build::<10>,
    build::<11>,
    build::<12>,
    build::<13>,
    build::<14>,
    build::<15>,
];

fn build<const SLOT: usize>(parts: &Parts<'_>) -> Result<Box<dyn Control>, Refusal> {
    let setup = parts.setup;
    let sender = |py: Python<'_>| {
        let sender = Sender {
            mss: setup.mss,
            initial_window: setup.initial_window,
            seed: setup.seed,
        };
        Ok(Py::new(py, sender)?.into_any())
    };
    let object = object(Kind::Control, SLOT, sender, parts.settings)?;
    let mut own = Own {
        object,
        mss: setup.mss,
        window: setup.initial_window,
        pacing: None,
        failed: false,
    };
    own.told(|_, _| Ok(()))
        .map_err(|error| Refusal::new(error.to_string()))?;
    Ok(Box::new(own))
}

/// A control whose decisions an object of Python makes. Once it has failed it sends a packet at a time.
struct Own {
    object: Py<PyAny>,
    mss: u64,
    /// What it said last.
    window: u64,
    pacing: Option<Rate>,
    failed: bool,
}

impl Own {
    /// Tells the object something, and asks for its window and rate.
    fn told(&mut self, tell: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<()>) -> PyResult<()> {
        Python::attach(|py| {
            tell(py, &self.object)?;
            let object = self.object.bind(py);
            let window: f64 = object.getattr("window")?.extract()?;
            if !(1.0..=1e15).contains(&window) {
                let message = format!("window is {window}, expected bytes from 1 to 1e15");
                return Err(PyValueError::new_err(message));
            }
            self.window = (window as u64).max(self.mss);
            let rate: Option<f64> = match object.getattr_opt("pacing_rate")? {
                Some(rate) => rate.extract()?,
                None => None,
            };
            if let Some(rate) = rate
                && !(1.0..=1e15).contains(&rate)
            {
                let message =
                    format!("pacing_rate is {rate}, expected bits a second from 1 to 1e15");
                return Err(PyValueError::new_err(message));
            }
            self.pacing = rate.map(|rate| Rate::from_bits(rate as u64));
            Ok(())
        })
    }

    /// The same in a run, where a failure is remembered.
    fn tell(
        &mut self,
        now: Instant,
        method: &str,
        tell: impl FnOnce(Python<'_>, &Py<PyAny>, f64) -> PyResult<()>,
    ) {
        if self.failed {
            return;
        }
        let seconds = now.as_secs_f64();
        if let Err(error) = self.told(|py, object| tell(py, object, seconds)) {
            fail(&format!("in {method} of a control at {seconds} s"), error);
            (self.failed, self.window, self.pacing) = (true, self.mss, None);
        }
    }
}

impl Control for Own {
    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.tell(now, "on_ack", |py, object, now| {
            let acked = Py::new(py, Acked::of(ack))?;
            object.call_method1(py, "on_ack", (now, acked)).map(drop)
        });
    }

    fn on_congestion(&mut self, now: Instant, congestion: &Congestion) {
        self.tell(now, "on_congestion", |py, object, now| {
            let noticed = Noticed {
                marked: congestion.signal == Signal::Mark,
                lost: congestion.lost,
                in_flight: congestion.in_flight,
                min_rtt: congestion.min_rtt.as_secs_f64(),
            };
            let noticed = Py::new(py, noticed)?;
            object
                .call_method1(py, "on_congestion", (now, noticed))
                .map(drop)
        });
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u64) {
        self.tell(now, "on_timeout", |py, object, now| {
            object
                .call_method1(py, "on_timeout", (now, in_flight))
                .map(drop)
        });
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing
    }
}
