//! The value of a form of the theory.

/// Greatest queue delay of the real-time flow, and how much later than under FQ the new flows are
/// complete, both in seconds; `None` if there is no such form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// q_max of table 1.
    pub delay: Option<f64>,
    /// T − T_FQ of table 1.
    pub completion: Option<f64>,
}
