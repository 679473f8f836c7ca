//! Which subflow the next packet belongs to.

/// Packets of the dominant subflow, and then of the other, in each cycle.
const CYCLE: [u32; 2] = [3, 2];
/// Packets that a subflow may be ahead of its share.
const AHEAD: f64 = 2.0;

/// How packets are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deal {
    /// Three of the dominant subflow, two of the other, and so on, all at one pace. A subflow that
    /// is evenly spread would find its own queue empty each time, and fq_codel and cake would take
    /// it for sparse; longer runs look different to each subflow in one queue.
    Turns,
    /// Each subflow at its own pace, with its share of the rate, as in the paper; one that is two
    /// packets ahead of its share waits.
    Paces,
}

/// The count since the roles last changed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dealing {
    /// Packets in this cycle.
    place: u32,
    /// Bytes of each subflow.
    bytes: [u64; 2],
    /// The largest packet so far.
    largest: u64,
}

impl Dealing {
    /// The roles have changed.
    pub(super) fn restart(&mut self) {
        self.place = 0;
        self.bytes = [0; 2];
    }

    /// A packet of subflow `side` left.
    pub(super) fn sent(&mut self, side: usize, bytes: u64) {
        self.place = (self.place + 1) % (CYCLE[0] + CYCLE[1]);
        self.bytes[side] += bytes;
        self.largest = self.largest.max(bytes);
    }

    /// Whether the next packet may be one of `side`, which is to have `share`.
    pub(super) fn permits(&self, deal: Deal, dominant: usize, side: usize, share: f64) -> bool {
        match deal {
            Deal::Turns => (side == dominant) == (self.place < CYCLE[0]),
            Deal::Paces => {
                let [own, other] = [side, 1 - side].map(|side| self.bytes[side] as f64);
                let ahead = own / share - other / (1.0 - share);
                ahead <= AHEAD * self.largest as f64 / share
            }
        }
    }
}
