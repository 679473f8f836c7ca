//! `analects threshold`: which threshold two levels of flows should have.

mod followed;

use crate::cli::{ThresholdArgs, ThresholdFormat};
use command::Refused;
use command::print;
use followed::FollowedOutput;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use theory::ages::{Optimum, Phases, Sizes, TwoLevels, least_attained, optimum};
use units::{Bytes, Rate, Refusal};

/// Most of a file that is read: some ten million sizes.
const MOST: u64 = 64 << 20;
const LINE: &str = "a line has one size, such as 300KiB or 6331208; # begins a comment";

/// The output.
struct ThresholdOutput {
    /// The source of the sizes.
    of: String,
    sizes: Sizes,
    fit: Phases,
    load: f64,
    rate: Option<Rate>,
    best: Optimum,
    /// Thresholds in bytes, and mean times in parts of that with one level.
    curve: Vec<(f64, f64)>,
    /// The threshold that was asked about.
    asked: Option<(f64, f64)>,
    /// Mean time under least attained service, in the same parts.
    attained: f64,
    one_level: f64,
}

/// Prints the best threshold, and the results of others.
pub fn run(args: &ThresholdArgs) -> Result<(), Refused> {
    let (of, sizes) = match (&args.sizes, &args.pareto) {
        (Some(file), _) => (file.display().to_string(), from_file(file)?),
        (None, Some(text)) => (format!("Pareto {text}"), pareto(text)?),
        (None, None) => unreachable!("one of them has to be given"),
    };
    let asked = args.threshold.as_deref().map(threshold).transpose()?;
    let Some(load) = args.load else {
        let answer = FollowedOutput::new(args, (of, sizes), asked);
        return print(&answer.printed(args.format));
    };
    let fit = Phases::fit(&sizes);
    let refused = |refusal: Refusal| Refused::because(refusal, "write for example --load 0.88");
    let model = TwoLevels::new(&fit, load).map_err(refused)?;
    let (least, most) = sizes.bounds();
    let attained = least_attained(&sizes, load).map_err(refused)?;
    let one_size =
        |refusal| Refused::because(refusal, "all transfers have one size: no threshold helps");
    let best = optimum(&fit, load, (least, most)).map_err(one_size)?;
    let curve = round_sizes(least, most).map(|size| (size, model.response(size)));
    let answer = ThresholdOutput {
        curve: curve.collect(),
        asked: asked.map(|size| (size, model.response(size))),
        attained,
        one_level: model.one_level(),
        load,
        of,
        rate: args.rate,
        best,
        sizes,
        fit,
    };
    print(&match args.format {
        ThresholdFormat::Text => answer.as_text(),
        ThresholdFormat::Json => answer.as_json(),
    })
}

/// 1, 2 and 5 of each power of ten between two sizes.
fn round_sizes(least: f64, most: f64) -> impl Iterator<Item = f64> {
    let all = (0..16).flat_map(|power| [1.0, 2.0, 5.0].map(|size| size * 10u64.pow(power) as f64));
    all.filter(move |size| (least..=most).contains(size))
}

/// Bytes, with or without a unit.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let plain = text.parse().ok();
    plain.or_else(|| Some(text.parse::<Bytes>().ok()?.get()))
}

fn threshold(text: &str) -> Result<f64, Refused> {
    let size = bytes(text).filter(|size| (1..=1_000_000_000_000).contains(size));
    let help = "write for example --threshold 6331208 or --threshold 6.3MB";
    let message = format!("--threshold: {text:?} is no size from 1B to 1000GB");
    size.map(|size| size as f64)
        .ok_or_else(|| Refused::new(&message, help))
}

/// `SHAPE,LEAST,MOST`.
fn pareto(text: &str) -> Result<Sizes, Refused> {
    let help =
        "write for example --pareto 1.2,300KiB,1GiB: the shape, the least and the greatest size";
    let parts: Vec<&str> = text.split(',').collect();
    let parsed = match parts[..] {
        [shape, least, most] => shape
            .trim()
            .parse::<f64>()
            .ok()
            .zip(bytes(least).zip(bytes(most))),
        _ => None,
    };
    let Some((shape, (least, most))) = parsed else {
        let message = format!("--pareto: {text:?} is no shape and two sizes");
        return Err(Refused::new(&message, help));
    };
    let sizes = Sizes::pareto(shape, least as f64, most as f64);
    sizes.map_err(|refusal| Refused::new(&format!("--pareto: {refusal}"), help))
}

fn from_file(path: &Path) -> Result<Sizes, Refused> {
    let name = path.display();
    let failed = |error: std::io::Error| Refused::new(&format!("{name}: {error}"), LINE);
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut reader = BufReader::new(file.take(MOST));
    let (mut sizes, mut line, mut number) = (Vec::new(), Vec::new(), 0);
    while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        number += 1;
        let text = String::from_utf8_lossy(&line);
        let text = text.split('#').next().unwrap_or_default().trim();
        if !text.is_empty() {
            let found: String = text.chars().take(40).collect();
            let message = format!("{name}:{number}: {found:?} is no size");
            sizes.push(bytes(text).ok_or_else(|| Refused::new(&message, LINE))?);
        }
        line.clear();
    }
    if reader.into_inner().limit() == 0 {
        let message = format!("{name} has more than {} MiB", MOST >> 20);
        return Err(Refused::new(&message, "give a sample of it"));
    }
    Sizes::seen(sizes).map_err(|refusal| Refused::new(&format!("{name}: {refusal}"), LINE))
}

impl ThresholdOutput {
    /// Mean time of a transfer in ms, if the rate is known.
    fn time(&self, response: f64) -> Option<f64> {
        let bits = self.sizes.mean() * 8.0;
        let alone = |rate: Rate| bits / rate.as_bits() as f64;
        Some(response * self.one_level * alone(self.rate?) * 1e3)
    }

    fn as_text(&self) -> String {
        let mut text = format!(
            "{}: {} on average; {} exponential phases, {:.0} % of transfers off at most\n\
             load {}: with one level a transfer takes {:.2} times as long as alone\n\n\
             threshold  mean time, in parts of that with one level\n",
            self.of,
            size(self.sizes.mean()),
            self.fit.0.len(),
            100.0 * self.fit.distance(&self.sizes),
            self.load,
            self.one_level,
        );
        let mut line = |at: &str, response: f64, note: &str| {
            let time = self.time(response);
            let time = time.map_or(String::new(), |ms| format!("  {ms:>8.1} ms"));
            // Writing to a string does not fail.
            _ = writeln!(text, "{at:>9}  {response:.3}{time}{note}");
        };
        for (at, response) in &self.curve {
            line(&size(*at), *response, "");
        }
        line(&size(self.best.threshold), self.best.response, "  the best");
        if let Some((at, response)) = self.asked {
            let more = 100.0 * (response / self.best.response - 1.0);
            line(
                &size(at),
                response,
                &format!("  {more:.1} % more than the best"),
            );
        }
        line(
            "las",
            self.attained,
            "  least attained service: as many levels as there are ages",
        );
        text
    }

    fn as_json(&self) -> String {
        let point = |(threshold, response): (f64, f64)| {
            json!({
                "threshold_bytes": threshold.round(),
                "of_one_level": response,
                "mean_ms": self.time(response),
            })
        };
        let phases = self.fit.0.iter();
        let phases: Vec<_> = phases
            .map(|phase| json!({ "share": phase.share, "mean_bytes": phase.mean }))
            .collect();
        let curve: Vec<_> = self.curve.iter().copied().map(point).collect();
        let document = json!({
            "sizes": self.of,
            "mean_bytes": self.sizes.mean(),
            "load": self.load,
            "one_level_of_alone": self.one_level,
            "fit": { "phases": phases, "distance": self.fit.distance(&self.sizes) },
            "best": point((self.best.threshold, self.best.response)),
            "asked": self.asked.map(point),
            "least_attained": { "of_one_level": self.attained, "mean_ms": self.time(self.attained) },
            "curve": curve,
        });
        format!("{document:#}\n")
    }
}

/// With three digits.
fn size(bytes: f64) -> String {
    let (unit, name) = match bytes {
        1e9.. => (1e9, "GB"),
        1e6.. => (1e6, "MB"),
        1e3.. => (1e3, "kB"),
        _ => (1.0, "B"),
    };
    let number = bytes / unit;
    match number {
        100.0.. => format!("{number:.0}{name}"),
        10.0.. => format!("{number:.1}{name}"),
        _ => format!("{number:.2}{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        let sizes = [7.0, 6_331_208.0, 12_400_000.0, 500e3, 1.5e9].map(size);
        assert_eq!(sizes, ["7.00B", "6.33MB", "12.4MB", "500kB", "1.50GB"]);
    }

    #[test]
    fn the_curve_has_round_sizes() {
        let sizes: Vec<f64> = round_sizes(300e3, 6e6).collect();
        assert_eq!(sizes, [5e5, 1e6, 2e6, 5e6]);
    }
}
