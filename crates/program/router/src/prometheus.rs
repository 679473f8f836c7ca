//! Counters as Prometheus reads them: its text-based exposition format, 0.0.4.

use core::fmt::Write as _;

/// A counter or a gauge.
pub struct Family {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
}

/// Something that only grows.
pub const fn counter(name: &'static str, help: &'static str) -> Family {
    Family {
        name,
        kind: "counter",
        help,
    }
}

/// Something that grows and shrinks.
pub const fn gauge(name: &'static str, help: &'static str) -> Family {
    Family {
        name,
        kind: "gauge",
        help,
    }
}

/// What a family is counted of: labels and their values, and the value; none if nobody counts it.
pub type Sample<'a> = (&'a [(&'static str, &'a str)], Option<f64>);

/// The family with its samples, and with `prefix` before its name. Empty if there is no value.
pub fn written<'a>(
    prefix: &str,
    family: &Family,
    samples: impl Iterator<Item = Sample<'a>>,
) -> String {
    let Family { name, kind, help } = family;
    let name = format!("{prefix}_{name}");
    let mut text = String::new();
    for (labels, value) in samples {
        let Some(value) = value else {
            continue;
        };
        if text.is_empty() {
            _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        }
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
            .collect();
        let value = match value {
            f64::INFINITY => "+Inf".to_owned(),
            value => value.to_string(),
        };
        _ = writeln!(text, "{name}{{{}}} {value}", labels.join(","));
    }
    text
}

/// A label's value: backslashes, quotes and ends of lines are escaped.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_with_its_samples() {
        let family = gauge("rate", "The rate.");
        let up = [("device", "up"), ("kind", "a\"b\\c\nd")];
        let down = [("device", "down")];
        let samples: [Sample<'_>; 3] = [
            (&up, Some(1.5)),
            (&down, None),
            (&down, Some(f64::INFINITY)),
        ];
        assert_eq!(
            written("analects", &family, samples.into_iter()),
            "# HELP analects_rate The rate.\n\
             # TYPE analects_rate gauge\n\
             analects_rate{device=\"up\",kind=\"a\\\"b\\\\c\\nd\"} 1.5\n\
             analects_rate{device=\"down\"} +Inf\n"
        );
        let nothing: [Sample<'_>; 1] = [(&down, None)];
        assert_eq!(written("analects", &family, nothing.into_iter()), "");
    }
}
