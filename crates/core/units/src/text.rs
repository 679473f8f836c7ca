//! Splitting `12.5ms` into a number and its unit, without floating point.

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {expected}")]
pub struct ParseError {
    /// The text that was found.
    pub found: String,
    /// The expected form, with an example.
    pub expected: &'static str,
}

impl ParseError {
    /// An error about `found` in place of `expected`.
    pub fn new(found: &str, expected: &'static str) -> Self {
        // An error is at most a screen: a hostile value is cut.
        let found = found.chars().take(60).collect();
        ParseError { found, expected }
    }
}

/// Parses `text` as a decimal number followed by one of `units` and returns the number scaled by
/// the unit's factor, rounded down. Refuses signs, exponents, unknown units and overflow.
pub(crate) fn scaled(
    text: &str,
    units: &[(&str, u64)],
    expected: &'static str,
) -> Result<u64, ParseError> {
    let error = || ParseError::new(text, expected);
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim();
    let factor = units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))
        .map(|&(_, factor)| factor)
        .ok_or_else(error)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) {
        return Err(error());
    }
    let whole: u64 = whole.parse().map_err(|_| error())?;
    let mut value = whole.checked_mul(factor).ok_or_else(error)?;
    let mut place = factor;
    for digit in fraction.bytes() {
        if !digit.is_ascii_digit() {
            return Err(error());
        }
        place /= 10;
        value = value
            .checked_add(place * u64::from(digit - b'0'))
            .ok_or_else(error)?;
    }
    Ok(value)
}

/// Prints `value` in the largest unit that needs no more than three decimals.
pub(crate) fn in_units(value: u64, units: &[(&str, u64)]) -> String {
    for &(name, factor) in units {
        let thousandth = (factor / 1000).max(1);
        if value >= factor && value.is_multiple_of(thousandth) {
            let whole = value / factor;
            let fraction = (value % factor) / thousandth;
            if fraction == 0 {
                return format!("{whole}{name}");
            }
            let digits = format!("{fraction:03}");
            return format!("{whole}.{}{name}", digits.trim_end_matches('0'));
        }
    }
    let (name, _) = units[units.len() - 1];
    format!("{value}{name}")
}
