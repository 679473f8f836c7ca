//! When a call missed a limit.

use crate::figure::Told;
use crate::limit::Limit;
use crate::samples::Samples;

/// What troubles a call comes before it shows: a freeze is counted when it is over.
const BEFORE: f64 = 2.0;

/// From when to when, in s, within the time from `from` on; that whole time where no moment of it is worse than
/// others.
pub fn troubles(limit: &Limit, samples: &Samples, from: f64, steps: &[f64]) -> Vec<(f64, f64)> {
    let grew = |key: &str| -> Vec<(f64, f64)> {
        let steps = samples
            .growth(key, from)
            .into_iter()
            .filter(|(.., by)| *by > 0.0);
        steps.map(|(since, at, _)| (since, at)).collect()
    };
    let spans = match limit.figure.told {
        Told::Grown(key) | Told::Part(key, _) => grew(key),
        Told::Recovery => match (
            steps.iter().copied().reduce(f64::min),
            samples.value(limit, from, steps),
        ) {
            (Some(first), Some(value)) => {
                let last = steps.iter().copied().fold(first, f64::max);
                vec![(first, last + value)]
            }
            _ => Vec::new(),
        },
        told => {
            let moments = samples.moments(told, 0.0);
            let pairs = moments
                .windows(2)
                .filter(|pair| pair[1].0 >= from && !limit.is_kept(pair[1].1));
            pairs.map(|pair| (pair[0].0, pair[1].0)).collect()
        }
    };
    let wide = spans
        .into_iter()
        .map(|(since, until)| ((since - BEFORE).max(0.0), until));
    let joined = wide.fold(Vec::<(f64, f64)>::new(), |mut all, (since, until)| {
        match all.last_mut().filter(|last| since <= last.1) {
            Some(last) => last.1 = last.1.max(until),
            None => all.push((since, until)),
        }
        all
    });
    if joined.is_empty() {
        vec![(from, samples.end().max(from))]
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::OutputLine;

    fn samples() -> Samples {
        let line = |(second, (fps, freezes)): (usize, &(u32, u32))| OutputLine {
            read: second as f64,
            text: format!(r#"{{"framesPerSecond": {fps}, "freezeCount": {freezes}}}"#),
        };
        let told = [
            (30, 0),
            (30, 0),
            (30, 0),
            (30, 0),
            (30, 0),
            (5, 0),
            (28, 1),
            (30, 1),
            (30, 1),
            (30, 1),
            (30, 1),
            (10, 1),
        ];
        Samples::read(&told.iter().enumerate().map(line).collect::<Vec<_>>()).unwrap()
    }

    fn found(limit: &str, steps: &[f64]) -> Vec<(f64, f64)> {
        troubles(&limit.parse().unwrap(), &samples(), 1.0, steps)
    }

    #[test]
    fn it_begins_before_it_shows() {
        assert_eq!(found("freezes <= 0", &[]), [(3.0, 6.0)]);
        assert_eq!(found("fps_p5 >= 20", &[]), [(2.0, 5.0), (8.0, 11.0)]);
        assert_eq!(found("recover <= 1s", &[4.0, 5.0]), [(2.0, 6.0)]);
    }

    #[test]
    fn what_has_no_moment_is_the_whole_call() {
        assert_eq!(found("freezes <= 0", &[]).len(), 1);
        assert_eq!(found("rtt_p95 <= 1s", &[]), [(1.0, 11.0)]);
    }
}
