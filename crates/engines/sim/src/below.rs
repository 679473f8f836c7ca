//! Packets waiting on each sender's own computer, where the first queue on their route is.

/// Bytes by the number of the sending end point.
#[derive(Debug, Default)]
pub struct Below {
    bytes: Vec<u64>,
    /// End points with departures since they were asked.
    pub relieved: Vec<u32>,
}

impl Below {
    /// End point `end` gave a packet of so many bytes to its computer.
    pub fn sent(&mut self, end: u32, len: u32) {
        let place = end as usize;
        if self.bytes.len() <= place {
            self.bytes.resize(place + 1, 0);
        }
        self.bytes[place] += u64::from(len);
    }

    /// A packet of it left the computer's queue, for the wire or dropped.
    pub fn left(&mut self, end: u32, len: u32) {
        self.bytes[end as usize] -= u64::from(len);
        self.relieved.push(end);
    }

    /// Bytes of it that wait.
    pub fn bytes(&self, end: u32) -> u64 {
        self.bytes.get(end as usize).copied().unwrap_or(0)
    }
}
