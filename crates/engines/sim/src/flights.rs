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
    /// A packet that is no longer under way stays in its place until that is used again.
    slots: Vec<Flight>,
    free: Vec<u32>,
}

impl Flights {
    /// Takes in a packet and gives it a place.
    #[inline]
    pub fn insert(&mut self, flight: Flight) -> u32 {
        let Some(place) = self.free.pop() else {
            return self.add(flight);
        };
        self.slots[place as usize] = flight;
        place
    }

    #[cold]
    fn add(&mut self, flight: Flight) -> u32 {
        self.slots.push(flight);
        (self.slots.len() - 1) as u32
    }

    /// The packet at this place.
    #[inline]
    pub fn get_mut(&mut self, place: u32) -> &mut Flight {
        &mut self.slots[place as usize]
    }

    /// The packet at this place.
    #[inline]
    pub fn get(&self, place: u32) -> &Flight {
        &self.slots[place as usize]
    }

    /// The packet at this place is no longer under way.
    #[inline]
    pub fn remove(&mut self, place: u32) {
        self.free.push(place);
    }
}
