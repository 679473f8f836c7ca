//! The interface of an engine.

use crate::event::Sink;
use crate::metric::Registry;
use scenario::{Choice, Scenario};
use units::Refusal;

/// An engine that can run a scenario.
pub trait Engine: Sync {
    /// Its name, as users write it.
    fn name(&self) -> &'static str;

    /// The metrics that it knows: a scenario may ask for their meters.
    fn metrics(&self) -> Registry {
        Registry::builtin()
    }

    /// The parts of the scenario that it cannot run, and why. Empty if it can run it all.
    fn check(&self, scenario: &Scenario) -> Vec<Unsupported>;

    /// Runs the scenario with `discipline` under test and reports events to `sink`.
    ///
    /// # Errors
    /// If there is an error that [`check`](Engine::check) does not find, such as a refused
    /// parameter of a discipline.
    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError>;
}

/// A queue as it was built, in the order of [`LinkId`](crate::LinkId).
#[derive(Debug, Clone)]
pub struct BuiltLink {
    /// The link's name; an uplink's has `-up` appended.
    pub name: String,
    /// The discipline on it.
    pub discipline: String,
    /// The names of its classes.
    pub classes: Vec<String>,
    /// The counters of a composite discipline's children, once the run is over; over all of its
    /// time.
    pub children: Vec<qdisc::ChildStats>,
    /// The room that its owner gave it.
    pub buffer: Option<qdisc::Limit>,
    /// Bytes that its capacity could have carried over the measured time.
    pub capacity_bytes: f64,
    /// Remarks on its results: a field of [`LinkResult`](crate::LinkResult), and the remark. If the
    /// field is null, that is the reason.
    pub remarks: Vec<(&'static str, String)>,
    /// Why the run is not to be believed, if it is not.
    pub doubt: Option<String>,
}

/// A part of a scenario that an engine cannot run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{entry}: {refusal}")]
pub struct Unsupported {
    /// The entry of the scenario, as a path such as `traffic.call.control`.
    pub entry: String,
    /// Why, and what helps.
    pub refusal: Refusal,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{entry}: {refusal}")]
pub struct EngineError {
    /// The entry of the scenario that is at fault.
    pub entry: String,
    /// The error, and the help against it.
    pub refusal: Refusal,
}

impl From<Unsupported> for EngineError {
    fn from(Unsupported { entry, refusal }: Unsupported) -> EngineError {
        EngineError { entry, refusal }
    }
}
