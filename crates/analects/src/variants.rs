//! What `--set` and folders choose: one scenario becomes several.

use scenario::{Document, ScenarioError, files};
use std::collections::BTreeMap;

type Variant = (BTreeMap<String, String>, Document);

/// A scenario for each trace that the link's `trace` means, with what distinguishes it.
pub fn expand(document: &Document, set: &[String]) -> Result<Vec<Variant>, ScenarioError> {
    let mut common = BTreeMap::new();
    for setting in set {
        if let Some((path, value)) = setting.split_once('=') {
            let key = path.trim().rsplit('.').next().unwrap_or(path);
            let key = if matches!(key, "trace" | "source") {
                key
            } else {
                path.trim()
            };
            common.insert(key.to_owned(), value.trim().to_owned());
        }
    }
    let Some(pattern) = document.get("link.trace").map(str::to_owned) else {
        return Ok(vec![(common, document.clone())]);
    };
    let traces = files::expand(&pattern).map_err(|reason| {
        document.error_at_path("link.trace", &reason, "name a trace, or a folder of them")
    })?;
    traces
        .into_iter()
        .map(|trace| {
            let trace = trace.display().to_string();
            let mut variant = common.clone();
            variant.insert("trace".to_owned(), trace.clone());
            let mut document = document.clone();
            if trace != pattern {
                document.set("link.trace", &trace)?;
            }
            Ok((variant, document))
        })
        .collect()
}
