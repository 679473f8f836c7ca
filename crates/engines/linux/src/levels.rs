//! The counters of a bottleneck's levels, from tc's statistics of its queues.

use crate::disciplines::TcArguments;
use crate::network;
use netcfg::{ParentHandle, Split};
use qdisc::{Backlog, ChildStats};
use serde_json::Value;

/// The levels of `discipline` on `device`, young packets before old ones; none if it has one. The
/// whole run counts, handshakes too; bytes are those of IP packets.
///
/// # Errors
/// If `text` is not the output of `tc -s -j qdisc show` for it.
pub fn children(
    text: &str,
    device: &str,
    discipline: &TcArguments,
) -> Result<Vec<ChildStats>, String> {
    let Some(table) = network::table(discipline) else {
        return Ok(Vec::new());
    };
    let queues: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let with = |handle: &str| {
        let is = |queue: &&Value| queue["dev"] == device && queue["handle"] == handle;
        queues.iter().find(is).unwrap_or(&Value::Null)
    };
    let levels = match table.split {
        // Tins from the lowest: bulk, best effort.
        Split::Tins => [1, 0].map(|tin| tin_stats(&with("a1:")["tins"][tin])),
        _ => [ParentHandle::InnerFirst, ParentHandle::InnerSecond]
            .map(|place| stats(with(place.handles()[0]))),
    };
    let levels = levels.into_iter().zip(["young", "old"]);
    let named = levels.map(|(stats, name)| {
        let missing = || format!("there are no counts of the {name} packets of {device}");
        let stats = stats.ok_or_else(missing)?;
        let name = name.to_owned();
        Ok(ChildStats { name, ..stats })
    });
    named.collect()
}

fn stats(queue: &Value) -> Option<ChildStats> {
    let number = |key: &str| queue[key].as_u64();
    Some(ChildStats {
        name: String::new(),
        backlog: Backlog {
            packets: u32::try_from(number("qlen")?).ok()?,
            bytes: number("backlog")?,
        },
        packets: number("packets")?,
        bytes: number("bytes")?,
        drops: number("drops")?,
        // Disciplines that cannot mark do not print it; ours have their own word.
        marks: number("ecn_mark").or_else(|| number("marks")).unwrap_or(0),
    })
}

/// A tin does not report the number of packets waiting in it.
fn tin_stats(tin: &Value) -> Option<ChildStats> {
    let number = |key: &str| tin[key].as_u64();
    Some(ChildStats {
        name: String::new(),
        backlog: Backlog {
            packets: 0,
            bytes: number("backlog_bytes")?,
        },
        packets: number("sent_packets")?,
        bytes: number("sent_bytes")?,
        drops: number("drops")?,
        marks: number("ecn_mark")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disciplines;
    use qdisc::Home;

    fn told(choice: &str) -> TcArguments {
        disciplines::told(&choice.parse().unwrap(), None, Home::Receivers).unwrap()
    }

    #[test]
    fn levels_are_found_by_device_and_handle() {
        let queue = |dev: &str, handle: &str, packets: u32| {
            format!(
                r#"{{"kind":"codel","dev":"{dev}","handle":"{handle}","packets":{packets},"bytes":5,
                "drops":2,"qlen":1,"backlog":9,"ecn_mark":3}}"#
            )
        };
        let text = [
            queue("r0", "d1:", 70),
            queue("r1", "b1:", 80),
            queue("r1", "e1:", 20),
            queue("r1", "d1:", 10),
        ];
        let text = format!("[{}]", text.join(","));
        let levels = children(&text, "r1", &told("2lps(codel)")).unwrap();
        let level = |name: &str, packets| ChildStats {
            name: name.to_owned(),
            backlog: Backlog {
                packets: 1,
                bytes: 9,
            },
            packets,
            bytes: 5,
            drops: 2,
            marks: 3,
        };
        assert_eq!(levels, [level("young", 10), level("old", 20)]);
        assert_eq!(children(&text, "r1", &told("codel")), Ok(Vec::new()));
        let error = children(&text, "r0", &told("2lps(codel)")).unwrap_err();
        assert_eq!(error, "there are no counts of the old packets of r0");
        assert!(children("no JSON", "r0", &told("2lps(codel)")).is_err());
    }

    #[test]
    fn tins_are_counted_from_the_lowest() {
        let tin = |packets: u32| {
            format!(
                r#"{{"sent_packets":{packets},"sent_bytes":6,"drops":1,"ecn_mark":0,"backlog_bytes":0}}"#
            )
        };
        let text = format!(
            r#"[{{"kind":"cake","dev":"r1","handle":"a1:","tins":[{},{},{}]}}]"#,
            tin(30),
            tin(40),
            tin(50)
        );
        let levels = children(&text, "r1", &told("2lps(cake)")).unwrap();
        let packets: Vec<_> = levels.iter().map(|it| (&it.name[..], it.packets)).collect();
        assert_eq!(packets, [("young", 40), ("old", 30)]);
    }
}
