//! When the host of a flow is looked up again.
//!
//! Connection tracking records a flow's addresses before translation (NAT) only when its first packet
//! has passed. Of a flow that begins outside, what arrives first has the router's own address, and
//! so may all packets until the computer at home has answered.

use units::{Duration, Instant};

/// The first look-ups are at packets in a row,
const AT_ONCE: u8 = 8;
/// and later ones so far apart.
const APART: Duration = Duration::from_millis(250);

/// Look-ups of a flow's host.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Translation {
    /// Whether the host may still become another one.
    is_open: bool,
    /// Number of look-ups in a row, at most [`AT_ONCE`].
    asked: u8,
    last: Instant,
}

impl Translation {
    /// The host has been looked up, by addresses that are `provisional` or not.
    pub(super) fn asked(&mut self, now: Instant, provisional: bool) {
        self.is_open = provisional;
        self.asked = (self.asked + 1).min(AT_ONCE);
        self.last = now;
    }

    /// Whether the host is to be looked up again.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.is_open && (self.asked < AT_ONCE || now.since(self.last) >= APART)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    #[test]
    fn at_eight_packets_and_then_four_times_a_second_until_it_is_final() {
        let mut translation = Translation::default();
        let mut asked = Vec::new();
        for at in (0..1000).step_by(10) {
            if at == 0 || translation.is_due(ms(at)) {
                translation.asked(ms(at), true);
                asked.push(at);
            }
        }
        assert_eq!(asked, [0, 10, 20, 30, 40, 50, 60, 70, 320, 570, 820]);
        translation.asked(ms(1070), false);
        assert!(!translation.is_due(ms(9000)));
    }
}
