//! What a call says: the value of each limit, and the causes of those that it missed.

use super::Result;
use super::call::Left;
use ::check::cause::{Cause, LinkEvidence, causes};
use ::check::{
    Check, Condition, Example, Limit, LoggedPacket, Media, Run, Samples, packets, troubles,
};
use command::Refused;
use std::collections::BTreeMap;

/// An application that tells nothing for the last so many s of a call does not go on.
const SILENT: f64 = 3.0;

/// What a call over the link of the condition of that number says; one that missed a limit is an example.
///
/// # Errors
/// If it tells nothing of a limit, unless other calls did (`known`): then no call came about.
pub fn of(check: &Check, number: usize, left: Left, known: bool) -> Result<(Run, Option<Example>)> {
    let condition = &check.conditions[number];
    let mut run = Run::default();
    if left.doubt.is_some() {
        run.late = left.doubt;
        return Ok((run, None));
    }
    if let Some(how) = left.ended {
        run.failed = Some(format!("{how}: {}", left.complaints));
        return Ok((run, None));
    }
    let samples = Samples::read(&left.lines).map_err(|refusal| Refused::because(refusal, ""))?;
    let silent = condition.duration.as_secs_f64() - samples.end();
    if !samples.0.is_empty() && silent > SILENT {
        let end = samples.end();
        run.failed = Some(format!(
            "it told nothing after {end:.1} s: {}",
            left.complaints
        ));
        return Ok((run, None));
    }
    let packets = log(&left)?;
    match values(condition, &samples) {
        Ok(values) => run.values = values,
        Err(limit) if known => {
            run.failed = Some(untold(check, condition, limit, &packets));
            return Ok((run, None));
        }
        Err(limit) => return Err(unknown(condition, limit, &left)),
    }
    let reasons = reasons(check, condition, &samples, &run.values, &packets);
    run.causes = reasons.causes;
    let example = (!reasons.times.is_empty()).then_some(Example {
        condition: number,
        samples,
        packets,
        times: reasons.times,
    });
    Ok((run, example))
}

fn log(left: &Left) -> Result<Vec<LoggedPacket>> {
    let again = "begin again";
    let text = std::fs::read_to_string(&left.log);
    let text =
        text.map_err(|error| Refused::failed(&format!("{}: {error}", left.log.display()), again))?;
    packets(&text).map_err(|refusal| Refused::because(refusal, again))
}

/// The value of each limit, or the first one of which nothing is told.
fn values<'a>(
    condition: &'a Condition,
    samples: &Samples,
) -> core::result::Result<Vec<f64>, &'a Limit> {
    let warmup = condition.warmup.as_secs_f64();
    let values = condition.limits.iter();
    let values = values.map(|limit| samples.value(limit, warmup, &condition.steps).ok_or(limit));
    values.collect()
}

fn keys(limit: &Limit) -> String {
    limit.figure.keys().join(" and ")
}

fn unknown(condition: &Condition, limit: &Limit, left: &Left) -> Refused {
    let keys = keys(limit);
    let message = format!(
        "condition {}: {} needs {keys}, and of {} lines that `near` printed none has it after the warm-up of {}",
        condition.name,
        limit.text,
        left.lines.len(),
        condition.warmup
    );
    let complaints = match left.complaints.as_str() {
        "" => String::new(),
        complaints => format!("; it complained: {complaints}"),
    };
    let help = format!(
        "let it print {keys} in objects of JSON every second, and begin with a condition in which calls come about{complaints}"
    );
    Refused::new(&message, &help)
}

/// Other calls told it: this one did not come about.
fn untold(check: &Check, condition: &Condition, limit: &Limit, packets: &[LoggedPacket]) -> String {
    let media = &check.application.media;
    // Its media may never have begun.
    let media = if packets.iter().any(|packet| media.has(packet)) {
        media
    } else {
        &Media::ANY
    };
    let lanes = &condition.lanes;
    let whole = [(0.0, condition.duration.as_secs_f64())];
    let causes = causes(
        &LinkEvidence {
            packets,
            lanes,
            media,
        },
        &whole,
    );
    let words: Vec<String> = causes.into_iter().map(|cause| cause.words).collect();
    format!(
        "no call came about, as none of its lines has {} after the warm-up: {}",
        keys(limit),
        words.join("; ")
    )
}

/// Causes of limits that are missed, and the times of the first one's trouble.
#[derive(Default)]
struct Reasons {
    causes: BTreeMap<usize, Vec<Cause>>,
    times: Vec<(f64, f64)>,
}

fn reasons(
    check: &Check,
    condition: &Condition,
    samples: &Samples,
    values: &[f64],
    packets: &[LoggedPacket],
) -> Reasons {
    let (lanes, media) = (&condition.lanes, &check.application.media);
    let evidence = LinkEvidence {
        packets,
        lanes,
        media,
    };
    let warmup = condition.warmup.as_secs_f64();
    let mut reasons = Reasons::default();
    for (number, (limit, value)) in condition.limits.iter().zip(values).enumerate() {
        if !limit.is_kept(*value) {
            let times = troubles(limit, samples, warmup, &condition.steps);
            reasons.causes.insert(number, causes(&evidence, &times));
            if reasons.times.is_empty() {
                reasons.times = times;
            }
        }
    }
    reasons
}
