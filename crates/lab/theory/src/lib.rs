//! The theory behind the measurements.
//!
//! [`ages`] is about flows that are served by age, [`setpoint`] about the target of an AQM. All
//! else is the theory of the Confucius paper (section 4.3, appendix B): one real-time flow on a
//! link, and N flows that join it at t = 0.
//!
//! [`bound`] puts three answers side by side: the fluid model integrated, the closed form as it
//! follows from that model, and the form that the paper prints. Decision 0040 lists their
//! differences.
//!
//! The model knows only the flow's control, its queue and its share of the link. It has no losses,
//! no packets, and new flows that outlast the peak: it predicts directions, not the values of
//! measurements.
//!
//! Not for: the fate of packets (`sim`), or comparing a bound with a measurement (`reproduce`).

pub mod ages;
mod bounds;
pub mod closed;
mod completion;
pub mod equations;
mod estimate;
mod figure19;
mod fluid;
mod model;
mod policy;
pub mod setpoint;
#[cfg(test)]
mod tests;

pub use bounds::{Bound, bound};
pub use estimate::Estimate;
pub use figure19::{Curve, Point, figure19};
pub use fluid::{Peak, greatest, peak};
pub use model::{Model, Responsiveness};
pub use policy::{Policy, Share};
