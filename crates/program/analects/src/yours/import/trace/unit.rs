//! Units of rates and of times, as files and people name them.

use units::Refusal;

/// A unit: its name here, and how many Mbit/s or seconds it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub name: &'static str,
    pub of: f64,
}

const fn unit(name: &'static str, of: f64) -> Unit {
    Unit { name, of }
}

pub const MBIT: Unit = unit("Mbit/s", 1.0);
pub const KBIT: Unit = unit("kbit/s", 1e-3);
pub const BYTES: Unit = unit("B/s", 8e-6);
pub const SECONDS: Unit = unit("seconds", 1.0);
pub const MILLISECONDS: Unit = unit("milliseconds", 1e-3);

const RATES: [(&[&str], Unit); 7] = [
    (&["mbit", "mbits", "mbps", "mb"], MBIT),
    (&["kbit", "kbits", "kbps", "kb"], KBIT),
    (&["gbit", "gbits", "gbps", "gb"], unit("Gbit/s", 1e3)),
    (&["bit", "bits", "bps"], unit("bit/s", 1e-6)),
    (&["mbyte", "mbytes", "mbyteps"], unit("MB/s", 8.0)),
    (&["kbyte", "kbytes", "kbyteps"], unit("kB/s", 8e-3)),
    (&["byte", "bytes", "byteps"], BYTES),
];
const TIMES: [(&[&str], Unit); 4] = [
    (&["s", "sec", "secs", "second", "seconds"], SECONDS),
    (
        &["ms", "msec", "msecs", "millis", "milliseconds"],
        MILLISECONDS,
    ),
    (&["us", "usec", "microseconds"], unit("microseconds", 1e-6)),
    (
        &["ns", "nsec", "nanos", "nanoseconds"],
        unit("nanoseconds", 1e-9),
    ),
];

/// The unit of a rate that `--unit` names.
///
/// # Errors
/// If there is none of that name.
pub fn of_rate(text: &str) -> Result<Unit, Refusal> {
    rate_in(text).ok_or_else(|| {
        Refusal::new(format!("--unit {text:?} is no unit of rates"))
            .with_help("write mbit, kbit, bit, gbit, MB, kB or bytes: a second")
    })
}

/// The unit of a time that `--time-unit` names.
///
/// # Errors
/// If there is none of that name.
pub fn of_time(text: &str) -> Result<Unit, Refusal> {
    time_in(text).ok_or_else(|| {
        Refusal::new(format!("--time-unit {text:?} is no unit of times"))
            .with_help("write s, ms, us or ns")
    })
}

/// The unit of a rate in the name of a column: `throughput_mbps`, `Rate (kB/s)`.
pub fn rate_in(name: &str) -> Option<Unit> {
    named(&RATES, name)
}

/// The unit of a time in the name of a column: `time_ms`.
pub fn time_in(name: &str) -> Option<Unit> {
    named(&TIMES, name)
}

fn named(units: &[(&[&str], Unit)], name: &str) -> Option<Unit> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let known = |word: &str| {
        // A capital B is for bytes.
        let word = match word {
            "MB" | "MBps" | "KB" | "kB" | "KBps" | "kBps" | "B" | "Bps" => {
                word.replace("ps", "").replace('B', "byte").to_lowercase()
            }
            _ => word.to_lowercase(),
        };
        let found = units.iter().find(|(names, _)| names.contains(&&*word));
        found.map(|(_, unit)| *unit)
    };
    words.filter(|word| !word.is_empty()).find_map(known)
}

/// The unit of times that count from 1970, by how great they are; seconds if they do not.
pub fn by_size(time: f64) -> Unit {
    match time {
        1e17.. => unit("nanoseconds since 1970", 1e-9),
        1e14.. => unit("microseconds since 1970", 1e-6),
        1e11.. => unit("milliseconds since 1970", 1e-3),
        1e9.. => unit("seconds since 1970", 1.0),
        _ => SECONDS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_units() {
        for (name, expected) in [
            ("throughput_mbps", Some(1.0)),
            ("Rate (kbit/s)", Some(1e-3)),
            ("MB/s", Some(8.0)),
            ("speed in kBps", Some(8e-3)),
            ("Mb/s", Some(1.0)),
            ("bytes", Some(8e-6)),
            ("DL_bitrate", None),
            ("rssi", None),
        ] {
            assert_eq!(rate_in(name).map(|unit| unit.of), expected, "{name}");
        }
        assert_eq!(time_in("timestamp_ms"), Some(MILLISECONDS));
        assert_eq!(time_in("Timestamp"), None);
        assert_eq!(by_size(1_714_557_600_000.0).of, 1e-3);
    }
}
