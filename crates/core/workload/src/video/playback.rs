//! The buffer of a video player, and when it runs empty.

use units::{Duration, Instant};

/// The player's screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Screen {
    /// No picture was shown yet.
    Starting,
    /// Playing.
    Playing,
    /// The buffer ran empty, and the time up to here was reported already.
    Stalled(Instant),
}

/// A buffer that plays.
#[derive(Debug)]
pub(super) struct Playback {
    screen: Screen,
    /// The time buffered for playing, as of the moment after it.
    buffered: Duration,
    at: Instant,
}

impl Playback {
    /// An empty buffer.
    pub(super) const fn new(now: Instant) -> Self {
        Playback {
            screen: Screen::Starting,
            buffered: Duration::ZERO,
            at: now,
        }
    }

    /// Plays until `now`. Whether the buffer has run dry since the last call.
    pub(super) fn play(&mut self, now: Instant) -> bool {
        let passed = now.since(self.at);
        self.at = now;
        if self.screen != Screen::Playing {
            return false;
        }
        let dry = passed >= self.buffered;
        if dry {
            self.screen = Screen::Stalled(now - passed + self.buffered);
        }
        self.buffered = self.buffered.saturating_sub(passed);
        dry
    }

    /// The stall time that was not reported yet; and when it began.
    pub(super) fn stalled(&mut self) -> Option<(Instant, Duration)> {
        let Screen::Stalled(since) = self.screen else {
            return None;
        };
        self.screen = Screen::Stalled(self.at);
        Some((since, self.at.since(since)))
    }

    /// `media` more is there. It starts with `enough`, and continues after a stall with any amount.
    pub(super) fn add(&mut self, media: Duration, enough: Duration) {
        self.buffered += media;
        if self.screen != Screen::Starting || self.buffered >= enough {
            self.screen = Screen::Playing;
        }
    }

    /// When it runs empty without further data; none while it does not play.
    pub(super) fn dry_at(&self) -> Option<Instant> {
        (self.screen == Screen::Playing).then(|| self.at + self.buffered)
    }

    /// When there is room for `media` in a buffer of `most`; none if there is now, or never will be
    /// without being played.
    pub(super) fn room_at(&self, media: Duration, most: Duration) -> Option<Instant> {
        let over = (self.buffered + media).saturating_sub(most);
        (over > Duration::ZERO && self.screen == Screen::Playing).then(|| self.at + over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: Duration = Duration::from_secs(6);

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    #[test]
    fn it_starts_with_enough_plays_and_stalls() {
        let mut player = Playback::new(at(0));
        player.add(SEGMENT, SEGMENT * 2);
        assert!(!player.play(at(100)), "one segment is not enough");
        assert_eq!(player.dry_at(), None);
        player.add(SEGMENT, SEGMENT * 2);
        assert_eq!(player.dry_at(), Some(at(112)));
        assert!(!player.play(at(111)));
        assert!(player.play(at(115)), "it ran dry at 112");
        assert!(!player.play(at(116)), "which is said once");
        assert_eq!(player.stalled(), Some((at(112), Duration::from_secs(4))));
        assert!(!player.play(at(117)));
        assert_eq!(player.stalled(), Some((at(116), Duration::from_secs(1))));
        player.add(SEGMENT, SEGMENT * 2);
        assert_eq!(player.stalled(), None);
        assert_eq!(player.dry_at(), Some(at(123)), "it goes on with one");
    }

    #[test]
    fn there_is_room_once_enough_is_played() {
        let mut player = Playback::new(at(0));
        assert_eq!(player.room_at(SEGMENT, SEGMENT * 2), None);
        player.add(SEGMENT * 2, SEGMENT);
        assert_eq!(player.room_at(SEGMENT, SEGMENT * 2), Some(at(6)));
        player.play(at(5));
        assert_eq!(player.room_at(SEGMENT, SEGMENT * 2), Some(at(6)));
        player.play(at(6));
        assert_eq!(player.room_at(SEGMENT, SEGMENT * 2), None);
    }
}
