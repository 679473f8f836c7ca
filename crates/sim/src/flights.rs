//! Packets that are under way.

use transport::Wire;
use units::Ecn;

/// A packet under way.
#[derive(Debug)]
pub struct Flight {
    /// Its number: no other packet of the run has it.
    pub number: u64,
    /// The end point that sent it; its route is the packet's.
    pub from: u32,
    /// IP length in bytes.
    pub len: u32,
    /// The path that it takes.
    pub path: u16,
    /// Links of the path that it has passed.
    pub hop: u8,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its contents.
    pub wire: Wire,
}

/// All packets under way, by place. Places are used again.
#[derive(Debug, Default)]
pub struct Flights {
    slots: Vec<Option<Flight>>,
    free: Vec<u32>,
}

impl Flights {
    /// Takes in a packet and gives it a place.
    pub fn insert(&mut self, flight: Flight) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = Some(flight);
                place
            }
            None => {
                self.slots.push(Some(flight));
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// The packet at this place.
    pub fn get_mut(&mut self, place: u32) -> &mut Flight {
        self.slots[place as usize]
            .as_mut()
            .expect("a packet under way is in its slot")
    }

    /// The packet at this place.
    pub fn get(&self, place: u32) -> &Flight {
        self.slots[place as usize]
            .as_ref()
            .expect("a packet under way is in its slot")
    }

    /// The packet at this place is no longer under way.
    pub fn remove(&mut self, place: u32) {
        debug_assert!(self.slots[place as usize].is_some(), "it was under way");
        self.slots[place as usize] = None;
        self.free.push(place);
    }
}
