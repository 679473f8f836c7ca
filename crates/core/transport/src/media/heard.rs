//! Which frames of audio are at the receiver, so that a copy of one is known from its first.

use super::AudioFrames;

/// How many frames before the newest are looked after.
const BEFORE: u64 = 63;

/// The newest frames.
#[derive(Debug, Default)]
pub struct Heard {
    newest: u64,
    /// Bit `n` is set where the frame `n` before the newest is here.
    here: u64,
}

impl Heard {
    /// A packet arrived. Calls `restored` for each frame that only its copies brought, the oldest
    /// first.
    pub fn arrived(&mut self, packet: &AudioFrames, mut restored: impl FnMut(u64)) {
        self.mark(packet.id);
        let earlier = u64::from(packet.earlier).min(packet.id);
        for id in packet.id - earlier..packet.id {
            if self.mark(id) {
                restored(id);
            }
        }
    }

    /// A frame is here. Returns whether that is new; of one that is too old that is not known.
    fn mark(&mut self, id: u64) -> bool {
        let Some(ahead) = id.checked_sub(self.newest) else {
            let behind = self.newest - id;
            let bit = if behind <= BEFORE { 1 << behind } else { 0 };
            let new = bit & !self.here != 0;
            self.here |= bit;
            return new;
        };
        let new = ahead > 0 || self.here == 0;
        let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
        self.here = self.here.checked_shl(ahead).unwrap_or(0) | 1;
        self.newest = id;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(heard: &mut Heard, id: u64, earlier: u8) -> Vec<u64> {
        let packet = AudioFrames {
            id,
            earlier,
            copied: 0,
        };
        let mut found = Vec::new();
        heard.arrived(&packet, |id| found.push(id));
        found
    }

    #[test]
    fn a_copy_is_of_use_once() {
        let mut heard = Heard::default();
        assert_eq!(restored(&mut heard, 0, 0), []);
        assert_eq!(restored(&mut heard, 3, 2), [1, 2]);
        assert_eq!(restored(&mut heard, 4, 2), []);
        // Of 5 to 8 the two before are in the packet, the others are lost.
        assert_eq!(restored(&mut heard, 9, 2), [7, 8]);
        // The packet with 6 is late, and 5 comes with it.
        assert_eq!(restored(&mut heard, 6, 2), [5]);
    }

    #[test]
    fn nonsense_does_no_harm() {
        let mut heard = Heard::default();
        assert_eq!(
            restored(&mut heard, 2, 9),
            [0, 1],
            "there is nothing before 0"
        );
        restored(&mut heard, 1_000, 0);
        assert_eq!(restored(&mut heard, 3, 1), [], "too long ago");
        restored(&mut heard, u64::MAX, 0);
        assert_eq!(restored(&mut heard, u64::MAX, 1), [u64::MAX - 1]);
    }
}
