//! ISO 8601 moments, as HAR 1.2 writes them: `2009-07-24T19:20:30.45+01:00`.

/// Nanoseconds since 1970-01-01T00:00:00Z, or none where `text` is no such moment. Seconds may have
/// any number of decimals, of which nine count; a leap second counts as the one after it.
pub(super) fn parse(text: &str) -> Option<i128> {
    let (date, time) = text.trim().split_once(['T', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let zone = time.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = time.split_at(zone);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':')?;
    let in_range = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(i128::from(seconds - offset(zone)?) * 1_000_000_000 + i128::from(nanos(fraction)?))
}

/// Three unsigned numbers of at most four digits.
fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(number);
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

fn number(text: &str) -> Option<i64> {
    let digits = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// Seconds east of Greenwich: `Z`, `+01:00`, `-0330` or `+01`.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits = zone.get(1..)?;
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => (digits.get(..2)?, digits.get(2..)?),
        None => (digits, "0"),
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn nanos(fraction: &str) -> Option<u32> {
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(core::iter::repeat(b'0')).take(9);
    Some(digits.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0')))
}

fn leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Leap days before this year, then whole months of it.
    let leaps = |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let years = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    years + (1..month).map(|m| days_in(year, m)).sum::<i64>() + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        // date -u -d '2017-06-26T12:45:04Z' +%s
        const S: i128 = 1_498_481_104;
        for (text, seconds, nanos) in [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("2017-06-26T21:45:04.598+09:00", S, 598_000_000),
            ("2017-06-26T12:45:04Z", S, 0),
            ("2017-06-26T09:15:04.0000000019-0330", S, 1),
            ("2017-06-26 13:45:04.5+01", S, 500_000_000),
            // date -u -d '2000-03-01' +%s; 2000 was a leap year, 1900 was none.
            ("2000-03-01T00:00:00Z", 951_868_800, 0),
            ("1900-03-01T00:00:00Z", -2_203_891_200, 0),
        ] {
            assert_eq!(parse(text), Some(seconds * 1_000_000_000 + nanos), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_moment() {
        for text in [
            "",
            "T",
            "2017-06-26",
            "2017-06-26T12:45:04",
            "2017-13-01T00:00:00Z",
            "2017-02-29T00:00:00Z",
            "2017-06-26T24:00:00Z",
            "2017-06-26T12:45:04.Z",
            "2017-06-26T12:45:04+é",
            "2017-06-26T12:45:04+é1:00",
            "-017-06-26T12:45:04Z",
            "99999-06-26T12:45:04Z",
            "1498481104",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
