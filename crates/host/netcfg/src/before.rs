//! The former root queue of a device, and how it is restored.

use crate::observe::{Observed, Qdisc, major};
use crate::{Command, Device, RootQdisc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The former root queue of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Before {
    /// The kernel's choice: it comes back when ours is deleted.
    Default {},
    /// Another program's choice that can be restored exactly.
    Simple(Simple),
    /// Another program's choice that cannot be restored; the user allowed its removal. The kernel's
    /// comes back.
    Lost {},
    /// Ours, with other settings.
    Ours(RootQdisc),
    /// It does not matter, since the device itself is removed.
    Gone {},
}

/// A discipline without classes, all of whose settings are known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simple {
    /// The number of its handle.
    major: u16,
    kind: SimpleKind,
}

/// Settings in the units of tc's JSON: packets, bytes, microseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum SimpleKind {
    Noqueue {},
    Pfifo {
        limit: u32,
    },
    Bfifo {
        limit: u32,
    },
    FqCodel {
        limit: u32,
        flows: u32,
        quantum: u32,
        target: u32,
        interval: u32,
        memory_limit: u32,
        ecn: bool,
        drop_batch: u32,
    },
}

impl Before {
    /// The root queue of `observed`; an error says why it could not be restored exactly.
    pub(crate) fn of(observed: &Observed) -> Result<Self, String> {
        let Some(root) = observed.root() else {
            return Ok(Before::Default {});
        };
        let kind = &root.kind;
        let chosen = |qdisc: &&Qdisc| major(&qdisc.handle) != Some(0);
        if !chosen(&root) {
            // The kernel gives a device with several queues an mq, with a discipline for each.
            let below = observed.qdiscs.iter().filter(|qdisc| !qdisc.root);
            let mut below = below.filter(|qdisc| qdisc.handle != "ffff:");
            return match below.find(chosen) {
                None => Ok(Before::Default {}),
                Some(child) => Err(format!("its {kind} has {} {}", child.kind, child.handle)),
            };
        }
        if observed.root_filters.entries > 0 {
            return Err(format!("its {kind} has filters"));
        }
        Simple::of(root)
            .map(Before::Simple)
            .ok_or_else(|| format!("its root is {kind} {}", root.handle))
    }

    /// Restores it on `device`, in place of the present one.
    pub fn restore(&self, device: &Device) -> Option<Command> {
        match self {
            Before::Default {} | Before::Lost {} => {
                Some(Command::tc(&format!("qdisc del dev {device} root")))
            }
            Before::Simple(simple) => Some(simple.command(device)),
            Before::Ours(root) => Some(root.command(device)),
            Before::Gone {} => None,
        }
    }
}

/// Fields that a discipline without classes may have in addition to its settings.
const PLAIN_FIELDS: &[&str] = &["kind", "handle", "dev", "root", "refcnt", "options"];

impl Simple {
    /// The discipline, if it is one of a few and all its settings are known.
    fn of(qdisc: &Qdisc) -> Option<Simple> {
        let major = major(&qdisc.handle)?;
        let plain = |key: &String| PLAIN_FIELDS.contains(&key.as_str());
        if !qdisc.fields.keys().all(plain) {
            return None;
        }
        let none = Map::new();
        let options = match qdisc.fields.get("options") {
            Some(options) => options.as_object()?,
            None => &none,
        };
        let kind = match qdisc.kind.as_str() {
            "noqueue" => Numbers::of(options, &[]).map(|_| SimpleKind::Noqueue {}),
            "pfifo" | "bfifo" => {
                let limit = Numbers::of(options, &["limit"])?.get("limit")?;
                Some(if qdisc.kind == "pfifo" {
                    SimpleKind::Pfifo { limit }
                } else {
                    SimpleKind::Bfifo { limit }
                })
            }
            "fq_codel" => fq_codel(options),
            _ => None,
        }?;
        Some(Simple { major, kind })
    }

    fn command(&self, device: &Device) -> Command {
        let words = match &self.kind {
            SimpleKind::Noqueue {} => "noqueue".to_owned(),
            SimpleKind::Pfifo { limit } => format!("pfifo limit {limit}"),
            SimpleKind::Bfifo { limit } => format!("bfifo limit {limit}"),
            SimpleKind::FqCodel {
                limit,
                flows,
                quantum,
                target,
                interval,
                memory_limit,
                ecn,
                drop_batch,
            } => {
                // The kernel counts in units of 1024 ns and rounds down, both ways: a value one
                // microsecond above the printed one is printed the same again (codel.h,
                // CODEL_SHIFT).
                let (target, interval) = (u64::from(*target) + 1, u64::from(*interval) + 1);
                let ecn = if *ecn { "ecn" } else { "noecn" };
                format!(
                    "fq_codel limit {limit} flows {flows} quantum {quantum} target {target}us \
                     interval {interval}us memory_limit {memory_limit} drop_batch {drop_batch} {ecn}"
                )
            }
        };
        let handle = self.major;
        Command::tc(&format!(
            "qdisc replace dev {device} root handle {handle:x}: {words}"
        ))
    }
}

fn fq_codel(options: &Map<String, Value>) -> Option<SimpleKind> {
    let mut options = options.clone();
    let ecn = match options.remove("ecn") {
        Some(value) => value.as_bool()?,
        None => false,
    };
    let names = [
        "limit",
        "flows",
        "quantum",
        "target",
        "interval",
        "memory_limit",
        "drop_batch",
    ];
    let numbers = Numbers::of(&options, &names)?;
    Some(SimpleKind::FqCodel {
        limit: numbers.get("limit")?,
        flows: numbers.get("flows")?,
        quantum: numbers.get("quantum")?,
        target: numbers.get("target")?,
        interval: numbers.get("interval")?,
        memory_limit: numbers.get("memory_limit")?,
        ecn,
        drop_batch: numbers.get("drop_batch")?,
    })
}

/// Options, all of them known.
struct Numbers<'a>(&'a Map<String, Value>);

impl<'a> Numbers<'a> {
    /// `options`, if there are none but `names`.
    fn of(options: &'a Map<String, Value>, names: &[&str]) -> Option<Self> {
        let known = |key: &String| names.contains(&key.as_str());
        options.keys().all(known).then_some(Numbers(options))
    }

    fn get(&self, name: &str) -> Option<u32> {
        u32::try_from(self.0.get(name)?.as_u64()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(qdiscs: &str) -> Observed {
        let list: Vec<Map<String, Value>> = serde_json::from_str(qdiscs).unwrap();
        let text = |fields: &Map<String, Value>, key| {
            fields.get(key).and_then(Value::as_str).map(str::to_owned)
        };
        let qdisc = |fields: Map<String, Value>| Qdisc {
            kind: text(&fields, "kind").unwrap(),
            handle: text(&fields, "handle").unwrap(),
            parent: text(&fields, "parent"),
            root: fields.contains_key("root"),
            fields,
        };
        Observed {
            qdiscs: list.into_iter().map(qdisc).collect(),
            ..Observed::default()
        }
    }

    fn restored(qdiscs: &str) -> Result<String, String> {
        let before = Before::of(&observed(qdiscs))?;
        let device = "eth0".parse().unwrap();
        Ok(before.restore(&device).unwrap().to_string())
    }

    #[test]
    fn what_the_kernel_chose_comes_back_by_itself() {
        let delete = Ok("tc qdisc del dev eth0 root".to_owned());
        assert_eq!(restored("[]"), delete);
        let default = r#"[{"kind":"mq","handle":"0:","root":true,"options":{}},
            {"kind":"fq_codel","handle":"0:","parent":":1","options":{"limit":10240}},
            {"kind":"ingress","handle":"ffff:","parent":"ffff:fff1"}]"#;
        assert_eq!(restored(default), delete);
        let chosen = r#"[{"kind":"mq","handle":"0:","root":true},
            {"kind":"fq","handle":"8002:","parent":":1"}]"#;
        assert!(restored(chosen).unwrap_err().contains("fq 8002:"));
    }

    #[test]
    fn what_is_known_is_put_back_exactly() {
        let pfifo = r#"[{"kind":"pfifo","handle":"8001:","root":true,"refcnt":2,
            "options":{"limit":100}}]"#;
        assert_eq!(
            restored(pfifo).unwrap(),
            "tc qdisc replace dev eth0 root handle 8001: pfifo limit 100"
        );
        let fq_codel = r#"[{"kind":"fq_codel","handle":"1:","root":true,"refcnt":2,"options":
            {"limit":10240,"flows":1024,"quantum":1514,"target":4999,"interval":99999,
            "memory_limit":33554432,"ecn":true,"drop_batch":64}}]"#;
        assert_eq!(
            restored(fq_codel).unwrap(),
            "tc qdisc replace dev eth0 root handle 1: fq_codel limit 10240 flows 1024 quantum 1514 \
             target 5000us interval 100000us memory_limit 33554432 drop_batch 64 ecn"
        );
    }

    #[test]
    fn what_is_not_known_is_not() {
        for qdiscs in [
            r#"[{"kind":"htb","handle":"1:","root":true,"options":{"r2q":10}}]"#,
            r#"[{"kind":"tbf","handle":"1:","root":true,"options":{"rate":1}}]"#,
            r#"[{"kind":"pfifo","handle":"1:","root":true,"options":{"limit":1},"stab":{}}]"#,
            r#"[{"kind":"pfifo","handle":"1:","root":true,"options":{"limit":1,"new":2}}]"#,
            r#"[{"kind":"pfifo","handle":"1:","root":true,"options":{"limit":4294967296}}]"#,
            r#"[{"kind":"pfifo","handle":"1:","root":true,"options":[]}]"#,
            r#"[{"kind":"fq_codel","handle":"1:","root":true,"options":{"limit":1,"ecn":1}}]"#,
        ] {
            assert!(restored(qdiscs).is_err(), "{qdiscs}");
        }
        let mut filtered =
            observed(r#"[{"kind":"pfifo","handle":"1:","root":true,"options":{"limit":1}}]"#);
        filtered.root_filters.entries = 1;
        assert!(Before::of(&filtered).unwrap_err().contains("filters"));
    }

    #[test]
    fn every_codel_time_survives_being_put_back() {
        let kernel = |us: u64| (us * 1000) >> 10;
        let printed = |ticks: u64| (ticks << 10) / 1000;
        for us in 0..200_000 {
            let ticks = kernel(us);
            assert_eq!(kernel(printed(ticks) + 1), ticks, "{us}");
        }
    }
}
