//! Records of packets at the router's queues, made by the kernel's own tracepoints.
//!
//! Three events are enough: a packet is handed to a device (`net:net_dev_queue`), leaves its root
//! qdisc (`qdisc:qdisc_dequeue`), or is freed for a reason (`skb:kfree_skb`). Event probes
//! (Documentation/trace/eprobetrace.rst) on them read the packet's ports and TOS byte in addition
//! to its address, so that a record tells the flow and whether it was marked between coming and
//! leaving. Records stay in the kernel's ring buffer until traffic is over: reading them takes no
//! time from it.

use crate::btf;
use crate::command;
use crate::error::{Failure, Tried};
use crate::plan::TapPlan;
use std::path::{Path, PathBuf};

/// The folder of the kernel's tracing.
pub const TRACING: &str = "/sys/kernel/tracing";
/// The group of the probes if no other run can have any.
const ALONE: &str = "analects";
/// From the start of a packet on a device: Ethernet's header, then IPv4's.
const TOS: u32 = 14 + 1;
const PORTS: u32 = 14 + 20;
const EVENTS: [&str; 3] = ["come", "leave", "free"];

/// Records, from when they are asked for until they are taken away.
pub struct Tap {
    group: String,
    /// The folder of tracefs in which they are ours alone.
    own: PathBuf,
}

impl Tap {
    /// Starts to record.
    pub fn start(plan: &TapPlan) -> Result<Tap, Failure> {
        let top = Path::new(TRACING);
        if !top.join("trace").exists() {
            let words = ["mount", "-t", "tracefs", "tracefs", TRACING].map(str::to_owned);
            command::execute(&words)?;
        }
        let own = match &plan.owner {
            None => top.to_owned(),
            Some(name) => instance(name)?,
        };
        let group = plan.owner.clone().unwrap_or_else(|| ALONE.to_owned());
        let tap = Tap { group, own };
        tap.probe(plan)?;
        Ok(tap)
    }

    fn probe(&self, plan: &TapPlan) -> Result<(), Failure> {
        self.write("trace_clock", "mono")?;
        self.write("buffer_size_kb", &plan.buffer_kib.to_string())?;
        self.write("options/overwrite", "0")?;
        self.write("options/irq-info", "0")?;
        for probe in probes(&self.group)? {
            append("dynamic_events", &probe)?;
        }
        let any = |field: &str, values: Vec<String>| {
            let terms = values.iter().map(|value| format!("{field} == {value}"));
            terms.collect::<Vec<_>>().join(" || ")
        };
        let devices = plan.devices.iter().map(|name| format!("{name:?}"));
        let handles = plan.handles.iter().map(|handle| format!("{handle:#x}"));
        self.write(
            &self.event("come", "filter"),
            &any("dev", devices.collect()),
        )?;
        let filter = format!("skb != 0 && ({})", any("handle", handles.collect()));
        self.write(&self.event("leave", "filter"), &filter)?;
        for event in EVENTS {
            self.write(&self.event(event, "enable"), "1")?;
        }
        self.write("tracing_on", "1")
    }

    /// Ends recording, and writes all records to `file`.
    pub fn stop(self, file: &Path) -> Result<(), Failure> {
        self.write("tracing_on", "0")?;
        let processors = self.own.join("per_cpu");
        let folder = std::fs::read_dir(&processors).tried("the records' statistics")?;
        for processor in folder {
            let stats = processor.tried("the records' statistics")?.path();
            let stats = std::fs::read_to_string(stats.join("stats"));
            complete(&stats.tried("the records' statistics")?)?;
        }
        let mut from = std::fs::File::open(self.own.join("trace")).tried("the records")?;
        let mut to = std::fs::File::create(file).tried(&file.display().to_string())?;
        std::io::copy(&mut from, &mut to).tried("the records")?;
        Ok(())
    }

    fn event(&self, name: &str, file: &str) -> String {
        format!("events/{}/{name}/{file}", self.group)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), Failure> {
        let path = self.own.join(file);
        std::fs::write(&path, text).tried(&format!("{} = {text}", path.display()))
    }
}

/// Removes the remains of a run with `owner` from tracefs, however it ended; missing ones are no
/// error.
///
/// # Errors
/// If any part exists and cannot be removed.
pub fn clear(owner: &str) -> Result<(), Failure> {
    let own = Path::new(TRACING).join("instances").join(owner);
    if own.exists() {
        // With its events, which can be removed, too, then.
        std::fs::remove_dir(&own).tried(&own.display().to_string())?;
    }
    for event in EVENTS {
        let there = Path::new(TRACING).join("events").join(owner).join(event);
        if there.exists() {
            append("dynamic_events", &format!("-:{owner}/{event}"))?;
        }
    }
    Ok(())
}

fn instance(name: &str) -> Result<PathBuf, Failure> {
    let own = Path::new(TRACING).join("instances").join(name);
    std::fs::create_dir(&own).tried(&own.display().to_string())?;
    Ok(own)
}

/// The probes' definitions.
fn probes(group: &str) -> Result<[String; 3], Failure> {
    let btf = std::fs::read("/sys/kernel/btf/vmlinux").tried("/sys/kernel/btf/vmlinux")?;
    let data = btf::offset(&btf, "sk_buff", "data");
    let data = data.ok_or_else(|| Failure::new("BTF of the kernel", "no sk_buff.data in it"))?;
    let read = |at: u32, kind: &str| format!("+{at}(+{data}($skbaddr)):{kind}");
    let (tos, ports) = (read(TOS, "u8"), read(PORTS, "x32"));
    Ok([
        format!(
            "e:{group}/come net.net_dev_queue skb=$skbaddr:x64 len=$len:u32 dev=$name:string tos={tos} ports={ports}"
        ),
        format!(
            "e:{group}/leave qdisc.qdisc_dequeue skb=$skbaddr:x64 handle=$handle:x32 tos={tos}"
        ),
        format!("e:{group}/free skb.kfree_skb skb=$skbaddr:x64"),
    ])
}

/// Fails if `stats` of a processor report a lost record.
fn complete(stats: &str) -> Result<(), Failure> {
    for line in stats.lines() {
        let (name, value) = line.split_once(": ").unwrap_or((line, "0"));
        if matches!(name, "overrun" | "commit overrun" | "dropped events") && value.trim() != "0" {
            let reason = format!("{name} is {value}: there was no room for all of them");
            return Err(Failure::new("records of packets", reason));
        }
    }
    Ok(())
}

fn append(file: &str, text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let path = Path::new(TRACING).join(file);
    let what = format!("{} += {text}", path.display());
    let mut open = std::fs::OpenOptions::new();
    let mut file = open.append(true).open(&path).tried(&what)?;
    file.write_all(text.as_bytes()).tried(&what)
}
