//! Experiments with other calls than their own.

use crate::design::{Axis, AxisValue};
use crate::experiment::{Experiment, STANDS_FOR};
use campaign::Settings;
use scenario::ScenarioError;

/// The preset of the calls that the Confucius paper used.
pub(crate) const PAPER: &str = "paper";

impl Experiment {
    /// The same with calls of `preset` if its own stand for the paper's. With the library that the
    /// paper used, controls are that library's, and recorded links change as they did there, by the
    /// line; BBR is left out on these, where its call stalls by itself (decision 0023).
    ///
    /// # Errors
    /// If a value of an entry cannot be set.
    pub fn with_calls(mut self, preset: &str) -> Result<Self, ScenarioError> {
        let names = self.scenario.names("traffic").into_iter();
        let mut replaced = Vec::new();
        for entry in names.map(|name| format!("traffic.{name}")) {
            let path = format!("{entry}.preset");
            if self.scenario.get(&path) == Some(STANDS_FOR) {
                self.scenario.set(&path, preset)?;
                replaced.push(format!("{entry}.control"));
            }
        }
        if preset == PAPER {
            for path in &replaced {
                self.use_library(path)?;
            }
            if self.written.traces.is_some() {
                let path = self.traced("trace_by");
                self.scenario.set(&path, "line")?;
                for axis in &mut self.written.vary {
                    let of_call = axis
                        .path
                        .as_ref()
                        .is_some_and(|path| replaced.contains(path));
                    axis.values
                        .retain(|value| !of_call || value.label() != "bbr");
                }
            }
        }
        self.calls = Some(preset.to_owned());
        Ok(self)
    }

    /// Replaces the controls that are set at `path` by those of the paper's library.
    fn use_library(&mut self, path: &str) -> Result<(), ScenarioError> {
        if let Some(control) = self.scenario.get(path).map(library) {
            self.scenario.set(path, &control)?;
        }
        for axis in &mut self.written.vary {
            use_library_in(axis, path);
        }
        for case in &mut self.written.cases {
            replace(&mut case.set, path);
        }
        Ok(())
    }
}

/// Values keep their names, under which claims and figures speak of them.
fn use_library_in(axis: &mut Axis, path: &str) {
    for value in &mut axis.values {
        match value {
            AxisValue::Plain(control) if axis.path.as_deref() == Some(path) => {
                let set = Settings::from([(path.to_owned(), library(control))]);
                let is = control.clone();
                *value = AxisValue::Several {
                    is,
                    set,
                    traffic: Vec::new(),
                };
            }
            AxisValue::Plain(_) => {}
            AxisValue::Several { set, .. } => replace(set, path),
        }
    }
}

fn replace(set: &mut Settings, path: &str) {
    if let Some(control) = set.get_mut(path) {
        *control = library(control);
    }
}

/// The library's counterpart of a control: its own Copa and GCC, and ns-3's BBR, which is version
/// 1.
fn library(control: &str) -> String {
    match control {
        "copa" => "copa_library".to_owned(),
        "gcc" => "gcc_library".to_owned(),
        "bbr" => "bbr,version=1".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        title = "t"
        paper = "p"
        about = "a"
        traces = "c1"
        cases = ["pfifo", { name = "marked", discipline = "dualpi2", set = { "traffic.call.control" = "prague" } }]
        [scenario]
        name = "s"
        [[scenario.traffic]]
        name = "call"
        kind = "call"
        preset = "unlimited"
        control = "copa"
        [[scenario.traffic]]
        name = "other"
        kind = "call"
        control = "copa"
        [[vary]]
        name = "control"
        path = "traffic.call.control"
        values = ["copa", "gcc", "bbr", "vegas"]
        "#;

    fn with(preset: &str) -> Experiment {
        let experiment = Experiment::parse("test", "test.toml", TEXT).unwrap();
        experiment.with_calls(preset).unwrap()
    }

    #[test]
    fn calls_that_stand_for_the_papers_are_replaced() {
        let experiment = with("webrtc");
        let at = |path| experiment.scenario.get(path);
        assert_eq!(experiment.calls(), "webrtc");
        assert_eq!(at("traffic.call.preset"), Some("webrtc"));
        assert_eq!(at("traffic.call.control"), Some("copa"));
        assert_eq!(at("traffic.other.preset"), None);
        assert_eq!(at("link.trace_by"), None);
    }

    #[test]
    fn the_papers_library_has_controls_of_its_own() {
        let experiment = with("paper");
        let at = |path| experiment.scenario.get(path);
        assert_eq!(at("traffic.call.control"), Some("copa_library"));
        assert_eq!(at("traffic.other.control"), Some("copa"));
        assert_eq!(at("link.trace_by"), Some("line"));
        let axis = &experiment.written.vary[0];
        let controls = axis.values.iter().map(|value| {
            let set = axis.settings(value);
            (
                value.label().to_owned(),
                set["traffic.call.control"].clone(),
            )
        });
        let controls: Vec<(String, String)> = controls.collect();
        let expected = [
            ("copa", "copa_library"),
            ("gcc", "gcc_library"),
            ("vegas", "vegas"),
        ];
        assert_eq!(
            controls,
            expected.map(|(is, of)| (is.to_owned(), of.to_owned()))
        );
        assert_eq!(
            experiment.written.cases[1].set["traffic.call.control"],
            "prague"
        );
    }

    /// Without recordings BBR stays.
    #[test]
    fn bbr_is_of_the_first_version() {
        let experiment =
            Experiment::parse("test", "test.toml", &TEXT.replace("traces", "# traces"));
        let experiment = experiment.unwrap().with_calls("paper").unwrap();
        let axis = &experiment.written.vary[0];
        let bbr = axis.settings(&axis.values[2]);
        assert_eq!(bbr["traffic.call.control"], "bbr,version=1");
    }
}
