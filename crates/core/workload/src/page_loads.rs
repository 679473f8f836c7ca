//! `page` among the workloads.

use crate::entry::{BuildError, Entry, Library, Rows, Start, Workload};
use crate::page::{Page, PageClient, PageParams, PageServer, PageSetup};
use crate::{App, Carrier};
use std::sync::Arc;
use units::param::Settings;

/// `page` for the registry.
pub const ENTRY: Entry = Entry {
    name: "page",
    summary: "web pages, one load after another",
    about: "A browser opens connections to a page's servers and requests the page's parts, each \
        once the parts that it waits for have arrived. `source` names HAR files, or generated:N or \
        generated-web:N for N generated sites, or document:SIZE:h2 for a page that is one answer; \
        by default it is all of the first generated sites. A load starts `interval` after the one \
        before, or `pause` after its end: a closed loop, in which a slow network gets fewer \
        requests.",
    source: "the Confucius paper, section 7.1, and browsers' behaviour",
    params: PageParams::SPECS,
    check: |settings| PageParams::parse(settings).map(drop),
    carriers: &[Carrier::Tcp, Carrier::Quic],
    control: Some("cubic"),
    rows: Rows::Loads,
    figures: &[],
    presets: &[],
    build,
};

fn build(settings: &Settings, library: &dyn Library) -> Result<Arc<dyn Workload>, BuildError> {
    let params = PageParams::parse(settings)?;
    let key = "source";
    let pages = library.pages(&params.source);
    let pages = pages.map_err(|error| BuildError::Library { key, error })?;
    Ok(Arc::new(PageLoads { params, pages }))
}

/// Pages, loaded one after another.
#[derive(Debug, Clone)]
pub struct PageLoads {
    /// How.
    pub params: PageParams,
    /// Which.
    pub pages: Vec<Arc<Page>>,
}

impl Workload for PageLoads {
    fn values(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn client(&self, start: &Start<'_>) -> Box<dyn App> {
        let setup = PageSetup {
            seed: start.chance().bits(),
            rtt: start.rtt,
        };
        let pages = self.pages.clone();
        Box::new(PageClient::new(pages, self.params.clone(), setup))
    }

    fn server(&self) -> Option<Box<dyn App>> {
        Some(Box::new(PageServer::default()))
    }

    fn client_sends(&self) -> bool {
        false
    }

    fn shares_servers(&self) -> bool {
        true
    }

    fn pages(&self) -> &[Arc<Page>] {
        &self.pages
    }

    fn rtt_spread(&self) -> f64 {
        self.params.rtt_spread
    }
}
