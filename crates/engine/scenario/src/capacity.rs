//! A scenario's settings of a link's capacity, and of the room before it.

use crate::document::OF_LINK;
use crate::error::{ScenarioError, printable};
use crate::files::trace_of;
use crate::keys::WAY;
use crate::model::Buffer;
use crate::read::PlayedBy;
use crate::section::{Section, Text};
use core::fmt;
use link::Capacity;
use link::trace::Trace;
use std::sync::Arc;
use units::param::Value;
use units::{Bytes, Duration, ParseError, Rate};

type Result<T> = core::result::Result<T, ScenarioError>;

/// A capacity that changes, as in messages.
const STEPS: &str = "steps = \"0s 20mbit; 20s 5mbit\"";

/// Capacities of earlier links, by their names.
pub type Earlier<'a> = &'a dyn Fn(&str) -> Option<&'a Capacity>;

/// A rate, a trace or steps.
pub fn capacity(section: &mut Section<'_>, earlier: Earlier<'_>) -> Result<Capacity> {
    let (rate, trace) = (section.text(&WAY.rate)?, section.text(&WAY.trace)?);
    let stepped = section.has(&WAY.steps);
    let steps = section.texts(&WAY.steps)?;
    if stepped && steps.is_empty() {
        let message = format!("{}.steps is empty", section.path());
        return Err(section.error(&message, &format!("write {STEPS}")));
    }
    let replay = Replay::of(section)?;
    if let (None, Some(text)) = (&trace, replay.said()) {
        let message = format!("{}: the link has no trace", text.key);
        return Err(text.error(&message, "write trace = \"FILE\", or leave it out"));
    }
    let rival = |text: &Text<'_>, what: &str| {
        let message = format!("{}: the link has a {what} as well", text.key);
        Err(text.error(&message, "write one of them"))
    };
    match (rate, trace, steps.first()) {
        (Some(_), Some(other), _) => rival(&other, "rate"),
        (Some(_), None, Some(other)) => rival(other, "rate"),
        (None, Some(_), Some(other)) => rival(other, "trace"),
        (Some(text), None, None) => text.of(&WAY.rate).map(Capacity::Constant),
        (None, Some(text), None) => recorded(&text, &replay, earlier),
        (None, None, Some(_)) => stepwise(&steps),
        (None, None, None) if section.may_be_unlimited() => Ok(Capacity::Unlimited),
        (None, None, None) => {
            let help = format!("write rate = \"20mbit\", or trace = \"FILE\", or {STEPS}");
            Err(section.error(&format!("{} has no capacity", section.path()), &help))
        }
    }
}

/// How a trace is played.
struct Replay<'a> {
    by: Option<Text<'a>>,
    scale: Option<Text<'a>>,
    late: Option<Text<'a>>,
}

impl<'a> Replay<'a> {
    fn of(section: &mut Section<'a>) -> Result<Self> {
        Ok(Replay {
            by: section.text(&WAY.trace_by)?,
            scale: section.text(&WAY.trace_scale)?,
            late: section.text(&WAY.trace_late)?,
        })
    }

    fn said(&self) -> Option<&Text<'a>> {
        self.by
            .as_ref()
            .or(self.scale.as_ref())
            .or(self.late.as_ref())
    }

    fn play(&self, mut trace: Trace) -> Result<Trace> {
        if let Some(text) = &self.by
            && text.of(&WAY.trace_by)? == PlayedBy::Line
        {
            trace = trace.by_line().ok_or_else(|| {
                let message = format!("{}: the trace has no rates in its lines", text.key);
                text.error(&message, "leave it out for Mahimahi's format")
            })?;
        }
        if let Some(text) = &self.scale {
            trace = trace.scaled(text.of(&WAY.trace_scale)?);
        }
        if let Some(text) = &self.late {
            let late = text.of(&WAY.trace_late)?;
            let moved = match late {
                Duration::ZERO => Some(trace),
                late => trace.later(late),
            };
            trace = moved.ok_or_else(|| {
                let message = format!("{}: the trace has no rates in its lines", text.key);
                text.error(&message, "leave it out for Mahimahi's format and for steps")
            })?;
        }
        Ok(trace)
    }
}

/// A trace from a file.
fn recorded(text: &Text<'_>, replay: &Replay<'_>, earlier: Earlier<'_>) -> Result<Capacity> {
    let trace = match text.value.strip_prefix(OF_LINK) {
        None => trace_of(text)?,
        Some(link) => match earlier(link) {
            Some(Capacity::Trace(trace)) => (**trace).clone(),
            _ => {
                let link = printable(link, 40);
                let message = format!(
                    "{}: no link before has the name {link:?} and a trace",
                    text.key
                );
                return Err(text.error(&message, "name a link nearer to the internet"));
            }
        },
    };
    let trace = replay.play(trace)?;
    within(text, "a mean of ", trace.nominal())?;
    Ok(Capacity::Trace(Arc::new(trace)))
}

/// `TIME RATE`, and more of them in a list or behind semicolons.
fn stepwise(texts: &[Text<'_>]) -> Result<Capacity> {
    let mut steps: Vec<(Duration, Rate)> = Vec::new();
    for text in texts {
        for written in text.value.split(';').map(str::trim) {
            let (at, rate) = step(text, written)?;
            let refuse = |message: &str, help: &str| {
                let written = printable(written, 40);
                Err(text.error(&format!("{}: \"{written}\" {message}", text.key), help))
            };
            match steps.last() {
                None if at > Duration::ZERO => {
                    return refuse("is the first step", "say what there is from 0s on");
                }
                Some((last, _)) if at <= *last => {
                    let message = format!("does not come after {last}");
                    return refuse(
                        &message,
                        "write steps in the order of their times, each once",
                    );
                }
                _ => steps.push((at, rate)),
            }
        }
    }
    if steps.iter().all(|(_, rate)| *rate == Rate::default()) {
        let message = format!("{}: the link carries nothing", texts[0].key);
        return Err(texts[0].error(&message, "write a rate above 0mbit in one of the steps"));
    }
    Ok(Capacity::Trace(Arc::new(Trace::steps(&steps))))
}

/// One step: from when on, and which rate. A rate of zero is an outage.
fn step(text: &Text<'_>, written: &str) -> Result<(Duration, Rate)> {
    let parsed = written.split_once(char::is_whitespace).map(|(at, rate)| {
        let (at, rate) = (Duration::parse(at), Rate::parse(rate.trim()));
        (at.ok(), rate.ok())
    });
    let Some((Some(at), Some(rate))) = parsed else {
        let written = printable(written, 40);
        let message = format!("{}: \"{written}\" is no step", text.key);
        let help = format!("write a time and a rate for each, such as {STEPS}");
        return Err(text.error(&message, &help));
    };
    if rate != Rate::default() {
        within(text, "", rate)?;
    }
    Ok((at, rate))
}

/// Refuses a rate that a link cannot have.
fn within(text: &Text<'_>, what: &str, rate: Rate) -> Result<()> {
    if WAY.rate.allows(&rate) {
        return Ok(());
    }
    let message = format!("{}: {what}{rate} carries nothing, or too much", text.key);
    Err(text.error(&message, &WAY.rate.instead()))
}

const BUFFERS: &str = "packets such as \"250p\", a size such as \"375kB\", or \"1.5bdp\"";

impl Value for Buffer {
    const KIND: &'static str = "size";

    fn parse(text: &str) -> core::result::Result<Self, ParseError> {
        let lower = text.trim().to_ascii_lowercase();
        let bound = |within: bool, expected: &'static str| {
            if within {
                Ok(())
            } else {
                Err(ParseError::new(text, expected))
            }
        };
        let parsed = if let Some(number) = lower.strip_suffix("bdp") {
            let number: Option<f64> = number.trim().parse().ok();
            let number = number.filter(|number| number.is_finite());
            if let Some(number) = number {
                bound((0.01..=1000.0).contains(&number), "0.01bdp to 1000bdp")?;
            }
            number.map(|number| Buffer::MilliBdp((number * 1000.0) as u64))
        } else if let Some(number) = lower.strip_suffix("packets").or(lower.strip_suffix('p')) {
            let number: Option<u32> = number.trim().parse().ok();
            if let Some(number) = number {
                bound((1..=1_000_000).contains(&number), "1p to 1000000p")?;
            }
            number.map(Buffer::Packets)
        } else {
            let bytes = Bytes::parse(&lower).ok().map(Bytes::get);
            if let Some(bytes) = bytes {
                let expected = "1500B, which is a packet, to 10GB";
                bound((1500..=10_000_000_000).contains(&bytes), expected)?;
            }
            bytes.map(Buffer::Bytes)
        };
        parsed.ok_or_else(|| ParseError::new(text, BUFFERS))
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Buffer::Packets(packets) => write!(f, "{packets}p"),
            Buffer::Bytes(bytes) => Bytes::new(*bytes).fmt(f),
            Buffer::MilliBdp(thousandths) => write!(f, "{}bdp", *thousandths as f64 / 1000.0),
        }
    }
}
