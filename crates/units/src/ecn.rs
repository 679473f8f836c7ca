//! The ECN field of an IP header.

/// The ECN field (RFC 3168, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ecn {
    /// The sender does not understand ECN.
    #[default]
    NotCapable,
    /// ECT(0).
    Ect0,
    /// ECT(1): the L4S identifier (RFC 9331).
    Ect1,
    /// Congestion Experienced.
    Ce,
}
