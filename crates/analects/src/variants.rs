//! Choices of `--set` and folders: one scenario becomes several.

use campaign::Trace;
use scenario::{Document, ScenarioError, files};
use std::collections::BTreeMap;

/// The settings of `--set` that distinguish results.
pub fn set(set: &[String]) -> BTreeMap<String, String> {
    let pairs = set.iter().filter_map(|setting| setting.split_once('='));
    let named = pairs.map(|(path, value)| {
        let path = path.trim();
        let last = path.rsplit('.').next().unwrap_or(path);
        let key = if matches!(last, "trace" | "source") {
            last
        } else {
            path
        };
        (key.to_owned(), value.trim().to_owned())
    });
    named.collect()
}

/// The traces that the link's `trace` means, if it has any.
pub fn traces(document: &Document) -> Result<Vec<Option<Trace>>, ScenarioError> {
    let Some(pattern) = document.get("link.trace") else {
        return Ok(vec![None]);
    };
    let traces = files::expand(pattern).map_err(|reason| {
        document.error_at_path("link.trace", &reason, "name a trace, or a folder of them")
    })?;
    let trace = |path: &std::path::PathBuf| {
        let path = path.display().to_string();
        let shown = path.clone();
        Some(Trace { path, shown })
    };
    Ok(traces.iter().map(trace).collect())
}
