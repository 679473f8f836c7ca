//! The view that `noq` has of a [`Sender`]: a control for each path.

use super::{DATAGRAM, Event, INITIAL_WINDOW, PathPacket, Sender};
use crate::locked;
use cca::tonopah::{Settings, Subflow};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant as Clock;
use units::Rate;

/// Bytes a second that no packet waits for: the pace is the sender's.
const UNPACED: u64 = 1 << 40;

/// A [`Sender`], shared by its paths and by the reports about it. As a factory it gives the first
/// path that is opened subflow A, the second subflow B, and every later one the call.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Sender>>);

impl Shared {
    /// A sender of never more than `limit`, whose time begins with `start`.
    pub fn new(start: Clock, settings: Settings, limit: Rate) -> Self {
        let window = cca::reno::Reno::new(
            &[],
            &cca::Setup {
                mss: u64::from(DATAGRAM),
                initial_window: INITIAL_WINDOW,
                ..cca::Setup::default()
            },
        );
        let window = Box::new(window.expect("reno has nothing to refuse"));
        Shared(Arc::new(Mutex::new(Sender::over(
            start, settings, limit, window,
        ))))
    }

    /// The sender. It is locked for no longer than a call.
    pub fn get(&self) -> MutexGuard<'_, Sender> {
        locked(&self.0)
    }

    /// The factory of the controls of one connection's paths.
    pub fn factory(&self) -> Arc<Factory> {
        Arc::new(Factory {
            sender: self.clone(),
            built: Mutex::new(0),
        })
    }
}

/// Makes the controls of one connection's paths.
pub struct Factory {
    sender: Shared,
    built: Mutex<usize>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, _now: Clock, _mtu: u16) -> Box<dyn Controller> {
        let mut built = locked(&self.built);
        *built += 1;
        let sender = self.sender.clone();
        let subflow = match *built {
            1 => Subflow::A,
            2 => Subflow::B,
            _ => return Box::new(CallControl { sender }),
        };
        Box::new(SubflowControl { sender, subflow })
    }
}

/// One path's control.
#[derive(Clone)]
struct SubflowControl {
    sender: Shared,
    subflow: Subflow,
}

impl std::fmt::Debug for SubflowControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SubflowControl({:?})", self.subflow)
    }
}

impl Controller for SubflowControl {
    fn on_packet_sent(&mut self, now: Clock, bytes: u16, pn: u64) {
        let mut sender = self.sender.get();
        let now = sender.time(now);
        sender.sent(now, self.subflow, pn, u64::from(bytes));
    }

    fn on_ack(
        &mut self,
        now: Clock,
        sent: Clock,
        bytes: u64,
        pn: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        let mut sender = self.sender.get();
        let (now, sent) = (sender.time(now), sender.time(sent));
        let packet = PathPacket {
            number: pn,
            sent,
            bytes,
        };
        sender.acked(now, self.subflow, packet);
    }

    fn on_end_acks(&mut self, now: Clock, in_flight: u64, _limited: bool, _largest: Option<u64>) {
        let mut sender = self.sender.get();
        let now = sender.time(now);
        sender.ack_read(now, self.subflow, in_flight);
    }

    fn on_congestion_event(
        &mut self,
        now: Clock,
        sent: Clock,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        let mut sender = self.sender.get();
        let (now, sent) = (sender.time(now), sender.time(sent));
        let event = match (is_ecn, is_persistent_congestion) {
            (true, _) => Event::Mark,
            (false, true) => Event::Persistent,
            (false, false) => Event::Loss,
        };
        sender.congestion(now, sent, event);
    }

    fn on_packet_lost(&mut self, _lost_bytes: u16, pn: u64, _now: Clock) {
        self.sender.get().lost(self.subflow, pn);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.sender.get().returned();
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        self.sender.get().window_of(self.subflow)
    }

    fn metrics(&self) -> ControllerMetrics {
        let sender = self.sender.get();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = sender.window.window();
        metrics.pacing_rate = Some(UNPACED);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        INITIAL_WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The control of the call's path: a frame leaves when it is due, and nothing else.
#[derive(Clone)]
struct CallControl {
    sender: Shared,
}

impl std::fmt::Debug for CallControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallControl")
    }
}

impl Controller for CallControl {
    fn on_packet_sent(&mut self, now: Clock, bytes: u16, pn: u64) {
        let mut sender = self.sender.get();
        let packet = PathPacket {
            number: pn,
            sent: sender.time(now),
            bytes: bytes.into(),
        };
        sender.frames.sent(packet);
    }

    fn on_ack(&mut self, _: Clock, _: Clock, _: u64, pn: u64, _: bool, _: &RttEstimator) {
        self.sender.get().frames.acked(pn);
    }

    fn on_end_acks(&mut self, now: Clock, _: u64, _: bool, _: Option<u64>) {
        let mut sender = self.sender.get();
        let now = sender.time(now);
        sender.frame_read(now);
    }

    /// Its rate is that of a call, whatever is lost.
    fn on_congestion_event(&mut self, _: Clock, _: Clock, _: bool, _: bool, _: u64, _: u64) {}

    fn on_packet_lost(&mut self, _lost_bytes: u16, pn: u64, _now: Clock) {
        self.sender.get().frames.lost(pn);
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        let sender = self.sender.get();
        match sender.frames.due(sender.now) {
            Some(_) => u64::MAX,
            None => 0,
        }
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = INITIAL_WINDOW;
        metrics.pacing_rate = Some(UNPACED);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        INITIAL_WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
