//! The experiments by name: one file and one line each.

use crate::Experiment;
use units::Refusal;

macro_rules! experiments {
    ($($id:literal,)*) => {
        &[$(($id, include_str!(concat!("../../../../experiments/", $id, ".toml"))),)*]
    };
}

/// Names and texts, in the order in which `all` runs them.
const EXPERIMENTS: &[(&str, &str)] = experiments![
    "confucius/fig2",
    "confucius/fig3",
    "confucius/fig4",
    "confucius/fig7",
    "confucius/fig8",
    "confucius/fig10",
    "confucius/fig11",
    "confucius/fig12",
    "confucius/fig13",
    "confucius/fig14",
    "confucius/fig15",
    "confucius/fig16",
    "confucius/fig16-simulated",
    "confucius/fig18",
    "confucius/fig19",
    "confucius/fig20",
    "confucius/fig21",
    "confucius/fig22",
    "confucius/fig23",
    "confucius/fig24",
    "confucius/fig25",
    "confucius/fig26",
    "confucius/fig27",
    "confucius/fig29",
    "confucius/table1",
    "confucius/table2",
    "confucius/table3",
    "confucius-beyond/controls",
    "confucius-beyond/rtts",
    "confucius-beyond/big-pages",
    "confucius-beyond/uplink",
    "confucius-beyond/capped",
    "confucius-beyond/sfu",
    "confucius-beyond/torrents",
    "confucius-beyond/slow-links",
    "confucius-beyond/sensitivity",
    "floq/choice",
    "floq/windows",
    "floq/mechanism",
    "floq/10mbit",
    "floq/100mbit",
    "floq/headlines",
    "floq-beyond/quotas",
    "floq-beyond/load",
    "floq-beyond/rtts",
    "floq-beyond/pages",
    "floq-beyond/transports",
    "floq-beyond/bursts",
    "floq-beyond/fair-queues",
    "thesis/fig1",
    "thesis/threshold",
    "thesis/1gbit",
    "thesis/ethernet",
    "thesis/10gbit",
    "thesis/router",
    "thesis/rtts",
    "thesis/las",
    "thesis/call",
    "tonopah/subflows",
    "tonopah/accuracy",
    "tonopah/performance",
    "tonopah/shared",
    "tonopah/delays",
    "tonopah/others",
    "tonopah/controls",
    "tonopah/call",
    "tonopah/change",
    "tonopah/hostile",
    "tonopah/ranges",
    "tonopah/acks",
    "tonopah/limited",
    "tonopah/isolation",
    "tonopah/trains",
    "tonopah/policer",
    "poster/fig2",
    "poster/fig3",
    "poster/mechanism",
    "poster/adaptive",
    "poster/wifi",
    "matrix/household",
    "matrix/abuse",
    "matrix/recorded-wifi",
    "matrix/recorded-4g",
    "matrix/telling",
    "matrix/computers",
    "matrix/edges",
    "matrix/sparse",
    "matrix/unseen",
    "matrix/behind",
    "autorate/recorded",
    "autorate/recorded-up",
    "autorate/aside",
    "autorate/hard",
    "autorate/steady",
];

/// The experiments on which engines are compared.
const ENGINES: &[(&str, &str)] = experiments![
    "engines/cubic",
    "engines/cubics",
    "engines/reno",
    "engines/bbr",
    "engines/rtts",
    "engines/call",
    "engines/call-bulk",
    "engines/burst",
    "engines/page",
    "engines/slow",
];

/// All names, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|(id, _)| *id)
}

/// The experiments that `name` means: one, or with `…/all` those of a folder.
///
/// # Errors
/// A sentence with the existing names.
pub fn find(name: &str) -> Result<Vec<Experiment>, Refusal> {
    find_in(EXPERIMENTS, name)
}

/// The scenarios that `name` means on which engines are compared: `engines/cubic`, or `engines/all`.
///
/// # Errors
/// A sentence with the existing names.
pub fn find_for_engines(name: &str) -> Result<Vec<Experiment>, Refusal> {
    find_in(ENGINES, name)
}

fn find_in(all: &[(&str, &str)], name: &str) -> Result<Vec<Experiment>, Refusal> {
    let folder = name.strip_suffix("/all");
    let chosen = |id: &str| match folder {
        Some(folder) => id.split_once('/').is_some_and(|(of, _)| of == folder),
        None => id == name,
    };
    let found = all.iter().filter(|(id, _)| chosen(id));
    let found: Result<Vec<Experiment>, Refusal> = found
        .map(|(id, text)| {
            let experiment = Experiment::parse(id, &format!("experiments/{id}.toml"), text);
            experiment.map_err(|error| Refusal::new(error.to_string()))
        })
        .collect();
    match found {
        Ok(found) if found.is_empty() => {
            let names: Vec<&str> = all.iter().map(|(id, _)| *id).collect();
            let folder = names[0].split_once('/').map_or("", |(folder, _)| folder);
            let whole = format!("{folder}/all");
            let known = names.into_iter().chain([whole.as_str()]);
            Err(Refusal::unknown("experiment", name, known))
        }
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_can_be_read() {
        for id in names() {
            let found = find(id).unwrap();
            assert_eq!(found.len(), 1, "{id}");
            let written = &found[0].written;
            let empty = [
                written.claim.is_empty(),
                written.figure.is_empty(),
                written.score.is_empty(),
            ];
            assert_ne!(empty, [true; 3], "{id}");
        }
        assert_eq!(find_for_engines("engines/all").unwrap().len(), 10);
        let all = find("confucius/all").unwrap().len();
        assert!(all > 0 && all <= names().count());
        assert!(
            find("confucius/fig0")
                .unwrap_err()
                .to_string()
                .contains("confucius/fig10")
        );
    }
}
