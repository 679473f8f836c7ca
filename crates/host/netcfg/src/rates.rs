//! The rates of the two directions of a device.

use crate::{Device, ShapedRate};
use serde::{Deserialize, Serialize};

/// A direction of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// What it receives.
    Down,
    /// What it sends.
    Up,
}

impl Direction {
    /// Both.
    pub const BOTH: [Direction; 2] = [Direction::Down, Direction::Up];

    /// The device whose queue shapes that direction of `device`.
    pub(crate) fn shaper(self, device: &Device) -> Device {
        match self {
            Direction::Down => device.shaped_ingress(),
            Direction::Up => device.clone(),
        }
    }
}

/// The rates of both directions; none where nothing is shaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Of what the device receives.
    pub down: Option<ShapedRate>,
    /// Of what it sends.
    pub up: Option<ShapedRate>,
}

impl Rates {
    /// That of `direction`.
    pub fn of(&self, direction: Direction) -> Option<ShapedRate> {
        match direction {
            Direction::Down => self.down,
            Direction::Up => self.up,
        }
    }

    /// The same, with another one of `direction`.
    pub(crate) fn with(mut self, direction: Direction, rate: ShapedRate) -> Self {
        match direction {
            Direction::Down => self.down = Some(rate),
            Direction::Up => self.up = Some(rate),
        }
        self
    }
}
