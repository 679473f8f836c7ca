//! Records of packets at the router's queues, made by the kernel's own tracepoints.
//!
//! Three events are enough: a packet is handed to a device (`net:net_dev_queue`), leaves its root
//! qdisc (`qdisc:qdisc_dequeue`), or is freed for a reason (`skb:kfree_skb`). Event probes
//! (Documentation/trace/eprobetrace.rst) on them read the packet's ports and TOS byte beside its
//! address, so that a record tells the flow and whether it was marked between coming and leaving.
//! Records stay in the kernel's ring buffer until traffic is over: reading them takes no time from
//! it.

use crate::btf;
use crate::command;
use crate::error::{Failure, Tried};
use crate::plan::TapPlan;
use std::path::Path;

const TRACING: &str = "/sys/kernel/tracing";
/// From the start of a packet on a device: Ethernet's header, then IPv4's.
const TOS: u32 = 14 + 1;
const PORTS: u32 = 14 + 20;

/// Starts to record.
pub fn start(plan: &TapPlan) -> Result<(), Failure> {
    if !Path::new(TRACING).join("trace").exists() {
        let words = ["mount", "-t", "tracefs", "tracefs", TRACING].map(str::to_owned);
        command::execute(&words)?;
    }
    let btf = std::fs::read("/sys/kernel/btf/vmlinux").tried("/sys/kernel/btf/vmlinux")?;
    let data = btf::offset(&btf, "sk_buff", "data");
    let data = data.ok_or_else(|| Failure::new("BTF of the kernel", "no sk_buff.data in it"))?;
    write("trace_clock", "mono")?;
    write("buffer_size_kb", &plan.buffer_kib.to_string())?;
    write("options/overwrite", "0")?;
    write("options/irq-info", "0")?;
    let read = |at: u32, kind: &str| format!("+{at}(+{data}($skbaddr)):{kind}");
    let (tos, ports) = (read(TOS, "u8"), read(PORTS, "x32"));
    let probes = [
        format!(
            "e:analects/come net.net_dev_queue skb=$skbaddr:x64 len=$len:u32 dev=$name:string tos={tos} ports={ports}"
        ),
        format!(
            "e:analects/leave qdisc.qdisc_dequeue skb=$skbaddr:x64 handle=$handle:x32 tos={tos}"
        ),
        "e:analects/free skb.kfree_skb skb=$skbaddr:x64".to_owned(),
    ];
    for probe in probes {
        append("dynamic_events", &probe)?;
    }
    let any = |field: &str, values: Vec<String>| {
        let terms = values.iter().map(|value| format!("{field} == {value}"));
        terms.collect::<Vec<_>>().join(" || ")
    };
    let devices = plan.devices.iter().map(|name| format!("{name:?}"));
    let handles = plan.handles.iter().map(|handle| format!("{handle:#x}"));
    write(
        "events/analects/come/filter",
        &any("dev", devices.collect()),
    )?;
    let filter = format!("skb != 0 && ({})", any("handle", handles.collect()));
    write("events/analects/leave/filter", &filter)?;
    for event in ["come", "leave", "free"] {
        write(&format!("events/analects/{event}/enable"), "1")?;
    }
    write("tracing_on", "1")
}

/// Ends recording, and writes all records to `file`.
pub fn stop(file: &Path) -> Result<(), Failure> {
    write("tracing_on", "0")?;
    let lost = std::fs::read_to_string(Path::new(TRACING).join("per_cpu/cpu0/stats"));
    let lost = lost.tried("the records' statistics")?;
    for line in lost.lines() {
        let (name, value) = line.split_once(": ").unwrap_or((line, "0"));
        if matches!(name, "overrun" | "commit overrun" | "dropped events") && value.trim() != "0" {
            let reason = format!("{name} is {value}: there was no room for all of them");
            return Err(Failure::new("records of packets", reason));
        }
    }
    let from = Path::new(TRACING).join("trace");
    let mut from = std::fs::File::open(&from).tried("the records")?;
    let mut to = std::fs::File::create(file).tried(&file.display().to_string())?;
    std::io::copy(&mut from, &mut to).tried("the records")?;
    Ok(())
}

fn write(file: &str, text: &str) -> Result<(), Failure> {
    let path = Path::new(TRACING).join(file);
    std::fs::write(&path, text).tried(&format!("{} = {text}", path.display()))
}

fn append(file: &str, text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let path = Path::new(TRACING).join(file);
    let what = format!("{} += {text}", path.display());
    let mut open = std::fs::OpenOptions::new();
    let mut file = open.append(true).open(&path).tried(&what)?;
    file.write_all(text.as_bytes()).tried(&what)
}
