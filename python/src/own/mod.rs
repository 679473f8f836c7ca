//! Disciplines and controls that are written in Python, for trying an idea.
//!
//! They are entries of the registries like all others. A registry builds by a plain function, which knows
//! nothing of Python's objects: so there are [`SLOTS`] such functions, each with a number, and a class
//! registered under a name has one of these numbers.

mod congestion;
mod discipline;
mod packets;

pub use packets::Held;

use cca::ControlEntry;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use qdisc::Discipline;
use sim::Simulator;
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::{Choice, Refusal};

/// So many disciplines, and so many controls, can be registered.
pub const SLOTS: usize = 16;

/// What a class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A queue discipline.
    Discipline,
    /// A congestion control.
    Control,
}

/// A class under its name.
struct Own {
    name: &'static str,
    summary: &'static str,
    class: Py<PyAny>,
}

static DISCIPLINES: Mutex<Vec<Own>> = Mutex::new(Vec::new());
static CONTROLS: Mutex<Vec<Own>> = Mutex::new(Vec::new());
/// What went wrong first in a run, until it is [taken](take_failure). Python makes runs with such classes one
/// after another, so that a failure has its run.
static FAILURE: Mutex<Option<PyErr>> = Mutex::new(None);

/// A lock's content; whoever panicked with it left it whole.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn registered(kind: Kind) -> MutexGuard<'static, Vec<Own>> {
    match kind {
        Kind::Discipline => locked(&DISCIPLINES),
        Kind::Control => locked(&CONTROLS),
    }
}

/// Registers `class` under `name`, or in place of the class of that name.
///
/// # Errors
/// If there is no room.
pub fn register(kind: Kind, name: &str, summary: &str, class: Py<PyAny>) -> Result<(), Refusal> {
    let mut all = registered(kind);
    if let Some(known) = all.iter_mut().find(|own| own.name == name) {
        known.class = class;
        return Ok(());
    }
    if all.len() == SLOTS {
        let message = format!("{name}: there are {SLOTS} already");
        return Err(
            Refusal::new(message).with_help("register under a name that exists, in its place")
        );
    }
    // Registries know static names. There are at most SLOTS of them.
    all.push(Own {
        name: name.to_owned().leak(),
        summary: summary.to_owned().leak(),
        class,
    });
    Ok(())
}

/// Adds what is registered to a simulator's registries.
pub fn add(simulator: &mut Simulator) {
    for (slot, own) in registered(Kind::Discipline).iter().enumerate() {
        simulator.disciplines.add(Discipline {
            name: own.name,
            summary: own.summary,
            about: ABOUT,
            source: "Python",
            params: &[],
            children: &[],
            build: discipline::BUILD[slot],
        });
    }
    for (slot, own) in registered(Kind::Control).iter().enumerate() {
        simulator.controls.add(ControlEntry {
            name: own.name,
            summary: own.summary,
            about: ABOUT,
            source: "Python",
            params: &[],
            children: &[],
            build: congestion::BUILD[slot],
        });
    }
}

const ABOUT: &str =
    "A class of Python.\n\nNot for: results that are kept, and anything that has to be fast.";

/// The first name in a choice, children included, that is registered here.
pub fn first_in(choice: &Choice) -> Option<String> {
    let is_own = |kind| registered(kind).iter().any(|own| own.name == choice.name);
    if is_own(Kind::Discipline) || is_own(Kind::Control) {
        return Some(choice.name.clone());
    }
    choice.children.iter().find_map(first_in)
}

/// What went wrong first since this was last called.
pub fn take_failure() -> Option<PyErr> {
    locked(&FAILURE).take()
}

/// Remembers the failure of `what`, unless one is remembered.
fn fail(what: &str, error: PyErr) {
    // An exception that refuses its note is worth more than the note.
    _ = Python::attach(|py| error.value(py).call_method1("add_note", (what,)).map(drop));
    locked(&FAILURE).get_or_insert(error);
}

/// An object of the class in `slot`: of its place and the settings of a scenario, which are texts.
///
/// # Errors
/// What the class raises, in a line.
fn object(
    kind: Kind,
    slot: usize,
    place: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>,
    settings: &[(String, String)],
) -> Result<Py<PyAny>, Refusal> {
    Python::attach(|py| {
        let class = registered(kind)[slot].class.clone_ref(py);
        let make = || {
            let words = PyDict::new(py);
            for (name, value) in settings {
                words.set_item(name, value)?;
            }
            class.call(py, (place(py)?,), Some(&words))
        };
        make().map_err(|error: PyErr| Refusal::new(error.to_string()).with_help("see the class"))
    })
}
