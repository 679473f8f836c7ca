//! The theory of the Confucius paper (section 4.3, appendix B): one real-time flow on a link, and
//! N flows that join it at t = 0.
//!
//! [`bound`] puts three answers side by side: the fluid model integrated, the closed form as it
//! follows from that model, and the form that the paper prints. Decision 0040 lists where they part.
//!
//! The model knows only the flow's control, its queue and its share of the link. It has no losses,
//! no packets, and new flows that outlast the peak: it says which way things go, not what a
//! measurement will show.

pub mod closed;
mod completion;
pub mod equations;
mod figure19;
mod fluid;
mod model;
mod policy;
#[cfg(test)]
mod tests;

pub use figure19::{Curve, Point, figure19};
pub use fluid::{Peak, greatest, peak};
pub use model::{Model, Responsiveness};
pub use policy::{Policy, Share};

/// Greatest queue delay of the real-time flow, and how much later than under FQ the new flows are
/// complete, both in seconds; `None` where there is no such form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// q_max of table 1.
    pub delay: Option<f64>,
    /// T − T_FQ of table 1.
    pub completion: Option<f64>,
}

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

/// What the theory says of a policy.
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
