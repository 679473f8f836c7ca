//! The names that a scenario may use.

use units::{Choice, Refusal};
use workload::Registry;

/// Checks the names in a scenario: `Err` has the error, and the names that exist.
pub trait Names {
    /// Judges a discipline and its settings.
    ///
    /// # Errors
    /// If it is not known, or refuses a setting.
    fn discipline(&self, choice: &Choice) -> Result<(), Refusal>;

    /// Judges a control and its settings.
    ///
    /// # Errors
    /// If it is not known, or refuses a setting.
    fn control(&self, choice: &Choice) -> Result<(), Refusal>;

    /// Judges a controller that follows a link's rate, and its settings.
    ///
    /// # Errors
    /// If it is not known, or refuses a setting.
    fn autorate(&self, choice: &Choice) -> Result<(), Refusal> {
        autorate::Registry::builtin().build(choice).map(drop)
    }

    /// Judges a metric that a scenario asks for.
    ///
    /// # Errors
    /// If it is not known.
    fn metric(&self, name: &str) -> Result<(), Refusal>;

    /// The known workloads.
    fn workloads(&self) -> &Registry;
}

/// Accepts any discipline, any control and any metric, and knows the built-in workloads: for
/// readers of scenarios that do not run them.
#[derive(Debug)]
pub struct AnyNames(Registry);

impl Default for AnyNames {
    fn default() -> Self {
        AnyNames(Registry::builtin())
    }
}

impl Names for AnyNames {
    fn discipline(&self, _: &Choice) -> Result<(), Refusal> {
        Ok(())
    }

    fn control(&self, _: &Choice) -> Result<(), Refusal> {
        Ok(())
    }

    fn metric(&self, _: &str) -> Result<(), Refusal> {
        Ok(())
    }

    fn workloads(&self) -> &Registry {
        &self.0
    }
}
