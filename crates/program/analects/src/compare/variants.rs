//! The settings of `--set` that distinguish results.

use std::collections::BTreeMap;

/// Each setting's path and value; of one trace, or one source, its key.
pub fn set(set: &[String]) -> BTreeMap<String, String> {
    let pairs = set.iter().filter_map(|setting| setting.split_once('='));
    let pairs: Vec<(&str, &str)> = pairs
        .map(|(path, value)| (path.trim(), value.trim()))
        .collect();
    let key = |path: &str| {
        let last = path.rsplit('.').next().unwrap_or(path);
        let same = |(other, _): &&(&str, &str)| other.rsplit('.').next() == Some(last);
        let one = pairs.iter().filter(same).count() == 1;
        if matches!(last, "trace" | "source") && one {
            last.to_owned()
        } else {
            path.to_owned()
        }
    };
    let named = pairs
        .iter()
        .map(|(path, value)| (key(path), (*value).to_owned()));
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_traces_are_two_settings() {
        let keys = |settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
            set(&settings).into_iter().collect::<Vec<_>>()
        };
        let own = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            keys(&["link.a.trace = x", "link.rtt=1ms"]),
            [own("link.rtt", "1ms"), own("trace", "x")]
        );
        assert_eq!(
            keys(&["link.a.trace=x", "link.b.trace=y"]),
            [own("link.a.trace", "x"), own("link.b.trace", "y")]
        );
    }
}
