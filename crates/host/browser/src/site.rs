//! What the web server answers: the pages of `site/`, messages, and the objects of the trial's pages.

use crate::http::{Handler, Reply, Request};
use crate::mailbox::Mailbox;
use crate::records::RecordsFile;
use crate::trial::Trial;
use serde_json::json;
use std::time::Duration;
use workload::page::{After, Page};

/// The most ports, for as many of a page's servers; others share them.
pub(crate) const PORTS: usize = 24;
/// The web's, for all of a page's servers.
pub(crate) const WEB: [u16; 2] = [443, 80];
/// A message is waited for in steps of this.
const PATIENCE: Duration = Duration::from_secs(2);

/// All that is served.
pub(crate) struct Site {
    trial: Trial,
    /// The first serves the browsers' own pages, the others the trial's.
    ports: Vec<u16>,
    pub(crate) mailbox: Mailbox,
    records: RecordsFile,
    /// Those of a trial that is kept.
    statistics: Option<RecordsFile>,
}

impl Site {
    pub(crate) fn new(
        trial: Trial,
        ports: Vec<u16>,
        records: RecordsFile,
        statistics: Option<RecordsFile>,
    ) -> Self {
        Site {
            trial,
            ports,
            mailbox: Mailbox::default(),
            records,
            statistics,
        }
    }

    fn get(&self, path: &str) -> Reply {
        let own = match path {
            "/call" => Some(include_str!("../site/call.html")),
            "/receive" => Some(include_str!("../site/receive.html")),
            "/visit" => Some(include_str!("../site/visit.html")),
            "/common.js" => Some(include_str!("../site/common.js")),
            _ => None,
        };
        if let Some(text) = own {
            return Reply::Text(text.into());
        }
        if path == "/trial" {
            return Reply::Text(self.told().into_bytes());
        }
        if let Some(name) = path.strip_prefix("/get/") {
            let message = self.mailbox.get(name, PATIENCE);
            return message.map_or(Reply::Missing, Reply::Text);
        }
        let object = path
            .strip_prefix("/page/")
            .and_then(|rest| self.object(rest));
        object.unwrap_or(Reply::Missing)
    }

    /// What the browsers' own pages have to know.
    fn told(&self) -> String {
        let Trial {
            call_kbit,
            warmup,
            seconds,
            every,
            ref pages,
            kept,
            ..
        } = self.trial;
        json!({
            "call_kbit": call_kbit,
            "warmup": warmup,
            "seconds": seconds,
            "every": every,
            "pages": pages.len(),
            "kept": kept,
        })
        .to_string()
    }

    /// Writes down what a browser tells; false if it cannot be, or is not wanted.
    fn record(&self, kind: &str, body: &[u8]) -> bool {
        match kind {
            "statistics" => self
                .statistics
                .as_ref()
                .is_some_and(|file| file.add(kind, body)),
            _ => self.records.add(kind, body),
        }
    }

    /// A page's document, `3`, or one of its other objects, `3/17`.
    fn object(&self, path: &str) -> Option<Reply> {
        let (page, object) = match path.split_once('/') {
            Some((page, object)) => (page, object.parse::<usize>().ok()?),
            None => (path, 0),
        };
        let page = self.trial.pages.get(page.parse::<usize>().ok()?)?;
        let request = page.requests().get(object)?;
        let think = Duration::from_nanos(request.think.as_nanos());
        if object > 0 {
            return Some(Reply::Object(request.response.get(), think));
        }
        std::thread::sleep(think);
        let text = document(page, &self.ports[1..]);
        let missing = request.response.get().saturating_sub(text.len() as u64);
        let padding = usize::try_from(missing).unwrap_or(0);
        Some(Reply::Text((text + &" ".repeat(padding)).into_bytes()))
    }
}

/// The document of a page: a script that fetches the others in their order.
fn document(page: &Page, ports: &[u16]) -> String {
    let requests = page.requests().iter().map(|request| {
        let port = ports[request.origin as usize % ports.len()];
        let (after, part) = match request.after {
            After::Navigation => (-1, false),
            After::FirstPart(of) => (i64::from(of), true),
            After::Done(of) => (i64::from(of), false),
        };
        json!([port, after, part, request.delay.as_millis_f64().round()])
    });
    let plan = serde_json::Value::from_iter(requests);
    let text = include_str!("../site/page.html");
    text.replace("/*PLAN*/[]", &plan.to_string())
}

impl Handler for Site {
    fn answer(&self, request: Request) -> Reply {
        if !request.post {
            return self.get(&request.path);
        }
        let taken = match request.path.split_at_checked(5) {
            Some(("/put/", name)) => self.mailbox.put(name, request.body),
            _ => match request.path.strip_prefix("/record/") {
                Some(kind) => self.record(kind, &request.body),
                None => false,
            },
        };
        if taken {
            Reply::Text(Vec::new())
        } else {
            Reply::Missing
        }
    }
}
