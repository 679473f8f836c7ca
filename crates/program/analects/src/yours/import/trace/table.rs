//! Recorded capacity in columns.

use super::unit::{self, BYTES, KBIT, MBIT, SECONDS, Unit};
use super::{TraceSamples, moment};
use crate::cli::TraceArgs;
use scenario::printable;
use units::Refusal;

/// Words in the name of a column of times, and of one of rates, the surest first.
const TIMES: [&str; 9] = [
    "timestamp",
    "datetime",
    "time",
    "epoch",
    "unix",
    "seconds",
    "sec",
    "elapsed",
    "seq",
];
const RATES: [&str; 12] = [
    "dl_bitrate",
    "throughput",
    "bandwidth",
    "downlink",
    "download",
    "goodput",
    "capacity",
    "bitrate",
    "mbps",
    "kbps",
    "bps",
    "rate",
];
/// Names of columns whose unit is known from their data set: the 4G and 5G traces of Raca and others, and
/// Puffer's.
const KNOWN: [(&str, Unit); 3] = [
    ("dl_bitrate", KBIT),
    ("ul_bitrate", KBIT),
    ("delivery_rate", BYTES),
];
const DAY: f64 = 86_400.0;
/// How far the two clocks of a six-column log may be apart, in ms.
const APART: f64 = 50.0;

/// Lines of columns.
struct Table {
    /// What divides columns.
    between: &'static str,
    decimal_comma: bool,
    names: Vec<String>,
    /// The number of each line, from 1, and its columns.
    rows: Vec<(usize, Vec<String>)>,
}

/// Reads a table.
///
/// # Errors
/// The line, what was found, and what is expected.
pub fn read(text: &str, args: &TraceArgs) -> Result<TraceSamples, Refusal> {
    let table = Table::read(text)?;
    let time_unit = args.time_unit.as_deref().map(unit::of_time).transpose()?;
    let rate_unit = args.unit.as_deref().map(unit::of_rate).transpose()?;
    let asked = |text: &Option<String>, option: &str| {
        let text = text.as_deref();
        text.map(|text| table.column(text, option)).transpose()
    };
    let (bytes, ms) = (asked(&args.bytes, "--bytes")?, asked(&args.ms, "--ms")?);
    let (time, rate) = (asked(&args.time, "--time")?, asked(&args.rate, "--rate")?);
    if let (Some(bytes), Some(ms)) = (bytes, ms) {
        return table.intervals(bytes, ms, "");
    }
    if bytes.is_some() || ms.is_some() {
        let message = "bytes without the time in which they came";
        return Err(Refusal::new(message).with_help("give both, such as --bytes 5 --ms 6"));
    }
    if rate.is_none() && table.is_six_column_log() {
        return table.intervals(4, 5, "a 3G or 4G log of six columns: ");
    }
    let rate = rate.map_or_else(|| table.rate(), Ok)?;
    if let Some(every) = &args.every {
        let step = every.parse::<units::Duration>().map_err(|error| {
            Refusal::new(format!("--every {every}: {error}")).with_help("write 1s")
        })?;
        return table.evenly(rate, rate_unit, step);
    }
    let time = time.map_or_else(|| table.time(), Ok)?;
    table.samples((time, time_unit), (rate, rate_unit))
}

impl Table {
    fn read(text: &str) -> Result<Table, Refusal> {
        let lines = (1..).zip(text.lines().map(str::trim));
        let lines: Vec<(usize, &str)> = lines
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .collect();
        let Some(&(_, last)) = lines.last() else {
            return Err(Refusal::new("it has no lines"));
        };
        let (between, decimal_comma) = divided(last);
        let mut rows = lines
            .iter()
            .map(|(number, line)| (*number, columns(line, between)));
        let mut names = Vec::new();
        let mut first = rows.next();
        let is_head = |(_, row): &(usize, Vec<String>)| {
            let value = |cell: &String| {
                number(cell, decimal_comma).is_some() || moment::seconds(cell).is_some()
            };
            !row.iter().any(value)
        };
        if let Some((_, head)) = first.take_if(|row| is_head(row)) {
            names = head;
        }
        let rows: Vec<(usize, Vec<String>)> = first.into_iter().chain(rows).collect();
        if rows.is_empty() {
            Err(Refusal::new("it has a line of names only"))
        } else {
            Ok(Table {
                between,
                decimal_comma,
                names,
                rows,
            })
        }
    }

    /// The place of the column that `text` names or counts from 1.
    fn column(&self, text: &str, option: &str) -> Result<usize, Refusal> {
        let width = self.rows[0].1.len();
        let counted = text
            .parse::<usize>()
            .ok()
            .filter(|n| (1..=width).contains(n));
        let named = || {
            self.names
                .iter()
                .position(|name| name.eq_ignore_ascii_case(text))
        };
        counted.map(|n| n - 1).or_else(named).ok_or_else(|| {
            let message = format!("{option} {text:?}: there is no such column");
            Refusal::new(message).with_help(format!("there are: {}", self.listed()))
        })
    }

    /// The columns, by name or by what stands in the first line.
    fn listed(&self) -> String {
        let cells = (1..).zip(&self.rows[0].1);
        let shown = cells.map(|(number, cell)| match self.names.get(number - 1) {
            Some(name) => format!("{number} {}", printable(name, 30)),
            None => format!("{number} ({})", printable(cell, 30)),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    fn called(&self, column: usize) -> String {
        match self.names.get(column) {
            Some(name) => format!("column {} {:?}", column + 1, printable(name, 40)),
            None => format!("column {}", column + 1),
        }
    }

    fn by_name(&self, words: &[&str]) -> Option<usize> {
        let lower: Vec<String> = self.names.iter().map(|name| name.to_lowercase()).collect();
        let of = |word: &&str| lower.iter().position(|name| name.contains(*word));
        words.iter().find_map(of)
    }

    fn time(&self) -> Result<usize, Refusal> {
        let width = self.rows[0].1.len();
        match self.by_name(&TIMES) {
            Some(place) => Ok(place),
            None if width == 1 => {
                let message =
                    "it has one column: Mahimahi's format is read as it is by run and link";
                Err(Refusal::new(message)
                    .with_help("if these are rates, say how far apart: --every 1s"))
            }
            None => Ok(0),
        }
    }

    fn rate(&self) -> Result<usize, Refusal> {
        let width = self.rows[0].1.len();
        let found = self.by_name(&RATES).or(match width {
            1 => Some(0),
            2 => Some(1),
            _ => None,
        });
        found.ok_or_else(|| {
            let message = format!("which column is the rate? there are: {}", self.listed());
            Refusal::new(message)
        })
    }

    /// The number in a column; none where a cell is empty or says that there is none.
    fn value(
        &self,
        (line, row): &(usize, Vec<String>),
        column: usize,
    ) -> Result<Option<f64>, Refusal> {
        let cell = row.get(column).map_or("", |cell| cell.trim());
        if ["", "-", "--", "nan", "na", "n/a", "null", "none"].contains(&&*cell.to_lowercase()) {
            return Ok(None);
        }
        let found = number(cell, self.decimal_comma).filter(|number| *number >= 0.0);
        found.map(Some).ok_or_else(|| {
            let cell = printable(cell, 40);
            Refusal::new(format!(
                "line {line}: found {cell:?} in {}, expected a number",
                self.called(column)
            ))
        })
    }

    /// Samples at times.
    fn samples(
        &self,
        (time, time_unit): (usize, Option<Unit>),
        (rate, rate_unit): (usize, Option<Unit>),
    ) -> Result<TraceSamples, Refusal> {
        let (rate_unit, assumed) = self.unit_of_rate(rate, rate_unit);
        let first = self.rows[0].1.get(time).map_or("", String::as_str);
        let numbers = number(first, self.decimal_comma);
        let time_unit = numbers.map(|first| {
            let named = self.names.get(time).and_then(|name| unit::time_in(name));
            time_unit.or(named).unwrap_or_else(|| unit::by_size(first))
        });
        let (mut points, mut skipped) = (Vec::<(f64, f64)>::new(), 0);
        let (mut origin, mut days) = (None, 0.0);
        for row in &self.rows {
            let Some(mbit) = self.value(row, rate)?.map(|value| value * rate_unit.of) else {
                skipped += 1;
                continue;
            };
            let (at, of_unknown_day) = self.moment(row, time, time_unit)?;
            let mut at = at + days - *origin.get_or_insert(at);
            let last = points.last().map_or(0.0, |last| last.0);
            if of_unknown_day && at < last - DAY / 2.0 {
                (at, days) = (at + DAY, days + DAY);
            }
            if at < last {
                let message = format!("line {}: its time is before that of the line before", row.0);
                return Err(Refusal::new(message).with_help("put the lines in the order of time"));
            }
            points.push((at, mbit));
        }
        let times = match time_unit {
            Some(unit) if unit == SECONDS => "in seconds".to_owned(),
            Some(unit) => format!("in {}", unit.name),
            None => "as dates or times of day".to_owned(),
        };
        let skipped = match skipped {
            0 => String::new(),
            count => format!("; {count} lines without a rate are passed over"),
        };
        Ok(TraceSamples {
            understood: format!(
                "times from {}, {times}; rates from {}, in {}{assumed}; columns between {}{skipped}",
                self.called(time),
                self.called(rate),
                rate_unit.name,
                self.between_named(),
            ),
            points,
            end: None,
        })
    }

    fn moment(
        &self,
        row: &(usize, Vec<String>),
        time: usize,
        unit: Option<Unit>,
    ) -> Result<(f64, bool), Refusal> {
        let cell = row.1.get(time).map_or("", String::as_str);
        let found = match unit {
            Some(unit) => number(cell, self.decimal_comma).map(|value| (value * unit.of, false)),
            None => moment::seconds(cell),
        };
        found.ok_or_else(|| {
            let (line, cell) = (row.0, printable(cell, 40));
            let message = format!(
                "line {line}: found {cell:?} in {}, expected a time",
                self.called(time)
            );
            Refusal::new(message)
                .with_help("write seconds, or a time such as 2024-05-01 12:00:00.5")
        })
    }

    /// The unit of the rates in a column, and what is to be said of where it comes from.
    fn unit_of_rate(&self, rate: usize, asked: Option<Unit>) -> (Unit, &'static str) {
        let name = self.names.get(rate).map_or("", String::as_str);
        let known = KNOWN
            .iter()
            .find(|(known, _)| name.eq_ignore_ascii_case(known));
        let known = known.map(|(_, unit)| *unit);
        match asked.or(known).or_else(|| unit::rate_in(name)) {
            Some(unit) => (unit, ""),
            None => (MBIT, ", which the file does not say (--unit)"),
        }
    }

    /// Rates without times.
    fn evenly(
        &self,
        rate: usize,
        asked: Option<Unit>,
        step: units::Duration,
    ) -> Result<TraceSamples, Refusal> {
        let (unit, assumed) = self.unit_of_rate(rate, asked);
        let step = step.as_secs_f64();
        let mut points = Vec::new();
        for (place, row) in self.rows.iter().enumerate() {
            let mbit = self.value(row, rate)?.unwrap_or(0.0) * unit.of;
            points.push((place as f64 * step, mbit));
        }
        Ok(TraceSamples {
            understood: format!(
                "a line every {step} s; rates from {}, in {}{assumed}",
                self.called(rate),
                unit.name
            ),
            end: Some(points.len() as f64 * step),
            points,
        })
    }

    /// Bytes that came in intervals, one behind the other.
    fn intervals(&self, bytes: usize, ms: usize, form: &str) -> Result<TraceSamples, Refusal> {
        let (mut points, mut now) = (Vec::new(), 0.0);
        for row in &self.rows {
            let both = self.value(row, bytes)?.zip(self.value(row, ms)?);
            let Some((bytes, ms)) = both.filter(|(_, ms)| *ms > 0.0) else {
                continue;
            };
            points.push((now, bytes * 8e-3 / ms));
            now += ms / 1e3;
        }
        if points.is_empty() {
            return Err(Refusal::new(format!(
                "no line has a time above 0 in {}",
                self.called(ms)
            )));
        }
        Ok(TraceSamples {
            understood: format!(
                "{form}bytes from {} in the milliseconds of {}, one interval behind the other",
                self.called(bytes),
                self.called(ms)
            ),
            points,
            end: Some(now),
        })
    }

    /// Whether it is one of the logs of Riiser and others (3G, Oslo) or van der Hooft and others (4G, Ghent):
    /// time, ms since the start, latitude, longitude, bytes, ms since the line before.
    fn is_six_column_log(&self) -> bool {
        let numbers = |row: &Vec<String>| -> Option<Vec<f64>> {
            row.iter()
                .map(|cell| number(cell, self.decimal_comma))
                .collect()
        };
        let rows: Option<Vec<Vec<f64>>> = self.rows.iter().map(|(_, row)| numbers(row)).collect();
        let Some(rows) = rows.filter(|rows| rows.iter().all(|row| row.len() == 6)) else {
            return false;
        };
        let alike = |pair: &[Vec<f64>]| (pair[1][1] - pair[0][1] - pair[1][5]).abs() <= APART;
        let fit = rows.windows(2).filter(|pair| alike(pair)).count();
        rows.len() > 1 && fit * 2 >= rows.len() - 1
    }

    fn between_named(&self) -> &'static str {
        match (self.between, self.decimal_comma) {
            (";", _) => "semicolons",
            ("\t", _) => "tabs",
            (",", _) => "commas",
            (_, true) => "spaces, with decimal commas",
            _ => "spaces",
        }
    }
}

/// What divides the columns of a line, and whether numbers have decimal commas.
fn divided(line: &str) -> (&'static str, bool) {
    // A number with a comma shows it; a time of day may have one as well.
    let with_comma = |between: char| {
        let mut cells = line.split(between).map(str::trim);
        cells.any(|cell| cell.contains(',') && number(cell, true).is_some())
    };
    if line.contains(';') {
        return (";", with_comma(';'));
    }
    if line.contains('\t') {
        return ("\t", with_comma('\t'));
    }
    let cells = line.split_whitespace();
    match line.contains(',') {
        true if cells.clone().count() > 1
            && cells.clone().all(|cell| number(cell, true).is_some()) =>
        {
            (" ", true)
        }
        true => (",", false),
        false => (" ", false),
    }
}

fn columns(line: &str, between: &str) -> Vec<String> {
    let bare = |cell: &str| cell.trim().trim_matches('"').trim().to_owned();
    if between != " " {
        return line.split(between).map(bare).collect();
    }
    let mut cells: Vec<String> = line.split_whitespace().map(bare).collect();
    // A date and a time of day are one column.
    if let [date, time, ..] = &cells[..]
        && time.contains(':')
        && moment::seconds(&format!("{date} {time}")).is_some()
    {
        cells[0] = format!("{date} {time}");
        cells.remove(1);
    }
    cells
}

fn number(cell: &str, decimal_comma: bool) -> Option<f64> {
    let cell = cell.trim();
    let number = if decimal_comma {
        cell.replace(',', ".").parse::<f64>()
    } else {
        cell.parse()
    };
    number.ok().filter(|number| number.is_finite())
}
