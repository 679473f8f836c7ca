//! Packets that are under way.

use transport::Wire;
use units::Ecn;

/// A packet under way.
#[derive(Debug)]
pub struct Flight {
    /// The end point that sent it; its route is the packet's.
    pub from: u32,
    /// Links that it has passed.
    pub hop: u8,
    /// Its ECN field.
    pub ecn: Ecn,
    /// IP length in bytes.
    pub len: u32,
    /// What it carries.
    pub wire: Wire,
}

/// All packets under way, by number. Numbers are used again.
#[derive(Debug, Default)]
pub struct Flights {
    slots: Vec<Option<Flight>>,
    free: Vec<u32>,
}

impl Flights {
    /// Takes in a packet and gives it a number.
    pub fn insert(&mut self, flight: Flight) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = Some(flight);
                number
            }
            None => {
                self.slots.push(Some(flight));
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// The packet of this number.
    pub fn get_mut(&mut self, number: u32) -> &mut Flight {
        self.slots[number as usize]
            .as_mut()
            .expect("a packet under way is in its slot")
    }

    /// The packet of this number.
    pub fn get(&self, number: u32) -> &Flight {
        self.slots[number as usize]
            .as_ref()
            .expect("a packet under way is in its slot")
    }

    /// The packet of this number is no longer under way.
    pub fn remove(&mut self, number: u32) {
        debug_assert!(self.slots[number as usize].is_some(), "it was under way");
        self.slots[number as usize] = None;
        self.free.push(number);
    }
}
