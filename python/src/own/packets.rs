//! A packet as a discipline in Python sees it.

use pyo3::prelude::*;
use qdisc::Packet;
use units::Ecn;

/// A packet in a queue. Times in seconds since the run began, sizes in bytes.
#[pyclass(module = "analects", name = "Packet")]
pub struct Held {
    /// Its number in its queue.
    pub number: u64,
    /// Length, IP header included.
    #[pyo3(get)]
    length: u32,
    /// A hash of the flow's addresses and ports.
    #[pyo3(get)]
    flow: u32,
    /// A hash of the sender's address.
    #[pyo3(get)]
    source: u32,
    /// A hash of the receiver's address.
    #[pyo3(get)]
    destination: u32,
    /// The Differentiated Services code point, 0 to 63.
    #[pyo3(get)]
    dscp: u8,
    /// Whether it may be marked.
    #[pyo3(get)]
    ecn_capable: bool,
    /// When it came.
    #[pyo3(get)]
    arrived: f64,
    /// Whether it was marked here.
    #[pyo3(get)]
    pub marked: bool,
}

impl Held {
    /// The view of `packet`.
    pub fn of(packet: &Packet<u32>, number: u64) -> Held {
        Held {
            number,
            length: packet.len,
            flow: packet.hash,
            source: packet.hosts.source,
            destination: packet.hosts.destination,
            dscp: packet.dscp,
            ecn_capable: packet.ecn != Ecn::NotCapable,
            arrived: packet.arrived.as_secs_f64(),
            marked: false,
        }
    }
}

#[pymethods]
impl Held {
    /// Marks it with Congestion Experienced; False if its sender is not capable of it.
    fn mark(&mut self) -> bool {
        self.marked |= self.ecn_capable;
        self.ecn_capable
    }

    fn __repr__(&self) -> String {
        format!(
            "Packet(flow={:#010x}, length={}, arrived={})",
            self.flow, self.length, self.arrived
        )
    }
}
