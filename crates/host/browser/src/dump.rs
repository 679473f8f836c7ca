//! What both browsers told of a call, as rtcstats writes it, which `analects import webrtc-internals` reads.
//!
//! Source: github.com/rtcstats/rtcstats, packages/rtcstats-server/docs/file-format.md (version 3).

use crate::Error;
use crate::records::{Record, RecordsFile, STATISTICS};
use serde_json::json;
use std::path::Path;

/// Writes `call.rtcstats` into the folder of a trial that is kept, with the connections `caller` and `receiver`.
///
/// # Errors
/// If the trial's records cannot be read, or the file not be written.
pub fn write_dump(folder: &Path) -> Result<(), Error> {
    let file = folder.join("call.rtcstats");
    let text = dump(&RecordsFile::read(folder, STATISTICS)?);
    std::fs::write(&file, text).map_err(|error| Error::unwritable(&file, &error))
}

fn dump(records: &[Record]) -> String {
    let events = records.iter().map(|record| {
        let ms = (1e3 * record.at).round();
        json!(["getStats", record.what["of"], record.what["reports"], ms]).to_string() + "\n"
    });
    let header = format!("RTCStatsDump\n{}\n", json!({ "fileFormat": 3 }));
    let page = |of| json!(["create", of, {}, "analects browser", 0]).to_string() + "\n";
    header + &["caller", "receiver"].map(page).concat() + &events.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_is_a_connection_and_a_report_an_event() {
        let reports = json!({ "A": { "type": "inbound-rtp", "timestamp": 5.0 } });
        let told = [Record {
            at: 1.25,
            kind: "statistics".to_owned(),
            what: json!({ "of": "receiver", "reports": reports }),
        }];
        let text = dump(&told);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["RTCStatsDump", r#"{"fileFormat":3}"#]);
        let event: serde_json::Value = serde_json::from_str(lines[4]).unwrap();
        assert_eq!(event, json!(["getStats", "receiver", reports, 1250.0]));
        assert_eq!(lines.len(), 5);
    }
}
