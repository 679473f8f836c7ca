//! The children of a composite. Counts packets that pass, as Linux does for classes, and makes one
//! list of classes out of the children's lists.
//!
//! Classes of a child are called `CHILD/CLASS`, and its reports of flows that change class are
//! translated to these names. A child without classes is a class itself.

use crate::{Backlog, Class, DropReason, FlowId, Observer, Packet, Qdisc};
use units::{Instant, Refusal};

/// Counters of one of a composite's children.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChildStats {
    /// Its name; of a child's child, `CHILD/CHILD`.
    pub name: String,
    /// Its backlog.
    pub backlog: Backlog,
    /// Packets that it gave to the link.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that it dropped.
    pub drops: u64,
    /// Packets that it marked.
    pub marks: u64,
}

/// The children of a composite, in order.
pub struct Children<P>(Vec<Child<P>>);

struct Child<P> {
    name: &'static str,
    qdisc: Box<dyn Qdisc<P>>,
    counts: Counts,
    /// Place of its first class, or of itself, among all classes.
    first: u8,
    /// It has classes of its own.
    classful: bool,
}

#[derive(Default)]
struct Counts {
    packets: u64,
    bytes: u64,
    drops: u64,
    marks: u64,
}

impl<P> Children<P> {
    /// Children under names that the composite gives them.
    ///
    /// # Errors
    /// If they have more classes than a [`Class`] can tell apart.
    pub fn new(
        named: impl IntoIterator<Item = (&'static str, Box<dyn Qdisc<P>>)>,
    ) -> Result<Self, Refusal> {
        let (mut children, mut classes) = (Vec::new(), 0);
        for (name, qdisc) in named {
            let own = qdisc.classes().len();
            let first = u8::try_from(classes);
            classes += own.max(1);
            if classes > usize::from(u8::MAX) + 1 {
                return Err(Refusal::new("there are more than 256 classes inside"));
            }
            children.push(Child {
                name,
                qdisc,
                counts: Counts::default(),
                first: first.expect("there are fewer than those that were just counted"),
                classful: own > 0,
            });
        }
        Ok(Children(children))
    }

    /// Gives a packet to the child with this number.
    pub fn enqueue(
        &mut self,
        child: usize,
        now: Instant,
        packet: Packet<P>,
        observer: &mut dyn Observer<P>,
    ) {
        let (qdisc, mut passed) = self.0[child].watched(observer);
        qdisc.enqueue(now, packet, &mut passed);
    }

    /// Takes the next packet of the child with this number, to be sent.
    pub fn dequeue(
        &mut self,
        child: usize,
        now: Instant,
        observer: &mut dyn Observer<P>,
    ) -> Option<Packet<P>> {
        let (qdisc, mut passed) = self.0[child].watched(observer);
        let packet = qdisc.dequeue(now, &mut passed)?;
        passed.counts.packets += 1;
        passed.counts.bytes += u64::from(packet.len);
        Some(packet)
    }

    /// Says that a flow was put into the child `to`, out of `from` if it was in one. A child that
    /// has classes reports this itself.
    pub fn moved(
        &self,
        now: Instant,
        flow: FlowId,
        (from, to): (Option<usize>, usize),
        observer: &mut dyn Observer<P>,
    ) {
        let class = |child: usize| {
            let child = &self.0[child];
            (!child.classful).then_some(Class(child.first))
        };
        if from != Some(to)
            && let Some(to) = class(to)
        {
            observer.moved(now, flow, from.and_then(class), to);
        }
    }

    /// The discipline of the child with this number.
    pub fn get(&self, child: usize) -> &dyn Qdisc<P> {
        &*self.0[child].qdisc
    }

    /// The backlog of all children together.
    pub fn backlog(&self) -> Backlog {
        self.0.iter().fold(Backlog::default(), |sum, child| {
            let one = child.qdisc.backlog();
            Backlog {
                packets: sum.packets + one.packets,
                bytes: sum.bytes + one.bytes,
            }
        })
    }

    /// When the first of the children with packets has to be asked again.
    pub fn next_wake(&self, now: Instant) -> Option<Instant> {
        let waiting = self
            .0
            .iter()
            .filter(|child| !child.qdisc.backlog().is_empty());
        waiting.filter_map(|child| child.qdisc.next_wake(now)).min()
    }

    /// The names of all classes.
    pub fn classes(&self) -> Vec<String> {
        let of = |child: &Child<P>| match child.qdisc.classes() {
            none if none.is_empty() => vec![child.name.to_owned()],
            own => own
                .iter()
                .map(|class| format!("{}/{class}", child.name))
                .collect(),
        };
        self.0.iter().flat_map(of).collect()
    }

    /// The counters of each child, followed by those of its own children.
    pub fn stats(&self) -> Vec<ChildStats> {
        let mut all = Vec::new();
        for child in &self.0 {
            all.push(ChildStats {
                name: child.name.to_owned(),
                backlog: child.qdisc.backlog(),
                packets: child.counts.packets,
                bytes: child.counts.bytes,
                drops: child.counts.drops,
                marks: child.counts.marks,
            });
            all.extend(child.qdisc.children().into_iter().map(|inner| ChildStats {
                name: format!("{}/{}", child.name, inner.name),
                ..inner
            }));
        }
        all
    }
}

impl<P> Child<P> {
    /// The discipline, with `observer` watching it.
    fn watched<'a>(
        &'a mut self,
        observer: &'a mut dyn Observer<P>,
    ) -> (&'a mut dyn Qdisc<P>, Passed<'a, P>) {
        let passed = Passed {
            counts: &mut self.counts,
            first: self.first,
            observer,
        };
        (&mut *self.qdisc, passed)
    }
}

/// Counts the events of a child and passes them on.
struct Passed<'a, P> {
    counts: &'a mut Counts,
    first: u8,
    observer: &'a mut dyn Observer<P>,
}

impl<P> Observer<P> for Passed<'_, P> {
    fn dropped(&mut self, now: Instant, packet: Packet<P>, reason: DropReason) {
        self.counts.drops += 1;
        self.observer.dropped(now, packet, reason);
    }

    fn marked(&mut self, now: Instant, packet: &Packet<P>) {
        self.counts.marks += 1;
        self.observer.marked(now, packet);
    }

    fn moved(&mut self, now: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        let class = |Class(own)| Class(self.first + own);
        self.observer.moved(now, flow, from.map(class), class(to));
    }
}
