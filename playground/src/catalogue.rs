//! The names that the page offers.

use serde::Serialize;
use sim::Simulator;
use workload::generator;

/// What can be chosen.
#[derive(Debug, Serialize)]
pub struct Catalogue {
    version: &'static str,
    disciplines: Vec<Named>,
    controls: Vec<Named>,
    /// How many pages the generator makes.
    sites: u32,
}

#[derive(Debug, Serialize)]
struct Named {
    name: &'static str,
    summary: &'static str,
}

/// What can be chosen.
pub fn catalogue() -> Catalogue {
    let simulator = Simulator::default();
    let disciplines = simulator.disciplines.iter();
    let controls = simulator.controls.iter();
    Catalogue {
        version: env!("CARGO_PKG_VERSION"),
        disciplines: disciplines
            .map(|of| Named {
                name: of.name,
                summary: of.summary,
            })
            .collect(),
        controls: controls
            .map(|of| Named {
                name: of.name,
                summary: of.summary,
            })
            .collect(),
        sites: generator::SITES,
    }
}
