//! How much of each flow is under way, so that the numbers of its ends can be used again.

/// The count of a flow's packets under way, by the number of its first end, halved.
#[derive(Debug, Default)]
pub struct Pairs {
    flows: Vec<Pair>,
    /// First ends of flows that are closed and have no packets under way any more.
    gone: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    packets: u32,
    closed: bool,
}

const fn place(end: u32) -> usize {
    end as usize / 2
}

impl Pairs {
    /// A flow opens, whose first end has this number.
    pub fn open(&mut self, first: u32) {
        let place = place(first);
        if self.flows.len() <= place {
            self.flows.resize(place + 1, Pair::default());
        }
        self.flows[place] = Pair::default();
    }

    /// An end sends a packet.
    pub fn sent(&mut self, from: u32) {
        self.flows[place(from)].packets += 1;
    }

    /// A packet of an end arrived, or was dropped or lost.
    pub fn ended(&mut self, from: u32) {
        let pair = &mut self.flows[place(from)];
        pair.packets -= 1;
        if pair.closed && pair.packets == 0 {
            self.gone.push(from & !1);
        }
    }

    /// A flow closes.
    pub fn close(&mut self, first: u32) {
        let pair = &mut self.flows[place(first)];
        pair.closed = true;
        if pair.packets == 0 {
            self.gone.push(first);
        }
    }

    /// The next flow with nothing left.
    pub fn take_gone(&mut self) -> Option<u32> {
        self.gone.pop()
    }
}
