//! Figures that need no run: of a theory, of a set of traces.
//!
//! `traces SET mean`, `traces SET deviation`: Mbit/s, over all time of all the set's traces.

use super::data::Data;

/// Samples above this are errors of the measurement, Mbit/s.
const MOST_MBIT: f64 = 2000.0;

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// Of a set of traces.
    Traces {
        /// The set.
        set: String,
        /// Which figure.
        figure: TraceFigure,
    },
}

/// A figure of a set of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFigure {
    /// Mean capacity.
    Mean,
    /// Standard deviation of capacity.
    Deviation,
}

/// The unit of the fact that `text` names.
pub fn unit(text: &str) -> &'static str {
    match text.split(' ').next() {
        Some("traces") => "Mbit/s",
        _ => "",
    }
}

impl Fact {
    /// Reads a fact.
    ///
    /// # Errors
    /// A sentence that says what can be written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["traces", set, figure] => Ok(Fact::Traces {
                set: set.to_owned(),
                figure: match figure {
                    "mean" => TraceFigure::Mean,
                    "deviation" => TraceFigure::Deviation,
                    _ => return Err(format!("traces have a mean and a deviation, no {figure:?}")),
                },
            }),
            _ => Err(format!("{text:?} is no fact; write \"traces c1 mean\"")),
        }
    }

    /// Its value.
    ///
    /// # Errors
    /// A sentence that says why there is none.
    pub fn value(&self, data: &Data) -> Result<f64, String> {
        match self {
            Fact::Traces { set, figure } => of_traces(&data.traces(set)?, *figure),
        }
    }
}

fn of_traces(paths: &[String], figure: TraceFigure) -> Result<f64, String> {
    let (mut time, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for path in paths {
        let trace = scenario::files::trace(path).map_err(|error| error.message)?;
        for (rate, hold) in trace.pieces() {
            let (mbit, hold) = (rate.as_bits() as f64 / 1e6, hold.as_secs_f64());
            // A few recorded samples lie above what any of these links can carry.
            if mbit > MOST_MBIT {
                continue;
            }
            time += hold;
            sum += mbit * hold;
            squares += mbit * mbit * hold;
        }
    }
    let mean = sum / time;
    Ok(match figure {
        TraceFigure::Mean => mean,
        TraceFigure::Deviation => libm::sqrt((squares / time - mean * mean).max(0.0)),
    })
}
