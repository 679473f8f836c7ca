//! Set-ups at a moment with their computers and flows, and what these had between two moments.

use super::computers;
use command::Refused;
use netcfg::{Classes, Computer, Device, Flow, Queue, Status};
use std::collections::BTreeMap;
use std::time::Instant;

/// The kind that counts what each computer and each flow has had.
const COUNTS: &str = "mencius";
/// What is around a queue, or holds nothing.
const OUTSIDE: [&str; 3] = ["htb", "ingress", "clsact"];
/// The classes of devices, each of which is asked once, however many queues it has.
type Asked = BTreeMap<Device, Classes>;

/// Set-ups at a moment.
pub struct LookedSetups {
    at: Instant,
    /// The set-ups, with what each computer has had where a queue counts that.
    pub all: Vec<Status>,
    asked: Asked,
}

/// What a queue had between two looks.
pub struct Span<'a> {
    /// The queue.
    pub queue: &'a Queue,
    /// How long.
    pub seconds: f64,
    /// Bytes that left.
    pub bytes: Option<u64>,
    /// Packets that were dropped.
    pub drops: Option<u64>,
    /// Its computers and flows; none of a kind that does not count them.
    pub who: Option<Who>,
}

/// Who used a queue between two looks.
pub struct Who {
    /// What each computer had; waits are those of the second look.
    pub computers: Vec<Computer>,
    /// What each flow had that sent, dropped or waits, those that sent most first.
    pub flows: Vec<Moved>,
}

/// A flow in the time between two looks.
pub struct Moved {
    /// The flow at the second.
    pub flow: Flow,
    /// Bytes that left meanwhile.
    pub bytes: u64,
    /// Packets that were dropped.
    pub drops: u32,
    /// Packets that were marked.
    pub marks: u32,
}

impl LookedSetups {
    /// These set-ups now.
    ///
    /// # Errors
    /// If the kernel does not list their classes.
    #[expect(clippy::disallowed_methods, reason = "the kernel counts in real time")]
    pub fn take(mut all: Vec<Status>) -> Result<Self, Refused> {
        let at = Instant::now();
        let mut asked = Asked::new();
        let queues = all.iter_mut().flat_map(|status| &mut status.queues);
        for queue in queues.filter(|queue| queue.kind == COUNTS) {
            if !asked.contains_key(&queue.device) {
                asked.insert(queue.device.clone(), netcfg::classes(&queue.device)?);
            }
            let ours = asked[&queue.device].computers.iter();
            let ours = ours.filter(|computer| Some(computer.qdisc) == number(queue));
            queue.computers = Some(ours.copied().collect());
        }
        Ok(LookedSetups { at, all, asked })
    }

    /// What each queue had since the look `before`, if it was there then. Of a shaper only what is inside, which tells
    /// more.
    pub fn since<'a>(&'a self, before: &'a LookedSetups) -> impl Iterator<Item = Span<'a>> {
        let seconds = (self.at - before.at).as_secs_f64();
        let inner = self
            .queues()
            .filter(|queue| !OUTSIDE.contains(&queue.kind.as_str()));
        inner.filter_map(move |queue| {
            let same = |of: &&Queue| {
                (&of.device, &of.handle, &of.kind) == (&queue.device, &queue.handle, &queue.kind)
            };
            let former = before.queues().find(same)?;
            let since =
                |of: fn(&Queue) -> Option<u64>| Some(of(queue)?.saturating_sub(of(former)?));
            let who = queue.computers.as_ref().map(|computers| Who {
                computers: computers::since(
                    former.computers.as_deref().unwrap_or_default(),
                    computers,
                ),
                flows: moved(&before.flows(queue), &self.flows(queue)),
            });
            Some(Span {
                queue,
                seconds,
                bytes: since(|of| of.bytes),
                drops: since(|of| of.drops),
                who,
            })
        })
    }

    /// Whether there is no queue.
    pub fn is_empty(&self) -> bool {
        self.queues().next().is_none()
    }

    fn queues(&self) -> impl Iterator<Item = &Queue> {
        self.all.iter().flat_map(|status| &status.queues)
    }

    fn flows(&self, queue: &Queue) -> Vec<Flow> {
        let classes = self.asked.get(&queue.device);
        let flows = classes.iter().flat_map(|classes| &classes.flows);
        let ours = flows.filter(|flow| Some(flow.qdisc) == number(queue));
        ours.copied().collect()
    }
}

/// The number of a queue, as its classes have it; none if its handle is none.
fn number(queue: &Queue) -> Option<u16> {
    u16::from_str_radix(queue.handle.trim_end_matches(':'), 16).ok()
}

/// What flows had that sent, dropped or wait, those that sent most first.
pub fn moved(before: &[Flow], now: &[Flow]) -> Vec<Moved> {
    let mut moved: Vec<Moved> = now.iter().map(|flow| since(before, flow)).collect();
    moved.retain(|of| of.bytes > 0 || of.flow.qlen > 0 || of.drops > 0);
    moved.sort_by_key(|of| (std::cmp::Reverse(of.bytes), of.flow.class));
    moved
}

/// What a flow has had since it was `before`; another one may have had its place then.
fn since(before: &[Flow], flow: &Flow) -> Moved {
    let same =
        |of: &&Flow| of.class == flow.class && of.bytes <= flow.bytes && of.packets <= flow.packets;
    let former = before.iter().find(same).copied().unwrap_or_default();
    Moved {
        bytes: flow.bytes - former.bytes,
        drops: flow.drops.saturating_sub(former.drops),
        marks: flow.marks.saturating_sub(former.marks),
        flow: *flow,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::tc::counters::tests::queue;
    use std::time::Duration;

    /// A look at `wan`, some seconds after another one.
    pub fn look(after: u64, queues: Vec<Queue>, classes: Classes) -> LookedSetups {
        LookedSetups {
            at: start() + Duration::from_secs(after),
            all: vec![status(queues)],
            asked: Asked::from([("wan".parse().unwrap(), classes)]),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the same for all looks of a test"
    )]
    fn start() -> Instant {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        *START.get_or_init(Instant::now)
    }

    /// A set-up of `wan` with these queues.
    pub fn status(queues: Vec<Queue>) -> Status {
        Status {
            device: "wan".parse().unwrap(),
            settings: None,
            followed: None,
            complete: true,
            restored: 0,
            differences: Vec::new(),
            queues,
            levels: Vec::new(),
        }
    }

    /// A queue of mencius whose one computer has had so many bytes.
    pub fn counting(bytes: u64) -> Queue {
        let computer = Computer {
            qdisc: 0xa1,
            class: 7,
            address: Some([192, 168, 1, 5].into()),
            bytes,
            ahead_bytes: bytes / 2,
            wait_us: 2500,
            ..Computer::default()
        };
        Queue {
            bytes: Some(bytes),
            computers: Some(vec![computer]),
            ..queue("wan", "mencius", Some(1))
        }
    }

    /// A flow of it, and one of another queue.
    pub fn flows(bytes: u64, settled: Option<u64>) -> Classes {
        let flow = Flow {
            qdisc: 0xa1,
            class: 9,
            bytes,
            settled: settled.map(Duration::from_secs),
            ..Flow::default()
        };
        let other = Flow { qdisc: 2, ..flow };
        Classes {
            computers: Vec::new(),
            flows: vec![other, flow],
        }
    }

    #[test]
    fn a_span_has_what_came_between_and_no_shaper() {
        let shaper = || queue("wan", "htb", Some(1));
        let before = look(0, vec![shaper(), counting(1000)], flows(1000, None));
        let new = queue("ifb-wan", "cake", Some(1));
        let now = look(2, vec![shaper(), counting(5000), new], flows(5000, Some(3)));
        let spans: Vec<Span> = now.since(&before).collect();
        // The queue that is new has no former one.
        assert_eq!(spans.len(), 1);
        let span = &spans[0];
        assert_eq!(
            (span.seconds, span.bytes, span.drops),
            (2.0, Some(4000), Some(0))
        );
        let who = span.who.as_ref().unwrap();
        assert_eq!(
            (who.computers[0].bytes, who.computers[0].ahead_bytes),
            (4000, 2000)
        );
        assert_eq!((who.flows.len(), who.flows[0].bytes), (1, 4000));
    }

    #[test]
    fn only_classes_of_the_queue_are_its_own() {
        let mut other = counting(1);
        other.handle = "b1:".to_owned();
        let look = look(0, vec![counting(1)], flows(10, None));
        assert_eq!(look.flows(&counting(1)).len(), 1);
        assert_eq!(look.flows(&other).len(), 0);
    }
}
