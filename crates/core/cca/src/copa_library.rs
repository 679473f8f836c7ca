//! `copa_library`: Copa as the RTC library that the Confucius paper took has it.
//!
//! Principles: those of `copa`, acted upon twice a round trip instead of at every acknowledgement,
//! on the data that a report has gathered in between. The queueing delay is the latest round
//! trip's, not the least one's of half a round trip. The window is not bounded by the application's
//! use of it. Not for: anything but that library's calls; `copa` is the better control.
//!
//! Facts from the source of `transys-project/zhuge` (SIGCOMM 2022), `tcp-copa.cc`; decisions/0023.
//! Left out is its third mode, which at a loss of a tenth or more only keeps 1/δ from growing.

use crate::copa::Least;
use crate::{Ack, Congestion, Control, ControlEntry, Setup};
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

units::params! {
    /// Parameters of the library's Copa.
    pub struct CopaLibraryParams {
        /// Weight of delay against rate: a flow keeps about 1/delta packets in the queue.
        delta: f64 = "0.5", range "0.01".."10", source "zhuge, copadelta";
        /// Compete with senders that fill the buffer, if the queue is never seen empty.
        mode_switching: bool = "yes", source "zhuge, tcp-copa.cc";
    }
}

/// `copa_library` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "copa_library",
    summary: "Copa as implemented in the RTC library of the Confucius paper",
    about: "Copa's window and modes, but updated twice per round trip, from the delay of the \
        latest round trip, and with a window that grows even while the application uses less of \
        it.\n\nOnly for calls as in that paper.",
    source: "transys-project/zhuge, tcp-copa.cc; decision 0023",
    params: CopaLibraryParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(CopaLibrary::new(parts.settings, parts.setup)?)),
};

/// How long the least round trip is remembered.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Round trips over which least and greatest are taken to choose the mode.
const MODE_ROUNDS: u64 = 10;
/// A queue counts as nearly empty up to a tenth of the swing, and this, nanoseconds.
const SLACK: u64 = 100_000;
/// Round trips in one direction before the velocity doubles.
const STEADY_ROUNDS: u64 = 3;
/// The least window, segments.
const MIN_SEGMENTS: f64 = 4.0;
/// ns-3's windows have 32 bits.
const MOST: f64 = u32::MAX as f64;

/// The state. Sizes in bytes, as fractions because single steps are below a byte.
#[derive(Debug, Clone)]
pub struct CopaLibrary {
    params: CopaLibraryParams,
    mss: f64,
    window: f64,
    slow_start: bool,
    /// When slow start last grew the window.
    grown_at: Instant,
    delta: f64,
    velocity: f64,
    upwards: bool,
    /// Since when the direction has been the same.
    since: Instant,
    /// Acknowledged since the velocity could last double.
    acked: f64,
    report: CopaReport,
    latest: Duration,
    srtt: Duration,
    rtt_min: Least,
    recent_min: Least,
    /// Holds `u64::MAX − rtt`, so that its least is the greatest round trip.
    recent_max: Least,
}

/// Data gathered since the last time that it acted.
#[derive(Debug, Clone, Copy)]
struct CopaReport {
    since: Instant,
    acked: f64,
    lost: bool,
    /// The least round trip.
    standing: Duration,
}

impl CopaReport {
    const fn new(since: Instant) -> Self {
        CopaReport {
            since,
            acked: 0.0,
            lost: false,
            standing: Duration::MAX,
        }
    }
}

impl CopaLibrary {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        let params = CopaLibraryParams::parse(settings)?;
        Ok(CopaLibrary {
            mss: setup.mss as f64,
            window: setup.initial_window as f64,
            slow_start: true,
            grown_at: Instant::ZERO,
            delta: params.delta,
            params,
            velocity: 1.0,
            upwards: true,
            since: Instant::ZERO,
            acked: 0.0,
            report: CopaReport::new(Instant::ZERO),
            latest: Duration::ZERO,
            srtt: Duration::ZERO,
            rtt_min: Least::default(),
            recent_min: Least::default(),
            recent_max: Least::default(),
        })
    }

    fn sample(&mut self, now: Instant, rtt: Duration) {
        let ns = rtt.as_nanos();
        self.latest = rtt;
        self.report.standing = self.report.standing.min(rtt);
        self.rtt_min.push(now, ns, MIN_RTT_WINDOW);
        let recent = self.srtt * MODE_ROUNDS;
        self.recent_min.push(now, ns, recent);
        self.recent_max.push(now, u64::MAX - ns, recent);
    }

    /// Once a report: 1/δ grows by one if the queue was not seen nearly empty for ten round trips,
    /// or δ doubles if packets were lost meanwhile.
    fn choose_delta(&mut self, lost: bool) {
        let least = (self.rtt_min.get(), self.recent_min.get());
        let ((Some(min), Some(recent)), Some(flipped)) = (least, self.recent_max.get()) else {
            return;
        };
        let swing = (u64::MAX - flipped).saturating_sub(min);
        let competes = recent > min + swing / 10 + SLACK;
        self.delta = match (self.params.mode_switching && competes, lost) {
            (false, _) => self.params.delta,
            (true, false) => 1.0 / (1.0 / self.delta + 1.0),
            (true, true) => (2.0 * self.delta).min(self.params.delta),
        };
    }

    /// The velocity is one when the direction turns, and doubles once a window of acknowledged bytes
    /// while it has held for three round trips.
    fn choose_velocity(&mut self, now: Instant, upwards: bool, acked: f64) {
        if upwards != self.upwards {
            (self.upwards, self.since) = (upwards, now);
            (self.velocity, self.acked) = (1.0, 0.0);
            return;
        }
        self.acked += acked;
        if self.acked >= self.window {
            self.acked = 0.0;
            if now.since(self.since) > self.srtt * STEADY_ROUNDS {
                self.velocity = (2.0 * self.velocity).min(MOST);
            }
        }
    }

    /// Half a round trip has passed.
    fn act(&mut self, now: Instant) {
        let report = core::mem::replace(&mut self.report, CopaReport::new(now));
        let Some(min) = self.rtt_min.get() else {
            return;
        };
        self.choose_delta(report.lost);
        let queueing = self.latest.as_nanos().saturating_sub(min) as f64;
        let standing = report.standing.as_nanos() as f64;
        // cwnd/RTTstanding ≤ mss/(δ·dq), without dividing by a dq of zero.
        let below = self.window * self.delta * queueing <= self.mss * standing;
        if self.slow_start && below {
            if now.since(self.grown_at) >= self.srtt {
                self.grown_at = now;
                self.window = (self.window + report.acked).min(MOST);
            }
            return;
        }
        self.choose_velocity(now, below, report.acked);
        let speed = self.velocity / self.delta;
        let step = (speed * self.mss * report.acked / self.window).min(self.window);
        let window = match below {
            true => self.window + step,
            false if self.slow_start => (self.window - step).min(self.window / 2.0),
            false => self.window - step,
        };
        self.slow_start = false;
        self.window = window.min(MOST).max(MIN_SEGMENTS * self.mss);
    }
}

impl Control for CopaLibrary {
    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.srtt = ack.srtt;
        self.report.acked += ack.bytes as f64;
        self.report.lost |= ack.lost > 0;
        if let Some(rtt) = ack.rtt {
            self.sample(now, rtt);
        }
        let heard = self.report.standing < Duration::MAX;
        if heard && now.since(self.report.since) >= self.srtt / 2 {
            self.act(now);
        }
    }

    /// Does nothing: losses are counted with the acknowledgements that revealed them.
    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {}

    /// ns-3's window after a timeout is one segment; the next step finds the least again.
    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {
        self.window = self.mss;
    }

    fn window(&self) -> u64 {
        self.window as u64
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let paced = || Rate::from_bytes_over(2 * self.window(), self.srtt);
        (self.srtt > Duration::ZERO).then(paced)
    }

    fn in_slow_start(&self) -> bool {
        self.slow_start
    }

    fn uses_prr(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, at, settings, setup};
    use crate::testpath::{Path, Source};

    fn copa() -> CopaLibrary {
        CopaLibrary::new(&settings(&[]), &setup()).unwrap()
    }

    fn ack(copa: &mut CopaLibrary, ms: u64, rtt: u64, packets: u64) {
        let ack = Ack {
            bytes: packets * MSS,
            rtt: Some(Duration::from_millis(rtt)),
            srtt: Duration::from_millis(40),
            ..Ack::default()
        };
        copa.on_ack(at(ms), &ack);
    }

    #[test]
    fn slow_start_adds_a_report_a_round_trip_and_is_left_with_half() {
        let mut copa = copa();
        // Every 20 ms a report of five packets; every second one adds them.
        let mut windows = Vec::new();
        for report in 2..6 {
            ack(&mut copa, 20 * report, 40, 5);
            windows.push(copa.window());
        }
        assert_eq!(windows, [15_000, 15_000, 20_000, 20_000]);
        // dq 20 ms of 60: target 1000·60/(0.5·20) = 6000 B. The step is 1/0.5·5/20 packets, but the
        // window halves.
        ack(&mut copa, 120, 60, 5);
        assert_eq!((copa.window(), copa.in_slow_start()), (10_000, false));
    }

    #[test]
    fn it_acts_twice_a_round_trip_by_the_latest_delay() {
        let mut copa = copa();
        (copa.slow_start, copa.window) = (false, 10_000.0);
        ack(&mut copa, 20, 40, 1);
        // 1/0.5 · 1/10 packets up.
        assert_eq!(copa.window(), 10_200);
        // Less than half a round trip later nothing happens.
        ack(&mut copa, 30, 80, 1);
        ack(&mut copa, 39, 80, 1);
        assert_eq!(copa.window(), 10_200);
        // The report's least is 80 ms, but the latest is 40: no delay, so up by three packets'
        // worth: 2·3/10.2 packets.
        ack(&mut copa, 40, 40, 1);
        assert_eq!(copa.window(), 10_788);
    }

    #[test]
    fn the_velocity_doubles_once_a_window_after_three_round_trips() {
        let mut copa = copa();
        (copa.slow_start, copa.window) = (false, 10_000.0);
        let mut velocities = Vec::new();
        for report in 1..=10 {
            // More than a window each.
            ack(&mut copa, 20 * report, 40, 100);
            velocities.push(copa.velocity);
            copa.window = 10_000.0;
        }
        // Up since 0; more than 120 ms have passed at 140.
        assert_eq!(velocities, [1., 1., 1., 1., 1., 1., 2., 4., 8., 16.]);
        ack(&mut copa, 220, 100, 1);
        assert_eq!((copa.velocity, copa.upwards), (1.0, false));
    }

    #[test]
    fn it_competes_with_what_fills_the_queue() {
        let mut copa = copa();
        (copa.slow_start, copa.window) = (false, 10_000.0);
        ack(&mut copa, 20, 40, 1);
        // The 40 ms leave the last ten round trips, 400 ms, after 420. Reports from then on add one.
        for report in 2..=24 {
            ack(&mut copa, 20 * report, 80, 1);
        }
        assert_eq!(1.0 / copa.delta, 2.0 + 3.0, "at 440, 460 and 480 ms");
        let lossy = Ack {
            lost: MSS,
            bytes: MSS,
            rtt: Some(Duration::from_millis(80)),
            srtt: Duration::from_millis(40),
            ..Ack::default()
        };
        copa.on_ack(at(500), &lossy);
        assert!((copa.delta - 0.4).abs() < 1e-9, "a fifth, doubled");
        copa.on_timeout(at(600), 0);
        assert_eq!(copa.window(), MSS);
    }

    #[test]
    fn alone_it_fills_the_link() {
        let rtt = Duration::from_millis(40);
        let mut path = Path::new(Rate::from_bits(8_000_000), rtt, 500_000, MSS);
        path.source = Source::Bulk;
        let mut copa = copa();
        path.run(&mut copa, at(10_000));
        let before = path.delivered;
        path.run(&mut copa, at(20_000));
        let carried = (path.delivered - before) as f64 / 1e7;
        assert!(carried > 0.9, "{carried}");
    }
}
