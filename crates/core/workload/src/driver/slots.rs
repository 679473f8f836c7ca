//! Items by number, with reused numbers.

/// Items by number. A reused number has another generation, so that holders of the old item do not
/// reach the new one.
#[derive(Debug)]
pub struct Slots<T> {
    slots: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

/// The number of a thing in [`Slots`], with its generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotId {
    place: u32,
    generation: u32,
}

impl SlotId {
    /// The number alone.
    pub const fn place(self) -> u32 {
        self.place
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slots<T> {
    /// Takes a thing in.
    pub fn insert(&mut self, thing: T) -> SlotId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[place as usize];
        slot.1 = Some(thing);
        SlotId {
            place,
            generation: slot.0,
        }
    }

    /// The thing, if it is still there.
    pub fn get_mut(&mut self, id: SlotId) -> Option<&mut T> {
        let (generation, thing) = self.slots.get_mut(id.place as usize)?;
        thing.as_mut().filter(|_| *generation == id.generation)
    }

    /// Takes the thing out, if it is still there.
    pub fn remove(&mut self, id: SlotId) -> Option<T> {
        self.get_mut(id)?;
        self.take_place(id.place)
    }

    /// Takes out the item with this number, whatever its generation: for callers that are notified
    /// once for each item.
    pub fn take_place(&mut self, place: u32) -> Option<T> {
        let (generation, thing) = self.slots.get_mut(place as usize)?;
        let thing = thing.take()?;
        *generation = generation.wrapping_add(1);
        self.free.push(place);
        Some(thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_used_again_but_not_mistaken() {
        let mut slots = Slots::default();
        let (a, b) = (slots.insert('a'), slots.insert('b'));
        assert_eq!(slots.remove(a), Some('a'));
        assert_eq!(slots.remove(a), None);
        let c = slots.insert('c');
        assert_eq!(c.place(), a.place());
        assert_eq!(slots.get_mut(a), None, "an old number does not reach it");
        assert_eq!(slots.get_mut(c), Some(&mut 'c'));
        assert_eq!(slots.take_place(b.place()), Some('b'));
        assert_eq!(slots.take_place(b.place()), None);
        assert_eq!(slots.slots.len(), 2);
    }
}
