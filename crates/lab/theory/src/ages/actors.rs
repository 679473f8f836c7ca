//! Actors who think and then have a transfer, over a link that they share.

use super::Sizes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::random::Stream;

/// Mean time of a transfer where `actors` share a link by processor sharing: each thinks for `think`
/// seconds on average, then has a transfer that takes `alone` seconds alone on average. `speed` is what the
/// link carries while so many transfers are under way, in parts of what it carries of one: 1 for a link that
/// is as fast with many, at least 1e-9. Of the distributions only the means matter (machine repairman;
/// processor sharing is insensitive, also at a speed that depends on how many there are: Baskett, Chandy,
/// Muntz, Palacios, 1975). Zero for no actor.
pub fn closed_loop(actors: u32, think: f64, alone: f64, speed: impl Fn(u32) -> f64) -> f64 {
    // Sums over the probabilities of 1, 2, ... transfers, which are in parts of the latest.
    let (mut waiting, mut carried, mut latest) = (0.0, 0.0, 1.0);
    for present in 1..=actors {
        let speed = speed(present).max(1e-9);
        latest *= f64::from(actors - present + 1) * alone / (think * speed);
        if latest > 1.0 {
            waiting /= latest;
            carried /= latest;
            latest = 1.0;
        }
        waiting += latest * f64::from(present);
        carried += latest * speed;
    }
    match actors {
        0 => 0.0,
        // Little's law: so many transfers are under way, and so many end in the time of one alone.
        _ => alone * waiting / carried,
    }
}

/// Actors, and the link that they share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Actors {
    /// How many there are.
    pub count: u32,
    /// How long each thinks on average, seconds, above 0; exponential.
    pub think: f64,
    /// What the link carries, bytes per second, above 0.
    pub rate: f64,
}

impl Actors {
    /// Mean time of a transfer, seconds, under two levels of processor sharing with this `threshold` in
    /// bytes (infinite: one level), followed for so many `seconds`. The same seed has the same pauses and
    /// sizes for each threshold. Nothing if no transfer begins in that time.
    pub fn followed(&self, sizes: &Sizes, threshold: f64, seconds: f64, seed: u64) -> Option<f64> {
        let mut state = ActorsState::new(self, Shares::of(sizes), threshold, seed);
        // A tenth to fill.
        state.until(seconds / 10.0);
        let (spent, begun) = (state.spent, state.begun);
        state.until(seconds);
        let begun = state.begun - begun;
        // Little's law counts the transfers that are under way at the end, the largest of all.
        (begun > 0).then(|| (state.spent - spent) / begun as f64)
    }
}

/// A distribution to draw from: shares of transfers up to each class, and the classes' sizes.
struct Shares(Vec<(f64, f64)>);

impl Shares {
    fn of(sizes: &Sizes) -> Self {
        let mut up_to = 0.0;
        let classes = sizes.classes().iter().map(|(size, share)| {
            up_to += share;
            (up_to, *size)
        });
        Shares(classes.collect())
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        let at = stream.unit();
        let place = self.0.partition_point(|(up_to, _)| *up_to <= at);
        self.0[place.min(self.0.len() - 1)].1
    }
}

/// A time or an amount of service, at least 0, in an order.
fn ordered(value: f64) -> u64 {
    value.to_bits()
}

/// One level: transfers in the order in which they are done with it.
#[derive(Default)]
struct Level {
    /// What each of its transfers was served since the level began, bytes.
    served: f64,
    /// By the value of `served` at which each is done: the actor, and what is left for the next level.
    transfers: BinaryHeap<Reverse<(u64, usize, u64)>>,
}

impl Level {
    fn enter(&mut self, actor: usize, bytes: f64, left: f64) {
        let done = ordered(self.served + bytes);
        self.transfers.push(Reverse((done, actor, ordered(left))));
    }

    fn next(&self) -> Option<f64> {
        let Reverse((done, ..)) = self.transfers.peek()?;
        Some(f64::from_bits(*done))
    }
}

/// The actors at a moment.
struct ActorsState {
    actors: Actors,
    sizes: Shares,
    threshold: f64,
    now: f64,
    streams: Vec<Stream>,
    /// When those who think have thought.
    thinking: BinaryHeap<Reverse<(u64, usize)>>,
    levels: [Level; 2],
    /// Seconds of all transfers together.
    spent: f64,
    begun: u64,
}

impl ActorsState {
    fn new(actors: &Actors, sizes: Shares, threshold: f64, seed: u64) -> Self {
        let stream = |actor: u32| Stream::new(seed, &format!("actor {actor}"));
        let mut state = ActorsState {
            actors: *actors,
            sizes,
            threshold,
            now: 0.0,
            streams: (0..actors.count).map(stream).collect(),
            thinking: BinaryHeap::new(),
            levels: Default::default(),
            spent: 0.0,
            begun: 0,
        };
        (0..state.streams.len()).for_each(|actor| state.think(actor));
        state
    }

    fn until(&mut self, end: f64) {
        loop {
            let first = self.thinking.peek();
            let begins = first.map_or(f64::INFINITY, |Reverse((at, _))| f64::from_bits(*at));
            let served = usize::from(self.levels[0].transfers.is_empty());
            let level = &mut self.levels[served];
            let each = self.actors.rate / level.transfers.len() as f64;
            let to_go = level.next().map(|done| (done - level.served).max(0.0));
            let done = to_go.map_or(f64::INFINITY, |bytes| self.now + bytes / each);
            let next = begins.min(done).min(end);
            if to_go.is_some() {
                level.served += (next - self.now) * each;
            }
            let under_way = self.streams.len() - self.thinking.len();
            self.spent += under_way as f64 * (next - self.now);
            self.now = next;
            if next == end {
                return;
            }
            if done <= begins {
                self.done(served)
            } else {
                self.begin()
            }
        }
    }

    fn think(&mut self, actor: usize) {
        let pause = self.streams[actor].exponential(self.actors.think);
        self.thinking
            .push(Reverse((ordered(self.now + pause), actor)));
    }

    fn begin(&mut self) {
        let Some(Reverse((_, actor))) = self.thinking.pop() else {
            return;
        };
        let size = self.sizes.draw(&mut self.streams[actor]);
        let first = size.min(self.threshold);
        self.begun += 1;
        self.levels[0].enter(actor, first, size - first);
    }

    fn done(&mut self, level: usize) {
        let Some(Reverse((_, actor, left))) = self.levels[level].transfers.pop() else {
            return;
        };
        match f64::from_bits(left) {
            0.0 => self.think(actor),
            left => self.levels[1].enter(actor, left, 0.0),
        }
    }
}
