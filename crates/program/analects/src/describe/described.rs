//! The description of anything that has a name: a discipline, a control, traffic, a metric.

use units::choice::Slot;
use units::param::Spec;
use workload::{Preset, Settled};

/// The contents of `describe` for one entry.
pub struct DescribedEntry {
    /// Its kind.
    pub kind: &'static str,
    /// Its name.
    pub name: &'static str,
    /// One line, without a stop.
    pub summary: &'static str,
    /// Paragraphs, with empty lines between.
    pub about: String,
    /// Its source.
    pub source: &'static str,
    /// Its children.
    pub children: &'static [Slot],
    /// Settings that go together.
    pub presets: &'static [Preset],
    /// Parameters, under headings.
    pub params: Vec<(&'static str, &'static [Spec])>,
}

/// The settings of a preset: `fps = 60, control = gcc`.
pub fn said(preset: &Preset) -> String {
    let listed = |settings: Settled| {
        let settings = settings
            .iter()
            .map(|(key, value)| format!("{key} = {value}"));
        settings.collect::<Vec<String>>().join(", ")
    };
    let own = preset.by_control.iter();
    let own = own.map(|(names, settings)| {
        let names = names.join(" or ");
        format!("; with {names}: {}", listed(settings))
    });
    listed(preset.settings) + &own.collect::<String>()
}
