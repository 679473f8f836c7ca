//! Parameters of `dualpi2`.

use std::fmt;
use units::param::Value;
use units::{Bytes, Duration, ParseError};

/// The threshold above which the low-latency queue marks every packet: a time that packets waited,
/// or a number of packets.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum StepThreshold {
    /// How long a packet waited.
    Delay(Duration),
    /// How many still wait behind it.
    Packets(u32),
}

impl Value for StepThreshold {
    const KIND: &'static str = "duration or packets";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let packets = text.trim().strip_suffix('p').map(str::parse);
        match packets {
            Some(Ok(packets)) => Ok(StepThreshold::Packets(packets)),
            _ => text.parse().map(StepThreshold::Delay).map_err(|_| {
                ParseError::new(text, "a span of time such as 1ms, or packets such as 5p")
            }),
        }
    }
}

impl fmt::Display for StepThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepThreshold::Delay(delay) => delay.fmt(f),
            StepThreshold::Packets(packets) => write!(f, "{packets}p"),
        }
    }
}

/// Memory that packets may take, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct MemoryLimit(pub Option<Bytes>);

impl Value for MemoryLimit {
    const KIND: &'static str = "size or auto";
    fn parse(text: &str) -> Result<Self, ParseError> {
        if text.trim() == "auto" {
            return Ok(MemoryLimit(None));
        }
        text.parse()
            .map(|bytes| MemoryLimit(Some(bytes)))
            .map_err(|_| ParseError::new(text, "auto, or a size such as 4MiB"))
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => bytes.fmt(f),
            None => f.write_str("auto"),
        }
    }
}

units::params! {
    /// Parameters of `dualpi2`.
    pub struct DualPi2Params {
        /// Limit of the backlog of both queues, in packets.
        limit: u32 = "10000", range "1".."1000000", source "Linux sch_dualpi2.c";
        /// Limit of the packets' memory, with 576 bytes of the kernel's added to each packet; auto:
        /// twice a full packet for each packet of `limit`.
        memlimit: MemoryLimit = "auto", source "Linux sch_dualpi2.c: get_memory_limit";
        /// Acceptable standing queue delay of the classic queue.
        target: Duration = "15ms", range "1us".."10s", source "RFC 9332, appendix A.1; Linux sch_dualpi2.c";
        /// How often the probability is updated.
        tupdate: Duration = "16ms", range "1ms".."10s", source "RFC 9332, appendix A.1; Linux sch_dualpi2.c";
        /// Weight of the delay's distance from the target, Hz, rounded to 1/256.
        alpha: f64 = "0.16", range "0.004".."8000000", source "RFC 9332, appendix A.1; Linux sch_dualpi2.c: 41/256";
        /// Weight of the delay's change, Hz, rounded to 1/256.
        beta: f64 = "3.2", range "0.004".."8000000", source "RFC 9332, appendix A.1; Linux sch_dualpi2.c: 819/256";
        /// Ratio of the low-latency packets' marking probability to the square root of the classic
        /// packets' probability.
        coupling_factor: u32 = "2", range "1".."255", source "RFC 9332, 2.1";
        /// Delay of a packet, or number of packets behind it, above which every low-latency packet
        /// is marked.
        step_thresh: StepThreshold = "1ms", source "RFC 9332, appendix A.1; Linux sch_dualpi2.c";
        /// Smallest number of waiting low-latency packets with which the step threshold applies to
        /// an arrival.
        min_qlen_step: u32 = "0", range "0".."1000000", source "Linux sch_dualpi2.c";
        /// Once all low-latency packets are marked, drop too; otherwise let the queues overflow.
        drop_on_overload: bool = "yes", source "Linux sch_dualpi2.c";
        /// Decide on arrival, not when a packet leaves.
        drop_early: bool = "no", source "Linux sch_dualpi2.c: drop_dequeue";
        /// Treat ECT(0) as low-latency too, for networks where all senders are scalable.
        any_ect: bool = "no", source "Linux sch_dualpi2.c: l4s_ect";
        /// Treat packets labelled real-time as low-latency too, as with a filter that reads a code
        /// point.
        labels: bool = "no", source "Linux sch_dualpi2.c: without filters";
        /// Percent of the link that the classic queue gets while both queues have packets.
        classic_protection: u32 = "10", range "0".."100", source "Linux sch_dualpi2.c";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_and_memory_as_text() {
        let step = |text| StepThreshold::parse(text).map(|step| step.to_string());
        assert_eq!(step("1ms").unwrap(), "1ms");
        assert_eq!(step(" 5p ").unwrap(), "5p");
        assert!(step("5").unwrap_err().to_string().contains("such as 5p"));
        let memory = |text| MemoryLimit::parse(text).map(|memory| memory.to_string());
        assert_eq!(memory("auto").unwrap(), "auto");
        assert_eq!(memory("15kB").unwrap(), "15kB");
        assert!(memory("some").unwrap_err().to_string().contains("auto, or"));
    }
}
