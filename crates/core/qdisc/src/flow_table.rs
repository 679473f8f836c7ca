//! The queues of a fair-queuing discipline: packets hashed into buckets that take turns.
//!
//! Principles: a fixed number of buckets, so that no packet costs an allocation; flows whose hashes
//! fall together share a queue (RFC 8290, section 4.1). Buckets take turns by [deficit round
//! robin](crate::drr), newly active ones first. When the table is full, packets are dropped at the
//! head of the bucket that holds most bytes, so that the flow that fills the buffer pays.
//!
//! Linux finds that bucket by looking at all of them. Here each block of 32 buckets has a peak that no
//! bucket in it exceeds: raised by arrivals, and corrected only when it is the highest and turns out
//! to be out of date. The bucket is the same one.

use crate::drr::Drr;
use crate::pool::{Fifo, Pool};
use crate::{Backlog, DropReason, Observer, Packet};
use units::{Bytes, Instant, Refusal};

/// Kernel memory of a packet in addition to its bytes: the overhead that Linux's `SKB_TRUESIZE`
/// adds for `sk_buff` and `skb_shared_info` on a 64-bit machine.
pub(crate) const OVERHEAD: u64 = 576;
/// Buckets that have a peak together.
const BLOCK: usize = 32;

/// The limits of a [`FlowTable`], and how they are enforced.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Packets.
    pub packets: u32,
    /// Bytes of memory: each packet with the kernel's overhead of 576 bytes.
    pub memory: u64,
    /// Most packets that are dropped from a bucket before looking for the fattest again.
    pub drop_batch: u32,
}

impl Limits {
    fn allow(&self, backlog: Backlog) -> bool {
        let memory = backlog.bytes + OVERHEAD * u64::from(backlog.packets);
        backlog.packets <= self.packets && memory <= self.memory
    }
}

/// Packets of many flows in buckets.
#[derive(Debug)]
pub struct FlowTable<P> {
    pool: Pool<P>,
    buckets: Vec<Fifo>,
    /// For each block of buckets, at least the weight of every one of them.
    peaks: Vec<u64>,
    turns: Drr,
    /// Bytes that a bucket may send in a turn.
    quantum: u32,
    limits: Limits,
    backlog: Backlog,
}

impl<P> FlowTable<P> {
    /// An empty table of `flows` buckets, each of which may send `quantum` in a turn.
    pub fn new(flows: u32, quantum: Bytes, limits: Limits) -> Self {
        FlowTable {
            pool: Pool::new(),
            buckets: vec![Fifo::default(); flows as usize],
            peaks: vec![0; (flows as usize).div_ceil(BLOCK)],
            turns: Drr::new(flows),
            quantum: quantum.get() as u32,
            limits,
            backlog: Backlog::default(),
        }
    }

    /// Checks that a change of parameters leaves the number of buckets alone, as Linux asks.
    ///
    /// # Errors
    /// If `flows` differs from the current number.
    pub fn keep_flows(&self, flows: u32) -> Result<(), Refusal> {
        if flows as usize == self.buckets.len() {
            return Ok(());
        }
        Err(Refusal::new(
            "parameter flows cannot change once there is a queue",
        ))
    }

    /// The backlog of all buckets.
    pub const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The backlog of `bucket`.
    pub fn waits_in(&self, bucket: u32) -> Backlog {
        self.buckets[bucket as usize].backlog()
    }

    /// The bucket of a packet with `hash`: that as a fraction of 2^32 (Linux's `reciprocal_scale`).
    pub fn bucket(&self, hash: u32) -> u32 {
        ((u64::from(hash) * self.buckets.len() as u64) >> 32) as u32
    }

    /// Appends a packet to the bucket of its hash, which it returns. A bucket that was idle starts
    /// with a quantum to send.
    // In place: calls and copies are some percent of the cost of a packet.
    #[inline]
    pub fn push(&mut self, now: Instant, packet: Packet<P>) -> u32 {
        let bucket = self.bucket(packet.hash);
        self.backlog.add(packet.len);
        let fifo = &mut self.buckets[bucket as usize];
        self.pool.push(fifo, now, packet);
        let peak = &mut self.peaks[bucket as usize / BLOCK];
        *peak = (*peak).max(weight(fifo));
        self.turns.join_new(bucket, self.quantum);
        bucket
    }

    /// The next packet in turn. `take` takes it from the given bucket by way of
    /// [`pop`](FlowTable::pop); if it finds none, the turn goes on.
    #[inline]
    pub fn dequeue(
        &mut self,
        mut take: impl FnMut(&mut Self, u32) -> Option<Packet<P>>,
    ) -> Option<Packet<P>> {
        let quantum = self.quantum;
        while let Some(bucket) = self.turns.next(|_| quantum) {
            if let Some(packet) = take(self, bucket) {
                self.turns.charge(bucket, packet.len);
                return Some(packet);
            }
            self.turns.leave();
        }
        None
    }

    /// Takes the packet at the head of `bucket`.
    #[inline]
    pub fn pop(&mut self, bucket: u32) -> Option<Packet<P>> {
        let packet = self.pool.pop(&mut self.buckets[bucket as usize])?;
        self.backlog.remove(packet.len);
        Some(packet)
    }

    /// If an arrival in bucket `newest` left more than the limits allow: drops from the head of the
    /// fattest bucket, until half of its bytes or a batch is gone, and returns that bucket and the
    /// number of packets (`fq_codel_drop`). One batch is nearly always enough; call again until it
    /// returns none.
    #[inline]
    pub fn drop_batch(
        &mut self,
        now: Instant,
        newest: u32,
        observer: &mut dyn Observer<P>,
    ) -> Option<(u32, u32)> {
        if self.fits() {
            return None;
        }
        let (fattest, enough) = self.fattest();
        let drops = self.drop_from(now, fattest, enough, newest, observer);
        (drops > 0).then_some((fattest, drops))
    }

    /// Drops from the head of `bucket` until `enough` bytes or a batch of packets are gone, one at
    /// least; how many it were.
    #[cold]
    fn drop_from(
        &mut self,
        now: Instant,
        bucket: u32,
        enough: u64,
        newest: u32,
        observer: &mut dyn Observer<P>,
    ) -> u32 {
        let (mut packets, mut bytes) = (0, 0);
        while packets == 0 || (packets < self.limits.drop_batch && bytes < enough) {
            let Some(packet) = self.pop(bucket) else {
                break;
            };
            packets += 1;
            bytes += u64::from(packet.len);
            // The arriving packet is the last of its bucket.
            let refused = bucket == newest && self.buckets[bucket as usize].is_empty();
            let reason = if refused {
                DropReason::Tail
            } else {
                DropReason::Overlimit
            };
            observer.dropped(now, packet, reason);
        }
        packets
    }

    /// Another quantum from the next turns on, and other limits: drops from the head of the fattest
    /// bucket until they hold, and nothing more.
    pub fn change(
        &mut self,
        now: Instant,
        quantum: Bytes,
        limits: Limits,
        observer: &mut dyn Observer<P>,
    ) {
        (self.quantum, self.limits) = (quantum.get() as u32, limits);
        while !self.fits() {
            let (bucket, enough) = self.fattest();
            let mut bytes = 0;
            while bytes <= enough && !self.fits() {
                // Packets that claim to have no bytes never make up half of the bucket's.
                let Some(packet) = self.pop(bucket) else {
                    break;
                };
                bytes += u64::from(packet.len);
                observer.dropped(now, packet, DropReason::Change);
            }
        }
    }

    fn fits(&self) -> bool {
        self.limits.allow(self.backlog)
    }

    /// Whether there is room for another packet of `len` bytes.
    pub fn has_room(&self, len: u32) -> bool {
        let mut after = self.backlog;
        after.add(len);
        self.limits.allow(after)
    }

    /// The first of the buckets with most bytes, and half of these.
    #[cold]
    fn fattest(&mut self) -> (u32, u64) {
        loop {
            let (block, peak) = first_largest(self.peaks.iter().copied());
            let buckets = self.buckets.iter().skip(block * BLOCK).take(BLOCK);
            let (bucket, weight) = first_largest(buckets.map(weight));
            if weight == peak {
                return ((block * BLOCK + bucket) as u32, weight / 2);
            }
            self.peaks[block] = weight;
        }
    }
}

/// Bytes in a bucket; above zero wherever there is a packet, even if it claims to have no bytes.
fn weight(bucket: &Fifo) -> u64 {
    let backlog = bucket.backlog();
    backlog.bytes.max(u64::from(backlog.packets))
}

/// The largest value and where it is first.
fn first_largest(values: impl Iterator<Item = u64>) -> (usize, u64) {
    let mut largest = (0, 0);
    for (index, value) in values.enumerate() {
        if value > largest.1 {
            largest = (index, value);
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ecn, Ignore, testing};
    use units::random::Stream;

    fn packet(len: u32, hash: u32) -> Packet<u32> {
        Packet {
            hash,
            ..testing::packet(0, len, Ecn::NotCapable)
        }
    }

    const QUANTUM: Bytes = Bytes::new(1514);

    fn limits(packets: u32) -> Limits {
        Limits {
            packets,
            memory: 1 << 20,
            drop_batch: 64,
        }
    }

    fn table(flows: u32, packets: u32) -> FlowTable<u32> {
        FlowTable::new(flows, QUANTUM, limits(packets))
    }

    #[test]
    fn packets_without_length_are_held_to_the_limits_too() {
        let mut table = table(4, 1);
        for hash in [0, 1 << 30, 2 << 30] {
            table.push(Instant::default(), packet(0, hash));
        }
        let drops = table.drop_batch(Instant::default(), 2, &mut Ignore);
        assert_eq!((drops, table.backlog().packets), (Some((0, 1)), 2));
        table.push(Instant::default(), packet(0, 0));
        table.change(Instant::default(), QUANTUM, limits(1), &mut Ignore);
        assert_eq!(table.backlog().packets, 1);
    }

    /// Against looking at all buckets, 100 of them, so that the last block is not full.
    #[test]
    fn the_fattest_bucket_is_the_first_of_those_with_most_bytes() {
        let mut table = table(100, u32::MAX);
        let mut random = Stream::new(1, "flow table");
        for _ in 0..20_000 {
            if random.below(2) == 0 {
                let len = 500 * random.below(4) as u32;
                let packet = packet(len, random.bits() as u32);
                table.push(Instant::default(), packet);
            } else {
                table.pop(random.below(100) as u32);
            }
            let most = table.buckets.iter().map(weight).max().unwrap();
            let first = table.buckets.iter().position(|b| weight(b) == most);
            assert_eq!(table.fattest(), (first.unwrap() as u32, most / 2));
        }
    }
}
