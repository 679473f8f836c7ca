//! The records of the guest's program, as events.

use crate::plan::Prepared;
use crate::{levels, packets};
use measure::{BuiltLink, Event, Sink};
use std::collections::BTreeMap;
use units::Instant;

/// Where its processor is idle for a smaller share of a run, in percent, it may be the bottleneck.
const LEAST_IDLE: u64 = 5;

/// The records of the guest.
pub struct Written<'a> {
    report: guest::Report,
    events: &'a str,
    packets: &'a str,
    queues: &'a str,
}

impl<'a> Written<'a> {
    /// Finds it among the files that the program left.
    pub fn of(files: &'a BTreeMap<String, Vec<u8>>) -> Result<Written<'a>, String> {
        let text = |name: &str| {
            let bytes = files.get(name);
            let bytes = bytes.ok_or(format!("the guest left no {name}"))?;
            std::str::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))
        };
        let report = serde_json::from_str(text("report")?);
        Ok(Written {
            report: report.map_err(|error| format!("report: {error}"))?,
            events: text("events")?,
            packets: text("packets")?,
            queues: text("queues")?,
        })
    }

    /// The events of applications and queues, in order; at the same moment, those of applications
    /// first.
    fn events(&self, prepared: &Prepared) -> Result<Vec<(Instant, Event)>, String> {
        let told = guest::log::read(self.events).map_err(|error| error.to_string())?;
        let told = told.into_iter();
        let mut events: Vec<(Instant, Event)> =
            told.map(|(now, said)| (now, Event::from(said))).collect();
        let packets = packets::read(self.packets, &prepared.queues, self.report.origin);
        events.extend(packets.map_err(|error| error.to_string())?);
        events.sort_by_key(|(now, _)| *now);
        Ok(events)
    }

    /// Gives the events to `sink`; returns the queues, each with a remark on the `run`.
    pub fn tell(
        &self,
        prepared: Prepared,
        run: &str,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, String> {
        for (now, event) in self.events(&prepared)? {
            sink.event(now, &event);
        }
        let mut links = prepared.links;
        let queues = prepared.queues.iter().zip(&prepared.told);
        for (link, (queue, told)) in links.iter_mut().zip(queues) {
            let children = levels::children(self.queues, &queue.device, told);
            link.children = children.map_err(|error| format!("queues: {error}"))?;
            link.remarks.push(("engine", self.remark(run)));
            link.doubt = self.doubt();
        }
        Ok(links)
    }

    /// The share of the run in which its processor was idle, in percent.
    fn idle(&self) -> u64 {
        let (all, idle) = self.report.ticks;
        idle * 100 / all.max(1)
    }

    fn remark(&self, run: &str) -> String {
        let share = self.idle();
        format!("{run}; its processor was idle for {share} % of it")
    }

    /// Why the run is not to be believed, if its processor may have held packets up.
    fn doubt(&self) -> Option<String> {
        let share = self.idle();
        (share < LEAST_IDLE).then(|| {
            format!("its processor was idle for {share} % of it: what it carried may be what that can do")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::prepared;
    use crate::samples;
    use measure::{Engine, EngineError, Unsupported};
    use scenario::{Choice, Scenario};

    /// A run as a guest would have written it: a transfer of 3 kB in two packets, and a third one
    /// that is dropped.
    fn recorded() -> BTreeMap<String, Vec<u8>> {
        let files = [
            (
                "report",
                r#"{"origin":5000000000,"ticks":[1000,900],"flows":1}"#,
            ),
            (
                "events",
                concat!(
                    "[100,{\"FlowStarted\":{\"flow\":0,\"traffic\":0,\"carrier\":\"tcp\",\"server\":0}}]\n",
                    "[21700000,{\"Delivered\":{\"flow\":0,\"bytes\":3000}}]\n",
                    "[21700000,{\"FlowDone\":{\"flow\":0}}]\n",
                ),
            ),
            (
                "packets",
                concat!(
                    "# tracer: nop\n",
                    " g-1 [000] 5.020000: come: (p) skb=0xa len=1514 dev=\"r1\" tos=2 ports=0x40004\n",
                    " g-1 [000] 5.020001: leave: (p) skb=0xa handle=0x10000 tos=2\n",
                    " g-1 [000] 5.020002: come: (p) skb=0xb len=1514 dev=\"r1\" tos=2 ports=0x40004\n",
                    " g-1 [000] 5.020003: come: (p) skb=0xc len=1514 dev=\"r1\" tos=2 ports=0x40004\n",
                    " g-1 [000] 5.020003: free: (p) skb=0xc\n",
                    " g-1 [000] 5.021500: leave: (p) skb=0xb handle=0x10000 tos=3\n",
                ),
            ),
            ("queues", "[]"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        BTreeMap::from(files)
    }

    #[test]
    fn a_recorded_run_becomes_a_result() {
        struct Replay(Vec<(Instant, Event)>, Vec<BuiltLink>);
        impl Engine for Replay {
            fn name(&self) -> &'static str {
                "replay"
            }
            fn check(&self, _: &Scenario) -> Vec<Unsupported> {
                Vec::new()
            }
            fn run(
                &self,
                _: &Scenario,
                _: &Choice,
                _: u64,
                sink: &mut dyn Sink,
            ) -> Result<Vec<BuiltLink>, EngineError> {
                for &(now, event) in &self.0 {
                    sink.event(now, &event);
                }
                Ok(self.1.clone())
            }
        }
        let scenario = samples::bulk("size = \"3kB\", control = \"cubic\"");
        let prepared = prepared(&scenario, "pfifo");
        let files = recorded();
        let written = Written::of(&files).unwrap();
        let events = written.events(&prepared).unwrap();
        assert!(events.is_sorted_by_key(|(now, _)| *now));
        let engine = Replay(events, prepared.links);
        let result = measure::run(&engine, &scenario, &Choice::plain("pfifo"), 1, false).unwrap();
        let (flow, link) = (&result.flows[0], &result.links[0]);
        assert_eq!((flow.bytes, flow.fct_ms), (3000, Some(21.6999)));
        assert_eq!((link.packets, link.drops, link.marks), (2, 1, 1));
        // 1 us and 1,498 us.
        assert_eq!(link.sojourn_ms.mean, Some(0.7495));
        assert_eq!(link.backlog.max_packets, 1);
        let remark = written.remark("kernel 6.1");
        assert_eq!(remark, "kernel 6.1; its processor was idle for 90 % of it");
        assert_eq!(written.doubt(), None);
    }

    #[test]
    fn a_processor_that_was_never_idle_is_a_doubt() {
        let mut files = recorded();
        let report = br#"{"origin":5000000000,"ticks":[1000,40],"flows":1}"#;
        files.insert("report".to_owned(), report.to_vec());
        let doubt = Written::of(&files).unwrap().doubt().unwrap();
        assert!(doubt.contains("idle for 4 % of it"), "{doubt}");
    }

    #[test]
    fn what_is_missing_or_torn_is_named() {
        for name in ["report", "events", "packets", "queues"] {
            let mut files = recorded();
            files.remove(name);
            let error = Written::of(&files).err().unwrap();
            assert_eq!(error, format!("the guest left no {name}"));
        }
        for name in ["report", "events", "packets"] {
            let mut files = recorded();
            files.insert(name.to_owned(), b" 5.1: come: (".to_vec());
            let scenario = samples::bulk("control = \"cubic\"");
            let prepared = prepared(&scenario, "pfifo");
            let read = Written::of(&files).and_then(|written| written.events(&prepared));
            assert!(read.is_err(), "{name}");
        }
    }
}
