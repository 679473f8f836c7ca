//! The flows of a run by number, in the memory of those that are active.

use scenario::Traffic;
use units::FlowId;
use workload::Rows;

/// The name, in results, of the flow with this number among the entry's, from 1 in the order in
/// which they start: the entry's name, with the number if the entry has several.
pub fn flow_name(entry: &Traffic, number: u32) -> String {
    if entry.kind.entry.rows == Rows::Loads || entry.count > 1 {
        format!("{}-{number}", entry.name)
    } else {
        entry.name.clone()
    }
}

/// Flows on one page.
const PAGE: usize = 256;

/// Things by the number of their flow. Numbers grow for ever; a page of them whose flows are all
/// gone is given back, so that a run of any length keeps active items, and eight bytes for each
/// page.
#[derive(Debug)]
pub struct Flows<T> {
    pages: Vec<Option<Box<FlowPage<T>>>>,
}

#[derive(Debug)]
struct FlowPage<T> {
    held: usize,
    flows: [Option<T>; PAGE],
}

impl<T> Default for Flows<T> {
    fn default() -> Self {
        Flows { pages: Vec::new() }
    }
}

fn place(flow: FlowId) -> (usize, usize) {
    let number = flow.0 as usize;
    (number / PAGE, number % PAGE)
}

impl<T> Flows<T> {
    /// Takes in a flow. Flows come in the order of their numbers, or nearly so.
    pub fn insert(&mut self, flow: FlowId, thing: T) {
        let (page, slot) = place(flow);
        while self.pages.len() <= page {
            self.pages.push(None);
        }
        let page = self.pages[page].get_or_insert_with(|| {
            Box::new(FlowPage {
                held: 0,
                flows: [const { None }; PAGE],
            })
        });
        page.held += usize::from(page.flows[slot].is_none());
        page.flows[slot] = Some(thing);
    }

    /// The flow of this number, if it is there.
    pub fn get_mut(&mut self, flow: FlowId) -> Option<&mut T> {
        let (page, slot) = place(flow);
        self.pages.get_mut(page)?.as_mut()?.flows[slot].as_mut()
    }

    /// Takes out the flow of this number.
    pub fn remove(&mut self, flow: FlowId) -> Option<T> {
        let (page, slot) = place(flow);
        let held = self.pages.get_mut(page)?;
        let of = held.as_mut()?;
        let thing = of.flows[slot].take()?;
        of.held -= 1;
        if of.held == 0 {
            *held = None;
        }
        Some(thing)
    }

    /// The items present, by number.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, &T)> {
        let pages = self.pages.iter().enumerate();
        pages.flat_map(|(number, page)| {
            let flows = page.iter().flat_map(|page| page.flows.iter().enumerate());
            flows.filter_map(move |(slot, thing)| {
                Some((FlowId((number * PAGE + slot) as u32), thing.as_ref()?))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_takes_no_room() {
        let mut flows = Flows::default();
        for number in 0..1000 {
            flows.insert(FlowId(number), number);
        }
        for number in 1..999 {
            assert_eq!(flows.remove(FlowId(number)), Some(number));
            assert_eq!(flows.remove(FlowId(number)), None);
        }
        assert_eq!(flows.get_mut(FlowId(500)), None);
        assert_eq!(flows.get_mut(FlowId(1 << 31)), None);
        assert_eq!(
            flows.pages.iter().flatten().count(),
            2,
            "the first and the last"
        );
        let left: Vec<_> = flows.iter().map(|(flow, _)| flow.0).collect();
        assert_eq!(left, [0, 999]);
    }
}
