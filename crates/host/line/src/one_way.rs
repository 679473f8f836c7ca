//! How long packets wait on the way there and on the way back, where the server tells its clock.

use crate::apart::Apart;
use crate::waits::Waits;
use crate::way::Way;
use serde::Serialize;

/// Waits of each way while one of them is full, in ms. There is no common clock: each is what a packet waited longer
/// than the one that waited least.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OneWay {
    /// Towards this host.
    pub down: Waits,
    /// From this host.
    pub up: Waits,
}

impl OneWay {
    /// Those of `loaded`, beyond the least of them and of the `idle` line's; none without a server that tells its clock.
    pub(crate) fn of(loaded: &[Apart], idle: Option<Apart>) -> Option<Self> {
        let least = loaded.iter().copied().chain(idle).reduce(Apart::least)?;
        let waits = |of: fn(&Apart) -> f64| {
            let times: Vec<f64> = loaded.iter().map(of).collect();
            Waits::of(&times, of(&least))
        };
        Some(OneWay {
            down: waits(|apart| apart.down)?,
            up: waits(|apart| apart.up)?,
        })
    }

    /// Those of a way.
    pub fn way(&self, way: Way) -> Waits {
        match way {
            Way::Down => self.down,
            Way::Up => self.up,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_has_its_own_waits_whatever_the_clocks_say() {
        // The server's clock is an hour ahead; 20 ms each way, and 100 more on the way down.
        let ahead = 3.6e6;
        let of = |wait: f64| Apart {
            down: 20.0 + wait - ahead,
            up: 20.0 + ahead,
        };
        let waits = OneWay::of(&[of(100.0); 50], Some(of(0.0))).unwrap();
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6;
        assert!(
            near(waits.down.median, 100.0) && near(waits.up.p95, 0.0),
            "{waits:?}"
        );
        assert_eq!(OneWay::of(&[], None), None);
        assert_eq!(OneWay::of(&[], Some(of(0.0))), None);
    }
}
