//! The data for plots of a run over time, in bounded memory.

use crate::event::LinkId;
use units::{Duration, Instant};

/// Width of a bin at first.
const BIN: Duration = Duration::from_millis(100);
/// More bins are never kept: then each is made twice as wide. No plot has as many points across.
const MOST: u64 = 20_000;

/// A number for each span of time. All bins of a run have the same width, which doubles when there
/// would be too many.
#[derive(Debug, Clone, Copy)]
pub struct Width(Duration);

impl Default for Width {
    fn default() -> Self {
        Width(BIN)
    }
}

impl Width {
    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0.as_secs_f64()
    }

    /// The bin of `now`; none if the width has to double first.
    pub fn place(self, now: Instant) -> Option<usize> {
        let place = now.as_nanos() / self.0.as_nanos();
        (place < MOST).then_some(place as usize)
    }

    /// Twice as wide.
    pub fn double(&mut self) {
        self.0 = self.0 * 2;
    }
}

/// Bins that grow, and that merge in pairs.
pub trait Merge: Default + Clone {
    /// Adds the contents of another bin.
    fn merge(&mut self, other: &Self);
}

impl Merge for u64 {
    fn merge(&mut self, other: &Self) {
        *self += other;
    }
}

/// The bin at `place` of a list that grows.
pub fn bin<T: Merge>(bins: &mut Vec<T>, place: usize) -> &mut T {
    if bins.len() <= place {
        bins.resize(place + 1, T::default());
    }
    &mut bins[place]
}

/// Every two bins become one.
pub fn halve<T: Merge>(bins: &mut Vec<T>) {
    let merged = bins.chunks(2).map(|pair| {
        let mut first = pair[0].clone();
        pair.iter().skip(1).for_each(|second| first.merge(second));
        first
    });
    *bins = merged.collect();
}

/// Arrivals at queues and departures from them, over time, for each line of a plot.
#[derive(Debug, Default)]
pub struct Lines {
    /// One for each flow, or for each traffic entry whose flows are too many to be told apart.
    pub lines: Vec<Line>,
    /// Frames: call, time handed over in seconds, delay in ms.
    pub frames: Vec<(usize, f64, Option<f64>)>,
    /// Class moves: time, queue, line, class.
    pub moves: Vec<(f64, usize, usize, u8)>,
}

/// A line.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Bytes that left each queue, by bin.
    pub shares: Vec<Vec<u64>>,
}

impl Line {
    /// Bytes left a queue, in the bin `place`.
    pub fn left(&mut self, link: LinkId, place: usize, bytes: u32) {
        let queue = usize::from(link.0);
        if self.shares.len() <= queue {
            self.shares.resize_with(queue + 1, Vec::new);
        }
        *bin(&mut self.shares[queue], place) += u64::from(bytes);
    }
}

/// More moves are not drawn: a plot is full long before.
const MOST_MOVES: usize = 1_000_000;

impl Lines {
    /// A new line; returns its place.
    pub fn add(&mut self, name: String) -> usize {
        self.lines.push(Line {
            name,
            ..Line::default()
        });
        self.lines.len() - 1
    }

    /// The flow of a line was put into a class.
    pub fn moved(&mut self, now: Instant, link: LinkId, line: usize, class: u8) {
        if self.moves.len() < MOST_MOVES {
            let link = usize::from(link.0);
            self.moves.push((now.as_secs_f64(), link, line, class));
        }
    }

    /// Every two bins become one.
    pub fn halve(&mut self) {
        for line in &mut self.lines {
            line.shares.iter_mut().for_each(halve);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_double_when_there_are_too_many() {
        let (mut width, mut bins) = (Width::default(), Vec::<u64>::new());
        for place in [0, 1, 2, 4] {
            *bin(&mut bins, place) += 10 + place as u64;
        }
        let late = Instant::ZERO + Duration::from_secs(2000);
        assert_eq!(width.place(late), None);
        width.double();
        halve(&mut bins);
        assert_eq!(bins, [21, 12, 14]);
        assert_eq!(width.place(late), Some(10_000));
    }
}
