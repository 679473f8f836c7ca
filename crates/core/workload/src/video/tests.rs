//! A player with a network driven by hand.

use super::*;

/// A player and its actions.
struct Watched {
    player: Box<dyn App>,
    timers: Vec<(Instant, u64)>,
    asked: Vec<u64>,
    figures: Vec<(u8, f64)>,
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

impl Watched {
    fn new(settings: &[(&str, &str)]) -> Self {
        let settings: Vec<(String, String)> = settings
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let params = VideoParams::parse(&settings).unwrap();
        let mut watched = Watched {
            player: Box::new(Player::new(params, Instant::ZERO)),
            timers: Vec::new(),
            asked: Vec::new(),
            figures: Vec::new(),
        };
        watched.tell(0, Input::Start);
        watched.tell(0, Input::Opened(CONN));
        watched
    }

    fn tell(&mut self, ms: u64, input: Input) {
        let mut out = Vec::new();
        self.player.handle(at(ms), input, &mut out);
        for output in out {
            match output {
                Output::Timer(at, token) => self.timers.push((at, token)),
                Output::Send {
                    message: Message::Request { response, .. },
                    ..
                } => self.asked.push(response),
                Output::Report(Report::Figure { figure, value, .. }) => {
                    self.figures.push((figure, value));
                }
                _ => {}
            }
        }
    }

    /// The segment that was asked for is there at `ms`; timers before that come first.
    fn arrives(&mut self, ms: u64) {
        self.waits(ms);
        let message = Message::Response { id: 0, last: true };
        let input = Input::Message {
            conn: CONN,
            stream: 0,
            message,
        };
        self.tell(ms, input);
    }

    /// Timers up to `ms`.
    fn waits(&mut self, ms: u64) {
        while let Some(place) = (0..self.timers.len()).min_by_key(|&place| self.timers[place])
            && self.timers[place].0 <= at(ms)
        {
            let (due, token) = self.timers.remove(place);
            let due = due.since(Instant::ZERO).as_millis();
            self.tell(due, Input::Timer(token));
        }
    }

    /// The sum of a figure's values.
    fn sum(&self, figure: u8) -> f64 {
        let of = self.figures.iter().filter(|(of, _)| *of == figure);
        of.map(|(_, value)| value).sum()
    }
}

/// Bytes of a segment of 6 s.
const fn segment(kbit: u64) -> u64 {
    kbit * 1000 * 6 / 8
}

#[test]
fn bitrates_follow_the_throughput() {
    let mut video = Watched::new(&[("ladder", "1mbit/2mbit/4mbit"), ("window", "2")]);
    // The first has the least. In 1.2 s it had 5 Mbit/s; 90 % of that are 4.5.
    video.arrives(1_200);
    assert_eq!(video.asked, [segment(1_000), segment(4_000)]);
    // 24 Mbit in 12 s: with the one before, 30 Mbit in 13.2 s are 2.27 Mbit/s; 90 % of that are
    // 2.05.
    video.arrives(13_200);
    assert_eq!(video.asked[2..], [segment(2_000)]);
    // The window has two: 36 Mbit in 30 s.
    video.arrives(31_200);
    assert_eq!(video.asked[3..], [segment(1_000)]);
    assert_eq!(video.sum(BITRATE), 7.0);
}

#[test]
fn a_segment_that_is_late_has_failed_and_the_picture_stands_still() {
    let mut video = Watched::new(&[]);
    video.arrives(1_000);
    assert_eq!(video.figures.last(), Some(&(STARTUP, 1.0)));
    // The first one is over at 7 s.
    video.arrives(6_900);
    assert_eq!((video.sum(FAILED), video.sum(REBUFFERING)), (0.0, 0.0));
    // The second is over at 13 s.
    video.waits(15_500);
    assert_eq!(video.sum(FAILED), 1.0);
    assert_eq!(video.sum(REBUFFERING), 2.0, "it is told while it lasts");
    video.arrives(15_500);
    assert_eq!((video.sum(FAILED), video.sum(REBUFFERING)), (1.0, 2.5));
    // The late segment is over at 21.5 s.
    video.waits(21_400);
    assert_eq!((video.sum(FAILED), video.sum(REBUFFERING)), (1.0, 2.5));
    video.waits(21_600);
    assert_eq!(video.sum(FAILED), 2.0);
}

#[test]
fn a_full_buffer_pauses_the_downloads() {
    let mut video = Watched::new(&[("most", "12s"), ("ladder", "1mbit")]);
    video.arrives(100);
    video.arrives(200);
    assert_eq!(video.asked.len(), 2, "two fill the buffer but for 0.1 s");
    video.waits(6_099);
    assert_eq!(video.asked.len(), 2);
    video.waits(6_100);
    assert_eq!(video.asked.len(), 3, "6 s have been played");
}

#[test]
fn a_video_with_an_end_stops() {
    let mut video = Watched::new(&[("segments", "2"), ("enough", "0s")]);
    video.arrives(100);
    video.arrives(200);
    video.waits(60_000);
    assert_eq!(video.asked.len(), 2);
    assert_eq!(video.sum(FAILED), 0.0, "an end is no failure");
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    struct NoPages;
    impl Library for NoPages {
        fn pages(
            &self,
            _: &str,
        ) -> Result<Vec<Arc<crate::page::Page>>, crate::entry::LibraryError> {
            Ok(Vec::new())
        }
    }
    let set = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
    let refused = build(&set("most", "5s"), &NoPages).unwrap_err();
    assert!(refused.to_string().contains("less than a segment"));
    assert!(build(&set("most", "6s"), &NoPages).is_ok());
}
