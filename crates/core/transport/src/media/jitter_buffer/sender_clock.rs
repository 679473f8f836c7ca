//! When a frame would be here that takes as long as frames usually do: libwebrtc's
//! `TimestampExtrapolator`, with the settings of its code (no field trial).
//!
//! A line through arrivals and the sender's time stamps, by recursive least squares. Frames far from
//! the line do not move it, unless all of the last 150 were; a delay that has changed for good lets it
//! begin anew.
//!
//! Times here are ms, times of the sender ticks of 90 kHz.

/// Ticks per ms, before frames say otherwise.
const RATE: f64 = 90.0;
/// The state's uncertainty at the beginning (`kP00`, `kP11`).
const RATE_DOUBT: f64 = 1.0;
const OFFSET_DOUBT: f64 = 1e10;
/// Frames before the line is used (`kStartUpFilterDelayInPackets`).
const FIRST_FRAMES: u32 = 2;
/// Without a frame for so many ms, or by a jump of so many ticks, it begins anew
/// (`hard_reset_timeout`, `hard_reset_rtp_timestamp_jump_threshold`).
const PAUSE: f64 = 10_000.0;
const JUMP: i64 = 900_000;
/// Outliers: after how many frames they are looked for, from how many deviations on they are, how many
/// in a row are passed over, what the mean and deviation of the others keep (`outlier_rejection_…`), and
/// the variance at the beginning (`kStartResidualVariance`).
const OUTLIER_FRAMES: u32 = 300;
const OUTLIER_DEVIATIONS: f64 = 2.0;
const OUTLIERS_MOST: u32 = 150;
const OUTLIER_KEPT: f64 = 0.999;
const OUTLIER_VARIANCE: f64 = 3000.0 * 3000.0;
/// A change of the delay: what each frame may be off, what counts of it at most, and the sum that is a
/// change, in ticks (`acc_drift`, `acc_max_error`, `alarm_threshold`).
const CHANGE_DRIFT: f64 = 6_600.0;
const CHANGE_MOST: f64 = 7_000.0;
const CHANGE_SUM: f64 = 60_000.0;

/// The line.
#[derive(Debug, Clone, Default)]
pub struct SenderClock {
    state: Option<ClockState>,
}

#[derive(Debug, Clone)]
struct ClockState {
    /// When it began, and the last arrival.
    start: f64,
    last: f64,
    /// Ticks of the first frame, and of the last that moved the line.
    first_ticks: i64,
    last_ticks: i64,
    /// Ticks since the first are `rate` × ms since the start + `offset`.
    rate: f64,
    offset: f64,
    covariance: [[f64; 2]; 2],
    frames: u32,
    mean: f64,
    variance: f64,
    outliers: u32,
    /// Of what frames were late and early, in ticks.
    late: f64,
    early: f64,
}

impl ClockState {
    fn new(at: f64, ticks: i64) -> Self {
        ClockState {
            start: at,
            last: at,
            first_ticks: ticks,
            last_ticks: ticks,
            rate: RATE,
            offset: 0.0,
            covariance: [[RATE_DOUBT, 0.0], [0.0, OFFSET_DOUBT]],
            frames: 0,
            mean: 0.0,
            variance: OUTLIER_VARIANCE,
            outliers: 0,
            late: 0.0,
            early: 0.0,
        }
    }

    fn frame(&mut self, at: f64, ticks: i64) {
        self.last = at;
        let since = at - self.start;
        let off = (ticks - self.first_ticks) as f64 - since * self.rate - self.offset;
        if self.is_outlier(off) {
            self.outliers += 1;
            if self.outliers <= OUTLIERS_MOST {
                return;
            }
            self.covariance[1][1] = OFFSET_DOUBT;
        }
        self.outliers = 0;
        if self.has_changed(off) && self.frames >= FIRST_FRAMES {
            self.covariance[1][1] = OFFSET_DOUBT;
        }
        self.fit(since, off);
        self.last_ticks = ticks;
        self.frames = self.frames.saturating_add(1);
    }

    fn is_outlier(&mut self, off: f64) -> bool {
        let limit = OUTLIER_DEVIATIONS * self.variance.sqrt();
        if self.frames >= OUTLIER_FRAMES && (off - self.mean).abs() > limit {
            return true;
        }
        self.mean = OUTLIER_KEPT * self.mean + (1.0 - OUTLIER_KEPT) * off;
        let from_mean = off - self.mean;
        let square = (1.0 - OUTLIER_KEPT) * from_mean * from_mean;
        self.variance = (OUTLIER_KEPT * self.variance + square).max(1.0);
        false
    }

    fn has_changed(&mut self, off: f64) -> bool {
        let off = off.clamp(-CHANGE_MOST, CHANGE_MOST);
        self.early = (self.early + off - CHANGE_DRIFT).max(0.0);
        self.late = (self.late + off + CHANGE_DRIFT).min(0.0);
        let changed = self.early > CHANGE_SUM || self.late < -CHANGE_SUM;
        if changed {
            (self.early, self.late) = (0.0, 0.0);
        }
        changed
    }

    fn fit(&mut self, since: f64, off: f64) {
        let p = &mut self.covariance;
        let seen = [p[0][0] * since + p[0][1], p[1][0] * since + p[1][1]];
        let gain = seen.map(|each| each / (1.0 + since * seen[0] + seen[1]));
        self.rate += gain[0] * off;
        self.offset += gain[1] * off;
        let [first, second] = *p;
        for (row, gain) in p.iter_mut().zip(gain) {
            row[0] -= gain * (since * first[0] + second[0]);
            row[1] -= gain * (since * first[1] + second[1]);
        }
    }

    fn expected(&self, ticks: i64) -> f64 {
        if self.frames < FIRST_FRAMES {
            return self.last + ((ticks - self.last_ticks) / 90) as f64;
        }
        if self.rate < 1e-3 {
            return self.start;
        }
        let since = (ticks - self.first_ticks) as f64 - self.offset;
        self.start + (since / self.rate + 0.5).trunc()
    }
}

impl SenderClock {
    /// A frame of the sender's time `ticks` was complete `at` ms, a whole number.
    pub fn frame(&mut self, at: f64, ticks: i64) {
        let goes_on = |state: &ClockState| {
            at - state.last <= PAUSE && (ticks - state.last_ticks).abs() <= JUMP
        };
        let state = self.state.take().filter(goes_on);
        let mut state = state.unwrap_or_else(|| ClockState::new(at, ticks));
        state.frame(at, ticks);
        self.state = Some(state);
    }

    /// When the frame of the sender's time `ticks` would be here, in ms, if it took as long as frames
    /// usually do. Not known before the first.
    pub fn expected(&self, ticks: i64) -> Option<f64> {
        self.state.as_ref().map(|state| state.expected(ticks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames every 33 ms that take this long, from `first` on.
    fn feed(clock: &mut SenderClock, first: i64, delays: impl IntoIterator<Item = f64>) {
        for (frame, delay) in (first..).zip(delays) {
            clock.frame((33 * frame) as f64 + delay, 33 * 90 * frame);
        }
    }

    /// How long frame 4000 is expected to take.
    fn expected(clock: &SenderClock) -> f64 {
        clock.expected(33 * 90 * 4_000).unwrap() - 33.0 * 4_000.0
    }

    #[test]
    fn frames_are_expected_to_take_as_long_as_usual() {
        let mut clock = SenderClock::default();
        assert_eq!(clock.expected(0), None);
        feed(
            &mut clock,
            0,
            (0..1_000).map(|frame| f64::from(20 + frame % 3 * 10)),
        );
        let delay = expected(&clock);
        assert!((29.0..=31.0).contains(&delay), "{delay}");
    }

    #[test]
    fn a_short_delay_moves_nothing_and_a_lasting_one_does() {
        let mut clock = SenderClock::default();
        feed(&mut clock, 0, [30.0; 1_000]);
        feed(&mut clock, 1_000, [230.0; 100]);
        assert!((29.0..=31.0).contains(&expected(&clock)));
        feed(&mut clock, 1_100, [230.0; 1_000]);
        let delay = expected(&clock);
        assert!(delay > 150.0, "{delay}");
    }

    #[test]
    fn a_pause_begins_anew() {
        let mut clock = SenderClock::default();
        feed(&mut clock, 0, [30.0; 100]);
        feed(&mut clock, 1_000, [90.0; 100]);
        assert_eq!(expected(&clock), 90.0);
    }
}
