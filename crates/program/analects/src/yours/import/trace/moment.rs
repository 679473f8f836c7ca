//! Moments as files write them: a number, or a date and a time of day.

use jiff::civil::{DateTime, Time};
use jiff::{Timestamp, tz::Offset};

/// Forms that data sets have beside ISO 8601. The first numbers of a date with slashes are the day: only
/// differences matter, and a recording rarely has more than a day.
const FORMS: [&str; 6] = [
    "%Y.%m.%d_%H.%M.%S%.f",
    "%Y/%m/%d %H:%M:%S%.f",
    "%d/%m/%Y %H:%M:%S%.f",
    "%m/%d/%Y %H:%M:%S%.f",
    "%d.%m.%Y %H:%M:%S%.f",
    "%Y-%m-%d-%H-%M-%S%.f",
];

/// A moment in seconds, and whether it is one of an unknown day.
pub fn seconds(text: &str) -> Option<(f64, bool)> {
    // Some write a comma before the fraction.
    let text = &*text.trim().replace(',', ".");
    let since_1970 =
        |moment: Timestamp| moment.as_second() as f64 + f64::from(moment.subsec_nanosecond()) / 1e9;
    let of_utc = |moment: DateTime| Offset::UTC.to_timestamp(moment).ok();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some((since_1970(moment), false));
    }
    let dated = text.parse::<DateTime>().ok().filter(|_| text.contains(':'));
    let dated = dated.or_else(|| {
        FORMS
            .iter()
            .find_map(|form| DateTime::strptime(form, text).ok())
    });
    if let Some(moment) = dated.and_then(of_utc) {
        return Some((since_1970(moment), false));
    }
    let time: Time = text.parse().ok().filter(|_| text.contains(':'))?;
    let nanos = Time::midnight().duration_until(time).as_nanos();
    Some((nanos as f64 / 1e9, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_moments() {
        // date -u -d '2019-12-16T13:40:04Z' +%s
        const S: f64 = 1_576_503_604.0;
        for (text, expected) in [
            ("2019-12-16 13:40:04.500", Some((S + 0.5, false))),
            ("2019-12-16T13:40:04Z", Some((S, false))),
            ("2019-12-16T14:40:04+01:00", Some((S, false))),
            ("2019.12.16_13.40.04", Some((S, false))),
            ("16/12/2019 13:40:04", Some((S, false))),
            ("12/16/2019 13:40:04", Some((S, false))),
            ("16.12.2019 13:40:04.25", Some((S + 0.25, false))),
            ("00:01:00.5", Some((60.5, true))),
            ("2019-12-16 13:40:04,500", Some((S + 0.5, false))),
            ("2019-12-16", None),
            ("13", None),
            ("", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
