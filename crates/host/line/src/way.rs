//! The two ways of a line.

/// The way that is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Towards this host.
    Down,
    /// From this host.
    Up,
}

impl Way {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Way::Down => Way::Up,
            Way::Up => Way::Down,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Down => "down",
            Way::Up => "up",
        }
    }
}
