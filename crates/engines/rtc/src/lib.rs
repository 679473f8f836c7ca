//! Calls over a real WebRTC stack: [str0m](https://github.com/algesten/str0m), with ICE, DTLS, SRTP, NACK and a
//! congestion control after libwebrtc's.
//!
//! [`pair`] makes both ends of a call, already signalled to each other. Frames have the sizes that an encoder
//! gives them, and no picture: their first bytes say which frame it is. An end has no sockets and no clock of
//! its own, as the transports of this project.
//!
//! Not for: simulations that have to be the same twice, since the stack draws keys and identifiers by itself;
//! several layers of video, which a `conference` has.

#![deny(missing_docs)]

mod failure;
mod frames;
mod peer;

pub use failure::{Error, Failure};

use peer::{Media, Peer};
use std::net::{Ipv4Addr, SocketAddr};
use str0m::bwe::Bitrate;
use str0m::media::{Direction, MediaKind};
use str0m::net::Protocol;
use str0m::{Candidate, Rtc, RtcConfig};
use transport::Endpoint;
use units::{Instant, Rate};

/// What a call may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Its estimate at first.
    pub start: Rate,
    /// The most, audio included.
    pub most: Rate,
}

/// Addresses of the two ends: the stack wants them, and knows its peer by them. Those of the sockets are others.
const ENDS: [SocketAddr; 2] = [
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 5000),
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 5000),
];

/// The sender and the receiver of a call that begins `now`.
///
/// # Errors
/// If the stack refuses.
pub fn pair(now: Instant, rates: Rates, failure: &Failure) -> Result<[Endpoint; 2], Error> {
    let clock = peer::Clock::starting(now);
    let build = |config: RtcConfig, place: usize| -> Result<Rtc, Error> {
        let crypto = str0m::crypto::from_feature_flags().into();
        let config = config.set_crypto_provider(crypto).clear_codecs();
        let mut rtc = config
            .enable_vp8(true)
            .enable_opus(true, false)
            .build(clock.at(now));
        let candidate = Candidate::host(ENDS[place], Protocol::Udp);
        rtc.add_local_candidate(candidate.map_err(Error::new)?);
        Ok(rtc)
    };
    let estimate = Some(Bitrate::bps(rates.start.as_bits()));
    let mut caller = build(Rtc::builder().enable_bwe(estimate), 0)?;
    let mut callee = build(Rtc::builder(), 1)?;
    let mut offer = caller.sdp_api();
    let mut add = |kind| offer.add_media(kind, Direction::SendOnly, None, None, None);
    let media = Media {
        video: add(MediaKind::Video),
        audio: add(MediaKind::Audio),
    };
    let nothing = || Error::new("there is nothing to offer");
    let (offer, pending) = offer.apply().ok_or_else(nothing)?;
    let answer = callee.sdp_api().accept_offer(offer)?;
    caller.sdp_api().accept_answer(pending, answer)?;
    caller
        .bwe()
        .set_desired_bitrate(Bitrate::bps(rates.most.as_bits()));
    let peer = |rtc, place: usize| {
        let ends = (ENDS[place], ENDS[1 - place]);
        let peer = Peer::new(rtc, ends, media, clock, rates.start, failure.clone());
        Endpoint::Session(Box::new(peer))
    };
    Ok([peer(caller, 0), peer(callee, 1)])
}
