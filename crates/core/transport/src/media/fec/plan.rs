//! How much protection a stream has, by loss, round trip and the size of its frames.
//!
//! As libwebrtc's `VCMNackFecMethod`, but for its table: that has the share of FEC for each loss and rate
//! from offline experiments. Here the share is four times the loss within the same limits, a fifth and a
//! half, as the table has it for 2.5 Mbit/s of 1280x720 (decision 0027).

use units::Duration;

/// Less loss than this is none: a loss is a number of 8 bits there.
const LEAST_LOSS: f64 = 1.0 / 255.0;
/// FEC's share of the packets, by loss, and its limits (`firstPartitionProt`, `kPacketLossMax`).
const BY_LOSS: f64 = 4.0;
const LEAST: f64 = 0.2;
const MOST: f64 = 0.5;
/// Key frames have twice as much (`_scaleProtKey`).
const KEY: f64 = 2.0;
/// With a shorter round trip delta frames have none: asking is as good (`kLowRttNackMs`).
const SHORT_TRIP: Duration = Duration::from_millis(20);
/// Smaller frames have none, unless the round trip is long (`kMaxBytesPerFrameForFec`,
/// `kMaxRttTurnOffFec`).
const SMALL_FRAME: f64 = 700.0;
const LONG_TRIP: Duration = Duration::from_millis(200);
/// `kUpperLimitFramesFec`.
const MOST_FRAMES: f64 = 6.0;

/// What is known of a stream.
#[derive(Debug, Clone, Copy)]
pub struct FecNeed {
    /// The share of packets that is lost.
    pub loss: f64,
    /// The round trip.
    pub rtt: Duration,
    /// Bytes of a usual delta frame.
    pub frame_bytes: f64,
    /// Frames a second.
    pub fps: f64,
    /// It has temporal layers, and these are of the base.
    pub layered: bool,
}

/// How a stream is protected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FecPlan {
    /// Packets of FEC for each of delta frames.
    pub delta: f64,
    /// Packets of FEC for each of key frames.
    pub key: f64,
    /// Most frames that are protected together: as many as are sent in two round trips, so that FEC is not
    /// later than what one asks for (`ComputeMaxFramesFec`). Of a stream with temporal layers one, since the
    /// base's frames are far apart; there with three, here with two as well.
    pub frames: u32,
}

impl FecPlan {
    /// What a stream needs.
    pub fn of(need: &FecNeed) -> Self {
        let most = if need.layered { 1.0 } else { MOST_FRAMES };
        let frames = (2.0 * need.fps * need.rtt.as_secs_f64() + 0.5).clamp(1.0, most) as u32;
        let small = need.frame_bytes < SMALL_FRAME && need.rtt < LONG_TRIP;
        if need.loss < LEAST_LOSS || small {
            return FecPlan {
                delta: 0.0,
                key: 0.0,
                frames,
            };
        }
        let share = (BY_LOSS * need.loss).clamp(LEAST, MOST);
        let delta = if need.rtt < SHORT_TRIP { 0.0 } else { share };
        FecPlan {
            delta: for_each(delta),
            key: for_each((KEY * share).min(MOST)),
            frames,
        }
    }
}

/// From a share of all packets to packets of FEC for each other one (`ConvertFECRate`).
fn for_each(share: f64) -> f64 {
    share / (1.0 - share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(loss: f64, rtt_ms: u64, frame_bytes: f64) -> FecPlan {
        FecPlan::of(&FecNeed {
            loss,
            rtt: Duration::from_millis(rtt_ms),
            frame_bytes,
            fps: 30.0,
            layered: false,
        })
    }

    #[test]
    fn by_loss() {
        let of = |loss| {
            let plan = plan(loss, 40, 5_000.0);
            (plan.delta, plan.key)
        };
        assert_eq!(of(0.003), (0.0, 0.0));
        // A fifth of all packets is a quarter of the others; two fifths are two thirds.
        assert_eq!(of(0.02), (0.25, 0.4 / 0.6));
        assert_eq!(of(0.1), (0.4 / 0.6, 1.0));
        assert_eq!(of(0.3), (1.0, 1.0));
    }

    #[test]
    fn by_round_trip_and_size() {
        let none = plan(0.1, 19, 5_000.0);
        assert_eq!((none.delta, none.key), (0.0, 1.0));
        assert_eq!(plan(0.1, 199, 699.0).key, 0.0);
        assert!(plan(0.1, 200, 699.0).delta > 0.0);
        // 2 · 30 · 0.04 + 0.5 = 2.9.
        let frames = [10, 40, 90, 500].map(|rtt| plan(0.1, rtt, 5_000.0).frames);
        assert_eq!(frames, [1, 2, 5, 6]);
    }
}
