//! The classes of flows in a discipline: the number of their moves, and the time of long flows in
//! each.

use crate::result::Residence;
use qdisc::{Class, FlowId};
use std::collections::BTreeMap;
use units::{Duration, Instant};

/// The class in which a discipline keeps flows that it has not judged yet. Every flow leaves it by
/// growing old, so that leaving it is no change of mind.
const NEW: &str = "new";

/// Follows flows through the classes of one queue.
#[derive(Debug)]
pub struct ClassMeter {
    /// The start of the measured time.
    from: Instant,
    /// Moves in the measured time, by the class that was left.
    left: Vec<u64>,
    /// Flows that last.
    stays: BTreeMap<FlowId, Stay>,
}

/// A flow that is followed.
#[derive(Debug, Default)]
struct Stay {
    /// Its class, and since when; none before it is placed.
    now: Option<(Class, Instant)>,
    /// Measured time in each class that it has left.
    spans: Vec<Duration>,
}

impl ClassMeter {
    /// No flow has been placed; events from `from` on are measured.
    pub fn new(from: Instant) -> Self {
        ClassMeter {
            from,
            left: Vec::new(),
            stays: BTreeMap::new(),
        }
    }

    /// A flow was put into a class, out of `from` if it was in one. Its time in each is kept if it
    /// `lasts`.
    pub fn moved(
        &mut self,
        now: Instant,
        flow: FlowId,
        from: Option<Class>,
        to: Class,
        lasts: bool,
    ) {
        if let Some(Class(from)) = from
            && now >= self.from
        {
            *at(&mut self.left, from) += 1;
        }
        if lasts {
            let stay = self.stays.entry(flow).or_default();
            stay.leave(self.from, now);
            stay.now = Some((to, now));
        }
    }

    /// Moves between the classes called `names`, except those out of "new", of any child; none
    /// without classes.
    pub fn moves(&self, names: &[String]) -> Option<u64> {
        let new = |name: &String| name.rsplit('/').next() == Some(NEW);
        let judged = self.left.iter().zip(names).filter(|(_, name)| !new(name));
        (!names.is_empty()).then(|| judged.map(|(count, _)| count).sum())
    }

    /// For each flow that lasts and was placed, the share of the measured time in each of the classes
    /// called `names`.
    pub fn residence(
        &mut self,
        end: Instant,
        names: &[String],
        name: &dyn Fn(FlowId) -> String,
    ) -> Vec<Residence> {
        let measured = end.since(self.from).as_nanos() as f64;
        let mut residence = Vec::new();
        for (flow, stay) in &mut self.stays {
            stay.leave(self.from, end);
            let spans = stay.spans.iter().copied();
            let spans = spans.chain(core::iter::repeat(Duration::ZERO));
            residence.extend(names.iter().zip(spans).map(|(class, span)| Residence {
                flow: name(*flow),
                class: class.clone(),
                share: span.as_nanos() as f64 / measured,
            }));
        }
        residence
    }
}

impl Stay {
    /// Counts its time in the class that it leaves `now`, as far as it is after `from`.
    fn leave(&mut self, from: Instant, now: Instant) {
        if let Some((class, since)) = self.now.take() {
            *at(&mut self.spans, class.0) += now.since(since.max(from));
        }
    }
}

/// The place of a class in a list that grows.
fn at<T: Default + Clone>(list: &mut Vec<T>, class: u8) -> &mut T {
    let index = usize::from(class);
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn moves_and_stays_of_the_measured_time() {
        let names = ["new", "1", "2"].map(str::to_owned);
        let flows = ["call", "page", "bulk"].map(str::to_owned);
        // Measured from 100 ms to 300 ms.
        let mut meter = ClassMeter::new(ms(100));
        let (new, one, two) = (Class(0), Class(1), Class(2));
        let (call, page, bulk) = (FlowId(0), FlowId(1), FlowId(2));
        meter.moved(ms(0), call, None, new, true);
        meter.moved(ms(50), call, Some(new), two, true);
        meter.moved(ms(90), call, Some(two), one, true); // not measured
        meter.moved(ms(110), page, None, new, false);
        meter.moved(ms(120), page, Some(new), one, false); // ageing
        meter.moved(ms(130), page, Some(one), two, false); // counts
        meter.moved(ms(150), call, Some(one), two, true); // counts
        meter.moved(ms(200), bulk, None, new, true);
        meter.moved(ms(260), bulk, None, new, true); // forgotten, and back
        meter.moved(ms(280), bulk, Some(new), two, true); // ageing
        assert_eq!(meter.moves(&names), Some(2));
        assert_eq!(meter.moves(&[]), None);
        let found = meter.residence(ms(300), &names, &|flow| flows[flow.0 as usize].clone());
        let found: Vec<_> = found
            .iter()
            .map(|stay| (stay.flow.as_str(), stay.class.as_str(), stay.share))
            .collect();
        // The call: 50 ms in class 1, 150 ms in class 2. The transfer runs in the last 100 ms.
        let expected = [
            ("call", "new", 0.0),
            ("call", "1", 0.25),
            ("call", "2", 0.75),
            ("bulk", "new", 0.4),
            ("bulk", "1", 0.0),
            ("bulk", "2", 0.1),
        ];
        assert_eq!(found, expected);
    }
}
