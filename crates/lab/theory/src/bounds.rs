//! The three answers side by side.

use crate::estimate::Estimate;
use crate::fluid::peak;
use crate::model::Model;
use crate::policy::Policy;
use crate::{closed, completion};

/// The same figures found in three ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Equations (4) to (8) integrated numerically; the delay is the [first peak](peak).
    pub integral: Estimate,
    /// The [closed form](closed::corrected) that follows from equations (4) to (8).
    pub corrected: Estimate,
    /// [Table 1](closed::printed) as printed.
    pub printed: Estimate,
}

/// The theory's bound for a policy.
pub fn bound(policy: Policy, model: &Model) -> Bound {
    let integral = Estimate {
        delay: Some(peak(model, policy).delay),
        completion: Some(
            completion::integrated(model, policy) - completion::integrated(model, Policy::Fq),
        ),
    };
    Bound {
        integral,
        corrected: closed::corrected(policy, model),
        printed: closed::printed(policy, model),
    }
}
