//! The cost of a packet in a real kernel, in instructions.
//!
//! `kernel/bench/run.sh` runs in a virtual machine whose clock counts instructions; here its lines
//! become a table and a JSON document. The cost of a packet without any queue is subtracted.

use machine::{Cache, Machine};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// How many flows there are.
pub const FLOWS: [u32; 5] = [1, 10, 100, 1000, 10_000];
/// The discipline whose cost the others are compared with.
const MEASURE: &str = "fq_codel";
/// Two runs of the same may differ by this share: the ends of rounds of flows vary.
const REPEATS: f64 = 0.02;

/// Instructions per packet: by state, discipline and flows.
type Costs = BTreeMap<String, BTreeMap<String, BTreeMap<u32, f64>>>;

/// Measures in the kernel of that name, with the built `gate` module and tc `plugin`, for each number
/// of `flows`, and writes the costs to `out`. Gives the table.
///
/// # Errors
/// A sentence with the missing part, the failed one, or the two runs that differ.
pub fn measure(name: &str, gate: &Path, flows: &[u32], out: &Path) -> Result<String, String> {
    let cache = Cache::find().map_err(|error| error.to_string())?;
    let kernel = cache.kernel(name).map_err(|error| error.to_string())?;
    let release = kernel.release();
    let mut costs = Costs::new();
    for flows in flows {
        eprintln!("bench: {release}: {flows} flows");
        let mut machine = Machine::new(kernel.clone())
            .file("/job/run.sh", "kernel/bench/run.sh")
            .file("/job/sch_gate.ko", gate)
            .on_line(|line| eprintln!("  {line}"));
        for ours in machine::OURS {
            let missing = || format!("{ours} is missing: run `make kernel-engine`");
            let module = kernel.module(ours).ok_or_else(missing)?;
            let plugin = cache.plugin(ours).ok_or_else(missing)?;
            machine = machine
                .file(&format!("/job/sch_{ours}.ko"), module)
                .file(&format!("/job/q_{ours}.so"), plugin);
        }
        let outcome = machine.run(&format!("sh ./run.sh {flows}"));
        let outcome = outcome.map_err(|error| error.to_string())?;
        if outcome.exit != 0 {
            return Err(format!("run.sh failed: {}", outcome.console));
        }
        add(&mut costs, &outcome.console)?;
    }
    write(&release, &costs, out)
}

/// Reads what `run.sh` said on another `machine` from the files `said`, one for each number of flows, and writes the
/// costs to `out`. Gives the table.
///
/// # Errors
/// A sentence with the file that cannot be read, the line that is not `run.sh`'s, or the two runs that differ.
pub fn read(machine: &str, said: &[PathBuf], out: &Path) -> Result<String, String> {
    let mut costs = Costs::new();
    for path in said {
        let console = std::fs::read_to_string(path);
        let console = console.map_err(|error| format!("{}: {error}", path.display()))?;
        add(&mut costs, &console).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    write(machine, &costs, out)
}

fn write(machine: &str, costs: &Costs, out: &Path) -> Result<String, String> {
    let document = json!({ "kernel": machine, "instructions_per_packet": costs });
    let written = std::fs::write(out, format!("{document:#}\n"));
    written.map_err(|error| format!("{}: {error}", out.display()))?;
    Ok(table(costs))
}

/// Adds the output of `run.sh` for one number of flows.
fn add(costs: &mut Costs, console: &str) -> Result<(), String> {
    let mut bare = None;
    for line in console.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [state, discipline, flows, first, second] = words[..] else {
            return Err(format!("run.sh said {line:?}"));
        };
        if state == "drops" {
            return Err(format!("{line}: dropped packets are not what is measured"));
        }
        let number = |text: &str| text.parse::<f64>().map_err(|_| format!("{line}: {text}"));
        let (first, second) = (number(first)?, number(second)?);
        if (first - second).abs() > REPEATS * first {
            return Err(format!("{line}: two runs of the same differ"));
        }
        let mean = f64::midpoint(first, second);
        if discipline == "noqueue" {
            bare = Some(mean);
            continue;
        }
        let bare = bare.ok_or("run.sh did not begin with noqueue")?;
        let flows = flows.parse().map_err(|_| format!("{line}: {flows}"))?;
        let of_state = costs.entry(state.to_owned()).or_default();
        let of_discipline = of_state.entry(discipline.to_owned()).or_default();
        of_discipline.insert(flows, mean - bare);
    }
    Ok(())
}

fn table(costs: &Costs) -> String {
    let mut text = String::new();
    for (state, disciplines) in costs {
        _ = write!(text, "\n{state:<16}");
        for flows in FLOWS {
            _ = write!(text, "{flows:>8}");
        }
        _ = writeln!(text, "    of {MEASURE}  growth");
        for (name, by_flows) in disciplines {
            _ = write!(text, "{name:<16}");
            for flows in FLOWS {
                match by_flows.get(&flows) {
                    Some(cost) => _ = write!(text, "{cost:>8.0}"),
                    None => _ = write!(text, "{:>8}", "-"),
                }
            }
            let ratios = by_flows.iter().filter_map(|(flows, cost)| {
                let measure = disciplines.get(MEASURE)?.get(flows)?;
                Some(cost / measure)
            });
            let most = ratios.fold(0.0, f64::max);
            let growth = match (by_flows.get(&1), by_flows.get(&10_000)) {
                (Some(one), Some(many)) => format!("{:+.0} %", 100.0 * (many - one) / one),
                _ => "-".to_owned(),
            };
            _ = writeln!(text, "  up to {most:.2}{growth:>8}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_packet_costs_without_a_queue_is_subtracted() {
        let mut costs = Costs::new();
        let console = "near_empty noqueue 1 1740 1739\nnear_empty fq_codel 1 3043 3043\n\
                       near_empty confucius 1 3317 3316\n";
        add(&mut costs, console).unwrap();
        let near_empty = &costs["near_empty"];
        assert_eq!(near_empty["fq_codel"][&1], 1303.5);
        assert_eq!(near_empty["confucius"][&1], 1577.0);
        let text = table(&costs);
        assert!(text.contains("up to 1.21"), "{text}");
    }

    #[test]
    fn what_another_machine_said_is_read_from_a_file_for_each_number_of_flows() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let one = file(
            "1",
            "near_empty noqueue 1 2675 2675\nnear_empty fq_codel 1 4995 4995\n",
        );
        let ten = file(
            "10",
            "near_empty noqueue 10 2681 2681\nnear_empty fq_codel 10 5003 5003\n",
        );
        let out = folder.path().join("out.json");
        let table = read("mips", &[one.clone(), ten], &out).unwrap();
        assert!(table.contains("2320    2322"), "{table}");
        let written = std::fs::read_to_string(&out).unwrap();
        assert!(written.contains(r#""kernel": "mips""#), "{written}");

        let cut = file("cut", "near_empty noqueue 1 2675\n");
        let refused = read("mips", &[one, cut.clone()], &out).unwrap_err();
        assert!(refused.contains(&format!("{}", cut.display())), "{refused}");
        let missing = folder.path().join("missing");
        assert!(
            read("mips", &[missing], &out)
                .unwrap_err()
                .contains("missing")
        );
    }

    #[test]
    fn runs_that_differ_or_drop_are_refused() {
        let refused = |console: &str| add(&mut Costs::new(), console).unwrap_err();
        let bare = "near_empty noqueue 1 1740 1739\n";
        assert!(refused(&format!("{bare}near_empty fq 1 3043 3143\n")).contains("differ"));
        assert!(refused(&format!("{bare}drops near_empty fq 1 12\n")).contains("dropped"));
        assert!(refused("near_empty fq 1 3043 3043\n").contains("noqueue"));
        assert!(refused("Unknown qdisc\n").contains("Unknown"));
    }
}
