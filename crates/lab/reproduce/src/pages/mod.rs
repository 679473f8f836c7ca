//! Properties of a set of pages: the number of simultaneous flows, their demands on the network,
//! and their versions of HTTP.
//!
//! These are figure 3, tables 2 and 3 and figure 18 of the Confucius paper (section 2.3, appendix
//! A), for any set of pages. Each page is loaded once, alone on a link that is no bottleneck: see
//! [`Access`].

mod load;
mod published;

pub use load::{Access, ObservedLoad};
pub use published::{ARCHIVE, PUBLISHED, TABLE_2, archived, published};

use campaign::Progress;
use measure::{Engine, EngineError, quantile};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use workload::page::Page;
use workload::statistics::{Statistics, Versions};

/// A page's figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PageFigures {
    /// The page's name.
    pub name: String,
    /// See [`ObservedLoad::active`].
    pub active: u64,
    /// See [`ObservedLoad::in_use`].
    pub in_use: u64,
    /// See [`ObservedLoad::open`].
    pub open: u64,
    /// Connections opened.
    pub connections: u64,
    /// See [`Statistics::connection_limit`].
    pub connection_limit: u64,
    /// Requests.
    pub requests: u64,
    /// Distinct origins.
    pub origins: u64,
    /// Distinct IP addresses, if the recording has them.
    pub addresses: Option<u64>,
    /// All answers together, bytes.
    pub page_bytes: u64,
    /// Whether the load was complete within ten minutes. Otherwise the figures are those until then.
    pub complete: bool,
}

/// How a figure is distributed. Quantiles are values that occur (nearest rank).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distribution {
    /// Of how many values.
    pub count: usize,
    /// Least.
    pub min: f64,
    /// 10th percentile.
    pub p10: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
}

impl Distribution {
    /// The distribution of `values`, none of no values.
    pub fn of(values: impl Iterator<Item = u64>) -> Option<Self> {
        let mut values: Vec<f64> = values.map(|value| value as f64).collect();
        values.sort_unstable_by(f64::total_cmp);
        let at = |q| quantile(&values, q);
        Some(Distribution {
            count: values.len(),
            min: at(0.0)?,
            p10: at(0.1)?,
            p50: at(0.5)?,
            p90: at(0.9)?,
            max: at(1.0)?,
            mean: values.iter().sum::<f64>() / values.len() as f64,
        })
    }

    /// The value called `min`, `p10`, `p50`, `p90`, `max` or `mean`.
    pub fn get(&self, name: &str) -> Option<f64> {
        match name {
            "min" => Some(self.min),
            "p10" => Some(self.p10),
            "p50" => Some(self.p50),
            "p90" => Some(self.p90),
            "max" => Some(self.max),
            "mean" => Some(self.mean),
            _ => None,
        }
    }
}

/// The figures of a set of pages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Survey {
    /// Pages that were not complete within ten minutes.
    pub incomplete: usize,
    /// Distributions by name: those of [`PageFigures`] over pages; `request_bytes`, the length of an
    /// answer with its headers, over all requests; `flow_bytes`, the answers that came home on a
    /// connection, over all connections that carried some. A figure that no page has is missing.
    pub figures: BTreeMap<&'static str, Distribution>,
    /// Versions of HTTP by website and by request.
    pub versions: Versions,
    /// Each page, in the order in which they were given.
    pub sites: Vec<PageFigures>,
}

/// Figures over pages, and their place in a [`PageFigures`].
type Figure = (&'static str, fn(&PageFigures) -> Option<u64>);

const FIGURES: [Figure; 8] = [
    ("active", |site| Some(site.active)),
    ("in_use", |site| Some(site.in_use)),
    ("open", |site| Some(site.open)),
    ("connections", |site| Some(site.connections)),
    ("connection_limit", |site| Some(site.connection_limit)),
    ("requests", |site| Some(site.requests)),
    ("origins", |site| Some(site.origins)),
    ("addresses", |site| site.addresses),
];

impl Survey {
    /// The figure called `name`: a distribution's and one of its values, such as `active.p50`;
    /// `protocol.website.h1` or `protocol.request.h3`, in percent as table 3 has them; `sites`, or
    /// `incomplete`. None if there is no such figure, or no page has it.
    pub fn figure(&self, name: &str) -> Option<f64> {
        if let Some(version) = name.strip_prefix("protocol.website.") {
            return self.versions.websites.percent(version);
        }
        if let Some(version) = name.strip_prefix("protocol.request.") {
            return self.versions.requests.percent(version);
        }
        match name {
            "sites" => Some(self.sites.len() as f64),
            "incomplete" => Some(self.incomplete as f64),
            _ => {
                let (figure, value) = name.split_once('.')?;
                self.figures.get(figure)?.get(value)
            }
        }
    }

    /// The `most` sites with the most ACTIVE flows, then the most IN_USE and OPEN ones; among equals
    /// those that were given first.
    pub fn top(&self, most: usize) -> Vec<&PageFigures> {
        self.top_of_first(self.sites.len(), most)
    }

    /// As [`Survey::top`], among the `first` sites; table 2 is about the first 200.
    pub fn top_of_first(&self, first: usize, most: usize) -> Vec<&PageFigures> {
        let mut sites: Vec<&PageFigures> = self.sites.iter().take(first).collect();
        sites.sort_by_key(|site| core::cmp::Reverse((site.active, site.in_use, site.open)));
        sites.truncate(most);
        sites
    }

    fn new(pages: &[Arc<Page>], loads: Vec<ObservedLoad>) -> Self {
        let mut versions = Versions::default();
        let mut sites = Vec::with_capacity(pages.len());
        for (page, load) in pages.iter().zip(&loads) {
            let plan = Statistics::of(page);
            versions.add(plan.versions);
            sites.push(PageFigures {
                name: page.name().to_owned(),
                active: load.active,
                in_use: load.in_use,
                open: load.open,
                connections: load.connections,
                connection_limit: plan.connection_limit,
                requests: plan.requests,
                origins: plan.origins,
                addresses: plan.addresses,
                page_bytes: plan.bytes,
                complete: load.complete,
            });
        }
        let over_pages = FIGURES.iter().map(|&(name, of)| {
            let values = sites.iter().filter_map(of);
            (name, Distribution::of(values))
        });
        let requests = pages.iter().flat_map(|page| page.requests());
        let requests = requests.map(|request| request.response.get());
        let flows = loads.iter().flat_map(|load| &load.flow_bytes);
        let flows = flows.copied().filter(|&bytes| bytes > 0);
        let sizes = [
            (
                "page_bytes",
                Distribution::of(sites.iter().map(|site| site.page_bytes)),
            ),
            ("request_bytes", Distribution::of(requests)),
            ("flow_bytes", Distribution::of(flows)),
        ];
        let figures = over_pages.chain(sizes);
        Survey {
            incomplete: sites.iter().filter(|site| !site.complete).count(),
            figures: figures.filter_map(|(name, of)| Some((name, of?))).collect(),
            versions,
            sites,
        }
    }
}

struct Silent;

impl Progress for Silent {
    fn done(&self) {}
}

/// Surveys `pages` over the usual [`Access`].
///
/// # Errors
/// The errors of [`Engine::run`]; the first in the order of pages.
pub fn survey(engine: &dyn Engine, pages: &[Arc<Page>]) -> Result<Survey, EngineError> {
    survey_over(engine, &Access::default(), pages, &Silent)
}

/// Surveys `pages` over `access`, as many at a time as there are threads, and reports each finished
/// one to `progress`. The result does not depend on how many that is.
///
/// # Errors
/// The errors of [`Engine::run`]; the first in the order of pages.
pub fn survey_over(
    engine: &dyn Engine,
    access: &Access,
    pages: &[Arc<Page>],
    progress: &dyn Progress,
) -> Result<Survey, EngineError> {
    let one = |page: &Arc<Page>| {
        let load = access.load(engine, page);
        progress.done();
        load
    };
    let loads: Vec<_> = pages.par_iter().map(one).collect();
    let loads: Result<Vec<_>, _> = loads.into_iter().collect();
    Ok(Survey::new(pages, loads?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{BuiltLink, Event, Sink, TrafficId, Unsupported};
    use qdisc::FlowId;
    use scenario::{Choice, Scenario};
    use units::{Bytes, Duration, Instant};
    use workload::Event as Application;
    use workload::page::{After, Origin, Protocol, Request};

    /// Loads a page with a connection for each request, which all receive bytes at once. A page
    /// called `slow` is never complete; one called `broken` cannot be run.
    struct Scripted;

    impl Engine for Scripted {
        fn name(&self) -> &'static str {
            "scripted"
        }

        fn check(&self, _: &Scenario) -> Vec<Unsupported> {
            Vec::new()
        }

        fn run(
            &self,
            scenario: &Scenario,
            _: &Choice,
            _: u64,
            sink: &mut dyn Sink,
        ) -> Result<Vec<BuiltLink>, EngineError> {
            let pages = scenario.traffic[0].kind.workload.pages();
            if pages[0].name() == "broken" {
                let (entry, refusal) = ("traffic.page".to_owned(), units::Refusal::new("broken"));
                return Err(EngineError { entry, refusal });
            }
            let (page, load, now) = (TrafficId(0), 0, Instant::ZERO);
            let (traffic, carrier) = (page, workload::Carrier::Tcp);
            let mut tell = |event| sink.event(now, &Event::Traffic(event));
            for (request, plan) in (0..).zip(pages[0].requests()) {
                let (flow, bytes) = (FlowId(request), plan.response.get());
                tell(Application::FlowStarted {
                    flow,
                    traffic,
                    carrier,
                    server: 0,
                });
                tell(Application::ConnectionOpened { page });
                tell(Application::RequestStarted {
                    page,
                    load,
                    request,
                });
                tell(Application::Delivered { flow, bytes });
            }
            if pages[0].name() != "slow" {
                tell(Application::PageDone { page, load });
            }
            Ok(Vec::new())
        }
    }

    /// Requests of 1000, 2000, 3000... bytes.
    fn page(name: &str, requests: u64, protocol: Protocol) -> Arc<Page> {
        let origin = Origin {
            secure: true,
            host: "a.example".to_owned(),
            port: 443,
            protocol,
        };
        let request = |number| Request {
            origin: 0,
            request: Bytes::new(400),
            response: Bytes::new(1_000 * number),
            think: Duration::ZERO,
            after: After::Navigation,
            delay: Duration::ZERO,
        };
        let requests = (1..=requests).map(request).collect();
        Arc::new(Page::new(name, vec![origin], requests).unwrap())
    }

    #[test]
    fn figures_over_pages_by_name() {
        let told = Page::clone(&page("told", 3, Protocol::H3)).with_addresses(Some(1));
        let pages = [
            page("a", 2, Protocol::H1),
            page("slow", 5, Protocol::H1),
            Arc::new(told),
            page("d", 10, Protocol::H1),
        ];
        let survey = survey(&Scripted, &pages).unwrap();
        for (name, value) in [
            ("sites", 4.0),
            ("incomplete", 1.0),
            // 2, 3, 5, 10: nearest ranks 1, 2, 4; 20 in all.
            ("active.p10", 2.0),
            ("active.p50", 3.0),
            ("active.p90", 10.0),
            ("active.max", 10.0),
            ("open.mean", 5.0),
            ("connections.min", 2.0),
            // Those over HTTP/1: 2, 5, 10; HTTP/3 shares one.
            ("in_use.min", 1.0),
            ("in_use.max", 10.0),
            // The same, but at most six.
            ("connection_limit.max", 6.0),
            ("origins.max", 1.0),
            ("addresses.p50", 1.0),
            // Four of 1 kB, four of 2, three of 3: the tenth of 20 is one of these.
            ("request_bytes.p50", 3_000.0),
            ("flow_bytes.max", 10_000.0),
            ("page_bytes.max", 55_000.0),
            // Three websites of four, 17 requests of 20.
            ("protocol.website.h1", 75.0),
            ("protocol.request.h1", 85.0),
            ("protocol.request.h2", 0.0),
        ] {
            assert_eq!(survey.figure(name), Some(value), "{name}");
        }
        for name in [
            "",
            "active",
            "active.p33",
            "nothing.p50",
            "protocol.website.h4",
        ] {
            assert_eq!(survey.figure(name), None, "{name}");
        }
        assert_eq!(survey.figures["addresses"].count, 1);
        let top: Vec<&str> = survey
            .top(2)
            .iter()
            .map(|site| site.name.as_str())
            .collect();
        assert_eq!(top, ["d", "slow"]);
    }

    #[test]
    fn every_published_figure_is_one() {
        let page = Page::clone(&page("a", 2, Protocol::H1)).with_addresses(Some(1));
        let survey = survey(&Scripted, &[Arc::new(page)]).unwrap();
        for (name, _) in PUBLISHED {
            assert!(survey.figure(name).is_some(), "{name}");
        }
        assert_eq!(published("active.p50"), Some(8.0));
        assert_eq!(published("active.p10"), None);
    }

    #[test]
    fn no_pages_have_no_figures_and_errors_are_told() {
        let none = survey(&Scripted, &[]).unwrap();
        assert_eq!(none.figure("active.p50"), None);
        assert_eq!(none.figure("protocol.website.h1"), None);
        assert_eq!(none.figure("sites"), Some(0.0));
        let pages = [page("a", 1, Protocol::H1), page("broken", 1, Protocol::H1)];
        let error = survey(&Scripted, &pages).unwrap_err();
        assert_eq!(error.to_string(), "traffic.page: broken");
    }
}
