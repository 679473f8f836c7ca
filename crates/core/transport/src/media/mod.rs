//! A media session over UDP: one sender, one receiver, as WebRTC has them.
//!
//! The [`MediaSender`] takes frames, cuts them into packets, paces these under a congestion control and
//! repairs the packets that the receiver asks for. The [`MediaReceiver`] reports arrivals, asks for
//! missing packets, and reports which frames are complete, shown and lost.
//!
//! With [`MediaParams::fec`] the sender adds packets from which the receiver restores lost ones without
//! asking. It asks all the same, at once, as libwebrtc does.
//!
//! Audio is bundled with the video (RFC 8843): the same packets' numbers, the same reports, the same
//! control. Each frame is a packet that leaves at once, past the pacer and the window, and is paid
//! for like any other (libwebrtc's `PacingController` and `AccountForAudioPacketsInPacedSender`). It
//! is never sent again; with [`MediaParams::red`] later packets carry it once more.
//!
//! A session may carry several streams of video, as a forwarding server's does. Frames depend on
//! frames of their own stream only, and each stream has its own numbers, repairs and key frames;
//! packets' numbers, reports, pacing and the control are one for all.
//!
//! All sizes that a control sees here are whole packets, IP header included: windows and rates are
//! those on the link. A control for a session is therefore built with [`MediaParams::packet`] as
//! its `mss`.
//!
//! Definitions. A frame is *complete* when its last missing packet is at the receiver. It is
//! *shown* when it is complete and every frame back to the last key frame was shown, at once or, with
//! [`Playout::WebRtc`], when its turn has come; with temporal layers, once the frame on which it depends
//! was shown. A complete key frame makes older frames that are not shown yet *lost*; with layers, so does
//! any frame that can be shown. Every frame handed over is shown or lost or still waits when the session ends.

mod audio;
mod event;
mod fec;
mod feedback;
mod frames;
mod heard;
mod incoming;
mod jitter_buffer;
mod nack;
mod pacer;
mod queue;
mod receiver;
mod repeats;
mod sender;
#[cfg(test)]
mod tests;

pub use crate::wire::media::{
    Acks, Arrivals, AudioFrames, Content, FecPacket, Feedback, Fragment, MediaPacket, PartSum,
};
pub use event::MediaEvent;
pub use jitter_buffer::Playout;
pub use queue::EncodedFrame;
pub use receiver::{MediaReceiver, ReceiverStats};
pub use sender::{MediaSender, SenderStats};

use units::Rate;

units::params! {
    /// Settings of a media session; both ends take the same.
    pub struct MediaParams {
        /// Most bytes of a frame that one packet carries.
        payload: u32 = "1200", range "100".."9000", source "libwebrtc kDefaultMaxPacketSize";
        /// Headers of a media packet: IPv4 20, UDP 8, RTP 12, extension with the transport-wide
        /// sequence number 8, SRTP tag 10.
        overhead: u32 = "58", range "28".."200", source "RFC 3550, RFC 8285, RFC 3711";
        /// Send with ECT(0) and tell the control of marks. A scalable control's packets are ECT(1)
        /// in any case.
        ecn: bool = "no", source "libwebrtc sends not-ECT";
        /// Number of packets for each acknowledgement, for controls that want acknowledgements.
        ack_every: u32 = "1", range "1".."64", source "Copa's and BBR's UDP implementations";
        /// Acknowledge at the latest after this time.
        ack_delay: units::Duration = "10ms", range "0ms".."1s", source "decision 0020";
        /// Smallest interval of transport-wide feedback.
        feedback_min: units::Duration = "50ms", range "1ms".."1s", source "libwebrtc kMinInterval";
        /// Largest interval of transport-wide feedback; in between, feedback takes 5% of the rate.
        feedback_max: units::Duration = "100ms", range "1ms".."5s", source "libwebrtc kDefaultInterval";
        /// Request lost packets again. Otherwise the receiver requests a key frame after any loss.
        nack: bool = "yes", source "RFC 4585, 6.2.1";
        /// Number of requests for one packet, one per round trip, before a request for a key frame.
        nack_retries: u32 = "10", range "1".."100", source "libwebrtc kMaxNackRetries";
        /// The sender repeats packets that are not acknowledged in time, without requests from the
        /// receiver, until their frame is this many frames behind the newest; both ends then skip
        /// that frame. 0 for no such repeats.
        repeat_frames: u32 = "0", range "0".."1000", source "libwebrtc has receivers ask";
        /// Protect video by forward error correction, as much as losses and the round trip ask for. Its
        /// packets are paid for out of the same rate.
        fec: bool = "no", source "RFC 8627; decision 0027";
        /// Number of frames of audio before its own that each packet of audio carries once more; 0 for
        /// none.
        red: u32 = "0", range "0".."9", source "RFC 2198; decision 0027";
        /// Request a key frame after no frame could be shown for this long.
        wait_frame: units::Duration = "3s", range "10ms".."60s", source "libwebrtc kMaxWaitForFrame";
        /// Repeat the request for a key frame at this interval until one begins to arrive.
        wait_key: units::Duration = "200ms", range "10ms".."60s", source "libwebrtc kMaxWaitForKeyFrame";
        /// The sender answers requests for key frames at most this often.
        key_interval: units::Duration = "300ms", range "0ms".."60s", source "libwebrtc kMinKeyframeSendInterval";
        /// The pacer exceeds the control's rate when packets would wait longer than this.
        queue_limit: units::Duration = "2s", range "10ms".."60s", source "libwebrtc kMaxExpectedQueueLength";
        /// The encoder skips frames while the pacer's queue is longer than this.
        skip_queue: units::Duration = "350ms", range "10ms".."60s", source "libwebrtc congestion window QueueSize:350,DropFrame; decision 0020";
        /// The encoder is slowed so that the pacer's queue empties in this time; 0 for not at all.
        drain: units::Duration = "100ms", range "0ms".."60s", source "decision 0020";
        /// When the receiver shows frames: `immediate`ly, once it can, or as `webrtc` does, whose jitter
        /// buffer makes them wait for their turn.
        receiver: Playout = "immediate", source "decision 0026";
        /// Smallest time without acknowledgements after which everything in flight counts as lost.
        min_rto: units::Duration = "200ms", range "10ms".."10s", source "Linux TCP_RTO_MIN";
    }
}

impl MediaParams {
    /// Length of a full packet, IP header included.
    pub const fn packet(&self) -> u32 {
        self.payload + self.overhead
    }

    /// Whether frames wait in a jitter buffer before they are shown.
    pub fn buffers(&self) -> bool {
        self.receiver == Playout::WebRtc
    }

    /// The control's setup for a session whose encoder starts at `start` and stays within `bounds`.
    pub fn setup(&self, start: Rate, bounds: (Rate, Rate), seed: u64) -> cca::Setup {
        let mss = u64::from(self.packet());
        cca::Setup {
            mss,
            initial_window: 10 * mss,
            initial_rate: start,
            media_bounds: bounds,
            paced: true,
            seed,
        }
    }
}
