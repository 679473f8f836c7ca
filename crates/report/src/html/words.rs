//! Numbers and names in sentences.

/// Longer names are cut if there is little room.
pub const SHORT_NAME: usize = 32;

/// Milliseconds in words.
pub fn time(ms: f64) -> String {
    match ms {
        ms if ms < 0.05 => "0".to_owned(),
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms if ms < 9_995.0 => format!("{:.2} s", ms / 1e3),
        ms => format!("{:.1} s", ms / 1e3),
    }
}
