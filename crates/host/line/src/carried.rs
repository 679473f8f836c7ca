//! A connection that carries load: when it lacks a packet.
//!
//! A connection lacks a packet from the moment at which a later one comes until it has come. What passed while it
//! lacked nothing, and how often it began to lack something, give a share of losses that no sender's response shifts:
//! each of these packets could have been the first that lacks.

use crate::arrived::Counts;
use crate::way::Way;

/// What one look at the connections that carry load saw since the look before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Look {
    /// When, in ms since the load began.
    pub at: f64,
    /// Packets of connections that lacked nothing.
    pub passed: u64,
    /// Connections that began to lack something.
    pub lost: u64,
    /// The round trip of the load's own packets, in ms: the median of the connections' own; none where none knows.
    pub own: Option<f64>,
}

/// A connection that carries load, as it was last looked at.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carried {
    pub(crate) counts: Counts,
    lacks: bool,
}

impl Carried {
    /// Takes in what is counted now: packets that passed while nothing lacked, and whether one began to lack.
    pub(crate) fn look(&mut self, way: Way, now: Counts) -> (u64, bool) {
        let before = std::mem::replace(&mut self.counts, now);
        let lacked = self.lacks;
        let moved = match way {
            Way::Down => now.came.saturating_sub(before.came),
            Way::Up => now.sent.saturating_sub(before.sent),
        };
        let beyond = now.odd.saturating_sub(before.odd);
        match way {
            Way::Down if moved == 0 => {}
            Way::Down => self.lacks = beyond > 0,
            Way::Up => self.lacks = now.recovers,
        }
        let began = self.lacks && !lacked;
        let passed = match (lacked, self.lacks) {
            (false, false) => moved,
            // What came before that moment, and the one that was lost.
            (false, true) => moved.saturating_sub(beyond) + 1,
            (true, _) => 0,
        };
        (passed, began)
    }
}

/// The value in the middle; none of none.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_lacks_something_until_it_has_come() {
        let mut down = Carried::default();
        let at = |came, odd| Counts {
            came,
            odd,
            ..Counts::default()
        };
        // Five came, then two of which the first was expected, then three, then what lacked, then four.
        let seen = [(5, 0), (7, 1), (10, 4), (11, 4), (15, 4)];
        let seen = seen.map(|(came, odd)| down.look(Way::Down, at(came, odd)));
        assert_eq!(
            seen,
            [(5, false), (2, true), (0, false), (0, false), (4, false)]
        );
        let mut up = Carried::default();
        let at = |sent, recovers| Counts {
            sent,
            recovers,
            ..Counts::default()
        };
        let seen = [(9, false), (12, true), (14, true), (15, false), (20, false)];
        let seen = seen.map(|(sent, recovers)| up.look(Way::Up, at(sent, recovers)));
        assert_eq!(
            seen,
            [(9, false), (4, true), (0, false), (0, false), (5, false)]
        );
    }
}
