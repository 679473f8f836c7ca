//! The packets of a link, from the log that `analects link --log` writes.

use units::Refusal;

/// How a packet left its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedFate {
    /// Onto the wire, and it arrived.
    Sent,
    /// Onto the wire, which lost it.
    Lost,
    /// The queue dropped it.
    Dropped,
}

/// A packet that left a queue.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedPacket {
    /// When it came to the queue, in s since the link began.
    pub came: f64,
    /// When it left.
    pub left: f64,
    /// The queue: 0 towards the near end, 1 away from it.
    pub way: usize,
    /// `udp`, `tcp`, or nothing.
    pub carrier: String,
    /// Addresses and ports of its source and destination.
    pub ends: [String; 2],
    /// Length with headers.
    pub bytes: f64,
    /// How it left.
    pub fate: LoggedFate,
}

/// Columns of the log.
const COLUMNS: [&str; 8] = [
    "in_s",
    "out_s",
    "link",
    "carrier",
    "source",
    "destination",
    "size_bytes",
    "decision",
];

/// Reads the log, in the order of its lines.
///
/// # Errors
/// If it is none.
pub fn packets(text: &str) -> Result<Vec<LoggedPacket>, Refusal> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let wrong = |what: String| Refusal::new(format!("the link's log: {what}"));
    let head = reader
        .headers()
        .map_err(|error| wrong(error.to_string()))?
        .clone();
    let mut places = [0; COLUMNS.len()];
    for (place, name) in places.iter_mut().zip(COLUMNS) {
        let found = head.iter().position(|column| column == name);
        *place = found.ok_or_else(|| wrong(format!("it has no column {name}")))?;
    }
    let lines = reader.records().map(|line| {
        let line = line.map_err(|error| wrong(error.to_string()))?;
        let fields = places.map(|place| line.get(place).unwrap_or_default());
        packet(fields).ok_or_else(|| wrong(format!("{line:?} is no packet")))
    });
    lines.collect()
}

fn packet(
    [
        came,
        left,
        way,
        carrier,
        source,
        destination,
        bytes,
        decision,
    ]: [&str; 8],
) -> Option<LoggedPacket> {
    Some(LoggedPacket {
        came: came.parse().ok()?,
        left: left.parse().ok()?,
        way: usize::from(way == "up"),
        carrier: carrier.to_owned(),
        ends: [source, destination].map(str::to_owned),
        bytes: bytes.parse().ok()?,
        fate: match decision {
            "lost" => LoggedFate::Lost,
            "dropped" => LoggedFate::Dropped,
            _ => LoggedFate::Sent,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "in_s,out_s,sojourn_ms,link,packet,flow,carrier,source,destination,size_bytes,ecn,decision,reason\n\
        0.5,0.75,250,down,1,,udp,1.2.3.4:5,6.7.8.9:10,1200,not-ect,lost,\n\
        1.5,1.5,0,up,2,,tcp,6.7.8.9:11,1.2.3.4:80,40,not-ect,dropped,tail\n";

    #[test]
    fn the_links_log_is_read() {
        let read = packets(LOG).unwrap();
        assert_eq!(
            (read[0].came, read[0].left, read[0].way, read[0].bytes),
            (0.5, 0.75, 0, 1200.0)
        );
        assert_eq!(
            (read[0].fate, read[1].fate, read[1].way),
            (LoggedFate::Lost, LoggedFate::Dropped, 1)
        );
        assert_eq!(read[1].ends[1], "1.2.3.4:80");
        assert!(
            packets("a,b\n1,2\n")
                .unwrap_err()
                .message
                .contains("no column in_s")
        );
        assert!(
            packets(&LOG.replace("1200", "many"))
                .unwrap_err()
                .message
                .contains("is no packet")
        );
    }
}
