//! Looks at set-ups for `--page`: each second while somebody looks at it, else more seldom, since a look runs `tc`.

use super::looked::{LookedSetups, Span};
use super::{Result, flows};
use crate::cli::PageArgs;
use crate::on_host::{device, now};
use crate::page::{self, Board, Looked, Stands};
use autorate::Way;
use command::Refused;
use netcfg::{Computer, Device, Host, Queue, Status, Store};
use serde::Serialize;
use serde_json::value::to_raw_value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Between two ticks of the page.
const SECOND: Duration = Duration::from_secs(1);
/// Ticks between two looks for nobody.
const SELDOM: u64 = 5;

/// Opens the page that the options ask for, on one device's set-up or on all; none if they ask for none.
///
/// # Errors
/// If it cannot be opened.
pub fn page(args: &PageArgs, state: &Path, dev: Option<&str>) -> Result<Option<Arc<Board>>> {
    let dev = dev.map(|name| device("--dev", name)).transpose()?;
    let Some(board) = page::open(args)? else {
        return Ok(None);
    };
    let mut looks = Looks {
        state: state.to_owned(),
        dev,
        before: None,
    };
    let told = board.clone();
    let begun = std::thread::Builder::new().spawn(move || looks.go_on(&told));
    begun.map_err(|error| Refused::failed(&format!("--page: {error}"), ""))?;
    Ok(Some(board))
}

/// Looks at set-ups.
struct Looks {
    state: PathBuf,
    /// Only this one's.
    dev: Option<Device>,
    before: Option<LookedSetups>,
}

/// What a queue had since the look before.
#[derive(Debug, Serialize)]
struct Lately<'a> {
    /// The device of the set-up.
    setup: &'a Device,
    /// What of the set-up the queue shapes: `down` or `up`.
    way: String,
    kind: &'a str,
    handle: &'a str,
    seconds: f64,
    bytes: Option<u64>,
    drops: Option<u64>,
    /// With the keys of `tc show`; none of a kind that does not count them.
    computers: Option<&'a [Computer]>,
    /// Which calls are protected, and from what; or why that is not known.
    said: String,
}

impl Looks {
    /// Looks, and tells `board`, until the process ends.
    fn go_on(&mut self, board: &Board) {
        for tick in 0u64.. {
            let at = now();
            let due = tick.is_multiple_of(SELDOM) || board.is_looked_at(at);
            board.tick(at, due.then(|| self.looked()));
            std::thread::sleep(SECOND.saturating_sub(now().saturating_sub(at)));
        }
    }

    fn looked(&mut self) -> Looked {
        let looked = self.look().and_then(|look| {
            let looked = shown(&look, self.before.as_ref());
            self.before = Some(look);
            looked
        });
        looked.unwrap_or_else(|refused| Looked {
            error: Some(scenario::printable(&refused.to_string(), 300)),
            ..Looked::default()
        })
    }

    fn look(&self) -> Result<LookedSetups> {
        let store = Store::look(&self.state);
        let devices = match &self.dev {
            Some(device) => vec![device.clone()],
            None => store.devices()?,
        };
        let mut all = Vec::new();
        for device in devices {
            all.extend(netcfg::status(&mut Host::default(), &store, &device)?);
        }
        LookedSetups::take(all)
    }
}

/// A look as the page has it, with what came since the one `before`.
fn shown(look: &LookedSetups, before: Option<&LookedSetups>) -> Result<Looked> {
    let spans = before.into_iter().flat_map(|before| look.since(before));
    let spans: Vec<Span> = spans.collect();
    let lately: Vec<Lately> = spans
        .iter()
        .filter_map(|span| lately(&look.all, span))
        .collect();
    let failed = |error: serde_json::Error| Refused::failed(&error.to_string(), "report this");
    let ways = |status| Way::BOTH.map(|way| stands(status, way));
    Ok(Looked {
        stands: look.all.iter().flat_map(ways).collect(),
        setups: Some(to_raw_value(&look.all).map_err(failed)?),
        lately: Some(to_raw_value(&lately).map_err(failed)?),
        error: None,
    })
}

fn lately<'a>(all: &'a [Status], span: &'a Span) -> Option<Lately<'a>> {
    let queue = span.queue;
    let of = |status: &'a Status| Some((&status.device, way(status, queue)?));
    let (setup, way) = all.iter().find_map(of)?;
    Some(Lately {
        setup,
        way: way.to_string(),
        kind: &queue.kind,
        handle: &queue.handle,
        seconds: span.seconds,
        bytes: span.bytes,
        drops: span.drops,
        computers: span.who.as_ref().map(|who| &who.computers[..]),
        said: flows::said(span),
    })
}

/// What of a set-up a queue shapes; none if it is another's.
fn way(status: &Status, queue: &Queue) -> Option<Way> {
    match &queue.device {
        device if *device == status.device => Some(Way::Up),
        device if *device == status.device.shaped_ingress() => Some(Way::Down),
        _ => None,
    }
}

/// How a direction stands. The queue that holds most holds what those inside of it do.
fn stands(status: &Status, of: Way) -> Stands {
    let rates = status.rates();
    let rate: Option<u64> = match of {
        Way::Down => rates.down,
        Way::Up => rates.up,
    }
    .map(Into::into);
    let queues = status.queues.iter();
    let queues = queues.filter(|queue| way(status, queue) == Some(of));
    let backlog = queues.filter_map(|queue| queue.backlog).max();
    let wait = |rate, bytes| Duration::from_secs_f64(bytes as f64 * 8.0 / rate as f64);
    Stands {
        device: status.device.clone(),
        way: of,
        rate,
        wait: rate
            .zip(backlog)
            .map(|(rate, bytes): (u64, u64)| wait(rate, bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::looked::tests::{counting, flows, look, status};
    use super::*;
    use crate::tc::counters::tests::queue;
    use netcfg::Rates;
    use serde_json::{Value, json};

    fn values(looked: &Looked) -> [Value; 2] {
        [&looked.setups, &looked.lately].map(|raw| {
            let raw = raw.as_ref().unwrap();
            serde_json::from_str(raw.get()).unwrap()
        })
    }

    #[test]
    fn set_ups_are_those_of_tc_show_and_each_queue_has_what_came_since() {
        let cake = || queue("ifb-wan", "cake", Some(1));
        let before = look(0, vec![counting(1000), cake()], flows(1000, None));
        let now = look(1, vec![counting(126_000), cake()], flows(126_000, Some(3)));
        let [setups, lately] = values(&shown(&now, Some(&before)).unwrap());
        assert_eq!(setups, serde_json::to_value(&now.all).unwrap());
        assert_eq!(lately.as_array().unwrap().len(), 2);
        let up = &lately[0];
        assert_eq!((&up["setup"], &up["way"]), (&json!("wan"), &json!("up")));
        assert_eq!(up["computers"][0]["bytes"], 125_000);
        assert_eq!(up["computers"][0]["address"], "192.168.1.5");
        let said = up["said"].as_str().unwrap();
        assert!(
            said.starts_with("One flow is protected, with 1.00 Mbit/s"),
            "{said}"
        );
        let down = &lately[1];
        assert_eq!(
            (&down["way"], &down["computers"]),
            (&json!("down"), &Value::Null)
        );
        assert!(
            down["said"]
                .as_str()
                .unwrap()
                .contains("cake counts by tin")
        );
        let [_, first] = values(&shown(&now, None).unwrap());
        assert_eq!(first, json!([]));
    }

    /// What `scripts/test-router-page.sh` has browsers draw, for kernels without mencius, has the keys of the real one.
    #[test]
    fn the_document_of_the_browsers_test_is_such_a_one() {
        let drawn: Value =
            serde_json::from_str(include_str!("../../tests/page/document.json")).unwrap();
        let before = look(0, vec![counting(1000)], flows(1000, None));
        let now = look(1, vec![counting(126_000)], flows(126_000, Some(3)));
        let board = Board::default();
        let at = Duration::from_secs(1);
        board.put_back(at, &now.all[0].device, "all of it");
        board.tick(at, Some(shown(&now, Some(&before)).unwrap()));
        let real: Value = serde_json::from_str(&board.document(at)).unwrap();
        for place in [
            "",
            "/setups/0",
            "/setups/0/queues/1",
            "/setups/0/queues/1/computers/0",
            "/lately/0",
            "/lately/0/computers/0",
            "/lines/wan",
            "/lines/wan/up",
            "/lines/wan/put_back/0",
        ] {
            let keys = |document: &Value, place: &str| {
                let found = document.pointer(place).and_then(Value::as_object);
                let keys = found.map(|found| found.keys().cloned().collect::<Vec<_>>());
                keys.unwrap_or_else(|| panic!("{place}: {document}"))
            };
            // The shaper stands before the queue that counts.
            let in_real = place.replace("queues/1", "queues/0");
            assert_eq!(keys(&drawn, place), keys(&real, &in_real), "{place}");
        }
    }

    #[test]
    fn what_waits_takes_its_time_at_the_rate() {
        let mut inner = counting(1);
        inner.backlog = Some(12_500);
        let mut status = status(vec![queue("wan", "htb", None), inner]);
        assert_eq!(stands(&status, Way::Up).wait, None);
        status.followed = Some(Rates {
            up: Some(10_000_000.try_into().unwrap()),
            down: None,
        });
        let up = stands(&status, Way::Up);
        assert_eq!(
            (up.rate, up.wait),
            (Some(10_000_000), Some(Duration::from_millis(10)))
        );
        let down = stands(&status, Way::Down);
        assert_eq!((down.rate, down.wait), (None, None));
    }

    #[test]
    fn a_look_that_fails_says_why() {
        let mut looks = Looks {
            state: "/dev/null".into(),
            dev: None,
            before: None,
        };
        let looked = looks.looked();
        let error = looked.error.unwrap();
        assert!(error.contains("/dev/null"), "{error}");
        assert!(looked.setups.is_none());
        assert!(looked.stands.is_empty());
    }
}
