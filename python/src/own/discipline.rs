//! A queue discipline in Python.

use super::{Held, Kind, fail, object};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use qdisc::registry::Build;
use qdisc::{Backlog, DropReason, Observer, Packet, Parts, Qdisc};
use std::collections::BTreeMap;
use units::param::Settings;
use units::{Instant, Refusal};

/// The link that a discipline is put on.
#[pyclass(module = "analects", name = "Link", frozen, get_all)]
struct Link {
    /// Bits a second; None if it varies.
    rate: Option<u64>,
    /// Packets that its owner gave room for; None if nothing was said.
    buffer: Option<u32>,
    /// A seed for chance.
    seed: u64,
}

/// The builders by slot.
pub const BUILD: [Build<u32>; super::SLOTS] = [
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

fn build<const SLOT: usize>(parts: &Parts<'_, u32>) -> Result<Box<dyn Qdisc<u32>>, Refusal> {
    let env = parts.env;
    let link = |py: Python<'_>| {
        let link = Link {
            rate: env.rate.map(|rate| rate.as_bits()),
            buffer: env.limit.map(|limit| limit.packets()),
            seed: env.seed,
        };
        Ok(Py::new(py, link)?.into_any())
    };
    let object = object(Kind::Discipline, SLOT, link, parts.settings)?;
    let wakes = Python::attach(|py| object.bind(py).hasattr("next_wake").unwrap_or(false));
    Ok(Box::new(Own {
        object,
        wakes,
        failed: false,
        next: 0,
        held: BTreeMap::new(),
        backlog: Backlog::default(),
    }))
}

/// A discipline whose decisions an object of Python makes; the packets stay here. Once it has failed it
/// drops all packets, so that the run comes to its end.
struct Own {
    object: Py<PyAny>,
    /// It has a method `next_wake`: it may return nothing though packets wait.
    wakes: bool,
    failed: bool,
    /// Number of the next packet.
    next: u64,
    held: BTreeMap<u64, (Packet<u32>, Py<Held>)>,
    backlog: Backlog,
}

impl Own {
    /// Takes a packet out.
    fn take(&mut self, number: u64) -> Option<(Packet<u32>, Py<Held>)> {
        let (packet, held) = self.held.remove(&number)?;
        self.backlog.remove(packet.len);
        Some((packet, held))
    }

    /// The numbers of the packets that a method returned: one, several or none.
    fn numbers(&self, answer: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let several = answer.is_instance_of::<PyList>() || answer.is_instance_of::<PyTuple>();
        let items: Vec<Bound<'_, PyAny>> = match () {
            () if answer.is_none() => Vec::new(),
            () if several => answer.try_iter()?.collect::<PyResult<_>>()?,
            () => vec![answer.clone()],
        };
        items.iter().map(|item| self.number(item)).collect()
    }

    fn number(&self, item: &Bound<'_, PyAny>) -> PyResult<u64> {
        let held = item
            .cast::<Held>()
            .map_err(|_| PyTypeError::new_err(format!("expected a packet, found {item}")))?;
        let number = held.borrow().number;
        match self.held.get(&number) {
            Some((_, own)) if own.is(item) => Ok(number),
            _ => Err(PyValueError::new_err(format!(
                "{item} does not wait here: it left, or was dropped"
            ))),
        }
    }

    /// The failure of `method`, and the end of all packets.
    fn fail(&mut self, now: Instant, method: &str, error: PyErr, observer: &mut dyn Observer<u32>) {
        self.failed = true;
        fail(
            &format!("in {method} of a discipline at {} s", now.as_secs_f64()),
            error,
        );
        while let Some((number, _)) = self.held.first_key_value() {
            let number = *number;
            if let Some((packet, _)) = self.take(number) {
                observer.dropped(now, packet, DropReason::Tail);
            }
        }
    }

    fn asked_to_take(&mut self, py: Python<'_>, now: Instant, number: u64) -> PyResult<Vec<u64>> {
        let held = self.held[&number].1.clone_ref(py);
        let answer = self
            .object
            .call_method1(py, "enqueue", (now.as_secs_f64(), held))?;
        self.numbers(answer.bind(py))
    }

    /// The number of the packet to send, and whether it is to be marked.
    fn asked_to_send(&mut self, py: Python<'_>, now: Instant) -> PyResult<Option<(u64, bool)>> {
        let answer = self
            .object
            .call_method1(py, "dequeue", (now.as_secs_f64(),))?;
        let answer = answer.bind(py);
        if !answer.is_none() {
            let number = self.number(answer)?;
            return Ok(Some((number, self.held[&number].1.borrow(py).marked)));
        }
        match self.held.len() {
            0 => Ok(None),
            _ if self.wakes => Ok(None),
            waiting => Err(PyValueError::new_err(format!(
                "dequeue returned None though {waiting} packets wait; return one, or write next_wake"
            ))),
        }
    }
}

impl Qdisc<u32> for Own {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<u32>, observer: &mut dyn Observer<u32>) {
        if self.failed {
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        packet.arrived = now;
        let number = self.next;
        self.next += 1;
        let dropped = Python::attach(|py| {
            let held = Py::new(py, Held::of(&packet, number));
            self.backlog.add(packet.len);
            match held {
                Ok(held) => {
                    self.held.insert(number, (packet, held));
                    self.asked_to_take(py, now, number)
                }
                Err(error) => {
                    self.backlog.remove(packet.len);
                    observer.dropped(now, packet, DropReason::Tail);
                    Err(error)
                }
            }
        });
        match dropped {
            Ok(numbers) => {
                for number in numbers {
                    if let Some((packet, _)) = self.take(number) {
                        observer.dropped(now, packet, DropReason::Tail);
                    }
                }
            }
            Err(error) => self.fail(now, "enqueue", error, observer),
        }
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<u32>) -> Option<Packet<u32>> {
        if self.failed {
            return None;
        }
        match Python::attach(|py| self.asked_to_send(py, now)) {
            Ok(chosen) => {
                let (number, marked) = chosen?;
                let (mut packet, _) = self.take(number)?;
                if marked && packet.mark() {
                    observer.marked(now, &packet);
                }
                Some(packet)
            }
            Err(error) => {
                self.fail(now, "dequeue", error, observer);
                None
            }
        }
    }

    fn next_wake(&self, now: Instant) -> Option<Instant> {
        if !self.wakes || self.failed {
            return None;
        }
        let asked = Python::attach(|py| {
            let answer = self
                .object
                .call_method1(py, "next_wake", (now.as_secs_f64(),))?;
            answer.extract::<Option<f64>>(py)
        });
        match asked {
            // A time that has passed would be asked for again at once, without end.
            Ok(at) => at.map(|at| {
                Instant::from_nanos((at * 1e9) as u64).max(now + units::Duration::from_micros(1))
            }),
            Err(error) => {
                fail("in next_wake of a discipline", error);
                None
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn change(
        &mut self,
        _now: Instant,
        _settings: &Settings,
        _observer: &mut dyn Observer<u32>,
    ) -> Result<(), Refusal> {
        Err(Refusal::new(
            "a discipline in Python cannot be changed while it runs",
        ))
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        // Its settings are its own: nobody here knows their names.
        Vec::new()
    }
}
