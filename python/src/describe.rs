//! The registry as JSON.

use crate::simulator::simulator;
use measure::metric::Better;
use pyo3::prelude::*;
use reproduce::Wants;
use serde_json::{Value, json};
use units::param::Spec;

/// All that scenarios can name: by kind a list, each with its name, a summary, and what it can be told.
#[pyfunction]
pub fn describe() -> String {
    let simulator = simulator();
    let entry = |name, summary, about, source, params| {
        json!({ "name": name, "summary": summary, "about": about, "source": source,
                "parameters": parameters(params) })
    };
    let disciplines = simulator.disciplines.iter();
    let disciplines = disciplines.map(|d| entry(d.name, d.summary, d.about, d.source, d.params));
    let controls = simulator.controls.iter();
    let controls = controls.map(|c| entry(c.name, c.summary, c.about, c.source, c.params));
    let workloads = simulator.workloads.iter().map(|w| {
        let mut entry = entry(w.name, w.summary, w.about, w.source, w.params);
        entry["presets"] = w.presets.iter().map(|preset| preset.name).collect();
        entry
    });
    let metrics = simulator.metrics.iter().map(|metric| {
        let better = match metric.better {
            Better::Less => "less",
            Better::More => "more",
            Better::Neither => "neither",
        };
        json!({ "name": metric.name, "summary": metric.summary, "about": metric.about,
                "source": metric.source, "unit": metric.unit, "better": better,
                "statistic": metric.column.map(|column| column.statistic.to_string()),
                "by_default": metric.column.is_some_and(|column| column.by_default) })
    });
    json!({
        "disciplines": disciplines.collect::<Value>(),
        "controls": controls.collect::<Value>(),
        "workloads": workloads.collect::<Value>(),
        "metrics": metrics.collect::<Value>(),
    })
    .to_string()
}

/// The experiments as JSON, a list. All their files are read for it.
#[pyfunction]
pub fn experiments() -> String {
    let experiments = reproduce::registry::names().filter_map(|id| {
        let found = reproduce::registry::find(id).ok()?;
        let experiment = found.first()?;
        let needs_linux = experiment.written.engine == Wants::Kernel;
        Some(
            json!({ "name": id, "summary": experiment.written.title, "needs_linux": needs_linux,
                     "has_runs": experiment.has_runs() }),
        )
    });
    experiments.collect::<Value>().to_string()
}

fn parameters(specs: &[Spec]) -> Value {
    let of = |spec: &Spec| {
        json!({ "name": spec.name, "kind": spec.kind, "default": spec.default, "range": spec.range,
                "help": spec.help, "source": spec.source })
    };
    specs.iter().map(of).collect()
}
