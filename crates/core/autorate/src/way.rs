//! The two directions of a line.

use core::fmt;
use core::ops::{Index, IndexMut};

/// A direction, as the home sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// Towards the home.
    Down,
    /// Away from it.
    Up,
}

impl Way {
    /// Both.
    pub const BOTH: [Way; 2] = [Way::Down, Way::Up];
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Down => "down",
            Way::Up => "up",
        })
    }
}

/// One for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ways<T> {
    /// Towards the home.
    pub down: T,
    /// Away from it.
    pub up: T,
}

impl<T> Index<Way> for Ways<T> {
    type Output = T;
    fn index(&self, way: Way) -> &T {
        match way {
            Way::Down => &self.down,
            Way::Up => &self.up,
        }
    }
}

impl<T> IndexMut<Way> for Ways<T> {
    fn index_mut(&mut self, way: Way) -> &mut T {
        match way {
            Way::Down => &mut self.down,
            Way::Up => &mut self.up,
        }
    }
}
