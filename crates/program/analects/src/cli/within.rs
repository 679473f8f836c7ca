//! Values of options between two bounds.

use std::fmt::Display;
use std::str::FromStr;

/// A parser of values from `least` to `most`, for clap, which names the option.
pub fn within<T>(
    least: &'static str,
    most: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr<Err: Display> + PartialOrd,
{
    let parse = |text: &str| text.parse::<T>().map_err(|error| error.to_string());
    move |text| {
        let value = parse(text)?;
        if value < parse(least)? || value > parse(most)? {
            return Err(format!("it is outside {least} to {most}"));
        }
        Ok(value)
    }
}
