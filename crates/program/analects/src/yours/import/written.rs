//! A call that was recorded, as a scenario.

use super::line::{CallLine, CallPart, EPISODES, section};
use super::recorded::{Recorded, RecordedMedia, Sound};
use std::fmt::Write as _;
use units::Duration;

/// The shortest round trip of a scenario, in milliseconds.
const LEAST_RTT: f64 = 1.0;
/// The scenario's text.
pub fn scenario(call: &Recorded, part: &CallPart<'_>) -> String {
    let length = part.until - part.from;
    let rtt = (call.rtt * 1e3).max(LEAST_RTT);
    let line = CallLine::of(call, part);
    let mut text = format!(
        "# The call of {name}, from {from} to {until} s, by `analects import webrtc-internals`.\n\
         name = \"imported\"\n\
         summary = \"a call that was recorded, and what may have disturbed it\"\n\
         duration = \"{length}s\"\n\
         disciplines = [\"pfifo\", \"fq_codel\", \"cake\", \"mencius\"]\n\
         \n\
         # A dump does not know the line. The round trip is the shortest one of the call.\n\
         {notes}{line}",
        name = part.name,
        from = part.from,
        until = part.until,
        notes = line.notes,
        line = section(&line.down, &line.up, rtt, &line.wire),
    );
    for (number, media) in call.received.iter().enumerate() {
        let number = number + 1;
        let name = match call.received.len() {
            1 => "received".to_owned(),
            _ => format!("received-{number}"),
        };
        let reached = (
            media.reached(),
            "what the other end wanted is not known; it reached this",
        );
        entry(&mut text, (&name, "down"), media, part, reached);
    }
    if let Some(media) = &call.sent {
        let reached = (
            media.reached(),
            "what it wanted is not known; it reached this",
        );
        let wanted = call.wanted.rate.unwrap_or(reached);
        let mut media = media.clone();
        media.fps = call.wanted.fps.unwrap_or(media.fps);
        entry(&mut text, ("sent", "up"), &media, part, wanted);
    }
    for (number, sound) in (1..).zip(&call.sounds) {
        heard(&mut text, number, sound, call.sounds.len());
    }
    disturbances(&mut text, call, part);
    text
}

/// Bytes of RTP, UDP and IPv4, and of SRTP's tag, around a frame of sound (RFC 3550, 3711).
const HEADERS: f64 = 12.0 + 8.0 + 20.0 + 10.0;

/// A stream of sound alone: datagrams at a beat, since a call of ours has pictures.
fn heard(text: &mut String, number: usize, sound: &Sound, of: usize) {
    let way = if sound.up { "sent" } else { "received" };
    let name = match of {
        1 | 2 => format!("sound-{way}"),
        _ => format!("sound-{way}-{number}"),
    };
    let packet = (sound.bytes + HEADERS).clamp(60.0, 1500.0).round();
    let packets = sound.packets.clamp(0.1, 1000.0);
    _ = write!(
        text,
        "\n# In the dump: sound alone, {packets:.1} packets/s of {:.0} B, {:.1} % lost.\n\
         [[traffic]]\n\
         name = \"{name}\"\n\
         kind = \"udp\"\n\
         host = \"caller\"\n\
         direction = \"{}\"\n\
         rate = \"{:.3}kbit\"\n\
         packet = \"{packet}B\"\n\
         real_time = true\n",
        sound.bytes,
        100.0 * sound.lost,
        if sound.up { "up" } else { "down" },
        (packets * packet * 8e-3).max(1.0),
    );
}

/// What a stream was in the part, by its name and direction, with the greatest rate and what says so.
fn entry(
    text: &mut String,
    (name, direction): (&str, &str),
    media: &RecordedMedia,
    part: &CallPart<'_>,
    (most, why): (f64, &str),
) {
    let kbit = |rate: f64, least: f64, most: f64| (rate / 1e3).clamp(least, most);
    let most = kbit(most, 2.0, 1e7);
    // The defaults, unless the call never reached them.
    let [start, least] = [300.0, 150.0].map(|rate: f64| rate.min(most / 2.0).max(1.0));
    let fps = media.fps.round().clamp(1.0, 240.0);
    let frozen: f64 = media.frozen
        [part.from.min(media.frozen.len())..part.until.min(media.frozen.len())]
        .iter()
        .sum();
    let lost = match media.lost {
        Some(lost) => format!("{:.1} % of packets lost", 100.0 * lost),
        None => "losses not told".to_owned(),
    };
    let mean = media.mean() / 1e6;
    let told = match direction {
        "down" => format!("; frozen for {frozen:.1} s here"),
        _ => String::new(),
    };
    _ = write!(
        text,
        "\n# In the dump: {mean:.2} Mbit/s on average, {lost}{told}.\n\
         # max_rate: {why}.\n\
         [[traffic]]\n\
         name = \"{name}\"\n\
         kind = \"call\"\n\
         preset = \"browser\"\n\
         host = \"caller\"\n\
         direction = \"{direction}\"\n\
         fps = {fps}\n\
         start_rate = \"{start:.0}kbit\"\n\
         min_rate = \"{least:.0}kbit\"\n\
         max_rate = \"{most:.0}kbit\"\n\
         audio = \"{audio}\"\n",
        audio = match media.audio {
            rate if rate > 0.0 => format!("{:.0}kbit", kbit(rate, 6.0, 510.0)),
            _ => "off".to_owned(),
        }
    );
}

/// A transfer in each time with long round trips, since something filled the line then.
fn disturbances(text: &mut String, call: &Recorded, part: &CallPart<'_>) {
    let within = |from: usize| from >= part.from && from < part.until;
    let of_part: Vec<_> = call.episodes.iter().filter(|of| within(of.from)).collect();
    for (number, episode) in of_part.iter().take(EPISODES).enumerate() {
        let [from, until] = [episode.from, episode.until].map(|second| second - part.from);
        let (rate, direction) = if episode.up {
            (part.rates()[1], "up")
        } else {
            (part.rates()[0], "down")
        };
        let seconds = Duration::from_secs((until - from) as u64);
        let rtt = 1e3 * episode.rtt;
        _ = write!(
            text,
            "\n# From {from} to {until} s the round trip was up to {rtt:.0} ms: packets waited. A dump does not know\n\
             # behind what, or whether the line was slower. This transfer, a guess, fills it for as long; `run --why`\n\
             # would name it. Put in its place what you know of.\n\
             [[traffic]]\n\
             name = \"transfer-{number}\"\n\
             kind = \"bulk\"\n\
             host = \"other\"\n\
             direction = \"{direction}\"\n\
             start = \"{from}s\"\n\
             size = \"{size}B\"\n",
            number = number + 1,
            size = rate.bytes_in(seconds).max(1),
        );
    }
    let more = of_part.len().saturating_sub(EPISODES);
    if more > 0 {
        _ = write!(
            text,
            "\n# {more} more times of long round trips are left out.\n"
        );
    }
}
